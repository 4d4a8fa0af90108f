"""Plain text of a page's content. Pure.

Rule: the words as they are, nothing escaped and no addresses; only layout is added: list marks and indentation,
tabs between the cells of a row, and an empty line where the page leaves a gap.
"""

from __future__ import annotations

from collections.abc import Sequence

from cdpengine._snapshot.content.content import (
    Block,
    Break,
    Code,
    Heading,
    Image,
    Inline,
    Items,
    Paragraph,
    Quote,
    Remark,
    Rule,
    Table,
)


def to_text(blocks: Sequence[Block]) -> str:
    """Return the blocks as plain text; no newline at the end."""
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
    for number, item in enumerate(block.items, block.start or 0):
        bullet = "- " if block.start is None else f"{number}. "
        written = _blocks(item)
        if all(isinstance(each, Paragraph | Items) for each in item):
            written = [line for line in written if line]
        lines.append(bullet + written[0] if written else bullet.rstrip())
        lines.extend(" " * len(bullet) + line if line else "" for line in written[1:])
    return lines


def _lines(inlines: Sequence[Inline]) -> list[str]:
    text = "".join(_said(inline) for inline in inlines)
    return [line.rstrip() for line in text.split("\n")]


def _said(inline: Inline) -> str:
    if isinstance(inline, Break):
        return "\n"
    return inline.alt if isinstance(inline, Image) else inline.text
