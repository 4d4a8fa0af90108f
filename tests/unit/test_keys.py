from __future__ import annotations

import string

import pytest

from cdpengine._input.devices.keyboard import pieces
from cdpengine._input.devices.keys import (
    DEAD,
    LAYOUTS,
    MODIFIERS,
    US,
    chord_named,
    editing_commands,
    key_named,
    layout_named,
    modifier_mask,
)
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_printable_ascii_character_types_itself(layout: str) -> None:
    for character in string.printable[:95]:
        *before, key = layout_named(layout).keys_for(character)
        assert key.text == key.key == character
        assert [dead.key for dead in before] == [DEAD] * len(before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("character", "name"), [("\n", "Enter"), ("\r", "Enter"), ("\t", "Tab")])
def test_control_characters_are_named_keys(layout: str, character: str, name: str) -> None:
    assert [key.key for key in layout_named(layout).keys_for(character)] == [name]


@pytest.mark.parametrize("character", ["\u00e9", "\u4f60", "\x00", "e\u0301"])
def test_characters_missing_in_the_layout(character: str) -> None:
    assert US.keys_for(character) == ()


@pytest.mark.parametrize(
    ("layout", "character", "code", "shifted", "altgr", "dead"),
    [
        ("uk", "@", "Quote", True, False, ""),
        ("uk", '"', "Digit2", True, False, ""),
        ("uk", "\u20ac", "Digit4", False, True, ""),
        ("uk", "\u00c9", "KeyE", True, True, ""),
        ("uk", "\\", "IntlBackslash", False, False, ""),
        ("de", "z", "KeyY", False, False, ""),
        ("de", "@", "KeyQ", False, True, ""),
        ("de", "\u00dc", "BracketLeft", True, False, ""),
        ("de", "/", "Digit7", True, False, ""),
        ("de", "\u00e9", "KeyE", False, False, "Equal"),
        ("de", "\u00c0", "KeyA", True, False, "Equal"),
        ("de", "^", "Space", False, False, "Backquote"),
        ("fr", "a", "KeyQ", False, False, ""),
        ("fr", "M", "Semicolon", True, False, ""),
        ("fr", "1", "Digit1", True, False, ""),
        ("fr", "\u00e9", "Digit2", False, False, ""),
        ("fr", "\u00ea", "KeyE", False, False, "BracketLeft"),
        ("fr", "\u00eb", "KeyE", False, False, "BracketLeft"),
        ("fr", "@", "Digit0", False, True, ""),
        ("fr", "~", "Space", False, False, "Digit2"),
    ],
)
def test_layouts(layout: str, character: str, code: str, shifted: bool, altgr: bool, dead: str) -> None:
    *before, key = layout_named(layout).keys_for(character)
    assert (key.code, key.shifted, key.altgr) == (code, shifted, altgr)
    assert [one.code for one in before] == ([dead] if dead else [])
    assert key.key == key.text == character


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_layout_has_each_code_once_and_no_other_key_codes(layout: str) -> None:
    found = layout_named(layout)
    codes = [code for code in found.levels if code.startswith(("Key", "Digit"))]
    assert len(codes) == 36
    assert {code: found.levels[code] for code in codes}.keys() == {
        *(f"Key{letter}" for letter in string.ascii_uppercase),
        *(f"Digit{digit}" for digit in string.digits),
    }
    letters = {key.key: key.key_code for name, key in found.names.items() if name in string.ascii_lowercase}
    assert letters == {letter: ord(letter.upper()) for letter in string.ascii_lowercase}
    in_place = [found.levels[code][False, False].key_code for code in found.levels]
    assert len(set(in_place)) == len(in_place)


def test_an_unknown_layout() -> None:
    with pytest.raises(InvalidArgumentError, match='"us", "uk", "de", "fr"'):
        layout_named("dvorak")


def test_pieces_never_cut_a_character() -> None:
    text = "ab\u4f60\u597d\u00e9e\u0301\r\n!"
    assert [(piece, len(keys)) for piece, keys in pieces(text)] == [
        ("a", 1),
        ("b", 1),
        ("\u4f60\u597d\u00e9e\u0301", 0),
        ("\n", 1),
        ("!", 1),
    ]
    assert [(piece, len(keys)) for piece, keys in pieces(text, layout_named("fr"), joined=False)] == [
        ("a", 1),
        ("b", 1),
        ("\u4f60", 0),
        ("\u597d", 0),
        ("\u00e9", 1),
        ("e\u0301", 0),
        ("\n", 1),
        ("!", 1),
    ]


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
        ("AudioVolumeUp", "AudioVolumeUp", "AudioVolumeUp", 175, 0, "", False),
        ("LaunchMediaPlayer", "MediaSelect", "LaunchMediaPlayer", 181, 0, "", False),
        ("Lang1", "Lang1", "HangulMode", 21, 0, "", False),
        ("IntlBackslash", "IntlBackslash", "\\", 226, 0, "\\", False),
        ("NumpadEqual", "NumpadEqual", "=", 187, 3, "=", False),
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


@pytest.mark.parametrize(
    ("layout", "chord", "held", "key", "code", "modifiers"),
    [
        ("fr", "Control+A", ["Control"], "a", "KeyQ", 2),
        ("fr", "Shift+&", ["Shift"], "1", "Digit1", 8),
        ("fr", "Control+1", ["Control"], "1", "Digit1", 10),
        ("de", "AltGraph+q", ["AltGraph"], "@", "KeyQ", 0),
        ("de", "AltGr+7", ["AltGraph"], "{", "Digit7", 0),
        ("de", "Control+Z", ["Control"], "z", "KeyY", 2),
        ("uk", "AltGraph+Shift+e", ["AltGraph", "Shift"], "\u00c9", "KeyE", 8),
        ("uk", "AltRight+4", ["AltGraph"], "\u20ac", "Digit4", 0),
        ("us", "AltGraph+q", ["AltGraph"], "q", "KeyQ", 0),
        ("us", "AltRight+q", ["Alt"], "q", "KeyQ", 1),
    ],
)
def test_chords_of_layouts(
    layout: str, chord: str, held: list[str], key: str, code: str, modifiers: int
) -> None:
    found = chord_named(chord, layout=layout_named(layout))
    assert [other.key for other in found.held] == held
    assert (found.key.key, found.key.code) == (key, code)
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
        ("hello there", "To enter text, use type"),
        ("a+b", "ControlOrMeta"),
        ("Control+", "after the"),
        ("Control+Control+a", "once"),
        ("Shift+Shift", "held already"),
        ("AltGraph+AltGraph+a", "once"),
        ("volumeup", "'AudioVolumeUp'"),
        ("", "Control\\+A"),
        ("\u4f60", "To enter text, use type"),
    ],
)
def test_unknown_names_suggest_similar_ones(given: str, hint: str) -> None:
    with pytest.raises(InvalidArgumentError, match=hint):
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
