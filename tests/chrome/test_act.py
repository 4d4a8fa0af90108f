"""Requests in a real browser: the table of cases, turns, timeouts and cancellation, checked against the
page's record.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import attrs
import pytest
import trio
import trio.testing
from act_cases import CASES, SMALLEST, run_case, serve_pages
from busy_machine import slack
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.act import ENGINES, KINDS, Actor, SearchEngine, dispatch

pytestmark = pytest.mark.chrome


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


@pytest.fixture
async def actor(browser: cdpengine.Browser, site: str) -> AsyncIterator[Actor]:
    async with browser.new_context() as context:
        engines = {
            "local": SearchEngine(url=f"{site}/results?q={{query}}", result=".result", target_parameter="to"),
            "gone": SearchEngine(url="http://127.0.0.1:1/?q={query}", result="a"),
        }
        yield Actor(browser, context, search_engines={**ENGINES, **engines})


@pytest.fixture
async def stage(actor: Actor, site: str) -> cdpengine.Page:
    assert (await dispatch(actor, {"kind": "newTab", "url": f"{site}/stage"})).ok
    page = actor.current
    assert page is not None
    return page


GROUP = 14


# The usual HTTP and MCP runs use other parts of the table. The three together cover it.
@pytest.mark.sample(3)
@pytest.mark.parametrize("first", range(0, len(CASES), GROUP))
async def test_the_table(first: int, actor: Actor, site: str, tmp_path: Path) -> None:
    file = tmp_path / "upload.txt"
    file.write_text("x")
    places = {"site": site, "folder": str(tmp_path), "file": str(file)}
    without_scripts = attrs.evolve(actor, evaluate_enabled=False)

    async def ask(request: dict[str, Any]) -> dict[str, Any]:
        return (await dispatch(actor, request)).to_json()

    async def ask_without_scripts(request: dict[str, Any]) -> dict[str, Any]:
        return (await dispatch(without_scripts, request)).to_json()

    wrong = [await run_case(case, ask, ask_without_scripts, places) for case in CASES[first : first + GROUP]]
    assert not any(wrong), "\n".join(filter(None, wrong))


# --- files ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["none", "own"])
async def test_files_may_be_named_in_their_folder_alone(
    actor: Actor, stage: cdpengine.Page, tmp_path: Path, folder: str
) -> None:
    """Check every field that names a file with every kind of path that leaves the folder."""
    own, outside = tmp_path / "own", tmp_path / "outside"
    own.mkdir()
    outside.mkdir()
    (outside / "secret.txt").write_text("x")
    (own / "mine.txt").write_text("x")
    (own / "link.txt").symlink_to(outside / "secret.txt")
    (own / "linked").symlink_to(outside)
    actor.files = own if folder == "own" else None
    ways_out = [
        str(outside / "secret.txt"),
        "../outside/secret.txt",
        "link.txt",
        "linked/x.png",
        f"{own}/../outside/x",
        "/etc/x",
    ]
    for path in (*ways_out, *([str(own / "mine.txt")] if folder == "none" else [])):
        for request in (
            {"kind": "upload", "selector": "#file", "paths": [path]},
            {"kind": "fileChooser", "paths": [path]},
            {"kind": "screenshot", "path": path},
            {"kind": "pdf", "path": path},
            {"kind": "download", "directory": path, "timeoutMs": 100},
            {"kind": "startRecording", "path": path},
            {"kind": "startMeasurement", "measurement": "trace", "path": path},
            {"kind": "heapSnapshot", "path": path},
        ):
            answer = await dispatch(actor, request)
            assert answer.error is not None
            assert answer.error.kind == "invalidArgument", request
            assert answer.error.message.startswith(str(request["kind"]))
    assert sorted(path.name for path in outside.iterdir()) == ["secret.txt"]
    if folder == "own":
        assert (
            await dispatch(actor, {"kind": "upload", "selector": "#file", "paths": [str(own / "mine.txt")]})
        ).ok
        assert (await dispatch(actor, {"kind": "screenshot", "path": str(own / "shot.png")})).ok


# --- turns, time and cancellation ----------------------------------------------------------------------------

HANGING = "for (const end = Date.now() + 60000; Date.now() < end; );"


async def test_only_requests_that_change_a_page_wait_their_turn(actor: Actor, stage: cdpengine.Page) -> None:
    order: list[str] = []

    async def ask(name: str, **request: object) -> None:
        assert (await dispatch(actor, request)).ok
        order.append(name)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(ask, "typed", kind="type", selector="#name", text="abcdef", slowly=True))
        await trio.testing.wait_all_tasks_blocked()
        for name in ("first", "second"):
            nursery.start_soon(partial(ask, name, kind="press", key=name[0]))
            await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(partial(ask, "looked", kind="evaluate", function="1"))
    assert order == ["looked", "typed", "first", "second"]
    assert await stage.evaluate("document.getElementById('name').value") == "abcdeffs"


async def test_waiting_request_ends_at_its_deadline(actor: Actor, stage: cdpengine.Page) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(dispatch, actor, {"kind": "download", "timeoutMs": 60_000})
        await trio.testing.wait_all_tasks_blocked()
        began = trio.current_time()
        answer = await dispatch(actor, {"kind": "click", "selector": "#go", "timeoutMs": 200})
        assert answer.error is not None
        assert answer.error.kind == "deadlineExceeded"
        assert "turn" in answer.error.message
        assert trio.current_time() - began < 0.2 + slack(0.15)
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("kind", ["evaluate", "wait"])
async def test_a_cancelled_script_is_stopped_and_the_next_click_works(
    actor: Actor, stage: cdpengine.Page, kind: str
) -> None:
    with trio.move_on_after(0.1):
        await dispatch(actor, {"kind": kind, "function": HANGING})
    began = trio.current_time()
    answer = await dispatch(actor, {"kind": "click", "selector": "#go"})
    assert answer.ok, answer
    assert trio.current_time() - began < slack(0.25)
    assert (await stage.evaluate("record"))[-1:] == ["click go"]


LEAVING = {"navigate", "back", "reload", "newTab", "close", "tabs", "focusTab", "search"}
"""These requests leave the document or need none."""


@pytest.mark.sample(16)
@pytest.mark.parametrize("kind", sorted(set(KINDS) - LEAVING))
async def test_each_kind_ends_in_time_on_a_page_that_hangs(
    actor: Actor, stage: cdpengine.Page, kind: str
) -> None:
    """The page is as usable afterwards as before."""
    await stage.evaluate("setTimeout(() => { while (true); }); 0")
    began = trio.current_time()
    answer = await dispatch(actor, {"kind": kind, **SMALLEST.get(kind, {}), "timeoutMs": 150})
    assert trio.current_time() - began < 0.15 + slack(0.25)
    assert answer.ok or answer.error is not None
    await stage.recover()
    assert (await dispatch(actor, {"kind": "click", "selector": "#go"})).ok


async def test_an_actor_sees_the_pages_of_its_context_alone(
    browser: cdpengine.Browser, actor: Actor, stage: cdpengine.Page
) -> None:
    async with browser.new_context() as context:
        other = Actor(browser, context)
        assert (await dispatch(other, {"kind": "tabs"})).result == []
        answer = await dispatch(other, {"kind": "click", "selector": "#go", "targetId": stage.target_id})
        assert answer.error is not None
        assert "targetId" in answer.error.message
        nowhere = await dispatch(other, {"kind": "click", "selector": "#go"})
        assert nowhere.error is not None
        assert "newTab" in nowhere.error.message


async def test_armed_answer_expires(actor: Actor, stage: cdpengine.Page) -> None:
    assert (await dispatch(actor, {"kind": "dialog", "accept": True, "timeoutMs": 50})).ok
    await trio.sleep(slack(0.1))
    answer = await dispatch(actor, {"kind": "click", "selector": "#ask"})
    assert [dialog.accepted for dialog in answer.effects.dialogs] == [False]


async def test_two_armed_answers_are_used_in_order(actor: Actor, stage: cdpengine.Page) -> None:
    """The first armed answer handles the first dialog, like the outer of two `expect_dialog` blocks."""
    for accept in (True, False):
        assert (await dispatch(actor, {"kind": "dialog", "accept": accept})).ok
    for _ in range(2):
        assert (await dispatch(actor, {"kind": "click", "selector": "#ask"})).ok
    assert await stage.evaluate("record.filter((each) => each.startsWith('answer'))") == [
        "answer true",
        "answer false",
    ]


async def test_failed_new_tab_is_closed(actor: Actor, stage: cdpengine.Page, site: str) -> None:
    answer = await dispatch(actor, {"kind": "newTab", "url": "http://127.0.0.1:1/"})
    assert answer.error is not None
    assert answer.error.kind == "navigationFailed"
    assert actor.pages == [stage]
    assert actor.current is stage


async def test_lost_browser_is_named() -> None:
    async with cdpengine.launch() as browser:
        assert (await dispatch(browser, {"kind": "newTab"})).ok
        await browser.session.call("Browser.close")
        with trio.fail_after(10):
            while (answer := await dispatch(browser, {"kind": "evaluate", "function": "1"})).ok:  # noqa: ASYNC110
                await trio.sleep(0.01)
        assert answer.error is not None
        assert answer.error.kind in ("connectionLost", "sessionGone", "invalidArgument")


async def test_every_way_to_another_document_brings_back_a_crashed_page(actor: Actor, site: str) -> None:
    assert (await dispatch(actor, {"kind": "newTab", "url": f"{site}/stage"})).ok
    page = actor.current
    assert page is not None
    for part in ("?1", "?2"):
        await page.goto(f"{site}/stage{part}")
    for request, part in (
        ({"kind": "back"}, "?1"),
        ({"kind": "reload", "diff": True}, "?1"),
        ({"kind": "forward"}, "?2"),
        ({"kind": "navigate", "url": f"{site}/stage?3", "diff": True}, "?3"),
    ):
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await page.session.call("Page.crash")
        refused = await dispatch(actor, {"kind": "click", "selector": "#go"})
        assert refused.error is not None
        assert refused.error.kind == "targetCrashed"
        response = await dispatch(actor, request)
        assert response.ok, response.error
        assert await page.evaluate("location.search") == part


async def test_tabs_of_one_actor_share_the_numbers_of_refs(actor: Actor, site: str) -> None:
    found = []
    for _ in range(2):
        assert (await dispatch(actor, {"kind": "newTab", "url": f"{site}/stage"})).ok
        nodes = (await dispatch(actor, {"kind": "find", "role": "button"})).result["nodes"]
        found.append([each["ref"] for each in nodes])
    assert set(found[0]).isdisjoint(found[1])
    refused = await dispatch(actor, {"kind": "click", "ref": found[0][0]})
    assert refused.error is not None
    assert refused.error.kind == "staleRef"
    assert "another tab" in refused.error.message


async def test_a_name_as_a_selector_is_refused_without_a_wait(actor: Actor, stage: cdpengine.Page) -> None:
    for selector, advice in (
        ("Sign in", '"Sign in" looks like a name. Use a find request with name "Sign in"'),
        ("login", '"login" looks like a name. Use a find request with name "login"'),
        ("internal:text=Go", 'expected a CSS selector. Use a find request with text "Go"'),
        ("//button", "expected a CSS selector. Use a CSS selector, not an XPath"),
    ):
        with trio.fail_after(10):
            response = await dispatch(actor, {"kind": "click", "selector": selector, "timeoutMs": 60_000})
        assert response.error is not None
        assert advice in response.error.message
    found = await dispatch(actor, {"kind": "find", "name": "Go"})
    assert found.result["count"] == 1
    with trio.fail_after(10):
        response = await dispatch(actor, {"kind": "wait", "selector": "Sign in", "timeoutMs": 60_000})
    assert response.error is not None
    assert 'Use a wait request with text "Sign in"' in response.error.message
    await stage.set_content("<login>here</login>")
    assert (await dispatch(actor, {"kind": "click", "selector": "login"})).ok


CRITERIA_PAGE = """<form onsubmit="return false"><label>User <input id=user placeholder="Your name"></label>
<label>Terms <input type=checkbox id=terms></label>
<select aria-label=Country id=country><option>France<option>Spain</select>
<button id=save>Save</button> <button id=all>Save all</button> <button id=add1>Add</button> <button id=add2>Add</button>
<img alt=Logo id=logo width=9 height=9 src="data:image/gif;base64,R0lGODlhAQABAAAAACw="> <b title=Tip id=tip>?</b>
<i data-testid=mark id=mark>!</i></form>
<div id=card draggable=true>Card</div><div id=bin style="height: 40px">Bin</div>
<script>
var log = [];
for (const each of document.querySelectorAll("[id]")) {
  each.addEventListener("click", (event) => { log.push(event.currentTarget.id); });
  each.addEventListener("mouseover", (event) => { if (event.currentTarget === event.target) log.push("over " + each.id); });
}
bin.ondragover = (event) => event.preventDefault();
bin.ondrop = () => log.push("dropped");
</script>"""


async def test_selectors_may_be_criteria(actor: Actor, stage: cdpengine.Page) -> None:
    """Each kind of request for an element accepts them, and one element must match."""
    await stage.set_content(CRITERIA_PAGE)

    async def perform(kind: str, **fields: Any) -> list[str]:
        response = await dispatch(actor, {"kind": kind, "timeoutMs": 8_000, **fields})
        assert response.ok, response.error
        log: list[str] = await stage.evaluate("log.splice(0)")
        return [each for each in log if kind == "hover" or not each.startswith("over ")]

    assert await perform("click", selector='role=button[name="Save"][exact]') == ["save"]
    assert await perform("click", selector='text="Save"') == ["save"]
    assert await perform("click", selector="text=save all") == ["all"]
    assert await perform("click", selector="role=button[name=Add] >> nth=-1") == ["add2"]
    assert await perform("click", selector="button >> nth=2") == ["add1"]
    assert await perform("click", selector="alt=Logo") == ["logo"]
    assert await perform("click", selector="testid=mark") == ["mark"]
    assert (await perform("hover", selector="title=Tip"))[-1] == "over tip"
    await perform("type", selector="label=User", text="Ada")
    await perform("press", selector="placeholder=Your name", key="!")
    assert await stage.evaluate("user.value") == "Ada!"
    fields = [{"selector": "label=User", "value": "Bob"}, {"selector": "label=Terms", "value": True}]
    await perform("fill", fields=fields)
    await perform("select", selector="role=combobox", values=["Spain"])
    assert await stage.evaluate("[user.value, terms.checked, country.value]") == ["Bob", True, "Spain"]
    assert await perform("drag", startSelector="text=Card", endSelector="text=Bin") == ["dropped"]
    read = await dispatch(actor, {"kind": "evaluate", "function": "(e) => e.id", "selector": "text=Bin"})
    assert read.result == "bin"
    several = await dispatch(actor, {"kind": "click", "selector": "text=Add", "timeoutMs": 500})
    assert several.error is not None
    assert "2" in several.error.message
    refused = await dispatch(actor, {"kind": "click", "selector": "role=button[checked]"})
    assert refused.error is not None
    assert "role=ROLE" in refused.error.message


@pytest.mark.parametrize("kind", ["navigate", "newTab"])
async def test_an_actor_opens_urls_of_its_files_only(
    browser: cdpengine.Browser, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    inside, outside = folder / "in.html", tmp_path / "out.html"
    for place in (inside, outside):
        place.write_text(f"<title>{place.name}</title>")
    (folder / "link.html").symlink_to(outside)
    async with browser.new_context() as context:
        limits: list[tuple[Path | Literal["anywhere"] | None, bool]]
        limits = [(None, False), (folder, True), ("anywhere", True)]
        for files, allowed in limits:
            actor = Actor(browser, context, files=files)
            opened = await dispatch(actor, {"kind": kind, "url": inside.as_uri()})
            assert opened.ok is allowed, files
            for url in (outside.as_uri(), f"view-source:{outside.as_uri()}", (folder / "link.html").as_uri(),
                        f"{folder.as_uri()}/%2e%2e/out.html"):  # fmt: skip
                elsewhere = await dispatch(actor, {"kind": kind, "url": url})
                assert elsewhere.ok is (files == "anywhere"), (files, url)
                if files != "anywhere":
                    assert elsewhere.error is not None
                    assert (elsewhere.error.kind, "file" in elsewhere.error.message) == (
                        "invalidArgument",
                        True,
                    )
