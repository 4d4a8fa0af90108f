"""Stream: a bounded queue for one consumer. EventStream: that of the events of one session.

Rule: the reader never waits for a consumer. When the buffer is full, new events are dropped and counted, and
the consumer is told, at the very point of the sequence where they are missing, by an EventsLostError with their
number; after that it goes on. Nothing is lost in silence. A crash of the target is told in the same way, at its
place and once, because a reload brings the same session back. When the session ends, what is buffered can still
be read; then the reason is raised, each time.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Generic, Self, TypeVar

import attrs
import trio

from cdpengine._protocol.events import Event
from cdpengine.errors import EventsLostError, TargetCrashedError

if TYPE_CHECKING:
    from cdpengine._protocol.consumers import Consumers

T = TypeVar("T")

_SMALL = 10
"""A buffer of less than this is often full, and nobody has to be warned of that."""


@attrs.frozen
class StreamStatistics:
    """What a stream has seen: events `received`, `dropped` for want of room, and `waiting` in the buffer."""

    received: int
    dropped: int
    waiting: int
    buffer: int


class Stream(Generic[T]):
    """Items of some kinds (`patterns` names them), in the order in which they came.

    Iterate over it, or call `receive()`; one consumer at a time. `opened_at` is "file:line" of who opened it.
    """

    def __init__(self, patterns: Sequence[str], buffer: int, opened_at: str = "") -> None:
        self.patterns = tuple(patterns)
        self.buffer = buffer
        self.opened_at = opened_at
        self.consumers: Consumers | None = None
        self.crowded_since = 0.0  # kept by the consumers, as the next one is
        self.quiet_until = 0.0
        self._crowd = buffer - buffer // 10 if buffer >= _SMALL else buffer + 1
        self._queue: deque[T | EventsLostError | TargetCrashedError] = deque()
        self._waiting = 0
        self._gap: EventsLostError | None = None
        self._crash_noted = False  # after the last event that was kept, and not yet told
        self._received = 0
        self._dropped = 0
        self._end: Callable[[], Exception] | None = None
        self._arrived = trio.lowlevel.ParkingLot()

    @property
    def dropped(self) -> int:
        """How many events were dropped so far because the buffer was full."""
        return self._dropped

    def statistics(self) -> StreamStatistics:
        """Return the counts so far."""
        return StreamStatistics(self._received, self._dropped, self._waiting, self.buffer)

    async def receive(self) -> T:
        """Return the next item, waiting for it.

        Raises EventsLostError where events are missing and TargetCrashedError where the target crashed: receive
        again to go on with what followed. Raises the reason (SessionGoneError, ConnectionLostError) when the
        session has ended and all that came before it was read, and trio.ClosedResourceError when the subscription
        was left.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._queue:
            await trio.lowlevel.cancel_shielded_checkpoint()
        while True:
            try:
                return self.receive_nowait()
            except trio.WouldBlock:
                await self._arrived.park()

    def receive_nowait(self) -> T:
        """Return the next item if it is there. Raises trio.WouldBlock when not, else as `receive`."""
        if not self._queue:
            if self._end is not None:
                raise self._end()
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

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        return await self.receive()

    def deliver(self, item: T) -> None:
        """Take one item from the reader. Never waits."""
        if self._waiting >= self.buffer:
            self._dropped += 1
            if self._gap is None:
                self._gap = EventsLostError(pattern=", ".join(self.patterns), count=0, buffer=self.buffer)
                self._queue.append(self._gap)
                if self.consumers is not None:
                    self.consumers.lost(self)
            self._gap.count += 1
        else:
            # A gap stays open only while nothing was delivered after it.
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
        """Note that the target crashed here (called by the reader): told once, in its place."""
        if not self._crash_noted:
            self._gap = None
            self._crash_noted = True
            self._queue.append(error)
            self._arrived.unpark()

    def end(self, reason: Callable[[], Exception]) -> None:
        """Say that no event will come any more (called by the reader). `reason` makes the error to raise."""
        if self._end is None:
            self._end = reason
            self._arrived.unpark_all()


class EventStream(Stream[Event]):
    """Events of one session that match one of some patterns, in the order in which Chrome sent them."""

    def __init__(
        self,
        patterns: Sequence[str],
        tests: Sequence[Callable[[str], bool]],
        buffer: int,
        opened_at: str = "",
    ) -> None:
        super().__init__(patterns, buffer, opened_at)
        self._tests = tuple(tests)

    def wants(self, method: str) -> bool:
        """Whether an event of this name belongs into the stream."""
        return any(test(method) for test in self._tests)
