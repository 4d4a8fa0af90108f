"""Bare loops on trio-websocket: one for concurrent calls, and one that decodes nothing.

Rule: limits and buffers equal those of the engine's transport, so that only the code above the library differs.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio
import trio_websocket

from benchmarks.floor.messages import Refused, decode, encode
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._protocol.transport import LARGEST_INCOMING, RECEIVE_BUFFER
from cdpengine._protocol.websocket_transport import MESSAGE_QUEUE


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[trio_websocket.WebSocketConnection]:
    async with trio.open_nursery() as nursery:
        yield await trio_websocket.connect_websocket_url(
            nursery,
            url,
            message_queue_size=MESSAGE_QUEUE,
            max_message_size=LARGEST_INCOMING,
            receive_buffer_size=RECEIVE_BUFFER,
        )
        # No close frame: the browser accepts that.
        nursery.cancel_scope.cancel()


class BareLoop:
    """A reader task, call numbers, and an event for each waiting call. `websocket` is the library's connection."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self.websocket = websocket
        self._number = 0
        self._waiting: dict[int, list[Any]] = {}

    async def read(self) -> None:
        waiting, get = self._waiting, self.websocket.get_message
        while True:
            try:
                message = decode(await get())
            except trio_websocket.ConnectionClosed:
                return
            if message.id is not None:
                slot = waiting.pop(message.id)
                slot[1] = message.result
                slot[0].set()

    async def call(
        self, method: str, params: dict[str, Any], session_id: str | None = None
    ) -> dict[str, Any]:
        """Send a command and wait for its result."""
        number = self._number = self._number + 1
        slot = self._waiting[number] = [trio.Event(), None]
        await self.websocket.send_message(encode(number, method, params, session_id).decode())
        await slot[0].wait()
        if slot[1] is None:
            raise Refused(method)
        result: dict[str, Any] = slot[1]
        return result

    async def attach(self, target_id: str) -> str:
        reply = await self.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        return str(reply["sessionId"])


@asynccontextmanager
async def bare_loop(url: str) -> AsyncIterator[BareLoop]:
    async with connected(url) as websocket, trio.open_nursery() as nursery:
        loop = BareLoop(websocket)
        nursery.start_soon(loop.read)
        yield loop
        nursery.cancel_scope.cancel()


class Counting:
    """One page on one websocket: messages are recognised by their beginning, counted, and never decoded.

    One task sends and reads, one call at a time. Nothing on this library and this browser can be faster.
    """

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self._websocket = websocket
        self._last_id = 0
        self._session_id: str | None = None

    async def call(self, method: str, **params: Any) -> str:
        """Send a command to the page, and return its reply's message undecoded. Events are skipped."""
        beginning = await self._send(method, params)
        while True:
            message = await self._receive()
            if message.startswith(beginning):
                return message

    async def open_page(self) -> None:
        """Open a page in an isolated context, and use it from now on."""
        context = json.loads(await self.call("Target.createBrowserContext"))["result"]
        created = json.loads(await self.call("Target.createTarget", url="about:blank", **context))["result"]
        reply = await self.call("Target.attachToTarget", targetId=created["targetId"], flatten=True)
        self._session_id = json.loads(reply)["result"]["sessionId"]
        await self.call("Page.enable")

    async def burst(self, expression: str, event: str, count: int) -> float:
        """Evaluate an expression. Return the events a second until `count` events and the reply have arrived."""
        started = time.perf_counter()
        reply = await self._send("Runtime.evaluate", {"expression": expression, "awaitPromise": True})
        beginning = f'{{"method":"{event}"'
        seen, replied = 0, False
        while seen < count or not replied:
            message = await self._receive()
            if message.startswith(beginning):
                seen += 1
            elif message.startswith(reply):
                assert '"exceptionDetails"' not in message, message[:500]
                replied = True
        assert seen <= count + 1, seen  # Chrome requests the page's icon once
        return count / (time.perf_counter() - started)

    async def navigate(self, url: str) -> None:
        reply = await self._send("Page.navigate", {"url": url})
        loaded = replied = False
        while not (loaded and replied):
            message = await self._receive()
            loaded = loaded or message.startswith('{"method":"Page.loadEventFired"')
            replied = replied or message.startswith(reply)

    async def _send(self, method: str, params: dict[str, Any]) -> str:
        """Send a command. Return the beginning of its reply's message."""
        self._last_id += 1
        message: dict[str, object] = {"id": self._last_id, "method": method, "params": params}
        if self._session_id is not None:
            message["sessionId"] = self._session_id
        await self._websocket.send_message(json.dumps(message))
        return f'{{"id":{self._last_id},'

    async def _receive(self) -> str:
        message = await self._websocket.get_message()
        assert isinstance(message, str)
        return message


@asynccontextmanager
async def own_page(executable: str, url: str) -> AsyncIterator[Counting]:
    """Start a browser, and yield one page of it, loaded from `url`."""
    async with start_browser(LaunchOptions(Path(executable))) as process:
        assert process.endpoint is not None
        async with connected(process.endpoint) as websocket:
            page = Counting(websocket)
            await page.open_page()
            await page.navigate(url)
            yield page
