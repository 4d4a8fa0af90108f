"""Transports: how whole messages travel. A websocket, or the pipe of --remote-debugging-pipe.

Rule: a transport moves messages and knows nothing of what they say. Every way in which the other end can
vanish becomes one error, TransportBroken, whose text says which way it was. `send` is called by one task only
(the connection's writer), `receive` by one task only (its reader).
"""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Protocol, cast
from urllib.parse import SplitResult, urlsplit

import trio
import trio_websocket
from h11 import ProtocolError as HttpProtocolError
from trio_websocket import ConnectionClosed, ConnectionRejected, HandshakeError, WebSocketConnection
from wsproto.utilities import ProtocolError as WebSocketProtocolError

from cdpengine.errors import ConnectFailed, InvalidArgument, Shortage, os_reason, shortage_of
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


class Arrival:
    """When the last bytes were read off a socket or a pipe: `time`, of time.perf_counter()."""

    __slots__ = ("time",)

    def __init__(self) -> None:
        self.time = time.perf_counter()


class Transport(Protocol):
    """A stream of whole messages in both directions. It may have an `arrival`, for statistics."""

    name: str
    largest_outgoing: int

    async def send(self, message: bytes) -> None:
        """Send one message whole. Raises TransportBroken.

        Cancelled half-way, it may have written half a message: after that, only `aclose` makes sense.
        """

    async def receive(self) -> bytes | str:
        """Return the next message. Raises TransportBroken. Cancelled, it loses nothing."""

    async def aclose(self) -> None:
        """Close both directions, also when cancelled. Waits for nobody longer than CLOSE_GRACE seconds."""


class WebSocketTransport:
    """Messages over trio-websocket, with its limits set on purpose and no keep-alive ping.

    A ping with a timeout causes false disconnects while Chrome is busy, so there is none.
    """

    largest_outgoing = LARGEST_OUTGOING

    def __init__(self, websocket: WebSocketConnection, name: str, arrival: Arrival | None = None) -> None:
        self._websocket = websocket
        self.arrival = arrival
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
    Raises InvalidArgument for a URL or a header that can never work. Waits as long as the server lets it
    wait: put a cancel scope around it.
    """
    parts, port = _parse(url)
    host_name = parts.hostname or ""
    shown = name or f"{parts.scheme}://{parts.hostname}:{port}"
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    bracketed = f"[{host_name}]" if ":" in host_name else host_name
    host = host_header or (bracketed if port == _DEFAULT_PORTS[parts.scheme] else f"{bracketed}:{port}")
    extra_headers = [_header(key, value) for key, value in (headers or {}).items()]
    arrival = Arrival()
    stream = _Stamped(await _open_stream(host_name, port, tls=parts.scheme == "wss", shown=shown), arrival)
    async with stream, open_body_nursery() as nursery:
        websocket: WebSocketConnection | None = None
        with trio.CancelScope() as handshake:
            background = _Background(nursery, handshake)
            websocket = await trio_websocket.wrap_client_stream(
                cast("trio.Nursery", background),
                cast("trio.SocketStream", stream),
                host,
                resource,
                extra_headers=extra_headers,
                message_queue_size=MESSAGE_QUEUE,
                max_message_size=LARGEST_INCOMING,
                receive_buffer_size=RECEIVE_BUFFER,
            )
        if websocket is None:
            raise ConnectFailed(endpoint=shown, reason=background.ending)
        if websocket.closed is not None:
            raise ConnectFailed(endpoint=shown, reason=f"{_CLOSED_EARLY} ({websocket.closed})")
        transport = WebSocketTransport(websocket, shown, arrival)
        try:
            # The farewell needs the reader: cancellation from outside reaches it only after that.
            background.reading.shield = True
            yield transport
        finally:
            try:
                with trio.move_on_after(CLOSE_GRACE, shield=True):
                    await transport.aclose()
            finally:
                background.reading.cancel()


class _Stamped(trio.abc.Stream):
    """A stream that notes when its bytes come in."""

    def __init__(self, stream: trio.abc.Stream, arrival: Arrival) -> None:
        self._stream = stream
        self._arrival = arrival
        # As they are: a message out costs nothing more.
        self.send_all = stream.send_all  # type: ignore[method-assign]
        self.wait_send_all_might_not_block = stream.wait_send_all_might_not_block  # type: ignore[method-assign]

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        self._arrival.time = time.perf_counter()
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


_CLOSED_EARLY = "the server closed the connection during the websocket handshake"


class _Background:
    """Runs the library's own reader task, in place of a nursery, and ends the handshake when that task ends.

    The library waits for the handshake for ever when the server closes before it, and lets the task's errors
    (a refusal with an HTTP status, bytes that are no HTTP, a ping while closing) fail the nursery it runs in.
    """

    def __init__(self, nursery: trio.Nursery, handshake: trio.CancelScope) -> None:
        self._nursery = nursery
        self._handshake = handshake
        self.ending = _CLOSED_EARLY
        self.reading = trio.CancelScope()

    def start_soon(self, reader: Callable[[], Awaitable[None]]) -> None:
        self._nursery.start_soon(self._run, reader, name="websocket reader")

    async def _run(self, reader: Callable[[], Awaitable[None]]) -> None:
        try:
            with self.reading:
                await reader()
        except ConnectionRejected as rejected:
            self.ending = f"the server refused the websocket with HTTP status {rejected.status_code}"
        except (HandshakeError, ConnectionClosed, WebSocketProtocolError, HttpProtocolError) as error:
            self.ending = f"what answers there does not speak the websocket protocol ({type(error).__name__})"
        self._handshake.cancel()


def _parse(url: str) -> tuple[SplitResult, int]:
    try:
        parts = urlsplit(url)
        port = parts.port
        if not (parts.hostname and parts.scheme in _DEFAULT_PORTS and _PRINTABLE.fullmatch(url)):
            raise ValueError
    except (ValueError, TypeError, AttributeError):
        raise InvalidArgument(
            what="websocket URL", given=repr(url), expected="ws://host:port/path or wss://…"
        ) from None
    return parts, _DEFAULT_PORTS[parts.scheme] if port is None else port


def _header(name: str, value: str) -> tuple[bytes, bytes]:
    # The value is not repeated in the error: headers carry tokens.
    if not _HEADER_NAME.fullmatch(name):
        raise InvalidArgument(what="header", given=repr(name), expected="a name as HTTP allows it")
    if not _HEADER_VALUE.fullmatch(value):
        raise InvalidArgument(
            what=f"header {name}",
            given="a value with control characters, or with space around it",
            expected="one line of text",
        )
    return name.encode(), value.encode()


_PRINTABLE = re.compile(r"[!-~]+")
_HEADER_NAME = re.compile(r"[-!#$%&'*+.^_`|~0-9A-Za-z]+")
_HEADER_VALUE = re.compile(r"(?:[^\x00-\x20\x7f](?:[^\x00-\x08\x0a-\x1f\x7f]*[^\x00-\x20\x7f])?)?")


async def _open_stream(
    host: str, port: int, *, tls: bool, shown: str
) -> trio.SocketStream | trio.SSLStream[trio.SocketStream]:
    try:
        stream = await trio.open_tcp_stream(host, port)
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise lacking(shown, shortage) from error
        raise ConnectFailed(endpoint=shown, reason=_os_reason(error)) from None
    if not tls:
        return stream
    secure = trio.SSLStream(stream, ssl.create_default_context(), server_hostname=host, https_compatible=True)
    try:
        await secure.do_handshake()
    except trio.BrokenResourceError as error:
        await trio.aclose_forcefully(stream)
        why = str(error.__cause__ or "the server closed the connection")
        raise ConnectFailed(endpoint=shown, reason=f"TLS failed: {why}") from None
    except BaseException:
        await trio.aclose_forcefully(stream)
        raise
    return secure


def _os_reason(error: OSError) -> str:
    # trio raises "all attempts to connect failed", with the attempts in a group behind it.
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    return os_reason(cause if isinstance(cause, OSError) else error)


def lacking(endpoint: str, shortage: Shortage) -> ConnectFailed:
    """Return the error for an endpoint that was not reached because this side lacks something."""
    return ConnectFailed(
        endpoint=endpoint, reason=f"{shortage.reason} ({shortage.name})", advice=shortage.advice
    )


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
        self.arrival = Arrival()
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
                # A full checkpoint a message: one read can hold a thousand events, and their consumers must
                # get their turns in between. It comes first, so that a cancelled receive loses nothing.
                self._searched = end
                await trio.lowlevel.checkpoint()
                with memoryview(self._buffer) as view:
                    message = bytes(view[:end])
                del self._buffer[: end + 1]
                self._searched = 0
                return message
            self._searched = len(self._buffer)
            try:
                chunk = await self._from_browser.receive_some(RECEIVE_BUFFER)
                self.arrival.time = time.perf_counter()
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
        try:
            await self._to_browser.aclose()
        finally:
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
