"""One transport, its reader and writer tasks, and the table of commands without a reply.

Rule: the reader never waits for a consumer. A task that waits for a reply writes the queued commands itself if the
transport accepts them in one step (a pipe); otherwise the writer does. So cancelling a caller never leaves half a
message on the wire. Small commands that are queued together are written together. When the wire is lost, every
call immediately fails with ConnectionLostError, and so does every later call.

The outermost action's Span is the cause of everything sent during the action (`span`).
"""

from __future__ import annotations

import itertools
import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from typing import Any

import attrs
import trio

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._protocol.feed import Faults, SessionFeed
from cdpengine._protocol.instruments import Instruments, Span, Traffic
from cdpengine._protocol.messages import Call, Envelope, Mux, Reply, Stray, envelope_or_none
from cdpengine._protocol.streams import Consumers, Event
from cdpengine._protocol.transport import DirectTransport, LastRead, Transport, TransportBroken
from cdpengine.errors import ConnectionLostError, EngineError, InvalidArgumentError

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


class Wire:
    """A mux over a transport: `open_call`, `write_now`, and the tasks `run_reader` and `run_writer`.

    `name` identifies it in messages, `traffic_name` in recordings. `feeds` has the reader's end of each session,
    by id; events of other sessions are counted and ignored. `observers` are called with the session's id and an
    event before its session gets the event. `on_lost` is called once, after all calls and sessions have ended.
    """

    def __init__(self, transport: Transport, instruments: Instruments) -> None:
        self.name = transport.name
        self.instruments = instruments
        self.traffic_name = instruments.name_connection(transport.name)
        self.consumers = Consumers()
        self.faults = Faults(transport.name)
        self.feeds: dict[str | None, SessionFeed] = {}
        self.observers: dict[str, Callable[[str | None, Event], None]] = {}
        self.on_lost: Callable[[], None] = lambda: None
        self.lost: str | None = None
        self._transport = transport
        self._lag_total = self._lag_longest = 0.0
        self._mux = Mux()
        self._outbox: deque[Call] = deque()
        self._outbox_filled = trio.lowlevel.ParkingLot()
        self._direct = transport if isinstance(transport, DirectTransport) else None
        self._unsent = False  # the writer has to wait for the transport
        self._strays = RepeatedWarning(logger, "%s: ignored a %s message: %s", level=logging.INFO)
        self._counts = {
            "sent": 0,
            "received": 0,
            "bytes_sent": 0,
            "bytes_received": 0,
            "events": 0,
            "orphans": 0,
        }

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
            sessions=sum(each is not None for each in self.feeds),
            lost_events=self.consumers.lost_events,
            undecodable_events=self.faults.undecodable_events,
            failed_callbacks=self.faults.failed_callbacks,
            reader_lag=self._lag_total / max(1, self._counts["received"]),
            longest_reader_lag=self._lag_longest,
        )

    # --- calls --------------------------------------------------------------------------------------------

    @property
    def pending(self) -> Mapping[int, Call]:
        """The commands without a reply, by id."""
        return self._mux.pending

    def open_call(self, method: str, params: Mapping[str, Any], session_id: str | None) -> Call:
        """Queue a command. Then call `write_now`, or `wake_writer` to write it at the writer's turn.

        Raises ConnectionLostError and InvalidArgumentError.
        """
        if self.lost is not None:
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

    def wake_writer(self) -> None:
        """Let the writer write the queued commands at its turn."""
        self._outbox_filled.unpark()

    def forget(self, call: Call) -> None:
        """Remove an abandoned call from the table. An unwritten command is never sent."""
        self._mux.close_call(call)
        call.message = b""  # it may stay in the outbox until the writer gets to it

    def fail_calls(self, of: str | None, why: Callable[[str], EngineError], write: bool = False) -> None:
        """Fail a session's pending calls (None: the root session). With `write`, unwritten ones are still sent."""
        for call in self._mux.end_session(of):
            call.message = call.message if write else b""
            call.waiter.fail(why(call.method))

    # --- writing ------------------------------------------------------------------------------------------

    def write_now(self) -> None:
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
                self.instruments.pass_on(Traffic(now, "sent", self.traffic_name, call.message, call.cause))
            messages.append(call.message)
            room -= size
            call.message = b""
        return messages

    # --- the two tasks -------------------------------------------------------------------------------------

    async def run_writer(self) -> None:
        """Write queued commands, in order, until the transport breaks."""
        while self.lost is None:
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

    async def run_reader(self) -> None:
        """Route incoming messages until the transport breaks."""
        last_read: LastRead | None = getattr(self._transport, "last_read", None)
        while True:
            try:
                message = await self._transport.receive()
            except TransportBroken as broken:
                self._lose(str(broken))
                return
            if self.lost is not None:
                return  # closed while this message was on its way: no consumer is left
            self.consumers.need_turn = False
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
                if self._direct is None or not room or self.consumers.need_turn or self.lost is not None:
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
            self.instruments.pass_on(Traffic(now, "received", self.traffic_name, message, None, envelope))
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
        feed = self.feeds.get(session_id)
        if feed is None:
            self._counts["orphans"] += 1
            return
        event = Event(method, session_id, envelope.params)
        if (observe := self.observers.get(method)) is not None:
            observe(session_id, event)
            # Tasks that wait for sessions get a turn before later replies are routed.
            self.consumers.need_turn = True
        feed.deliver(event)

    def close(self) -> None:
        """End every call and session, because the program closes the connection."""
        self._lose("its `async with` block has ended. Use the browser and its pages inside the block")

    def _lose(self, reason: str) -> None:
        """Mark the wire as lost: end every call and session with ConnectionLostError."""
        if self.lost is not None:
            return
        self.lost = reason
        self._strays.log_suppressed(self.name)
        for call in self._mux.end():
            call.waiter.fail(self._error(call.method))
        self._outbox.clear()
        self._outbox_filled.unpark_all()
        for _, feed in sorted(self.feeds.items(), key=lambda item: item[0] is None):  # the browser's is last
            feed.end(self._error)
        self.feeds.clear()
        self.on_lost()
        self.faults.end()

    def _error(self, method: str | None) -> ConnectionLostError:
        assert self.lost is not None
        return ConnectionLostError(endpoint=self.name, reason=self.lost, method=method)


# --- causes of calls ----------------------------------------------------------------------------------------

_span: ContextVar[Span | None] = ContextVar("cdpengine span", default=None)
_numbers = itertools.count(1)


class _SpanScope:
    """Context manager of `span`.

    A class, because every action enters it and a generator costs five times as much.
    """

    __slots__ = ("_begun", "_name", "_token")

    def __init__(self, name: str) -> None:
        self._name = name
        self._begun: Span | None = None

    def __enter__(self) -> None:
        if _span.get() is None:
            self._begun = Span(next(_numbers), self._name, trio.current_time())
            self._token = _span.set(self._begun)

    def __exit__(self, kind: type[BaseException] | None, *_error: object) -> None:
        begun = self._begun
        if begun is not None:
            _span.reset(self._token)
            for each in begun.instruments:
                each.end_span(begun, "" if kind is None else kind.__name__)


def span(name: str) -> AbstractContextManager[None]:
    """Name the action that causes the commands sent by the body and by tasks started in it.

    The outermost name applies: an action that calls other actions is one action. Must be called in trio.
    """
    return _SpanScope(name)


def current_span() -> Span | None:
    """Return the current action, or None."""
    return _span.get()
