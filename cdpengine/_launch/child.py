"""Starting, watching and killing one child process with its whole process group, on each platform.

Rule: this module handles processes of any program. On POSIX the child leads a new session (`_launch/spawning.py`).
So a Ctrl-C in the terminal does not reach it, and its helpers can be signalled together. On Windows the child has
output only.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

import attrs
import trio


class Child(Protocol):
    """A started process. `output` is its stdout and stderr in one stream."""

    pid: int
    output: trio.abc.ReceiveStream

    async def exited(self) -> None:
        """Wait until the process has ended. Does not reap it, so its pid is not reused."""

    def reap(self) -> int:
        """Kill the rest of an ended process's group and return its exit code, negative for a signal."""

    def terminate(self) -> None:
        """Ask the whole group to end. Does nothing if it has ended."""

    def kill(self) -> None:
        """Kill the whole group. Does nothing if it has ended."""


@attrs.frozen
class PipeEnds:
    """This program's ends of the debugging pipe. Chrome reads `to_browser` on its descriptor 3."""

    to_browser: trio.abc.SendStream
    from_browser: trio.abc.ReceiveStream


if sys.platform != "win32":
    from cdpengine._launch.spawning import Spawned

    @attrs.define(eq=False)
    class PosixChild:
        """A child that leads its own session and process group."""

        pid: int
        output: trio.abc.ReceiveStream
        _reaped: bool = False

        async def exited(self) -> None:
            """Wait until the process has ended. Do not reap it."""
            await _wait_until_exited(self.pid)

        def reap(self) -> int:
            """Kill the rest of the group and collect the exit code."""
            # Kill before reaping: until then, the system cannot reuse the number for another group.
            self.kill()
            self._reaped = True
            try:
                _, status = os.waitpid(self.pid, 0)
            except ChildProcessError:  # other code of this program waits for any child, and was faster
                return 0
            return os.waitstatus_to_exitcode(status)

        def terminate(self) -> None:
            """Send SIGTERM to the group."""
            self._signal_group(signal.SIGTERM)

        def kill(self) -> None:
            """Send SIGKILL to the group."""
            self._signal_group(signal.SIGKILL)

        def _signal_group(self, number: signal.Signals) -> None:
            if not self._reaped:
                # macOS answers EPERM for a group that consists of zombies.
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, number)

    def adopt(spawned: Spawned) -> tuple[PosixChild, PipeEnds]:
        """Return a spawned process as a child of trio's thread, and this program's ends of its debugging pipe."""
        ends = PipeEnds(
            to_browser=trio.lowlevel.FdStream(spawned.to_browser),
            from_browser=trio.lowlevel.FdStream(spawned.from_browser),
        )
        return PosixChild(pid=spawned.pid, output=trio.lowlevel.FdStream(spawned.output)), ends

    async def _wait_until_exited(pid: int) -> None:
        """Wait until the child has ended. Do not reap it."""
        if sys.platform == "linux":
            try:
                descriptor = os.pidfd_open(pid)
            except OSError:
                pass  # a kernel before 5.3, or a sandbox that forbids it
            else:
                try:
                    await trio.lowlevel.wait_readable(descriptor)
                finally:
                    os.close(descriptor)
                return
        await trio.to_thread.run_sync(_block_until_exited, pid, abandon_on_cancel=True)

    def _block_until_exited(pid: int) -> None:
        with contextlib.suppress(ChildProcessError):
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)

else:

    @attrs.define(eq=False)
    class WindowsChild:
        """A child process on Windows, without a group.

        `kill` ends only Chrome's main process; its helpers then end too.
        """

        pid: int
        output: trio.abc.ReceiveStream
        _process: trio.Process

        async def exited(self) -> None:
            """Wait until the process has ended."""
            await self._process.wait()

        def reap(self) -> int:
            """Return the exit code."""
            return self._process.returncode or 0

        def terminate(self) -> None:
            """End the process. Windows has no gentler way."""
            self._process.terminate()

        def kill(self) -> None:
            """End the process."""
            self._process.kill()

    async def spawn_on_windows(command: Sequence[str], environment: Mapping[str, str]) -> WindowsChild:
        """Start `command` in a new process group, so that a Ctrl-C does not reach it."""
        process = await trio.lowlevel.open_process(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(environment),
            creationflags=subprocess.CREATE_NEW_PROCESS_GROUP,
        )
        assert process.stdout is not None
        return WindowsChild(pid=process.pid, output=process.stdout, process=process)
