"""Full probes: a node is measured, with the frames around it, and asked what receives events at its points.

Rule: a full probe is two round trips. The first scrolls the node into view and asks for its quads and the
viewport; the second runs actionability.js on the node and on the frame elements around it: what the node is like,
and what receives events at the candidate points. What is found is returned as it is: `inspection.py` judges it.
One more question names the node that covers a point, for the error alone: it gets a moment, and the error does
without where there is no answer.
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
from cdpengine._page.scripts.page_functions import IsolatedWorlds, Node, ObjectGroup, RemoteHandle, object_of
from cdpengine._protocol.calls import PendingCall, pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine._protocol.domains.page import LayoutMetricsReply
from cdpengine.errors import EvaluationFailedError, RemoteError, StaleRefError

_ALIGNMENTS = ("center", "end", "start")
"""Where to scroll a covered node to, one after another: what is in front may be a fixed header or footer."""

_ALIGN = "function (block) { DOM.scrollIntoView(this, { block, inline: 'nearest', behavior: 'instant' }); }"

TAKEN = "no point of its label is free of links, buttons and fields"

_Rectangle = tuple[float, float, float, float]


async def decode_object(pending: PendingCall, node: Node) -> RemoteHandle | None:
    """Return the remote object that a call without `by_value` gave, None for null. Raises StaleRefError."""
    try:
        return await object_of(pending, node.session)
    except RemoteError as error:
        check_not_gone(node, error)
        raise


@attrs.frozen
class Cover:
    """What receives the events of a point in a node's place.

    `reply` describes it, as the node of `handle` sees it; `request` asks about that one point.
    """

    handle: Handle
    request: dict[str, Any]
    reply: ProbeReply

    async def find_node(self, seconds: float) -> int | None:
        """Return its backend node id; None where that is not known within `seconds` seconds."""
        handle = self.handle
        if handle.node.session.target_type == "iframe":
            return None  # node ids count per process: only the page's own are of use to others
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
    """What a full probe found: the candidate points, and the replies of the node and of the frames around it.

    `outside` says why there are no points; `taken` that links, buttons and fields take all of the label that the
    node is. `corner` is that of the node, if it is in view. `asked` are the nodes
    and their requests, `replies` what they answered, in the same order: the node's own first.
    """

    points: Sequence[Point]
    outside: str
    corner: Point | None
    asked: Sequence[tuple[Handle, dict[str, Any]]]
    replies: Sequence[ProbeReply]
    taken: bool = False

    @property
    def reply(self) -> ProbeReply:
        """The node's own reply."""
        return self.replies[0]

    @property
    def moved(self) -> bool:
        """Whether the node, or a frame around it, is moving."""
        return any(reply.moved for reply in self.replies)

    @property
    def reached_point(self) -> Point | None:
        """The first point whose events the node receives, through all the frames around it."""
        for index, point in enumerate(self.points):
            if all(reply.hits[index] for reply in self.replies):
                return point
        return None

    @property
    def cover(self) -> Cover:
        """What is in the way where no point is reached, as the last that was asked and misses one sees it."""
        missed = [index for index, reply in enumerate(self.replies) if not all(reply.hits)]
        number = missed[-1] if missed else 0
        reply, (handle, request) = self.replies[number], self.asked[number]
        first = next((index for index, hit in enumerate(reply.hits) if not hit), 0)
        return Cover(handle, {**request, "points": [request["points"][first]], "observer": None}, reply)


@attrs.define(eq=False)
class FullProbe:
    """Probes one node in full, as often as it is asked. `resolve` gives the node's handle.

    `dragging`: the node is where something is being dragged to, which then covers nothing.
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

    async def ask(
        self,
        position: tuple[float, float] | None,
        observer: InputObserver | None,
        *,
        checked: bool,
        again: bool,
        labelled: bool = False,
    ) -> FullReply:
        """Scroll the node into view, measure it, and ask it and the frames around it about its points.

        `position` is an offset from the top left corner of its border box, in CSS pixels, or None for the points
        of its visible part. `observer` is armed by the same call, to hold back what goes astray if `checked`.
        `again`: an earlier probe failed, so it may be moving. `labelled`: it is known to be hidden behind its
        label. Raises StaleRefError.

        The label of a hidden control is asked in its place. Of a label with links, buttons or fields in it, the
        places between these are measured where its own points do not do.
        """
        self._label, disabled = None, ""
        if not labelled:
            found = await self.ask_itself(position, observer, checked=checked, again=again)
            if position is not None or not found.reply.labelled or (not checked and found.points):
                return found
            disabled = found.reply.disabled
        self._label = await self._find_label()
        if self._label is None:  # it is seen by now, or its label is gone
            return await self.ask_itself(position, observer, checked=checked, again=True)
        found = await self._label.ask_itself(None, observer, checked=checked, again=again)
        found.reply.disabled = found.reply.disabled or disabled
        return found

    async def _find_label(self) -> FullProbe | None:
        """Return a probe of the label to press in the node's place; None where there is none."""
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

    async def ask_itself(
        self,
        position: tuple[float, float] | None,
        observer: InputObserver | None,
        *,
        checked: bool,
        again: bool,
    ) -> FullReply:
        """Ask the node itself, whether it has a label or not. As `ask`."""
        found = await self._ask(position, observer, checked=checked, again=again)
        if position is None and found.reply.divided and not self._by_places:
            if checked and found.reached_point is not None:
                return found
            self._by_places = True
            found = await self._ask(position, observer, checked=checked, again=again)
        return found

    async def _ask(
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
        asked = self._requests(handle, around, click_points)
        in_session = [(one, request) for one, request in asked if one.node.session is self.node.session]
        if observer is not None:
            for one, request in in_session:
                request["observer"] = observer.arming(inside=one is not handle, checked=checked)
            observer.note_armed([one for one, _ in in_session])
        replies = await probe_nodes(self.node, asked, observer)
        return FullReply(
            click_points.points, click_points.outside, click_points.corner, asked, replies, self._taken
        )

    def align_otherwise(self) -> None:
        """Scroll the node to another place before the next probe, as long as there are such places."""
        if self._label is None:
            self._align = next(self._alignments, None)
        else:
            self._label.align_otherwise()

    async def _measure(self, position: tuple[float, float] | None, *, again: bool) -> ClickPoints:
        """Scroll the node into view and measure it, in one round trip once its frames are known."""
        session, node_id = self.node.session, self.node.backend_node_id
        if self._around is None:
            self._around = await find_frame_chain(self.node, self.worlds, self.group)
        if self._align is not None:
            align, self._align = self._align, None
            await run(await self.resolve(), _ALIGN, align, msgspec.Raw)
        # With a position it is that pixel of the node that has to come into view.
        rect = {"rect": {"x": position[0], "y": position[1], "width": 1, "height": 1}} if position else {}
        with pending_group() as post:
            before = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            # Where what is in the node was scrolled into view, the node itself would scroll that away.
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
        # A frame's own visual viewport is nothing that a person sees; the page's is smaller than its layout where
        # it is zoomed by pinching, and quads and input count from its corner.
        layout = viewports.css_layout_viewport
        size = layout if self._around.outer else viewports.css_visual_viewport
        outside = None if levels is None else windows_from_outside(levels, layout)
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
            outer=points_outside(click_points.points, levels, layout),
            outer_frames=[level.frames for level in levels],
        )

    async def _places(self, document: Quad) -> list[Quad] | None:
        """Return where a node can be pressed that has no box of its own for it: see places.js.

        `document` is where its document is shown.
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
        """Return what the node and the frame elements around it are asked, the node first.

        A point is taken to the coordinates of each document: a session's outermost has the session's own; in a
        frame they are fractions of the frame element's content box, which holds under every transform.
        """
        levels = [([*around.inner, handle], click_points.points, click_points.frames)]
        if click_points.outer:  # without a point nothing is measured out there
            for level, points, frames in zip(
                around.outer, click_points.outer, click_points.outer_frames, strict=True
            ):
                levels.append(([*level.handles], points, frames))
        asked: list[tuple[Handle, dict[str, Any]]] = []
        for handles, points, frames in levels:
            windows: list[Quad | None] = [None, *frames]
            for one, frame in zip(handles, windows, strict=False):
                asked.append(
                    (one, probe_request(points, frame, settle=click_points.settle, dragging=self.dragging))
                )
        asked.sort(key=lambda each: each[0] is not handle)
        return asked


def _quads(found: ContentQuadsReply | None, zoom: float) -> list[Quad]:
    return [] if found is None else [Quad.from_floats(floats, zoom) for floats in found.quads]
