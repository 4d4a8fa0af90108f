"""The transport over a websocket.

Rule: trio-websocket implements the protocol; its limits are set here. Only this module knows the exceptions that
it raises if the other end refuses or breaks the rules. A browser on a pipe does not need this module, so it is
imported only to open a websocket.
"""

from __future__ import annotations

import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar, cast
from urllib.parse import SplitResult, urlsplit

import attrs
import trio
import trio_websocket
from h11 import ProtocolError as HttpProtocolError
from trio_websocket import CloseReason, ConnectionClosed, HandshakeError, WebSocketConnection
from wsproto.utilities import ProtocolError as WebSocketProtocolError

from cdpengine._budget import undoing
from cdpengine._checks import invalid
from cdpengine._nursery import choose_error, open_body_nursery
from cdpengine._protocol.http_connections import (
    CLOSED,
    ELSE,
    Obstacle,
    ServerAnswer,
    checked_header,
    failed,
    holds_secret,
    host_and_port,
    open_stream,
    sent_secrets,
)
from cdpengine._protocol.transport import (
    CLOSE_GRACE,
    LARGEST_INCOMING,
    LARGEST_OUTGOING,
    RECEIVE_BUFFER,
    LastRead,
    TransportBroken,
)
from cdpengine._urls.reading import DEFAULT_PORTS

T = TypeVar("T")

MESSAGE_QUEUE = 64
"""Messages read ahead of the reader task. With several, a burst does not switch tasks for each message."""


class WebSocketTransport:
    """Messages over trio-websocket, with its limits set and without keep-alive pings.

    A ping with a timeout would end the connection while Chrome is only busy.
    """

    largest_outgoing = LARGEST_OUTGOING

    def __init__(
        self,
        websocket: WebSocketConnection,
        stream: _Stamped,
        name: str,
        last_read: LastRead | None = None,
        secrets: Collection[str] = (),
    ) -> None:
        self._websocket = websocket
        self._stream = stream
        self._secrets = secrets
        self.last_read = last_read
        self.name = name

    async def send(self, *messages: bytes) -> None:
        """Send text messages, in one write. Raises TransportBroken."""
        try:
            if len(messages) > 1:
                with self._stream.gathering():
                    for message in messages[:-1]:
                        await self._websocket.send_message(message.decode())
            await self._websocket.send_message(messages[-1].decode())
        except ConnectionClosed as closed:
            raise TransportBroken(_describe(closed, self._secrets)) from None

    async def receive(self) -> str | bytes:
        """Return the next message. Raises TransportBroken."""
        try:
            message: str | bytes = await self._websocket.get_message()
        except ConnectionClosed as closed:
            raise TransportBroken(_describe(closed, self._secrets)) from None
        return message

    async def aclose(self) -> None:
        """Send a close frame and wait up to CLOSE_GRACE seconds for the reply."""
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
    """Connect to a `ws://` or `wss://` URL. Raises ConnectFailedError if no websocket server answers.

    `host_header` replaces the URL's host in the Host header (Chrome refuses DNS names other than localhost).
    Raises InvalidArgumentError for an invalid URL or header. Has no timeout: put a cancel scope around it.
    """
    parts, port = _parse(url)
    host_name = parts.hostname or ""
    endpoint_name = name or f"{parts.scheme}://{parts.hostname}:{port}"
    resource = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    host = host_header or host_and_port(host_name, port, DEFAULT_PORTS[parts.scheme])
    extra_headers = [checked_header(key, value) for key, value in (headers or {}).items()]
    last_read = LastRead()
    answer = ServerAnswer(sent_secrets(url, headers or {}))
    opened = await open_stream(host_name, port, tls=parts.scheme == "wss", endpoint=endpoint_name)
    stream = _Stamped(opened, last_read, answer)
    async with stream, open_body_nursery() as nursery:
        reader = ReaderTask((_Refused, *READER_ERRORS))
        await nursery.start(reader.run, name="websocket reader")
        websocket = await reader.wrap(
            lambda reading: trio_websocket.wrap_client_stream(
                reading,
                cast("trio.SocketStream", stream),  # the library accepts any Stream, as its server does
                host,
                resource,
                extra_headers=extra_headers,
                message_queue_size=MESSAGE_QUEUE,
                max_message_size=LARGEST_INCOMING,
                receive_buffer_size=RECEIVE_BUFFER,
            )
        )
        stream.answer = None  # only messages follow
        if websocket is None:
            raise failed(endpoint_name, _obstacle_of(reader.error) or answer.end() or _CLOSED_EARLY)
        if websocket.closed is not None:
            raise failed(
                endpoint_name,
                attrs.evolve(
                    _CLOSED_EARLY,
                    reason=f"{_CLOSED_EARLY.reason}, {_close_words(websocket.closed, answer.secrets)}",
                ),
            )
        transport = WebSocketTransport(websocket, stream, endpoint_name, last_read, answer.secrets)
        try:
            # The closing handshake needs the reader, so outside cancellation reaches the reader only after the
            # handshake.
            reader.scope.shield = True
            yield transport
        finally:
            try:
                with undoing(CLOSE_GRACE):
                    await transport.aclose()
            finally:
                reader.scope.cancel()


class _Refused(Exception):
    """Raised in the library's reader to stop it: the server's answer is not a websocket."""

    def __init__(self, obstacle: Obstacle) -> None:
        super().__init__(obstacle.reason)
        self.obstacle = obstacle


class _Stamped(trio.abc.Stream):
    """A stream that records when bytes arrive. While it has an `answer`, it passes the bytes to it too.

    Inside `gathering`, sent data waits and is sent together with the next data.
    """

    def __init__(self, stream: trio.abc.Stream, last_read: LastRead, answer: ServerAnswer | None) -> None:
        self.answer = answer
        self._stream = stream
        self._last_read = last_read
        self._gathered = bytearray()
        self._gathering = False

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        data = await self._stream.receive_some(max_bytes)
        self._last_read.time = time.perf_counter()
        if self.answer is not None and (obstacle := self.answer.feed(data)) is not None:
            raise _Refused(obstacle)
        return data

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self._gathering:
            self._gathered += data
            return
        if self._gathered:
            data, self._gathered = self._gathered + data, bytearray()
        await self._stream.send_all(data)

    @contextmanager
    def gathering(self) -> Iterator[None]:
        """Hold back data sent in the block; the next send after the block includes it."""
        self._gathering = True
        try:
            yield
        finally:
            self._gathering = False

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


_CLOSED_EARLY = attrs.evolve(CLOSED, reason="the server closed the connection during the websocket handshake")
_NO_WEBSOCKET = Obstacle("the server does not speak the websocket protocol", ELSE)


def _obstacle_of(error: BaseException | None) -> Obstacle | None:
    """Return the obstacle if the reader ended with an error."""
    if error is None:
        return None
    if isinstance(error, _Refused):
        return error.obstacle
    return attrs.evolve(_NO_WEBSOCKET, reason=f"{_NO_WEBSOCKET.reason} ({type(error).__name__})")


READER_ERRORS = (HandshakeError, ConnectionClosed, WebSocketProtocolError, HttpProtocolError)
"""Exceptions of trio-websocket's reader if the other end refuses or breaks the rules."""


class ReaderTask:
    """Runs trio-websocket's reader in a separate nursery, and records its end and its error.

    If the other end disappears early, the library waits forever for the handshake. The reader's errors (a refusal
    with an HTTP status, bytes that are not HTTP, a ping while closing) would fail the nursery that it runs in.
    Here the reader's end also ends the wait. `error` keeps an error of the types `expected`; others propagate.
    """

    def __init__(self, expected: tuple[type[Exception], ...] = READER_ERRORS) -> None:
        self.scope = trio.CancelScope()
        self.ended = trio.Event()
        self.error: BaseException | None = None
        self._expected = expected
        self._nursery: trio.Nursery | None = None
        self._begun = trio.Event()
        self._waiting = trio.CancelScope()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Keep the nursery open until the reader has ended. Start it before `wrap`."""
        failure: BaseException | None = None
        try:
            with self.scope:
                async with trio.open_nursery(strict_exception_groups=True) as self._nursery:
                    task_status.started()
                    await self._begun.wait()
        except BaseExceptionGroup as group:
            failure = choose_error(group.exceptions)
        finally:
            self.ended.set()
            self._waiting.cancel()
        try:
            if isinstance(failure, self._expected):
                self.error = failure.with_traceback(None)
            elif failure is not None:
                raise failure
        finally:
            del failure  # its traceback holds this frame

    async def wrap(self, start: Callable[[trio.Nursery], Awaitable[T]]) -> T | None:
        """Call `start`, which starts the reader, and return its result, or None if the reader ended first."""
        assert self._nursery is not None
        with self._waiting:
            self._begun.set()  # the reader is in the nursery before the body resumes
            return await start(self._nursery)
        return None


def _parse(url: str) -> tuple[SplitResult, int]:
    try:
        parts = urlsplit(url)
        port = parts.port
        if not (parts.hostname and parts.scheme in ("ws", "wss") and _PRINTABLE.fullmatch(url)):
            raise ValueError
    except (ValueError, TypeError, AttributeError):
        raise invalid("websocket URL", url, "ws://host:port/path or wss://…") from None
    return parts, DEFAULT_PORTS[parts.scheme] if port is None else port


_PRINTABLE = re.compile(r"[!-~]+")


def _describe(closed: ConnectionClosed, secrets: Collection[str]) -> str:
    reason = closed.reason
    if reason is None or reason.code == 1006:
        return "the browser's end of the websocket vanished without a close frame"
    return f"the websocket was closed {_close_words(reason, secrets)}"


def _close_words(reason: CloseReason, secrets: Collection[str]) -> str:
    # The server may echo a secret in its reason.
    words = f": {reason.reason}" if reason.reason and not holds_secret(reason.reason, secrets) else ""
    return f"with code {reason.code} {reason.name}{words}"
