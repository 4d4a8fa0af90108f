"""Recorder: writes the traffic of a browser's connections to a file while a block runs.

Rule: the engine's tasks only put messages into a queue; one thread redacts, compresses and writes them. When
the disk cannot keep up, the queue is bounded: what does not fit is counted and told of in the file, never
waited for. What is in the file can be read up to its last line, however the program ends.
"""

from __future__ import annotations

import datetime as dt
import os
import queue
import re
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, NamedTuple

import attrs
import msgspec
import trio

from cdpengine.debug.lines import LineMaker
from cdpengine.debug.recording import Header
from cdpengine.debug.redact import Redactor
from cdpengine.errors import InvalidArgument, RecordingFailed
from cdpengine.wire.tap import Span, Tap, Traffic

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser
    from cdpengine.session.connection import Connection

LIMIT = 262_144
"""Bytes of a message above which its payload is cut."""

QUEUED = 64_000_000
"""Bytes that may wait to be written. A message that does not fit is lost, and counted."""

_FLUSH_SECONDS = 0.25

_GATHER_SECONDS = 0.02
"""How long the writing thread lets messages gather once it has written all that there were."""

_TOGETHER = 16
_TOGETHER_BYTES = 20_000
"""Messages, and bytes of them, after which the writing thread lets the engine's go on."""

_LEVEL = 3
_CLOSE_PATIENCE = 10.0

_Known = tuple[str, str, str, str, str]


@attrs.frozen
class RecorderStatistics:
    """What a recorder did so far: messages taken and lost; bytes taken, waiting, and written as lines."""

    messages: int
    lost: int
    bytes: int
    queued: int
    written: int


class _SpanEnd(NamedTuple):
    time: float
    number: int
    began: float


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
        self.failure: BaseException | None = None
        self._most_queued = queued
        self._queue: queue.SimpleQueue[Traffic | _SpanEnd | Literal["end"]] = queue.SimpleQueue()
        self._ending = threading.Event()
        self._messages = 0
        self._lost = 0
        self._told_lost = 0  # changed by the writing thread only, as is the next one
        self._latest = trio.current_time()
        self._bytes_in = 0  # changed by the engine's thread only
        self._bytes_out = 0  # changed by the writing thread only
        self._written = 0
        self._began = trio.current_time()
        self._ended = self._began
        self._lines = LineMaker(began=self._began, limit=limit, redactor=redactor)
        header = Header(
            started=dt.datetime.now(dt.UTC).isoformat(timespec="microseconds"),
            monotonic=self._began,
            product=product,
            redacted=redactor is not None,
            limit=limit,
            pid=os.getpid(),
        )
        first = [_encode_header(header)]
        first += [self._lines.target(self._began, *each) for each in known]
        try:
            # Others must not read what a page's user sees, so nobody but the owner may.
            descriptor = os.open(
                path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o600
            )
        except OSError as error:
            raise InvalidArgument(
                what="recording", given=str(path), expected=f"a file that can be written ({error.strerror})"
            ) from None
        self._file = os.fdopen(descriptor, "wb", buffering=1 << 16)
        self._thread = threading.Thread(
            target=self._run, args=(first,), name=f"recorder {path.name}", daemon=True
        )

    def __call__(self, traffic: Traffic) -> None:
        """Take one message."""
        size = len(traffic.message)
        if self._bytes_in - self._bytes_out + size > self._most_queued or self.failure is not None:
            self._lost += 1
            return
        self._messages += 1
        self._bytes_in += size
        self._queue.put(traffic)

    def span_ended(self, span: Span, time: float) -> None:
        """Take the end of an action."""
        if self.failure is None:
            self._queue.put(_SpanEnd(time, span.number, span.began))

    def statistics(self) -> RecorderStatistics:
        """Return the counts so far."""
        return RecorderStatistics(
            messages=self._messages,
            lost=self._lost,
            bytes=self._bytes_in,
            queued=self._bytes_in - self._bytes_out,
            written=self._written,
        )

    def start(self) -> None:
        """Start the writing thread."""
        self._thread.start()

    def finish(self) -> None:
        """Have everything written and the file closed. Blocks: to be called in a thread of its own."""
        self._queue.put("end")
        self._ending.set()
        self._thread.join()

    def note_end(self) -> None:
        """Note the time of the end, on the engine's clock."""
        self._ended = trio.current_time()

    # --- the thread ----------------------------------------------------------------------------------------

    def _run(self, first: list[bytes]) -> None:
        try:
            with self._file, _opened(self.path, self._file) as stream:
                self._write(stream, first)
        except BaseException as error:  # noqa: BLE001 - told at the end of the block, in the engine's task
            self.failure = error

    def _write(self, stream: _Stream, first: list[bytes]) -> None:
        stream.write(b"".join(first))
        flushed, dirty, ended = time.monotonic(), True, False
        while not ended:
            lines, size, ended = self._take()
            if lines:
                text = b"".join(lines)
                stream.write(text)
                dirty = True
                self._written += len(text)
                self._bytes_out += size
            if dirty and time.monotonic() - flushed > _FLUSH_SECONDS:
                stream.flush()
                flushed, dirty = time.monotonic(), False
            if lines:
                time.sleep(
                    0
                )  # lets the engine's thread go on: it would wait 5 ms for this one to be interrupted
            elif not ended:
                # A pause, not a wait for the next message: a thread that woke for each would take the interpreter
                # from the engine as often.
                self._ending.wait(_GATHER_SECONDS)

    def _take(self) -> tuple[list[bytes], int, bool]:
        """Return the lines of some messages that wait, the messages' size in bytes, and whether it is the end."""
        lines: list[bytes] = []
        size = 0
        for _ in range(_TOGETHER):
            try:
                traffic = self._queue.get_nowait()
            except queue.Empty:
                break
            if self._lost != self._told_lost:
                lost, self._told_lost = self._lost - self._told_lost, self._lost
                lines.append(self._lines.lost(self._latest, lost))
            if traffic == "end":
                lines.append(self._lines.end(self._ended))
                return lines, size, True
            if isinstance(traffic, _SpanEnd):
                lines.append(self._lines.span_ended(traffic.time, traffic.number, traffic.began))
                continue
            self._latest = traffic.time
            lines += self._lines.lines(traffic)
            size += len(traffic.message)
            if size > _TOGETHER_BYTES:
                break
        return lines, size, False


class _Stream:
    """Where lines go: the file, or the file through zstandard. `flush` makes what was written readable."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        """Write what is left."""


class _Compressed(_Stream):
    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        super().__init__(file)
        self._flush_block = zstandard.COMPRESSOBJ_FLUSH_BLOCK
        self._compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()

    def write(self, data: bytes) -> None:
        self._file.write(self._compressor.compress(data))

    def flush(self) -> None:
        self._file.write(self._compressor.flush(self._flush_block))
        self._file.flush()

    def close(self) -> None:
        self._file.write(self._compressor.flush())


class _opened:  # noqa: N801 - reads as a function
    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._stream = _Compressed(file) if path.suffix == ".zst" else _Stream(file)

    def __enter__(self) -> _Stream:
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._stream.close()


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
        recorder.note_end()
        with trio.move_on_after(_CLOSE_PATIENCE, shield=True) as closing:
            await trio.to_thread.run_sync(recorder.finish, abandon_on_cancel=True)
    if closing.cancelled_caught or recorder.failure is not None:
        reason = "the disk did not take it in time" if recorder.failure is None else str(recorder.failure)
        raise RecordingFailed(path=str(path), reason=reason) from recorder.failure


def _known(connections: Iterable[Connection]) -> Iterator[_Known]:
    for connection in connections:
        for session in connection.targets.sessions.values():
            info = connection.targets.infos.get(session.target_id or "")
            if session.id is not None and session.target_id is not None:
                kind, url = ("", "") if info is None else (info.type, info.url)
                yield connection.traffic_name, session.id, session.target_id, kind, url


def _encode_header(header: Header) -> bytes:
    # Its first fields are what tells a recording from other files, so they are written although they are defaults.
    fields = {"cdpengine": header.cdpengine, "version": header.version} | msgspec.to_builtins(header)
    return msgspec.json.encode(fields) + b"\n"
