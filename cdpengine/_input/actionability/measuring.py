"""Full probes: measure a node and the frames around it, and hit-test its points.

Rule: a full probe takes two round trips. The first scrolls the node into view and requests its quads and the
viewport. The second runs actionability.js on the node and on the frame elements around it, which report the
node's state and the elements that receive events at the candidate points. This module returns the results;
`inspection.py` judges them. A further call identifies the node that covers a point, for the error message only.
It has a short timeout, and the error omits the node if there is no response.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import attrs
import msgspec
import trio

from cdpengine._input.actionability.frame_chain import (
    FrameChain,
    decode_boxes,
    decode_levels,
    find_frame_chain,
    points_outside,
    windows_from_outside,
)
from cdpengine._input.actionability.library_calls import (
    Handle,
    check_not_gone,
    decode_result,
    handle_on,
    post_library_call,
    run,
)
from cdpengine._input.actionability.page_library import (
    InputObserver,
    ProbeReply,
    probe_nodes,
    probe_request,
)
from cdpengine._input.geometry import ClickPoints, Point, Quad, choose_points, contains, visible_parts
from cdpengine._page.scripts.page_functions import Node, ObjectGroup, RemoteHandle, object_of
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.calls import PendingCall, pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine._protocol.domains.page import LayoutMetricsReply
from cdpengine.errors import EvaluationFailedError, RemoteError, StaleRefError

_ALIGNMENTS = ("center", "end", "start")
"""Scroll alignments to try for a covered node, in order. The covering element may be a fixed header or footer."""

_ALIGN = "function (block) { DOM.scrollIntoView(this, { block, inline: 'nearest', behavior: 'instant' }); }"

TAKEN = "no point of its label is free of links, buttons and fields"

_Rectangle = tuple[float, float, float, float]


async def decode_object(pending: PendingCall, node: Node) -> RemoteHandle | None:
    """Return the remote object that a call without `by_value` returned, None for null. Raises StaleRefError."""
    try:
        return await object_of(pending, node.session)
    except RemoteError as error:
        check_not_gone(node, error)
        raise


@attrs.frozen
class Cover:
    """The element that receives the events of a point instead of the node.

    `reply` describes it from the document of `handle`; `request` is a probe of that one point.
    """

    handle: Handle
    request: dict[str, Any]
    reply: ProbeReply

    async def find_node(self, seconds: float) -> int | None:
        """Return its backend node id, or None if it is not known within `seconds`."""
        handle = self.handle
        if handle.node.session.target_type == "iframe":
            return None  # node ids are per process: only those of the page's process are useful to callers
        with trio.move_on_after(seconds), suppress(RemoteError, StaleRefError, EvaluationFailedError):
            call = post_library_call(handle, "covering", self.request, by_value=False)
            covering = await decode_object(call, handle.node)
            if covering is not None:
                try:
                    return await covering.backend_node_id()
                finally:
                    covering.release()
        return None


@attrs.frozen
class FullReply:
    """The result of a full probe: the candidate points, and the replies of the node and the frames around it.

    `outside` is the reason if no point exists. `taken`: the node is a label that links, buttons and fields occupy
    completely. `corner` is the node's top left corner if it is in view. `requests` are the probed nodes and their
    requests; `replies` are their results, in the same order. The node itself comes first.
    """

    points: Sequence[Point]
    outside: str
    corner: Point | None
    requests: Sequence[tuple[Handle, dict[str, Any]]]
    replies: Sequence[ProbeReply]
    taken: bool = False

    @property
    def reply(self) -> ProbeReply:
        """The reply of the node itself."""
        return self.replies[0]

    @property
    def moved(self) -> bool:
        """Whether the node or a frame around it is moving."""
        return any(reply.moved for reply in self.replies)

    @property
    def reached_point(self) -> Point | None:
        """The first point whose events reach the node through all frames around it, or None."""
        for index, point in enumerate(self.points):
            if all(reply.hits[index] for reply in self.replies):
                return point
        return None

    @property
    def cover(self) -> Cover:
        """The covering element if no point is reached, from the last reply with a miss."""
        missed = [index for index, reply in enumerate(self.replies) if not all(reply.hits)]
        number = missed[-1] if missed else 0
        reply, (handle, request) = self.replies[number], self.requests[number]
        first = next((index for index, hit in enumerate(reply.hits) if not hit), 0)
        return Cover(handle, {**request, "points": [request["points"][first]], "observer": None}, reply)


@attrs.define(eq=False)
class FullProbe:
    """Repeatable full probe of one node. `resolve` returns the node's handle.

    `dragging`: the node is the target of a drag. The dragged element then covers nothing.
    """

    node: Node
    worlds: IsolatedWorlds
    group: ObjectGroup
    resolve: Callable[[], Awaitable[Handle]]
    dragging: bool = False
    _around: FrameChain | None = None
    _alignments: Iterator[str] = attrs.field(factory=lambda: iter(_ALIGNMENTS))
    _align: str | None = None
    _by_places: bool = False
    _taken: bool = False
    _placed: bool = False
    _label: FullProbe | None = None

    async def probe(
        self,
        position: tuple[float, float] | None,
        observer: InputObserver | None,
        *,
        checked: bool,
        again: bool,
        labelled: bool = False,
    ) -> FullReply:
        """Scroll the node into view, measure it, and probe it and the frames around it at its points.

        `position` is an offset in CSS pixels from the top left corner of the border box. None uses points of the
        visible part. `observer` is armed in the same call; with `checked` it holds back input that goes astray.
        `again`: an earlier probe failed, so the node may be moving. `labelled`: the node is known to be hidden
        behind its label. Raises StaleRefError.

        If the control is hidden, its label is probed instead. If the label contains links, buttons or fields and
        its usual points fail, the places between them are tried.
        """
        self._label, disabled = None, ""
        if not labelled:
            found = await self.probe_node(position, observer, checked=checked, again=again)
            if position is not None or not found.reply.labelled or (not checked and found.points):
                return found
            disabled = found.reply.disabled
        self._label = await self._find_label()
        if self._label is None:  # the node has become visible, or its label is gone
            return await self.probe_node(position, observer, checked=checked, again=True)
        found = await self._label.probe_node(None, observer, checked=checked, again=again)
        found.reply.disabled = found.reply.disabled or disabled
        return found

    async def _find_label(self) -> FullProbe | None:
        """Return a probe of the label to press instead of the node, or None."""
        call = post_library_call(await self.resolve(), "label", None, by_value=False)
        try:
            label = await decode_object(call, self.node)
            if label is None:
                return None
            number = await label.backend_node_id()
            label.release()
        except RemoteError as error:
            check_not_gone(self.node, error)
            raise
        handle = await handle_on(attrs.evolve(self.node, backend_node_id=number), self.worlds, self.group)

        async def resolve() -> Handle:
            return handle

        return FullProbe(handle.node, self.worlds, self.group, resolve, self.dragging)

    async def probe_node(
        self,
        position: tuple[float, float] | None,
        observer: InputObserver | None,
        *,
        checked: bool,
        again: bool,
    ) -> FullReply:
        """Probe the node itself, even if it has a label. Parameters and errors as in `probe`."""
        found = await self._probe(position, observer, checked=checked, again=again)
        if position is None and found.reply.divided and not self._by_places:
            if checked and found.reached_point is not None:
                return found
            self._by_places = True
            found = await self._probe(position, observer, checked=checked, again=again)
        return found

    async def _probe(
        self,
        position: tuple[float, float] | None,
        observer: InputObserver | None,
        *,
        checked: bool,
        again: bool,
    ) -> FullReply:
        click_points = await self._measure(position, again=again)
        handle, around = await self.resolve(), self._around
        assert around is not None
        requests = self._requests(handle, around, click_points)
        in_session = [(one, request) for one, request in requests if one.node.session is self.node.session]
        if observer is not None:
            for one, request in in_session:
                request["observer"] = observer.arming(inside=one is not handle, checked=checked)
            observer.note_armed([one for one, _ in in_session])
        replies = await probe_nodes(self.node, requests, observer)
        return FullReply(
            click_points.points, click_points.outside, click_points.corner, requests, replies, self._taken
        )

    def use_next_alignment(self) -> None:
        """Use the next scroll alignment for the next probe, while any are left."""
        if self._label is None:
            self._align = next(self._alignments, None)
        else:
            self._label.use_next_alignment()

    async def _measure(self, position: tuple[float, float] | None, *, again: bool) -> ClickPoints:
        """Scroll the node into view and measure it, in one round trip once its frames are known."""
        session, node_id = self.node.session, self.node.backend_node_id
        if self._around is None:
            self._around = await find_frame_chain(self.node, self.worlds, self.group)
        if self._align is not None:
            align, self._align = self._align, None
            await run(await self.resolve(), _ALIGN, align, msgspec.Raw)
        # With a position, that pixel of the node has to be in view.
        rect = {"rect": {"x": position[0], "y": position[1], "width": 1, "height": 1}} if position else {}
        with pending_group() as post:
            before = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            # After content of the node was scrolled into view, scrolling to the node would undo that.
            scrolling = None
            if not self._placed:
                scrolling = post(session.post("DOM.scrollIntoViewIfNeeded", backendNodeId=node_id, **rect))
            after = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            box = post(session.post("DOM.getBoxModel", backendNodeId=node_id))
            metrics = post(session.post("Page.getLayoutMetrics"))
            inner, outer = self._around.post_inner(post), self._around.post_outer(post)
            await self.resolve()
            quads_before = await result_or_none(before, ContentQuadsReply)
            if scrolling is not None:
                await result_or_none(scrolling, msgspec.Raw)
            quads_after = await result_or_none(after, ContentQuadsReply)
            found = await result_or_none(box, BoxModelReply)
            model = None if found is None else found.model
            viewports = await metrics.decoded(LayoutMetricsReply)
            boxes, levels = await decode_boxes(inner), await decode_levels(outer)
        # A frame has no visual viewport of its own that users see. The page's visual viewport is smaller than its
        # layout viewport under pinch zoom, and quads and input are relative to its corner.
        layout = viewports.css_layout_viewport
        size = layout if self._around.outer else viewports.css_visual_viewport
        outside = None if levels is None else windows_from_outside(levels)
        if boxes is None or levels is None or outside is None:
            return ClickPoints((), (), settle=True, outside="a frame around it has no box")
        frames = boxes.quads
        border = None if model is None else Quad.from_floats(model.border, boxes.zoom)
        quads = _quads(quads_after, boxes.zoom)
        if not quads and border is not None:
            quads = [border]
        viewport = Quad.from_rect(0, 0, size.client_width, size.client_height)
        windows = [viewport.polygon, *(frame.polygon for frame in frames), *outside]
        self._taken = False
        if self._by_places or not visible_parts(quads, windows):
            document = Quad.from_rect(0, 0, layout.client_width, layout.client_height)
            places = await self._places([document, *frames][-1])
            self._taken = self._by_places and places == []
            self._placed = bool(places) and not self._by_places
            if places or self._by_places:
                quads = places or []
        corner = quads[0].top_left if quads else None
        in_view = corner is not None and all(contains(window, corner) for window in windows)
        click_points = choose_points(quads, windows, border, model, position)
        if self._taken:
            click_points = attrs.evolve(click_points, outside=TAKEN)
        moved = quads != _quads(quads_before, boxes.zoom) or again
        return attrs.evolve(
            click_points,
            corner=corner if in_view else None,
            frames=frames,
            settle=click_points.settle or moved,
            outer=points_outside(click_points.points, levels),
            outer_frames=[level.frames for level in levels],
        )

    async def _places(self, document: Quad) -> list[Quad] | None:
        """Return the places where a node without a suitable box can be pressed: see places.js.

        `document` is the quad in which the node's document is shown.
        """
        with pending_group() as post:
            call = post(post_library_call(await self.resolve(), "places", None))
            shape: type[list[_Rectangle]] = list[_Rectangle] | None  # type: ignore[assignment]
            found: list[_Rectangle] | None = await decode_result(call, self.node, shape)
        if found is None:
            return None
        return [
            Quad(*(document.at(*corner) for corner in Quad.from_rect(*rectangle).polygon))
            for rectangle in found
        ]

    def _requests(
        self, handle: Handle, around: FrameChain, click_points: ClickPoints
    ) -> list[tuple[Handle, dict[str, Any]]]:
        """Return the probe requests for the node and the frame elements around it, the node first.

        Points are converted to each document's coordinates. A session's outermost document uses the session's
        own coordinates. In a frame they are fractions of the frame element's content box, which hold under every
        transform.
        """
        levels = [([*around.inner, handle], click_points.points, click_points.frames)]
        if click_points.outer:  # without points the outer levels are not measured
            for level, points, frames in zip(
                around.outer, click_points.outer, click_points.outer_frames, strict=True
            ):
                levels.append(([*level.handles], points, frames))
        requests: list[tuple[Handle, dict[str, Any]]] = []
        for handles, points, frames in levels:
            windows: list[Quad | None] = [None, *frames]
            for one, frame in zip(handles, windows, strict=False):
                requests.append(
                    (one, probe_request(points, frame, settle=click_points.settle, dragging=self.dragging))
                )
        requests.sort(key=lambda each: each[0] is not handle)
        return requests


def _quads(found: ContentQuadsReply | None, zoom: float) -> list[Quad]:
    return [] if found is None else [Quad.from_floats(floats, zoom) for floats in found.quads]
