"""View: where a node is on the page, scrolling it into view, and marking it for people to see.

Rule: a box is the upright rectangle around the node's quads (its box model where there are none), in CSS pixels of
the page's viewport, with frames and transforms counted in. The mark is Chrome's own overlay, drawn over the page:
no DOM change, no event, nothing that a script of the page could notice. It is removed with the block.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import attrs

from cdpengine._budget import Budget
from cdpengine._input.actionability.frame_chain import (
    decode_boxes,
    decode_levels,
    find_frame_chain,
    points_outside,
)
from cdpengine._input.actionability.inspection import inspect
from cdpengine._input.actionability.library_calls import stale_ref_error
from cdpengine._input.actionability.requirements import Requirements
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.geometry import Point, Quad
from cdpengine._page.scripts.page_functions import IsolatedWorlds, Node, object_group
from cdpengine._protocol.calls import pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine._protocol.domains.page import LayoutMetricsReply
from cdpengine.errors import ConnectionLostError, InvalidArgumentError, RemoteError, SessionGoneError


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
        around = await find_frame_chain(node, worlds, group)
        with pending_group() as post:
            quads_call = post(session.post("DOM.getContentQuads", backendNodeId=node.backend_node_id))
            box_call = post(session.post("DOM.getBoxModel", backendNodeId=node.backend_node_id))
            metrics = post(session.post("Page.getLayoutMetrics"))
            inner, outer = around.post_inner(post), around.post_outer(post)
            found = await result_or_none(quads_call, ContentQuadsReply)
            box = await result_or_none(box_call, BoxModelReply)
            size = (await metrics.decoded(LayoutMetricsReply)).css_layout_viewport
            frames, levels = await decode_boxes(inner), await decode_levels(outer)
    if frames is None or levels is None:
        return None
    quads = [Quad.from_floats(floats, frames.zoom) for floats in (found.quads if found is not None else [])]
    if box is not None and (not quads or len(quads) == 1):
        quads = [Quad.from_floats(box.model.border, frames.zoom)]
    if not quads:
        return None
    corners: Sequence[Point] = [corner for quad in quads for corner in quad.polygon]
    if levels:
        corners = points_outside(corners, levels, size)[-1]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    return BoundingBox(left, top, right - left, bottom - top)


_IN_VIEW = Requirements(visible=False, enabled=False, receives_events=False, area=False)


async def scroll_into_view(
    node: Node, *, worlds: IsolatedWorlds, budget: Budget, interruptions: Interruptions
) -> Point:
    """Scroll all that is around the node, as little as needed, until it is in view and still; return a point.

    What cannot be seen, or has no size, has a place all the same; the point is its corner then. Raises
    StaleRefError; InvisibleError when it has no place (display: none), or is clipped away for good, at the end of
    the budget.
    """
    async with inspect(
        node, "scroll to", worlds=worlds, budget=budget, interruptions=interruptions
    ) as inspection:
        return await inspection.wait_for_point(_IN_VIEW)


_COLOR = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")


def check_color(color: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb". Raises InvalidArgumentError."""
    found = _COLOR.fullmatch(color) if isinstance(color, str) else None
    if found is None:
        raise InvalidArgumentError(
            what="color", given=repr(color)[:40], expected='a colour such as "#6fa8dc"'
        )
    red, green, blue = (int(part, 16) for part in found.groups())
    return red, green, blue


@asynccontextmanager
async def highlight_node(node: Node, color: tuple[int, int, int], *, info: bool) -> AsyncIterator[None]:
    """Keep the node marked while the block runs; `info` adds its name, size and role beside it.

    One node a session: another highlight takes its place. Raises StaleRefError for a node that is gone.
    """
    red, green, blue = color
    fill = {"r": red, "g": green, "b": blue, "a": 0.45}
    line = {"r": red, "g": green, "b": blue, "a": 1}
    config = {"contentColor": fill, "paddingColor": fill, "borderColor": line, "showInfo": info}
    session = node.session
    async with session.enabled("DOM", "Overlay"):
        try:
            await session.call(
                "Overlay.highlightNode", highlightConfig=config, backendNodeId=node.backend_node_id
            )
            yield
        except RemoteError as error:
            if error.method != "Overlay.highlightNode":
                raise
            raise stale_ref_error(
                node, "a node of another document", "it is no longer in the document"
            ) from error
        finally:
            # Posted, not awaited: it goes out in order, also when this task is being cancelled.
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Overlay.hideHighlight")
