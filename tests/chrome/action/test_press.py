from __future__ import annotations

import pytest
import trio
from action_stage import Stage

from cdpengine.errors import NotInteractableError

pytestmark = pytest.mark.chrome


async def test_chord_goes_down_in_order_and_up_in_reverse(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.press("Control+Shift+K", "#field")
    record = await stage.record("keydown", "keypress", "input", "keyup")
    assert [(e["type"], e["key"]) for e in record] == [
        ("keydown", "Control"),
        ("keydown", "Shift"),
        ("keydown", "K"),
        ("keyup", "K"),
        ("keyup", "Shift"),
        ("keyup", "Control"),
    ]
    assert [(e["ctrl"], e["shift"]) for e in record] == [
        (True, False),
        (True, True),
        (True, True),
        (True, True),
        (True, False),
        (False, False),
    ]
    assert [e["location"] for e in record] == [1, 1, 0, 0, 1, 1]
    assert stage.keyboard.modifiers == 0


@pytest.mark.parametrize("chord", ["Control+A", "Control+a", "ControlOrMeta+A"])
async def test_select_all_and_replace(stage: Stage, chord: str) -> None:
    await stage.show("<input id=field value='old words'>")
    await stage.press(chord, "#field")
    assert await stage.js("[field.selectionStart, field.selectionEnd]") == [0, 9]
    assert (await stage.record("keydown"))[1]["key"] == "a"
    await stage.press("x")
    assert await stage.js("field.value") == "x"


async def test_editing_keys(stage: Stage) -> None:
    await stage.show("<input id=field value=abcd>")
    for key in ("End", "ArrowLeft", "Backspace", "Home", "Delete", "Shift+ArrowRight", "Z"):
        await stage.press(key, "#field")
    assert await stage.js("field.value") == "Zd"


async def test_enter_activates_and_space_too(stage: Stage) -> None:
    await stage.show("<button id=go>Go</button>")
    await stage.press("Enter", "#go")
    await stage.press("Space", "#go")
    clicks = await stage.record("click")
    assert [(e["target"], e["trusted"], e["detail"]) for e in clicks] == [("go", True, 0), ("go", True, 0)]


async def test_enter_breaks_the_line(stage: Stage) -> None:
    await stage.show("<textarea id=field></textarea>")
    await stage.press("Enter", "#field")
    assert await stage.js("field.value") == "\n"
    assert [e["keyCode"] for e in await stage.record("keypress")] == [13]


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    ("name", "key", "code", "key_code", "location"),
    [
        ("F5", "F5", "F5", 116, 0),
        ("ArrowLeft", "ArrowLeft", "ArrowLeft", 37, 0),
        ("Escape", "Escape", "Escape", 27, 0),
        ("NumpadAdd", "+", "NumpadAdd", 107, 3),
        ("ShiftRight", "Shift", "ShiftRight", 16, 2),
        ("?", "?", "Slash", 191, 0),
        ("PageDown", "PageDown", "PageDown", 34, 0),
    ],
)
async def test_names(stage: Stage, name: str, key: str, code: str, key_code: int, location: int) -> None:
    await stage.show("<input id=field>")
    await stage.press(name, "#field")
    down = (await stage.record("keydown"))[0]
    assert (down["key"], down["code"], down["keyCode"], down["location"]) == (key, code, key_code, location)


async def test_tab_moves_the_focus(stage: Stage) -> None:
    await stage.show("<input id=one><input id=two>")
    await stage.press("Tab", "#one")
    assert await stage.js("document.activeElement.id") == "two"
    await stage.press("Shift+Tab")
    assert await stage.js("document.activeElement.id") == "one"


async def test_plus(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.press("+", "#field")
    await stage.press("Control++")
    assert await stage.js("field.value") == "+"
    assert [(e["key"], e["ctrl"]) for e in await stage.record("keydown") if e["key"] == "+"] == [
        ("+", False),
        ("+", True),
    ]


async def test_holding_a_key_repeats(stage: Stage) -> None:
    await stage.show("<input id=field>")
    await stage.js("field.focus()")
    for _ in range(3):
        await stage.keyboard.down("a")
    await stage.keyboard.up("a")
    assert [e["repeat"] for e in await stage.record("keydown")] == [False, True, True]
    assert await stage.js("field.value") == "aaa"


async def test_press_on_unfocusable_element_is_refused(stage: Stage) -> None:
    await stage.show("<div id=plain>text</div>")
    with pytest.raises(NotInteractableError, match="does not take the keyboard focus"):
        await stage.press("a", "#plain")
    assert await stage.record() == []


async def test_dialog_on_enter_does_not_hang(stage: Stage) -> None:
    await stage.show("<button id=go onclick='alert(1)'>Go</button>")
    with trio.fail_after(20):
        outcome = await stage.press("Enter", "#go", timeout=30)
    assert outcome.dialog_opened
    await stage.session.call("Page.handleJavaScriptDialog", accept=True)
