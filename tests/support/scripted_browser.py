"""A scripted peer that behaves like a browser with pages, over streams in memory: without sockets, so clocks
can jump.

Its built-in answers are the minimum that the engine needs. A test replaces any answer with `peer.on(...)`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal

import trio
import trio.testing

import cdpengine
from cdpengine._api.attach import open_engine
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import Connection
from cdpengine._protocol.transport import Transport
from cdpengine.testing import SILENCE, Refusal, Request, ScriptedPeer
from cdpengine.testing.links import Link, PipeWire
from cdpengine.testing.peer import Answer

NUMBER = {"result": {"type": "number", "value": 1}}


class ScriptedBrowser(ScriptedPeer):
    """Pages are T1, T2, ...

    The session of T1 is "S-T1", its evaluation session "L-T1". Its documents are "T1.1", ...
    """

    def __init__(self, kind: Literal["websocket", "pipe"] = "pipe") -> None:
        super().__init__(kind)
        self.documents: dict[str, int] = {}
        self.alive: set[str] = set()
        self.contexts: dict[str, list[str]] = {}
        self._made = 0
        self.on("Browser.getVersion", result={"product": "Scripted/1", "userAgent": "Scripted"})
        self.on("Target.createTarget", self.create)
        self.on("Target.attachToTarget", self.attach)
        self.on("Target.getTargetInfo", self.tell_target)
        self.on("Target.closeTarget", self.close_target)
        self.on("Target.createBrowserContext", self.create_context)
        self.on("Target.disposeBrowserContext", self.dispose_context)
        self.on("Page.getFrameTree", lambda request: {"frameTree": {"frame": self.frame(target_of(request))}})
        self.on("Page.navigate", self.navigate)
        self.on("Runtime.evaluate", result=NUMBER)
        self.on("Accessibility.getFullAXTree", result={"nodes": []})
        self.on("Page.createIsolatedWorld", result={"executionContextId": 7})
        self.on("DOM.resolveNode", result={"object": {"type": "object", "objectId": "O1"}})
        self.on("Runtime.callFunctionOn", result=NUMBER)

    @asynccontextmanager
    async def open_transport(self) -> AsyncIterator[Transport]:
        if self.kind == "websocket":
            async with super().open_transport() as transport:
                yield transport
            return
        client, peer = trio.testing.memory_stream_pair()
        links = len(self.links)
        self._running().start_soon(self._run_link, Link(PipeWire(peer, peer)))
        try:
            await self.linked(links + 1)
            yield PipeTransport(client, client, f"memory {links + 1}")
        finally:
            await client.aclose()

    @asynccontextmanager
    async def engine(self) -> AsyncIterator[cdpengine.Browser]:
        """Return the engine over two connections to this browser, in the form that `connect` creates."""
        instruments = Instruments()
        async with (
            self.connect(instruments=instruments) as main,
            open_engine(
                main, lambda: self.connect(instruments=instruments), instruments, "scripted"
            ) as browser,
        ):
            yield browser

    # --- events
    # ------------------------------------------------------------------------------------------------

    def tell(
        self,
        method: str,
        params: Mapping[str, Any],
        session_id: str | None = None,
        *,
        evaluation_session: bool = False,
    ) -> None:
        message = {"method": method, "params": params} | ({"sessionId": session_id} if session_id else {})
        self.links[-1 if evaluation_session else 0].send(json.dumps(message))

    def page_event(self, method: str, params: Mapping[str, Any], target_id: str = "T1") -> None:
        self.tell(method, params, f"S-{target_id}")

    def open(
        self,
        target_id: str,
        *,
        waiting: bool = True,
        opener: str | None = None,
        opener_frame: str | None = None,
        url: str = "",
    ) -> None:
        """Open a page, spontaneously or at the engine's request."""
        info: dict[str, Any] = {"targetId": target_id, "type": "page", "url": url}
        if opener is not None:
            info |= {"openerId": opener} | ({"openerFrameId": opener_frame} if opener_frame else {})
        self.documents.setdefault(target_id, 1)
        self.alive.add(target_id)
        self.tell("Target.targetCreated", {"targetInfo": info})
        attached = {"sessionId": f"S-{target_id}", "targetInfo": info, "waitingForDebugger": waiting}
        self.tell("Target.attachedToTarget", attached)

    def vanish(self, target_id: str) -> None:
        """Close a page."""
        self.alive.discard(target_id)
        for evaluation_session, session in ((False, f"S-{target_id}"), (True, f"L-{target_id}")):
            self.tell(
                "Target.detachedFromTarget", {"sessionId": session}, evaluation_session=evaluation_session
            )
        self.tell("Target.targetDestroyed", {"targetId": target_id})

    def commit(self, target_id: str, url: str, *, loaded: bool = True) -> str:
        """Show a new document in a page. Return its loader id."""
        self.documents[target_id] += 1
        frame = self.frame(target_id) | {"url": url}
        self.page_event("Page.frameNavigated", {"frame": frame}, target_id)
        for name in ("commit", "DOMContentLoaded", "load", "networkIdle") if loaded else ("commit",):
            event = {"frameId": target_id, "loaderId": frame["loaderId"], "name": name}
            self.page_event("Page.lifecycleEvent", event, target_id)
        loader_id: str = frame["loaderId"]
        return loader_id

    def frame(self, target_id: str) -> dict[str, Any]:
        return {"id": target_id, "loaderId": f"{target_id}.{self.documents[target_id]}", "url": "about:blank"}

    # --- answers
    # ---------------------------------------------------------------------------------------------

    def create(self, request: Request) -> Answer:
        self._made += 1
        target_id = f"T{self._made}"
        self.contexts.get(request.params.get("browserContextId", ""), []).append(target_id)
        self.open(target_id)
        return {"targetId": target_id}

    def create_context(self, _request: Request) -> Answer:
        self._made += 1
        self.contexts[f"C{self._made}"] = []
        return {"browserContextId": f"C{self._made}"}

    def dispose_context(self, request: Request) -> Answer:
        for target_id in self.contexts.pop(request.params["browserContextId"]):
            if target_id in self.alive:
                self.vanish(target_id)
        return None

    def tell_target(self, request: Request) -> Answer:
        target_id = request.params["targetId"]
        if target_id not in self.alive:
            return Refusal(-32602, "No target with given id found")
        return {"targetInfo": {"targetId": target_id, "type": "page"}}

    def attach(self, request: Request) -> Answer:
        reply = self.tell_target(request)
        if not isinstance(reply, dict):
            return reply
        session_id = f"L-{request.params['targetId']}"
        attached = {"sessionId": session_id, **reply, "waitingForDebugger": False}
        request.link.send(json.dumps({"method": "Target.attachedToTarget", "params": attached}))
        return {"sessionId": session_id}

    def close_target(self, request: Request) -> Answer:
        request.reply({"success": True})
        self.vanish(request.params["targetId"])
        return SILENCE

    def navigate(self, request: Request) -> Answer:
        target_id = target_of(request)
        return {"frameId": target_id, "loaderId": self.commit(target_id, request.params["url"])}


class Door:
    """Opens the connections of evaluation sessions. On request it refuses them or never answers."""

    def __init__(self, scripted: ScriptedBrowser) -> None:
        self.scripted = scripted
        self.refuses = False
        self.silent = False
        self.tried: list[float] = []

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Connection]:
        self.tried.append(trio.current_time())
        if self.refuses:
            raise cdpengine.errors.ConnectFailedError(endpoint="memory", reason="the test refuses it")
        if self.silent:
            await trio.sleep_forever()
        async with self.scripted.connect() as connection:
            yield connection


def target_of(request: Request) -> str:
    assert request.session_id is not None
    return request.session_id.partition("-")[2]


def hang(scripted: ScriptedBrowser) -> None:
    """Leave all calls unanswered that need the script thread of a page."""
    scripted.on("Runtime.evaluate", SILENCE)
    scripted.on("Runtime.terminateExecution", SILENCE)
    scripted.on("Page.stopLoading", SILENCE)


async def quiet() -> None:
    """Wait until all tasks are blocked."""
    await trio.testing.wait_all_tasks_blocked()
