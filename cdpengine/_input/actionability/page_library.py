"""What the engine has in a page for actions: a library, installed once in each world, and the observer in it.

Rule: what runs in a page is a function of a .js file, called on a node in the isolated world of its frame. Its
answer is plain JSON, decoded into the type that was asked for, or a remote object. What every action needs is a
library, installed once in each world: sending and compiling it again each time would cost more than running it.

An InputObserver sees, by the page's own events, what received the input: what it did not see was not delivered. It
is armed by the probe that finds the point, in one call; the input follows at once, is sent once, and it is taken
away whatever happens. A press that goes astray is held back from what it would hit, unless the action was forced.
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
    decode_result,
    post_library_call,
    post_use,
    stale_ref_error,
)
from cdpengine._input.actionability.naming import asked_name, check_name
from cdpengine._input.devices.mouse import Interruptions
from cdpengine._input.geometry import NO_MARK, Point, Quad
from cdpengine._input.held_back import unless_held_back
from cdpengine._page.scripts.page_functions import (
    Node,
)
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
    """What actionability.js answers. A reason is "" when there is none.

    `element` is what is not connected. `never`: no waiting helps. `frees`: what another action has to do first.
    `behind`: the modal dialog in the way. `labelled`: it is hidden, and its label is to be pressed. `divided`: it
    is a label with links, buttons or fields in it. A quick reply has a `point`, and no reasons but the first two.
    `renamed`: the role and the name that it has, in place of the expected ones.
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
    """Return what the library's `probe` is asked; with `frame`, the points are taken to fractions of it.

    With `quick` it chooses the point itself, if there is one that needs no measuring. With `dragging`, what is
    being dragged covers nothing.
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
    node: Node, asked: Sequence[tuple[AnyHandle, dict[str, Any]]], observer: InputObserver | None = None
) -> list[ProbeReply]:
    """Run actionability.js on the nodes that are asked, in one round trip; a request is one of `probe_request`.

    `observer` is the one that they arm. Raises StaleRefError, for `node`, where one is no longer in its document,
    and NameChanged.
    """
    with pending_group() as post:
        if observer is not None:
            # Before the probe: once that is answered, the page has this question too. Behind it, the question
            # could reach the page after the input, and get lost with the document that the input replaces.
            observer.post_completion()
        for one, request in asked:
            request["expected"] = asked_name(one.node)
        calls = [post(post_library_call(one, "probe", request)) for one, request in asked]
        replies: list[ProbeReply] = []
        for call, (one, _) in zip(calls, asked, strict=True):
            reply = await decode_result(call, one.node, ProbeReply)
            if not reply.connected:
                raise stale_ref_error(node, reply.element, "it is no longer in the document")
            check_name(one.node, reply.renamed)
            replies.append(reply)
    return replies


class _Used(msgspec.Struct, Generic[T]):
    """What when_usable.js answers; `made` is None where something stood in the way."""

    seen: ProbeReply
    made: T | None


async def use_node(
    handle: AnyHandle, source: str, request: object, kind: type[T]
) -> tuple[ProbeReply, T | None]:
    """Probe the node, and call a function of the engine's own on it where nothing stands in the way.

    See when_usable.js. Returns what the probe saw, and what the function answered, None where it was not called.
    Raises StaleRefError where the node is no longer in its document, EvaluationFailedError where it threw.
    """
    used = await decode_result(post_use(handle, source, request), handle.node, _Used[kind])  # type: ignore[valid-type]
    if not used.seen.connected:
        raise stale_ref_error(handle.node, used.seen.element, "it is no longer in the document")
    check_name(handle.node, used.seen.renamed)
    return used.seen, used.made


MOVE_EVENTS = ("pointerover", "mouseover", "pointermove", "mousemove")

_BEGINNINGS = frozenset(
    {"pointerdown", "mousedown", "touchstart", "wheel", "dragenter", "dragover", *MOVE_EVENTS}
)
"""Events with which a node has received an action, whatever comes of the rest."""

_REPORT_TIMEOUT = 0.5
"""Seconds that the record gets to come in once the page is on its way to another document, or is blocked."""

_MARKS = 31
"""Marks in each direction, in 1/256 of a CSS pixel: less than 1/8 in all. A mouse event's coordinates are whole,
and so is what Chrome takes for the target of one; a pointer event's are not."""

_numbers = itertools.count(1)


class Record(msgspec.Struct):
    """What an observer saw; see input_observer.js. `seen` are the events that the node received, in order.

    `complete`: its last one too. `astray` are those that something else received: type, and what. `held`: what the
    press was held back from, with all after it; "" where it was not. `answered`: the page took the node from the
    pointer by what it did when the node received its events. `passes`: the node shows another document, which
    receives the input in its place.
    """

    complete: bool = False
    seen: list[str] = []
    finals: int = 0
    astray: list[tuple[str, str]] = []
    held: str = ""
    answered: bool = False
    passes: bool = False

    @property
    def begun(self) -> bool:
        """Whether the node received the beginning of the action."""
        return not _BEGINNINGS.isdisjoint(self.seen)

    @property
    def other(self) -> str:
        """What received the first event that went astray, or would have received it; "" for none."""
        return next((who for _, who in self.astray), self.held)

    @property
    def kept_back(self) -> bool:
        """Whether the press was held back, and nothing on the page received any of it."""
        return bool(self.held) and not self.seen


@attrs.define(eq=False)
class InputObserver:
    """Watches for the events `watch`; `count` times `final` complete the action. One action, one observer.

    `guard`: hold back a press that goes astray. `on_disabled`: a disabled node will do. `enough`: the event after
    which the rest may be missing, because the page can prevent it. `settled_by`: the one after which something
    else may receive the rest. `marked`: the input bears the observer's mark, by which the page's events tell it
    from that of others.
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
        """Return the arming request of input_observer.js.

        `inside`: armed on a frame around the node; `checked`: not forced.
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
        """Choose the mark for input on the node: the same in each run, another one for other engines."""
        number = crc32(f"{node.session.id} {node.backend_node_id}".encode())
        self.mark = Point(*((1 + part % _MARKS) / 256 for part in divmod(number, 65_521)))

    def renew(self) -> None:
        """Begin anew, for another try of the same action."""
        self.id, self._turn, self._ended, self._early = f"w{next(_numbers)}", 0, True, None

    def note_armed(self, handles: Sequence[AnyHandle]) -> None:
        """Note where it is armed: the node's handle first, then those of the frames around it."""
        self.handles = list(handles)
        self._ended = False

    def post_completion(self) -> None:
        """Ask for the report of the complete action: before the input, which may keep the page busy for long."""
        if self._completion is not None:
            self._completion.abandon()
        request = {"id": self.id, "final": False, "turn": self._turn}
        self._completion = post_library_call(self.handles[0], "report", request)
        self._turn += 1

    def end(self) -> None:
        """Remove the observer, if that has not been done. Posted, not awaited: also while being cancelled."""
        if not self._ended:
            self._ended = True
            self._post_ends()
        if self._completion is not None:
            self._completion.abandon()

    def _post_ends(self) -> list[PendingCall]:
        calls: list[PendingCall] = []
        # The node's own observer has ended by itself when it has reported the action as complete.
        over = self._early is not None and self._early.complete
        with suppress(SessionGoneError, ConnectionLostError):
            for handle in self.handles[1:] if over else self.handles:
                calls.append(post_library_call(handle, "report", {"id": self.id, "final": True}))  # noqa: PERF401
        return calls

    async def arm_at(self, handle: Handle, point: Point) -> None:
        """Watch a point of the document of the handle's node, whatever is there: all is on record as astray."""
        request = {**probe_request([point]), "observer": self.arming(inside=True, checked=False)}
        self.note_armed([handle])
        call = post_library_call(handle, "probe", request)
        self.post_completion()
        await decode_result(call, handle.node, msgspec.Raw)

    async def linger(self, seconds: float) -> None:
        """Wait up to that long until the action is complete; for gestures that Chrome finishes by itself."""
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
        """Run the gesture, and return what was seen of it, and whether a dialog opened.

        None: it cannot be known any more, because the page or its document went away before its report. Raises
        what the gesture raises, unless the node had received all of it before.
        """
        node = self.handles[0].node
        try:
            dialog = await gesture()
        except (SessionGoneError, RemoteError):
            # What the click did can be to close the page that was to answer it.
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
        """Return the report of the complete action; None when it has not come."""
        if self._early is None and self._completion is not None and self._completion.done:
            self._early, self._completion = await _record(self._completion, node), None
        return self._early

    async def _late_record(
        self, node: Node, interruptions: Interruptions, navigation: SideEffects | None
    ) -> Record | None:
        """Ask what was seen of an action whose last event has not been reported."""
        calls = self._post_ends()
        record = None
        if calls:
            record = await unless_held_back(lambda: _record(calls[0], node), interruptions, navigation)
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
        """Call complete what the page can have left incomplete by right."""
        if record is not None:
            prevented = self.enough in record.seen and self.final not in (kind for kind, _ in record.astray)
            passed = record.passes and not record.astray and not record.held
            record.complete = record.complete or prevented or passed or self.settled_by in record.seen
        return record


async def wait_until_reported(session: Session) -> None:
    """Return when the browser has reported everything that the input had set off by the time it was answered.

    A page cannot be asked: it draws first, and when it is about to show another document, Chrome holds its answer
    back. The browser itself answers at once, and in order.
    """
    with suppress(SessionGoneError, RemoteError):
        await session.connection.root.post("Browser.getVersion").raw()


async def _record(call: PendingCall, node: Node) -> Record | None:
    """Return the record; None where the document, or the page, went away before."""
    with suppress(StaleRefError, SessionGoneError, RemoteError):
        return await decode_result(call, node, Record | None)  # type: ignore[arg-type]
    return None
