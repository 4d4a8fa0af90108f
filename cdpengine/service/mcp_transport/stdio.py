"""Standard input and output as an MCP transport: one message a line.

Rule: this module answers a line that is not an MCP message (`messages`) and passes the others to the SDK. It
ignores blank lines. Anything else that the program prints goes to standard error.

Each request gets an answer, also if the input ends before: the server continues until all received requests
are answered, at most `_ENDING` seconds. Then, and after a signal, the others get an error.
"""

from __future__ import annotations

import os
import select
import stat
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Protocol, Self, cast

import anyio
import attrs
import msgspec
import trio
from mcp.server.stdio import stdio_server
from mcp_types.jsonrpc import CONNECTION_CLOSED

from cdpengine import _json
from cdpengine.service.mcp_transport.messages import (
    LONGEST_MESSAGE,
    Accepted,
    Id,
    Refusal,
    read_message,
    refuse_long,
)

_PIECE = 1 << 20

_ENDING = 20.0
"""Maximum time after the end of the input for the requests under way, in seconds."""

_REFUSING = 1.0
"""Maximum time to write the errors of requests that the server does not finish, in seconds."""

_LOOK_FOR_READER = 0.25
"""Seconds between two checks whether a client still reads, after the end of the input."""


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
    try:
        async with stdio_server(lines, cast("anyio.AsyncFile[str]", writer)) as streams:
            yield streams
    finally:
        with trio.CancelScope(shield=True), trio.move_on_after(_REFUSING):
            await writer.refuse_open()


class _Outgoing(msgspec.Struct):
    """The members of an outgoing message that show which request it answers."""

    id: Id = None
    method: str | None = None


@attrs.define(eq=False)
class _Writer:
    """Standard output, shared by the SDK and the reader of messages."""

    _stream: _Sink
    _lock: trio.Lock = attrs.field(factory=trio.Lock)
    _open: Counter[Id] = attrs.field(factory=Counter)
    """Requests without an answer, by id."""
    _answered: trio.Event = attrs.field(factory=trio.Event)
    _ended: bool = False

    def expect(self, identifier: Id) -> None:
        """Note a request that the SDK has to answer."""
        self._open[identifier] += 1

    def note_answer(self, identifier: Id) -> None:
        """Note that a request needs no answer any more: it has one, or the client cancelled it."""
        if self._open[identifier] <= 1:
            del self._open[identifier]
        else:
            self._open[identifier] -= 1
        self._answered.set()
        self._answered = trio.Event()

    async def write(self, text: str | bytes) -> None:
        if self._ended:
            return
        try:
            async with self._lock:
                await self._stream.send_all(text.encode("utf-8") if isinstance(text, str) else text)
        except (trio.BrokenResourceError, OSError):  # the client is gone, and its input ends as well
            raise anyio.ClosedResourceError from None
        if self._open:
            with suppress(msgspec.DecodeError):
                message = _json.decode(text, _Outgoing)
                if message.id is not None and message.method is None:
                    self.note_answer(message.id)

    async def wait_for_answers(self) -> None:
        """Wait until all requests are answered, at most `_ENDING` seconds, or until the client stops reading."""
        with trio.move_on_after(_ENDING):
            while self._open and _has_reader(self._stream):
                # The system does not report the end of the reader while the pipe can be written, so it is polled.
                with trio.move_on_after(_LOOK_FOR_READER):
                    await self._answered.wait()

    async def refuse_open(self) -> None:
        """Answer the open requests with an error; later answers are dropped."""
        refused = list(self._open.elements())
        self._open.clear()
        for identifier in refused:
            refusal = Refusal(CONNECTION_CLOSED, "the server ended before the request was done", identifier)
            with suppress(anyio.ClosedResourceError):
                await self.write(refusal.to_json() + b"\n")
        self._ended = True

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
            try:
                line = await self._read_line()
            except StopAsyncIteration:
                await self._writer.wait_for_answers()
                raise
            if line == b"":
                continue
            read = read_message(line) if isinstance(line, bytes) else line
            if isinstance(read, Accepted):
                if read.id is not None:
                    self._writer.expect(read.id)
                if read.cancels is not None:
                    self._writer.note_answer(read.cancels)
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


def _has_reader(stream: object) -> bool:
    """Return whether the other end of a pipe or socket is open; True if that is unknown."""
    if not isinstance(stream, trio.lowlevel.FdStream):
        return True
    poll = select.poll()
    poll.register(stream.fileno(), 0)
    return not poll.poll(0)


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
