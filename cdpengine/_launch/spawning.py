"""Spawning a process with a debugging pipe on its descriptors 3 and 4, on POSIX.

Rule: posix_spawn, because subprocess can provide these descriptors only with Python code between fork and exec.
The child leads a new session. Without trio, because a command starts its browser before it imports trio.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from collections.abc import Mapping, Sequence

import attrs

if sys.platform == "win32":
    raise ImportError("Windows has no such descriptors")

import fcntl

# Python ignores these two signals. An ignored signal stays ignored over exec, and Chrome expects the default.
_RESTORED_SIGNALS = [signal.SIGPIPE, signal.SIGXFSZ]
_PRIVATE = 0o077
# Above every descriptor of the child, so that none is overwritten before it is copied.
_LOWEST_COPY = 10
# Bytes; Linux's default is 64 kB. Replies of 1 MB take 0.93 of the time (measured alternately, Chromium 156).
_PIPE_SIZE = 1 << 18


@attrs.frozen
class Spawned:
    """A started process, this program's ends of its debugging pipe, and its output, as descriptors."""

    pid: int
    to_browser: int
    from_browser: int
    output: int


def spawn(command: Sequence[str], environment: Mapping[str, str]) -> Spawned:
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
    return Spawned(pid, to_browser=command_write, from_browser=reply_read, output=output_read)


def _enlarge(pipe: int) -> None:
    """Enlarge a pipe, if the system supports it and permits it to this user."""
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # over the user's limit of pipe memory: the default size works too
            fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, _PIPE_SIZE)
