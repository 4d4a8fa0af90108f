from __future__ import annotations

import string

import pytest

from cdpengine.action.keys import (
    MODIFIERS,
    chord_named,
    editing_commands,
    key_named,
    modifier_mask,
    typed_by,
)
from cdpengine.errors import InvalidArgument


def test_every_printable_ascii_character_types_itself() -> None:
    for character in string.printable[:95]:
        key = typed_by(character)
        assert key is not None
        assert key.text == key.key == character


@pytest.mark.parametrize(("character", "key"), [("\n", "Enter"), ("\r", "Enter"), ("\t", "Tab")])
def test_control_characters_are_named_keys(character: str, key: str) -> None:
    found = typed_by(character)
    assert found is not None
    assert found.key == key


def test_what_the_layout_lacks() -> None:
    assert typed_by("\u00e9") is None
    assert typed_by("\u4f60") is None
    assert typed_by("\x00") is None


@pytest.mark.parametrize(
    ("name", "code", "key", "key_code", "location", "text", "shifted"),
    [
        ("a", "KeyA", "a", 65, 0, "a", False),
        ("A", "KeyA", "A", 65, 0, "A", True),
        ("KeyA", "KeyA", "a", 65, 0, "a", False),
        ("1", "Digit1", "1", 49, 0, "1", False),
        ("!", "Digit1", "!", 49, 0, "!", True),
        ("+", "Equal", "+", 187, 0, "+", True),
        ("Enter", "Enter", "Enter", 13, 0, "\r", False),
        ("NumpadEnter", "NumpadEnter", "Enter", 13, 3, "\r", False),
        ("Numpad7", "Numpad7", "7", 103, 3, "7", False),
        ("F1", "F1", "F1", 112, 0, "", False),
        ("F24", "F24", "F24", 135, 0, "", False),
        ("Space", "Space", " ", 32, 0, " ", False),
        ("Shift", "ShiftLeft", "Shift", 16, 1, "", False),
        ("MetaRight", "MetaRight", "Meta", 92, 2, "", False),
        ("ArrowLeft", "ArrowLeft", "ArrowLeft", 37, 0, "", False),
    ],
)
def test_names(
    name: str, code: str, key: str, key_code: int, location: int, text: str, shifted: bool
) -> None:
    found = key_named(name)
    assert (found.code, found.key, found.key_code, found.location) == (code, key, key_code, location)
    assert (found.text, found.shifted) == (text, shifted)


@pytest.mark.parametrize(
    ("chord", "held", "key", "modifiers"),
    [
        ("a", [], "a", 0),
        ("A", [], "A", 8),
        ("+", [], "+", 8),
        ("Control+A", ["Control"], "a", 2),
        ("Control+a", ["Control"], "a", 2),
        ("Control+Shift+a", ["Control", "Shift"], "A", 10),
        ("Shift+1", ["Shift"], "!", 8),
        ("Shift+A", ["Shift"], "A", 8),
        ("Shift+Enter", ["Shift"], "Enter", 8),
        ("Control++", ["Control"], "+", 10),
        ("Alt+ArrowLeft", ["Alt"], "ArrowLeft", 1),
        ("Meta+?", ["Meta"], "?", 12),
        ("ControlOrMeta+C", ["Control"], "c", 2),
        ("Shift", [], "Shift", 0),
    ],
)
def test_chords(chord: str, held: list[str], key: str, modifiers: int) -> None:
    found = chord_named(chord)
    assert [other.key for other in found.held] == held
    assert found.key.key == key
    assert found.modifiers == modifiers


def test_control_or_meta_on_a_mac() -> None:
    assert [key.key for key in chord_named("ControlOrMeta+C", mac=True).held] == ["Meta"]
    assert modifier_mask(["ControlOrMeta"], mac=True) == MODIFIERS["Meta"]


def test_commands_type_nothing() -> None:
    key = key_named("a")
    assert key.text_with(0) == key.text_with(8) == "a"
    assert key.text_with(1) == key.text_with(2) == key.text_with(4) == ""


@pytest.mark.parametrize(
    ("given", "hint"),
    [
        ("Entr", "'Enter'"),
        ("arrowleft", "'ArrowLeft'"),
        ("ctrl", "'Control'"),
        ("Ctrl+A", "'Control'"),
        ("Cmd+C", "'Meta'"),
        ("Esc", "'Escape'"),
        ("Control+Entr", "'Enter'"),
        ("qqqqqqq", "UI Events"),
        ("hello there", "text goes"),
        ("a+b", "ControlOrMeta"),
        ("Control+", "after the"),
        ("Control+Control+a", "once"),
        ("Shift+Shift", "held already"),
        ("", "Control\\+A"),
        ("\u4f60", "text goes through type"),
    ],
)
def test_unknown_names_say_what_comes_near(given: str, hint: str) -> None:
    with pytest.raises(InvalidArgument, match=hint):
        chord_named(given)


def test_modifier_mask() -> None:
    assert modifier_mask(()) == 0
    assert modifier_mask("Shift") == 8
    assert modifier_mask(("Alt", "Control", "Meta", "Shift")) == 15
    assert modifier_mask(("Shift", "Shift")) == 8


def test_editing_commands_of_macos() -> None:
    assert editing_commands(key_named("a"), MODIFIERS["Meta"]) == ("selectAll",)
    assert editing_commands(key_named("Z"), MODIFIERS["Meta"] | MODIFIERS["Shift"]) == ("redo",)
    assert editing_commands(key_named("a"), 0) == ()
