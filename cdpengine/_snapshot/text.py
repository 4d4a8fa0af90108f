"""Text that a page wrote, made safe to stand in a line of a snapshot.

Rule: what a page wrote is shown only between double quotes, and what is between the quotes is a JSON string:
a quote, a backslash, a line end or a character that cannot be seen never stands there as itself. So no page
can end its own quotes, begin a line, or turn the direction of the text around it. `json.loads` reads it back.
Two modes need quotes of another kind, YAML's and Python's, and the same holds for those.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from cdpengine._page.patterns import NOTHING, SPACE, collapse_space
from cdpengine.errors.texts import HIDDEN, MAYBE_HIDDEN, MISPLACED

__all__ = [
    "UNSAFE", "YAML_WORDS", "LineBreak", "Preformatted", "collapse_space", "has_lines", "is_token", "join_run",
    "python_text", "quote", "shorten", "yaml_text",
]  # fmt: skip

# Quotes and backslashes; marks of what is not there; private use (icon fonts).
_QUOTED = r'"\\\ufffc\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff'

UNSAFE = re.compile(f"[{_QUOTED}{MAYBE_HIDDEN}]")
"""A text in which this finds nothing needs no escape."""

_ESCAPED = re.compile(f"[{_QUOTED}{HIDDEN}]|{MISPLACED}")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# A letter or a slash, and then what means nothing to YAML; group by group, so that time stays linear.
_PLAIN_YAML = re.compile(
    r"(?:[^\W\d_]|/)[\w/.,;!?'()%&+=@$*~^-]*(?:(?: |:(?=[^ ]))[\w/.,;!?'()%&+=@$*~^-]+)*"
)
YAML_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})
"""What a YAML parser does not take for a string, in any case of the letters."""

# Python calls some of it printable.
_UNSEEN = re.compile(rf"[\ufffc\ufffd{HIDDEN}]|{MISPLACED}")

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")


_SPACES = re.compile(f"[{SPACE}]+")
_ODD_SPACE = re.compile(f"[{SPACE.translate(dict.fromkeys(map(ord, chr(9) + chr(10) + ' ')))}]")
_BLANKS = re.compile(f"[{NOTHING}]+")


class Preformatted(str):
    """A piece of text whose white space is drawn as it is written, as in `pre`."""

    __slots__ = ()


class LineBreak(str):
    """What a `br` is in a run of text: a space, or a line break where the run has others."""

    __slots__ = ()


def has_lines(pieces: Iterable[object]) -> bool:
    """Say whether one of the pieces has a line break that is drawn."""
    return any(isinstance(piece, Preformatted) and "\n" in piece for piece in pieces)


def join_run(pieces: Sequence[str]) -> str:
    """Return the pieces as one text: on one line, unless line breaks are drawn as the page wrote them.

    They are where a `Preformatted` piece has one. Lines then keep the white space that they begin with; what they
    end with, and empty lines at both ends, are left out.
    """
    text = "".join(pieces)
    if "\n" not in text or not has_lines(pieces):
        return collapse_space(text)
    drawn: list[str] = []
    last = "\n"
    for piece in pieces:
        kept = isinstance(piece, Preformatted | LineBreak)
        shown = _ODD_SPACE.sub(" ", _BLANKS.sub("", piece)) if kept else _SPACES.sub(" ", piece)
        if not kept and last in " \n":
            shown = shown.lstrip(" ")
        if shown:
            drawn.append(shown)
            last = shown[-1]
    lines = [line.rstrip(" \t") for line in "".join(drawn).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    first = next((place for place, line in enumerate(lines) if line), 0)
    return "\n".join(lines[first:]) if len(lines) - first > 1 else collapse_space("".join(lines))


def quote(text: str) -> str:
    """Return the text as a JSON string in double quotes, with everything escaped that could mislead."""
    if UNSAFE.search(text) is None:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape, text)}"'


def yaml_text(text: str) -> str:
    """Return the text as a YAML scalar on one line: as it is when it is plain words, else in double quotes.

    Plain words hold no bracket, no quote, no colon before a space and nothing that any version of YAML takes
    for a number, a date, a truth value or nothing. An unpaired surrogate has no place in YAML: the escape
    itself is then the text.
    """
    safe = UNSAFE.search(text) is None
    if safe and _PLAIN_YAML.fullmatch(text) is not None and (len(text) > 5 or text.lower() not in YAML_WORDS):
        return text
    if safe:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape_yaml, text)}"'


def python_text(text: str) -> str:
    """Return the text as a Python string literal, as `repr` does, with everything escaped that could mislead."""
    shown = repr(text)
    return shown if shown.isascii() else _UNSEEN.sub(_escape_python, shown)


def is_token(text: str) -> bool:
    """Say whether the text may stand without quotes: letters, digits and hyphens, 40 at most."""
    return _TOKEN.fullmatch(text) is not None


def shorten(text: str, limit: int) -> str:
    """Cut the text to `limit` characters; the last one is an ellipsis when something was cut.

    No mark that belongs to the character before the cut is torn off.
    """
    if len(text) <= limit:
        return text
    end = limit - 1
    while end > 0 and unicodedata.combining(text[end]):
        end -= 1
    return text[:end] + "\u2026"


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    short = _SHORT.get(character)
    if short is not None:
        return short
    code = ord(character)
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"


def _escape_yaml(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code >= 0x10000:
        return f"\\U{code:08x}"
    return f"\\\\u{code:04x}" if 0xD800 <= code < 0xE000 else _escape(match)


def _escape_python(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
