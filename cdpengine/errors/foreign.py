"""Foreign text: what a page, a server, a browser or a file wrote, made safe to print. Pure.

Rule: whatever could move a terminal's cursor, colour it, begin a line, turn text around or hide it is written as
an escape, so that it is seen and does nothing. Everything foreign that is printed, logged or put into an error
goes through one of the three functions here: `escape_line`, `escape_lines`, or `escape_json` for JSON.

What is an escape then: the controls (C0, DEL, C1), the separators of lines and paragraphs, the marks that turn the
direction of text, halves of surrogate pairs (no encoding has them), noncharacters, the marks of interlinear
annotations, and everything else that Unicode has renderers draw as nothing (Default_Ignorable_Code_Point in
DerivedCoreProperties.txt): soft hyphens, zero-width spaces, fillers, tags and variation selectors. A whole text
can be hidden in them. So the flags that are made of tags, such as Scotland's, are shown as escapes too.

What stays: a joiner between two characters that it joins (those of an emoji, or of a script such as Persian or
Hindi), and the emoji's or text's variation selector right behind a character that has both forms. There it does
what a reader expects, and no more than two of them can follow each other, so that they can hide nothing. A
backslash stays a backslash: the escapes are for eyes, and escaping what is escaped changes nothing.
"""

from __future__ import annotations

import re

HIDDEN = (
    r"\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""What is never shown as itself: the inside of a regular expression's set."""

MAYBE_HIDDEN = rf"{HIDDEN}\u200c\u200d\ufe00-\ufe0f"
"""The same, and what depends on what stands beside it: joiners and variation selectors."""

# Blocks that hold all emoji of one code point but the digits; the modifiers of skin are in them.
_EMOJI = r"\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
# Arabic with its supplements, Syriac to Mandaic, the scripts of India, Tibetan, Burmese, Khmer, Mongolian.
_JOINED = r"\u0620-\u065f\u066e-\u06ef\u06fa-\u08ff\u0900-\u0dff\u0f00-\u109f\u1780-\u17b3\u1820-\u18aa"

MISPLACED = (
    rf"(?<![{_EMOJI}{_JOINED}\ufe0f])\u200d|\u200d(?![{_EMOJI}{_JOINED}])"
    rf"|(?<![{_JOINED}])\u200c|\u200c(?![{_JOINED}])"
    rf"|[\ufe00-\ufe0d]|(?<![{_EMOJI}])[\ufe0e\ufe0f](?!\u20e3)"
)
"""Joiners and variation selectors where they join nothing and choose nothing, as a regular expression."""

_ANY = re.compile(f"[{MAYBE_HIDDEN}]")
_IN_LINE = re.compile(f"[{HIDDEN}]|{MISPLACED}")
_IN_LINES = re.compile(rf"(?![\n\t])[{HIDDEN}]|{MISPLACED}")

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def escape_line(text: str) -> str:
    """Return the text as one line: line ends and tabs are written as escapes too."""
    return text if _ANY.search(text) is None else _IN_LINE.sub(_escaped, text)


def escape_lines(text: str) -> str:
    """Return a text that has several lines by its nature: line feeds and tabs stay as they are.

    It is for text that is foreign as a whole, or whose foreign parts went through `escape_line` before.
    """
    return text if _ANY.search(text) is None else _IN_LINES.sub(_escaped, text)


def escape_json(document: str) -> str:
    """Return JSON that parses to the same value, with the escapes of JSON in it."""
    return document if _ANY.search(document) is None else _IN_LINES.sub(_escaped_json, document)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x100:
        return _SHORT.get(found[0]) or f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _escaped_json(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
