"""Actionability: waits until a node can be acted on, and says where.

Rule: first a glance. One call of actionability.js on the node takes its middle for the point, if it is plain in
the page that nothing has to be scrolled, measured or waited for. Where it is not, a look is two round trips. The
first scrolls the node into view and asks for its quads and the viewport; the second runs actionability.js on the
node and on the frame elements around it, which answers what the node is like and who receives events at the
candidate points. A look that fails for a reason that may pass is repeated, after short growing pauses, until the
budget ends; then the last reason is the error. A node that left its document never comes back: that is
StaleRefError at once.

Stability is sampled over two animation frames when something may be moving: an animation of the node, of what it
is in, or of another element's layout runs, the node was just scrolled or is partly outside, or an earlier look
failed. Otherwise the samples are skipped, which saves two frames (33 ms) on a still page. Movement by script
alone does not count as unstable: the hit test comes after it and right before the event, and a witness (see
witness.py), armed in the same call, sees who receives it.
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
    content_boxes,
    find_surroundings,
    measured,
    points_outside,
    windows_from_outside,
)
from cdpengine._input.actionability.input_observer import InputObserver
from cdpengine._input.actionability.node_handle import (
    Handle,
    handle_on,
    post_library_call,
    returned,
    run,
    stale,
)
from cdpengine._input.actionability.probe import Look, Requirements, covering_node, look_request
from cdpengine._input.actionability.retries import Hindrance, pauses_between_looks
from cdpengine._input.devices.delivery import Interruptions
from cdpengine._input.geometry import Placed, Point, Quad, contains, place
from cdpengine._page.node import Node
from cdpengine._page.scripts.page_functions import ObjectGroup, object_group
from cdpengine._page.scripts.worlds import IsolatedWorlds
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
from cdpengine.js import script_with

T = TypeVar("T")

_PASSING = (CoveredError, DisabledError, InvisibleError, UnstableError)
"""What may be otherwise a moment later."""


class _Never(Exception):
    """A refusal that no waiting changes."""

    def __init__(self, error: NotInteractableError) -> None:
        self.error = error


_MARGIN = 0.2
"""Seconds, at most a fifth of the timeout, in which the named error is raised before the deadline cuts in."""

_DIALOG_LOOK = 0.01
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
    """Looks at one node for one action. Made by `inspect`, which releases what it holds in the page."""

    node: Node
    action: str
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    _group: ObjectGroup
    dragging: bool = (
        False  # whether the node is where something is being dragged to, which then covers nothing
    )
    _handle: Handle | None = None
    _around: FrameChain | None = None
    _looks: int = 0
    _alignments: Iterator[str] = attrs.field(factory=lambda: iter(_ALIGNMENTS))
    _align: str | None = None
    _frees: str = ""
    _corner: Point | None = None
    _cover: tuple[Handle, dict[str, Any]] | None = None

    async def wait_for_point(
        self,
        requirements: Requirements,
        position: tuple[float, float] | None = None,
        witness: InputObserver | None = None,
    ) -> Point:
        """Wait until the node meets the requirements, and return the point to act on.

        `position` is an offset in CSS pixels from the top left corner of the node's border box; else the
        middle of its largest visible part is taken, or another visible point where that one is covered. `witness`
        is armed by the look that finds the point.

        Raises StaleRefError at once when the node left its document; at the end of the budget InvisibleError,
        DisabledError, UnstableError, CoveredError, or NotInteractableError while a dialog blocks the page.
        """
        if witness is not None:
            witness.aim(self.node)
        return await self._until(lambda: self._point(requirements, position, witness))

    async def wait_for_focus(self, *, editable: bool, at_end: bool) -> None:
        """Wait until the node is enabled, and give it the focus; `at_end`: the caret goes there.

        With `editable`, it has to be visible, and to take typed text; else it needs no box that could be seen, as
        for the Tab key. Raises as `wait_for_point` does; NotInteractableError at once when it can never take text,
        or does not take the focus.
        """
        await self._until(lambda: self._focus(editable=editable, at_end=at_end))

    async def try_focus(self) -> bool:
        """Give the node the focus; False where it does not keep it."""
        return (await self._focused(at_end=False)).focused

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
        """Seconds before the deadline in which no look begins: the named error is raised by then."""
        return min(_MARGIN, self.budget.timeout / 5)

    # --- waiting -------------------------------------------------------------------------------------------

    async def _until(self, look: Callable[[], Awaitable[T]]) -> T:
        started = trio.current_time()
        failure: NotInteractableError | None = None
        hindrance = Hindrance(self.action, self.node.description, self.budget)
        margin = self.margin
        with trio.CancelScope(deadline=self.budget.deadline - margin):
            for pause in pauses_between_looks():
                self._looks += 1
                try:
                    return await look()
                except _Never as never:
                    raise never.error from None
                except _PASSING as error:
                    failure = error
                    self.budget.step(error.reason)
                    if self._frees:
                        hindrance.note(f"{error.reason}; {self._frees}")
                await trio.sleep(pause)
        with trio.move_on_after(_DIALOG_LOOK, shield=True):
            await self.interruptions.dialog_opened()
            raise self._refusal(
                NotInteractableError,
                "a JavaScript dialog is open and stops the page; accept or dismiss it first",
            )
        if failure is None:
            raise self.budget.exceeded()
        if isinstance(failure, CoveredError) and self._cover is not None:
            failure.covering_node = await covering_node(*self._cover, margin / 2)
        spent = trio.current_time() - started
        if self._frees:
            failure.reason = f"{failure.reason}; {self._frees}"
        failure.steps = (*self.budget.steps, f"looked {self._looks} times in {spent:.1f} s")
        raise failure

    def _refusal(self, kind: type[NotInteractableError], reason: str) -> NotInteractableError:
        return kind(action=self.action, target=self.node.description, reason=reason)

    # --- one look ------------------------------------------------------------------------------------------

    async def _point(
        self, required: Requirements, position: tuple[float, float] | None, witness: InputObserver | None
    ) -> Point:
        if self._looks == 1 and position is None and (point := await self._glance(required, witness)):
            return point
        placed = await self._place(position)
        look, around, requests = await self._look(placed, required, witness)
        self._frees = look.frees
        if look.never:
            raise _Never(self._refusal(InvisibleError, look.never))
        if required.visible and look.invisible:
            raise self._refusal(InvisibleError, look.invisible)
        if required.enabled and look.disabled:
            raise self._refusal(DisabledError, look.disabled)
        if required.stable and (look.moved or any(outer.moved for _, outer in around)):
            raise self._refusal(UnstableError, "it keeps moving")
        if not placed.points and self._corner is not None and not required.area:
            return self._corner
        if not placed.points:
            raise self._refusal(InvisibleError, look.invisible or placed.outside)
        if not required.receives_events:
            return placed.points[0]
        looks = [look, *(outer for _, outer in around)]
        for index, point in enumerate(placed.points):
            if all(one.hits[index] for one in looks):
                return point
        self._align = next(self._alignments, None)
        assert self._handle is not None
        seen = [(self._handle, look), *around]
        number, (handle, covering) = next(
            ((number, one) for number, one in reversed(list(enumerate(seen))) if not all(one[1].hits)),
            (0, seen[0]),
        )
        self._frees = covering.frees
        first = next((i for i, hit in enumerate(covering.hits) if not hit), 0)
        request = requests[number]
        self._cover = (handle, {**request, "points": [request["points"][first]], "witness": None})
        hint = ", and it has pointer-events: none" if look.untouchable else ""
        raise CoveredError(
            action=self.action,
            target=self.node.description,
            reason=f"{covering.covered} receives the events there{hint}",
            covered_by=covering.covered,
        )

    async def _glance(self, required: Requirements, witness: InputObserver | None) -> Point | None:
        """Return the point of a node where all is well at first sight; None where it has to be looked at closely.

        Only in the page's own document: what is around a frame has to be measured.
        """
        node, outermost = self.node, self.node.session.target_type != "iframe"
        if not (outermost and node.frame_id == node.session.target_id and required.receives_events):
            return None
        handle = await self._resolve()
        request = look_request((), glance=True, dragging=self.dragging)
        if witness is not None:
            request["witness"] = witness.orders(inside=False, checked=True)
            witness.armed([handle])
        (seen,) = await self._answers([(handle, request)], witness)
        poor = seen.invisible or (required.enabled and seen.disabled) or not all(seen.hits)
        return None if poor else seen.point

    async def _focus(self, *, editable: bool, at_end: bool) -> None:
        look = await self._usable(visible=editable, editable=editable)
        focus = await self._focused(at_end=at_end)
        if not focus.focused and look.invisible:
            raise self._refusal(
                InvisibleError, look.invisible
            )  # which is why; what is displayed later takes it
        if not focus.focused:
            if focus.removed:
                raise self._refusal(NotInteractableError, "the page removed it when it got the focus")
            holder = f"; the focus is on {focus.holder}" if focus.holder else ""
            raise self._refusal(NotInteractableError, f"it does not take the keyboard focus{holder}")

    async def _focused(self, *, at_end: bool) -> _Focus:
        return await self.run(script_with("focus", "secret_field"), {"atEnd": at_end}, _Focus)

    async def _usable(
        self, *, visible: bool, editable: bool = False, writable: bool = False, reached: bool = True
    ) -> Look:
        look = await self._look_alone()
        self._frees = look.frees
        if visible and look.never:
            raise _Never(self._refusal(InvisibleError, look.never))
        if visible and look.invisible:
            raise self._refusal(InvisibleError, look.invisible)
        if look.disabled:
            raise self._refusal(DisabledError, look.disabled)
        if look.behind and reached:
            raise self._refusal(DisabledError, look.behind)
        if editable and look.uneditable:
            raise self._refusal(
                NotInteractableError, f"{look.uneditable}. For keys without a field, use press()"
            )
        if (editable or writable) and look.readonly:
            raise self._refusal(DisabledError, look.readonly)
        return look

    async def _look_alone(self) -> Look:
        handle = await self._resolve()
        with pending_group() as post:
            call = post(post_library_call(handle, "look", look_request(())))
            return self._connected(await returned(call, self.node, Look))

    async def _place(self, position: tuple[float, float] | None) -> Placed:
        """Scroll the node into view and measure it, in one round trip once its frames are known."""
        session, node_id = self.node.session, self.node.backend_node_id
        if self._around is None:
            self._around = await find_surroundings(self.node, self.worlds, self._group)
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
            frames, tiers = await content_boxes(inner), await measured(outer)
        # A frame's own visual viewport is nothing that a person sees; the page's is smaller than its layout where
        # it is zoomed by pinching, and quads and input count from its corner.
        layout = viewports.css_layout_viewport
        size = layout if self._around.outer else viewports.css_visual_viewport
        outside = None if tiers is None else windows_from_outside(tiers, layout)
        if frames is None or tiers is None or outside is None:
            return Placed((), (), settle=True, outside="a frame around it has no box")
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
        placed = place(quads, windows, model, position)
        moved = quads != quads_before or self._looks > 1
        return attrs.evolve(
            placed,
            frames=frames,
            settle=placed.settle or moved,
            outer=points_outside(placed.points, tiers, layout),
            outer_frames=[tier.frames for tier in tiers],
        )

    async def _area_of_an_image(self, document: Quad) -> list[Quad]:
        """Return the quad of an <area>, which has none of its own; `document` is where its document is shown."""
        with pending_group() as post:
            call = post(post_library_call(await self._resolve(), "area", None))
            shape: type[_Rectangle] = _Rectangle | None  # type: ignore[assignment]
            found: _Rectangle | None = await returned(call, self.node, shape)
        if found is None:
            return []
        x, y, width, height = found
        corners = Quad.from_rect(x, y, width, height).polygon
        return [Quad(*(document.at(*corner) for corner in corners))]

    async def _look(
        self, placed: Placed, required: Requirements, witness: InputObserver | None
    ) -> tuple[Look, list[tuple[Handle, Look]], list[dict[str, Any]]]:
        """Run actionability.js on the node and on the frame elements around it, in one round trip.

        A point is taken to the coordinates of each document: a session's outermost has the session's own; in a
        frame they are fractions of the frame element's content box, which holds under every affine transform.
        Returns the node's look, those of the frames around it, and the requests of all, the node's first.
        """
        handle, around = await self._resolve(), self._around
        assert around is not None
        tiers = [([*around.inner, handle], placed.points, placed.frames)]
        if placed.outer:  # without a point nothing is measured out there
            for tier, points, frames in zip(around.outer, placed.outer, placed.outer_frames, strict=True):
                tiers.append(([*tier.handles], points, frames))
        asked: list[tuple[Handle, dict[str, Any]]] = []
        for handles, points, frames in tiers:
            windows: list[Quad | None] = [None, *frames]
            for one, frame in zip(handles, windows, strict=False):
                asked.append((one, look_request(points, frame, settle=placed.settle, dragging=self.dragging)))
        if witness is not None:
            for one, request in asked:
                if one.node.session is self.node.session:
                    request["witness"] = witness.orders(
                        inside=one is not handle, checked=required.receives_events
                    )
        asked.sort(key=lambda each: each[0] is not handle)
        if witness is not None:
            witness.armed([one for one, _ in asked if one.node.session is self.node.session])
        looks = await self._answers(asked, witness)
        outer = [(one, look) for (one, _), look in zip(asked[1:], looks[1:], strict=True)]
        return looks[0], outer, [request for _, request in asked]

    async def _answers(
        self, asked: Sequence[tuple[Handle, dict[str, Any]]], witness: InputObserver | None
    ) -> list[Look]:
        with pending_group() as post:
            if witness is not None:
                # Before the look: once that is answered, the page has this question too. Behind it, the question
                # could reach the page after the input, and get lost with the document that the input replaces.
                witness.post_completion()
            calls = [post(post_library_call(one, "look", request)) for one, request in asked]
            return [
                self._connected(await returned(call, one.node, Look))
                for call, (one, _) in zip(calls, asked, strict=True)
            ]

    def _connected(self, look: Look) -> Look:
        if not look.connected:
            raise stale(self.node, look.element, "it is no longer in the document")
        return look

    async def _resolve(self) -> Handle:
        if self._handle is None:
            self._handle = await handle_on(self.node, self.worlds, self._group)
        return self._handle


@asynccontextmanager
async def inspect(
    node: Node, action: str, *, worlds: IsolatedWorlds, budget: Budget, interruptions: Interruptions
) -> AsyncIterator[Inspection]:
    """Give an Inspection of `node`; its remote objects are released when the block ends, however it ends."""
    # Released in order, before the input that follows. Chrome answers that in its own time, also when a dialog
    # holds the page.
    with object_group("action") as group:
        yield Inspection(node, action, worlds, budget, interruptions, group)


async def _quads(pending: PendingCall) -> list[Quad]:
    found = await result_or_none(pending, ContentQuadsReply)
    return [] if found is None else [Quad.from_floats(floats) for floats in found.quads]
