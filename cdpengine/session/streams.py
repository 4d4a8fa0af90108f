"""EventStream: a bounded queue of events for one consumer.

Rule: the reader never waits for a consumer. When the buffer is full, new events are dropped and counted, and
the consumer is told, at the very point of the sequence where they are missing, by an EventsLost with their
number; after that it goes on. Nothing is lost in silence. When the session ends, what is buffered can still be
read; then the reason is raised.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

import attrs
import trio

from cdpengine.errors import EngineError, EventsLost
from cdpengine.session.events import Event


@attrs.frozen
class StreamStatistics:
    """What a stream has seen: events `received`, `dropped` for want of room, and `waiting` in the buffer."""

    received: int
    dropped: int
    waiting: int
    buffer: int


class EventStream:
    """Events of one session that match one of some patterns, in the order in which Chrome sent them.

    Iterate over it, or call `receive()`; one consumer at a time.
    """

    def __init__(self, patterns: Sequence[str], tests: Sequence[Callable[[str], bool]], buffer: int) -> None:
        self.patterns = tuple(patterns)
        self.buffer = buffer
        self._tests = tuple(tests)
        self._queue: deque[Event | EventsLost] = deque()
        self._gap: EventsLost | None = None
        self._received = 0
        self._dropped = 0
        self._end: Callable[[], EngineError] | None = None
        self._arrived = trio.lowlevel.ParkingLot()

    @property
    def dropped(self) -> int:
        """How many events were dropped so far because the buffer was full."""
        return self._dropped

    def statistics(self) -> StreamStatistics:
        """Return the counts so far."""
        return StreamStatistics(self._received, self._dropped, len(self._queue), self.buffer)

    def wants(self, method: str) -> bool:
        """Whether an event of this name belongs into the stream."""
        return any(test(method) for test in self._tests)

    async def receive(self) -> Event:
        """Return the next event, waiting for it.

        Raises EventsLost where events are missing (receive again to go on), and the reason (SessionGone,
        TargetCrashed, ConnectionLost) when the session has ended and all that came before it was read.
        """
        await trio.lowlevel.checkpoint_if_cancelled()
        if self._queue:
            await trio.lowlevel.cancel_shielded_checkpoint()
        while True:
            try:
                return self.receive_nowait()
            except trio.WouldBlock:
                await self._arrived.park()

    def receive_nowait(self) -> Event:
        """Return the next event if it is there. Raises trio.WouldBlock when not, else as `receive`."""
        if not self._queue:
            if self._end is not None:
                raise self._end()
            raise trio.WouldBlock
        entry = self._queue.popleft()
        if isinstance(entry, EventsLost):
            if entry is self._gap:
                self._gap = None
            raise entry
        return entry

    def __aiter__(self) -> EventStream:
        return self

    async def __anext__(self) -> Event:
        return await self.receive()

    def deliver(self, event: Event) -> None:
        """Take one event from the reader. Never waits."""
        if len(self._queue) >= self.buffer:
            self._dropped += 1
            if self._gap is None:
                self._gap = EventsLost(pattern=", ".join(self.patterns), count=0, buffer=self.buffer)
                self._queue.append(self._gap)
            self._gap.count += 1
        else:
            # A gap stays open only while nothing was delivered after it.
            self._gap = None
            self._queue.append(event)
            self._received += 1
        self._arrived.unpark()

    def end(self, reason: Callable[[], EngineError]) -> None:
        """Say that no event will come any more (called by the reader). `reason` makes the error to raise."""
        if self._end is None:
            self._end = reason
            self._arrived.unpark_all()
