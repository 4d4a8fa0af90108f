"""Boxes: where a node is on the page, its frames and its transforms counted in.

Rule: quads first, the box model where there are none; a box is the upright rectangle around all of them, in CSS
pixels of the page's viewport.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine._input.frame_chain import find_surroundings, measured, points_outside
from cdpengine._input.geometry import Point, Quad
from cdpengine._page.node import Node
from cdpengine._page.scripts.remote_objects import object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine._protocol.domains.page import LayoutMetricsReply


@attrs.frozen
class BoundingBox:
    """An upright rectangle in CSS pixels; `x`, `y` are its corner, counted from that of the viewport."""

    x: float
    y: float
    width: float
    height: float


async def bounding_box(node: Node, worlds: IsolatedWorlds) -> BoundingBox | None:
    """Return the node's box, None where it has none (hidden, or not in the document). Scrolls nothing.

    Raises StaleRefError when the node's document or frame is gone.
    """
    session = node.session
    with object_group("box") as group:
        around = await find_surroundings(node, worlds, group)
        with pending_group() as post:
            quads_call = post(session.post("DOM.getContentQuads", backendNodeId=node.backend_node_id))
            box_call = post(session.post("DOM.getBoxModel", backendNodeId=node.backend_node_id))
            metrics = post(session.post("Page.getLayoutMetrics"))
            outer = around.post_outer(post)
            found = await result_or_none(quads_call, ContentQuadsReply)
            box = await result_or_none(box_call, BoxModelReply)
            size = (await metrics.decoded(LayoutMetricsReply)).css_layout_viewport
            tiers = await measured(outer)
    quads = [Quad.from_floats(floats) for floats in (found.quads if found is not None else [])]
    if box is not None and (not quads or len(quads) == 1):
        quads = [Quad.from_floats(box.model.border)]
    if not quads or tiers is None:
        return None
    corners: Sequence[Point] = [corner for quad in quads for corner in quad.polygon]
    if tiers:
        corners = points_outside(corners, tiers, size)[-1]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    return BoundingBox(left, top, right - left, bottom - top)
