"""Recording of a browser's traffic to a file while a block runs, and the log of the wire.

Rule: the end of the block ends the recording, however the block ends, and a failure to write is raised there.

The log writes each message as one line to the logger `cdpengine.wire` at level DEBUG. The level is checked when a
browser is opened; at a higher level no instrument exists and the log costs nothing. Logged messages are redacted
and cut as in a recording, and safe to print on a terminal.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine import _json
from cdpengine._checks import check_count
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._paths import to_path
from cdpengine._protocol.instruments import Instruments, Traffic
from cdpengine.debug.reading.display import plain, show_line
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording.recording_file import (
    TOO_SLOW,
    Claim,
    RecordingFile,
    create_from_environment,
    create_recording,
    not_begun,
)
from cdpengine.debug.recording.redact import Redactor
from cdpengine.debug.recording.traffic_recorder import (
    LIMIT,
    QUEUED,
    KnownTarget,
    RecorderStatistics,
    TrafficRecorder,
)
from cdpengine.debug.recording_format import Line
from cdpengine.errors import FileNotWrittenError, shortages_named

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._protocol.session import Connection


_CLOSE_SECONDS = 60.0
"""Minimum time allowed for writing the rest at the end, in seconds."""


class Recorder:
    """A running recording to the file `path`. Created by `record`."""

    def __init__(self, instrument: TrafficRecorder) -> None:
        self.path = instrument.path
        self._instrument = instrument

    @property
    def failure(self) -> str | None:
        """Reason why writing failed, or None."""
        return self._instrument.failure

    def statistics(self) -> RecorderStatistics:
        """Return the counts so far."""
        return self._instrument.statistics()


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

    Raises InvalidArgumentError for a file that exists or is not writable, and FileNotWrittenError if the system
    lacks resources at the start. If writing fails later (a full disk), the browser's work continues, and
    FileNotWrittenError is raised at the end of the block.
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
            check_count(what, value, unit="bytes")


@asynccontextmanager
@trio.lowlevel.enable_ki_protection
async def _record(
    instruments: Instruments,
    claim: Claim,
    options: _Options,
    known: Iterable[KnownTarget] = (),
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
            yield Recorder(recorder)
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
        reason = recorder.failure or TOO_SLOW
        raise FileNotWrittenError(
            "the recording", str(made.path), reason, "The earlier traffic is in the file"
        )


def _start(made: RecordingFile, known: Iterable[KnownTarget], options: _Options) -> TrafficRecorder:
    """Start a recorder that writes to the file. On failure, remove the file."""
    try:
        with shortages_named(partial(not_begun, made.path)):
            recorder = TrafficRecorder(
                made.path, known=known, file=made.descriptor, **attrs.asdict(options, recurse=False)
            )
            recorder.start()
    except BaseException:
        os.close(made.descriptor)
        made.remove()
        raise
    return recorder


@trio.lowlevel.enable_ki_protection
async def _close(recorder: TrafficRecorder, closing: trio.CancelScope) -> None:
    closing.deadline = trio.current_time() + _CLOSE_SECONDS
    with closing:
        await trio.to_thread.run_sync(recorder.finish, trio.current_time(), abandon_on_cancel=True)


def _find_known(connections: Iterable[Connection]) -> Iterator[KnownTarget]:
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
