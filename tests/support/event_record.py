"""A record of a page's protocol events by a bare connection: the oracle for the engine's events.

It shares no code with the engine. Each session is recorded in the order of arrival.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import urlsplit

import trio
from trio_websocket import ConnectionClosed, wrap_client_stream

DOMAINS = ("Page", "Runtime", "Network")
ATTACH = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}


class EventRecord:
    """The recorded events by session: `sessions` has lists of (method, params). `page` is the page's session."""

    def __init__(self, socket: Any, page: str) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._replies: dict[int, trio.Event] = {}
        self.page = page
        self.sessions: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    async def call(self, method: str, session: str, **params: Any) -> None:
        number = next(self._numbers)
        self._replies[number] = trio.Event()
        message = {"id": number, "method": method, "params": params, "sessionId": session}
        await self._socket.send_message(json.dumps(message))
        await self._replies[number].wait()

    async def follow(self, session: str) -> None:
        """Enable the domains of a session, and record it from then on."""
        for domain in DOMAINS:
            await self.call(f"{domain}.enable", session)
        await self.call("Page.setLifecycleEventsEnabled", session, enabled=True)
        self.sessions[session] = []
        await self.call("Target.setAutoAttach", session, **ATTACH)

    async def read(self, nursery: trio.Nursery) -> None:
        while True:
            try:
                message = json.loads(await self._socket.get_message())
            except ConnectionClosed:
                return
            if (number := message.get("id")) in self._replies:
                self._replies.pop(number).set()
            elif (session := message.get("sessionId")) in self.sessions:
                self.sessions[session].append((message["method"], message["params"]))
                if message["method"] == "Target.attachedToTarget":
                    nursery.start_soon(self.follow, message["params"]["sessionId"])


@asynccontextmanager
async def recording(url: str, target_id: str) -> AsyncIterator[EventRecord]:
    """Record the events of a page during the block. `url` is the websocket of the browser."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with (
        await trio.open_tcp_stream(parts.hostname, parts.port) as stream,
        trio.open_nursery() as nursery,
    ):
        socket = await wrap_client_stream(nursery, stream, parts.netloc, parts.path, max_message_size=2**26)
        await socket.send_message(
            json.dumps(
                {
                    "id": 0,
                    "method": "Target.attachToTarget",
                    "params": {"targetId": target_id, "flatten": True},
                }
            )
        )
        while (reply := json.loads(await socket.get_message())).get("id") != 0:
            pass
        record = EventRecord(socket, reply["result"]["sessionId"])
        nursery.start_soon(record.read, nursery)
        await record.follow(record.page)
        yield record
        nursery.cancel_scope.cancel()
