"""The recorder's side of wrapped browsers: their pipes, ports and outputs, relayed and passed to instruments.

Rule: each message is relayed unchanged and in order. If the recorder is killed, a browser's pipe closes, and the
browser ends as it does when its client ends. The recorder leaves a browser without a debugging pipe or port alone,
and a helper process, a binary pipe and a port that is taken.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine.debug.wrapping.descriptors import WrapperRequest, close_all, receive_request, send_reply
from cdpengine.debug.wrapping.pipe_relay import FROM_BROWSER, TO_BROWSER, PipeRelay
from cdpengine.debug.wrapping.port_relay import PortRelay, SharedParts
from cdpengine.debug.wrapping.switches import DebuggingSwitches, read_switches, with_any_port
from cdpengine.debug.wrapping.wrapper import short_path

_log = get_logger("cdpengine.debug")

_BACKLOG = 128
_PAUSE = 0.1

# Maximum duration of each step, in seconds.
_REST = 10.0
_AFTER_COMMAND = 5.0
_AFTER_SIGNAL = 2.0


@attrs.define(eq=False)
class WrappedBrowser:
    """A browser that a wrapper became, and its relays.

    `process` is a descriptor of the process (pidfd), None on systems without. `ended` is set when the process has
    ended, `over` when its last messages are relayed.
    """

    name: str
    pid: int
    process: int | None
    pipe: PipeRelay | None = None
    port: PortRelay | None = None
    ended: trio.Event = attrs.field(factory=trio.Event)
    over: trio.Event = attrs.field(factory=trio.Event)

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal, unless the process has ended."""
        if self.ended.is_set():
            return
        with contextlib.suppress(ProcessLookupError):
            if sys.platform == "linux" and self.process is not None:
                signal.pidfd_send_signal(self.process, number)
            else:
                os.kill(self.pid, number)

    async def run(self) -> None:
        """Relay until the browser has ended."""
        try:
            async with trio.open_nursery() as nursery:
                if self.pipe is not None:
                    nursery.start_soon(self.pipe.run, self.ended)
                if self.port is not None:
                    nursery.start_soon(self.port.run, self.ended)
                await self._until_ended()
                self.ended.set()
                # The last messages and lines are still in the pipes, which the browser's helpers may hold.
                nursery.cancel_scope.deadline = trio.current_time() + _REST
        finally:
            self.ended.set()
            self.over.set()
            if self.process is not None:
                os.close(self.process)

    async def _until_ended(self) -> None:
        if self.process is not None:
            await trio.lowlevel.wait_readable(self.process)
        while self.process is None and _is_running(self.pid):  # noqa: ASYNC110 - another program's child
            await trio.sleep(_PAUSE)


class WrappedBrowsers:
    """The browsers of one command.

    `executables` are the real executables by the number of their wrapper: paths, or descriptors where the wrapper
    hides the path. `note` is called with a line for each browser that is not recorded. `count` is the number of
    recorded browsers.
    """

    def __init__(
        self, executables: Mapping[int, str | int], shared: SharedParts, note: Callable[[str], None]
    ) -> None:
        self._executables = executables
        self._shared = shared
        self._note = note
        self._running: dict[int, WrappedBrowser] = {}
        self.count = 0

    async def serve(self, path: Path, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve wrappers at a local socket, until cancelled."""
        with trio.socket.socket(socket.AF_UNIX) as listener:
            with short_path(str(path)) as short:
                await listener.bind(short)
            listener.listen(_BACKLOG)
            async with trio.open_nursery() as nursery:
                task_status.started()
                while True:
                    connection, _ = await listener.accept()
                    nursery.start_soon(self._take, connection)

    async def end(self) -> int:
        """Wait until all browsers have ended, and end the others. Return the number of the others."""
        with trio.move_on_after(_AFTER_COMMAND):
            await self._until_over()
        left = len(self._running)
        for number in (signal.SIGTERM, signal.SIGKILL):
            for browser in self._running.values():
                browser.send_signal(number)
            with trio.move_on_after(_AFTER_SIGNAL):
                await self._until_over()
        return left

    async def _until_over(self) -> None:
        for browser in list(self._running.values()):
            await browser.over.wait()

    async def _take(self, connection: trio.socket.SocketType) -> None:
        """Answer a wrapper. Relay its browser until it ends."""
        browser = None
        with connection:
            try:
                request = await receive_request(connection)
            except (OSError, ValueError) as error:
                _log.info("a wrapper ended before its request: %s", error)
                return
            try:
                browser = await self._answer(connection, request)
            finally:
                close_all(list(request.descriptors.values()))
        if browser is not None:
            try:
                await browser.run()
            finally:
                del self._running[browser.pid]

    async def _answer(
        self, connection: trio.socket.SocketType, request: WrapperRequest
    ) -> WrappedBrowser | None:
        """Send a wrapper its browser. Return the browser if it is to be recorded."""
        switches = read_switches(request.arguments)
        arguments = request.arguments
        given: dict[int, int] = {}
        browser = None
        # The executable of a browser may be a script that runs another wrapped executable in the same process.
        if not switches.helper and request.pid not in self._running:
            browser = self._wrap(request, switches)
        if browser is not None:
            self._running[browser.pid] = browser
            self.count += 1
            if browser.pipe is not None:
                given |= browser.pipe.given
            if browser.port is not None:
                given |= browser.port.given
                arguments = with_any_port(arguments)
        try:
            await send_reply(connection, self._executables[request.wrapper], arguments, given)
        except OSError as error:
            _log.info("a wrapper ended before its browser started: %s", error)
        finally:
            close_all(list(given.values()))
        return browser

    def _wrap(self, request: WrapperRequest, switches: DebuggingSwitches) -> WrappedBrowser | None:
        """Create the relays of a browser, or return None if it has no pipe and no port to record."""
        name = f"browser {self.count + 1}"
        pipe = port = None
        if switches.has_json_pipe and {TO_BROWSER, FROM_BROWSER} <= request.descriptors.keys():
            pipe = PipeRelay(f"{name} pipe", request.descriptors, self._shared.instruments)
        elif switches.pipe is not None:
            self._note("a browser with a binary or missing debugging pipe is not recorded")
        if switches.port is not None:
            profile = Path(request.folder, switches.profile) if switches.profile else None
            try:
                port = PortRelay(name, switches.port, profile, request.descriptors, self._shared)
            except OSError as error:
                self._note(f"a browser at port {switches.port} is not recorded: {error.strerror}")
        if pipe is None and port is None:
            return None
        return WrappedBrowser(name, request.pid, _open_process(request.pid), pipe, port)


def _open_process(pid: int) -> int | None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # a kernel before 5.3, or a sandbox that forbids it
            return os.pidfd_open(pid)
    return None


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
