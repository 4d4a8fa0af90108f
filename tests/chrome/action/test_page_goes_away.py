"""Actions whose events remove the page: it navigates, rewrites its document, closes or crashes at one of
them.

Rule: a completed action returns its outcome with the navigation. An incomplete one raises an EngineError with
its progress.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import attrs
import pytest
import trio
from pytest_httpserver import HTTPServer
from rounds import every_nth

import cdpengine

pytestmark = pytest.mark.chrome


@attrs.frozen
class Scene:
    """A page, its nodes a and b, and a file."""

    page: cdpengine.Page
    a: cdpengine.FoundNode
    b: cdpengine.FoundNode
    path: Path


@attrs.frozen
class Case:
    """`events` are the gesture's events at which the page may disappear; at those in `done` the action is
    complete.
    """

    body: str
    act: Callable[[Scene], Awaitable[cdpengine.ActionOutcome]]
    events: str
    done: str = ""


BOX = "<input type=checkbox id=a AT>"
FIELD = "<input id=a AT>"
BUTTON = "<button id=a AT>a</button>"
PIECES = """<style>div { width: 50px; height: 50px; margin: 40px; background: #ccc }</style>
<div id=a AT DRAGGABLE>a</div><div id=b AT ondragover='event.preventDefault()'>b</div>"""

CASES = {
    "click": Case(BUTTON, lambda on: on.page.click(on.a), "mousemove mousedown mouseup click", "click"),
    "double_click": Case(
        BUTTON, lambda on: on.page.double_click(on.a), "mousedown click dblclick", "dblclick"
    ),
    "hover": Case(BUTTON, lambda on: on.page.hover(on.a), "mousemove", "mousemove"),
    "tap": Case(BUTTON, lambda on: on.page.tap(on.a), "touchstart touchend click", "click"),
    "check": Case(BOX, lambda on: on.page.check(on.a), "mousedown click input change", "click input change"),
    "check by label": Case(
        "<label id=a><input type=checkbox hidden AT>x</label>",
        lambda on: on.page.check(on.a),
        "click input change",
        "click input change",
    ),
    "fill": Case(
        FIELD, lambda on: on.page.fill(on.a, "abc"), "focus beforeinput input", "focus beforeinput input"
    ),
    "fill a range": Case(
        "<input type=range id=a AT>",
        lambda on: on.page.fill(on.a, 53),
        "focus keydown input change",
        "input change",
    ),
    "fill a date": Case(
        "<input type=date id=a AT>",
        lambda on: on.page.fill(on.a, "2024-05-06"),
        "focus keydown input change",
        "input change",
    ),
    "fill_form": Case(
        f"{BOX}<input id=b>", lambda on: on.page.fill_form([(on.a, True), (on.b, "x")]), "click change"
    ),
    "select": Case(
        "<select id=a AT><option>x<option>y<option>z</select>",
        lambda on: on.page.select(on.a, "z"),
        "focus keydown input change",
        "input change",
    ),
    "upload": Case(
        "<input type=file id=a AT>", lambda on: on.page.upload(on.a, on.path), "input change", "input change"
    ),
    "type": Case(
        FIELD, lambda on: on.page.type(on.a, "abc"), "focus keydown beforeinput input", "keydown input"
    ),
    "press": Case(
        FIELD, lambda on: on.page.press("k", on.a), "focus keydown input keyup", "keydown input keyup"
    ),
    "focus": Case(FIELD, lambda on: on.page.focus(on.a), "focus", "focus"),
    "drag": Case(
        PIECES.replace("DRAGGABLE", ""),
        lambda on: on.page.drag(on.a, on.b),
        "mousedown mousemove mouseup",
        "mouseup",
    ),
    "drag and drop": Case(
        PIECES.replace("DRAGGABLE", "draggable=true"),
        lambda on: on.page.drag(on.a, on.b),
        "mousedown dragstart dragover drop",
        "drop",
    ),
}


NOT_ALL_DONE = (
    cdpengine.errors.NotInteractableError,
    cdpengine.errors.StaleRefError,
    cdpengine.errors.FormError,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    file = tmp_path / "a.txt"
    file.write_text("a")
    return file


def serve(httpserver: HTTPServer, body: str, event: str, does: str) -> str:
    handler = f'on{event}="{does}"'
    html = f"<!doctype html>{body.replace('AT', handler)}"
    httpserver.clear()
    httpserver.expect_request("/start").respond_with_data(html, content_type="text/html")
    httpserver.expect_request("/landed").respond_with_data("landed", content_type="text/html")
    return httpserver.url_for("/start")


async def act(page: cdpengine.Page, case: Case, path: Path) -> cdpengine.ActionOutcome:
    found = await page.find_all("#a, #b")
    with trio.fail_after(30):
        return await case.act(Scene(page, found[0], found[-1], path))


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("name", CASES)
async def test_navigates(used_page: cdpengine.Page, httpserver: HTTPServer, path: Path, name: str) -> None:
    case = CASES[name]
    for event in every_nth(2, case.events.split(), list(CASES).index(name)):
        await used_page.goto(serve(httpserver, case.body, event, "location='/landed'"))
        not_all_done = () if event in case.done.split() else NOT_ALL_DONE
        with suppress(*not_all_done):
            outcome = await act(used_page, case, path)
            assert outcome.navigation is not None, event
            assert outcome.navigation.url.endswith("/landed"), event


@pytest.mark.sample(4, start=2)
@pytest.mark.parametrize("name", CASES)
async def test_rewrites_its_document(
    used_page: cdpengine.Page, httpserver: HTTPServer, path: Path, name: str
) -> None:
    event = CASES[name].events.split()[-1]
    does = "document.open();document.write('gone');document.close()"
    await used_page.goto(serve(httpserver, CASES[name].body, event, does))
    with suppress(*NOT_ALL_DONE):
        await act(used_page, CASES[name], path)


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("name", "way"), [*((name, "closes") for name in CASES), ("click", "crashes"), ("fill", "crashes")]
)
async def test_ends(
    browser: cdpengine.Browser, httpserver: HTTPServer, path: Path, name: str, way: str
) -> None:
    case = CASES[name]
    page = await browser.new_page(serve(httpserver, case.body, case.events.split()[-1], "end()"))
    ended = trio.Event()

    async def end() -> None:
        if way == "closes":
            await browser.internals.tabs.close(page.target_id)
        else:
            page.session.post("Page.crash")
        ended.set()

    with suppress(cdpengine.errors.SessionGoneError, *NOT_ALL_DONE):
        async with page.scripts.expose("end", end):
            await act(page, case, path)
            await ended.wait()
    if not page.closed:
        await page.close()
