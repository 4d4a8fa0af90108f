"""Escaping of page content for lines of a snapshot.

Rule: content of a page is shown only between double quotes, as a JSON string: quotes, backslashes, line ends and
invisible characters in it are escaped. So no page can end its own quotes, begin a line, or reverse the direction
of the text around it. `json.loads` reads it back. Two modes use the quotes of YAML and Python instead, with the
same guarantee.
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

# Quotes and backslashes; replacement characters; private use (icon fonts).
_QUOTED = r'"\\\ufffc\ufffd\ue000-\uf8ff\U000f0000-\U0010ffff'

UNSAFE = re.compile(f"[{_QUOTED}{MAYBE_HIDDEN}]")
"""A string without any match needs no escape."""

_ESCAPED = re.compile(f"[{_QUOTED}{HIDDEN}]|{MISPLACED}")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# A letter or a slash, then characters without a meaning in YAML; in groups, so that time stays linear.
_PLAIN_YAML = re.compile(
    r"(?:[^\W\d_]|/)[\w/.,;!?'()%&+=@$*~^-]*(?:(?: |:(?=[^ ]))[\w/.,;!?'()%&+=@$*~^-]+)*"
)
YAML_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})
"""Words that YAML parsers do not read as strings, in any case."""

# Python counts some of them as printable.
_UNSEEN = re.compile(rf"[\ufffc\ufffd{HIDDEN}]|{MISPLACED}")

_TOKEN = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,39}")


_SPACES = re.compile(f"[{SPACE}]+")
_ODD_SPACE = re.compile(f"[{SPACE.translate(dict.fromkeys(map(ord, chr(9) + chr(10) + ' ')))}]")
_BLANKS = re.compile(f"[{NOTHING}]+")


class Preformatted(str):
    """A piece of text with preserved white space, as in `pre`."""

    __slots__ = ()


class LineBreak(str):
    """A `br` in a run of text: a space, or a line break if the run has others."""

    __slots__ = ()


def has_lines(pieces: Iterable[object]) -> bool:
    """Return whether any of the pieces has a preserved line break."""
    return any(isinstance(piece, Preformatted) and "\n" in piece for piece in pieces)


def join_run(pieces: Sequence[str]) -> str:
    """Return the pieces as one string: on one line, unless line breaks are preserved.

    A `Preformatted` piece can have such breaks. Lines then keep their leading white space; trailing white space,
    and empty lines at both ends, are removed.
    """
    text = "".join(pieces)
    if "\n" not in text or not has_lines(pieces):
        return collapse_space(text)
    drawn: list[str] = []
    last = "\n"
    for piece in pieces:
        is_preformatted = isinstance(piece, Preformatted | LineBreak)
        visible = _ODD_SPACE.sub(" ", _BLANKS.sub("", piece)) if is_preformatted else _SPACES.sub(" ", piece)
        if not is_preformatted and last in " \n":
            visible = visible.lstrip(" ")
        if visible:
            drawn.append(visible)
            last = visible[-1]
    lines = [line.rstrip(" \t") for line in "".join(drawn).split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    first = next((place for place, line in enumerate(lines) if line), 0)
    return "\n".join(lines[first:]) if len(lines) - first > 1 else collapse_space("".join(lines))


def quote(text: str) -> str:
    """Return the string as a JSON string in double quotes, with all misleading characters escaped."""
    if UNSAFE.search(text) is None:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape, text)}"'


def yaml_text(text: str) -> str:
    """Return the string as a YAML scalar on one line: unquoted if it is plain words, else in double quotes.

    Plain words contain no bracket, no quote, no colon before a space, and nothing that any version of YAML
    interprets as a number, a date, a boolean or null. YAML cannot represent an unpaired surrogate; the escape
    itself then becomes the content.
    """
    safe = UNSAFE.search(text) is None
    if safe and _PLAIN_YAML.fullmatch(text) is not None and (len(text) > 5 or text.lower() not in YAML_WORDS):
        return text
    if safe:
        return f'"{text}"'
    return f'"{_ESCAPED.sub(_escape_yaml, text)}"'


def python_text(text: str) -> str:
    """Return the string as a Python string literal, like `repr`, with all misleading characters escaped."""
    literal = repr(text)
    return literal if literal.isascii() else _UNSEEN.sub(_escape_python, literal)


def is_token(text: str) -> bool:
    """Return whether the string needs no quotes: letters, digits and hyphens, at most 40."""
    return _TOKEN.fullmatch(text) is not None


def shorten(text: str, limit: int) -> str:
    """Shorten the string to `limit` characters. If it was cut, the last one is an ellipsis.

    Combining marks stay with the character before the cut.
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
