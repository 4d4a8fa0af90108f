"""The source `hybrid`: a document of another source, with what its page made clickable without saying so.

Rule: merging is pure, and takes nothing away: a node that is there becomes clickable; for an element without
one, a node is put where it belongs in the order of the page, and takes over the nodes that are inside of it.
Only text that is its name then is left out below it, and what only wraps controls is not added (wrappers.py).
"""

from __future__ import annotations

import time
from bisect import bisect_right
from collections.abc import Sequence

import attrs
import msgspec

from cdpengine.js import own
from cdpengine.snapshot.clickables import Clickable, find_clickables
from cdpengine.snapshot.domsnapshot import Capture, fetch_capture
from cdpengine.snapshot.node import Box, Document, Node, walk
from cdpengine.snapshot.request import FrameRequest
from cdpengine.snapshot.roles import ROLES_OF_TAGS
from cdpengine.snapshot.vocabulary import kind_of
from cdpengine.snapshot.wrappers import without_wrappers


async def read_hybrid(request: FrameRequest, base: Document, capture: Capture | None = None) -> Document:
    """Return `base` with the clickables of its page merged into it. `base` itself is changed.

    One `DOMSnapshot.captureSnapshot`, or none where the caller has one of this session: it holds the frames of
    the whole process. Raises as `Session.request` does, and then `base` is as it was.
    """
    started = time.perf_counter()
    if capture is None:
        capture = await fetch_capture(request.session)
    captured = time.perf_counter()
    merge_clickables(base, capture, request.frame_id, within=request.root)
    if request.boxes and base.viewport is not None:
        fill_boxes(base, capture, request.frame_id)
    base.source = "hybrid"
    base.milliseconds = {
        **base.milliseconds,
        "capture": (captured - started) * 1000,
        "merge": (time.perf_counter() - captured) * 1000,
    }
    return base


def merge_clickables(
    document: Document, capture: Capture, frame_id: str, *, within: int | None = None
) -> list[Node]:
    """Mark or add what is clickable in the document, and return the nodes that were added. Pure.

    `within` is a backend node id: only what is in that element. A second merge of the same changes nothing.
    """
    captured = capture.document(frame_id)
    if captured is None:
        return []
    numbers = captured.nodes.backend_node_id
    indices = {number: index for index, number in enumerate(numbers)}
    added = merge(
        document, find_clickables(capture, frame_id, within=within), indices, captured.nodes.parent_index
    )
    return without_wrappers(document, added)


def merge(
    document: Document, clickables: Sequence[Clickable], indices: dict[int, int], parents: Sequence[int]
) -> list[Node]:
    """Merge clickables, outer ones first. `indices` gives a backend node id's place in the order of the page.

    `parents` gives the place of what a place is in. Returns the nodes that were added.
    """
    nodes: dict[int, Node] = {}
    for node in walk(document.roots):
        index = None if node.backend_node_id is None else indices.get(node.backend_node_id)
        if index is not None:
            nodes.setdefault(index, node)
    # By what they are put into: an index, -1 for the document.
    added: dict[int, list[tuple[Clickable, Node]]] = {}
    new: dict[int, Node] = {}
    for each in clickables:
        known = nodes.get(each.index)
        if known is not None:
            known.clickable = True
        elif each.new and each.index not in new:
            role = ROLES_OF_TAGS.get(each.tag, "generic")
            node = Node(
                role,
                "interactive" if role == "generic" else kind_of(role),
                each.name,
                backend_node_id=each.backend_node_id,
                frame_id=document.frame_id,
                clickable=True,
            )
            at = parents[each.index]
            while at >= 0 and at not in nodes and at not in new:
                at = parents[at] if parents[at] < at else -1
            new[each.index] = node
            added.setdefault(at, []).append((each, node))
    # An outer one has all that is in it before the inner ones of it are put there: outer ones come first.
    for at, inside in added.items():
        if at < 0:
            document.roots = _Insertion(document.roots, inside, indices).run()
        else:
            holder = nodes.get(at) or new[at]
            holder.children = _Insertion(holder.children, inside, indices).run()
    for node in new.values():
        node.children = _unsaid(node)
    return list(new.values())


@attrs.define(eq=False)
class _Insertion:
    """Puts clickables, none in another, between the children of one node. One pass."""

    _children: Sequence[Node]
    _added: list[tuple[Clickable, Node]]
    _indices: dict[int, int]
    _out: list[Node] = attrs.field(factory=list, init=False)
    _texts: list[Node] = attrs.field(factory=list, init=False)  # texts since the last other node
    _last: tuple[Clickable, Node] | None = attrs.field(default=None, init=False)
    _waiting: int = attrs.field(default=0, init=False)
    _said: int = attrs.field(default=0, init=False)  # how much of the text of the last one is accounted for

    def run(self) -> list[Node]:
        self._added.sort(key=lambda pair: pair[0].index)
        starts = [each.index for each, _ in self._added]
        placed: set[int] = set()
        # Those that hold other nodes are placed by them, the others by what comes after them.
        holding = {
            position for child in self._children if (position := self._holder(starts, child)) is not None
        }
        leaves = [position for position in range(len(starts)) if position not in holding]
        for child in self._children:
            index = self._index(child)
            if index is None:
                self._texts.append(child)
                continue
            position = self._holder(starts, child)
            before = starts[position] if position is not None else index
            while self._waiting < len(leaves) and starts[leaves[self._waiting]] < before:
                self._place_leaf(*self._added[leaves[self._waiting]])
                self._waiting += 1
            if position is None:
                self._end_texts()
                self._out.append(child)
                self._last = None
                continue
            each, node = self._added[position]
            if position not in placed:
                placed.add(position)
                lead = self._take_lead(each, child)
                self._end_texts()
                self._out.append(node)
                node.children.extend(lead)
            elif self._last is not None and self._last[1] is node:
                for text in self._texts:
                    self._account(each, text)
                node.children.extend(self._texts)
                self._texts.clear()
            else:
                self._end_texts()
            node.children.append(child)
            self._account(each, child)
            self._last = (each, node)
        while self._waiting < len(leaves):
            self._place_leaf(*self._added[leaves[self._waiting]])
            self._waiting += 1
        self._end_texts()
        return self._out

    def _index(self, child: Node) -> int | None:
        return None if child.backend_node_id is None else self._indices.get(child.backend_node_id)

    def _holder(self, starts: list[int], child: Node) -> int | None:
        """Return the place of the one that the child is in."""
        index = self._index(child)
        if index is None:
            return None
        position = bisect_right(starts, index) - 1
        return position if position >= 0 and index < self._added[position][0].end else None

    def _end_texts(self) -> None:
        """Put the texts that nobody took where they are; the first ones may end what was placed last."""
        if self._last is not None:
            each, node = self._last
            while self._texts and self._texts[0].kind == "text":
                before = self._said
                self._account(each, self._texts[0])
                if self._said == before:
                    break
                node.children.append(self._texts.pop(0))
            self._last = None
        self._out.extend(self._texts)
        self._texts.clear()

    def _account(self, each: Clickable, inside: Node) -> None:
        """Note that what the node says is part of the text of the one that it is in."""
        for node in walk([inside]):
            if self._said >= len(each.text):
                return
            found = _find(each.text, node.name, self._said)
            if found >= 0:
                self._said = found + len(node.name)

    def _take_lead(self, each: Clickable, first: Node) -> list[Node]:
        """Take the texts right before the first node inside that are inside, too."""
        limit = len(each.text)
        for node in walk([first]):
            if (found := _find(each.text, node.name, 0)) >= 0:
                limit = found
                break
        lead: list[Node] = []
        self._said = 0
        while self._texts and self._texts[-1].kind == "text":
            found = each.text.rfind(self._texts[-1].name, 0, limit)
            if found < 0:
                break
            self._said = self._said or found + len(self._texts[-1].name)
            limit = found
            lead.insert(0, self._texts.pop())
        return lead

    def _place_leaf(self, each: Clickable, node: Node) -> None:
        """Put one that holds no other node where its text is among the texts, or behind them."""
        for position, text in enumerate(self._texts) if each.text else ():
            if text.kind != "text":
                continue
            if text.name == each.text:
                self._replace(position, 1, "", node, [text], "")
                return
            found = _find(text.name, each.text, 0)
            if found >= 0:
                written = Node("text", "text", each.text, frame_id=text.frame_id)
                before, after = text.name[:found].strip(), text.name[found + len(each.text) :].strip()
                self._replace(position, 1, before, node, [written], after)
                return
            count = _tiled(each.text, self._texts[position:])
            if count:
                self._replace(position, count, "", node, self._texts[position : position + count], "")
                return
        self._end_texts()
        self._out.append(node)

    def _replace(
        self, position: int, count: int, before: str, node: Node, inside: Sequence[Node], after: str
    ) -> None:
        frame_id = self._texts[position].frame_id
        rest = self._texts[position + count :]
        del self._texts[position:]
        if before:
            self._texts.append(Node("text", "text", before, frame_id=frame_id))
        self._end_texts()
        node.children.extend(inside)
        self._out.append(node)
        if after:
            self._texts.append(Node("text", "text", after, frame_id=frame_id))
        self._texts.extend(rest)


def _find(text: str, part: str, start: int) -> int:
    """Find `part` in `text` as whole words; -1 when it is not there."""
    while part:
        found = text.find(part, start)
        if found < 0:
            return -1
        end = found + len(part)
        if not (found and _joins(text[found - 1], part[0])) and not (
            end < len(text) and _joins(part[-1], text[end])
        ):
            return found
        start = found + 1
    return -1


def _joins(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum()


def _tiled(text: str, pieces: Sequence[Node]) -> int:
    """Return how many of the first pieces make up the text, 0 when they do not."""
    rest = text
    for count, piece in enumerate(pieces, 1):
        if piece.kind != "text" or not piece.name or not rest.startswith(piece.name):
            return 0
        rest = rest[len(piece.name) :].lstrip(" ")
        if not rest:
            return count
    return 0


def _unsaid(node: Node) -> list[Node]:
    """Return the children without the texts that the name says already, each as often as it says them."""
    children: list[Node] = []
    said = 0
    for child in node.children:
        found = _find(node.name, child.name, said) if child.kind == "text" else -1
        if found < 0:
            children.append(child)
        else:
            said = found + len(child.name)
    return children


# --- boxes ------------------------------------------------------------------------------------------------


class _Remote(msgspec.Struct):
    value: tuple[float, float] | None = None


class _Evaluated(msgspec.Struct):
    result: _Remote


_VIEWPORT = own("[innerWidth, innerHeight]")


async def add_boxes(request: FrameRequest, document: Document, capture: Capture | None = None) -> None:
    """Fill `Node.box` of the document's nodes, and `Document.viewport`.

    One capture of the session's process, unless the caller has one, and one evaluation in the frame's isolated
    world. Raises as `Session.request` does, and then the document is as it was.
    """
    if capture is None:
        capture = await fetch_capture(request.session)
    context = await request.worlds.context(request.session, request.frame_id)
    params = {"expression": _VIEWPORT, "contextId": context, "returnByValue": True}
    viewport = (await request.session.request("Runtime.evaluate", params, _Evaluated)).result.value
    fill_boxes(document, capture, request.frame_id)
    document.viewport = viewport


def fill_boxes(document: Document, capture: Capture, frame_id: str) -> None:
    """Give each node of the document that has layout its box in the frame's viewport. Pure."""
    captured = capture.document(frame_id)
    if captured is None:
        return
    boxes: dict[int, Box] = {}
    numbers = captured.nodes.backend_node_id
    left, top = captured.scroll_offset_x, captured.scroll_offset_y
    for index, bounds in zip(captured.layout.node_index, captured.layout.bounds, strict=False):
        if len(bounds) == 4 and 0 <= index < len(numbers):
            x, y, width, height = bounds
            boxes.setdefault(numbers[index], (x - left, y - top, width, height))
    for node in walk(document.roots):
        if node.backend_node_id is not None and (box := boxes.get(node.backend_node_id)) is not None:
            node.box = box
