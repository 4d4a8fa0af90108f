"""Standard input and output as an MCP transport: one message a line.

Rule: this module answers a line that is not an MCP message (`messages`) and passes the others to the SDK. It
ignores blank lines. Anything else that the program prints goes to standard error.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, Protocol, Self, cast

import anyio
import attrs
import trio
from mcp.server.stdio import stdio_server

from cdpengine.service.mcp_transport.messages import (
    LONGEST_MESSAGE,
    Accepted,
    Refusal,
    read_message,
    refuse_long,
)

_PIECE = 1 << 20


class _Source(Protocol):
    async def receive_some(self, max_bytes: int, /) -> bytes | bytearray: ...


class _Sink(Protocol):
    async def send_all(self, data: bytes, /) -> None: ...


@asynccontextmanager
async def open_standard_streams() -> AsyncIterator[tuple[Any, Any]]:
    """Open the SDK's message streams over standard input and output."""
    with _standard_streams() as (source, sink):
        async with open_messages(source, sink) as streams:
            yield streams


@asynccontextmanager
async def open_messages(source: _Source, sink: _Sink) -> AsyncIterator[tuple[Any, Any]]:
    """Open the SDK's message streams over two byte streams."""
    writer = _Writer(sink)
    lines = cast("anyio.AsyncFile[str]", _Messages(source, writer))
    async with stdio_server(lines, cast("anyio.AsyncFile[str]", writer)) as streams:
        yield streams


@attrs.define(eq=False)
class _Writer:
    """Standard output, shared by the SDK and the reader of messages."""

    _stream: _Sink
    _lock: trio.Lock = attrs.field(factory=trio.Lock)

    async def write(self, text: str | bytes) -> None:
        try:
            async with self._lock:
                await self._stream.send_all(text.encode("utf-8") if isinstance(text, str) else text)
        except (trio.BrokenResourceError, OSError):  # the client is gone, and its input ends as well
            raise anyio.ClosedResourceError from None

    async def flush(self) -> None:
        await trio.lowlevel.checkpoint()


@attrs.define(eq=False)
class _Messages:
    """The messages of standard input that the SDK parses. Refused messages are answered here."""

    _stream: _Source
    _writer: _Writer
    _rest: bytearray = attrs.field(factory=bytearray)
    _ended: bool = False

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str:
        while True:
            line = await self._read_line()
            if line == b"":
                continue
            read = read_message(line) if isinstance(line, bytes) else line
            if isinstance(read, Accepted):
                return read.text
            if not read.silent:
                await self._writer.write(read.to_json() + b"\n")

    async def _read_line(self) -> bytes | Refusal:
        """Return the next line without surrounding whitespace, or the refusal of one that is too long.

        The end of the input also ends the last line.
        """
        searched = 0
        beginning: bytes | None = None
        while (end := self._rest.find(b"\n", searched)) < 0:
            if len(self._rest) > LONGEST_MESSAGE:
                beginning = bytes(self._rest) if beginning is None else beginning
                self._rest.clear()
            searched = len(self._rest)
            more = b"" if self._ended else await self._stream.receive_some(_PIECE)
            if not more:
                self._ended = True
                if not self._rest and beginning is None:
                    raise StopAsyncIteration
                end = len(self._rest)
                break
            self._rest += more
        line = bytes(self._rest[:end]) if beginning is None else beginning
        del self._rest[: end + 1]
        return line.strip() if len(line) <= LONGEST_MESSAGE else refuse_long(line)


@contextmanager
def _standard_streams() -> Iterator[tuple[_Source, _Sink]]:
    """Reserve standard input and output for the protocol; other prints go to standard error."""
    saved = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    streams = [_open_stream(os.dup(each)) for each in saved]
    try:
        yield streams[0], streams[1]
    finally:
        for stream, descriptor, standard in zip(streams, saved, (0, 1), strict=True):
            stream.close()
            os.dup2(descriptor, standard)
            os.close(descriptor)


def _open_stream(descriptor: int) -> trio.lowlevel.FdStream | _ThreadStream:
    if sys.platform != "win32" and _can_be_waited_for(descriptor):
        return trio.lowlevel.FdStream(descriptor)
    return _ThreadStream(descriptor)


def _can_be_waited_for(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)


@attrs.define(eq=False)
class _ThreadStream:
    """A file, or any descriptor on Windows. Threads read and write it, because trio cannot wait for it."""

    _descriptor: int

    async def receive_some(self, max_bytes: int) -> bytes:
        return await trio.to_thread.run_sync(os.read, self._descriptor, max_bytes, abandon_on_cancel=True)

    async def send_all(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[await trio.to_thread.run_sync(os.write, self._descriptor, rest) :]

    def close(self) -> None:
        """Do nothing: an abandoned thread may still read the descriptor."""
