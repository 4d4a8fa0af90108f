"""The page library for actions: probes of a node, and the observer of its input.

Rule: code that runs in a page is a function of a .js file, called on a node in the isolated world of its frame. It
returns plain JSON, which is decoded into the requested type, or a remote object. Functions that every action needs
form a library, installed once per world: sending and compiling them each time would cost more than running them.

An InputObserver records from the page's own events which element received the input. Input without an event was
not delivered. The probe that finds the point also arms the observer, in one call. The input follows immediately
and is sent once. The observer is always removed. Unless the action is forced, a press that goes astray is held
back.
"""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, Generic, TypeVar
from zlib import crc32

import attrs
import msgspec
import trio

from cdpengine._input.actionability.library_calls import (
    AnyHandle,
    Handle,
    check_name,
    decode_result,
    name_expectation,
    post_library_call,
    post_use,
    stale_ref_error,
)
from cdpengine._input.blocked_calls import unless_blocked
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.geometry import NO_MARK, Point, Quad
from cdpengine._page.scripts.page_functions import Node
from cdpengine._page.side_effects import SideEffects
from cdpengine._protocol.calls import PendingCall, pending_group
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    RemoteError,
    SessionGoneError,
    StaleRefError,
)

T = TypeVar("T")


class ProbeReply(msgspec.Struct):
    """The result of actionability.js. A reason is "" if it does not apply.

    `element` describes a node that is not connected. `never`: waiting cannot help. `frees`: the other action that
    is needed first. `behind`: the blocking modal dialog. `labelled`: the node is hidden and its label is pressed
    instead. `divided`: it is a label that contains links, buttons or fields. A quick reply has a `point`, and no
    reasons except the first two. `renamed`: the current role and name if they are not the expected ones.
    """

    connected: bool
    element: str = ""
    invisible: str = ""
    disabled: str = ""
    uneditable: str = ""
    readonly: str = ""
    chooses: bool = False
    moved: bool = False
    hits: list[bool] = []
    covered: str = ""
    untouchable: bool = False
    never: str = ""
    frees: str = ""
    behind: str = ""
    labelled: bool = False
    divided: bool = False
    point: Point | None = None
    renamed: tuple[str, str] | None = None


def probe_request(
    points: Sequence[Point],
    frame: Quad | None = None,
    *,
    settle: bool = False,
    quick: bool = False,
    dragging: bool = False,
) -> dict[str, Any]:
    """Return a request for the library's `probe`. With `frame`, points become fractions of that quad.

    With `quick` the page chooses the point itself if that needs no measuring. With `dragging`, the dragged element
    covers nothing.
    """
    if frame is not None:
        points = [frame.fractions(point) or Point(-1, -1) for point in points]
    return {
        "points": list(points),
        "fractions": frame is not None,
        "settle": settle,
        "quick": quick,
        "dragging": dragging,
        "observer": None,
        "expected": None,
    }


async def probe_nodes(
    node: Node, requests: Sequence[tuple[AnyHandle, dict[str, Any]]], observer: InputObserver | None = None
) -> list[ProbeReply]:
    """Run actionability.js on several nodes in one round trip. Each request is made by `probe_request`.

    `observer` is the observer that the requests arm. Raises StaleRefError for `node` if one of the nodes is no
    longer in its document. Raises NameChanged.
    """
    with pending_group() as post:
        if observer is not None:
            # Posted before the probe, so that the page has received it when the probe's reply arrives. Posted
            # later, it could arrive after the input, and be lost with the document that the input replaces.
            observer.post_completion()
        for one, request in requests:
            request["expected"] = name_expectation(one.node)
        calls = [post(post_library_call(one, "probe", request)) for one, request in requests]
        replies: list[ProbeReply] = []
        for call, (one, _) in zip(calls, requests, strict=True):
            reply = await decode_result(call, one.node, ProbeReply)
            if not reply.connected:
                raise stale_ref_error(node, reply.element, "it is no longer in the document")
            check_name(one.node, reply.renamed)
            replies.append(reply)
    return replies


class _UseReply(msgspec.Struct, Generic[T]):
    """The result of when_usable.js. `made` is None if the function was not called."""

    seen: ProbeReply
    made: T | None


async def use_node(
    handle: AnyHandle, source: str, request: object, kind: type[T]
) -> tuple[ProbeReply, T | None]:
    """Probe the node and, if nothing hinders its use, call the engine's function on it. See when_usable.js.

    Returns the probe's result and the function's result, which is None if it was not called. Raises
    StaleRefError if the node is no longer in its document, EvaluationFailedError if the function threw.
    """
    used = await decode_result(post_use(handle, source, request), handle.node, _UseReply[kind])  # type: ignore[valid-type]
    if not used.seen.connected:
        raise stale_ref_error(handle.node, used.seen.element, "it is no longer in the document")
    check_name(handle.node, used.seen.renamed)
    return used.seen, used.made


MOVE_EVENTS = ("pointerover", "mouseover", "pointermove", "mousemove")

_BEGINNINGS = frozenset(
    {"pointerdown", "mousedown", "touchstart", "wheel", "dragenter", "dragover", *MOVE_EVENTS}
)
"""Events that show that the node received the action, even if later events are missing."""

_REPORT_TIMEOUT = 0.5
"""Maximum wait for the record while the page navigates or is blocked, in seconds."""

_MARKS = 31
"""Number of marks per axis, in steps of 1/256 CSS pixel (less than 1/8 in all). Chrome rounds the coordinates of
mouse events, and those of its hit test, to whole pixels. Pointer events keep the fraction."""

_numbers = itertools.count(1)


class Record(msgspec.Struct):
    """The record of an observer; see input_observer.js.

    Attributes:
        complete: Whether the node received the action's last event.
        seen: Types of the events that the node received, in order.
        astray: Events that another element received, as (type, description of the element).
        held: Description of the element from which the press was held back, with all events after it, or "".
        answered: Whether the page moved the node away from the pointer in response to its events.
        passes: Whether the node shows another document, which receives the input instead.
    """

    complete: bool = False
    seen: list[str] = []
    astray: list[tuple[str, str]] = []
    held: str = ""
    answered: bool = False
    passes: bool = False

    @property
    def begun(self) -> bool:
        """Whether the node received the start of the action."""
        return not _BEGINNINGS.isdisjoint(self.seen)

    @property
    def other(self) -> str:
        """The element that received, or would have received, the first event that went astray; "" if none."""
        return next((who for _, who in self.astray), self.held)

    @property
    def fully_blocked(self) -> bool:
        """Whether the press was held back and the page received no part of it."""
        return bool(self.held) and not self.seen


@attrs.define(eq=False)
class InputObserver:
    """Observes the events `watch` of one action. `count` events of type `final` complete it.

    `guard`: hold back a press that goes astray. `on_disabled`: a disabled node counts. `enough`: the event after
    which later events may be missing because the page can prevent them. `settled_by`: the event after which
    another element may receive the rest. `marked`: the input carries the observer's mark, which distinguishes
    its events from those of other clients' input.
    """

    watch: Sequence[str]
    final: str
    count: int = 1
    guard: bool = True
    on_disabled: bool = False
    enough: str = ""
    settled_by: str = ""
    marked: bool = False
    mark: Point = attrs.field(default=NO_MARK, init=False)
    id: str = attrs.field(factory=lambda: f"w{next(_numbers)}", init=False)
    handles: list[AnyHandle] = attrs.field(factory=list, init=False)
    _ended: bool = attrs.field(default=True, init=False)
    _turn: int = attrs.field(default=0, init=False)
    _completion: PendingCall | None = attrs.field(default=None, init=False)
    _early: Record | None = attrs.field(default=None, init=False)

    def arming(self, *, inside: bool, checked: bool) -> dict[str, Any]:
        """Return the arming request for input_observer.js.

        `inside`: arm it on a frame around the node. `checked`: the action is not forced.
        """
        return {
            "id": self.id,
            "turn": self._turn,
            "watch": list(self.watch),
            "final": self.final,
            "count": self.count,
            "guard": self.guard and checked,
            "inside": inside,
            "always": inside or not checked,
            "disabled": self.on_disabled,
            "markId": [self.mark.x, self.mark.y] if self.marked else None,
        }

    def choose_mark(self, node: Node) -> None:
        """Choose the mark for input on the node. It is the same in each run and differs between engines."""
        number = crc32(f"{node.session.id} {node.backend_node_id}".encode())
        self.mark = Point(*((1 + part % _MARKS) / 256 for part in divmod(number, 65_521)))

    def renew(self) -> None:
        """Reset the observer for another try of the same action."""
        self.id, self._turn, self._ended, self._early = f"w{next(_numbers)}", 0, True, None

    def note_armed(self, handles: Sequence[AnyHandle]) -> None:
        """Store the handles on which it is armed: the node's first, then those of the frames around it."""
        self.handles = list(handles)
        self._ended = False

    def post_completion(self) -> None:
        """Request the report of the complete action. Must precede the input, which may block the page for long."""
        if self._completion is not None:
            self._completion.abandon()
        request = {"id": self.id, "final": False, "turn": self._turn}
        self._completion = post_library_call(self.handles[0], "report", request)
        self._turn += 1

    def end(self) -> None:
        """Remove the observer unless it has ended. Posts without waiting, so it also works during cancellation."""
        if not self._ended:
            self._ended = True
            self._post_ends()
        if self._completion is not None:
            self._completion.abandon()

    def _post_ends(self) -> list[PendingCall]:
        calls: list[PendingCall] = []
        # After it reported the complete action, the node's own observer has ended.
        over = self._early is not None and self._early.complete
        with suppress(SessionGoneError, ConnectionLostError):
            for handle in self.handles[1:] if over else self.handles:
                calls.append(post_library_call(handle, "report", {"id": self.id, "final": True}))  # noqa: PERF401
        return calls

    async def arm_at(self, handle: Handle, point: Point) -> None:
        """Observe a point of the document of the handle's node. All events there are recorded as astray."""
        request = {**probe_request([point]), "observer": self.arming(inside=True, checked=False)}
        self.note_armed([handle])
        call = post_library_call(handle, "probe", request)
        self.post_completion()
        await decode_result(call, handle.node, msgspec.Raw)

    async def linger(self, seconds: float) -> None:
        """Wait up to `seconds` for the action to complete. Used for gestures that Chrome finishes by itself."""
        assert self._completion is not None
        with trio.move_on_after(seconds) as waiting:
            self._early = await _record(self._completion, self.handles[0].node)
        if waiting.cancelled_caught or self._early is None:
            self._completion = None

    async def watch_over(
        self,
        gesture: Callable[[], Awaitable[bool]],
        interruptions: Interruptions,
        navigation: SideEffects | None,
    ) -> tuple[Record | None, bool]:
        """Run the gesture. Return the record, and whether a dialog opened.

        The record is None if it is unknown, because the page or its document went away before the report. Raises
        the gesture's errors, unless the node had already received all of it.
        """
        node = self.handles[0].node
        try:
            dialog = await gesture()
        except (SessionGoneError, RemoteError):
            # The click may have closed the page before it could respond.
            record = self._conclude(await self._take_completion(node))
            if record is None or not (record.complete or record.answered):
                raise
            return record, False
        await wait_until_reported(node.session)
        record = await self._take_completion(node)
        if record is None:
            record = await self._late_record(node, interruptions, navigation)
        return self._conclude(record), dialog

    async def _take_completion(self, node: Node) -> Record | None:
        """Return the report of the complete action, or None if it has not arrived."""
        if self._early is None and self._completion is not None and self._completion.done:
            self._early, self._completion = await _record(self._completion, node), None
        return self._early

    async def _late_record(
        self, node: Node, interruptions: Interruptions, navigation: SideEffects | None
    ) -> Record | None:
        """Request the record of an action whose last event was not reported."""
        calls = self._post_ends()
        record = None
        if calls:
            record = await unless_blocked(lambda: _record(calls[0], node), interruptions, navigation)
        if record is None:
            if self._completion is not None:
                await self.linger(_REPORT_TIMEOUT)
            return self._early
        self._ended = True
        for call in calls[1:]:
            around = await _record(call, node)
            if around is not None and around.other and not record.other:
                record.astray, record.held = around.astray, around.held
        return record

    def _conclude(self, record: Record | None) -> Record | None:
        """Mark the record as complete if the missing events may legitimately be missing."""
        if record is not None:
            prevented = self.enough in record.seen and self.final not in (kind for kind, _ in record.astray)
            passed = record.passes and not record.astray and not record.held
            record.complete = record.complete or prevented or passed or self.settled_by in record.seen
        return record


async def wait_until_reported(session: Session) -> None:
    """Return after the browser has reported everything that the input caused before it was acknowledged.

    A page is unsuitable for this: it draws first, and Chrome delays its response during a navigation. The browser
    responds immediately, and in order.
    """
    with suppress(SessionGoneError, RemoteError):
        await session.connection.root.post("Browser.getVersion").raw()


async def _record(call: PendingCall, node: Node) -> Record | None:
    """Return the record, or None if the document or the page went away."""
    with suppress(StaleRefError, SessionGoneError, RemoteError):
        return await decode_result(call, node, Record | None)  # type: ignore[arg-type]
    return None
