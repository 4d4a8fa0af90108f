"""Inspection: waits until a node can be acted on, and returns the point at which.

Rule: the first probe is quick. One call of actionability.js on the node takes its middle for the point, where
nothing has to be scrolled, measured or waited for. A full probe is two round trips. The first scrolls the node
into view and asks for its quads and the viewport; the second runs actionability.js on the node and on the frame
elements around it: what the node is like, and what receives events at the candidate points. A probe that fails for
a reason that may pass is repeated, after short growing pauses, until the budget ends; then the last reason is the
error. A node that left its document never comes back: that is StaleRefError at once.

Stability is sampled over two animation frames when something may be moving: an animation of the node, of what it
is in, or of another element's layout runs, the node was just scrolled or is partly outside, or an earlier probe
failed. Otherwise the samples are skipped, which saves two frames (33 ms) on a still page. Movement by script alone
does not count as unstable: the hit test comes after it and right before the event, and an InputObserver, armed in
the same call, sees what receives it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import attrs
import msgspec
import trio

from cdpengine._budget import Budget
from cdpengine._input.actionability.frame_chain import (
    FrameChain,
    decode_boxes,
    decode_levels,
    find_frame_chain,
    points_outside,
    windows_from_outside,
)
from cdpengine._input.actionability.input_observer import InputObserver
from cdpengine._input.actionability.probe import (
    Handle,
    Hindrance,
    ProbeReply,
    Requirements,
    covering_node,
    decode_result,
    handle_on,
    post_library_call,
    probe_request,
    retry_pauses,
    run,
    stale_ref_error,
)
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.geometry import ClickPoints, Point, Quad, choose_points, contains
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import ObjectGroup, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds, Node
from cdpengine._protocol.calls import PendingCall, pending_group, result_or_none
from cdpengine._protocol.domains.dom import BoxModelReply, ContentQuadsReply
from cdpengine._protocol.domains.page import LayoutMetricsReply
from cdpengine.errors import (
    CoveredError,
    DisabledError,
    InvisibleError,
    NotInteractableError,
    StaleRefError,
    UnstableError,
)

T = TypeVar("T")

_NAMING_TIMEOUT = 0.1
"""Seconds in which what covers a node may be asked for, for its ref."""

_PASSING = (CoveredError, DisabledError, InvisibleError, UnstableError)
"""What may be otherwise a moment later."""


class _Never(Exception):
    """A refusal that no waiting changes."""

    def __init__(self, error: NotInteractableError) -> None:
        self.error = error


_MARGIN = 0.2
"""Seconds, at most a fifth of the timeout, in which the named error is raised before the deadline cuts in."""

_DIALOG_CHECK_TIMEOUT = 0.01
"""Seconds that the page's state gets to say whether a dialog is open; it knows without asking Chrome."""

_ALIGNMENTS = ("center", "end", "start")
"""Where to scroll a covered node to, one after another: what is in front may be a fixed header or footer."""

_ALIGN = "function (block) { this.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' }); }"


_Rectangle = tuple[float, float, float, float]


class _Focus(msgspec.Struct):
    focused: bool
    holder: str = ""
    removed: bool = False


@attrs.define(eq=False)
class Inspection:
    """Probes at one node for one action. Made by `inspect`, which releases what it holds in the page."""

    node: Node
    action: str
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    _group: ObjectGroup
    dragging: bool = False
    _handle: Handle | None = None
    _around: FrameChain | None = None
    _probes: int = 0
    _alignments: Iterator[str] = attrs.field(factory=lambda: iter(_ALIGNMENTS))
    _align: str | None = None
    _frees: str = ""
    _corner: Point | None = None
    _cover: tuple[Handle, dict[str, Any]] | None = None

    async def wait_for_point(
        self,
        requirements: Requirements,
        position: tuple[float, float] | None = None,
        observer: InputObserver | None = None,
    ) -> Point:
        """Wait until the node meets the requirements, and return the point to act on.

        `position` is an offset in CSS pixels from the top left corner of the node's border box; else the
        middle of its largest visible part is taken, or another visible point where that one is covered. `observer`
        is armed by the probe that finds the point.

        Raises StaleRefError at once when the node left its document; at the end of the budget InvisibleError,
        DisabledError, UnstableError, CoveredError, or NotInteractableError while a dialog blocks the page.
        """
        if observer is not None:
            observer.choose_mark(self.node)
        return await self._until(lambda: self._point(requirements, position, observer))

    async def wait_for_focus(self, *, editable: bool, at_end: bool) -> None:
        """Wait until the node is enabled, and give it the focus; `at_end`: the caret goes there.

        With `editable`, it has to be visible, and to take typed text; else it needs no box that could be seen, as
        for the Tab key. Raises as `wait_for_point` does; NotInteractableError at once when it can never take text,
        or does not take the focus.
        """
        await self._until(lambda: self._focus(editable=editable, at_end=at_end))

    async def try_focus(self) -> bool:
        """Give the node the focus; False where it does not keep it."""
        return (await self._give_focus(at_end=False)).focused

    async def wait_until_usable(self, *, visible: bool = True, writable: bool = False) -> None:
        """Wait until the node is visible (unless that does not matter) and enabled; `writable`: not read-only.

        Raises as `wait_for_focus` does.
        """
        await self._until(lambda: self._usable(visible=visible, writable=writable, reached=visible))

    async def handle(self) -> Handle | None:
        """Return the node's handle, which lasts as long as this; None where its document is gone."""
        try:
            return await self._resolve()
        except StaleRefError:
            return None

    async def run(self, source: str, request: object, kind: type[T]) -> T:
        """Call a function of the engine's own on the node, in its isolated world; `kind` is what it answers.

        Raises StaleRefError when the node's document is gone, EvaluationFailedError when the function threw.
        """
        return await run(await self._resolve(), source, request, kind)

    @property
    def margin(self) -> float:
        """Seconds before the deadline in which no probe begins: the named error is raised by then."""
        return min(_MARGIN, self.budget.timeout / 5)

    # --- waiting -------------------------------------------------------------------------------------------

    async def _until(self, probe: Callable[[], Awaitable[T]]) -> T:
        started = trio.current_time()
        failure: NotInteractableError | None = None
        hindrance = Hindrance(self.action, self.node.description, self.budget)
        margin = self.margin
        with trio.CancelScope(deadline=self.budget.deadline - margin):
            for pause in retry_pauses():
                self._probes += 1
                try:
                    found = await probe()
                    self.budget.hindrance = None
                    return found
                except _Never as never:
                    raise never.error from None
                except _PASSING as error:
                    failure = error
                    # A program that wakes late, with all deadlines over, says what was in the way all the same.
                    self.budget.hindrance = error
                    self.budget.step(error.reason)
                    error.steps = tuple(self.budget.steps)
                    if self._frees:
                        hindrance.note(f"{error.reason}; {self._frees}")
                await trio.sleep(pause)
        with trio.move_on_after(_DIALOG_CHECK_TIMEOUT, shield=True):
            await self.interruptions.dialog_opened()
            raise self._refusal(
                NotInteractableError,
                "a JavaScript dialog is open and stops the page; accept or dismiss it first",
            )
        if failure is None:
            raise self.budget.exceeded()
        if isinstance(failure, CoveredError) and self._cover is not None:
            with trio.CancelScope(shield=True):
                failure.covering_node = await covering_node(*self._cover, _NAMING_TIMEOUT)
        spent = trio.current_time() - started
        if self._frees:
            failure.reason = f"{failure.reason}; {self._frees}"
        failure.steps = (*self.budget.steps, f"probed {self._probes} times in {spent:.1f} s")
        raise failure

    def _refusal(self, kind: type[NotInteractableError], reason: str) -> NotInteractableError:
        return kind(action=self.action, target=self.node.description, reason=reason)

    # --- one probe ------------------------------------------------------------------------------------------

    async def _point(
        self, required: Requirements, position: tuple[float, float] | None, observer: InputObserver | None
    ) -> Point:
        if self._probes == 1 and position is None and (point := await self._quick_probe(required, observer)):
            return point
        click_points = await self._measure(position)
        reply, around, requests = await self._probe(click_points, required, observer)
        self._frees = reply.frees
        if reply.never:
            raise _Never(self._refusal(InvisibleError, reply.never))
        if required.visible and reply.invisible:
            raise self._refusal(InvisibleError, reply.invisible)
        if required.enabled and reply.disabled:
            raise self._refusal(DisabledError, reply.disabled)
        if required.stable and (reply.moved or any(outer.moved for _, outer in around)):
            raise self._refusal(UnstableError, "it keeps moving")
        if not click_points.points and self._corner is not None and not required.area:
            return self._corner
        if not click_points.points:
            raise self._refusal(InvisibleError, reply.invisible or click_points.outside)
        if not required.receives_events:
            return click_points.points[0]
        replies = [reply, *(outer for _, outer in around)]
        for index, point in enumerate(click_points.points):
            if all(one.hits[index] for one in replies):
                return point
        self._align = next(self._alignments, None)
        assert self._handle is not None
        seen = [(self._handle, reply), *around]
        number, (handle, covering) = next(
            ((number, one) for number, one in reversed(list(enumerate(seen))) if not all(one[1].hits)),
            (0, seen[0]),
        )
        self._frees = covering.frees
        first = next((i for i, hit in enumerate(covering.hits) if not hit), 0)
        request = requests[number]
        self._cover = (handle, {**request, "points": [request["points"][first]], "observer": None})
        hint = ", and it has pointer-events: none" if reply.untouchable else ""
        raise CoveredError(
            action=self.action,
            target=self.node.description,
            reason=f"{covering.covered} receives the events there{hint}",
            covered_by=covering.covered,
        )

    async def _quick_probe(self, required: Requirements, observer: InputObserver | None) -> Point | None:
        """Return the point of a node where all is well at first sight; None where it has to be probed in full.

        Only in the page's own document: what is around a frame has to be measured.
        """
        node, outermost = self.node, self.node.session.target_type != "iframe"
        if not (outermost and node.frame_id == node.session.target_id and required.receives_events):
            return None
        handle = await self._resolve()
        request = probe_request((), quick=True, dragging=self.dragging)
        if observer is not None:
            request["observer"] = observer.arming(inside=False, checked=True)
            observer.note_armed([handle])
        (seen,) = await self._answers([(handle, request)], observer)
        poor = seen.invisible or (required.enabled and seen.disabled) or not all(seen.hits)
        return None if poor else seen.point

    async def _focus(self, *, editable: bool, at_end: bool) -> None:
        reply = await self._usable(visible=editable, editable=editable)
        focus = await self._give_focus(at_end=at_end)
        if not focus.focused and reply.invisible:
            raise self._refusal(
                InvisibleError, reply.invisible
            )  # which is why; what is displayed later takes it
        if not focus.focused:
            if focus.removed:
                raise self._refusal(NotInteractableError, "the page removed it when it got the focus")
            holder = f"; the focus is on {focus.holder}" if focus.holder else ""
            raise self._refusal(NotInteractableError, f"it does not take the keyboard focus{holder}")

    async def _give_focus(self, *, at_end: bool) -> _Focus:
        return await self.run(
            script_with("_input/actionability/focus", "_page/scripts/secret_field"), {"atEnd": at_end}, _Focus
        )

    async def _usable(
        self, *, visible: bool, editable: bool = False, writable: bool = False, reached: bool = True
    ) -> ProbeReply:
        reply = await self._probe_alone()
        self._frees = reply.frees
        if visible and reply.never:
            raise _Never(self._refusal(InvisibleError, reply.never))
        if visible and reply.invisible:
            raise self._refusal(InvisibleError, reply.invisible)
        if reply.disabled:
            raise self._refusal(DisabledError, reply.disabled)
        if reply.behind and reached:
            raise self._refusal(DisabledError, reply.behind)
        if editable and reply.uneditable:
            raise self._refusal(
                NotInteractableError, f"{reply.uneditable}. For keys without a field, use press()"
            )
        if (editable or writable) and reply.readonly:
            raise self._refusal(DisabledError, reply.readonly)
        return reply

    async def _probe_alone(self) -> ProbeReply:
        handle = await self._resolve()
        with pending_group() as post:
            call = post(post_library_call(handle, "probe", probe_request(())))
            return self._check_connected(await decode_result(call, self.node, ProbeReply))

    async def _measure(self, position: tuple[float, float] | None) -> ClickPoints:
        """Scroll the node into view and measure it, in one round trip once its frames are known."""
        session, node_id = self.node.session, self.node.backend_node_id
        if self._around is None:
            self._around = await find_frame_chain(self.node, self.worlds, self._group)
        if self._align is not None and self._handle is not None:
            align, self._align = self._align, None
            await run(self._handle, _ALIGN, align, msgspec.Raw)
        # With a position it is that pixel of the node that has to come into view.
        rect = {"rect": {"x": position[0], "y": position[1], "width": 1, "height": 1}} if position else {}
        with pending_group() as post:
            before = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            scrolling = post(session.post("DOM.scrollIntoViewIfNeeded", backendNodeId=node_id, **rect))
            after = post(session.post("DOM.getContentQuads", backendNodeId=node_id))
            box = post(session.post("DOM.getBoxModel", backendNodeId=node_id))
            metrics = post(session.post("Page.getLayoutMetrics"))
            inner, outer = self._around.post_inner(post), self._around.post_outer(post)
            await self._resolve()
            quads_before = await _quads(before)
            await result_or_none(scrolling, msgspec.Raw)
            quads = await _quads(after)
            found = await result_or_none(box, BoxModelReply)
            model = None if found is None else found.model
            viewports = await metrics.decoded(LayoutMetricsReply)
            frames, levels = await decode_boxes(inner), await decode_levels(outer)
        # A frame's own visual viewport is nothing that a person sees; the page's is smaller than its layout where
        # it is zoomed by pinching, and quads and input count from its corner.
        layout = viewports.css_layout_viewport
        size = layout if self._around.outer else viewports.css_visual_viewport
        outside = None if levels is None else windows_from_outside(levels, layout)
        if frames is None or levels is None or outside is None:
            return ClickPoints((), (), settle=True, outside="a frame around it has no box")
        if not quads and model is not None:
            quads = [Quad.from_floats(model.border)]
        if not quads:
            document = Quad.from_rect(0, 0, layout.client_width, layout.client_height)
            quads = await self._area_of_an_image([document, *frames][-1])
        viewport = Quad.from_rect(0, 0, size.client_width, size.client_height)
        windows = [viewport, *frames, *outside]
        corner = quads[0].top_left if quads else None
        in_view = corner is not None and all(contains(window.polygon, corner) for window in windows)
        self._corner = corner if in_view else None
        click_points = choose_points(quads, windows, model, position)
        moved = quads != quads_before or self._probes > 1
        return attrs.evolve(
            click_points,
            frames=frames,
            settle=click_points.settle or moved,
            outer=points_outside(click_points.points, levels, layout),
            outer_frames=[level.frames for level in levels],
        )

    async def _area_of_an_image(self, document: Quad) -> list[Quad]:
        """Return the quad of an <area>, which has none of its own; `document` is where its document is shown."""
        with pending_group() as post:
            call = post(post_library_call(await self._resolve(), "area", None))
            shape: type[_Rectangle] = _Rectangle | None  # type: ignore[assignment]
            found: _Rectangle | None = await decode_result(call, self.node, shape)
        if found is None:
            return []
        x, y, width, height = found
        corners = Quad.from_rect(x, y, width, height).polygon
        return [Quad(*(document.at(*corner) for corner in corners))]

    async def _probe(
        self, click_points: ClickPoints, required: Requirements, observer: InputObserver | None
    ) -> tuple[ProbeReply, list[tuple[Handle, ProbeReply]], list[dict[str, Any]]]:
        """Run actionability.js on the node and on the frame elements around it, in one round trip.

        A point is taken to the coordinates of each document: a session's outermost has the session's own; in a
        frame they are fractions of the frame element's content box, which holds under every affine transform.
        Returns the node's reply, those of the frames around it, and the requests of all, the node's first.
        """
        handle, around = await self._resolve(), self._around
        assert around is not None
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
        if observer is not None:
            for one, request in asked:
                if one.node.session is self.node.session:
                    request["observer"] = observer.arming(
                        inside=one is not handle, checked=required.receives_events
                    )
        asked.sort(key=lambda each: each[0] is not handle)
        if observer is not None:
            observer.note_armed([one for one, _ in asked if one.node.session is self.node.session])
        replies = await self._answers(asked, observer)
        outer = [(one, reply) for (one, _), reply in zip(asked[1:], replies[1:], strict=True)]
        return replies[0], outer, [request for _, request in asked]

    async def _answers(
        self, asked: Sequence[tuple[Handle, dict[str, Any]]], observer: InputObserver | None
    ) -> list[ProbeReply]:
        with pending_group() as post:
            if observer is not None:
                # Before the probe: once that is answered, the page has this question too. Behind it, the question
                # could reach the page after the input, and get lost with the document that the input replaces.
                observer.post_completion()
            calls = [post(post_library_call(one, "probe", request)) for one, request in asked]
            return [
                self._check_connected(await decode_result(call, one.node, ProbeReply))
                for call, (one, _) in zip(calls, asked, strict=True)
            ]

    def _check_connected(self, reply: ProbeReply) -> ProbeReply:
        if not reply.connected:
            raise stale_ref_error(self.node, reply.element, "it is no longer in the document")
        return reply

    async def _resolve(self) -> Handle:
        if self._handle is None:
            self._handle = await handle_on(self.node, self.worlds, self._group)
        return self._handle


@asynccontextmanager
async def inspect(
    node: Node,
    action: str,
    *,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    dragging: bool = False,
) -> AsyncIterator[Inspection]:
    """Give an Inspection of `node`; its remote objects are released when the block ends, however it ends.

    `dragging`: the node is where something is being dragged to, which then covers nothing.
    """
    # Released in order, before the input that follows. Chrome answers that in its own time, also when a dialog
    # holds the page.
    with object_group("action") as group:
        yield Inspection(node, action, worlds, budget, interruptions, group, dragging)


async def _quads(pending: PendingCall) -> list[Quad]:
    found = await result_or_none(pending, ContentQuadsReply)
    return [] if found is None else [Quad.from_floats(floats) for floats in found.quads]
