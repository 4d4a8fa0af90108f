"""Reading of a page's content: the parts of each frame's document, and their conversion to blocks of text.

Rule: one script in the frame's isolated world returns the parts, and the frames shown among them. It stops within
its share of the time. `capture` finds, reads and abandons frames, as for a snapshot.

Blocks are made without the page. No content of the parts is lost, however odd their nesting. White space is
collapsed as in a browser; characters that would hide text, reverse its direction or end a line invisibly are
removed.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import attrs
import msgspec
import trio

from cdpengine._javascript import script_with
from cdpengine._page.scripts.node_lists import SERIALIZED, split_text
from cdpengine._page.scripts.page_functions import Node as BrowserNode
from cdpengine._page.scripts.page_functions import RemoteHandle, object_group
from cdpengine._protocol.domains.runtime import CallReply
from cdpengine._snapshot.content import (
    RANK,
    Block,
    Break,
    Code,
    Heading,
    Image,
    Inline,
    Inlines,
    Items,
    Mark,
    Paragraph,
    Quote,
    Remark,
    Rule,
    Run,
    Table,
    clean,
)
from cdpengine._snapshot.node import Document, FrameRequest, Node
from cdpengine.errors import ProtocolError

_CALL = "Runtime.callFunctionOn"
_RESERVED_SHARE = 0.1
_LONGEST = 24 * 3600.0
_CUT = "cut: no time was left to read the rest"


@attrs.define(eq=False)
class ReadableDocument(Document):
    """The content of a document. Its `roots` are the frames shown in it, by their numbers in the parts."""

    parts: Sequence[Any] = ()

    def blocks(self) -> tuple[Block, ...]:
        """Return the content, with the frames' content at their places."""
        blocks = blocks_of(self.parts, self._frame)
        if self.loading:
            blocks = (Remark(self.loading), *blocks)
        return (*blocks, Remark(_CUT)) if self.cut else blocks

    def _frame(self, number: int) -> tuple[Block, ...]:
        owner = self.roots[number]
        if isinstance(owner.document, ReadableDocument):
            return owner.document.blocks()
        return (Remark(owner.remark),) if owner.remark else ()


def has_no_content(document: Document) -> bool:
    """Return whether the document has no readable content."""
    return isinstance(document, ReadableDocument) and not document.blocks()


def readable_reader(*, main_only: bool) -> Callable[[FrameRequest], Awaitable[Document]]:
    """Return a function that reads one document. `main_only` applies to the outermost frame, see `readable.js`."""
    return partial(_read, main_only=main_only)


async def _read(request: FrameRequest, *, main_only: bool) -> Document:
    context = await request.worlds.context(request.session, request.frame_id)
    function = script_with("_snapshot/readable", "_page/scripts/secret_field", parameters="root, options")
    options = {
        "milliseconds": min(request.seconds, _LONGEST) * (1 - _RESERVED_SHARE) * 1000,
        "main": main_only,
    }
    with object_group("readable") as group:
        root: RemoteHandle | None = None
        if request.root is not None:
            node = BrowserNode(request.session, request.root, request.frame_id, "the element to be read")
            root = await request.worlds.resolve(node, group)
        await trio.lowlevel.checkpoint_if_cancelled()
        reply = await context.post(function, root, options, how=SERIALIZED, group=group).decoded(CallReply)
    if reply.exception_details is not None:
        why = reply.exception_details.reason
        raise ProtocolError(f"cannot read the page's content: {why[:300]}")
    parts, nodes = split_text(_CALL, reply.result.deep_serialized_value, _PartsReply)
    of_document, *owners = [node for node in nodes if node is not None]
    document = ReadableDocument(
        roots=[
            Node("iframe", "structural", backend_node_id=owner.backend_node_id, frame_id=request.frame_id)
            for owner in owners
        ],
        frame_id=request.frame_id,
        loader_id=of_document.loader_id,
        session_id=request.session.id,
        nodes_seen=parts.seen,
        cut=parts.cut,
        parts=parts.parts,
    )
    document.source = "dom"
    return document


class _PartsReply(msgspec.Struct):
    parts: list[Any]
    cut: bool
    seen: int


# --- from parts to blocks ------------------------------------------------------------------------------------

FrameBlocks: TypeAlias = Callable[[int], Sequence[Block]]
"""Returns the content of a frame, by its number in the parts."""


def blocks_of(parts: Sequence[Any], frame: FrameBlocks) -> tuple[Block, ...]:
    """Return the blocks that the parts describe, with the frames' blocks at their places."""
    return _Building(frame).run(parts)


_NO_MORE_BLOCKS = frozenset({"h", "cell", "pre", "caption", "dt"})


@attrs.define(eq=False)
class _Open:
    """An element that is not closed yet. `flat` is whether it is in an element that cannot contain blocks."""

    kind: str
    details: tuple[Any, ...] = ()
    flat: bool = False
    blocks: list[Block] = attrs.field(factory=list)
    items: list[tuple[Block, ...]] = attrs.field(factory=list)
    numbers: list[int] = attrs.field(factory=list)
    rows: list[list[Inlines]] = attrs.field(factory=list)
    cells: list[tuple[Inlines, tuple[Any, ...]]] = attrs.field(factory=list)
    loose: Items | None = None
    headings: bool = False
    taken: dict[int, int] = attrs.field(factory=dict)
    late: list[Block] = attrs.field(factory=list)


class _Building:
    """The blocks of the page so far."""

    def __init__(self, frame: FrameBlocks) -> None:
        self._frame = frame
        self._stack = [_Open("top")]
        self._marks: list[Mark] = []
        self._inlines: list[Inline] = []
        self._code: list[str] = []
        self._gap = 2
        self._at_start = True  # at the start of a line, or after a space: the next space collapses

    def run(self, parts: Sequence[Any]) -> tuple[Block, ...]:
        for part in parts:
            if isinstance(part, str):
                self._text(part)
            elif isinstance(part, int):
                if part == 0:
                    self._close()
                else:
                    self._end_line(part)
            elif part[0] == "=":
                self._keep_text(part[1])
            elif part[0] in ("img", "hr", "frame"):
                self._void(part)
            else:
                self._open(part)
        while len(self._stack) > 1:
            self._close()
        self._flush()
        return tuple(self._stack[0].blocks)

    @property
    def _flat(self) -> bool:
        top = self._stack[-1]
        return top.flat or top.kind in _NO_MORE_BLOCKS

    @property
    def _in_code(self) -> bool:
        return any(each.kind == "pre" and not each.flat for each in self._stack)

    # --- text ----------------------------------------------------------------------------------------------

    def _text(self, text: str) -> None:
        if self._in_code:
            self._code.append(clean(text, keep_tabs=True))
            return
        text = re.sub(" +", " ", clean(text).replace("\n", " "))
        if self._at_start:
            text = text.removeprefix(" ")
        if text:
            self._inlines.append(Run(text, self._collect_marks()))
            self._at_start = text.endswith(" ")

    def _keep_text(self, text: str) -> None:
        if self._in_code:
            self._code.append(clean(text, keep_tabs=True))
            return
        text = clean(text)
        for number, line in enumerate(text.split("\n")):
            if number:
                self._end_line(3)
            if line:
                self._inlines.append(Run(line, self._collect_marks(), keeps_spaces=True))
                self._at_start = False

    def _collect_marks(self) -> tuple[Mark, ...]:
        links = [mark for mark in self._marks if mark[0] == "a"]
        rest = {mark for mark in self._marks if mark[0] != "a"}
        return (*links[-1:], *sorted(rest, key=lambda mark: (RANK[mark[0]], mark)))

    def _end_line(self, strength: int) -> None:
        if self._in_code:
            if strength == 3 or (self._code and not self._code[-1].endswith("\n")):
                self._code.append("\n")
        elif strength == 3:
            self._inlines.append(Break(self._collect_marks()))
            self._at_start = True
        elif self._flat:
            if self._inlines and not isinstance(self._inlines[-1], Break):
                self._inlines.append(Break())
            self._at_start = True
        else:
            self._flush()
            self._gap = max(self._gap, strength)

    def _take(self) -> Inlines:
        """Return the pending content and clear it; without breaks at its ends or spaces at the ends of lines."""
        out: list[Inline] = []
        for inline in self._inlines:
            if isinstance(inline, Break):
                _strip_end(out)
                if not out:
                    continue
            out.append(inline)
        _strip_end(out)
        while out and isinstance(out[-1], Break):
            out.pop()
            _strip_end(out)
        self._inlines = []
        self._at_start = True
        merged: list[Inline] = []
        for inline in out:
            last = merged[-1] if merged else None
            if (
                isinstance(inline, Run)
                and isinstance(last, Run)
                and (inline.marks, inline.keeps_spaces) == (last.marks, last.keeps_spaces)
            ):
                merged[-1] = attrs.evolve(last, text=last.text + inline.text)
            else:
                merged.append(inline)
        return tuple(merged)

    def _flush(self) -> None:
        inlines = self._take()
        if inlines:
            self._add(Paragraph(inlines, apart=self._gap > 1))

    def _add(self, block: Block) -> None:
        top = self._stack[-1]
        if top.kind in ("ul", "ol"):
            top.items.append((block,))  # a list's child that is not an item
            top.numbers.append(top.numbers[-1] if top.numbers else 1)
        else:
            top.blocks.append(block)
        self._gap = 0

    # --- elements ------------------------------------------------------------------------------------------

    def _void(self, part: Sequence[Any]) -> None:
        if part[0] == "img":
            alt = " ".join(clean(part[1]).split())
            if self._in_code:
                self._code.append(alt)
            else:
                self._inlines.append(Image(alt, part[2], self._collect_marks()))
                self._at_start = False
            return
        blocks: Sequence[Block] = [Rule()] if part[0] == "hr" else self._frame(part[1])
        if self._flat:
            if part[0] == "frame":
                holder = next(each for each in reversed(self._stack) if not each.flat)
                holder.late.extend(blocks)
            return
        self._flush()
        self._gap = 2
        for block in blocks:
            self._add(block)
        self._gap = 2

    def _open(self, part: Sequence[Any]) -> None:
        kind = part[0]
        if kind in RANK:
            mark = (kind, part[1] if kind == "a" else "")
            self._marks.append(mark)
            self._stack.append(_Open("mark", (mark,), flat=self._flat))
            return
        flat = self._flat
        if not flat:
            self._flush()
        elif kind != "row":
            self._end_line(1)
        self._stack.append(_Open(kind, tuple(part[1:]), flat=flat))

    def _close(self) -> None:
        top = self._stack[-1]
        if top.kind == "mark":
            self._marks.remove(top.details[0])
            if top.blocks:
                self._flush()
            self._stack.pop()
            for block in top.blocks:
                self._add(block)
            return
        if top.flat:
            self._stack.pop()
            self._end_line(1)
            return
        if top.kind not in _NO_MORE_BLOCKS:
            self._flush()
        self._stack.pop()
        self._closed(top)
        for block in top.late:
            self._add(block)

    def _closed(self, top: _Open) -> None:
        """Convert a closed element to its block."""
        if top.kind == "cell":
            row = self._nearest("row")
            if row is None:
                self._flush()
            else:
                row.cells.append((self._take(), top.details))
        elif top.kind in _NO_MORE_BLOCKS:
            if block := self._of_text(top):
                self._add(block)
        elif top.kind == "row":
            table = self._nearest("table")
            for block in top.blocks:
                self._add(block)
            if table is None:
                for inlines, _ in top.cells:
                    self._add(Paragraph(inlines))
            elif top.cells:
                table.headings |= not table.rows and all(details[0] for _, details in top.cells)
                table.rows.append(_spread(top.cells, table.taken))
        elif top.kind == "table":
            for block in [*top.blocks, *_table(top)]:
                self._add(block)
        elif top.kind == "quote":
            if top.blocks:
                self._add(Quote(tuple(top.blocks)))
        elif top.kind in ("ul", "ol"):
            if top.items:
                self._add(Items(tuple(top.items), tuple(top.numbers) if top.kind == "ol" else None))
        elif top.blocks:  # an item
            self._add_item(tuple(top.blocks), next(iter(top.details), 0) if top.kind == "li" else 0)

    def _of_text(self, top: _Open) -> Block | None:
        if top.kind == "pre":
            text, self._code = "".join(self._code).strip("\n"), []
            return Code(text, top.details[0]) if text.strip() else None
        inlines = self._take()
        if not inlines:
            return None
        if top.kind == "h":
            return Heading(top.details[0], inlines)
        return Paragraph(tuple(map(_bold, inlines)) if top.kind == "dt" else inlines)

    def _add_item(self, blocks: tuple[Block, ...], number: int) -> None:
        """Add an item to its list. Items outside of lists share a separate list."""
        parent = self._stack[-1]
        if parent.kind in ("ul", "ol"):
            parent.items.append(blocks)
            parent.numbers.append(number)
        elif parent.loose is not None and parent.blocks and parent.blocks[-1] is parent.loose:
            parent.blocks[-1] = parent.loose = Items((*parent.loose.items, blocks))
        else:
            parent.loose = Items((blocks,))
            self._add(parent.loose)

    def _nearest(self, kind: str) -> _Open | None:
        return next((each for each in reversed(self._stack) if each.kind == kind and not each.flat), None)


def _strip_end(inlines: list[Inline]) -> None:
    """Remove the collapsible spaces at the end of the content."""
    while inlines and isinstance(last := inlines[-1], Run) and not last.keeps_spaces:
        text = last.text.rstrip(" ")
        if text:
            inlines[-1] = attrs.evolve(last, text=text)
            return
        inlines.pop()


def _bold(inline: Inline) -> Inline:
    if ("b", "") in inline.marks or isinstance(inline, Image):
        return inline
    marks = sorted([*inline.marks, ("b", "")], key=lambda mark: RANK[mark[0]])
    return attrs.evolve(inline, marks=tuple(marks))


def _spread(cells: Sequence[tuple[Inlines, tuple[int, ...]]], taken: dict[int, int]) -> list[Inlines]:
    """Return a row, with an empty cell for each column that a cell on the left or above spans."""
    row: list[Inlines] = []

    def skip() -> None:
        while taken.get(len(row), 0) > 0:
            taken[len(row)] -= 1
            row.append(())

    for inlines, (_, columns, rows) in cells:
        skip()
        for number in range(max(columns, 1)):
            if rows != 1:
                taken[len(row)] = (rows or _TO_THE_END) - 1
            row.append(inlines if number == 0 else ())
    skip()
    return row


_TO_THE_END = 1_000_000


def _table(top: _Open) -> list[Block]:
    """Return the table with rows of equal length; nothing if all cells are empty."""
    width = max((number for row in top.rows for number, cell in enumerate(row, 1) if cell), default=0)
    if not width:
        return []
    rows = tuple((*row[:width], *[()] * (width - len(row))) for row in top.rows)
    return [Table(rows, top.headings)]
