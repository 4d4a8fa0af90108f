"""The keys that are the same on every layout, as data: one row for each key.

Rule: `code` and `key` are the names of the W3C "UI Events KeyboardEvent code / key Values"; the virtual key code
is Windows' (VK_*), which pages see as `keyCode`; location is 0 standard, 1 left, 2 right, 3 numeric keypad.
"""

from __future__ import annotations

from collections.abc import Iterator

Row = tuple[str, str, int, int]
"""code, key, virtual key code, location."""


def rows(*, altgr: bool) -> Iterator[Row]:
    """Yield every key; `altgr`: the right Alt key is AltGraph. Of two with one name the first answers to it."""
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

# Keys whose code and key have different names, and those of multimedia keyboards.
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

# What other libraries and people call these keys; an unknown key's error suggests the right name.
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

# On macOS the browser turns these chords into editing commands before the page's editor sees a key, so the
# renderer has to be told; elsewhere it maps the keys itself. Names of the commands: Chromium's editor commands,
# from AppKit's standard key bindings. Keys: sorted modifiers, then the key's code.
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
