from __future__ import annotations

import pytest
from action_stage import Stage
from refusals import refused

from cdpengine._input.geometry import Point
from cdpengine.errors import CoveredError, NotInteractableError

pytestmark = pytest.mark.chrome

BOX = "<div id=box style='position:absolute;left:100px;top:50px;width:80px;height:20px'>Box</div>"
ENTERING = "mousemove mouseover mouseenter mouseout mouseleave mousedown"


async def test_events_of_a_hover(stage: Stage) -> None:
    await stage.show(BOX, events=ENTERING)
    outcome = await stage.hover("#box")
    record = [entry for entry in await stage.record() if entry["target"] == "box"]
    assert [entry["type"] for entry in record] == ["mouseover", "mouseenter", "mousemove"]
    assert all(entry["trusted"] and entry["buttons"] == 0 for entry in record)
    assert {(entry["x"], entry["y"]) for entry in record} == {(140, 60)}
    assert outcome.point == Point(140, 60)
    assert await stage.js("box.matches(':hover')") is True


async def test_leaving_for_another_element(stage: Stage) -> None:
    other = BOX.replace("id=box", "id=other").replace("top:50px", "top:200px")
    await stage.show(BOX + other, events=ENTERING)
    await stage.hover("#box")
    await stage.hover("#other")
    assert [e["type"] for e in await stage.record() if e["target"] == "box"][-2:] == [
        "mouseout",
        "mouseleave",
    ]
    assert await stage.js("[box.matches(':hover'), other.matches(':hover')]") == [False, True]


async def test_menu_that_opens_on_hover(stage: Stage) -> None:
    await stage.show(
        "<style>#menu{display:none} #top:hover #menu{display:block}</style>"
        "<div id=top style='width:90px'>File<div id=menu><button id=go>Open</button></div></div>"
    )
    await stage.hover("#top", position=(5, 5))
    await stage.click("#go")
    assert [e["target"] for e in await stage.record("click")] == ["go"]


async def test_disabled_can_be_hovered(stage: Stage) -> None:
    await stage.show("<button id=go disabled>Go</button>")
    await stage.hover("#go", timeout=20)
    assert await stage.js("go.matches(':hover')") is True


async def test_modifiers(stage: Stage) -> None:
    await stage.show(BOX)
    await stage.hover("#box", modifiers=["Shift"])
    assert [(e["type"], e["shift"]) for e in await stage.record()] == [("mousemove", True)]


async def test_covered_and_invisible(stage: Stage) -> None:
    await stage.show(BOX + "<p id=veil style='position:fixed;inset:0;margin:0'></p><i id=gone hidden>x</i>")
    await refused(CoveredError, lambda timeout: stage.hover("#box", timeout=timeout), match="p#veil receives")
    await refused(
        NotInteractableError, lambda timeout: stage.hover("#gone", timeout=timeout), state="invisible"
    )
    assert await stage.record() == []


async def test_mouse_moves_in_steps(stage: Stage) -> None:
    await stage.show(BOX)
    await stage.mouse.move(100, 100)
    await stage.js("void (record.length = 0)")
    await stage.mouse.move(200, 140, steps=4)
    moves = [(e["x"], e["y"]) for e in await stage.record("mousemove")]
    assert moves == [(125, 110), (150, 120), (175, 130), (200, 140)]
    assert stage.mouse.position == (200, 140)


async def test_buttons_while_dragging(stage: Stage) -> None:
    await stage.show("<div id=area style='width:300px;height:300px'></div>")
    await stage.mouse.move(50, 50)
    await stage.mouse.down()
    await stage.mouse.down("right")
    await stage.mouse.move(80, 90)
    await stage.mouse.up("right")
    await stage.mouse.up()
    found = [(e["type"], e["buttons"]) for e in await stage.record("mousemove", "mousedown", "mouseup")]
    assert found == [
        ("mousemove", 0),
        ("mousedown", 1),
        ("mousedown", 3),
        ("mousemove", 3),
        ("mouseup", 1),
        ("mouseup", 0),
    ]
    assert stage.mouse.buttons == 0
