"""DOMSnapshot: every document of a process, its nodes column by column.

Rule: sequences are tuples: empty tuples cost nothing, and the garbage collector skips tuples. Only used columns
are defined. Nodes are in document order, each followed by its descendants.
"""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import reply


class CapturedNodes(msgspec.Struct, rename="camel", gc=False):
    """The nodes of a document, column by column."""

    backend_node_id: tuple[int, ...] = ()


class CapturedLayout(msgspec.Struct, rename="camel", gc=False):
    """The nodes with a layout: the node's index; x, y, width and height in the document."""

    node_index: tuple[int, ...] = ()
    bounds: tuple[tuple[float, ...], ...] = ()


class CapturedDocument(msgspec.Struct, rename="camel", gc=False):
    """One frame's document. `scroll_offset_x` and `_y` are its scroll position, in CSS pixels."""

    frame_id: int = -1
    nodes: CapturedNodes = msgspec.field(default_factory=CapturedNodes)
    layout: CapturedLayout = msgspec.field(default_factory=CapturedLayout)
    scroll_offset_x: float = 0.0
    scroll_offset_y: float = 0.0


@reply("DOMSnapshot.captureSnapshot")
class Capture(msgspec.Struct, gc=False):
    """The whole reply: the documents of all frames of one process, and their shared strings."""

    documents: tuple[CapturedDocument, ...] = ()
    strings: tuple[str, ...] = ()

    def document(self, frame_id: str) -> CapturedDocument | None:
        """Return the document of a frame, or None."""
        return next((each for each in self.documents if self.string(each.frame_id) == frame_id), None)

    def string(self, index: int) -> str:
        """Return a string of the reply, or "" for an invalid index."""
        return self.strings[index] if 0 <= index < len(self.strings) else ""
