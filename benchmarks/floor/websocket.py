"""Bare loops on trio-websocket: with a reader task, as needed for concurrent calls, and without.

Rule: limits and buffers equal those of the engine's transport, so that only the code above the library differs. No
errors, cancellation or streams: the rest is the cost of the library, JSON and the browser.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import trio
import trio_websocket

from benchmarks.floor.messages import Refused, decode, encode
from cdpengine._protocol.transport import LARGEST_INCOMING, RECEIVE_BUFFER
from cdpengine._protocol.websocket_transport import MESSAGE_QUEUE


class BareLoop:
    """A reader task, call numbers, and an event for each waiting call. `websocket` is the library's connection."""

    def __init__(self, websocket: trio_websocket.WebSocketConnection) -> None:
        self.websocket = websocket
        self._number = 0
        self._waiting: dict[int, list[Any]] = {}

    async def read(self) -> None:
        """Deliver replies until the connection is closed."""
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
        """Attach a session to a target, and return its id."""
        reply = await self.call("Target.attachToTarget", {"targetId": target_id, "flatten": True})
        return str(reply["sessionId"])

    async def throughput(self, sessions: list[str], in_flight: int, seconds: float) -> float:
        """Return calls a second, with that number in flight on each session."""
        made = 0
        params = {"expression": "1"}
        started = time.perf_counter()
        end = started + seconds

        async def one(session: str) -> None:
            nonlocal made
            while time.perf_counter() < end:
                await self.call("Runtime.evaluate", params, session)
                made += 1

        async with trio.open_nursery() as nursery:
            for session in sessions:
                for _ in range(in_flight):
                    nursery.start_soon(one, session)
        return made / (time.perf_counter() - started)


class Alone(BareLoop):
    """A loop that sends and reads in one task: the optimum on trio-websocket for sequential calls."""

    async def call(
        self, method: str, params: dict[str, Any], session_id: str | None = None
    ) -> dict[str, Any]:
        """Send a command and read until its result arrives."""
        number = self._number = self._number + 1
        await self.websocket.send_message(encode(number, method, params, session_id).decode())
        while True:
            message = decode(await self.websocket.get_message())
            if message.id == number:
                if message.result is None:
                    raise Refused(method)
                return message.result


@asynccontextmanager
async def bare(url: str) -> AsyncIterator[BareLoop]:
    """Connect to a browser's websocket, and read in a separate task."""
    async with _connected(url) as websocket, trio.open_nursery() as nursery:
        loop = BareLoop(websocket)
        nursery.start_soon(loop.read)
        yield loop
        nursery.cancel_scope.cancel()


@asynccontextmanager
async def alone(url: str) -> AsyncIterator[Alone]:
    """Connect to a browser's websocket. Only `call` reads."""
    async with _connected(url) as websocket:
        yield Alone(websocket)


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[trio_websocket.WebSocketConnection]:
    async with trio.open_nursery() as nursery:
        websocket = await trio_websocket.connect_websocket_url(
            nursery,
            url,
            message_queue_size=MESSAGE_QUEUE,
            max_message_size=LARGEST_INCOMING,
            receive_buffer_size=RECEIVE_BUFFER,
        )
        yield websocket
        # No close frame: the browser accepts that.
        nursery.cancel_scope.cancel()
