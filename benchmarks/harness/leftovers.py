"""Termination of a process and all its descendants, in any group or session.

Rule: only processes with our mark in their environment are ended, so that no others are hit. Chrome's processes
that lack the mark end with their parent.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import trio

MARK = "CDPENGINE_BENCHMARK_PEER"
"""Environment variable with the mark."""

ROUNDS = 20
PAUSE = 0.05  # seconds; a killed process needs a moment to end


def marked(mark: str, proc: Path = Path("/proc")) -> list[int]:
    """Return the ids of all living processes with this mark. Empty on systems without /proc."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile, or belongs to another user
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return sorted(found)


async def end_marked(mark: str, process: trio.Process | None) -> list[int]:
    """Kill the process and all processes with its mark, and reap it. Return the ids of the surviving ones."""
    left: list[int] = []
    if process is not None and process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process is not None:
        await process.wait()  # it can start no more processes
    empty = 0
    for _ in range(ROUNDS):
        left = marked(mark)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        # Two empty scans are required: a starting process briefly has no environment, and so no mark.
        empty = 0 if left else empty + 1
        if empty == 2:
            break
        await trio.sleep(PAUSE)
    if process is not None:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                await stream.aclose()
    return left
