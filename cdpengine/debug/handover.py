"""Handover: how what is recorded gets to the process that writes it, without anybody waiting for that.

Rule: who puts something in hands it over, some hundred messages at a time, as far as the pipe takes it at once.
What it does not take is left to a thread, as is what lies here while nothing else comes: a thread that did all
of it would take the interpreter from the engine as often. Memory is bounded by who puts in: `waiting` says what
is here.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

from cdpengine.debug.writer import PROGRAM, Batch, Beginning, Item, Message, framed

GATHER_SECONDS = 0.05
"""How long messages gather before they are handed over, when they are few."""

TOGETHER_BYTES = 1 << 18
"""Bytes of messages that are handed over at once: few enough to stay in the processor's cache on their way."""

_FULL_SECONDS = 0.005
"""How long the thread leaves a full pipe to the process, so that it need not fill it page by page."""

_PIPE_BYTES = 1 << 20
"""What may lie in the pipe to the process, where the system allows it."""

_PATIENCE = 10.0
"""Seconds that the rest may take at the end without any of it being taken."""

TOO_SLOW = "the disk did not take it in time"

_HOME = str(Path(__file__).resolve().parents[2])
"""Where the package is."""

_POLLS = hasattr(select, "poll")
"""Where a pipe cannot be waited for, writing waits itself, and is the thread's alone."""


class Handover:
    """Starts the process that writes to the open `file`, and hands over to it. `failure` says why that failed."""

    def __init__(self, beginning: Beginning, file: int, name: str) -> None:
        self.failure: str | None = None
        self.bytes_in = 0  # changed by the engine's thread only
        self._bytes_out = 0  # changed by whoever hands over
        self._beginning = beginning
        self._file = file
        self._queue: deque[Item] = deque()
        self._handing = threading.Lock()  # held by whoever takes out of the queue and writes into the pipe
        self._pipe = -1
        self._rest: list[memoryview] = []  # of the batch that the pipe did not take as a whole
        self._rest_size = 0
        self._full = False
        self._handed_bytes = 0
        self._handed_time = 0.0
        self._ending = False
        self._wake = threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._run, name=f"recorder {name}", daemon=True)

    @property
    def waiting(self) -> int:
        """How many bytes of messages wait here."""
        return self.bytes_in - self._bytes_out

    def start(self) -> None:
        """Have the process started, by the thread; what is put in meanwhile waits."""
        self._thread.start()

    def put(self, item: Item, size: int, time: float) -> None:
        """Take something with `size` bytes of a message, at a time of the engine's clock."""
        self._queue.append(item)
        self.bytes_in += size
        if self.bytes_in - self._handed_bytes > TOGETHER_BYTES or time - self._handed_time > GATHER_SECONDS:
            self._handed_bytes, self._handed_time = self.bytes_in, time
            self._hand_over_now()

    def finish(self, last: Item) -> None:
        """Hand over what is left, and wait until the process has ended. Blocks."""
        self._queue.append(last)
        self._ending = True
        self._wake.set()
        done = -1
        while self._thread.is_alive() and done != self._bytes_out:
            done = self._bytes_out
            self._thread.join(_PATIENCE)
        if self._thread.is_alive():
            self.failure = TOO_SLOW
            if self._child is not None:
                self._child.kill()
            self._thread.join(_PATIENCE)

    # --- in the engine's thread ----------------------------------------------------------------------------

    def _hand_over_now(self) -> None:
        """Hand over from the engine's own thread, as far as nothing is to be waited for."""
        if self._full or not _POLLS or not self._handing.acquire(blocking=False):
            return
        try:
            if self._pipe >= 0 and not self._hand_over():
                self._full = True
        except OSError:
            self._full = True  # the thread sees what is the matter
        finally:
            self._handing.release()
        if self._full:
            self._wake.set()

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
                if _POLLS:
                    os.set_blocking(pipe.fileno(), False)
                self._pipe = pipe.fileno()
                handed = self._handed_time
                while not ended:
                    # A pause, not a wait for the next message: a thread that woke for each would take the
                    # interpreter from the engine as often.
                    self._wake.wait(GATHER_SECONDS)
                    self._wake.clear()
                    ended = self._ending
                    # What comes in meanwhile takes what is here with it.
                    if ended or self._full or handed == self._handed_time or not _POLLS:
                        self._hand_over_all()
                    handed = self._handed_time
                with self._handing:
                    self._pipe = -1
                pipe.close()
            except OSError:
                with self._handing:
                    self._pipe = -1  # the process is gone; it says why
            reason = child.stderr.read().decode("utf-8", "replace").strip()
            status = child.wait()
        if status:
            self.failure = self.failure or reason or f"the process that writes it ended with status {status}"

    def _hand_over_all(self) -> None:
        while True:
            with self._handing:
                self._full = not self._hand_over()
            if not self._full:
                return
            poller = select.poll()
            poller.register(self._pipe, select.POLLOUT)
            poller.poll()
            time.sleep(_FULL_SECONDS)

    # --- both, one at a time -------------------------------------------------------------------------------

    def _hand_over(self) -> bool:
        """Hand over what waits, some at a time. Return whether all of it is handed over now."""
        while self._rest or self._take():
            try:
                done = _write(self._pipe, self._rest)
            except BlockingIOError:
                return False
            while self._rest and done >= len(self._rest[0]):
                done -= len(self._rest.pop(0))
            if self._rest:
                self._rest[0] = self._rest[0][done:]
            else:
                self._bytes_out += self._rest_size
        return True

    def _take(self) -> bool:
        """Take the next batch out of the queue. Return whether there was anything."""
        items: list[Item] = []
        size = 0
        queue = self._queue
        while queue and size < TOGETHER_BYTES:
            item = queue.popleft()
            items.append(item)
            size += len(item.message) if type(item) is Message else 0
        if items:
            self._rest = [memoryview(piece) for piece in framed(Batch(items, not queue))]
            self._rest_size = size
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


def _write(pipe: int, pieces: list[memoryview]) -> int:
    return os.writev(pipe, pieces) if hasattr(os, "writev") else os.write(pipe, pieces[0])
