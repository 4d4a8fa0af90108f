"""Drag: press on one node, move, and release on another node or at a point.

Rule: the press, the moves and the release are real mouse events. If the page uses HTML5 drag and drop (draggable
nodes, links, images), Chrome hands over the drag when it starts. The engine then sends drag events with its
dataTransfer. Otherwise it continues with moves. In all cases the button is released and drag interception ends.
The drop is sent after the page has handled the last move and its destination has come to rest. An element that
covers the destination only after the press is considered part of the drag.

For a drag between processes, the press is sent to the source's process, and all later events are sent to the
destination's process. Chrome distributes the events of a mouse in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, suppress
from typing import Any

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._checks import check_count
from cdpengine._input.action import (
    TO_CLICK,
    TO_HOVER,
    ActionContext,
    ActionOutcome,
    check_position,
    deliver,
    verify,
)
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.actionability.library_calls import (
    Handle,
    decode_result,
    post_library_call,
    post_run,
)
from cdpengine._input.actionability.page_library import InputObserver, Record, wait_until_reported
from cdpengine._input.actionability.requirements import NO_REQUIREMENTS
from cdpengine._input.blocked_calls import unless_blocked
from cdpengine._input.devices.mouse import MouseDevice, check_delay, release, wait_for_delivery
from cdpengine._input.geometry import Point
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.input import DragIntercepted
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    NotDeliveredError,
    SessionGoneError,
    StaleRefError,
)

_PRESSED = ("pointerdown", "mousedown")
_DROPPED = ("dragenter", "dragover", "drop")
_RELEASED = ("pointermove", "mousemove", "pointerup", "mouseup")

_CLEAN_UP_TIMEOUT = 0.5
"""Maximum time for a cancelled drag to find out whether Chrome started an HTML5 drag, in seconds."""

_REST = 0.1
_LONGEST_REST = 0.6
"""Time that the pointer rests over the destination, in seconds, with a move every second frame; the second value
is the limit while the destination keeps moving. Pages handle one move per 50 ms, ignore moves during their
animations, and reorder again at the next. Chrome itself repeats `dragover` every 50 ms while a drag rests."""

_UNKNOWN = "?"
"""Placeholder for the position of a destination that is not a node or is gone."""

_NUDGE = 8.0
"""Length of the first move, in CSS pixels. It exceeds Chrome's drag threshold, so that a possible drag starts."""


@attrs.define(eq=False)
class _Interception:
    """Interception of Chrome's HTML5 drags. `data` is the content of a drag that has started.

    `page` is the page's own session: only it receives drag events, including those of out-of-process frames.
    `session` is the session to which the drag's events are sent.
    """

    page: Session
    session: Session
    data: dict[str, Any] | None = None
    entered: bool = False

    def note_start(self, event: Event) -> None:
        self.data = event.decode(DragIntercepted).data

    def post(self, kind: str, at: Point, modifiers: int) -> PendingCall:
        """Post an event of the HTML5 drag under way."""
        return self.session.post(
            "Input.dispatchDragEvent", type=kind, x=at.x, y=at.y, data=self.data, modifiers=modifiers
        )

    def post_moves(self, at: Point, modifiers: int) -> list[PendingCall]:
        """Post a move of the HTML5 drag, preceded by `dragEnter` for the first move."""
        enter = [] if self.entered else [self.post("dragEnter", at, modifiers)]
        self.entered = True
        return [*enter, self.post("dragOver", at, modifiers)]


@attrs.frozen
class Pace:
    """The pace of a drag: the number of moves, and the seconds between the press and the first move."""

    steps: int = 5
    hold: float = 0

    def check(self) -> None:
        """Raise InvalidArgumentError for invalid values."""
        check_count("steps", self.steps, least=1, unit="moves")
        check_delay(self.hold, "hold")


async def drag(
    source: Node,
    destination: Node | Point,
    *,
    context: ActionContext,
    source_position: tuple[float, float] | None = None,
    position: tuple[float, float] | None = None,
    pace: Pace,
    modifiers: Iterable[str] = (),
    force: bool = False,
) -> ActionOutcome:
    """Drag `source` to a node, or to a point in its session's viewport. See `Page.drag`."""
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse = context.mouse
    mouse.check_click(button="left", count=1, modifiers=modifiers)
    pace.check()
    check_position(source_position)
    check_position(position)
    end = destination.session if isinstance(destination, Node) else source.session
    devices = mouse.on(source.session), mouse.on(end)
    interception = _Interception(mouse.session, end)
    work = _Drag(source, *devices, interception, context, modifiers, force, pace)
    return await work.run(destination, source_position, position)


@attrs.define(eq=False)
class _Drag:
    source: Node
    mouse: MouseDevice
    end_mouse: MouseDevice
    interception: _Interception
    context: ActionContext
    modifiers: tuple[str, ...]
    force: bool
    pace: Pace
    start: Point | None = attrs.field(default=None, init=False)

    @property
    def across(self) -> bool:
        """Whether the drag ends in a different process from the one in which it started."""
        return self.interception.session is not self.source.session

    async def run(
        self,
        destination: Node | Point,
        source_position: tuple[float, float] | None,
        position: tuple[float, float] | None,
    ) -> ActionOutcome:
        interception = self.interception
        interception.page.on_event("Input.dragIntercepted", interception.note_start)
        try:
            clear = isinstance(destination, Node) and await self._is_clear(destination)
            start, pressed = await self._press(source_position)
            if self.mouse.buttons == 0:  # the press opened a dialog, which ended the drag
                return self._outcome(start, False, self.source.description, pressed.seen)
            if isinstance(destination, Node):
                return await self._to_node(destination, position, pressed, clear)
            return await self._to_point(destination, pressed)
        finally:
            await self._clean_up()

    async def _is_clear(self, destination: Node) -> bool:
        """Return whether nothing covers the destination before the press, according to a single probe."""
        async with self._inspect(destination, "drop on") as inspection:
            return await inspection.is_clear(TO_HOVER)

    async def _press(self, position: tuple[float, float] | None) -> tuple[Point, Record]:
        """Press on the source and move a little, which starts an HTML5 drag."""
        observer = InputObserver(_PRESSED, "mousedown", enough="pointerdown", marked=True)
        required = NO_REQUIREMENTS if self.force else TO_CLICK

        async def press(at: Point) -> bool:
            self.start = at
            # Not awaited: commands run in order, and the press detects an unresponsive page.
            self.interception.page.post("Input.setInterceptDrags", enabled=True)
            return await self.mouse.press_at(at, self.modifiers, observer.mark)

        async with self._inspect(self.source, "drag") as inspection:
            at, record, dialog = await deliver(
                inspection,
                press,
                observer,
                required,
                navigation=self.context.navigation,
                position=position,
                undo=lambda: self.mouse.up(mark=observer.mark),
            )
        verify(self.source, "drag", record, forced=self.force, dialog=dialog)
        if dialog:
            await self.mouse.up()
        else:
            if self.pace.hold:
                await trio.sleep(self.pace.hold)
            for share in (0.5, 1.0):
                nudged = Point(at.x + share * _NUDGE, at.y + share * _NUDGE)
                await self.mouse.hover(nudged.x, nudged.y, modifiers=self.modifiers)
            await wait_until_reported(self.source.session)
        return at, record or Record()

    async def _to_node(
        self,
        node: Node,
        position: tuple[float, float] | None,
        pressed: Record,
        clear: bool,
    ) -> ActionOutcome:
        observer = self._make_observer()
        required = NO_REQUIREMENTS if self.force else attrs.evolve(TO_HOVER, receives_events=not clear)
        async with (
            self._inspect(self.source, "drag") as dragged,
            self._inspect(node, "drop on", dragging=True) as inspection,
        ):
            source = await dragged.handle()
            if source is not None:
                post_library_call(source, "drag", True)
            try:
                try:
                    at = await inspection.wait_for_point(required, position, observer)
                except StaleRefError as gone:
                    raise NotDeliveredError(
                        action="drag",
                        target=self.source.description,
                        reason=f"it received the press, and then {node.description} was gone: {gone.reason}",
                        received_by=self.source.description,
                        events=tuple(pressed.seen),
                    ) from gone

                place = await inspection.handle()

                async def finish() -> bool:
                    if self.across:
                        self._enter(at)
                    await self._move(at, place)
                    return await self._release(at)

                record, dialog = await observer.watch_over(
                    finish, self.context.interruptions, self.context.navigation
                )
            finally:
                observer.end()
                if source is not None:
                    with suppress(SessionGoneError, ConnectionLostError):
                        post_library_call(source, "drag", False)
        return self._outcome_of_release(at, node.description, pressed, record or Record(), observer, dialog)

    async def _to_point(self, at: Point, pressed: Record) -> ActionOutcome:
        observer = self._make_observer()

        async def finish() -> bool:
            await self._move(at, source)
            return await self._release(at)

        async with self._inspect(self.source, "drag") as inspection:
            source = await inspection.handle()
            if source is None:
                dialog = await finish()
                return self._outcome(at, None, "", pressed.seen, dialog=dialog)
            try:
                await observer.arm_at(source, at)
                record, dialog = await observer.watch_over(
                    finish, self.context.interruptions, self.context.navigation
                )
            finally:
                observer.end()
        return self._outcome_of_release(at, "", pressed, record or Record(), observer, dialog)

    def _make_observer(self) -> InputObserver:
        if self.interception.data is None:
            return InputObserver(_RELEASED, "mouseup", enough="pointerup", guard=False, on_disabled=True)
        return InputObserver(_DROPPED, "drop", guard=False, on_disabled=True)

    def _outcome_of_release(
        self, at: Point, target: str, pressed: Record, record: Record, observer: InputObserver, dialog: bool
    ) -> ActionOutcome:
        """Return the outcome of the release or drop. `target` is the destination node's description, or "".

        The element at the point may change during the drag: a list makes room, the dragged node moves along, or
        a page shows a drop overlay. So the release counts on any element, if the destination received the events
        before it. If the page captured the pointer, the source receives the release. `delivered` is None if the
        point is in the document of another frame than the source.
        """
        astray = dict(record.astray)
        by_page = observer.final == "mouseup"
        if record.complete:
            receiver = target
        else:
            receiver = (
                astray.get(observer.final)
                or astray.get(observer.enough)
                or (self.source.description if by_page else "")
            )
        landed: bool | None = record.complete or by_page
        if observer.final in astray:
            landed = landed or record.begun or not target
        elif not landed and not target and not astray:
            landed = None
        if landed is False and target and not (self.force or dialog):
            raise NotDeliveredError(
                action="drop on",
                target=target,
                reason=_refusal(record, astray),
                received_by=record.other,
                events=(*pressed.seen, *record.seen),
                elsewhere=tuple(record.astray),
            )
        return self._outcome(
            at, landed, receiver, [*pressed.seen, *record.seen], elsewhere=record.astray, dialog=dialog
        )

    def _enter(self, at: Point) -> None:
        """Continue in the destination's process, with its mouse, from a position near the point."""
        self.end_mouse.take_over(self.mouse, Point(max(at.x - _NUDGE, 0.0), max(at.y - _NUDGE, 0.0)))
        self.mouse = self.end_mouse

    async def _move(self, to: Point, place: Handle | None) -> None:
        """Move to the point and wait until it is still.

        `place` is a node of the document there, or None if unknown.
        """
        start = self.mouse.position
        for step in range(1, self.pace.steps + 1):
            share = step / self.pace.steps
            at = Point(start.x + share * (to.x - start.x), start.y + share * (to.y - start.y))
            await self._move_once(at)
        started = trio.current_time()
        rested, current, before = 0.0, None, ""
        # Drop only after a move during which nothing changed, so that an element that appeared there can accept
        # the drag.
        while rested < (_REST if current == before else _LONGEST_REST):
            before = current or ""
            await self._move_once(to)
            current = await self._two_frames(place)
            rested = trio.current_time() - started

    async def _move_once(self, at: Point) -> None:
        if self.interception.data is None:
            await self.mouse.hover(at.x, at.y, modifiers=self.modifiers, wait_for_frame=True)
            return
        self.mouse.position = at
        for call in self.interception.post_moves(at, self.mouse.held.mask(self.modifiers)):
            await call.raw()

    async def _two_frames(self, place: Handle | None) -> str | None:
        """Wait until the page has drawn twice. Return the node's position, or None if it is moving."""
        if place is None:
            return _UNKNOWN

        async def ask() -> str | None:
            with suppress(StaleRefError, SessionGoneError):
                shape: type[str] = str | None  # type: ignore[assignment]
                call = post_run(place, script("_input/still_position"), None)
                return await decode_result(call, place.node, shape)
            return _UNKNOWN

        return await unless_blocked(ask, self.context.interruptions, self.context.navigation)

    async def _release(self, at: Point) -> bool:
        interception = self.interception
        if interception.data is None:
            return await self.mouse.up(modifiers=self.modifiers)
        await trio.lowlevel.checkpoint_if_cancelled()
        calls = [interception.post("drop", at, self.mouse.held.mask(self.modifiers)), *self._post_end()]
        interception.data = None
        self.mouse.note_drop()
        return await wait_for_delivery(calls, self.context.interruptions)

    def _post_end(self) -> list[PendingCall]:
        """End the drag for its source, if the source is in another process than the drop.

        Chrome ends the drag only in the drop's process. Without this, the source would get no `dragend` and no
        later press.
        """
        if not self.across or self.start is None:
            return []
        source = attrs.evolve(self.interception, session=self.source.session)
        return [source.post("dragCancel", self.start, 0)]

    async def _clean_up(self) -> None:
        """End a drag that is still under way. Shielded, with a separate deadline."""
        interception = self.interception
        if self.mouse.buttons and interception.data is None:
            # A drag that starts with the last move is reported after the response to that move. Without this wait,
            # the engine would release a button that Chrome no longer tracks, and the drag would continue.
            with undoing(_CLEAN_UP_TIMEOUT / 2), suppress(ConnectionLostError):
                await wait_until_reported(interception.page)
        interception.page.off_event("Input.dragIntercepted", interception.note_start)
        calls: list[PendingCall] = []
        with suppress(SessionGoneError, ConnectionLostError):
            if interception.data is not None:
                if interception.entered or not self.across:
                    calls.append(interception.post("dragCancel", self.mouse.position, 0))
                calls += self._post_end()
                self.mouse.note_drop()
            elif self.mouse.buttons:
                calls += self.mouse.post_release("left")
            calls.append(interception.page.post("Input.setInterceptDrags", enabled=False))
        await release(calls)

    def _inspect(
        self, node: Node, action: str, *, dragging: bool = False
    ) -> AbstractAsyncContextManager[Inspection]:
        return self.context.inspect(node, action, dragging=dragging)

    def _outcome(
        self,
        at: Point,
        landed: bool | None,
        receiver: str,
        events: Iterable[str],
        *,
        elsewhere: Iterable[tuple[str, str]] = (),
        dialog: bool = False,
    ) -> ActionOutcome:
        return ActionOutcome(
            "drag",
            self.source.description,
            at,
            dialog_opened=dialog,
            delivered=landed,
            received_by=receiver,
            events=tuple(events),
            elsewhere=tuple(elsewhere),
        )


def _refusal(record: Record, astray: dict[str, str]) -> str:
    if "drop" in astray:
        return f"it received no event of the drag, and {astray['drop']} received the drop"
    if "dragover" in astray and record.begun:
        return f"{astray['dragover']} appeared there and did not accept it (its dragover was not prevented)"
    if "dragover" in record.seen:
        return "it did not accept the drop (its dragover was not prevented)"
    return "the drop did not reach it"
