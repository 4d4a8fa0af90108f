"""Consumers: the event streams that are open on one connection, what they lost, and who is too slow.

Rule: a stream that keeps up costs nothing here. One that loses events, or stays nearly full, is named in a warning
with the place that opened it; one warning a stream in WARN_EVERY seconds, however much it loses.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from cdpengine._logs import get_logger

if TYPE_CHECKING:
    from cdpengine._protocol.event_streams import Stream

logger = get_logger("cdpengine.session")

WARN_EVERY = 30.0
"""Seconds between two warnings about the same stream."""

CROWDED_FOR = 1.0
"""Seconds that a stream has to be nearly full, without a break, before it is warned about."""


class Consumers:
    """The streams of one connection. `clock` gives seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.open: set[Stream[Any]] = set()
        self._lost_before = 0
        self._clock = clock

    @property
    def lost_events(self) -> int:
        """How many events were dropped so far, by streams that are open and by those that were."""
        return self._lost_before + sum(stream.dropped for stream in self.open)

    def add(self, stream: Stream[Any]) -> None:
        """Note that a stream was opened."""
        stream.consumers = self
        self.open.add(stream)

    def remove(self, stream: Stream[Any]) -> None:
        """Note that a stream was left."""
        if stream in self.open:
            self.open.remove(stream)
            self._lost_before += stream.dropped

    def lost(self, stream: Stream[Any]) -> None:
        """Take note that a stream begins to lose events (called by it)."""
        self._warn(stream, "loses events: its buffer is full")

    def crowded(self, stream: Stream[Any]) -> None:
        """Take note that a stream is nearly full (called by it with every event for as long as it is)."""
        now = self._clock()
        if stream.crowded_since == 0.0:
            stream.crowded_since = now
        elif now - stream.crowded_since >= CROWDED_FOR:
            self._warn(stream, f"has been nearly full for {now - stream.crowded_since:.0f} s")

    def _warn(self, stream: Stream[Any], trouble: str) -> None:
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
    """Return "file:line" of the code that called into the engine; of the engine's own where nobody else did."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the documented way to it
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
