"""Boxes: where the nodes of a document stand, for the sources that do not tell.

Rule: one capture of the session's process gives the boxes of all its frames; no element is asked for by itself.
"""

from __future__ import annotations

from cdpengine._protocol.domains.dom_snapshot import Capture
from cdpengine._snapshot.domsnapshot import fetch_capture
from cdpengine._snapshot.node import Box, Document, walk
from cdpengine._snapshot.request import FrameRequest
from cdpengine.js import own

_VIEWPORT = own("[innerWidth, innerHeight]")


async def add_boxes(request: FrameRequest, document: Document, capture: Capture | None = None) -> None:
    """Fill `Node.box` of the document's nodes, and `Document.viewport`.

    One capture of the session's process, unless the caller has one, and one evaluation in the frame's isolated
    world. Raises as `Session.request` does, and then the document is as it was.
    """
    if capture is None:
        capture = await fetch_capture(request.session)
    context = await request.worlds.context(request.session, request.frame_id)
    viewport = await context.evaluate(_VIEWPORT, returns=tuple[float, float])
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
