"""Content: the readable content of a page as blocks of text, truncated to a size, and as plain text. Pure.

Rule: a small tree represents the content independently of the output format: headings, paragraphs, lists, tables,
and runs of text with their marks. Truncation applies to the tree, not to the output, so no mark, fence or table
stays open. A last line states that content was left out, and how to see it.

Plain text has the words unchanged, without escapes and addresses. Only layout is added: list marks and
indentation, tabs between the cells of a row, and an empty line for each gap of the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypeAlias

import attrs

from cdpengine.errors.texts import HIDDEN, MISPLACED

Mark: TypeAlias = tuple[str, str]
"""("a", address), or ("b" | "i" | "s" | "sup" | "sub" | "code", "")."""

RANK = {"a": 0, "b": 1, "i": 2, "s": 3, "sup": 4, "sub": 4, "code": 5}
"""Nesting order of marks around text, outermost first."""

_SPACE = re.compile("[ \t\xa0\u1680\u2000-\u200a\u202f\u205f\u3000\v\f\x85\u2028\u2029]")
_UNSEEN = re.compile(rf"(?!\n)[{HIDDEN}]|{MISPLACED}")
"""Invisible characters, which are removed."""


@attrs.frozen
class Run:
    """Some text on one line. `keeps_spaces` is whether its spaces are preserved."""

    text: str
    marks: tuple[Mark, ...] = ()
    keeps_spaces: bool = False


@attrs.frozen
class Image:
    """A picture: its alternative text, and its address, "" if that is not worth keeping."""

    alt: str
    url: str
    marks: tuple[Mark, ...] = ()


@attrs.frozen
class Break:
    """A line break within a paragraph."""

    marks: tuple[Mark, ...] = ()


Inline: TypeAlias = Run | Image | Break
Inlines: TypeAlias = tuple[Inline, ...]


@attrs.frozen
class Paragraph:
    """Text. `apart` is whether the page leaves a gap before it."""

    inlines: Inlines
    apart: bool = True


@attrs.frozen
class Heading:
    """A heading of level 1 to 6."""

    level: int
    inlines: Inlines


@attrs.frozen
class Code:
    """Preformatted text with newlines; `language` comes from the page's classes."""

    text: str
    language: str = ""


@attrs.frozen
class Rule:
    """A horizontal rule."""


@attrs.frozen
class Quote:
    """A quotation."""

    blocks: tuple[Block, ...]


@attrs.frozen
class Items:
    """A list. `numbers` has the number of each item in an ordered list; None for bullets."""

    items: tuple[tuple[Block, ...], ...]
    numbers: tuple[int, ...] | None = None

    def bullets(self) -> list[int | None]:
        """Return the number of each item, None for a bullet."""
        return [None] * len(self.items) if self.numbers is None else list(self.numbers[: len(self.items)])


@attrs.frozen
class Table:
    """Rows of cells, all of the same length; `header` is whether the first row has headings."""

    rows: tuple[tuple[Inlines, ...], ...]
    header: bool = False


@attrs.frozen
class Remark:
    """A remark of the engine, such as that a frame did not respond."""

    text: str


Block: TypeAlias = Paragraph | Heading | Code | Rule | Quote | Items | Table | Remark


def clean(text: str, *, keep_tabs: bool = False) -> str:
    """Return the string without invisible characters, with plain spaces; newlines stay, and tabs on request."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if keep_tabs and "\t" in text:
        return "\t".join(clean(piece) for piece in text.split("\t"))
    return _UNSEEN.sub("", _SPACE.sub(" ", text))


def shorten(blocks: Sequence[Block], write: Callable[[Sequence[Block]], str], max_chars: int | None) -> str:
    """Return the output of `write` for the blocks, or for their first part with a remark, within `max_chars`.

    The result exceeds `max_chars` only if the remark alone does.
    """
    whole = write(blocks)
    if max_chars is None or len(whole) <= max_chars:
        return whole
    remark = Remark(
        f"cut: this is the beginning of {len(whole)} characters; a larger limit or a single element shows more"
    )
    fits, too_much = 0, max_chars + 1  # in characters of words, never more than the output has
    best = write([remark])
    while fits + 1 < too_much:
        middle = (fits + too_much) // 2
        written = write([*_Room(middle).of_blocks(blocks), remark])
        if len(written) <= max_chars:
            fits, best = middle, written
        else:
            too_much = middle
    return best


@attrs.define
class _Room:
    """The remaining number of characters."""

    left: int

    def of_blocks(self, blocks: Sequence[Block]) -> list[Block]:
        fitting: list[Block] = []
        for block in blocks:
            if self.left <= 0:
                break
            if (part := self._of_block(block)) is not None:
                fitting.append(part)
        return fitting

    def _of_block(self, block: Block) -> Block | None:
        if isinstance(block, Paragraph | Heading):
            inlines = self._of_inlines(block.inlines)
            return attrs.evolve(block, inlines=inlines) if inlines else None
        if isinstance(block, Code):
            text = block.text if len(block.text) <= self.left else block.text[: self.left].rpartition("\n")[0]
            self.left -= len(block.text)
            return attrs.evolve(block, text=text) if text.strip() else None
        if isinstance(block, Quote):
            inside = self.of_blocks(block.blocks)
            return Quote(tuple(inside)) if inside else None
        if isinstance(block, Items):
            items: list[tuple[Block, ...]] = []
            while len(items) < len(block.items) and self.left > 0:
                items.append(tuple(self.of_blocks(block.items[len(items)])))
            while items and not items[-1]:
                items.pop()
            return attrs.evolve(block, items=tuple(items)) if items else None
        if isinstance(block, Table):
            return self._of_table(block)
        self.left -= 1
        return block

    def _of_table(self, block: Table) -> Table | None:
        rows = []
        for row in block.rows:
            self.left -= sum(_length(inline) for cell in row for inline in cell)
            if self.left < 0:
                break
            rows.append(row)
        return attrs.evolve(block, rows=tuple(rows)) if rows else None

    def _of_inlines(self, inlines: Sequence[Inline]) -> tuple[Inline, ...]:
        fitting: list[Inline] = []
        for inline in inlines:
            if isinstance(inline, Run) and len(inline.text) > self.left:
                text = inline.text[: max(self.left, 0)].rpartition(" ")[0]
                self.left = 0
                if text.strip():
                    fitting.append(attrs.evolve(inline, text=text))
                break
            self.left -= _length(inline)
            fitting.append(inline)
        return tuple(fitting)


def _length(inline: Inline) -> int:
    return len(inline.text) if isinstance(inline, Run) else 1


# --- plain text ----------------------------------------------------------------------------------------------


def to_text(blocks: Sequence[Block]) -> str:
    """Return the blocks as plain text, without a newline at the end."""
    return "\n".join(_blocks(blocks))


def _blocks(blocks: Sequence[Block]) -> list[str]:
    lines: list[str] = []
    last: Block | None = None
    for block in blocks:
        written = _block(block)
        if not written:
            continue
        joined = isinstance(block, Paragraph) and not block.apart and isinstance(last, Paragraph)
        if lines and not joined:
            lines.append("")
        lines.extend(written)
        last = block
    return lines


def _block(block: Block) -> list[str]:
    if isinstance(block, Paragraph | Heading):
        return _lines(block.inlines)
    if isinstance(block, Code):
        return block.text.split("\n")
    if isinstance(block, Rule):
        return ["----------"]
    if isinstance(block, Quote):
        return _blocks(block.blocks)
    if isinstance(block, Remark):
        return [f"[{block.text}]"]
    if isinstance(block, Table):
        return ["\t".join(" ".join(_lines(cell)) for cell in row).rstrip("\t") for row in block.rows]
    return _items(block)


def _items(block: Items) -> list[str]:
    lines: list[str] = []
    for number, item in zip(block.bullets(), block.items, strict=True):
        bullet = "- " if number is None else f"{number}. "
        written = _blocks(item)
        if all(isinstance(each, Paragraph | Items) for each in item):
            written = [line for line in written if line]
        lines.append(bullet + written[0] if written else bullet.rstrip())
        lines.extend(" " * len(bullet) + line if line else "" for line in written[1:])
    return lines


def _lines(inlines: Sequence[Inline]) -> list[str]:
    text = "".join(_write_inline(inline) for inline in inlines)
    return [line.rstrip() for line in text.split("\n")]


def _write_inline(inline: Inline) -> str:
    if isinstance(inline, Break):
        return "\n"
    return inline.alt if isinstance(inline, Image) else inline.text
