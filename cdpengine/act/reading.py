"""Handlers of the requests that read a page, and those about tabs, storage, dialogs, files and downloads.

Rule: as in `act/acting.py`; results are JSON data.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

import attrs
import trio

import cdpengine
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._page.frames import renderer_of
from cdpengine._page.patterns import url_test
from cdpengine._page.search.locator import FoundNode
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.roles import kind_of
from cdpengine._snapshot.text import shorten
from cdpengine.act import reading_requests as requests
from cdpengine.act.fields import camel_case
from cdpengine.act.performing import Performance
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import describe_url
from cdpengine.act.searching import SearchResult, read_result
from cdpengine.errors import DeadlineExceededError, InvalidArgumentError

_ARRIVING = 2.0
"""Timeout for the first result of a search, in seconds, on pages that add results by script."""

_LEVELS = ("debug", "info", "warning", "error")


async def _snapshot(run: Performance, request: requests.TakeSnapshot) -> dict[str, Any]:
    options: dict[str, Any] = {
        "mode": request.mode,
        "interactive": request.interactive,
        "compact": request.compact,
        "max_depth": request.max_depth,
        "max_chars": request.max_chars,
        "max_tokens": request.max_tokens,
        "root": request.root,
        "frame": request.frame,
        "refs": request.refs,
    }
    snapshot = await run.actor.look(run.page, run.left, **options)
    shown: dict[str, Any] = {"title": snapshot.title, "refs": len(snapshot.refs)}
    if request.diff and snapshot.diff is not None:
        run.actor.give(run.page, snapshot, snapshot.diff.lines)
        return {**shown, "diff": str(snapshot.diff)}
    if request.find is None:
        run.actor.give(run.page, snapshot)
        return {**shown, "snapshot": snapshot.text}
    found = _lines_that_say(request.find, snapshot.text)
    run.actor.give(run.page, snapshot, found.split("\n"))
    return {**shown, "snapshot": found}


def _lines_that_say(words: str, text: str) -> str:
    """Return the lines that contain `words`, ignoring case, and the lines of their ancestors."""
    wanted = words.casefold()
    lines = text.split("\n")
    widths = [len(line) - len(line.lstrip()) for line in lines]
    kept: set[int] = set()
    above: list[int] = []
    for number, line in enumerate(lines):
        while above and widths[above[-1]] >= widths[number]:
            above.pop()
        if wanted in line.casefold():
            kept.update(above, [number])
        above.append(number)
    return "\n".join(lines[number] for number in sorted(kept)) or f"# no line contains {words[:80]!r}"


async def _find(run: Performance, request: requests.Find) -> dict[str, Any]:
    page = run.page
    snapshot = await page._look(refs="all", timeout=run.left)  # noqa: SLF001 - given are those that are found
    found: Sequence[Ref] = []
    if request.text is not None and request.role is None and request.name is None:
        nodes = await page.find_all(text=request.text, exact=request.exact, timeout=0)
        found = [await _ref_of(run, node) for node in nodes[: request.limit]]
        count = len(nodes)
    if not found:  # the string is only part of a name
        matched = snapshot.find_all(request.role, request.name, text=request.text, exact=request.exact)
        found, count = matched[: request.limit], len(matched)
    page._core.refs.give({ref.id: ref for ref in found})  # noqa: SLF001 - as above
    shown = [{"ref": ref.id, "role": ref.role, "name": ref.name, "nth": ref.nth} for ref in found]
    return {"count": count, "nodes": shown}


_TEXT_OF_FOUND = 300
"""Maximum length of the text that names an element without another name, in characters."""


async def _ref_of(run: Performance, found: FoundNode) -> Ref:
    """Return the ref of an element found by its text: its current ref, or a new one, named by the text."""
    refs = run.page._core.refs  # noqa: SLF001 - the table of the page that gives its refs
    known = refs.known(found.loader_id, found.backend_node_id)
    if known is not None:
        return known
    text = await run.page.extract_text(found, timeout=run.left)
    name = shorten(" ".join(text.split()), _TEXT_OF_FOUND)
    node = Node("generic", kind_of("generic"), name, backend_node_id=found.backend_node_id)
    frame = next((each for each in run.page.frames if each.id == found.frame_id), run.page.frames[0])
    document = Document(
        [node],
        frame_id=found.frame_id,
        loader_id=found.loader_id,
        session_id=found.session_id,
        renderer_id=await renderer_of(frame.session, frame),
    )
    return run.page._core.refs.assign([document], partial=True, every=True)[node]  # noqa: SLF001 - as above


async def _screenshot(run: Performance, request: requests.Screenshot) -> dict[str, Any]:
    described: dict[str, Any] = {"format": request.format}
    place = None if request.path is None else checked_path("the screenshot", request.path, overwrite=True)
    if request.labels:
        labelled = await run.page.pictures.labelled_screenshot(
            format=request.format,
            quality=request.quality,
            full_page=request.full_page,
            max_side=request.max_side,
            timeout=run.left,
        )
        data, described["snapshot"] = labelled.image, labelled.snapshot.text
    else:
        data = await run.page.screenshot(
            target=await run.find_if_given(request.ref, request.selector),
            full_page=request.full_page,
            format=request.format,
            quality=request.quality,
            max_side=request.max_side,
            timeout=run.left,
        )
    if place is None:
        return {**described, "bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}
    async with output_file("the screenshot", place, overwrite=True) as file:
        await file.write(data)
    return {**described, "bytes": len(data), "path": str(place)}


async def _pdf(run: Performance, request: requests.Pdf) -> dict[str, Any]:
    landscape, backgrounds = request.landscape, request.print_background
    if request.path is not None:
        place = checked_path("the PDF", request.path, overwrite=True)
        size = await run.page.pictures.save_pdf(
            place, landscape=landscape, background=backgrounds, timeout=run.left
        )
        return {"bytes": size, "path": str(place)}
    data = await run.page.pdf(landscape=landscape, background=backgrounds, timeout=run.left)
    return {"bytes": len(data), "base64": base64.b64encode(data).decode("ascii")}


async def _extract(run: Performance, request: requests.Extract) -> str:
    target = request.ref if request.ref is not None else request.selector
    extract = run.page.extract_markdown if request.format == "markdown" else run.page.extract_text
    return await extract(target, main_only=request.main_only, max_chars=request.max_chars, timeout=run.left)


async def _console(run: Performance, request: requests.Console) -> dict[str, Any]:
    await run.actor.watch(run.page, run.left)
    activity = run.page.activity
    least = _LEVELS.index(request.level)
    messages: list[dict[str, Any]] = [
        {
            "level": each.level,
            "text": each.text,
            "url": describe_url(each.url),
            "line": each.line,
            "time": each.time,
        }
        for each in activity.console
        if _LEVELS.index(each.level) >= least
    ]
    errors: list[dict[str, Any]] = [
        {
            "level": "error",
            "text": f"{each.name or 'Uncaught'}: {each.message}",
            "url": describe_url(each.url),
            "line": each.line,
            "time": each.time,
        }
        for each in activity.errors
    ]
    both = sorted([*messages, *errors], key=lambda each: float(each["time"]))
    dropped = activity.console.dropped + activity.errors.dropped
    if request.clear:
        activity.clear()
    return {"count": len(both), "dropped": dropped, "messages": both[-request.limit :]}


async def _requests(run: Performance, request: requests.Requests) -> dict[str, Any]:
    await run.actor.watch(run.page, run.left)
    activity = run.page.activity
    matches = (lambda _url: True) if request.url is None else url_test(request.url)
    found = [each for each in activity.requests if matches(each.url)]
    if request.failed:
        found = [each for each in found if each.failure or (each.response and each.response.status >= 400)]
    described = [
        {
            "method": each.method,
            "url": describe_url(each.url),
            "type": each.type,
            "status": None if each.response is None else each.response.status,
            "failure": each.failure or None,
            "ended": each.ended,
        }
        for each in found[-request.limit :]
    ]
    dropped = activity.requests.dropped
    if request.clear:
        activity.clear()
    return {"count": len(found), "dropped": dropped, "requests": described}


# --- cookies and storage -------------------------------------------------------------------------------------


async def _cookies(run: Performance, request: requests.Cookies) -> list[dict[str, Any]]:
    names = [field for field in attrs.fields_dict(requests.CookieSetting) if field != "url"]
    found = await run.page.storage.cookies(*request.urls, timeout=run.left)
    return [{camel_case(name): getattr(cookie, name) for name in names} for cookie in found]


async def _set_cookies(run: Performance, request: requests.SetCookies) -> None:
    cookies = [cdpengine.Cookie(**attrs.asdict(each)) for each in request.cookies]
    await run.page.storage.set_cookies(cookies, timeout=run.left)


async def _clear_cookies(run: Performance, _request: requests.ClearCookies) -> None:
    await run.page.storage.clear_cookies(timeout=run.left)


def _area(run: Performance, request: Any) -> Any:
    storage = run.page.storage
    return storage.local if request.area == "local" else storage.session


async def _storage(run: Performance, request: requests.Storage) -> dict[str, str]:
    items: dict[str, str] = await _area(run, request).items(timeout=run.left)
    return items


async def _set_storage(run: Performance, request: requests.SetStorage) -> None:
    await _area(run, request).set(request.items, timeout=run.left)


async def _clear_storage(run: Performance, request: requests.ClearStorage) -> None:
    area = _area(run, request)
    await (area.delete(*request.keys, timeout=run.left) if request.keys else area.clear(timeout=run.left))


async def _search(run: Performance, request: requests.Search) -> list[dict[str, str]]:
    engine = run.actor.search_engines.get(request.engine)
    if engine is None:
        known = ", ".join(map(repr, run.actor.search_engines))
        raise InvalidArgumentError(
            what="search.engine", given=repr(request.engine[:40]), expected=f"one of {known}"
        )
    page = await run.actor.browser.new_page(context=run.actor.context, timeout=run.left)
    try:
        await page.goto(engine.url_of(request.query), wait_until="domcontentloaded", timeout=run.left)
        results: list[SearchResult] = []
        for node in await page.find_all(engine.result, timeout=min(run.left, _ARRIVING)):
            if len(results) == request.limit:
                break
            html = await page.elements.outer_html(node, timeout=run.left)
            if (result := read_result(html, page.url, engine)) is not None:
                results.append(result)
        return [attrs.asdict(result) for result in results]
    finally:
        await run.actor.discard(page)


# --- tabs ----------------------------------------------------------------------------------------------------


async def _tabs(run: Performance, _request: requests.Tabs) -> list[dict[str, Any]]:
    await trio.lowlevel.checkpoint()
    current = run.actor.current
    return [
        {
            "index": index,
            "targetId": page.target_id,
            "url": describe_url(page.url),
            "current": page is current,
            "opener": None if page.opener is None else page.opener.target_id,
        }
        for index, page in enumerate(run.actor.pages)
    ]


async def _new_tab(run: Performance, request: requests.NewTab) -> dict[str, Any]:
    page = await run.actor.open_page(timeout=run.left)
    run.page_or_none = page
    if request.url is None:
        return {"url": page.url}
    try:
        arrival = await page.goto(request.url, wait_until=request.wait_until, timeout=run.left)
    except BaseException:
        await run.actor.discard(page)
        run.page_or_none = None
        raise
    return {"url": describe_url(arrival.url), "status": arrival.status}


async def _focus_tab(run: Performance, _request: requests.FocusTab) -> None:
    await run.page.bring_to_front(timeout=run.left)
    run.actor.focus(run.page)


async def _close(run: Performance, _request: requests.Close) -> dict[str, Any]:
    opener = run.page.opener
    was_current = run.actor.current is run.page
    await run.page.close(timeout=run.left)
    if was_current and opener is not None and opener in run.actor.pages:
        run.actor.focus(opener)
    run.page_or_none = None
    current = run.actor.current
    return {"current": None if current is None else current.target_id}


# --- dialogs, files, downloads -------------------------------------------------------------------------------


async def _dialog(run: Performance, request: requests.Dialog) -> None:
    async def answer(expected: trio.Event) -> None:
        # A timeout is no error here: no caller waits for the dialog.
        expecting = run.page.expect_dialog(accept=request.accept, text=request.prompt_text, timeout=run.left)
        try:
            async with expecting:
                expected.set()
        except DeadlineExceededError:
            return

    await run.actor.arm(answer, run.left)


async def _file_chooser(run: Performance, request: requests.FileChooser) -> None:
    async def answer(expected: trio.Event) -> None:
        try:
            async with run.page.expect_file_chooser(timeout=run.left) as chooser:
                expected.set()
                with trio.move_on_after(run.left):
                    await chooser.set_files(*request.paths, timeout=run.left)
        except DeadlineExceededError:
            return

    await run.actor.arm(answer, run.left)


async def _download(run: Performance, request: requests.Download) -> dict[str, Any]:
    target = await run.find_if_given(request.ref, request.selector)
    async with run.page.expect_download(request.directory, timeout=run.left) as expected:
        if target is not None:
            run.report(await run.page.click(target, heal=request.heal, refuse_renamed=True, timeout=run.left))
    download = expected.value
    path = await download.wait(timeout=run.left)
    return {
        "path": str(path),
        "url": describe_url(download.url),
        "suggestedFilename": download.suggested_filename,
        "bytes": download.received,
    }


PERFORM: Mapping[type[ActRequest], Callable[[Performance, Any], Awaitable[Any]]] = {
    requests.TakeSnapshot: _snapshot,
    requests.Find: _find,
    requests.Screenshot: _screenshot,
    requests.Pdf: _pdf,
    requests.Extract: _extract,
    requests.Console: _console,
    requests.Requests: _requests,
    requests.Cookies: _cookies,
    requests.SetCookies: _set_cookies,
    requests.ClearCookies: _clear_cookies,
    requests.Storage: _storage,
    requests.SetStorage: _set_storage,
    requests.ClearStorage: _clear_storage,
    requests.Search: _search,
    requests.Tabs: _tabs,
    requests.NewTab: _new_tab,
    requests.FocusTab: _focus_tab,
    requests.Close: _close,
    requests.Dialog: _dialog,
    requests.FileChooser: _file_chooser,
    requests.Download: _download,
}
"""The handler of each kind of request."""
