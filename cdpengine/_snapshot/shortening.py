"""Shortening: content that fits into so many characters. Pure.

Rule: it is the content that is cut, not what was written of it, so no mark, fence or table is left half open; a
last line says that something was left out, and how to see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs

from cdpengine._snapshot.content import (
    Block,
    Code,
    Heading,
    Inline,
    Items,
    Paragraph,
    Quote,
    Remark,
    Run,
    Table,
)


def shortened(blocks: Sequence[Block], write: Callable[[Sequence[Block]], str], max_chars: int | None) -> str:
    """Return what `write` makes of the blocks, or of the first part of them with a remark, within `max_chars`.

    Only the remark itself may be longer than that.
    """
    whole = write(blocks)
    if max_chars is None or len(whole) <= max_chars:
        return whole
    remark = Remark(
        f"cut: this is the beginning of {len(whole)} characters; a larger max_chars or a target shows more"
    )
    fits, too_much = 0, max_chars + 1  # counted in characters of words: never more than are written
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
    """How many more characters of words there is room for."""

    left: int

    def of_blocks(self, blocks: Sequence[Block]) -> list[Block]:
        kept: list[Block] = []
        for block in blocks:
            if self.left <= 0:
                break
            if (part := self._of_block(block)) is not None:
                kept.append(part)
        return kept

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
        kept: list[Inline] = []
        for inline in inlines:
            if isinstance(inline, Run) and len(inline.text) > self.left:
                text = inline.text[: max(self.left, 0)].rpartition(" ")[0]
                self.left = 0
                if text.strip():
                    kept.append(attrs.evolve(inline, text=text))
                break
            self.left -= _length(inline)
            kept.append(inline)
        return tuple(kept)


def _length(inline: Inline) -> int:
    return len(inline.text) if isinstance(inline, Run) else 1
