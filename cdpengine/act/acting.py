"""Handlers of the requests that act on a page: each calls methods of `Page`.

Rule: a function here translates one request into calls of the page, with the rest of the request's time. It
does not wait or catch errors itself.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import trio

from cdpengine._api.page.arguments import Field
from cdpengine._api.page.scrolling import one_viewport
from cdpengine.act import requests
from cdpengine.act.performing import Performance
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import describe_url
from cdpengine.act.words.wording import in_requests
from cdpengine.errors import TargetCrashedError

_BETWEEN_KEYS = 0.075
"""Pause between two keys for `slowly`, in seconds."""


async def _click(run: Performance, request: requests.Click) -> None:
    position = request.position
    run.report(
        await run.page.click(
            await run.find(request.ref, request.selector),
            button=request.button,
            count=2 if request.double_click else 1,
            modifiers=request.modifiers,
            position=None if position is None else (position.x, position.y),
            force=request.force,
            heal=request.heal,
            refuse_renamed=True,
            timeout=run.left,
        )
    )


async def _type(run: Performance, request: requests.Type) -> None:
    target = await run.find(request.ref, request.selector)
    run.report(
        await run.page.type(
            target,
            request.text,
            submit=request.submit,
            delay=_BETWEEN_KEYS if request.slowly else 0,
            heal=request.heal,
            refuse_renamed=True,
            timeout=run.left,
        )
    )


async def _press(run: Performance, request: requests.Press) -> None:
    target = await run.find_if_given(request.ref, request.selector)
    run.report(
        await run.page.press(request.key, target, heal=request.heal, refuse_renamed=True, timeout=run.left)
    )


async def _hover(run: Performance, request: requests.Hover) -> None:
    target = await run.find(request.ref, request.selector)
    run.report(
        await run.page.hover(
            target,
            modifiers=request.modifiers,
            force=request.force,
            heal=request.heal,
            refuse_renamed=True,
            timeout=run.left,
        )
    )


async def _scroll_into_view(run: Performance, request: requests.ScrollIntoView) -> None:
    target = await run.find(request.ref, request.selector)
    run.report(
        await run.page.scroll_into_view(target, heal=request.heal, refuse_renamed=True, timeout=run.left)
    )


async def _scroll(run: Performance, request: requests.Scroll) -> None:
    target = await run.find_if_given(request.ref, request.selector)
    dx, dy = request.dx, request.dy
    if request.direction is not None:
        core = run.page._core  # noqa: SLF001 - no part of what users have
        dx, dy = await one_viewport(core, request.direction, target, heal=request.heal, timeout=run.left)
    run.report(
        await run.page.scroll(dx, dy, target, heal=request.heal, refuse_renamed=True, timeout=run.left)
    )


async def _drag(run: Performance, request: requests.Drag) -> None:
    run.report(
        await run.page.drag(
            await run.find(request.start_ref, request.start_selector),
            await run.find(request.end_ref, request.end_selector),
            hold=request.hold,
            heal=request.heal,
            refuse_renamed=True,
            timeout=run.left,
        )
    )


async def _select(run: Performance, request: requests.Select) -> None:
    target = await run.find(request.ref, request.selector)
    run.report(
        await run.page.select(
            target, *request.values, heal=request.heal, refuse_renamed=True, timeout=run.left
        )
    )


async def _fill(run: Performance, request: requests.Fill) -> None:
    fields = [Field(await run.find(each.ref, each.selector), _value(each.value)) for each in request.fields]
    # A string names no file here: the limits for files apply to requests that name files, such as upload.
    run.report(await run.page._fill_fields(fields, True, run.left, names_files=False))  # noqa: SLF001


def _value(given: str | float | bool | tuple[str, ...]) -> Any:
    if isinstance(given, tuple):
        return list(given)
    whole = isinstance(given, float) and given.is_integer()
    return int(given) if whole else given


async def _check(run: Performance, request: requests.Check) -> None:
    target = await run.find(request.ref, request.selector)
    change = run.page.check if request.checked else run.page.uncheck
    run.report(await change(target, heal=request.heal, refuse_renamed=True, timeout=run.left))


async def _upload(run: Performance, request: requests.Upload) -> None:
    target = await run.find(request.ref, request.selector)
    run.report(
        await run.page.upload(
            target, *request.paths, heal=request.heal, refuse_renamed=True, timeout=run.left
        )
    )


async def _highlight(run: Performance, request: requests.Highlight) -> None:
    target = await run.find(request.ref, request.selector)
    async with run.page.elements.highlight(target, timeout=run.left):
        await trio.sleep(min(request.duration_ms / 1000, run.left))


# --- the page ------------------------------------------------------------------------------------------------


async def _resize(run: Performance, request: requests.Resize) -> None:
    await run.page.emulation.set_viewport(
        request.width, request.height, device_scale_factor=request.device_scale_factor, timeout=run.left
    )


async def _wait(run: Performance, request: requests.Wait) -> None:
    await run.page.wait_for(
        seconds=None if request.time_ms is None else request.time_ms / 1000,
        text=request.text,
        text_gone=request.text_gone,
        css=request.selector,
        url=request.url,
        load_state=request.load_state,
        expression=request.function,
        timeout=run.left,
    )


async def _evaluate(run: Performance, request: requests.Evaluate) -> Any:
    target = await run.find_if_given(request.ref, request.selector)
    return await run.page.evaluate(request.function, *request.args, target=target, timeout=run.left)


async def _revive(run: Performance) -> None:
    """Stop the script of an unresponsive page, so that it can leave its document.

    A crashed page runs no script, and the navigation restores it. A page that ignores the termination is reloaded:
    its document is about to be left anyway.
    """
    with suppress(TargetCrashedError):
        if await run.page.measure.unresponsive_for():
            await run.page.recover(allow="reload", timeout=run.left)


async def _navigate(run: Performance, request: requests.Navigate) -> dict[str, Any]:
    await _revive(run)
    await run.actor.watch(run.page, run.left)
    return _describe(await run.page.goto(request.url, wait_until=request.wait_until, timeout=run.left))


async def _back(run: Performance, request: requests.Back) -> dict[str, Any]:
    await _revive(run)
    return _describe(await run.page.go_back(wait_until=request.wait_until, timeout=run.left))


async def _forward(run: Performance, request: requests.Forward) -> dict[str, Any]:
    await _revive(run)
    return _describe(await run.page.go_forward(wait_until=request.wait_until, timeout=run.left))


async def _reload(run: Performance, request: requests.Reload) -> dict[str, Any]:
    await _revive(run)
    return _describe(await run.page.reload(wait_until=request.wait_until, timeout=run.left))


async def _recover(run: Performance, request: requests.Recover) -> dict[str, Any]:
    report = await run.page.recover(allow=request.allow, timeout=run.left)
    if report.closed:
        run.page_or_none = None
    return {"responsive": report.responsive, "closed": report.closed, "report": in_requests(str(report))}


def _describe(arrival: Any) -> dict[str, Any]:
    return {
        "url": describe_url(arrival.url),
        "status": arrival.status,
        "redirects": [describe_url(url) for url in arrival.redirects],
        "sameDocument": arrival.same_document,
    }


PERFORM: Mapping[type[ActRequest], Callable[[Performance, Any], Awaitable[Any]]] = {
    requests.Click: _click,
    requests.Type: _type,
    requests.Press: _press,
    requests.Hover: _hover,
    requests.ScrollIntoView: _scroll_into_view,
    requests.Scroll: _scroll,
    requests.Drag: _drag,
    requests.Select: _select,
    requests.Fill: _fill,
    requests.Check: _check,
    requests.Upload: _upload,
    requests.Highlight: _highlight,
    requests.Resize: _resize,
    requests.Wait: _wait,
    requests.Evaluate: _evaluate,
    requests.Navigate: _navigate,
    requests.Back: _back,
    requests.Forward: _forward,
    requests.Reload: _reload,
    requests.Recover: _recover,
}
"""The handler of each kind of request."""
