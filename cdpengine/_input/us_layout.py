"""The US keyboard as data: one row for each key that types.

Rule: a row is (code, plain, with Shift, with AltGraph, with both, virtual key code); "" where a level has nothing.
`code` is the name in "UI Events KeyboardEvent code Values"; the virtual key code is Windows' (VK_*), which pages
see as `keyCode`. A combining mark stands for a dead key, which puts it on the next letter.
"""

from __future__ import annotations

ALTGR = False

ROWS = (
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
)
