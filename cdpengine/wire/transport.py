"""Transports: how whole messages travel. A websocket, or the pipe of --remote-debugging-pipe.

Rule: a transport moves messages and knows nothing of what they say. Every way in which the other end can
vanish becomes one error, TransportBroken, whose text says which way it was. `send` is called by one task only
(the connection's writer), `receive` by one task only (its reader).
"""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Protocol
from urllib.parse import urlsplit

import trio
import trio_websocket
from trio_websocket import ConnectionClosed, ConnectionRejected, HandshakeError, WebSocketConnection

from cdpengine.errors import ConnectFailed, InvalidArgument
from cdpengine.nursery import open_body_nursery

LARGEST_INCOMING = 1 << 30
"""Bytes. Chrome sends replies of up to 256 MB; trio-websocket's default of 1 MiB would cut the connection."""

LARGEST_OUTGOING = 100_000_000
"""Bytes. Chrome resets a socket on a larger message (measured: 101 MB passes, 110 MB does not)."""

RECEIVE_BUFFER = 1 << 18
"""Bytes a read. 64 KiB and more make a 10 MB reply a third faster than the library's 4 KiB (measured)."""

MESSAGE_QUEUE = 64
"""Messages read ahead of the reader task; more than one, so that a burst does not switch tasks a message."""

CLOSE_GRACE = 0.5
"""Seconds that the closing handshake may take; a browser that is gone does not answer it."""


_DEFAULT_PORTS = {"ws": 80, "wss": 443}


class TransportBroken(Exception):
    """The other end is gone, or this end was closed. The text says how it came."""


class Transport(Protocol):
    """A stream of whole messages in both directions."""

    name: str
    largest_outgoing: int

    async def send(self, message: bytes) -> None:
        """Send one message whole. Raises TransportBroken."""

    async def receive(self) -> bytes | str:
        """Return the next message. Raises TransportBroken."""

    async def aclose(self) -> None:
        """Close both directions. Waits for nobody longer than CLOSE_GRACE seconds."""


class WebSocketTransport:
    """Messages over trio-websocket, with its limits set on purpose and no keep-alive ping.

    A ping with a timeout causes false disconnects while Chrome is busy, so there is none.
    """

    largest_outgoing = LARGEST_OUTGOING

    def __init__(self, websocket: WebSocketConnection, name: str) -> None:
        self._websocket = websocket
        self.name = name

    async def send(self, message: bytes) -> None:
        """Send one text message. Raises TransportBroken."""
        try:
            await self._websocket.send_message(message.decode())
        except ConnectionClosed as closed:
            raise TransportBroken(_describe(closed)) from None

    async def receive(self) -> str | bytes:
        """Return the next message. Raises TransportBroken."""
        try:
            message: str | bytes = await self._websocket.get_message()
        except ConnectionClosed as closed:
            raise TransportBroken(_describe(closed)) from None
        return message

    async def aclose(self) -> None:
        """Send a close frame and wait a short while for its answer."""
        with trio.move_on_after(CLOSE_GRACE):
            await self._websocket.aclose()


@asynccontextmanager
async def open_websocket(
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    host_header: str | None = None,
    name: str | None = None,
) -> AsyncIterator[WebSocketTransport]:
    """Connect to a `ws://` or `wss://` URL. Raises ConnectFailed when nobody answers as a websocket there.

    `host_header` replaces the URL's host in the Host header (Chrome refuses DNS names other than localhost).
    """
    parts = urlsplit(url)
    if not parts.hostname or parts.scheme not in _DEFAULT_PORTS:
        raise InvalidArgument(
            what="websocket URL", given=repr(url), expected="ws://host:port/path or wss://…"
        )
    default_port = _DEFAULT_PORTS[parts.scheme]
    port = parts.port or default_port
    shown = name or f"{parts.scheme}://{parts.hostname}:{port}"
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    stream = await _open_stream(parts.hostname, port, tls=parts.scheme == "wss", shown=shown)
    async with stream, open_body_nursery() as nursery:
        bracketed = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        host = host_header or (bracketed if port == default_port else f"{bracketed}:{port}")
        try:
            websocket = await trio_websocket.wrap_client_stream(
                nursery,
                stream,
                host,
                resource,
                extra_headers=[(key.encode(), value.encode()) for key, value in (headers or {}).items()],
                message_queue_size=MESSAGE_QUEUE,
                max_message_size=LARGEST_INCOMING,
                receive_buffer_size=RECEIVE_BUFFER,
            )
            refused = None if websocket.closed is None else _describe_reason(websocket)
        except ConnectionRejected as rejected:
            refused = f"the server refused the websocket with HTTP status {rejected.status_code}"
        except (HandshakeError, ConnectionClosed) as error:
            refused = f"the websocket handshake failed ({type(error).__name__})"
        if refused:
            raise ConnectFailed(endpoint=shown, reason=refused)
        transport = WebSocketTransport(websocket, shown)
        try:
            yield transport
        finally:
            with trio.move_on_after(CLOSE_GRACE, shield=True):
                await transport.aclose()


async def _open_stream(
    host: str, port: int, *, tls: bool, shown: str
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    try:
        if tls:
            return await trio.open_ssl_over_tcp_stream(
                host, port, https_compatible=True, ssl_context=ssl.create_default_context()
            )
        return await trio.open_tcp_stream(host, port)
    except OSError as error:
        raise ConnectFailed(endpoint=shown, reason=_os_reason(error)) from None


def _os_reason(error: OSError) -> str:
    # trio raises "all attempts to connect failed", with the attempts in a group behind it.
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    told = cause if isinstance(cause, OSError) else error
    return told.strerror or str(told)


class PipeTransport:
    """Messages over the two pipes of --remote-debugging-pipe, each ended by a NUL byte.

    JSON escapes NUL inside strings, so the byte never occurs within a message.
    """

    largest_outgoing = LARGEST_INCOMING

    def __init__(
        self, to_browser: trio.abc.SendStream, from_browser: trio.abc.ReceiveStream, name: str = "pipe"
    ) -> None:
        self._to_browser = to_browser
        self._from_browser = from_browser
        self._buffer = bytearray()
        self._searched = 0
        self.name = name

    async def send(self, message: bytes) -> None:
        """Send one message and its NUL. Raises TransportBroken."""
        try:
            await self._to_browser.send_all(message + b"\0")
        except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
            raise TransportBroken(_pipe_reason(error)) from None

    async def receive(self) -> bytes:
        """Return the next message, without its NUL. Raises TransportBroken, also when it ends half-way."""
        while True:
            end = self._buffer.find(0, self._searched)
            if end >= 0:
                message = bytes(memoryview(self._buffer)[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                # A full checkpoint a message: one read can hold a thousand events, and their consumers must
                # get their turns in between.
                await trio.lowlevel.checkpoint()
                return message
            self._searched = len(self._buffer)
            try:
                chunk = await self._from_browser.receive_some(RECEIVE_BUFFER)
            except (trio.BrokenResourceError, trio.ClosedResourceError) as error:
                raise TransportBroken(_pipe_reason(error)) from None
            if not chunk:
                half = f", {len(self._buffer)} bytes into a message" if self._buffer else ""
                raise TransportBroken(f"the browser closed its end of the pipe{half}")
            if len(self._buffer) + len(chunk) > LARGEST_INCOMING:
                raise TransportBroken(f"a message of over {LARGEST_INCOMING} bytes came in")
            self._buffer += chunk

    async def aclose(self) -> None:
        """Close both pipes. Chrome exits when its end of the pipe closes."""
        with trio.move_on_after(CLOSE_GRACE):
            await self._to_browser.aclose()
            await self._from_browser.aclose()


def _pipe_reason(error: Exception) -> str:
    if isinstance(error, trio.ClosedResourceError):
        return "the pipe was closed on this side"
    return "the browser closed its end of the pipe"


def _describe(closed: ConnectionClosed) -> str:
    reason = closed.reason
    if reason is None or reason.code == 1006:
        return "the browser's end of the websocket vanished without a close frame"
    words = f": {reason.reason}" if reason.reason else ""
    return f"the websocket was closed with code {reason.code} {reason.name}{words}"


def _describe_reason(websocket: WebSocketConnection) -> str:
    return f"the server closed the connection during the websocket handshake ({websocket.closed})"
