"""A pipe that is always full of events, read by the engine and by the least code.

Rule: a separate process writes console events as fast as they are read. `python -m benchmarks.floor.event_source COUNT`
writes them to standard output.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import trio

from benchmarks.floor.messages import decode
from benchmarks.floor.pipe import Pipe
from benchmarks.site import ROOT
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import open_connection

METHOD = "Runtime.consoleAPICalled"


def event(number: int) -> bytes:
    """Return one message in Chrome's form. Pure."""
    params = {
        "type": "log",
        "args": [
            {"type": "string", "value": "message"},
            {"type": "number", "value": number, "description": str(number)},
        ],
        "executionContextId": 1,
        "timestamp": 1700000000000.5 + number,
        "stackTrace": {"callFrames": []},
    }
    return json.dumps({"method": METHOD, "params": params}, separators=(",", ":")).encode() + b"\0"


@contextmanager
def source(count: int) -> Iterator[int]:
    command = [sys.executable, "-m", "benchmarks.floor.event_source", str(count)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.fileno()
        finally:
            process.kill()


async def read_by_engine(count: int) -> float:
    """Return the milliseconds from the first event to the last."""
    with source(count) as incoming:
        nowhere = trio.lowlevel.FdStream(os.open(os.devnull, os.O_WRONLY))
        transport = PipeTransport(nowhere, trio.lowlevel.FdStream(os.dup(incoming)))
        async with (
            open_connection(transport) as connection,
            connection.root.subscribe(METHOD, enable=False) as events,
        ):
            await events.receive()
            started = time.perf_counter()
            for _ in range(count - 1):
                last = await events.receive()
            taken = (time.perf_counter() - started) * 1000
            assert events.dropped == 0
            assert last.params["args"][1]["value"] == count - 1
    return taken


async def read_bare(count: int) -> float:
    await trio.lowlevel.checkpoint()
    with source(count) as incoming:
        pipe = Pipe(-1, incoming)
        decode(pipe.receive())
        started = time.perf_counter()
        for _ in range(count - 1):
            decode(pipe.receive())
        return (time.perf_counter() - started) * 1000


if __name__ == "__main__":
    for each in range(int(sys.argv[1])):
        sys.stdout.buffer.write(event(each))
