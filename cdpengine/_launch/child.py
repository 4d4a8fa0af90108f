"""Starting, watching and killing one child process with its whole process group, on each platform.

Rule: this module handles processes of any program. On POSIX the child is started with posix_spawn: the debugging
pipe needs exactly descriptors 3 and 4, and subprocess can provide them only with Python code between fork and
exec. The child leads a new session. So a Ctrl-C in the terminal does not reach it, and its helpers can be
signalled together. On Windows these descriptors do not exist: the child has output only.
"""

from __future__ import annotations

import contextlib
import errno
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
    # Python ignores these two signals. An ignored signal stays ignored over exec, and Chrome expects the default.
    _RESTORED_SIGNALS = [signal.SIGPIPE, signal.SIGXFSZ]
    _PRIVATE = 0o077
    # Above every descriptor of the child, so that none is overwritten before it is copied.
    _LOWEST_COPY = 10
    # Bytes; Linux's default is 64 kB. Replies of 1 MB take 0.93 of the time (measured alternately, Chromium 156).
    _PIPE_SIZE = 1 << 18

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

    def spawn(command: Sequence[str], environment: Mapping[str, str]) -> tuple[PosixChild, PipeEnds]:
        """Start `command` with a debugging pipe on its descriptors 3 and 4.

        Synchronous, about a millisecond, so that a cancellation cannot fall between the start and the return.
        Raises OSError if the program cannot be executed.
        """
        with contextlib.ExitStack() as childs_ends, contextlib.ExitStack() as on_failure:

            def pipe() -> tuple[int, int]:
                ends = os.pipe()  # both are close-on-exec: no other child of this program inherits them
                on_failure.callback(os.close, ends[0])
                on_failure.callback(os.close, ends[1])
                return ends

            def high_copy(end: int) -> int:
                import fcntl

                try:
                    copy = fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, _LOWEST_COPY)
                except OSError as error:
                    if error.errno == errno.EINVAL:  # the limit of descriptors is not above _LOWEST_COPY
                        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE)) from error
                    raise
                childs_ends.callback(os.close, copy)
                return copy

            command_read, command_write = pipe()
            reply_read, reply_write = pipe()
            _enlarge(reply_write)
            output_read, output_write = pipe()
            commands, replies, output = map(high_copy, (command_read, reply_write, output_write))
            # The child's files, partial downloads too, are private. The umask is changed only for about a
            # millisecond.
            mask = os.umask(_PRIVATE)
            try:
                pid = os.posix_spawn(
                    command[0],
                    list(command),
                    dict(environment),
                    file_actions=[
                        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                        (os.POSIX_SPAWN_DUP2, output, 1),
                        (os.POSIX_SPAWN_DUP2, output, 2),
                        (os.POSIX_SPAWN_DUP2, commands, 3),
                        (os.POSIX_SPAWN_DUP2, replies, 4),
                    ],
                    setsid=True,
                    setsigmask=[],
                    setsigdef=_RESTORED_SIGNALS,
                )
            finally:
                os.umask(mask)
            on_failure.pop_all()
        for end in (command_read, reply_write, output_write):
            os.close(end)
        ends = PipeEnds(
            to_browser=trio.lowlevel.FdStream(command_write), from_browser=trio.lowlevel.FdStream(reply_read)
        )
        return PosixChild(pid=pid, output=trio.lowlevel.FdStream(output_read)), ends

    def _enlarge(pipe: int) -> None:
        """Enlarge a pipe, if the system supports it and permits it to this user."""
        if sys.platform == "linux":
            import fcntl

            with contextlib.suppress(
                OSError
            ):  # over the user's limit of pipe memory: the default size works too
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)

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
