"""Recording of a browser's traffic to a file while a block runs, and the log of the wire.

Rule: messages become redacted lines, several at a time, in the engine's thread. There the messages are still in
the processor's cache, and passing them to another thread would cost as much. A second thread compresses and writes
the lines (`debug/recording/recording_file.py`). The queue for a slow disk is bounded. Messages that do not fit are
counted in the file; nothing waits for the disk. The file is readable up to its last line, however the program
ends.

The log writes each message as one line to the logger `cdpengine.wire` at level DEBUG. The level is checked when a
browser is opened; at a higher level no instrument exists and the log costs nothing. Logged messages are redacted
and cut as in a recording, and safe to print on a terminal.
"""

from __future__ import annotations

import datetime as dt
import logging
import os
import re
import threading
import traceback
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine import _json
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._paths import to_path
from cdpengine._protocol.instruments import HttpExchange, Instruments, Span, Traffic
from cdpengine.debug.reading.display import plain, show_line
from cdpengine.debug.recording.fingerprints import EnteredTexts
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.recording_file import (
    TOO_SLOW,
    Claim,
    FileWriter,
    RecordingFile,
    create_from_environment,
    create_recording,
    not_begun,
)
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording_format import Header, Line
from cdpengine.errors import InvalidArgumentError, RecordingFailedError, packages_named, shortages_named

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._protocol.session import Connection


_log = get_logger("cdpengine.debug")

LIMIT = 262_144
"""Message size above which the payload is cut, in bytes."""

QUEUED = 64_000_000
"""Maximum size of the write queue, in bytes. Messages that do not fit are lost and counted."""

_TOGETHER = 1 << 14
"""Size of gathered messages that triggers their conversion, in bytes.

Large enough to be cheap, small enough (tenths of a millisecond) not to delay the engine.
"""

_CLOSE_SECONDS = 60.0
"""Minimum time allowed for writing the rest at the end, in seconds."""

_SALT = 16
"""Size of the fingerprints' salt, in bytes. It makes the fingerprints of two recordings differ."""

_ENTERED_AT_ONCE = 2
"""Number of calls whose fingerprints are computed between writes. They take tens of milliseconds."""

_Known = tuple[str, str, str, str, str]

_Item = Traffic | Callable[[], bytes]
"""A message, or a function that returns a line in its turn."""


@attrs.frozen
class RecorderStatistics:
    """Counters of a recorder: messages taken and lost, bytes taken and queued, and the size of the file."""

    messages: int
    lost: int
    bytes: int
    queued: int
    written: int


class Recorder:
    """An instrument that writes a recording to `path`. Created by `record`."""

    def __init__(
        self,
        path: Path,
        *,
        limit: int,
        queued: int,
        redactor: Redactor | None,
        product: str,
        known: Iterable[_Known] = (),
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
        self._gathered: deque[_Item] = deque()  # messages not yet converted to lines
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

    def _start(self) -> None:
        """Start writing."""
        self._writer.start()

    def _finish(self, time: float) -> None:
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

    def _lines(self, taken: Sequence[_Item]) -> Iterator[bytes]:
        messages: list[Traffic] = []
        for item in taken:
            if isinstance(item, Traffic):
                messages.append(item)
            else:
                yield from self._maker.pieces(*messages)
                messages.clear()
                yield item()
        yield from self._maker.pieces(*messages)


# --- around a browser ----------------------------------------------------------------------------------------


@asynccontextmanager
async def record(
    browser: Browser,
    path: str | Path,
    *,
    unredacted: bool = False,
    patterns: Iterable[str | re.Pattern[str]] = (),
    secrets: Iterable[str] = (),
    keep_arguments: bool = False,
    limit: int = LIMIT,
    queued: int = QUEUED,
    overwrite: bool = False,
) -> AsyncIterator[Recorder]:
    """Record all traffic of `browser` to `path` while the block runs. A name that ends in ".zst" is compressed.

    An existing file raises an error, because recording in its place would destroy it at the start.
    `overwrite=True` replaces it.

    Cookies, authorization, tokens, entered text and stored values are redacted before writing if they are
    recognised (`Redactor`). `patterns` are further regular expressions, `secrets` exact strings. Arguments and
    results of the program's scripts (`page.evaluate`, raw `Runtime.evaluate`) are withheld because their secrets
    are unknown; `keep_arguments=True` keeps them. `unredacted=True` writes everything. Payloads above `limit`
    bytes (0: none) are cut, with a marker. At most `queued` bytes wait for the disk.

    Raises InvalidArgumentError for a file that exists or is not writable, and RecordingFailedError if the system
    lacks resources at the start. If writing fails later (a full disk), the browser's work continues, and
    RecordingFailedError is raised at the end of the block.
    """
    redactor = (
        None if unredacted else Redactor(patterns=patterns, secrets=secrets, keep_arguments=keep_arguments)
    )
    known = _find_known(browser.connections)
    product = browser.version.product
    claim = partial(create_recording, to_path("recording", path), overwrite=overwrite)
    options = _Options(redactor, limit, queued, product)
    async with _record(browser.instruments, claim, options, known) as recorder:
        yield recorder


@asynccontextmanager
async def record_from_environment(instruments: Instruments) -> AsyncIterator[Recorder]:
    """Record a connection's traffic to the file named by the environment variable CDPENGINE_RECORD.

    An existing file raises an error, unless CDPENGINE_RECORD_OVERWRITE=1. If one program opens several browsers,
    later recordings get numbered names. CDPENGINE_RECORD_UNREDACTED=1 writes secrets, and
    CDPENGINE_RECORD_KEEP_ARGUMENTS=1 writes script arguments and results. Raises the errors of `record`.
    """
    keep_arguments = os.environ.get("CDPENGINE_RECORD_KEEP_ARGUMENTS") == "1"
    unredacted = os.environ.get("CDPENGINE_RECORD_UNREDACTED") == "1"
    redactor = None if unredacted else Redactor(keep_arguments=keep_arguments)
    async with _record(instruments, create_from_environment, _Options(redactor), drop_empty=True) as recorder:
        yield recorder


@asynccontextmanager
async def record_traffic(
    instruments: Instruments,
    path: str | Path,
    *,
    unredacted: bool = False,
    keep_arguments: bool = False,
    limit: int = LIMIT,
    overwrite: bool = False,
) -> AsyncIterator[Recorder]:
    """Record a connection's traffic for any client. Arguments and errors are those of `record`.

    A client does not announce entered text, so the arguments of all scripts are withheld, including the engine's
    scripts.
    """
    redactor = None if unredacted else Redactor(keep_arguments=keep_arguments)
    claim = partial(create_recording, to_path("recording", path), overwrite=overwrite)
    options = _Options(redactor, limit, foreign=True)
    async with _record(instruments, claim, options, drop_empty=True) as recorder:
        yield recorder


@attrs.frozen
class _Options:
    """Options of a recording: its redactor (None: no redaction), bounds in bytes, and browser."""

    redactor: Redactor | None
    limit: int = LIMIT
    queued: int = QUEUED
    product: str = ""
    foreign: bool = False
    """Whether another client than the engine causes the traffic."""

    def check(self) -> None:
        """Raise InvalidArgumentError for a bound that is not a number of bytes."""
        for what, value in (("limit", self.limit), ("queued", self.queued)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise InvalidArgumentError(
                    what=what, given=repr(value), expected="a number of bytes, 0 or more"
                )


@asynccontextmanager
@trio.lowlevel.enable_ki_protection
async def _record(
    instruments: Instruments,
    claim: Claim,
    options: _Options,
    known: Iterable[_Known] = (),
    *,
    drop_empty: bool = False,
) -> AsyncIterator[Recorder]:
    """Record to the file that `claim` creates.

    With `drop_empty`, a block that fails before the first message leaves no file: it would be empty and would
    block the next attempt.
    """
    options.check()
    made = claim()
    recorder = _start(made, known, options)
    failed = False
    try:
        with instruments.attached(recorder):
            yield recorder
    except Exception:
        failed = True
        raise
    finally:
        # In a separate task, because a second Ctrl-C would end the wait of this task.
        closing = trio.CancelScope(shield=True)
        with trio.CancelScope(shield=True):
            async with open_body_nursery() as nursery:
                nursery.start_soon(_close, recorder, closing)
        done = recorder.statistics()
        if failed and drop_empty and not done.messages + done.lost:
            made.remove()
    if closing.cancelled_caught or recorder.failure is not None:
        raise RecordingFailedError(path=str(made.path), reason=recorder.failure or TOO_SLOW)


def _start(made: RecordingFile, known: Iterable[_Known], options: _Options) -> Recorder:
    """Start a recorder that writes to the file. On failure, remove the file."""
    try:
        with shortages_named(partial(not_begun, made.path)):
            recorder = Recorder(
                made.path, known=known, file=made.descriptor, **attrs.asdict(options, recurse=False)
            )
            recorder._start()
    except BaseException:
        os.close(made.descriptor)
        made.remove()
        raise
    return recorder


@trio.lowlevel.enable_ki_protection
async def _close(recorder: Recorder, closing: trio.CancelScope) -> None:
    closing.deadline = trio.current_time() + _CLOSE_SECONDS
    with closing:
        await trio.to_thread.run_sync(recorder._finish, trio.current_time(), abandon_on_cancel=True)


def _find_known(connections: Iterable[Connection]) -> Iterator[_Known]:
    for connection in connections:
        for session in connection.targets.sessions.values():
            info = connection.targets.infos.get(session.target_id or "")
            if session.id is not None and session.target_id is not None:
                kind, url = ("", "") if info is None else (info.type, info.url)
                yield connection.wire.traffic_name, session.id, session.target_id, kind, url


# --- the log of the wire -------------------------------------------------------------------------------------

wire_logger = get_logger("cdpengine.wire")

LOG_LIMIT = 2_000
"""Size of a logged message above which its payload is cut, in bytes."""


class WireLog:
    """An instrument that logs messages. Each message checks the logger's level, which may change."""

    def __init__(self) -> None:
        self._lines = LineMaker(began=trio.current_time(), limit=LOG_LIMIT, redactor=Redactor())
        self._decode = _json.Decoder(Line).decode

    def add_secret(self, text: str) -> None:
        """Keep a string out of the log from now on."""
        self._lines.add_secret(text)

    def __call__(self, traffic: Traffic) -> None:
        """Write one message to the log, as one or more lines."""
        if not wire_logger.isEnabledFor(logging.DEBUG):
            return
        for line in self._lines.lines(traffic):
            wire_logger.debug("%s %s", traffic.connection, plain(show_line(self._decode(line))).strip())


@contextmanager
def log_traffic(instruments: Instruments) -> Iterator[None]:
    """Log the traffic of `instruments` (`browser.instruments`) while the block runs. Requires trio."""
    with instruments.attached(WireLog()):
        yield
