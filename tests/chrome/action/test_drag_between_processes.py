"""Drags in both directions between a page and a frame of another site in its own process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import NotDeliveredError

pytestmark = pytest.mark.chrome

DOCUMENT = """<!doctype html><body style='margin:0;height:2000px'>
<script>
  record = [];
  const names = "mousedown mousemove mouseup click dragstart dragenter drop dragend pointermove";
  for (const name of names.split(" ")) addEventListener(name, (event) => record.push(
    [event.type, event.target.id || event.target.localName, event.isTrusted, event.buttons]), true);
</script>
<div id=card draggable=true style='width:60px;height:40px;background:#f88'>card</div>
<div id=knob style='width:40px;height:40px;background:#8f8'>knob</div>
<div id=bin style='width:120px;height:40px;background:#88f'>bin</div>
<button id=go style='display:block'>Go</button>
<script>
  card.ondragstart = (event) => event.dataTransfer.setData("text/plain", "from " + location.pathname);
  card.ondragend = (event) => effect = event.dataTransfer.dropEffect;
  bin.ondragover = (event) => event.preventDefault();
  bin.ondrop = (event) => { event.preventDefault(); dropped = event.dataTransfer.getData("text/plain"); };
</script>"""


ENDED = """new Promise((done) => {
  const look = () => record.some(([type]) => type === "dragend") ? done() : setTimeout(look, 5);
  look();
})"""


@pytest.fixture
async def apart(page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    httpserver.expect_request("/in").respond_with_data(DOCUMENT, content_type="text/html")
    inner = httpserver.url_for("/in").replace("127.0.0.1", "localhost")
    frame = f"<iframe src='{inner}' style='position:absolute;left:220px;top:150px;width:300px;height:300px'></iframe>"
    httpserver.expect_request("/out").respond_with_data(DOCUMENT + frame, content_type="text/html")
    await page.goto(httpserver.url_for("/out"))
    assert page.frames[1].session is not page.session
    return page


Find = Callable[[int, str], Any]


@pytest.fixture
async def find(apart: cdpengine.Page) -> Find:
    async def found(frame: int, name: str) -> Any:
        return await apart.find(css=f"#{name}", frame=apart.frames[frame])

    return found


async def seen(page: cdpengine.Page, frame: int, *types: str) -> list[list[Any]]:
    record: Any = await page.evaluate("record", frame=page.frames[frame])
    return [entry for entry in record if entry[0] in types]


async def still_usable(page: cdpengine.Page, find: Find) -> None:
    assert page.mouse.buttons == 0
    for frame in (0, 1):
        await page.evaluate("void (record.length = 0)", frame=page.frames[frame])
        assert (await page.click(await find(frame, "go"))).delivered
        assert await seen(page, frame, "mousedown", "mouseup", "click", "dragstart") == [
            ["mousedown", "go", True, 1],
            ["mouseup", "go", True, 0],
            ["click", "go", True, 0],
        ]


WAYS = pytest.mark.parametrize(("start", "end"), [(0, 1), (1, 0)], ids=["into the frame", "out of the frame"])


@WAYS
async def test_html5_drag(apart: cdpengine.Page, find: Find, start: int, end: int) -> None:
    outcome = await apart.drag(await find(start, "card"), await find(end, "bin"))
    assert outcome.delivered
    assert outcome.events[-1] == "drop"
    assert await apart.evaluate("dropped", frame=apart.frames[end]) == ("from /out", "from /in")[start]
    assert await seen(apart, end, "drop", "dragend") == [["drop", "bin", True, 0]]
    begun = ["dragstart", "card", True, 1]
    await apart.evaluate(ENDED, frame=apart.frames[start])
    assert await apart.evaluate("effect", frame=apart.frames[start]) == "none"
    assert await seen(apart, start, "dragstart", "drop", "dragend") == [begun, ["dragend", "card", True, 0]]
    await still_usable(apart, find)


async def test_html5_drag_within_the_frame(apart: cdpengine.Page, find: Find) -> None:
    assert (await apart.drag(await find(1, "card"), await find(1, "bin"))).delivered
    await apart.evaluate(ENDED, frame=apart.frames[1])
    assert await seen(apart, 1, "drop", "dragend") == [["drop", "bin", True, 0], ["dragend", "card", True, 0]]
    await still_usable(apart, find)


@WAYS
async def test_rejected_html5_drop(apart: cdpengine.Page, find: Find, start: int, end: int) -> None:
    with pytest.raises(NotDeliveredError, match="did not accept"):
        await apart.drag(await find(start, "card"), await find(end, "knob"))
    await still_usable(apart, find)


@WAYS
async def test_drag_by_pointer(apart: cdpengine.Page, find: Find, start: int, end: int) -> None:
    outcome = await apart.drag(await find(start, "knob"), await find(end, "bin"), steps=4)
    assert outcome.delivered
    assert outcome.received_by.endswith("bin'"), outcome
    assert await seen(apart, start, "mousedown", "mouseup") == [["mousedown", "knob", True, 1]]
    assert await seen(apart, end, "mousedown", "mouseup") == [["mouseup", "bin", True, 0]]
    assert ["mousemove", "bin", True, 1] in await seen(apart, end, "mousemove")
    await still_usable(apart, find)
