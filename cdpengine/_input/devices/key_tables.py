"""Tables of keys: keys common to all layouts, and the character keys of each layout.

Rule: `code` and `key` are names of the W3C "UI Events KeyboardEvent code / key Values". The virtual key codes are
those of Windows (VK_*), which pages see as `keyCode`. The location of a common key is 0 standard, 1 left, 2 right,
3 numeric keypad. The row of a layout is (code, plain, with Shift, with AltGraph, with both, virtual key code); an
empty string marks an unused level. A combining mark represents a dead key, which modifies the next letter.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

Row = tuple[str, str, int, int]
"""code, key, virtual key code, location."""


def rows(*, altgr: bool) -> Iterator[Row]:
    """Yield all common keys. `altgr`: the right Alt key is AltGraph. If names collide, the first key is used."""
    for name, key_code in _NAMED:
        yield name, name, key_code, 0
    for code, key, key_code in _MEDIA:
        yield code, key, key_code, 0
    for number in range(1, 25):
        yield f"F{number}", f"F{number}", 0x6F + number, 0
    for name, key_code in _MODIFIERS:
        yield f"{name}Left", name, key_code, 1
        if name == "Alt" and altgr:
            yield "AltRight", "AltGraph", 0xE1, 2
        else:
            yield f"{name}Right", name, key_code + 1 if name == "Meta" else key_code, 2
    for digit in "0123456789":
        yield f"Numpad{digit}", digit, 0x60 + int(digit), 3
    for code, key, key_code in _NUMPAD:
        yield code, key, key_code, 3


_NAMED = (
    ("Backspace", 0x08),
    ("Tab", 0x09),
    ("Enter", 0x0D),
    ("Pause", 0x13),
    ("CapsLock", 0x14),
    ("Escape", 0x1B),
    ("Convert", 0x1C),
    ("NonConvert", 0x1D),
    ("PageUp", 0x21),
    ("PageDown", 0x22),
    ("End", 0x23),
    ("Home", 0x24),
    ("ArrowLeft", 0x25),
    ("ArrowUp", 0x26),
    ("ArrowRight", 0x27),
    ("ArrowDown", 0x28),
    ("PrintScreen", 0x2C),
    ("Insert", 0x2D),
    ("Delete", 0x2E),
    ("Help", 0x2F),
    ("ContextMenu", 0x5D),
    ("NumLock", 0x90),
    ("ScrollLock", 0x91),
)

# Keys whose code and key differ, and multimedia keys.
_MEDIA = (
    ("Lang1", "HangulMode", 0x15),
    ("Lang2", "HanjaMode", 0x19),
    ("BrowserBack", "BrowserBack", 0xA6),
    ("BrowserForward", "BrowserForward", 0xA7),
    ("BrowserRefresh", "BrowserRefresh", 0xA8),
    ("BrowserStop", "BrowserStop", 0xA9),
    ("BrowserSearch", "BrowserSearch", 0xAA),
    ("BrowserFavorites", "BrowserFavorites", 0xAB),
    ("BrowserHome", "BrowserHome", 0xAC),
    ("AudioVolumeMute", "AudioVolumeMute", 0xAD),
    ("AudioVolumeDown", "AudioVolumeDown", 0xAE),
    ("AudioVolumeUp", "AudioVolumeUp", 0xAF),
    ("MediaTrackNext", "MediaTrackNext", 0xB0),
    ("MediaTrackPrevious", "MediaTrackPrevious", 0xB1),
    ("MediaStop", "MediaStop", 0xB2),
    ("MediaPlayPause", "MediaPlayPause", 0xB3),
    ("LaunchMail", "LaunchMail", 0xB4),
    ("MediaSelect", "LaunchMediaPlayer", 0xB5),
)

_MODIFIERS = (("Shift", 0x10), ("Control", 0x11), ("Alt", 0x12), ("Meta", 0x5B))

_NUMPAD = (
    ("NumpadMultiply", "*", 0x6A),
    ("NumpadAdd", "+", 0x6B),
    ("NumpadSubtract", "-", 0x6D),
    ("NumpadDecimal", ".", 0x6E),
    ("NumpadDivide", "/", 0x6F),
    ("NumpadEqual", "=", 0xBB),
    ("NumpadEnter", "Enter", 0x0D),
)

# Other common names for these keys. The error for an unknown key suggests the right name.
ALSO_CALLED = {
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "windows": "Meta",
    "super": "Meta",
    "ctrl": "Control",
    "cmdorctrl": "ControlOrMeta",
    "commandorcontrol": "ControlOrMeta",
    "option": "Alt",
    "opt": "Alt",
    "altgr": "AltGraph",
    "return": "Enter",
    "esc": "Escape",
    "del": "Delete",
    "ins": "Insert",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "spacebar": "Space",
    "plus": "+",
    "minus": "-",
    "menu": "ContextMenu",
    "mute": "AudioVolumeMute",
    "volumeup": "AudioVolumeUp",
    "volumedown": "AudioVolumeDown",
}

# On macOS the browser converts these chords to editing commands before the page's editor receives a key, so the
# engine sends the commands with the key. Other systems map the keys in the renderer. Values: Chromium's editor
# commands, named after AppKit's standard key bindings. Keys: sorted modifiers, then the key's code.
MAC_EDITING_COMMANDS: dict[tuple[tuple[str, ...], str], tuple[str, ...]] = {
    (("Meta",), "KeyA"): ("selectAll",),
    (("Meta",), "KeyC"): ("copy",),
    (("Meta",), "KeyX"): ("cut",),
    (("Meta",), "KeyV"): ("paste",),
    (("Meta",), "KeyZ"): ("undo",),
    (("Meta", "Shift"), "KeyZ"): ("redo",),
    (("Meta",), "ArrowLeft"): ("moveToBeginningOfLine",),
    (("Meta",), "ArrowRight"): ("moveToEndOfLine",),
    (("Meta",), "ArrowUp"): ("moveToBeginningOfDocument",),
    (("Meta",), "ArrowDown"): ("moveToEndOfDocument",),
    (("Meta", "Shift"), "ArrowLeft"): ("moveToBeginningOfLineAndModifySelection",),
    (("Meta", "Shift"), "ArrowRight"): ("moveToEndOfLineAndModifySelection",),
    (("Meta", "Shift"), "ArrowUp"): ("moveToBeginningOfDocumentAndModifySelection",),
    (("Meta", "Shift"), "ArrowDown"): ("moveToEndOfDocumentAndModifySelection",),
    (("Alt",), "ArrowLeft"): ("moveWordLeft",),
    (("Alt",), "ArrowRight"): ("moveWordRight",),
    (("Alt", "Shift"), "ArrowLeft"): ("moveWordLeftAndModifySelection",),
    (("Alt", "Shift"), "ArrowRight"): ("moveWordRightAndModifySelection",),
    (("Alt",), "Backspace"): ("deleteWordBackward",),
    (("Alt",), "Delete"): ("deleteWordForward",),
    (("Meta",), "Backspace"): ("deleteToBeginningOfLine",),
    ((), "Home"): ("scrollToBeginningOfDocument",),
    ((), "End"): ("scrollToEndOfDocument",),
}


LayoutRow = tuple[str, str, str, str, str, int]


@attrs.frozen
class LayoutTable:
    """The rows of one layout, and whether its right Alt key is AltGraph."""

    altgr: bool
    rows: tuple[LayoutRow, ...]


_US = LayoutTable(
    altgr=False,
    rows=(
        ("KeyA", "a", "A", "", "", 0x41),
        ("KeyB", "b", "B", "", "", 0x42),
        ("KeyC", "c", "C", "", "", 0x43),
        ("KeyD", "d", "D", "", "", 0x44),
        ("KeyE", "e", "E", "", "", 0x45),
        ("KeyF", "f", "F", "", "", 0x46),
        ("KeyG", "g", "G", "", "", 0x47),
        ("KeyH", "h", "H", "", "", 0x48),
        ("KeyI", "i", "I", "", "", 0x49),
        ("KeyJ", "j", "J", "", "", 0x4A),
        ("KeyK", "k", "K", "", "", 0x4B),
        ("KeyL", "l", "L", "", "", 0x4C),
        ("KeyM", "m", "M", "", "", 0x4D),
        ("KeyN", "n", "N", "", "", 0x4E),
        ("KeyO", "o", "O", "", "", 0x4F),
        ("KeyP", "p", "P", "", "", 0x50),
        ("KeyQ", "q", "Q", "", "", 0x51),
        ("KeyR", "r", "R", "", "", 0x52),
        ("KeyS", "s", "S", "", "", 0x53),
        ("KeyT", "t", "T", "", "", 0x54),
        ("KeyU", "u", "U", "", "", 0x55),
        ("KeyV", "v", "V", "", "", 0x56),
        ("KeyW", "w", "W", "", "", 0x57),
        ("KeyX", "x", "X", "", "", 0x58),
        ("KeyY", "y", "Y", "", "", 0x59),
        ("KeyZ", "z", "Z", "", "", 0x5A),
        ("Digit0", "0", ")", "", "", 0x30),
        ("Digit1", "1", "!", "", "", 0x31),
        ("Digit2", "2", "@", "", "", 0x32),
        ("Digit3", "3", "#", "", "", 0x33),
        ("Digit4", "4", "$", "", "", 0x34),
        ("Digit5", "5", "%", "", "", 0x35),
        ("Digit6", "6", "^", "", "", 0x36),
        ("Digit7", "7", "&", "", "", 0x37),
        ("Digit8", "8", "*", "", "", 0x38),
        ("Digit9", "9", "(", "", "", 0x39),
        ("Space", " ", " ", "", "", 0x20),
        ("Semicolon", ";", ":", "", "", 0xBA),
        ("Equal", "=", "+", "", "", 0xBB),
        ("Comma", ",", "<", "", "", 0xBC),
        ("Minus", "-", "_", "", "", 0xBD),
        ("Period", ".", ">", "", "", 0xBE),
        ("Slash", "/", "?", "", "", 0xBF),
        ("Backquote", "`", "~", "", "", 0xC0),
        ("BracketLeft", "[", "{", "", "", 0xDB),
        ("Backslash", "\\", "|", "", "", 0xDC),
        ("BracketRight", "]", "}", "", "", 0xDD),
        ("Quote", "'", '"', "", "", 0xDE),
        ("IntlBackslash", "\\", "|", "", "", 0xE2),
    ),
)

_UK = LayoutTable(
    altgr=True,
    rows=(
        ("KeyA", "a", "A", "á", "Á", 0x41),
        ("KeyB", "b", "B", "", "", 0x42),
        ("KeyC", "c", "C", "", "", 0x43),
        ("KeyD", "d", "D", "", "", 0x44),
        ("KeyE", "e", "E", "é", "É", 0x45),
        ("KeyF", "f", "F", "", "", 0x46),
        ("KeyG", "g", "G", "", "", 0x47),
        ("KeyH", "h", "H", "", "", 0x48),
        ("KeyI", "i", "I", "í", "Í", 0x49),
        ("KeyJ", "j", "J", "", "", 0x4A),
        ("KeyK", "k", "K", "", "", 0x4B),
        ("KeyL", "l", "L", "", "", 0x4C),
        ("KeyM", "m", "M", "", "", 0x4D),
        ("KeyN", "n", "N", "", "", 0x4E),
        ("KeyO", "o", "O", "ó", "Ó", 0x4F),
        ("KeyP", "p", "P", "", "", 0x50),
        ("KeyQ", "q", "Q", "", "", 0x51),
        ("KeyR", "r", "R", "", "", 0x52),
        ("KeyS", "s", "S", "", "", 0x53),
        ("KeyT", "t", "T", "", "", 0x54),
        ("KeyU", "u", "U", "ú", "Ú", 0x55),
        ("KeyV", "v", "V", "", "", 0x56),
        ("KeyW", "w", "W", "", "", 0x57),
        ("KeyX", "x", "X", "", "", 0x58),
        ("KeyY", "y", "Y", "", "", 0x59),
        ("KeyZ", "z", "Z", "", "", 0x5A),
        ("Digit0", "0", ")", "", "", 0x30),
        ("Digit1", "1", "!", "", "", 0x31),
        ("Digit2", "2", '"', "", "", 0x32),
        ("Digit3", "3", "£", "", "", 0x33),
        ("Digit4", "4", "$", "€", "", 0x34),
        ("Digit5", "5", "%", "", "", 0x35),
        ("Digit6", "6", "^", "", "", 0x36),
        ("Digit7", "7", "&", "", "", 0x37),
        ("Digit8", "8", "*", "", "", 0x38),
        ("Digit9", "9", "(", "", "", 0x39),
        ("Space", " ", " ", "", "", 0x20),
        ("Semicolon", ";", ":", "", "", 0xBA),
        ("Equal", "=", "+", "", "", 0xBB),
        ("Comma", ",", "<", "", "", 0xBC),
        ("Minus", "-", "_", "", "", 0xBD),
        ("Period", ".", ">", "", "", 0xBE),
        ("Slash", "/", "?", "", "", 0xBF),
        ("Quote", "'", "@", "", "", 0xC0),
        ("BracketLeft", "[", "{", "", "", 0xDB),
        ("IntlBackslash", "\\", "|", "", "", 0xDC),
        ("BracketRight", "]", "}", "", "", 0xDD),
        ("Backslash", "#", "~", "", "", 0xDE),
        ("Backquote", "`", "¬", "¦", "", 0xDF),
    ),
)

_DE = LayoutTable(
    altgr=True,
    rows=(
        ("KeyA", "a", "A", "", "", 0x41),
        ("KeyB", "b", "B", "", "", 0x42),
        ("KeyC", "c", "C", "", "", 0x43),
        ("KeyD", "d", "D", "", "", 0x44),
        ("KeyE", "e", "E", "€", "", 0x45),
        ("KeyF", "f", "F", "", "", 0x46),
        ("KeyG", "g", "G", "", "", 0x47),
        ("KeyH", "h", "H", "", "", 0x48),
        ("KeyI", "i", "I", "", "", 0x49),
        ("KeyJ", "j", "J", "", "", 0x4A),
        ("KeyK", "k", "K", "", "", 0x4B),
        ("KeyL", "l", "L", "", "", 0x4C),
        ("KeyM", "m", "M", "µ", "", 0x4D),
        ("KeyN", "n", "N", "", "", 0x4E),
        ("KeyO", "o", "O", "", "", 0x4F),
        ("KeyP", "p", "P", "", "", 0x50),
        ("KeyQ", "q", "Q", "@", "", 0x51),
        ("KeyR", "r", "R", "", "", 0x52),
        ("KeyS", "s", "S", "", "", 0x53),
        ("KeyT", "t", "T", "", "", 0x54),
        ("KeyU", "u", "U", "", "", 0x55),
        ("KeyV", "v", "V", "", "", 0x56),
        ("KeyW", "w", "W", "", "", 0x57),
        ("KeyX", "x", "X", "", "", 0x58),
        ("KeyY", "z", "Z", "", "", 0x5A),
        ("KeyZ", "y", "Y", "", "", 0x59),
        ("Digit0", "0", "=", "}", "", 0x30),
        ("Digit1", "1", "!", "", "", 0x31),
        ("Digit2", "2", '"', "²", "", 0x32),
        ("Digit3", "3", "§", "³", "", 0x33),
        ("Digit4", "4", "$", "", "", 0x34),
        ("Digit5", "5", "%", "", "", 0x35),
        ("Digit6", "6", "&", "", "", 0x36),
        ("Digit7", "7", "/", "{", "", 0x37),
        ("Digit8", "8", "(", "[", "", 0x38),
        ("Digit9", "9", ")", "]", "", 0x39),
        ("Space", " ", " ", "", "", 0x20),
        ("Minus", "ß", "?", "\\", "ẞ", 0xDB),
        ("Equal", "\u0301", "\u0300", "", "", 0xDD),
        ("BracketLeft", "ü", "Ü", "", "", 0xBA),
        ("BracketRight", "+", "*", "~", "", 0xBB),
        ("Semicolon", "ö", "Ö", "", "", 0xC0),
        ("Quote", "ä", "Ä", "", "", 0xDE),
        ("Backslash", "#", "'", "", "", 0xBF),
        ("Backquote", "\u0302", "°", "", "", 0xDC),
        ("IntlBackslash", "<", ">", "|", "", 0xE2),
        ("Comma", ",", ";", "", "", 0xBC),
        ("Period", ".", ":", "", "", 0xBE),
        ("Slash", "-", "_", "", "", 0xBD),
    ),
)

_FR = LayoutTable(
    altgr=True,
    rows=(
        ("KeyA", "q", "Q", "", "", 0x51),
        ("KeyB", "b", "B", "", "", 0x42),
        ("KeyC", "c", "C", "", "", 0x43),
        ("KeyD", "d", "D", "", "", 0x44),
        ("KeyE", "e", "E", "€", "", 0x45),
        ("KeyF", "f", "F", "", "", 0x46),
        ("KeyG", "g", "G", "", "", 0x47),
        ("KeyH", "h", "H", "", "", 0x48),
        ("KeyI", "i", "I", "", "", 0x49),
        ("KeyJ", "j", "J", "", "", 0x4A),
        ("KeyK", "k", "K", "", "", 0x4B),
        ("KeyL", "l", "L", "", "", 0x4C),
        ("KeyN", "n", "N", "", "", 0x4E),
        ("KeyO", "o", "O", "", "", 0x4F),
        ("KeyP", "p", "P", "", "", 0x50),
        ("KeyQ", "a", "A", "", "", 0x41),
        ("KeyR", "r", "R", "", "", 0x52),
        ("KeyS", "s", "S", "", "", 0x53),
        ("KeyT", "t", "T", "", "", 0x54),
        ("KeyU", "u", "U", "", "", 0x55),
        ("KeyV", "v", "V", "", "", 0x56),
        ("KeyW", "z", "Z", "", "", 0x5A),
        ("KeyX", "x", "X", "", "", 0x58),
        ("KeyY", "y", "Y", "", "", 0x59),
        ("KeyZ", "w", "W", "", "", 0x57),
        ("Semicolon", "m", "M", "", "", 0x4D),
        ("KeyM", ",", "?", "", "", 0xBC),
        ("Digit1", "&", "1", "", "", 0x31),
        ("Digit2", "é", "2", "\u0303", "", 0x32),
        ("Digit3", '"', "3", "#", "", 0x33),
        ("Digit4", "'", "4", "{", "", 0x34),
        ("Digit5", "(", "5", "[", "", 0x35),
        ("Digit6", "-", "6", "|", "", 0x36),
        ("Digit7", "è", "7", "\u0300", "", 0x37),
        ("Digit8", "_", "8", "\\", "", 0x38),
        ("Digit9", "ç", "9", "^", "", 0x39),
        ("Digit0", "à", "0", "@", "", 0x30),
        ("Space", " ", " ", "", "", 0x20),
        ("Minus", ")", "°", "]", "", 0xDB),
        ("Equal", "=", "+", "}", "", 0xBB),
        ("BracketLeft", "\u0302", "\u0308", "", "", 0xDD),
        ("BracketRight", "$", "£", "¤", "", 0xBA),
        ("Quote", "ù", "%", "", "", 0xC0),
        ("Backslash", "*", "µ", "", "", 0xDC),
        ("Backquote", "²", "", "", "", 0xDE),
        ("IntlBackslash", "<", ">", "", "", 0xE2),
        ("Comma", ";", ".", "", "", 0xBE),
        ("Period", ":", "/", "", "", 0xBF),
        ("Slash", "!", "§", "", "", 0xDF),
    ),
)

TABLES = {"us": _US, "uk": _UK, "de": _DE, "fr": _FR}
"""Layouts by name."""
