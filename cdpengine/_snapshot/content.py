"""Content: what a page says, as blocks of text. Pure.

Rule: a small tree that says what is there, and nothing of how it is written: headings, paragraphs, lists, tables,
and in them runs of text with their marks.
"""

from __future__ import annotations

import re
from typing import TypeAlias

import attrs

from cdpengine.errors.foreign import HIDDEN, MISPLACED

Mark: TypeAlias = tuple[str, str]
"""("a", address), or ("b" | "i" | "s" | "sup" | "sub" | "code", "")."""

RANK = {"a": 0, "b": 1, "i": 2, "s": 3, "sup": 4, "sub": 4, "code": 5}
"""The order in which marks are put around a text, outermost first."""

_SPACE = re.compile("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000\v\f\x85\u2028\u2029]")
_UNSEEN = re.compile(rf"(?!\n)[{HIDDEN}]|{MISPLACED}")
"""What a reader does not see: it is left out."""


@attrs.frozen
class Run:
    """Some text on one line. `kept` says that its spaces stand as they are."""

    text: str
    marks: tuple[Mark, ...] = ()
    kept: bool = False


@attrs.frozen
class Image:
    """A picture: what it is said to show, and its address, "" when that is no address to keep."""

    alt: str
    url: str
    marks: tuple[Mark, ...] = ()


@attrs.frozen
class Break:
    """A line's end within a paragraph."""

    marks: tuple[Mark, ...] = ()


Inline: TypeAlias = Run | Image | Break
Inlines: TypeAlias = tuple[Inline, ...]


@attrs.frozen
class Paragraph:
    """Text. `apart` says that the page leaves a gap before it."""

    inlines: Inlines
    apart: bool = True


@attrs.frozen
class Heading:
    """A heading of level 1 to 6."""

    level: int
    inlines: Inlines


@attrs.frozen
class Code:
    """Preformatted text, lines apart by newlines; `language` as the page's classes tell it."""

    text: str
    language: str = ""


@attrs.frozen
class Rule:
    """A line across."""


@attrs.frozen
class Quote:
    """A quotation."""

    blocks: tuple[Block, ...]


@attrs.frozen
class Items:
    """A list; `start` is the first number of an ordered one, None for bullets."""

    items: tuple[tuple[Block, ...], ...]
    start: int | None = None


@attrs.frozen
class Table:
    """Rows of cells, all of one length; `header` says that the first row is of headings."""

    rows: tuple[tuple[Inlines, ...], ...]
    header: bool = False


@attrs.frozen
class Remark:
    """What the engine itself has to say, such as that a frame did not respond."""

    text: str


Block: TypeAlias = Paragraph | Heading | Code | Rule | Quote | Items | Table | Remark


def clean(text: str) -> str:
    """Return the text without what nobody sees, all spaces plain; newlines stay."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _UNSEEN.sub("", _SPACE.sub(" ", text))
