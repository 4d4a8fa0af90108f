"""A bare pipe: Chromium's --remote-debugging-pipe on descriptors 3 and 4, with NUL-terminated messages.

Rule: only reads and writes of the operating system. The browser has the flags of all sides and a temporary
profile. It leads a process group, which is killed at the end.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from cdpengine._protocol.transport import RECEIVE_BUFFER

_LOWEST_COPY = 10
"""Lowest number for copied descriptors, above every descriptor of the browser, so that none is overwritten."""


class Pipe:
    """Whole messages over two descriptors."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._chunk = b""
        self._at = 0

    def send(self, message: bytes) -> None:
        """Send one message."""
        data = memoryview(message + b"\0")
        while data:
            data = data[os.write(self._to_browser, data) :]

    def receive(self) -> bytes | bytearray:
        """Wait for the next message."""
        chunk, at = self._chunk, self._at
        end = chunk.find(0, at)
        if end < 0 and at == len(chunk):
            at, chunk = 0, self._read()
            end = chunk.find(0)
        if end >= 0:
            self._chunk, self._at = chunk, end + 1
            return chunk[at:end]
        whole = bytearray(memoryview(chunk)[at:])
        while True:
            chunk = self._read()
            end = chunk.find(0)
            if end >= 0:
                self._chunk, self._at = chunk, end + 1
                whole += memoryview(chunk)[:end]
                return whole
            whole += chunk

    def _read(self) -> bytes:
        chunk = os.read(self._from_browser, RECEIVE_BUFFER)
        if not chunk:
            raise ConnectionError("the browser closed its end of the pipe")
        return chunk


@contextmanager
def browser_on_pipe(executable: str, flags: Sequence[str]) -> Iterator[Pipe]:
    """Start a browser and yield its pipe. Kill it and remove its profile after the block."""
    with contextlib.ExitStack() as stack:
        # Its processes may still write while being killed.
        profile = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="bare-pipe-", ignore_cleanup_errors=True)
        )

        def pipe() -> tuple[int, int]:
            ends = []
            for end in os.pipe():
                ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LOWEST_COPY))
                os.close(end)
            return ends[0], ends[1]

        (command_read, command_write), (reply_read, reply_write) = pipe(), pipe()
        stack.callback(os.close, command_write)
        stack.callback(os.close, reply_read)
        command = [executable, "--remote-debugging-pipe", f"--user-data-dir={profile}", *flags, "about:blank"]
        path = shutil.which(executable) or executable
        pid = os.posix_spawn(
            path,
            command,
            os.environ,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                (os.POSIX_SPAWN_DUP2, command_read, 3),
                (os.POSIX_SPAWN_DUP2, reply_write, 4),
            ],
            setsid=True,
        )
        os.close(command_read)
        os.close(reply_write)
        try:
            yield Pipe(command_write, reply_read)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
