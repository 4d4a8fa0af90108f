"""Reading what a page says: one frame's content out of its document, all frames in their places.

Rule: one script in the frame's isolated world returns the parts, and the frames that are shown among them; it
stops by itself within its share of the time. Frames are found, read and given up by `capture`, as for a snapshot.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

import attrs
import msgspec
import trio

from cdpengine._javascript import script_with
from cdpengine._page.node import Node as BrowserNode
from cdpengine._page.scripts.page_functions import RemoteHandle, deep, object_group
from cdpengine._protocol.calls import decode_reply
from cdpengine._protocol.domains.runtime import CallReply
from cdpengine._snapshot.content.content import Block, Remark
from cdpengine._snapshot.content.parts import blocks_of
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.sources.request import FrameRequest
from cdpengine.errors import ProtocolError

_CALL = "Runtime.callFunctionOn"
_KEPT_BACK = 0.1
_LONGEST = 24 * 3600.0
_CUT = "cut: there was no time to read the rest"

_DEEP = deep(3)


@attrs.define(eq=False)
class ReadableDocument(Document):
    """What a document says. Its `roots` are the frames that are shown in it, by their numbers in the parts."""

    parts: Sequence[Any] = ()

    def blocks(self) -> tuple[Block, ...]:
        """Return the content, that of the frames in it in their places."""
        blocks = blocks_of(self.parts, self._frame)
        if self.loading:
            blocks = (Remark(self.loading), *blocks)
        return (*blocks, Remark(_CUT)) if self.cut else blocks

    def _frame(self, number: int) -> tuple[Block, ...]:
        owner = self.roots[number]
        if isinstance(owner.document, ReadableDocument):
            return owner.document.blocks()
        return (Remark(owner.remark),) if owner.remark else ()


def says_nothing(document: Document) -> bool:
    """Say whether there is nothing to read in the document."""
    return isinstance(document, ReadableDocument) and not document.blocks()


def readable_reader(*, main_only: bool) -> Callable[[FrameRequest], Awaitable[Document]]:
    """Return what reads one document; `main_only` is for the outermost frame, see `readable.js`."""
    return partial(_read, main_only=main_only)


async def _read(request: FrameRequest, *, main_only: bool) -> Document:
    context = await request.worlds.context(request.session, request.frame_id)
    function = script_with("_snapshot/content/readable", "_page/scripts/secret_field", given="root, options")
    options = {"milliseconds": min(request.seconds, _LONGEST) * (1 - _KEPT_BACK) * 1000, "main": main_only}
    with object_group("readable") as group:
        root: RemoteHandle | None = None
        if request.root is not None:
            node = BrowserNode(request.session, request.root, request.frame_id, "the element to be read")
            root = await request.worlds.resolve(node, group)
        await trio.lowlevel.checkpoint_if_cancelled()
        reply = await context.post(function, root, options, how=_DEEP, group=group).decoded(CallReply)
    if reply.exception_details is not None:
        why = reply.exception_details.reason
        raise ProtocolError(f"the page's content could not be read: {why[:300]}")
    text, owners = _decoded(reply.result.deep_serialized_value)
    told = decode_reply(_CALL, text.encode(), _Told)
    document = ReadableDocument(
        roots=[
            Node("iframe", "structural", backend_node_id=owner.backend_node_id, frame_id=request.frame_id)
            for owner in owners[1:]
        ],
        frame_id=request.frame_id,
        loader_id=owners[0].loader_id,
        session_id=request.session.id,
        nodes_seen=told.seen,
        cut=told.cut,
        parts=told.parts,
    )
    document.source = "dom"
    return document


class _Told(msgspec.Struct):
    parts: list[Any]
    cut: bool
    seen: int


class _NodeValue(msgspec.Struct, rename="camel"):
    backend_node_id: int
    loader_id: str = ""


class _DeepNode(msgspec.Struct):
    value: _NodeValue


class _Text(msgspec.Struct):
    value: str


class _DeepNodes(msgspec.Struct):
    value: list[_DeepNode]


class _Pair(msgspec.Struct):
    value: tuple[msgspec.Raw, msgspec.Raw]


def _decoded(value: msgspec.Raw) -> tuple[str, list[_NodeValue]]:
    text, nodes = decode_reply(_CALL, value, _Pair).value
    told = decode_reply(_CALL, text, _Text).value
    return told, [node.value for node in decode_reply(_CALL, nodes, _DeepNodes).value]
