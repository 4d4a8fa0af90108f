"""A bare pipe: Chromium's --remote-debugging-pipe on descriptors 3 and 4, with NUL-terminated messages.

Rule: only reads and writes of the operating system: no tasks, no event loop. Nothing else runs during its turn.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from benchmarks.floor.messages import Refused, decode, encode
from cdpengine._protocol.transport import RECEIVE_BUFFER

_LOWEST_COPY = 10
"""Lowest number for copied descriptors, above every descriptor of the browser, so that none is overwritten."""


class Pipe:
    """Commands and whole messages over two descriptors."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._chunk = b""
        self._at = 0
        self._number = 0

    def send(self, message: bytes) -> None:
        data = memoryview(message + b"\0")
        while data:
            data = data[os.write(self._to_browser, data) :]

    def receive(self) -> bytes | bytearray:
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

    def call(self, method: str, params: dict[str, Any], session_id: str | None = None) -> dict[str, Any]:
        number = self._number = self._number + 1
        self.send(encode(number, method, params, session_id))
        while True:
            message = decode(self.receive())
            if message.id == number:
                if message.result is None:
                    raise Refused(method)
                return message.result

    def open_page(self, url: str) -> str:
        target_id = self.call("Target.createTarget", {"url": url})["targetId"]
        return str(self.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})["sessionId"])

    def open_loaded_page(self, url: str) -> str:
        """Open a page, and return the id of its session when it is loaded."""
        session = self.open_page(url)
        while not self.holds(session, f"document.readyState == 'complete' && location.href == {url!r}"):
            time.sleep(0.0005)
        return session

    def holds(self, session: str, expression: str) -> bool:
        """Whether an expression is true now. False while no document is available."""
        try:
            return self.evaluate(session, expression) is True
        except Refused:
            return False

    def evaluate(self, session: str, expression: str) -> Any:
        params = {"expression": expression, "returnByValue": True}
        return self.call("Runtime.evaluate", params, session)["result"].get("value")

    def round_trips(self, session: str, calls: int) -> list[float]:
        params = {"expression": "1"}
        taken = []
        for _ in range(calls):
            started = time.perf_counter()
            self.call("Runtime.evaluate", params, session)
            taken.append((time.perf_counter() - started) * 1000)
        return taken

    def throughput(self, sessions: list[str], in_flight: int, seconds: float) -> float:
        """Return calls a second, with that number in flight on each session. Each reply causes the next call."""
        params = {"expression": "1"}
        of: dict[int, str] = {}
        number, made = self._number, 0
        started = time.perf_counter()
        end = started + seconds
        for session in sessions * in_flight:
            number += 1
            of[number] = session
            self.send(encode(number, "Runtime.evaluate", params, session))
        while of:
            message = decode(self.receive())
            if message.id is None:
                continue
            session = of.pop(message.id)
            if message.result is None:
                raise Refused("Runtime.evaluate")
            made += 1
            if time.perf_counter() < end:
                number += 1
                of[number] = session
                self.send(encode(number, "Runtime.evaluate", params, session))
        self._number = number
        return made / (time.perf_counter() - started)


@contextmanager
def browser_on_pipe(executable: str, flags: Sequence[str]) -> Iterator[Pipe]:
    """Start a browser and yield its pipe. Kill it and remove its profile after the block."""
    with contextlib.ExitStack() as stack:
        # Its processes may still write while being killed.
        profile = stack.enter_context(
            tempfile.TemporaryDirectory(prefix="bare-pipe-", ignore_cleanup_errors=True)
        )

        def pipe() -> list[int]:
            ends = []
            for end in os.pipe():
                ends.append(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LOWEST_COPY))
                os.close(end)
            return ends

        (command_read, command_write), (reply_read, reply_write) = pipe(), pipe()
        stack.callback(os.close, command_write)
        stack.callback(os.close, reply_read)
        pid = os.posix_spawn(
            shutil.which(executable) or executable,
            [executable, "--remote-debugging-pipe", f"--user-data-dir={profile}", *flags, "about:blank"],
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
