"""A websocket server on loopback with a log of its connections and their messages."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import attrs
import trio
from trio_websocket import ConnectionClosed, WebSocketConnection, WebSocketRequest, serve_websocket

import cdpengine

OPEN = """(url, protocols) => new Promise((resolve) => {
    self.log = [];
    self.socket = new WebSocket(url, protocols ?? []);
    self.seen = (data) => (typeof data === "string" ? data : `${data.constructor.name} ${data.byteLength ?? data.size}`);
    socket.onopen = () => { log.push(`open ${socket.protocol}`); resolve(log) };
    socket.onmessage = (event) => log.push(`message ${seen(event.data)}`);
    socket.onerror = () => log.push("error");
    socket.onclose = (event) => {
        log.push(`close ${event.code} ${event.reason} ${event.wasClean}`);
        resolve(log);
    };
})"""
"""Open a websocket in the page and return its log, once it is open or closed."""


@attrs.define(eq=False)
class WebSocketSite:
    """Echoes text in upper case, and binary messages reversed. "close" closes with 4001. `log` has all events."""

    url: str = ""
    log: list[str] = attrs.field(factory=list)
    requests: list[tuple[str, dict[str, str]]] = attrs.field(factory=list)

    @property
    def messages(self) -> list[str]:
        return [each for each in self.log if each.startswith("message")]

    async def answer(self, request: WebSocketRequest) -> None:
        headers = {name.decode().lower(): value.decode() for name, value in request.headers}
        self.requests.append((request.path, headers))
        if request.path == "/refused":
            await request.reject(403)
            return
        protocol = request.proposed_subprotocols[0] if request.proposed_subprotocols else None
        connection = await request.accept(subprotocol=protocol)
        self.log.append(f"open {request.path}")
        try:
            await self._talk(connection)
        except ConnectionClosed:
            reason = connection.closed
            code, words = (1006, "") if reason is None else (reason.code, reason.reason or "")
            self.log.append(f"close {code} {words}".rstrip())

    async def _talk(self, connection: WebSocketConnection) -> None:
        while True:
            message = await connection.get_message()
            self.log.append(f"message {message!r}")
            if message == "close":
                await connection.aclose(4001, "asked")
            elif isinstance(message, str):
                await connection.send_message(message.upper())
            else:
                await connection.send_message(message[::-1])


@asynccontextmanager
async def websocket_site() -> AsyncIterator[WebSocketSite]:
    site = WebSocketSite()
    async with trio.open_nursery() as nursery:
        server = await nursery.start(partial(serve_websocket, site.answer, "127.0.0.1", 0, ssl_context=None))
        site.url = f"ws://127.0.0.1:{server.port}/"
        yield site
        nursery.cancel_scope.cancel()


async def until(condition: Callable[[], object]) -> None:
    """Wait for an event of the page or the server that the test cannot await."""
    with trio.fail_after(15):
        while not condition():  # noqa: ASYNC110 - see above
            await trio.sleep(0.01)


async def page_log(page: cdpengine.Page, number: int) -> list[str]:
    """Return the page's log once it has that number of entries."""
    source = """(number) => new Promise((resolve) => {
        const look = () => (log.length >= number ? resolve(log) : setTimeout(look, 5));
        look();
    })"""
    found: list[str] = await page.evaluate(source, number, timeout=15)
    return found
