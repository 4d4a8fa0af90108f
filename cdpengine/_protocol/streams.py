"""Event streams: the events of one session, in a bounded queue for one consumer.

Rule: the reader never waits for a consumer and never decodes a payload. When the buffer is full, new events are
dropped and counted. The consumer gets an EventsLostError with their number at their position in the stream, and
can continue. A crash of the target is also raised once at its position, because a reload uses the same session.
When the session ends, buffered events can still be read; after that, each receive raises the reason. A payload is
decoded once for all consumers. A warning names a stream that is nearly full or loses events, with the place that
opened it, at most once in WARN_EVERY seconds.
"""

from __future__ import annotations

import inspect
import re
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Generic, Self, TypeVar

import attrs
import msgspec
import trio

from cdpengine._checks import check_string, invalid
from cdpengine._logs import get_logger
from cdpengine._pickling import not_picklable
from cdpengine._protocol.messages import decode_payload
from cdpengine.errors import EventsLostError, ProtocolError, TargetCrashedError

T = TypeVar("T")

_METHOD = re.compile(r"[A-Za-z][A-Za-z0-9]*\.[A-Za-z][A-Za-z0-9]*\Z")
_DOMAIN = re.compile(r"([A-Za-z][A-Za-z0-9]*)\.\*\Z")


class Event:
    """One event: `method` ("Network.requestWillBeSent"), `session_id`, and its parameters, as JSON in `raw`."""

    __slots__ = ("_params", "method", "raw", "session_id")

    def __init__(self, method: str, session_id: str | None, raw: msgspec.Raw | bytes) -> None:
        self.method = method
        self.session_id = session_id
        self.raw = raw or b"{}"
        self._params: dict[str, Any] | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Event, (self.method, self.session_id, bytes(self.raw))

    @property
    def params(self) -> dict[str, Any]:
        """The parameters as a dict, decoded on first use. All subscribers share it: do not change it.

        Raises ProtocolError, with the raw JSON, if they are not an object.
        """
        if self._params is None:
            self._params = self.decode(dict[str, Any])
        return self._params

    def decode(self, kind: type[T]) -> T:
        """Decode the parameters as `kind`.

        Raises ProtocolError if they have another shape.
        """
        try:
            return decode_payload(self.raw, kind)
        except msgspec.DecodeError as error:
            raise ProtocolError(
                method=self.method, reason=str(error), raw=bytes(self.raw), is_event=True
            ) from None

    def typed(self) -> Any:
        """Return PyCDP's class for this event, such as `cdp.page.LoadEventFired`.

        Raises ProtocolError, with the raw JSON, if PyCDP does not know the event or its shape: PyCDP
        covers the protocol of 2020.
        """
        import cdp.util

        try:
            return cdp.util.parse_json_event({"method": self.method, "params": self.params})
        except (KeyError, ValueError, TypeError, AttributeError) as error:
            reason = f"PyCDP cannot decode it ({type(error).__name__}: {error})"
            raise ProtocolError(
                method=self.method, reason=reason, raw=bytes(self.raw), is_event=True
            ) from error

    def __repr__(self) -> str:
        return f"<Event {self.method} ({len(bytes(self.raw))} bytes) session={self.session_id}>"


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a test for method names: "Page.loadEventFired", "Network.*", or "*" for all.

    Raises InvalidArgumentError for other patterns.
    """
    check_string("event pattern", pattern)
    if pattern == "*":
        return lambda _method: True
    if domain := _DOMAIN.match(pattern):
        prefix = domain[1] + "."
        return lambda method: method.startswith(prefix)
    if _METHOD.match(pattern):
        return lambda method: method == pattern
    raise invalid("event pattern", pattern, '"Domain.event", "Domain.*" or "*"')


def domain_of(pattern: str) -> str | None:
    """Return the domain of a pattern, or None for "*"."""
    return None if pattern == "*" else pattern.split(".", 1)[0]


_SMALL = 10
"""Minimum buffer size for warnings. Smaller buffers are often full on purpose."""


@attrs.frozen
class StreamStatistics:
    """Counts of a stream: events `received`, `dropped` (the buffer was full), and `waiting` in the buffer."""

    received: int
    dropped: int
    waiting: int
    buffer: int


class StreamFeed(Generic[T]):
    """The reader's end of a stream: a bounded queue of items. The consumer holds a `Stream` of it.

    `patterns` describes the items. `opened_at` is the "file:line" that opened it.
    """

    def __init__(self, patterns: Sequence[str], buffer: int, opened_at: str = "") -> None:
        self.patterns = tuple(patterns)
        self.buffer = buffer
        self.opened_at = opened_at
        self.dropped = 0
        self.consumers: Consumers | None = None
        self.crowded_since = 0.0  # set by Consumers, like the next one
        self.quiet_until = 0.0
        self._crowd = buffer - buffer // 10 if buffer >= _SMALL else buffer + 1
        self._half = (buffer - 1) // 2
        self._queue: deque[T | EventsLostError | TargetCrashedError] = deque()
        self._waiting = 0
        self._gap: EventsLostError | None = None
        self._crash_noted = False  # a crash after the last kept event, not yet raised
        self._received = 0
        self._end_reason: Callable[[], Exception] | None = None
        self._arrived = trio.lowlevel.ParkingLot()

    def statistics(self) -> StreamStatistics:
        """Return the counts so far."""
        return StreamStatistics(self._received, self.dropped, self._waiting, self.buffer)

    def deliver(self, item: T) -> None:
        """Accept one item from the reader. Never waits."""
        if self._waiting >= self._half and self.consumers is not None:
            self.consumers.need_turn = True
        if self._waiting >= self.buffer:
            self.dropped += 1
            if self._gap is None:
                self._gap = EventsLostError(pattern=", ".join(self.patterns), count=0, buffer=self.buffer)
                self._queue.append(self._gap)
                if self.consumers is not None:
                    self.consumers.lost(self)
            self._gap.count += 1
        else:
            # A gap stays open only until the next delivery.
            self._gap = None
            self._crash_noted = False
            self._queue.append(item)
            self._waiting += 1
            self._received += 1
            if self._waiting >= self._crowd:
                if self.consumers is not None:
                    self.consumers.crowded(self)
            elif self.crowded_since:
                self.crowded_since = 0.0
        self._arrived.unpark()

    def crash(self, error: TargetCrashedError) -> None:
        """Record a crash of the target at this position; the consumer raises it once."""
        if not self._crash_noted:
            self._gap = None
            self._crash_noted = True
            self._queue.append(error)
            self._arrived.unpark()

    def end(self, reason: Callable[[], Exception]) -> None:
        """End the stream. `reason` makes the error to raise."""
        if self._end_reason is None:
            self._end_reason = reason
            self._arrived.unpark_all()

    def take(self) -> T:
        """Remove and return the next item, as `Stream.receive_nowait` does."""
        if not self._queue:
            if self._end_reason is not None:
                raise self._end_reason()
            raise trio.WouldBlock
        entry = self._queue.popleft()
        if not isinstance(entry, EventsLostError | TargetCrashedError):
            self._waiting -= 1
            return entry
        if entry is self._gap:
            self._gap = None
        elif not self._waiting:
            self._crash_noted = False
        raise entry

    async def wait_and_take(self) -> T:
        """Wait for the next item, remove and return it, as `Stream.receive` does."""
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._queue:
            await trio.lowlevel.cancel_shielded_checkpoint()
        while True:
            try:
                return self.take()
            except trio.WouldBlock:
                await self._arrived.park()


class Stream(Generic[T]):
    """A queue of items, in the order of arrival. `patterns` describes the items.

    Iterate over it, or call `receive()`; one consumer at a time. `opened_at` is the "file:line" that opened it.
    """

    def __init__(self, feed: StreamFeed[T]) -> None:
        self._feed = feed
        self.patterns = feed.patterns
        self.buffer = feed.buffer
        self.opened_at = feed.opened_at

    @property
    def dropped(self) -> int:
        """Number of events dropped so far because the buffer was full."""
        return self._feed.dropped

    def statistics(self) -> StreamStatistics:
        """Return the counts so far."""
        return self._feed.statistics()

    async def receive(self) -> T:
        """Wait for the next item and return it.

        Raises EventsLostError at the position of lost events and TargetCrashedError at the position of a crash:
        receive again to continue after it. When the session has ended and all earlier items were read, raises the
        reason (SessionGoneError, ConnectionLostError). Raises trio.ClosedResourceError when the subscription has
        ended.
        """
        return await self._feed.wait_and_take()

    def receive_nowait(self) -> T:
        """Return the next item without waiting.

        Raises trio.WouldBlock if none is buffered, and the errors of `receive`.
        """
        return self._feed.take()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        return await self.receive()


class EventFeed(StreamFeed[Event]):
    """The reader's end of an EventStream. Raises InvalidArgumentError for an invalid pattern."""

    def __init__(self, patterns: Sequence[str], buffer: int, opened_at: str = "") -> None:
        super().__init__(patterns, buffer, opened_at)
        self._tests = [compile_pattern(pattern) for pattern in patterns]

    def wants(self, method: str) -> bool:
        """Return whether the stream receives events of this name."""
        return any(test(method) for test in self._tests)


@not_picklable("a list of its events")
class EventStream(Stream[Event]):
    """The events of one session that match any of the patterns, in the order in which Chrome sent them.

    `patterns` are the patterns of the subscription, `buffer` is the maximum number of waiting events, and
    `opened_at` is the "file:line" that opened it.
    """


logger = get_logger("cdpengine.session")

WARN_EVERY = 30.0
"""Seconds between two warnings about the same stream."""

CROWDED_FOR = 1.0
"""Seconds for which a stream must be nearly full, without a break, before the warning."""


class Consumers:
    """The streams of one connection. `clock` returns seconds.

    `need_turn` is set when a buffer is more than half full: its consumer must get a turn before the next delivery.
    The reader resets it.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.open: set[StreamFeed[Any]] = set()
        self.need_turn = False
        self._lost_before = 0
        self._clock = clock

    @property
    def lost_events(self) -> int:
        """Number of events dropped so far, by open and by closed streams."""
        return self._lost_before + sum(stream.dropped for stream in self.open)

    def add(self, stream: StreamFeed[Any]) -> None:
        """Add a stream that was opened."""
        stream.consumers = self
        self.open.add(stream)

    def remove(self, stream: StreamFeed[Any]) -> None:
        """Remove a stream that was closed."""
        if stream in self.open:
            self.open.remove(stream)
            self._lost_before += stream.dropped

    def lost(self, stream: StreamFeed[Any]) -> None:
        """Note that a stream begins to lose events (called by the stream)."""
        self._warn(stream, "loses events: its buffer is full")

    def crowded(self, stream: StreamFeed[Any]) -> None:
        """Note that a stream is nearly full (called by the stream with every event while it is)."""
        now = self._clock()
        if stream.crowded_since == 0.0:
            stream.crowded_since = now
        elif now - stream.crowded_since >= CROWDED_FOR:
            self._warn(stream, f"has been nearly full for {now - stream.crowded_since:.0f} s")

    def _warn(self, stream: StreamFeed[Any], trouble: str) -> None:
        now = self._clock()
        if now < stream.quiet_until:
            return
        stream.quiet_until = now + WARN_EVERY
        logger.warning(
            "the consumer of %s, opened at %s, is too slow: it %s (%d of %d waiting, %d lost so far). "
            "Receive faster, ask for fewer events, or give subscribe() a larger buffer",
            ", ".join(stream.patterns),
            stream.opened_at,
            trouble,
            stream.statistics().waiting,
            stream.buffer,
            stream.dropped,
        )


def caller() -> str:
    """Return "file:line" of the code that called into the engine, or of the engine if it has no caller."""
    frame = inspect.currentframe()
    inside = "the engine"
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith("trio."):
            break
        if not name.startswith(("cdpengine.", "contextlib")):
            return _place(frame)
        if not name.startswith(("cdpengine._protocol", "contextlib")):
            inside = _place(frame)
        frame = frame.f_back
    return inside


def _place(frame: FrameType) -> str:
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"
