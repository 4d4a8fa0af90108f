"""WebSocketRoute: a routed websocket, for its handler, and ServerConnection, its connection to the server.

Rule: a handler receives the page's messages in order, and answers at any time. The end of either side ends the
iteration over its messages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Self, TypeAlias

import attrs
import trio

from cdpengine._checks import check_count, check_string, check_type, invalid
from cdpengine._evaluate.websockets.routed_socket import NO_CODE, MessageQueue, RoutedSocket
from cdpengine._handlers import call_handler
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine.errors import InvalidStateError, shown_url

Changed: TypeAlias = "str | bytes | None"

Change: TypeAlias = "Callable[[str | bytes], Changed | Awaitable[Changed]]"
"""A function, sync or async, that returns the message to pass on in place of the given one. None drops it."""


@not_picklable("its messages")
@attrs.define(eq=False, repr=False)
class ServerConnection:
    """The connection of a routed websocket to its server: `await route.connect_to_server()`.

    The page opens it, so it has the page's cookies, origin and proxy. Iterate over it for the server's messages.
    """

    _socket: RoutedSocket
    _queue: MessageQueue

    def __repr__(self) -> str:
        return f"<ServerConnection {shown_url(self._socket.url)[:80]}{' closed' * self.closed}>"

    @property
    def protocol(self) -> str:
        """The subprotocol that the server chose, or ""."""
        return self._socket.server_protocol or ""

    @property
    def closed(self) -> bool:
        """Whether the connection is closed."""
        return self._queue.ended

    @property
    def close_code(self) -> int | None:
        """The code of the close: 1005 without one, 1006 for a connection that broke; None while it is open."""
        return self._queue.code

    @property
    def close_reason(self) -> str:
        """The reason of the close, or ""."""
        return self._queue.reason

    async def receive(self) -> str | bytes:
        """Wait for the server's next message: a str for text, else bytes.

        Raises trio.EndOfChannel after the last one.
        """
        return await self._queue.get()

    async def send(self, message: str | bytes) -> None:
        """Send a message to the server. Raises InvalidStateError if the connection is closed."""
        await self._socket.send_to_server(_checked(message))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the connection. `code` is 1000, or 3000 to 4999; others are sent as a close without a code."""
        await self._socket.close_server(*_checked_close(code, reason))

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | bytes:
        try:
            return await self.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None


@not_picklable("its messages")
@attrs.define(eq=False, repr=False)
class WebSocketRoute:
    """A websocket that a page opened, for the handler of `page.route_websocket`. Iterate over it for its messages.

    `accept`, `receive`, `send` and `connect_to_server` open it in the page. When the handler returns, the engine
    closes it with the code 1000.
    """

    _socket: RoutedSocket

    def __repr__(self) -> str:
        return f"<WebSocketRoute {shown_url(self.url)[:80]}{' closed' * self.closed}>"

    @property
    def url(self) -> str:
        """The absolute URL."""
        return self._socket.url

    @property
    def protocols(self) -> tuple[str, ...]:
        """The subprotocols that the page proposed."""
        return self._socket.protocols

    @property
    def closed(self) -> bool:
        """Whether the page's end is closed."""
        return self._socket.from_page.ended

    @property
    def close_code(self) -> int | None:
        """The code of the close; None while it is open. 1005: the page gave none. 1001: its document is gone."""
        return self._socket.from_page.code

    @property
    def close_reason(self) -> str:
        """The reason of the close, or ""."""
        return self._socket.from_page.reason

    async def accept(self, protocol: str = "") -> None:
        """Open the websocket in the page, with a subprotocol that the page proposed. A second call does nothing.

        Raises InvalidArgumentError for another subprotocol, InvalidStateError if the websocket is closed.
        """
        if check_string("protocol", protocol) and protocol not in self.protocols:
            raise invalid("protocol", protocol, f"one of {', '.join(self.protocols) or 'none'}")
        await self._socket.accept(protocol)

    async def receive(self) -> str | bytes:
        """Wait for the page's next message: a str for text, else bytes.

        Raises trio.EndOfChannel after the last one, when the page has closed the websocket or left its document.
        """
        if not self.closed:
            try:
                await self._socket.accept("")
            except InvalidStateError:
                if not self.closed:
                    raise
        return await self._socket.from_page.get()

    async def send(self, message: str | bytes) -> None:
        """Send a message to the page: a str as text, bytes as a Blob or an ArrayBuffer, as the page wants.

        Waits until the page has it. Raises InvalidStateError if the websocket is closed.
        """
        await self._socket.send(_checked(message))

    async def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the websocket. The page gets a "close" event with `code` and `reason`.

        Before `accept`, the connection fails instead: the page gets "error", and "close" with the code 1006. A
        second call does nothing.
        """
        await self._socket.close(*_checked_close(code, reason))

    async def connect_to_server(self) -> ServerConnection:
        """Connect to the server of the URL, and accept the websocket with the server's subprotocol.

        Messages are not passed on automatically: use `forward`, or `receive` and `send` of both sides. Raises
        InvalidStateError if the server refuses or cannot be reached, or if the websocket is closed.
        """
        return ServerConnection(self._socket, await self._socket.connect())

    async def forward(
        self,
        server: ServerConnection | None = None,
        *,
        to_server: Change | None = None,
        to_page: Change | None = None,
    ) -> None:
        """Pass all messages on in both directions, until either side closes, and close the other side likewise.

        Without `server`, it connects first. `to_server` and `to_page` are functions, sync or async, that change
        the messages of one direction: they return the message to pass on, or None to drop it. An async function
        delays the later messages of its direction.

        Raises the errors of `connect_to_server`, and of the functions.
        """
        server = server or await self.connect_to_server()
        async with open_body_nursery() as nursery:

            async def pass_to_server() -> None:
                async for message in self:
                    changed = await _change(to_server, message)
                    if changed is not None and not server.closed:
                        await server.send(changed)
                await server.close(self.close_code or 1000, self.close_reason)
                nursery.cancel_scope.cancel()

            nursery.start_soon(pass_to_server)
            async for message in server:
                changed = await _change(to_page, message)
                if changed is not None and not self.closed:
                    await self.send(changed)
            code = server.close_code or NO_CODE
            await self._socket.close(code, server.close_reason)
            nursery.cancel_scope.cancel()

    async def fallback(self) -> None:
        """Let the next matching route answer, or the server without the engine.

        Raises InvalidStateError if the websocket was accepted or closed before.
        """
        await self._socket.pass_on()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> str | bytes:
        try:
            return await self.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None


async def _change(change: Change | None, message: str | bytes) -> Changed:
    if change is None:
        return message
    changed = await call_handler(change, message)
    return None if changed is None else _checked(changed)


def _checked(message: object) -> str | bytes:
    if isinstance(message, bytearray | memoryview):
        return bytes(message)
    check_type("message", message, str | bytes, "str or bytes")
    assert isinstance(message, str | bytes)
    return message


def _checked_close(code: int, reason: str) -> tuple[int, str]:
    check_string("reason", reason)
    if len(reason.encode("utf-8", "replace")) > _LONGEST_REASON:
        raise invalid("reason", reason, f"at most {_LONGEST_REASON} bytes")
    return check_count("code", code, least=1000, most=4999), reason


_LONGEST_REASON = 123
