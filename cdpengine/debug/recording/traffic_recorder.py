"""TrafficRecorder: the instrument that converts messages to lines of a file.

Rule: messages become redacted lines, several at a time, in the engine's thread. There the messages are still in
the processor's cache, and passing them to another thread would cost as much. A second thread compresses and writes
the lines (`debug/recording/recording_file.py`). The queue for a slow disk is bounded. Messages that do not fit are
counted in the file; nothing waits for the disk. The file is readable up to its last line, however the program
ends.
"""

from __future__ import annotations

import datetime as dt
import os
import threading
import traceback
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._protocol.instruments import HttpExchange, Span, Traffic
from cdpengine.debug.recording.fingerprints import EnteredTexts
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.recording_file import FileWriter, create_recording
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording_format import Header
from cdpengine.errors import packages_named

_log = get_logger("cdpengine.debug")

LIMIT = 262_144
"""Message size above which the payload is cut, in bytes."""

QUEUED = 64_000_000
"""Maximum size of the write queue, in bytes. Messages that do not fit are lost and counted."""

_TOGETHER = 1 << 14
"""Size of gathered messages that triggers their conversion, in bytes.

Large enough to be cheap, small enough (tenths of a millisecond) not to delay the engine.
"""

_SALT = 16
"""Size of the fingerprints' salt, in bytes. It makes the fingerprints of two recordings differ."""

_ENTERED_AT_ONCE = 2
"""Number of calls whose fingerprints are computed between writes. They take tens of milliseconds."""

KnownTarget = tuple[str, str, str, str, str]
"""A session that exists at the start: connection, session id, target id, type and URL."""

Item = Traffic | Callable[[], bytes]
"""A message, or a function that returns a line in its turn."""


@attrs.frozen
class RecorderStatistics:
    """Counters of a recorder: messages taken and lost, bytes taken and queued, and the size of the file."""

    messages: int
    lost: int
    bytes: int
    queued: int
    written: int


class TrafficRecorder:
    """An instrument that writes a recording to `path`."""

    def __init__(
        self,
        path: Path,
        *,
        limit: int,
        queued: int,
        redactor: Redactor | None,
        product: str,
        known: Iterable[KnownTarget] = (),
        foreign: bool = False,
        file: int | None = None,
    ) -> None:
        self.path = path
        began = trio.current_time()
        salt = os.urandom(_SALT) if redactor is not None else b""
        header = Header(
            started=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
            monotonic=began,
            product=product,
            redacted=redactor is not None,
            limit=limit,
            pid=os.getpid(),
            salt=salt.hex(),
        )
        self._most_queued = queued
        self._messages = 0
        self._latest = began
        self._lost = 0
        self._reported_lost = 0
        self._failure: str | None = None
        self._entered = None if redactor is None else EnteredTexts(salt)
        self._computing = threading.Lock()  # held while fingerprints are computed
        self._maker = LineMaker(
            began=began, limit=limit, redactor=redactor, foreign=foreign, entered=self._entered
        )
        self._gathered: deque[Item] = deque()  # messages not yet converted to lines
        self._making = threading.Lock()  # held while messages are taken out of it
        self._bytes_in = 0  # changed by the engine's thread only
        self._bytes_made = 0  # changed by the holder of the lock
        first = [header.encoded(), *(self._maker.target(began, *each) for each in known)]
        compressed = path.suffix == ".zst"
        if compressed:
            with packages_named():
                import zstandard  # noqa: F401 - it takes a while, in which there had better be no empty file
        descriptor = create_recording(path).descriptor if file is None else file
        self._writer = FileWriter(descriptor, path.name, compressed=compressed, gather=self._gather)
        self._writer.give(first)

    @property
    def failure(self) -> str | None:
        """Reason why writing failed, or None."""
        return self._failure or self._writer.failure

    def __call__(self, traffic: Traffic) -> None:
        """Record one message."""
        size = len(traffic.message)
        gathered = self._bytes_in - self._bytes_made + size
        if gathered + self._writer.waiting > self._most_queued or self.failure is not None:
            self._lost += 1
            return
        if self._lost != self._reported_lost:
            self._report_lost(traffic.time)
        self._messages += 1
        self._latest = traffic.time
        self._bytes_in += size
        self._gathered.append(traffic)
        if gathered > _TOGETHER:
            self._make_lines()

    def span_ended(self, span: Span, time: float, failed: str) -> None:
        """Record the end of an action."""
        if self.failure is None:  # after a failure nothing consumes it
            self._gathered.append(partial(self._maker.span_ended, time, span.number, span.began, failed))

    def add_secret(self, text: str) -> None:
        """Keep a string out of all later lines."""
        if self.failure is None:
            self._gathered.append(partial(self._maker.add_secret, text))

    def take_http(self, exchange: HttpExchange) -> None:
        """Record a client's HTTP exchange."""
        if self.failure is None:
            self._gathered.append(partial(self._maker.http, exchange))

    def statistics(self) -> RecorderStatistics:
        """Return the counts so far."""
        return RecorderStatistics(
            messages=self._messages,
            lost=self._lost,
            bytes=self._bytes_in,
            queued=self._bytes_in - self._bytes_made + self._writer.waiting,
            written=self._writer.written,
        )

    def start(self) -> None:
        """Start writing."""
        self._writer.start()

    def finish(self, time: float) -> None:
        """Write everything and close the file. Blocks, so call it in a thread.

        `time` is the end, on the engine's clock.
        """
        if self._lost != self._reported_lost:
            self._report_lost(time)
        while True:
            self._make_lines()
            with self._making:  # until the writer thread has converted its messages
                if not self._gathered:
                    break
        self._add_entered(None)
        self._gathered.append(partial(self._maker.end, time))
        self._writer.finish()

    def _report_lost(self, time: float) -> None:
        self._gathered.append(partial(self._maker.lost, time, self._lost - self._reported_lost))
        self._reported_lost = self._lost

    def _gather(self) -> None:
        """Prepare data for the writer thread. Called by that thread."""
        self._make_lines()
        self._add_entered(_ENTERED_AT_ONCE)
        self._make_lines()

    def _add_entered(self, most: int | None) -> None:
        """Add the lines of entered text for the next `most` calls, None for all. Slow."""
        if self._entered is None or self.failure is not None:
            return
        with self._computing:
            for each in self._entered.end() if most is None else self._entered.take(most):
                self._gathered.append(partial(self._maker.entered, self._latest, each))

    @trio.lowlevel.enable_ki_protection  # a Ctrl-C in here would silently lose lines
    def _make_lines(self) -> None:
        """Convert gathered messages to lines. Does nothing if another thread is already converting."""
        gathered = self._gathered
        while gathered and self._making.acquire(blocking=False):
            try:
                taken = [gathered.popleft() for _ in range(len(gathered))]
                self._writer.give(list(self._lines(taken)))
                self._bytes_made += sum(len(item.message) for item in taken if isinstance(item, Traffic))
            except Exception as error:  # noqa: BLE001 - reported at the end, without message content
                at = traceback.extract_tb(error.__traceback__)[-1]
                self._failure = f"{type(error).__name__} in {Path(at.filename).name}, line {at.lineno}"
                _log.debug("a recorder failed", exc_info=error)
            finally:
                self._making.release()

    def _lines(self, taken: Sequence[Item]) -> Iterator[bytes]:
        messages: list[Traffic] = []
        for item in taken:
            if isinstance(item, Traffic):
                messages.append(item)
            else:
                yield from self._maker.pieces(*messages)
                messages.clear()
                yield item()
        yield from self._maker.pieces(*messages)
