"""The floor of events: websocket messages recognised by their beginning, counted, and never decoded.

Rule: one task sends and reads, directly on trio-websocket. It has a separate browser with one page in an isolated
context, to which nothing else is attached. Nothing on this library and this browser can be faster.
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

from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._protocol.transport import LARGEST_INCOMING, RECEIVE_BUFFER
from cdpengine._protocol.websocket_transport import MESSAGE_QUEUE


class Counting:
    """One page on one websocket. One call at a time."""

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

    async def attach(self, target_id: str) -> None:
        """Use that target from now on."""
        reply = await self.call("Target.attachToTarget", targetId=target_id, flatten=True)
        self._session_id = json.loads(reply)["result"]["sessionId"]

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
        """Navigate to `url` and wait for its load event. `Page.enable` must come first, once."""
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
async def open_counting(nursery: trio.Nursery, endpoint: str) -> AsyncIterator[Counting]:
    """Connect to a browser, with the engine's limits."""
    websocket = await trio_websocket.connect_websocket_url(
        nursery,
        endpoint,
        message_queue_size=MESSAGE_QUEUE,
        max_message_size=LARGEST_INCOMING,
        receive_buffer_size=RECEIVE_BUFFER,
    )
    async with websocket:
        yield Counting(websocket)


@asynccontextmanager
async def own_page(executable: str, url: str) -> AsyncIterator[Counting]:
    """Start a browser, and yield one page of it, loaded from `url`."""
    async with start_browser(LaunchOptions(Path(executable))) as process, trio.open_nursery() as nursery:
        assert process.endpoint is not None
        async with open_counting(nursery, process.endpoint) as page:
            context = json.loads(await page.call("Target.createBrowserContext"))["result"]
            created = await page.call("Target.createTarget", url="about:blank", **context)
            await page.attach(json.loads(created)["result"]["targetId"])
            await page.call("Page.enable")
            await page.navigate(url)
            yield page
        nursery.cancel_scope.cancel()
