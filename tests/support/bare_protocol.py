"""A bare protocol connection: the oracle of tests that compare the engine's view with Chrome's.

It shares no code with the engine: a websocket, JSON, and one call at a time.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any
from urllib.parse import urlsplit

import trio
import trio_websocket

CRASHED = "a crashed frame"


class Bare:
    """One connection. `call` sends a command and returns its result."""

    def __init__(self, socket: trio_websocket.WebSocketConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._iframes: dict[str | None, dict[str, dict[str, str]]] = {}

    async def call(self, method: str, session: str | None = None, **params: Any) -> dict[str, Any]:
        """Send one command and wait for its reply. Raises RuntimeError with Chrome's error."""
        number = next(self._numbers)
        message = {"id": number, "method": method, "params": params}
        if session is not None:
            message["sessionId"] = session
        await self._socket.send_message(json.dumps(message))
        while True:
            received = json.loads(await self._socket.get_message())
            if received.get("id") == number:
                if "error" in received:
                    raise RuntimeError(f"{method}: {received['error']['message']}")
                result: dict[str, Any] = received["result"]
                return result
            self._note(received)
            if received.get("method") == "Target.detachedFromTarget" and (
                received["params"]["sessionId"] == session
            ):
                raise RuntimeError(f"{method}: the session ended")

    def _note(self, event: dict[str, Any]) -> None:
        """Remember the sessions of out-of-process iframes by the session of their parent frame."""
        parent, params = event.get("sessionId"), event.get("params", {})
        if event.get("method") == "Target.attachedToTarget" and params["targetInfo"]["type"] == "iframe":
            self._iframes.setdefault(parent, {})[params["sessionId"]] = params["targetInfo"]
        elif event.get("method") == "Target.detachedFromTarget":
            self._iframes.get(parent, {}).pop(params["sessionId"], None)

    async def pages(self) -> set[str]:
        """Return the ids of all pages."""
        reply = await self.call("Target.getTargets")
        return {info["targetId"] for info in reply["targetInfos"] if info["type"] == "page"}

    @asynccontextmanager
    async def session(self, target_id: str) -> AsyncIterator[str]:
        """Attach to a target for the duration of the block."""
        reply = await self.call("Target.attachToTarget", targetId=target_id, flatten=True)
        try:
            yield reply["sessionId"]
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 2), suppress(RuntimeError):
                # A session ends with its target.
                await self.call("Target.detachFromTarget", sessionId=reply["sessionId"])

    async def frames(self, session: str) -> dict[str, str]:
        """Return the URLs of all frames of a page by frame id, including frames in other processes.

        A frame whose renderer crashed has CRASHED instead of its URL.
        """
        tree = await self.call("Page.getFrameTree", session)
        found: dict[str, str] = {}
        nodes = [tree["frameTree"]]
        while nodes:
            node = nodes.pop()
            frame = node["frame"]
            found[frame["id"]] = frame["url"] + frame.get("urlFragment", "")
            nodes.extend(node.get("childFrames", []))
        attach = {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True}
        await self.call("Target.setAutoAttach", session, **attach)
        for iframe, info in tuple(self._iframes.get(session, {}).items()):
            with trio.move_on_after(1) as waiting, suppress(RuntimeError):  # its session ends with the frame
                found |= await self.frames(iframe)
            if waiting.cancelled_caught:  # its renderer crashed
                found[info["targetId"]] = CRASHED
        return found

    async def title(self, session: str) -> str:
        """Return the title of the page's document."""
        reply = await self.call("Runtime.evaluate", session, expression="document.title", returnByValue=True)
        value: str = reply["result"]["value"]
        return value


@asynccontextmanager
async def bare_connection(url: str) -> AsyncIterator[Bare]:
    """Connect to a browser's websocket. The socket is closed even if the browser dies."""
    parts = urlsplit(url)
    assert parts.hostname is not None
    assert parts.port is not None
    async with (
        await trio.open_tcp_stream(parts.hostname, parts.port) as stream,
        trio.open_nursery() as nursery,
    ):
        socket = await trio_websocket.wrap_client_stream(
            nursery, stream, parts.netloc, parts.path, max_message_size=2**26
        )
        yield Bare(socket)
        nursery.cancel_scope.cancel()
