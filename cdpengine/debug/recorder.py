"""Recorder: writes the traffic of a browser's connections to a file while a block runs.

Rule: the engine's tasks only hand messages over (`debug/handover.py`), some hundred at a time, to a process
(`debug/writer.py`) that redacts, compresses and writes them. When that cannot keep up, what waits is bounded: what
does not fit is counted and told of in the file, never waited for. What is in the file can be read up to its last
line, however the program ends; what was handed over is written even when the program is killed.
"""

from __future__ import annotations

import datetime as dt
import os
import re
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.debug.handover import TOO_SLOW, Handover
from cdpengine.debug.recording import Header
from cdpengine.debug.redact import Redactor
from cdpengine.debug.writer import Beginning, End, Lost, Message, SpanEnd
from cdpengine.errors import InvalidArgument, RecordingFailed
from cdpengine.wire.tap import Span, Tap, Traffic

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser
    from cdpengine.session.connection import Connection

LIMIT = 262_144
"""Bytes of a message above which its payload is cut."""

QUEUED = 64_000_000
"""Bytes that may wait to be written. A message that does not fit is lost, and counted."""

_CLOSE_SECONDS = 60.0
"""Seconds that the rest may take at the end in any case."""

_Known = tuple[str, str, str, str, str]


@attrs.frozen
class RecorderStatistics:
    """What a recorder did so far: messages taken and lost; bytes taken and waiting; the size of the file."""

    messages: int
    lost: int
    bytes: int
    queued: int
    written: int


class Recorder:
    """A watcher of the tap that writes a recording. Made by `record`; `path` is where it writes."""

    def __init__(
        self,
        path: Path,
        *,
        limit: int,
        queued: int,
        redactor: Redactor | None,
        product: str,
        known: Iterable[_Known] = (),
    ) -> None:
        self.path = path
        self._most_queued = queued
        self._messages = 0
        self._lost = 0
        self._told_lost = 0
        self._began = trio.current_time()
        header = Header(
            started=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
            monotonic=self._began,
            product=product,
            redacted=redactor is not None,
            limit=limit,
            pid=os.getpid(),
        )
        patterns = () if redactor is None else redactor.patterns
        beginning = Beginning(
            header=header,
            known=list(known),
            compressed=path.suffix == ".zst",
            patterns=[(pattern.pattern, pattern.flags) for pattern in patterns],
            secrets=[] if redactor is None else list(redactor.secrets),
        )
        try:
            # Others must not read what a page's user sees, so nobody but the owner may.
            self._file = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600
            )
        except OSError as error:
            raise InvalidArgument(
                what="recording", given=str(path), expected=f"a file that can be written ({error.strerror})"
            ) from None
        self._written = 0
        self._handover = Handover(beginning, self._file, path.name)

    @property
    def failure(self) -> str | None:
        """Why writing failed, None while it has not."""
        return self._handover.failure

    def __call__(self, traffic: Traffic) -> None:
        """Take one message."""
        message, time, handover = traffic.message, traffic.time, self._handover
        size = len(message)
        if handover.waiting + size > self._most_queued or handover.failure is not None:
            self._lost += 1
            return
        if self._lost != self._told_lost:
            self._tell_lost(time)
        self._messages += 1
        span = traffic.span
        sent = traffic.direction == "sent"
        if span is None:
            handover.put(Message(time, sent, traffic.connection, message), size, time)
        else:
            item = Message(time, sent, traffic.connection, message, span.number, span.name)
            handover.put(item, size, time)

    def span_ended(self, span: Span, time: float) -> None:
        """Take the end of an action."""
        if self.failure is None:
            self._handover.put(SpanEnd(time, span.number, span.began), 0, time)

    def statistics(self) -> RecorderStatistics:
        """Return the counts so far."""
        return RecorderStatistics(
            messages=self._messages,
            lost=self._lost,
            bytes=self._handover.bytes_in,
            queued=self._handover.waiting,
            written=self._size(),
        )

    def start(self) -> None:
        """Start writing: the process for that is started by a thread, and messages wait for it."""
        self._handover.start()

    def finish(self, time: float) -> None:
        """Have everything written, and the process ended. Blocks: to be called in a thread of its own.

        `time` is the end, on the engine's clock.
        """
        if self._lost != self._told_lost:
            self._tell_lost(time)
        self._handover.finish(End(time))
        self._written = self._size()
        file, self._file = self._file, -1
        os.close(file)

    def _tell_lost(self, time: float) -> None:
        self._handover.put(Lost(time, self._lost - self._told_lost), 0, time)
        self._told_lost = self._lost

    def _size(self) -> int:
        return self._written if self._file < 0 else os.fstat(self._file).st_size


# --- around a browser ----------------------------------------------------------------------------------------


@asynccontextmanager
async def record(
    browser: Browser,
    path: str | Path,
    *,
    unredacted: bool = False,
    patterns: Iterable[str | re.Pattern[str]] = (),
    secrets: Iterable[str] = (),
    limit: int = LIMIT,
    queued: int = QUEUED,
) -> AsyncIterator[Recorder]:
    """Record all traffic of `browser` to `path` while the block runs. A name that ends in ".zst" is compressed.

    Cookies, authorization, tokens, typed text and stored values are redacted as they are written, as far as
    they can be known (`Redactor`); `patterns` are further regular expressions, `secrets` exact texts.
    `unredacted=True` writes everything. Payloads above `limit` bytes (0: none) are cut, with a marker. At most
    `queued` bytes wait for the disk.

    Raises InvalidArgument for a file that cannot be written, and RecordingFailed at the end of the block when
    writing failed on the way (a full disk): the browser's work is not disturbed by that.
    """
    redactor = None if unredacted else Redactor(patterns=patterns, secrets=secrets)
    known = _known(browser.connections)
    product = browser.version.product
    async with _recording(browser.tap, path, redactor, limit, queued, product, known) as recorder:
        yield recorder


@asynccontextmanager
async def record_as_asked(tap: Tap) -> AsyncIterator[Recorder]:
    """Record what goes through a tap to where the environment variable CDPENGINE_RECORD says.

    A file that is there already is kept: the name gets a number, as one program may open several browsers.
    CDPENGINE_RECORD_UNREDACTED=1 writes secrets too. Raises as `record` does.
    """
    redactor = None if os.environ.get("CDPENGINE_RECORD_UNREDACTED") == "1" else Redactor()
    path = _unused(Path(os.environ["CDPENGINE_RECORD"]))
    async with _recording(tap, path, redactor, LIMIT, QUEUED) as recorder:
        yield recorder


@asynccontextmanager
async def record_tap(
    tap: Tap, path: str | Path, *, unredacted: bool = False, limit: int = LIMIT
) -> AsyncIterator[Recorder]:
    """Record what goes through a tap, whatever is behind it. Arguments and errors as of `record`."""
    redactor = None if unredacted else Redactor()
    async with _recording(tap, path, redactor, limit, QUEUED) as recorder:
        yield recorder


def _unused(named: Path) -> Path:
    path, number = named, 1
    while path.exists():
        number += 1
        first, dot, rest = named.name.partition(".")
        path = named.with_name(f"{first}-{number}{dot}{rest}")
    return path


@asynccontextmanager
async def _recording(
    tap: Tap,
    path: str | Path,
    redactor: Redactor | None,
    limit: int,
    queued: int,
    product: str = "",
    known: Iterable[_Known] = (),
) -> AsyncIterator[Recorder]:
    for what, given in (("limit", limit), ("queued", queued)):
        if isinstance(given, bool) or not isinstance(given, int) or given < 0:
            raise InvalidArgument(what=what, given=repr(given), expected="a number of bytes, 0 or more")
    recorder = Recorder(
        Path(path), limit=limit, queued=queued, redactor=redactor, product=product, known=known
    )
    recorder.start()
    try:
        with tap.watch(recorder):
            yield recorder
    finally:
        with trio.move_on_after(_CLOSE_SECONDS, shield=True) as closing:
            await trio.to_thread.run_sync(recorder.finish, trio.current_time(), abandon_on_cancel=True)
    if closing.cancelled_caught or recorder.failure is not None:
        raise RecordingFailed(path=str(path), reason=recorder.failure or TOO_SLOW)


def _known(connections: Iterable[Connection]) -> Iterator[_Known]:
    for connection in connections:
        for session in connection.targets.sessions.values():
            info = connection.targets.infos.get(session.target_id or "")
            if session.id is not None and session.target_id is not None:
                kind, url = ("", "") if info is None else (info.type, info.url)
                yield connection.traffic_name, session.id, session.target_id, kind, url
