"""View: a node's bounding box, scrolling it into view, and highlighting it.

Rule: a box is the bounding rectangle of the node's quads (of its box model if it has no quads), in CSS pixels of
the page's viewport. It accounts for frames and transforms. The highlight is Chrome's overlay, drawn over the
page: it changes no DOM, sends no event, and is invisible to the page's scripts. It is removed when the block
ends.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress

import attrs

from cdpengine._budget import Budget
from cdpengine._checks import invalid
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
from cdpengine._input.node_states import read_states
from cdpengine._page.scripts.page_functions import Node, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError


@attrs.frozen
class BoundingBox:
    """A rectangle in CSS pixels. `x` and `y` are its top left corner, relative to the viewport."""

    x: float
    y: float
    width: float
    height: float


async def bounding_box(node: Node, worlds: IsolatedWorlds) -> BoundingBox | None:
    """Return the node's box, or None if it has none (hidden, or not in the document). Does not scroll.

    Raises StaleRefError if the node's document or frame is gone.
    """
    session = node.session
    with object_group("box") as group:
        around = await find_frame_chain(node, worlds, group)
        with pending_group() as post:
            quads_call = post(session.post("DOM.getContentQuads", backendNodeId=node.backend_node_id))
            box_call = post(session.post("DOM.getBoxModel", backendNodeId=node.backend_node_id))
            inner, outer = around.post_inner(post), around.post_outer(post)
            found = await result_or_none(quads_call, ContentQuadsReply)
            box = await result_or_none(box_call, BoxModelReply)
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
        corners = points_outside(corners, levels)[-1]
    left, right = min(x for x, _ in corners), max(x for x, _ in corners)
    top, bottom = min(y for _, y in corners), max(y for _, y in corners)
    return BoundingBox(left, top, right - left, bottom - top)


async def present_box(node: Node, *, worlds: IsolatedWorlds) -> BoundingBox | None:
    """Return the node's box, or None if it is hidden. Raises StaleRefError if it has left its document."""
    box = await bounding_box(node, worlds)
    if box is None:
        await read_states(node, worlds)
    return box


_IN_VIEW = Requirements(visible=False, enabled=False, receives_events=False, area=False)


async def scroll_into_view(
    node: Node, *, worlds: IsolatedWorlds, budget: Budget, interruptions: Interruptions
) -> Point:
    """Scroll the node's ancestors as little as needed until it is in view and still. Return one of its points.

    For an invisible node, or a node without a size, the point is its corner. Raises StaleRefError. At the end of
    the budget raises NotInteractableError if the node has no position (display: none) or is permanently clipped.
    """
    async with inspect(
        node, "scroll to", worlds=worlds, budget=budget, interruptions=interruptions
    ) as inspection:
        return await inspection.wait_for_point(_IN_VIEW)


_COLOR = re.compile(r"#([0-9a-fA-F]{2})([0-9a-fA-F]{2})([0-9a-fA-F]{2})")


def check_color(color: str) -> tuple[int, int, int]:
    """Return the red, green and blue components of "#rrggbb". Raises InvalidArgumentError."""
    found = _COLOR.fullmatch(color) if isinstance(color, str) else None
    if found is None:
        raise invalid("color", color, 'a colour such as "#6fa8dc"')
    red, green, blue = (int(part, 16) for part in found.groups())
    return red, green, blue


@asynccontextmanager
async def highlight_node(node: Node, color: tuple[int, int, int], *, info: bool) -> AsyncIterator[None]:
    """Highlight the node while the block runs. `info` also shows its name, size and role.

    Each session has one highlight; a new one replaces it. Raises StaleRefError if the node is gone.
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
            # Posted, not awaited: it is sent in order, even during cancellation.
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Overlay.hideHighlight")
