"""Recorder: writes the traffic of a browser's connections to a file while a block runs.

Rule: the engine's tasks only put messages into a queue. A thread hands them over, some hundred at a time, to a
process (`debug/writer.py`) that redacts, compresses and writes them. When that cannot keep up, the queue is
bounded: what does not fit is counted and told of in the file, never waited for. What is in the file can be read up
to its last line, however the program ends; what was handed over is written even when the program is killed.
"""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
import sys
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.debug.recording import Header
from cdpengine.debug.redact import Redactor
from cdpengine.debug.writer import PROGRAM, Batch, Beginning, End, Item, Lost, Message, SpanEnd, framed
from cdpengine.errors import InvalidArgument, RecordingFailed
from cdpengine.wire.tap import Span, Tap, Traffic

if TYPE_CHECKING:
    from cdpengine.engine.browser import Browser
    from cdpengine.session.connection import Connection

LIMIT = 262_144
"""Bytes of a message above which its payload is cut."""

QUEUED = 64_000_000
"""Bytes that may wait to be written. A message that does not fit is lost, and counted."""

_GATHER_SECONDS = 0.05
"""How long messages gather before they are handed over, when they are few."""

_TOGETHER_BYTES = 1 << 18
"""Bytes of messages that are handed over at once: few enough to stay in the processor's cache on their way."""

_PIPE_BYTES = 1 << 20
"""What may lie in the pipe to the process, where the system allows it: the thread need not wake up as often."""

_PATIENCE = 10.0
"""Seconds that the rest may take at the end without any of it being taken."""

_CLOSE_SECONDS = 60.0
"""Seconds that the rest may take at the end in any case."""

_TOO_SLOW = "the disk did not take it in time"

_HOME = str(Path(__file__).resolve().parents[2])
"""Where the package is."""

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
    """A watcher of the tap that writes a recording. Made by `record`; `path` is where it writes.

    `failure` says why writing failed, None while it has not.
    """

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
        self.failure: str | None = None
        self._most_queued = queued
        self._queue: deque[Item] = deque()
        self._ending = False
        self._wake = threading.Event()
        self._woken_at = 0
        self._messages = 0
        self._lost = 0
        self._told_lost = 0
        self._bytes_in = 0  # changed by the engine's thread only
        self._bytes_out = 0  # changed by the handing thread only
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
        self._beginning = Beginning(
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
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name=f"recorder {path.name}", daemon=True)

    def __call__(self, traffic: Traffic) -> None:
        """Take one message."""
        message = traffic.message
        size = len(message)
        if self._bytes_in - self._bytes_out + size > self._most_queued or self.failure is not None:
            self._lost += 1
            return
        if self._lost != self._told_lost:
            self._tell_lost(traffic.time)
        self._messages += 1
        self._bytes_in += size
        if self._bytes_in - self._woken_at > _TOGETHER_BYTES:
            self._woken_at = self._bytes_in
            self._wake.set()
        span = traffic.span
        sent = traffic.direction == "sent"
        if span is None:
            self._queue.append(Message(traffic.time, sent, traffic.connection, message))
        else:
            self._queue.append(
                Message(traffic.time, sent, traffic.connection, message, span.number, span.name)
            )

    def span_ended(self, span: Span, time: float) -> None:
        """Take the end of an action."""
        if self.failure is None:
            self._queue.append(SpanEnd(time, span.number, span.began))

    def statistics(self) -> RecorderStatistics:
        """Return the counts so far."""
        return RecorderStatistics(
            messages=self._messages,
            lost=self._lost,
            bytes=self._bytes_in,
            queued=self._bytes_in - self._bytes_out,
            written=self._size(),
        )

    def start(self) -> None:
        """Start writing: the process for that is started by a thread, and messages wait for it."""
        self._thread.start()

    def finish(self, time: float) -> None:
        """Have everything written, and the process ended. Blocks: to be called in a thread of its own.

        `time` is the end, on the engine's clock.
        """
        if self._lost != self._told_lost:
            self._tell_lost(time)
        self._queue.append(End(time))
        self._ending = True
        self._wake.set()
        done = -1
        while self._thread.is_alive() and done != self._bytes_out:
            done = self._bytes_out
            self._thread.join(_PATIENCE)
        if self._thread.is_alive():
            self.failure = _TOO_SLOW
            if self._child is not None:
                self._child.kill()
            self._thread.join(_PATIENCE)
        self._written = self._size()
        file, self._file = self._file, -1
        os.close(file)

    def _tell_lost(self, time: float) -> None:
        self._queue.append(Lost(time, self._lost - self._told_lost))
        self._told_lost = self._lost

    def _size(self) -> int:
        return self._written if self._file < 0 else os.fstat(self._file).st_size

    # --- the thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            child = self._child = _start_writer(self._file)
        except OSError as error:
            self.failure = f"the process that writes it could not be started ({error.strerror or error})"
            return
        assert child.stdin is not None
        assert child.stderr is not None
        ended = False
        with child.stdin as pipe, child.stderr:
            try:
                _write_all(pipe.fileno(), framed(self._beginning))
                while not ended:
                    # A pause, not a wait for the next message: a thread that woke for each would take the
                    # interpreter from the engine as often.
                    self._wake.wait(_GATHER_SECONDS)
                    self._wake.clear()
                    ended = self._ending
                    while self._hand_over(pipe.fileno()):
                        pass
                pipe.close()
            except OSError:
                pass  # the process is gone; it says why
            reason = child.stderr.read().decode("utf-8", "replace").strip()
            status = child.wait()
        if status:
            self.failure = self.failure or reason or f"the process that writes it ended with status {status}"

    def _hand_over(self, pipe: int) -> bool:
        """Hand over what waits, but not too much at a time. Return whether there was anything."""
        items: list[Item] = []
        size = 0
        queue = self._queue
        while queue and size < _TOGETHER_BYTES:
            item = queue.popleft()
            items.append(item)
            size += len(item.message) if isinstance(item, Message) else 0
        if items:
            _write_all(pipe, framed(Batch(items, not queue)))
            self._bytes_out += size
        return bool(items)


def _start_writer(file: int) -> subprocess.Popen[bytes]:
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("there is no Python interpreter to run it")
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", PROGRAM, *map(os.path.abspath, sys.path), _HOME],
        stdin=subprocess.PIPE,
        stdout=file,
        stderr=subprocess.PIPE,
        bufsize=0,
        # A Ctrl-C in the terminal is not for it: it ends when its input does. (Not a session of its own: to Linux
        # that is a claim to as much of the processors as the program has, however nice the process is.)
        process_group=None if sys.platform == "win32" else 0,
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    if sys.platform == "linux":
        import fcntl

        assert child.stdin is not None
        with suppress(OSError):  # more than this system allows: then it goes in smaller pieces
            fcntl.fcntl(child.stdin.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return child


def _write_all(pipe: int, pieces: tuple[bytes, bytes]) -> None:
    for data in pieces:
        done = os.write(pipe, data)
        while done < len(data):
            done += os.write(pipe, memoryview(data)[done:])


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
        raise RecordingFailed(path=str(path), reason=recorder.failure or _TOO_SLOW)


def _known(connections: Iterable[Connection]) -> Iterator[_Known]:
    for connection in connections:
        for session in connection.targets.sessions.values():
            info = connection.targets.infos.get(session.target_id or "")
            if session.id is not None and session.target_id is not None:
                kind, url = ("", "") if info is None else (info.type, info.url)
                yield connection.traffic_name, session.id, session.target_id, kind, url
