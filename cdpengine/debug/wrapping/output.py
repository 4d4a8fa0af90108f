"""Relaying of a browser's standard error to the descriptor that the client gave it.

Rule: lines are relayed unchanged and in order, except for the line with the address of the debugging port. The
client's descriptor keeps its mode, because other programs share it. Without a reader at the client, the browser
gets the same error as without the relay.
"""

from __future__ import annotations

import os
import re
import select
import sys
from collections.abc import Awaitable, Callable

import trio

from cdpengine.debug.wrapping.port_file import NOT_WRITTEN

_LISTENING = re.compile(rb"DevTools listening on (ws://\S+)")
_CHUNK = 1 << 16  # bytes; a longer line is relayed in parts
_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_WRITE = min(select.PIPE_BUF, 4096) if sys.platform != "win32" else 0
"""Number of bytes that a writable pipe accepts without blocking."""


async def relay_output(
    output: trio.abc.ReceiveStream, client: int | None, on_listening: Callable[[str], Awaitable[str]]
) -> None:
    """Relay `output` until its end.

    `client` is the client's descriptor, None if the client gave none. `on_listening` receives the address of the
    debugging port and returns its replacement; the line waits for it. The browser's report about its port file,
    which `PortFile` causes, is left out.
    """
    rest, listening = b"", False
    async with output:
        while True:
            chunk = await output.receive_some(_CHUNK)
            rest += chunk
            whole = rest.rfind(b"\n") + 1
            if not chunk or len(rest) - whole > _CHUNK:
                whole = len(rest)
            lines, rest = _LINE.findall(rest[:whole]), rest[whole:]
            for line in lines:
                if not listening and (found := _LISTENING.search(line)):
                    listening = True
                    address = (await on_listening(found[1].decode("ascii", "replace"))).encode()
                    line = line[: found.start(1)] + address + line[found.end(1) :]
                elif NOT_WRITTEN in line:
                    continue
                if client is not None and not await _write(client, line):
                    client = None
            if not chunk or (client is None and listening):
                return


async def _write(descriptor: int, data: bytes) -> bool:
    """Write to a descriptor of any kind. Return whether it still has a reader."""
    while data:
        await _until_writable(descriptor)
        try:
            data = data[os.write(descriptor, data[:_WRITE]) :]
        except BlockingIOError:
            continue
        except OSError:
            return False
    return True


async def _until_writable(descriptor: int) -> None:
    try:
        await trio.lowlevel.wait_writable(descriptor)
    except OSError:  # a file, or /dev/null: it never blocks, and epoll rejects it
        await trio.lowlevel.checkpoint()
