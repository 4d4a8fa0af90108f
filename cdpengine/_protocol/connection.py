"""One transport, its reader and writer tasks, and the targets and sessions on it.

Rule: the reader never waits for a consumer. A task that waits for a reply writes the queued commands itself if the
transport accepts them in one step (a pipe); otherwise the writer does. So cancelling a caller never leaves half a
message on the wire. Small commands that are queued together are written together. When the connection ends, every
call and every stream immediately raises ConnectionLostError, and so does every later call.

The reader keeps the list of targets message by message, before it routes any later message. A session exists from
its attach event until its detach event. Only those few events are decoded here.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs
import msgspec
import trio

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall, SharedCall, current_span
from cdpengine._protocol.domains.target import (
    AttachedToTarget,
    DetachedFromTarget,
    TargetCrashed,
    TargetCreated,
    TargetDestroyed,
    TargetInfo,
    TargetInfoChanged,
)
from cdpengine._protocol.instruments import Instruments, Traffic
from cdpengine._protocol.messages import Call, Envelope, Mux, Reply, Stray, envelope_or_none
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Consumers, Event
from cdpengine._protocol.transport import DirectTransport, LastRead, Transport, TransportBroken
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    InvalidArgumentError,
    SessionGoneError,
    UndecodableReplyError,
)

logger = get_logger("cdpengine.session")

_MOST_TOGETHER = 1 << 16
"""Maximum size of one combined write, in bytes: a combined write wakes the browser once."""

_MOST_AT_ONCE = 64
"""Messages routed before other tasks get a turn; fewer if a consumer needs one."""


@attrs.frozen
class ConnectionStatistics:
    """Counts of one connection since it was opened. Sizes are in bytes (characters for received text messages).

    `in_flight` commands wait for their reply, `queued` commands wait to be written. `late_replies` answer calls
    that were abandoned. Unroutable messages count as `unknown_replies` (no such command), `malformed`,
    `shapeless`, or `events_of_unknown_sessions`. `undecodable_events` had an unexpected shape and were skipped by
    the engine. `lost_events` were dropped because a consumer was too slow. `failed_callbacks` raised an error.

    `reader_lag` is the mean time in seconds from reading a message off the socket to its delivery,
    `longest_reader_lag` the maximum. Time in the operating system's buffers is not included.
    """

    sent: int
    received: int
    bytes_sent: int
    bytes_received: int
    in_flight: int
    queued: int
    events: int
    late_replies: int
    unknown_replies: int
    malformed: int
    shapeless: int
    events_of_unknown_sessions: int
    sessions: int
    lost_events: int = 0
    undecodable_events: int = 0
    failed_callbacks: int = 0
    reader_lag: float = 0.0
    longest_reader_lag: float = 0.0


@not_picklable("its statistics")
class Connection:
    """A mux over a transport. Create it with `open_connection`.

    `name` identifies the connection in messages. `root` is the browser's session, `targets` has the listed and
    attached targets, `instruments` the observers of the traffic.
    """

    def __init__(self, transport: Transport, instruments: Instruments) -> None:
        self.name = transport.name
        self.instruments = instruments
        self._traffic_name = instruments.name_connection(transport.name)
        self.root = Session(self, None)
        self.targets = Targets(self)
        self._consumers = Consumers()
        self._transport = transport
        self._lag_total = self._lag_longest = 0.0
        self._mux = Mux()
        self._pending = self._mux.pending
        self._outbox: deque[Call] = deque()
        self._outbox_filled = trio.lowlevel.ParkingLot()
        self._direct = transport if isinstance(transport, DirectTransport) else None
        self._unsent = False  # the writer has to wait for the transport
        self._lost: str | None = None
        self._strays = RepeatedWarning(logger, "%s: ignored a %s message: %s", level=logging.INFO)
        self._undecodable = RepeatedWarning(
            logger, "%s: ignored an undecodable event: %s", level=logging.INFO
        )
        self._undecodable_last: Event | None = None
        self._failed = RepeatedWarning(logger, "%s: a callback for %s failed with %s", level=logging.ERROR)
        self._counts = {
            "sent": 0,
            "received": 0,
            "bytes_sent": 0,
            "bytes_received": 0,
            "events": 0,
            "orphans": 0,
        }

    @property
    def lost(self) -> str | None:
        """The reason why the connection ended, or None while it is open."""
        return self._lost

    def statistics(self) -> ConnectionStatistics:
        """Return the counts so far."""
        strays = self._mux.strays
        return ConnectionStatistics(
            sent=self._counts["sent"],
            received=self._counts["received"],
            bytes_sent=self._counts["bytes_sent"],
            bytes_received=self._counts["bytes_received"],
            in_flight=len(self._mux.pending),
            queued=len(self._outbox),
            events=self._counts["events"],
            late_replies=strays["late"],
            unknown_replies=strays["unknown"],
            malformed=strays["malformed"],
            shapeless=strays["shapeless"],
            events_of_unknown_sessions=self._counts["orphans"],
            sessions=len(self.targets.sessions),
            lost_events=self._consumers.lost_events,
            undecodable_events=self._undecodable.total,
            failed_callbacks=self._failed.total,
            reader_lag=self._lag_total / max(1, self._counts["received"]),
            longest_reader_lag=self._lag_longest,
        )

    # --- for sessions and calls ----------------------------------------------------------------------------

    def _post(self, method: str, params: Mapping[str, Any], session_id: str | None) -> PendingCall:
        """Queue a command, to be written when a task waits for its reply or at the writer's turn.

        Raises ConnectionLostError and InvalidArgumentError.
        """
        pending = PendingCall(self, self._open(method, params, session_id))
        self._outbox_filled.unpark()
        return pending

    def _post_shared(self, method: str, params: Mapping[str, Any], session_id: str | None) -> SharedCall:
        """Queue a command with several waiters; see `_post`."""
        shared = SharedCall(self, self._open(method, params, session_id))
        self._outbox_filled.unpark()
        return shared

    def _send(self, method: str, params: Mapping[str, Any], session_id: str | None) -> PendingCall:
        """Queue a command and write it now if the transport allows. Raises the errors of `_post`."""
        pending = PendingCall(self, self._open(method, params, session_id))
        self._write_now()
        return pending

    def _send_shared(self, method: str, params: Mapping[str, Any], session_id: str | None) -> SharedCall:
        """Queue a command with several waiters and write it now if the transport allows; see `_send`."""
        shared = SharedCall(self, self._open(method, params, session_id))
        self._write_now()
        return shared

    def _open(self, method: str, params: Mapping[str, Any], session_id: str | None) -> Call:
        if self._lost is not None:
            raise self._error(method)
        call = self._mux.open_call(method, params, session_id)
        if len(call.message) > self._transport.largest_outgoing:
            self._mux.close_call(call)
            raise InvalidArgumentError(
                what=f"parameters of {method}",
                given=f"{len(call.message)} bytes of JSON",
                expected=f"at most {self._transport.largest_outgoing}: Chrome cuts the connection above that",
            )
        if self.instruments.active:
            call.cause = current_span()
        self._outbox.append(call)
        return call

    def _forget(self, call: Call) -> None:
        """Remove an abandoned call from the table. An unwritten command is never sent."""
        self._mux.close_call(call)
        call.message = b""  # it may stay in the outbox until the writer gets to it

    def _fail_calls(self, of: str | None, why: Callable[[str], EngineError], write: bool = False) -> None:
        """Fail a session's pending calls (None: the root session). With `write`, unwritten ones are still sent."""
        for call in self._mux.end_session(of):
            call.message = call.message if write else b""
            call.waiter.fail(why(call.method))

    def _pass_over(self, event: Event, error: UndecodableReplyError) -> None:
        """Count and log an undecodable event, once even if several parts of the engine failed to read it."""
        if event is not self._undecodable_last:
            self._undecodable_last = event
            self._undecodable.log(self.name, error)

    def _callback_failed(self, what: str, error: Exception) -> None:
        """Count and log an exception that a callback of the reader raised."""
        self._failed.log(self.name, what, type(error).__name__, error=error)

    # --- writing ------------------------------------------------------------------------------------------

    def _write_now(self) -> None:
        """Write the queued commands, as many as possible without waiting. The writer writes the rest."""
        if not self._outbox:
            return
        if self._direct is None or self._unsent:
            self._outbox_filled.unpark()
            return
        while messages := self._take_messages():
            try:
                self._unsent = not self._direct.send_nowait(*messages)
            except TransportBroken as broken:
                self._lose(str(broken))
            if self._unsent:
                self._outbox_filled.unpark()
                return

    def _take_messages(self) -> list[bytes]:
        """Remove the messages of one write from the outbox: at most _MOST_TOGETHER bytes, or one message."""
        counts, outbox = self._counts, self._outbox
        messages: list[bytes] = []
        room = _MOST_TOGETHER
        while outbox and (not messages or len(outbox[0].message) <= room):
            call = outbox.popleft()
            if not call.message:
                continue  # cancelled, or its session ended, before it was written
            size = len(call.message)
            counts["sent"] += 1
            counts["bytes_sent"] += size
            if self.instruments.active:
                now = trio.current_time()
                self.instruments.pass_on(Traffic(now, "sent", self._traffic_name, call.message, call.cause))
            messages.append(call.message)
            room -= size
            call.message = b""
        return messages

    # --- the two tasks -------------------------------------------------------------------------------------

    async def _run_writer(self) -> None:
        """Write queued commands, in order, until the transport breaks."""
        while self._lost is None:
            if not (self._outbox or self._unsent):
                await self._outbox_filled.park()
                continue
            messages = self._take_messages()
            if not (messages or self._unsent):
                continue
            self._unsent = True
            try:
                await self._transport.send(*messages)
            except TransportBroken as broken:
                self._lose(str(broken))
            self._unsent = False

    async def _run_reader(self) -> None:
        """Route incoming messages until the transport breaks."""
        last_read: LastRead | None = getattr(self._transport, "last_read", None)
        while True:
            try:
                message = await self._transport.receive()
            except TransportBroken as broken:
                self._lose(str(broken))
                return
            if self._lost is not None:
                return  # closed while this message was on its way: no consumer is left
            self._consumers.need_turn = False
            further: bytes | str | None = message
            room = 1 if self._direct is None else _MOST_AT_ONCE
            while further is not None:
                if last_read is not None:
                    lag = time.perf_counter() - last_read.time
                    self._lag_total += lag
                    if lag > self._lag_longest:
                        self._lag_longest = lag
                self._route(further)
                room -= 1
                if self._direct is None or not room or self._consumers.need_turn or self._lost is not None:
                    break
                further = self._direct.receive_nowait()

    def _route(self, message: bytes | str) -> None:
        counts = self._counts
        counts["received"] += 1
        counts["bytes_received"] += len(message)
        envelope = None
        if self.instruments.active:
            envelope = envelope_or_none(message)  # shared by the instruments and the table of calls
            now = trio.current_time()
            self.instruments.pass_on(Traffic(now, "received", self._traffic_name, message, None, envelope))
        match self._mux.feed(message, envelope):
            case Reply() as reply:
                reply.call.waiter.settle(reply)
            case Envelope() as event:
                self._deliver(event)
            case Stray(kind="malformed" | "shapeless" as kind, detail=detail):
                self._strays.log(self.name, kind, detail)
            case Stray(kind=kind, detail=detail):
                logger.debug("%s: ignored a %s reply: %s", self.name, kind, detail)

    def _deliver(self, envelope: Envelope) -> None:
        self._counts["events"] += 1
        session_id, method = envelope.session_id, envelope.method
        assert method is not None
        session = self.root if session_id is None else self.targets.sessions.get(session_id)
        if session is None:
            self._counts["orphans"] += 1
            return
        event = Event(method, session_id, envelope.params)
        if method in self.targets.observed:
            self.targets.observe(session, event)
            # Tasks that wait for sessions get a turn before later replies are routed.
            self._consumers.need_turn = True
        session._deliver(event)

    def _lose(self, reason: str) -> None:
        """Mark the connection as lost: end every call, stream and session with ConnectionLostError."""
        if self._lost is not None:
            return
        self._lost = reason
        self._strays.log_suppressed(self.name)
        self._undecodable.log_suppressed(self.name)
        self._undecodable_last = None
        for call in self._mux.end():
            call.waiter.fail(self._error(call.method))
        self._outbox.clear()
        self._outbox_filled.unpark_all()
        for session in [*self.targets.sessions.values(), self.root]:
            session._end(self._error)
        self.targets.sessions.clear()
        self.targets.end()
        self._failed.log_suppressed(self.name)

    def _error(self, method: str | None) -> ConnectionLostError:
        assert self._lost is not None
        return ConnectionLostError(endpoint=self.name, reason=self._lost, method=method)


@asynccontextmanager
async def open_connection(
    transport: Transport, *, instruments: Instruments | None = None
) -> AsyncIterator[Connection]:
    """Run a connection over `transport` while the body runs. `connection.root` is the browser's session.

    The caller owns the transport and closes it afterwards. The body's exceptions propagate unwrapped.
    """
    connection = Connection(transport, instruments or Instruments())
    async with open_body_nursery() as nursery:
        nursery.start_soon(connection._run_reader, name=f"reader of {connection.name}")
        nursery.start_soon(connection._run_writer, name=f"writer of {connection.name}")
        try:
            yield connection
        finally:
            connection._lose("this program closed the connection")


# --- targets and their sessions ------------------------------------------------------------------------------


class Attachment(msgspec.Struct, frozen=True):
    """A session that Chrome attached. `waiting`: the target is paused until `Runtime.runIfWaitingForDebugger`."""

    session: Session
    info: TargetInfo
    waiting: bool


class Targets:
    """The targets and sessions of one connection. `attachments` receives every session that Chrome attaches."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.infos: dict[str, TargetInfo] = {}
        self._discovered: set[str] = set()
        self.sessions: dict[str, Session] = {}
        self.observed: dict[str, Callable[[Session, Event], None]] = {
            "Target.attachedToTarget": self._attach,
            "Target.detachedFromTarget": self._detach,
            "Target.targetCreated": self._note_created,
            "Target.targetInfoChanged": self._note_changed,
            "Target.targetDestroyed": self._note_destroyed,
            "Target.targetCrashed": self._note_crashed,
            "Inspector.targetCrashed": self._crash_session,
            "Inspector.targetReloadedAfterCrash": self._revive_session,
            "Page.lifecycleEvent": self._revive_discarded,
            "Page.domContentEventFired": self._revive_discarded,
            "Page.frameNavigated": self._revive_session,  # also of a discarded tab that is loaded
        }
        # Unbounded on purpose: the reader must not wait, and there is one entry for each of Chrome's targets.
        self._send, self.attachments = trio.open_memory_channel[Attachment](2**31)

    def observe(self, source: Session, event: Event) -> None:
        """Process one event, whose name is in `observed`. Called by the reader."""
        try:
            self.observed[event.method](source, event)
        except UndecodableReplyError as error:
            source.connection._pass_over(event, error)

    def end(self) -> None:
        """Mark the connection as over: no target will be attached again."""
        self._send.close()

    def _attach(self, source: Session, event: Event) -> None:
        notice = event.decode(AttachedToTarget)
        info = notice.target_info
        self.infos[info.target_id] = info
        if notice.session_id in self.sessions:
            return
        session = Session(
            self._connection,
            notice.session_id,
            target_id=info.target_id,
            target_type=info.type,
            parent=source,
        )
        self.sessions[notice.session_id] = session
        self._send.send_nowait(Attachment(session, info, notice.waiting_for_debugger))

    def _detach(self, _source: Session, event: Event) -> None:
        session = self.sessions.get(event.decode(DetachedFromTarget).session_id)
        if session is not None:
            self._end_session(session, "Chrome detached it: its target was closed, replaced or taken over")

    def _end_session(self, session: Session, reason: str) -> None:
        # Chrome sends no events for the sessions that end with their parent.
        for child in [other for other in self.sessions.values() if other.parent is session]:
            self._end_session(child, f"{session.describe()}, through which it was attached, is gone")
        if session.id is not None:
            self.sessions.pop(session.id, None)
        # Without target discovery, the detachment is the last event of a target.
        target_id = session.target_id
        others = (other for other in self.sessions.values() if other.target_id == target_id)
        if target_id is not None and target_id not in self._discovered and next(others, None) is None:
            self.infos.pop(target_id, None)

        def gone(method: str | None) -> EngineError:
            return SessionGoneError(target=session.describe(), reason=reason, method=method)

        session._end(gone)

    def _note_created(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetCreated).target_info)

    def _note_changed(self, _source: Session, event: Event) -> None:
        self._note(event.decode(TargetInfoChanged).target_info)

    def _note(self, info: TargetInfo) -> None:
        self.infos[info.target_id] = info
        self._discovered.add(info.target_id)

    def _note_destroyed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetDestroyed).target_id
        self.infos.pop(target_id, None)
        self._discovered.discard(target_id)
        for session in [other for other in self.sessions.values() if other.target_id == target_id]:
            self._end_session(session, "its target was closed")

    def _note_crashed(self, _source: Session, event: Event) -> None:
        target_id = event.decode(TargetCrashed).target_id
        for session in list(self.sessions.values()):
            if session.target_id == target_id and not session.crashed:
                session._crash()

    def _crash_session(self, source: Session, _event: Event) -> None:
        if not source.crashed:
            source._crash()

    def _revive_discarded(self, source: Session, _event: Event) -> None:
        if source.is_discarded:
            source._revive(discarded=True)

    def _revive_session(self, source: Session, event: Event) -> None:
        source._revive(discarded=event.method == "Page.frameNavigated")
