from __future__ import annotations

import pytest
import trio
from action_stage import BUTTON, MOUSE_EVENTS, Stage, clicked
from pytest_httpserver import HTTPServer
from refusals import refused

from cdpengine._input.geometry import Point
from cdpengine.errors import (
    CoveredError,
    DeadlineExceededError,
    NotInteractableError,
)

pytestmark = pytest.mark.chrome

# --- the page's events ---------------------------------------------------------------------------------------


async def test_events_of_a_click_in_order_and_at_the_centre(stage: Stage) -> None:
    await stage.show(BUTTON)
    outcome = await stage.click("#go")
    record = await stage.record()
    assert [entry["type"] for entry in record] == ["mousemove", "mousedown", "mouseup", "click"]
    assert all(entry["trusted"] and entry["target"] == "go" for entry in record)
    assert {(entry["x"], entry["y"]) for entry in record} == {(140, 60)}
    assert [entry["buttons"] for entry in record] == [0, 1, 0, 0]
    assert [entry["detail"] for entry in record] == [0, 1, 1, 1]
    assert outcome.point == Point(140, 60)
    assert outcome.target == "e1 button"
    assert not outcome.dialog_opened


async def test_double_click(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", count=2)
    record = await stage.record()
    assert [(entry["type"], entry["detail"]) for entry in record[1:]] == [
        ("mousedown", 1),
        ("mouseup", 1),
        ("click", 1),
        ("mousedown", 2),
        ("mouseup", 2),
        ("click", 2),
        ("dblclick", 2),
    ]


async def test_right_button(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", button="right")
    record = await stage.record()
    assert {entry["type"] for entry in record} == {
        "mousemove",
        "mousedown",
        "mouseup",
        "auxclick",
        "contextmenu",
    }
    assert [(e["button"], e["buttons"]) for e in record if e["type"] in ("mousedown", "mouseup")] == [
        (2, 2),
        (2, 0),
    ]


async def test_middle_button(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", button="middle")
    record = await stage.record("mousedown", "mouseup", "auxclick")
    assert [(e["type"], e["button"], e["buttons"]) for e in record] == [
        ("mousedown", 1, 4),
        ("mouseup", 1, 0),
        ("auxclick", 1, 0),
    ]


async def test_every_event_has_the_modifiers(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.click("#go", modifiers=("Shift", "Alt"))
    record = await stage.record()
    assert len(record) == 4
    assert all(e["shift"] and e["alt"] and not e["ctrl"] and not e["meta"] for e in record)


async def test_click_has_held_modifier_keys(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.keyboard.down("Control")
    await stage.click("#go")
    await stage.keyboard.up("Control")
    await stage.click("#go")
    assert [e["ctrl"] for e in await stage.record("click")] == [True, False]


async def test_position_counts_from_the_border_box(stage: Stage) -> None:
    await stage.show(
        "<div id=box style='position:absolute;left:50px;top:40px;width:200px;height:100px;border:10px solid'></div>"
    )
    await stage.click("#box", position=(3, 4))
    assert [(e["x"], e["y"]) for e in await stage.record("click")] == [(53, 44)]


async def test_position_turns_with_the_element(stage: Stage) -> None:
    await stage.show(
        "<div id=box style='position:absolute;left:300px;top:200px;width:100px;height:100px;"
        "transform:rotate(90deg);transform-origin:0 0'></div>"
    )
    await stage.click("#box", position=(30, 10))
    # After a quarter turn, "30 right, 10 down" is "10 left, 30 down".
    assert [(e["x"], e["y"]) for e in await stage.record("click")] == [(290, 230)]


# --- dialogs, cancellation, leftovers -------------------------------------------------------------------------


@pytest.mark.sample(2)
@pytest.mark.parametrize("event", ["click", "mousedown", "mousemove"])
async def test_dialog_on_click_does_not_hang(stage: Stage, event: str) -> None:
    await stage.show(BUTTON)
    await stage.js(f"void go.addEventListener('{event}', () => alert('Hello'), {{once: true}})")
    with trio.fail_after(20):
        outcome = await stage.click("#go", timeout=30)
    assert outcome.dialog_opened
    await stage.session.call("Page.handleJavaScriptDialog", accept=True)
    assert stage.mouse.buttons == 0
    # Chrome may drop input that is queued behind the event that opened the dialog. The page's record of this
    # click can therefore be incomplete; the record of the next click must be complete.
    await stage.js("void (record.length = 0)")
    await stage.click("#go")
    assert (await stage.types("mousedown", "mouseup", "click"))[-3:] == ["mousedown", "mouseup", "click"]


async def test_open_dialog_is_named_at_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stage.js, "alert('Hello')")
        await stage.dialogs.dialog_opened()
        await refused(
            NotInteractableError, lambda timeout: stage.click(node, timeout=timeout), match="dialog is open"
        )
        await stage.session.call("Page.handleJavaScriptDialog", accept=True)
    assert await stage.record() == []


async def test_click_on_stuck_page_raises_at_the_deadline(stage: Stage) -> None:
    await stage.show(BUTTON)
    node = await stage.node("#go")
    await stage.js("void setTimeout(() => { const end = Date.now() + 1500; while (Date.now() < end); }, 0)")
    with trio.fail_after(20), pytest.raises(DeadlineExceededError):
        await stage.click(node, timeout=0.5)
    await stage.click(node)
    assert await clicked(stage) == ["go"]


async def test_no_remote_object_and_no_call_is_left(stage: Stage) -> None:
    await stage.show(BUTTON + "<div id=x style='position:fixed;inset:0'></div>")
    await refused(CoveredError, lambda timeout: stage.click("#go", timeout=timeout))
    await stage.js("x.remove()")
    await stage.click("#go")
    await stage.js("1")
    assert stage.session.connection.statistics().in_flight == 0


async def test_helpers_are_invisible_to_the_page(stage: Stage) -> None:
    await stage.show(BUTTON)
    await stage.js(
        "document.elementFromPoint = () => null; Element.prototype.getClientRects = () => [];"
        "window.getComputedStyle = () => { throw Error('patched') }; window.requestAnimationFrame = () => 0;"
        "window.names = Object.getOwnPropertyNames(window).length"
    )
    await stage.click("#go")
    assert await clicked(stage) == ["go"]
    assert await stage.js("Object.getOwnPropertyNames(window).length - names") == 1  # "names" itself


async def test_worlds_survive_navigation(stage: Stage, httpserver: HTTPServer) -> None:
    page = f"{BUTTON}<script>window.count = 0; go.onclick = () => count++</script>"
    httpserver.expect_request("/a").respond_with_data(page, content_type="text/html")
    for url in (httpserver.url_for("/a"), f"data:text/html,{page}", httpserver.url_for("/a")):
        await stage.goto(url)
        await stage.click("#go")
        assert await stage.js("count") == 1


async def test_click_that_navigates(stage: Stage, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/next").respond_with_data("<title>Next</title>", content_type="text/html")
    await stage.show(f"<a id=go href='{httpserver.url_for('/next')}'>Next page</a>")
    async with stage.session.subscribe("Page.loadEventFired") as events:
        await stage.click("#go")
        await events.receive()
    assert await stage.js("document.title") == "Next"


async def test_all_mouse_events_are_trusted(stage: Stage) -> None:
    await stage.show(BUTTON, events=MOUSE_EVENTS + " pointerdown pointerup mouseover mouseenter")
    await stage.click("#go", count=2)
    record = await stage.record()
    assert record
    assert all(entry["trusted"] for entry in record)
