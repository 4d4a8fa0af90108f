"""A websocket on a plain blocking socket: the part of RFC 6455 needed for a local browser.

Rule: framing is pure (`frame`, `header`). Chrome sends each message as one unmasked frame and no pings; other
frames are errors here. The masking key is zero, which the protocol allows. Masking then changes no byte, so its
cost in Python is not part of the floor.
"""

from __future__ import annotations

import base64
import hashlib
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from cdpengine._protocol.transport import RECEIVE_BUFFER

_GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_TEXT = 0x81
"""First byte of a frame with a whole text message."""


def frame(message: bytes) -> bytes:
    """Return the frame of a client's text message, masked with zero."""
    size = len(message)
    if size < 126:
        return bytes((_TEXT, 0x80 | size, 0, 0, 0, 0)) + message
    if size < 1 << 16:
        return bytes((_TEXT, 0xFE)) + size.to_bytes(2, "big") + bytes(4) + message
    return bytes((_TEXT, 0xFF)) + size.to_bytes(8, "big") + bytes(4) + message


def header(buffer: bytes | bytearray | memoryview, start: int, end: int) -> tuple[int, int] | None:
    """Return the start and end of the message in the frame at `start`, or None if too few bytes are available.

    `end` is the end of the available bytes. Raises ValueError for a frame that is not a whole, unmasked text.
    """
    if end - start < 2:
        return None
    if buffer[start] != _TEXT or buffer[start + 1] & 0x80:
        raise ValueError(f"a frame began with {buffer[start]:#04x} {buffer[start + 1]:#04x}")
    size, at = buffer[start + 1], start + 2
    if size >= 126:
        width = 2 if size == 126 else 8
        if end - at < width:
            return None
        size, at = int.from_bytes(buffer[at : at + width], "big"), at + width
    return at, at + size


class PlainSocket:
    """Whole messages over a socket. Small messages share one buffer."""

    def __init__(self, connection: socket.socket) -> None:
        self._send = connection.sendall
        self._receive_into = connection.recv_into
        self._buffer = memoryview(bytearray(RECEIVE_BUFFER))
        self._start = self._end = 0

    def send(self, message: bytes) -> None:
        """Send one message."""
        self._send(frame(message))

    def receive(self) -> memoryview:
        """Wait for the next message. It is valid until the next `receive`."""
        while True:
            where = header(self._buffer, self._start, self._end)
            if where is not None and where[1] <= self._end:
                self._start = where[1]
                return self._buffer[where[0] : where[1]]
            if where is not None and where[1] - self._start > RECEIVE_BUFFER:
                return self._large(*where)
            if self._start:
                rest = bytes(self._buffer[self._start : self._end])
                self._buffer[: len(rest)] = rest
                self._start, self._end = 0, len(rest)
            self._end += self._read(self._buffer[self._end :])

    def _large(self, at: int, end: int) -> memoryview:
        """Read the rest of a message that is larger than the buffer."""
        whole = memoryview(bytearray(end - at))
        there = self._end - at
        whole[:there] = self._buffer[at : self._end]
        self._start = self._end = 0
        while there < len(whole):
            there += self._read(whole[there:])
        return whole

    def _read(self, into: memoryview) -> int:
        count = self._receive_into(into)
        if not count:
            raise ConnectionError("the browser closed its end of the socket")
        return count


@contextmanager
def plain_socket(url: str) -> Iterator[PlainSocket]:
    """Connect to a `ws://` URL."""
    address = urlsplit(url)
    key = base64.b64encode(os.urandom(16))
    with socket.create_connection((address.hostname, address.port or 80)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(
            f"GET {address.path} HTTP/1.1\r\nHost: {address.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key.decode()}\r\n\r\n".encode()
        )
        answer = b""
        while not answer.endswith(b"\r\n\r\n"):  # the browser sends nothing more without a request
            piece = connection.recv(4096)
            if not piece:
                raise ConnectionError("the browser closed the socket during the handshake")
            answer += piece
        accept = base64.b64encode(hashlib.sha1(key + _GUID).digest())
        if not answer.startswith(b"HTTP/1.1 101 ") or accept not in answer:
            raise ConnectionError(f"no websocket: {answer[:60]!r}")
        yield PlainSocket(connection)
