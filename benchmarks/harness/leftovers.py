"""Ending a process with all that it started, whatever group or session those put themselves into.

Rule: what is ended carries our own mark in its environment, so that nothing else can be hit. The processes of Chrome
that have lost theirs end with the one that started them.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

import trio

MARK = "CDPENGINE_BENCHMARK_PEER"
"""The environment variable whose value is the mark."""

ROUNDS = 20
PAUSE = 0.05  # seconds; a process that was killed takes a moment to be gone


def marked(mark: str, proc: Path = Path("/proc")) -> list[int]:
    """Return the ids of all living processes with this mark. Empty where the system has no /proc."""
    wanted = f"{MARK}={mark}".encode()
    found = []
    for folder in proc.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended while we looked, or is somebody else's
            if wanted in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
    return sorted(found)


async def end_marked(mark: str, process: trio.Process | None) -> list[int]:
    """Kill the process and all with its mark, and reap it. Return the ids of what could not be ended."""
    left: list[int] = []
    if process is not None and process.returncode is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process is not None:
        await process.wait()  # from here on it starts no more
    empty = 0
    for _ in range(ROUNDS):
        left = marked(mark)
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        # Two looks: one that is just being started has no environment for a moment, and bears no mark.
        empty = 0 if left else empty + 1
        if empty == 2:
            break
        await trio.sleep(PAUSE)
    if process is not None:
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                await stream.aclose()
    return left
