"""A server for HTTP and websockets on one port, like Chrome's debugging port.

Rule: h11 reads a whole request before the server decides. A websocket request and its bytes are then passed to
trio-websocket. Requests to a DNS name are refused, as in Chrome: any web page could otherwise reach the port
through a name that resolves to this machine. In Chrome's /json responses only the websocket addresses are changed.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import attrs
import h11
import trio
import trio_websocket

from cdpengine import _json
from cdpengine._checks import check_count
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.transport import CLOSE_GRACE, LARGEST_INCOMING, RECEIVE_BUFFER, TransportBroken
from cdpengine._protocol.websocket_transport import MESSAGE_QUEUE, ReaderTask
from cdpengine.errors import InvalidArgumentError, exhausted, shortage_of

logger = get_logger("cdpengine.debug")

REQUEST_PATIENCE = 10.0
"""Timeout for a client's request, in seconds."""

_LARGEST_BODY = 1 << 20
_READ = 1 << 16
_LONGEST_REASON = 120  # bytes; a close frame holds 123
_IN_FRONTEND = re.compile(r"([?&])wss?=[^/&#]+")


@attrs.frozen
class HttpRequest:
    """A client's request. `headers` have lower-case names; the last of repeated headers wins."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def wants_websocket(self) -> bool:
        """Whether the client requests a websocket."""
        return "websocket" in self.headers.get("upgrade", "").lower()


@attrs.frozen
class HttpAnswer:
    """The response to a client's HTTP request."""

    status: int
    body: bytes
    content_type: str = "text/plain; charset=utf-8"


@attrs.define(eq=False)
class Socket:
    """The server's end of a requested websocket, and the stream below it.

    `gone` is set when the client's end is closed. Earlier messages can still be received.
    """

    request: HttpRequest
    _proposal: trio_websocket.WebSocketRequest
    _stream: trio.abc.Stream
    gone: trio.Event
    websocket: trio_websocket.WebSocketConnection | None = None

    async def accept(self) -> None:
        """Accept the websocket. Raises TransportBroken if the client is gone."""
        try:
            self.websocket = await self._proposal.accept()
        except trio_websocket.ConnectionClosed:
            raise TransportBroken(self.describe_end()) from None

    async def send(self, message: bytes | str) -> None:
        """Send one text message. Raises TransportBroken."""
        assert self.websocket is not None
        try:
            await self.websocket.send_message(
                message if isinstance(message, str) else message.decode("utf-8", "replace")
            )
        except trio_websocket.ConnectionClosed:
            raise TransportBroken(self.describe_end()) from None

    async def receive(self) -> bytes | str:
        """Return the next message. Raises TransportBroken."""
        assert self.websocket is not None
        try:
            message: bytes | str = await self.websocket.get_message()
        except trio_websocket.ConnectionClosed:
            raise TransportBroken(self.describe_end()) from None
        return message

    async def refuse(self, status: int, reason: str) -> None:
        """Refuse the websocket."""
        with trio.move_on_after(CLOSE_GRACE):
            await self._proposal.reject(
                status, extra_headers=[(b"content-type", b"text/plain; charset=utf-8")], body=reason.encode()
            )

    async def close(self, code: int, reason: str) -> None:
        """Close the websocket with a code and a reason. Wait briefly for the client's close frame."""
        if self.websocket is not None:
            with trio.move_on_after(CLOSE_GRACE, shield=True):
                await self.websocket.aclose(code, _shorten(reason))

    async def cut(self) -> None:
        """Close the connection without a close frame."""
        await trio.aclose_forcefully(self._stream)

    def describe_end(self) -> str:
        """Describe how the client ended the connection."""
        closed = None if self.websocket is None else self.websocket.closed
        if closed is None or closed.code == 1006:
            return "the client vanished without a close frame"
        return f"the client closed the websocket with code {closed.code} {closed.reason or closed.name}"


def _shorten(reason: str) -> str:
    return reason.encode()[:_LONGEST_REASON].decode("utf-8", "ignore")


HttpHandler = Callable[[HttpRequest], Awaitable[HttpAnswer]]
SocketHandler = Callable[[Socket], Awaitable[None]]


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a listener on `host`."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def is_plain_host(authority: str) -> bool:
    """Return whether a Host header contains an address or localhost instead of a DNS name."""
    host = authority.strip()
    host = host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def redirect_websockets(page: bytes, authority: str) -> bytes:
    """Return a /json document in which all websockets are at `authority` ("127.0.0.1:9222").

    Content that is not JSON is returned unchanged.
    """
    try:
        document = _json.decode_leniently(page)
    except ValueError:
        return page
    return _json.encode(_redirect(document, authority), indent=3)


def _redirect(value: Any, authority: str) -> Any:
    if isinstance(value, list):
        return [_redirect(item, authority) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {}
    for name, item in value.items():
        if name == "webSocketDebuggerUrl" and isinstance(item, str):
            item = urlsplit(item)._replace(scheme="ws", netloc=authority).geturl()
        elif name in ("devtoolsFrontendUrl", "devtoolsFrontendUrlCompat") and isinstance(item, str):
            item = _IN_FRONTEND.sub(rf"\g<1>ws={authority}", item)
        else:
            item = _redirect(item, authority)
        changed[name] = item
    return changed


@asynccontextmanager
async def serve_http_and_websockets(
    on_http: HttpHandler,
    on_socket: SocketHandler,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    listeners: list[trio.SocketListener] | None = None,
) -> AsyncIterator[tuple[str, int]]:
    """Run a server inside the block and yield its address and port. Leaving the block ends every client's task.

    `listeners` replace `host` and `port`. They are closed with the block.

    Raises InvalidArgumentError for an unusable host or port, and ResourcesExhaustedError if the system lacks
    resources.
    """
    if listeners is None:
        listeners = await _listen(host, port)
    async with open_body_nursery() as nursery:
        take = partial(_serve_client, on_http, on_socket)
        serve = partial(trio.serve_listeners, take, listeners, handler_nursery=nursery)
        nursery.start_soon(serve, name="HTTP and websocket server")
        address = listeners[0].socket.getsockname()
        yield str(address[0]), int(address[1])


async def _listen(host: str, port: int) -> list[trio.SocketListener]:
    check_count("port", port, most=65_535, expected="a number from 0 (any free one) to 65535")
    try:
        return await trio.open_tcp_listeners(port, host=host)
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise exhausted(f"listen on {host}:{port}", shortage) from error
        raise InvalidArgumentError(
            what="listening address",
            given=f"{host}:{port}",
            expected=f"a free port of an address of this machine ({error.strerror or error})",
        ) from None


async def _serve_client(on_http: HttpHandler, on_socket: SocketHandler, stream: trio.SocketStream) -> None:
    """Serve one client. A disconnect is not an error."""
    async with stream:
        taken: tuple[HttpRequest, bytes] | None = None
        with trio.move_on_after(REQUEST_PATIENCE):
            taken = await _first_request(stream)
        if taken is None:
            return
        request, received = taken
        if not is_plain_host(request.headers.get("host", "localhost")):
            await _answer(stream, HttpAnswer(403, b"Ask for this by address, not by name.\n"))
        elif request.wants_websocket:
            await _hand_over(on_socket, request, stream, received)
        else:
            await _answer(stream, await on_http(request), head_only=request.method == "HEAD")


async def _first_request(stream: trio.SocketStream) -> tuple[HttpRequest, bytes] | None:
    """Return a client's request and its bytes, or None if the client left or the request was invalid."""
    try:
        return await _read_request(stream)
    except h11.RemoteProtocolError as error:
        await _answer(stream, HttpAnswer(error.error_status_hint, f"{error}\n".encode()))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        logger.debug("a client went away before it asked anything")
    return None


async def _hand_over(
    on_socket: SocketHandler, request: HttpRequest, stream: trio.SocketStream, received: bytes
) -> None:
    async with open_body_nursery() as nursery:
        proposal: trio_websocket.WebSocketRequest | None = None
        whole = _Replayed(stream, received)
        reader = ReaderTask()
        await nursery.start(_read_client, reader, name="websocket reader of the server")
        with trio.move_on_after(REQUEST_PATIENCE):
            proposal = await reader.wrap(
                lambda reading: trio_websocket.wrap_server_stream(
                    reading,
                    whole,
                    message_queue_size=MESSAGE_QUEUE,
                    max_message_size=LARGEST_INCOMING,
                    receive_buffer_size=RECEIVE_BUFFER,
                )
            )
        if proposal is None:
            return
        try:
            await on_socket(Socket(request, proposal, whole, reader.ended))
        except TransportBroken:
            logger.debug("a client of %s was gone before it was let in", request.target)


async def _read_client(
    reader: ReaderTask, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
) -> None:
    """Run the library's reader. A protocol violation by the client ends only that client."""
    await reader.run(task_status)
    if reader.error is not None:
        logger.info("a client broke the rules of the websocket protocol: %s", reader.error)


class _Replayed(trio.abc.Stream):
    """A stream whose beginning has already been read."""

    def __init__(self, stream: trio.SocketStream, received: bytes) -> None:
        self._stream = stream
        self._received = received

    async def receive_some(self, max_bytes: int | None = None) -> bytes | bytearray:
        if self._received:
            received, self._received = self._received, b""
            await trio.lowlevel.checkpoint()
            return received
        return await self._stream.receive_some(max_bytes)

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        await self._stream.send_all(data)

    async def wait_send_all_might_not_block(self) -> None:
        await self._stream.wait_send_all_might_not_block()

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _read_request(stream: trio.SocketStream) -> tuple[HttpRequest, bytes]:
    """Read one request, with its body unless it requests a websocket. Return it and the bytes read."""
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=_LARGEST_BODY)
    received = b""
    request: HttpRequest | None = None
    body = b""
    while True:
        event = connection.next_event()
        if event is h11.NEED_DATA:
            data = bytes(await stream.receive_some(_READ))
            if not data and request is None:
                raise trio.BrokenResourceError
            received += data
            connection.receive_data(data)
        elif isinstance(event, h11.Request):
            headers = {
                name.decode("latin-1").lower(): value.decode("latin-1") for name, value in event.headers
            }
            request = HttpRequest(event.method.decode("ascii"), event.target.decode("latin-1"), headers)
            if request.wants_websocket:
                return request, received
        elif isinstance(event, h11.Data):
            body += bytes(event.data)
            if len(body) > _LARGEST_BODY:
                raise h11.RemoteProtocolError("the body is too long", error_status_hint=413)
        elif isinstance(event, h11.EndOfMessage):
            assert request is not None
            return attrs.evolve(request, body=body), received
        else:
            raise trio.BrokenResourceError  # closed or paused: no more data will come


async def _answer(stream: trio.SocketStream, answer: HttpAnswer, *, head_only: bool = False) -> None:
    connection = h11.Connection(h11.SERVER)
    head = h11.Response(
        status_code=answer.status,
        headers=[
            ("content-type", answer.content_type),
            ("content-length", str(len(answer.body))),
            ("cache-control", "no-cache"),
            ("connection", "close"),
        ],
    )
    data = connection.send(head) or b""
    if not head_only:
        data += answer.body
    try:
        await stream.send_all(data)
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        logger.debug("a client was gone before it was answered")
