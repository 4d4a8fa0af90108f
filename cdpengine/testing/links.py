"""The peer's end of one connection, over a websocket or a pair of pipes.

Rule: sending queues data, faults included, and one task writes it in order, so that a script reads from top to
bottom. trio-websocket handles the handshake and incoming messages. Outgoing frames are built here, because tests
send half frames.
"""

from __future__ import annotations

import socket
import struct
from collections import deque
from collections.abc import Callable, Iterable
from typing import Protocol

import attrs
import trio
import trio_websocket

from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.websocket_transport import ReaderTask

_MOST_BYTES = 1 << 30
_READ_BYTES = 1 << 18
_WRITE_BYTES = 1 << 18
_CLOSE_GRACE = 0.5

_CONTINUATION, _TEXT, _BINARY = 0, 1, 2


@attrs.frozen
class _Cut:
    """End the connection without a close frame, after `half` (the beginning of a message)."""

    half: bytes
    reset: bool


@attrs.frozen
class _Close:
    code: int
    reason: str


_Action = bytes | Iterable[bytes] | _Cut | _Close


class Wire(Protocol):
    """The encoding of messages on one kind of connection, and its end."""

    def frame(self, message: bytes | str) -> bytes:
        """Encode one whole message."""

    def fragments(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Encode one message that is given in chunks."""

    def half(self, message: bytes) -> bytes:
        """Return the beginning of an incomplete message."""

    async def write(self, data: bytes) -> None:
        """Write bytes. Raises trio.BrokenResourceError or trio.ClosedResourceError."""

    async def read(self) -> bytes | str | None:
        """Return the next message, or None at the end."""

    async def close(self, code: int, reason: str) -> None:
        """Close the connection with a close frame."""

    async def cut(self, *, reset: bool) -> None:
        """Close the connection without a close frame."""


class Link:
    """One client's connection. `open` is False once either side has ended it."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._outbox: deque[_Action] = deque()
        self._changed = trio.lowlevel.ParkingLot()
        self.open = True

    def send(self, message: bytes | str) -> None:
        """Queue one message. On a websocket, a str is sent as text and bytes as a binary message."""
        self._queue(self._wire.frame(message))

    def send_chunks(self, chunks: Iterable[bytes]) -> None:
        """Queue one message given in chunks, which are consumed while writing."""
        self._queue(self._wire.fragments(chunks))

    def drop(self, half: bytes = b"", *, reset: bool = False) -> None:
        """End the connection without a close frame, after writing `half` as the beginning of a message."""
        self._queue(_Cut(self._wire.half(half) if half else b"", reset))

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection with a close frame. A pipe has no code; its ends are closed."""
        self._queue(_Close(code, reason))

    async def flushed(self) -> None:
        """Wait until everything queued is written, or the connection has ended."""
        while self._outbox and self.open:
            await self._changed.park()

    def _queue(self, action: _Action) -> None:
        if self.open:
            self._outbox.append(action)
            self._changed.unpark_all()

    async def run(self, take: Callable[[bytes | str], None]) -> None:
        """Write queued data and pass incoming messages to `take`, until either side ends the connection."""
        async with open_body_nursery() as nursery:
            nursery.start_soon(self._write, name="writer of the scripted peer")
            try:
                while (message := await self._wire.read()) is not None:
                    take(message)
            finally:
                self.open = False
                self._changed.unpark_all()
                with trio.move_on_after(_CLOSE_GRACE, shield=True):
                    await self._wire.cut(reset=False)

    async def _write(self) -> None:
        while self.open:
            if not self._outbox:
                await self._changed.park()
                continue
            try:
                await self._do(self._outbox[0])
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return
            self._changed.unpark_all()

    async def _do(self, action: _Action) -> None:
        match action:
            case bytes():
                await self._wire.write(self._next_batch())
                return
            case _Cut(half=half, reset=reset):
                if half:
                    await self._wire.write(half)
                self.open = False
                await self._wire.cut(reset=reset)
            case _Close(code=code, reason=reason):
                self.open = False
                await self._wire.close(code, reason)
            case _:
                for chunk in action:
                    await self._wire.write(chunk)
        self._outbox.popleft()

    def _next_batch(self) -> bytes:
        # Many small messages are sent in one write, because a burst should burden the client, not the peer.
        batch, size = [], 0
        while self._outbox and size < _WRITE_BYTES:
            message = self._outbox[0]
            if not isinstance(message, bytes):
                break
            batch.append(message)
            size += len(message)
            self._outbox.popleft()
        return b"".join(batch)


class WebSocketWire:
    """The server's side of a websocket (RFC 6455: its frames are not masked)."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection, stream: trio.SocketStream) -> None:
        self._websocket = websocket
        self._stream = stream

    def frame(self, message: bytes | str) -> bytes:
        """Return one message as one frame."""
        if isinstance(message, str):
            return _frame(_TEXT, message.encode(), final=True)
        return _frame(_BINARY, message, final=True)

    def fragments(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Encode one text message as a sequence of frames."""
        kind = _TEXT
        for chunk in chunks:
            yield _frame(kind, chunk, final=False)
            kind = _CONTINUATION
        yield _frame(kind, b"", final=True)

    def half(self, message: bytes) -> bytes:
        """Return a frame whose header declares twice the given length."""
        return _header(_TEXT, 2 * len(message), final=True) + message

    async def write(self, data: bytes) -> None:
        """Write bytes directly to the stream, bypassing the library."""
        await self._stream.send_all(data)

    async def read(self) -> bytes | str | None:
        """Return the next message."""
        try:
            message: bytes | str = await self._websocket.get_message()
        except trio_websocket.ConnectionClosed:
            return None
        return message

    async def close(self, code: int, reason: str) -> None:
        """Send a close frame and wait briefly for the client's close frame."""
        with trio.move_on_after(_CLOSE_GRACE):
            await self._websocket.aclose(code, reason)

    async def cut(self, *, reset: bool) -> None:
        """Close the socket, optionally with a TCP reset."""
        if reset:
            self._stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self._stream.aclose()


def _header(opcode: int, length: int, *, final: bool) -> bytes:
    first = (0x80 if final else 0) | opcode
    if length < 126:
        return bytes((first, length))
    if length < 1 << 16:
        return struct.pack("!BBH", first, 126, length)
    return struct.pack("!BBQ", first, 127, length)


def _frame(opcode: int, payload: bytes, *, final: bool) -> bytes:
    return _header(opcode, len(payload), final=final) + payload


class PipeWire:
    """The browser's side of --remote-debugging-pipe: messages end with NUL in both directions."""

    def __init__(self, to_client: trio.abc.SendStream, from_client: trio.abc.ReceiveStream) -> None:
        self._to_client = to_client
        self._from_client = from_client
        self._buffer = bytearray()

    def frame(self, message: bytes | str) -> bytes:
        """Return one message with its NUL."""
        return (message.encode() if isinstance(message, str) else message) + b"\0"

    def fragments(self, chunks: Iterable[bytes]) -> Iterable[bytes]:
        """Return the chunks, then the NUL."""
        yield from chunks
        yield b"\0"

    def half(self, message: bytes) -> bytes:
        """Return the message without its NUL."""
        return message

    async def write(self, data: bytes) -> None:
        """Write bytes."""
        await self._to_client.send_all(data)

    async def read(self) -> bytes | str | None:
        """Return the next message. An incomplete one at the end is dropped."""
        while (end := self._buffer.find(0)) < 0:
            try:
                chunk = await self._from_client.receive_some(_READ_BYTES)
            except (trio.BrokenResourceError, trio.ClosedResourceError):
                return None
            if not chunk:
                return None
            self._buffer += chunk
        message = bytes(self._buffer[:end])
        del self._buffer[: end + 1]
        return message

    async def close(self, _code: int, _reason: str) -> None:
        """Close both pipes."""
        await self.cut(reset=False)

    async def cut(self, *, reset: bool) -> None:
        """Close both pipes."""
        del reset  # pipes have no reset
        try:
            await self._to_client.aclose()
        finally:
            await self._from_client.aclose()


async def accept_websocket(
    nursery: trio.Nursery, stream: trio.SocketStream
) -> trio_websocket.WebSocketRequest | None:
    """Return the client's handshake request on `stream`, or None if the client disconnected."""
    reader = ReaderTask(expected=())
    await nursery.start(reader.run, name="websocket reader of the scripted peer")
    return await reader.wrap(
        lambda reading: trio_websocket.wrap_server_stream(
            reading,
            stream,
            message_queue_size=64,
            max_message_size=_MOST_BYTES,
            receive_buffer_size=_READ_BYTES,
        )
    )
