"""Drags within one page: HTML5 drag and drop, and pages that follow the pointer."""

from __future__ import annotations

import pytest
from pointer_page import at, node, record, show

import cdpengine
from cdpengine.errors import (
    CoveredError,
    NotDeliveredError,
)

pytestmark = pytest.mark.chrome

# --- drags ----------------------------------------------------------------------------------------------------

DRAGS = f"""
<div id=src draggable=true style='{at(20, 20, 60, 40)};background:#f88'>S</div>
<div id=dst style='{at(220, 120, 90, 70)};background:#88f'>D</div>
<div id=no style='{at(420, 120, 90, 70)};background:#888'>N</div>
<div id=knob style='{at(20, 220, 20, 20)};background:#0a0'></div>
<input id=slider type=range min=0 max=100 value=0 style='{at(20, 300, 200, 20)};margin:0'>
<button id=go style='{at(20, 400)}'>Go</button>
<div id=far style='{at(20, 2400)};background:#8f8'>F</div>
<script>
  src.ondragstart = (event) => event.dataTransfer.setData("text/plain", "hello");
  for (const zone of [dst, far]) {{ zone.ondragover = (event) => event.preventDefault(); zone.ondrop = (event) => event.preventDefault(); }}
  knob.onpointerdown = (event) => knob.setPointerCapture(event.pointerId);
  knob.onpointermove = (event) => {{ if (event.buttons) knob.style.left = event.clientX - 10 + "px"; }};
</script>"""


async def still_usable(page: cdpengine.Page) -> None:
    await page.evaluate("void (record.length = 0)")
    await page.click(await node(page, "go"), timeout=20)
    seen = await record(page, "mousemove", "mousedown", "mouseup", "click")
    assert [(e["type"], e["buttons"]) for e in seen if e["type"] != "mousemove"] == [
        ("mousedown", 1),
        ("mouseup", 0),
        ("click", 0),
    ]
    assert page.mouse.buttons == 0


@pytest.mark.parametrize("target", ["dst", "far"])
async def test_html5_drag_and_drop(page: cdpengine.Page, target: str) -> None:
    await show(page, DRAGS)
    outcome = await page.drag(await node(page, "src"), await node(page, target), timeout=20)
    seen = await record(page, "dragstart", "drop", "dragend", "mouseup")
    assert [(e["type"], e["target"], e["trusted"]) for e in seen] == [
        ("dragstart", "src", True),
        ("drop", target, True),
        ("dragend", "src", True),
    ]
    assert seen[1]["data"] == "hello"
    assert outcome.delivered
    assert outcome.events[-1] == "drop"
    await still_usable(page)


async def test_rejected_html5_drop(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    with pytest.raises(NotDeliveredError, match="did not accept"):
        await page.drag(await node(page, "src"), await node(page, "no"), timeout=20)
    assert await record(page, "drop") == []
    assert [entry["target"] for entry in await record(page, "dragend")] == ["src"]
    await still_usable(page)


async def test_html5_drag_to_a_point(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    await page.drag(await node(page, "src"), (265, 155), timeout=20)
    assert [(e["target"], e["x"], e["y"]) for e in await record(page, "drop")] == [("dst", 265, 155)]
    await still_usable(page)


async def test_pointer_drag_and_slider(page: cdpengine.Page) -> None:
    await show(page, DRAGS)
    outcome = await page.drag(await node(page, "knob"), await node(page, "no"), steps=4, timeout=20)
    assert outcome.received_by == "backend node " + str((await node(page, "knob")).id) or outcome.received_by
    assert await page.evaluate("knob.offsetLeft") == 455
    moves = [entry["buttons"] for entry in await record(page, "mousemove")]
    assert moves[0] == 0
    assert moves.count(1) >= 5
    await page.drag(await node(page, "slider"), (120, 310), source_position=(4, 10), timeout=20)
    assert await page.evaluate("slider.value") == "50"
    assert "change" in [entry["type"] for entry in await record(page)]
    await still_usable(page)


async def test_drag_from_covered_element_is_refused(page: cdpengine.Page) -> None:
    await show(page, DRAGS + f"<div id=veil style='{at(0, 0, 150, 150)}'></div>")
    with pytest.raises(CoveredError):
        await page.drag(await node(page, "src"), await node(page, "dst"), timeout=2)
    assert await record(page, "mousedown") == []
    await still_usable(page)


async def test_drag_to_covered_element_releases_the_button(page: cdpengine.Page) -> None:
    await show(page, DRAGS + f"<div id=veil style='{at(200, 100, 150, 150)}'></div>")
    with pytest.raises(CoveredError):
        await page.drag(await node(page, "src"), await node(page, "dst"), timeout=2)
    assert await record(page, "drop") == []
    assert len(await record(page, "dragend")) == 1
    await still_usable(page)
