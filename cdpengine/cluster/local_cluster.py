"""The local cluster of a program without a scheduler, for a block.

Rule: Dask's LocalCluster runs in a separate process (`host.py`), never in the caller's process. So programs need
no `if __name__ == "__main__"`, because workers start from a module of this package. A Ctrl-C reaches no worker
before the program handles it. Any end of the program closes the process's standard input, which ends the cluster.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from cdpengine import _json
from cdpengine._budget import within
from cdpengine._launch.sweeping import sweep_profiles
from cdpengine.cluster.sending import unavailable_error

_ENDING = 20.0
"""Maximum time for the cluster to end all its workers and their browsers, in seconds."""

_SWEEPING = 3.0
"""Maximum time for removing the profiles of browsers whose worker was killed, in seconds."""

_KILLING = 5.0
"""Maximum time for a killed process to end, in seconds."""


@asynccontextmanager
async def open_local_cluster(workers: int, pages: int, timeout: float) -> AsyncIterator[str]:
    """Run a cluster for a block, which receives the address of its scheduler.

    Raises PoolUnavailableError, DeadlineExceededError.
    """
    # Workers use the program's import path, with its neighbouring modules and this package.
    paths = [path or os.getcwd() for path in sys.path]  # noqa: PTH109 - the form that the import system uses
    with tempfile.TemporaryDirectory(prefix="cdpengine-cluster-", ignore_cleanup_errors=True) as folder:
        options = _json.encode_ascii({"workers": workers, "pages": pages, "folder": folder})
        process = await trio.lowlevel.open_process(
            [sys.executable, "-m", "cdpengine.cluster.host", options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,
        )
        try:
            with within("start a cluster of this machine", timeout):
                address = await _read_address(process)
            yield address
        finally:
            with trio.move_on_after(_ENDING, shield=True):
                await _end(process)
            await _kill_all(process)
            with trio.move_on_after(_SWEEPING, shield=True):
                await sweep_profiles()


async def _read_address(process: trio.Process) -> str:
    assert process.stdout is not None
    text = b""
    while not text.endswith(b"\n"):
        data = await process.stdout.receive_some()
        if not data:
            raise unavailable_error("this machine", "its process ended during the start")
        text += data
    return text.decode().strip()


async def _end(process: trio.Process) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    await process.stdin.aclose()
    await process.wait()
    await process.stdout.aclose()


async def _kill_all(process: trio.Process) -> None:
    """Kill the remaining processes of its session, which exist only if the process was killed or did not end."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return
    with trio.move_on_after(_KILLING, shield=True):
        await process.wait()
