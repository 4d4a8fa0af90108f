"""The frames around a node, in its process and in others, and the mapping of points through them.

Rule: a level is the part of the frame chain in one session: its documents from the outermost inwards, each
represented by the element that must be hit in it. Points are in the innermost session's CSS pixels, because
input is sent there. For a hit test in an outer level they are mapped outwards through the content boxes of the
frame elements. The visible areas of outer levels are mapped inwards. Both mappings hold under every transform.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import attrs

from cdpengine._input.actionability.library_calls import Handle, handle_on, run, stale_ref_error
from cdpengine._input.geometry import Point, Polygon, Quad, clip
from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import ExecutionContext, Node, ObjectGroup, value_of
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import PendingCall, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, FrameOwnerReply
from cdpengine._protocol.domains.page import FrameTreeNode, FrameTreeReply, LayoutMetricsReply, LayoutViewport
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError, StaleRefError

_Post = Callable[[PendingCall], PendingCall]


@attrs.frozen
class FrameLevel:
    """The elements that must be hit in one session's documents, the outermost document first.

    The last element is the frame element of the next session's document. `content` runs scripts in that document.
    """

    session: Session
    handles: Sequence[Handle]
    content: ExecutionContext


@attrs.frozen
class Measured:
    """Measurements of a level: the content boxes of its frame elements, and the session's viewport.

    `inside` is the width and height of the last frame in the CSS pixels of its document, with scroll bars. The
    viewport excludes them, so it is smaller than the box of its frame element.
    """

    frames: Sequence[Quad]
    size: LayoutViewport
    inside: tuple[float, float]


@attrs.define
class FrameChain:
    """The frames around a node: `inner`, the frame elements of its session; `outer`, other sessions' levels.

    Frame elements are ordered from the outermost, levels from the nearest.
    """

    inner: Sequence[Handle]
    outer: Sequence[FrameLevel]

    def post_inner(self, post: _Post) -> list[PendingCall]:
        """Request the boxes of the frame elements in the node's session."""
        return _post_boxes(post, self.inner)

    def post_outer(self, post: _Post) -> list[list[PendingCall]]:
        """Request the boxes and viewports in the other sessions."""
        return [
            [
                post(level.session.post("Page.getLayoutMetrics")),
                post(level.content.post(_SIZE)),
                *_post_boxes(post, level.handles),
            ]
            for level in self.outer
        ]


_IS_HERE = "function () { return this.ownerDocument === document; }"
_ZOOM = own("function () { return this.currentCSSZoom; }")
_SIZE = own("function () { return [innerWidth, innerHeight]; }")


def _post_boxes(post: _Post, handles: Sequence[Handle]) -> list[PendingCall]:
    """Request the box and the CSS zoom of each frame element. The zoom also applies to the frame's document."""
    return [
        call
        for handle in handles
        for call in (
            post(handle.node.session.post("DOM.getBoxModel", backendNodeId=handle.node.backend_node_id)),
            post(handle.object.post(_ZOOM)),
        )
    ]


@attrs.frozen
class Boxes:
    """Content boxes of frame elements in their session's pixels, and the CSS zoom of the innermost document."""

    quads: Sequence[Quad]
    zoom: float = 1.0


async def decode_boxes(calls: Sequence[PendingCall]) -> Boxes | None:
    """Return the requested content boxes, or None if one of the elements has no box.

    A frame's document has the zoom of its frame element, and Chrome divides the quads of its nodes by that zoom.
    """
    quads: list[Quad] = []
    zoom = 1.0
    for box, own_zoom in zip(calls[::2], calls[1::2], strict=True):
        reply = await result_or_none(box, BoxModelReply)
        if reply is None:
            return None
        quads.append(Quad.from_floats(reply.model.content, zoom))
        try:
            zoom *= await value_of(own_zoom, float)
        except RemoteError:
            return None  # its document is gone
    return Boxes(quads, zoom)


async def decode_levels(calls: Sequence[Sequence[PendingCall]]) -> list[Measured] | None:
    """Return the measurements of the outer levels, or None if one of their frame elements has no box."""
    found: list[Measured] = []
    for metrics, size, *boxes in calls:
        viewport = (await metrics.decoded(LayoutMetricsReply)).css_layout_viewport
        decoded = await decode_boxes(boxes)
        try:
            inside = await value_of(size, tuple[float, float])
        except RemoteError:
            return None  # its document is gone
        if decoded is None:
            return None
        found.append(Measured(decoded.quads, viewport, inside))
    return found


def windows_from_outside(outer: Sequence[Measured]) -> list[Polygon] | None:
    """Return the visible areas of the outer levels, as polygons in the innermost session's pixels.

    Returns None if a frame has no area.
    """
    windows: list[Polygon] = []
    for depth, level in enumerate(outer, 1):
        steps, frame, size = outer[:depth], level.frames[-1], level.size
        visible = frame.polygon
        # Points inside the frame are never beyond the horizon of its perspective.
        for window in (Quad.from_rect(0, 0, size.client_width, size.client_height), *level.frames[:-1]):
            visible = clip(visible, window.polygon)
        if _inward(frame.top_left, steps) is None:
            return None
        corners = [_inward(corner, steps) for corner in visible]
        windows.append(tuple(corner for corner in corners if corner is not None))
    return windows


def points_outside(points: Sequence[Point], outer: Sequence[Measured]) -> list[list[Point]]:
    """Return the points in each outer level's pixels, the nearest level first."""
    levels: list[list[Point]] = []
    moved = list(points)
    for level in outer:
        frame, (width, height) = level.frames[-1], level.inside
        moved = [frame.at(x / (width or 1), y / (height or 1)) for x, y in moved]
        levels.append(moved)
    return levels


def _inward(point: Point, steps: Sequence[Measured]) -> Point | None:
    at: Point | None = point
    for level in reversed(steps):
        if at is None or (at := level.frames[-1].fractions(at)) is None:
            return None
        width, height = level.inside
        at = Point(at.x * width, at.y * height)
    return at


async def find_frame_chain(node: Node, worlds: IsolatedWorlds, group: ObjectGroup) -> FrameChain:
    """Find the frame elements around the node. Raises StaleRefError if its frame is gone."""
    inner = await _owners(node, worlds, group)
    outer: list[FrameLevel] = []
    session = node.session
    while session.parent is not None and session.parent.id is not None and session.target_type == "iframe":
        owner = await _owner_outside(node, session, session.parent, worlds, group)
        content = await _root_context(node, session, worlds)
        outer.append(FrameLevel(session.parent, [*await _owners(owner.node, worlds, group), owner], content))
        session = session.parent
    return FrameChain(inner, outer)


async def _owners(node: Node, worlds: IsolatedWorlds, group: ObjectGroup) -> list[Handle]:
    """Return the frame elements around the node's frame in its session, the outermost first."""
    session = node.session
    if node.frame_id == session.frame_id:
        return []
    tree = (await session.request("Page.getFrameTree", {}, FrameTreeReply)).frame_tree
    path = _path_to(node.frame_id, tree)
    if path is None:
        raise stale_ref_error(node, "a node of a frame", "its frame is gone")
    handles: list[Handle] = []
    for parent, frame in itertools.pairwise(path):
        owner = Node(session, await _owner_id(node, session, frame), parent, "the frame around it")
        handles.append(await handle_on(owner, worlds, group))
    return handles


async def _root_context(node: Node, session: Session, worlds: IsolatedWorlds) -> ExecutionContext:
    """Return the execution context of the session's outermost document."""
    assert session.frame_id is not None
    try:
        return await worlds.context(session, session.frame_id)
    except RemoteError as error:
        raise stale_ref_error(node, "a node of a frame", "its frame is gone") from error


async def _owner_outside(
    node: Node, session: Session, parent: Session, worlds: IsolatedWorlds, group: ObjectGroup
) -> Handle:
    assert session.target_id is not None
    owner = await _owner_id(node, parent, session.target_id)
    tree = (await parent.request("Page.getFrameTree", {}, FrameTreeReply)).frame_tree
    # Chrome does not report which of the session's documents contains the element. Documents of one origin
    # accept it in each of their worlds.
    for frame_id in (frames := _all_of(tree)):
        outside = Node(parent, owner, frame_id, "the frame around it")
        try:
            handle = await handle_on(outside, worlds, group)
            if len(frames) == 1 or await run(handle, _IS_HERE, None, bool):
                return handle
        except StaleRefError:
            continue
    raise stale_ref_error(node, "a node of a frame", "its frame is gone")


async def _owner_id(node: Node, session: Session, frame_id: str) -> int:
    try:
        owner = await session.request("DOM.getFrameOwner", {"frameId": frame_id}, FrameOwnerReply)
    except RemoteError as error:
        raise stale_ref_error(node, "a node of a frame", "its frame is gone") from error
    return owner.backend_node_id


def _path_to(frame_id: str, tree: FrameTreeNode) -> list[str] | None:
    if tree.frame.id == frame_id:
        return [frame_id]
    for child in tree.child_frames:
        path = _path_to(frame_id, child)
        if path is not None:
            return [tree.frame.id, *path]
    return None


def _all_of(tree: FrameTreeNode) -> list[str]:
    return [tree.frame.id, *(frame_id for child in tree.child_frames for frame_id in _all_of(child))]
