"""A server that speaks the protocol like a browser and follows a test's script.

Rule: the peer answers as scripted; nothing is random or timed. A call without a rule gets an empty result. An
exception in a handler, or a message that is not a command, ends the `async with` block with that error, so that no
error is missed.

    async with ScriptedPeer() as peer:
        peer.on("Browser.getVersion", result={"product": "Peer/1.0"})
        peer.on("Page.navigate", error=(-32000, "Cannot navigate to invalid URL"))
        peer.on("Page.reload", SILENCE, nth=2)          # the second call is never answered
        async with cdpengine.connect(peer.endpoint) as browser: ...
        assert peer.received[0].method == "Browser.getVersion"
"""

from __future__ import annotations

import inspect
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from types import TracebackType
from typing import Any, Final, Literal, Self

import attrs
import trio

from cdpengine import _json
from cdpengine._checks import check_count
from cdpengine._nursery import open_body_nursery
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.pipe_transport import PipeTransport
from cdpengine._protocol.session import Connection, open_connection
from cdpengine._protocol.transport import Transport
from cdpengine._protocol.websocket_transport import open_websocket
from cdpengine.testing.links import Link, PipeWire, WebSocketWire, accept_websocket


class _Silence:
    def __repr__(self) -> str:
        return "SILENCE"


SILENCE: Final = _Silence()
"""Answer that sends nothing, because the handler sends messages itself or the call stays unanswered."""


@attrs.frozen
class Refusal:
    """An error as an answer, with the protocol's fields."""

    code: int
    message: str
    data: str | None = None


Answer = Mapping[str, Any] | Refusal | _Silence | None
"""A result, an error, or no answer; None is the empty result."""

Handler = Callable[["Request"], "Answer | Awaitable[Answer]"]


@attrs.frozen(eq=False)
class Request:
    """A received command. A test can answer it repeatedly, late or wrongly."""

    id: int
    method: str
    params: Mapping[str, Any]
    session_id: str | None
    link: Link = attrs.field(repr=False)

    def reply(self, result: Mapping[str, Any] | None = None) -> None:
        """Send a result."""
        self.answer(result)

    def refuse(self, code: int, message: str, data: str | None = None) -> None:
        """Send an error."""
        self.answer(Refusal(code, message, data))

    def answer(self, answer: Answer) -> None:
        """Send `answer`."""
        if isinstance(answer, _Silence):
            return
        message: dict[str, Any] = {"id": self.id}
        if isinstance(answer, Refusal):
            message["error"] = {"code": answer.code, "message": answer.message}
            if answer.data is not None:
                message["error"]["data"] = answer.data
        else:
            message["result"] = answer or {}
        if self.session_id is not None:
            message["sessionId"] = self.session_id
        self.link.send(_json.encode_ascii(message))


class Hold:
    """Requests that stay unanswered until the test releases them, in any order.

    `requests` are the waiting ones, the oldest first.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._arrived = trio.lowlevel.ParkingLot()

    async def wait(self, count: int = 1) -> Sequence[Request]:
        """Wait until `count` requests are held, and return all held requests."""
        while len(self.requests) < count:
            await self._arrived.park()
        return tuple(self.requests)

    def release(self, answer: Answer = None, *, reverse: bool = False) -> None:
        """Answer all held requests; with `reverse`, the last one first."""
        requests, self.requests = self.requests, []
        for request in reversed(requests) if reverse else requests:
            request.answer(answer)

    def __call__(self, request: Request) -> Answer:
        """Hold a request. Called by the peer."""
        self.requests.append(request)
        self._arrived.unpark_all()
        return SILENCE


@attrs.frozen
class _Rule:
    answer: Handler | Answer
    nth: int | None


class ScriptedPeer:
    """A websocket server on a free port of 127.0.0.1, or (`kind="pipe"`) the other end of pairs of pipes.

    Use it as an async context manager. `endpoint` is the websocket's URL; `open_transport()` and `connect()` reach
    it over either kind. Sending only queues messages in order, without waiting.

    `received` lists all requests, `links` all connections, oldest first. A message without a link is sent on the
    newest link. `handshake` is the reaction to a new websocket: "accept", "close" (close the socket), "ignore"
    (never answer), or an HTTP status of a refusal.
    """

    def __init__(self, kind: Literal["websocket", "pipe"] = "websocket") -> None:
        self.kind = kind
        self.endpoint = ""
        self.handshake: int | Literal["accept", "close", "ignore"] = "accept"
        self.received: list[Request] = []
        self.links: list[Link] = []
        self._rules: dict[str, list[_Rule]] = {}
        self._counts: dict[str, int] = {}
        self._arrived = trio.lowlevel.ParkingLot()
        self._manager = open_body_nursery()
        self._nursery: trio.Nursery | None = None

    async def __aenter__(self) -> Self:
        listeners = []
        if self.kind == "websocket":
            listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
            port = listeners[0].socket.getsockname()[1]
            self.endpoint = f"ws://127.0.0.1:{port}/devtools/browser/scripted-peer"
        nursery = self._nursery = await self._manager.__aenter__()
        if listeners:
            # Links run in this nursery, so that a handler's error is raised unchanged.
            serve = partial(trio.serve_listeners, self._serve, listeners, handler_nursery=nursery)
            nursery.start_soon(serve, name="listener of the scripted peer")
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        return await self._manager.__aexit__(kind, error, traceback)

    # --- connecting ---------------------------------------------------------------------------------------

    @asynccontextmanager
    async def open_transport(self) -> AsyncIterator[Transport]:
        """Connect a client's transport to the peer."""
        links = len(self.links)
        if self.kind == "websocket":
            async with open_websocket(self.endpoint) as transport:
                await self.linked(links + 1)
                yield transport
        else:
            client, peer = _pipe_pair()
            self._running().start_soon(self._run_link, Link(peer))
            try:
                await self.linked(links + 1)
                yield client
            finally:
                await client.aclose()

    @asynccontextmanager
    async def connect(self, *, instruments: Instruments | None = None) -> AsyncIterator[Connection]:
        """Open a connection of the engine to the peer."""
        async with (
            self.open_transport() as transport,
            open_connection(transport, instruments=instruments) as connection,
        ):
            yield connection

    async def linked(self, count: int = 1) -> Link:
        """Wait for the connection number `count`, and return its link."""
        while len(self.links) < count:
            await self._arrived.park()
        return self.links[count - 1]

    # --- the script ----------------------------------------------------------------------------------------

    def on(
        self,
        method: str,
        answer: Handler | Answer = None,
        *,
        result: Mapping[str, Any] | None = None,
        error: tuple[int, str] | tuple[int, str, str] | None = None,
        nth: int | None = None,
    ) -> None:
        """Set the answer to calls of `method` ("*": every method without a rule).

        Pass a `result`, an `error` (code, message and optional data), SILENCE, or a function of the Request, sync
        or async, that returns one of these (None: the empty result). Sync functions are called in the order of
        requests; async ones run concurrently. With `nth` (from 1) the rule applies only to that call of the
        method. The last rule wins, and one with a matching `nth` precedes one without.
        """
        if error is not None:
            answer = Refusal(*error)
        elif result is not None:
            answer = result
        if nth is not None:
            check_count("nth", nth, least=1)
        self._rules.setdefault(method, []).append(_Rule(answer, nth))

    def hold(self, method: str, *, nth: int | None = None) -> Hold:
        """Keep calls of `method` unanswered until the returned Hold releases them."""
        hold = Hold()
        self.on(method, hold, nth=nth)
        return hold

    def count(self, method: str) -> int:
        """Return the number of calls of `method` so far."""
        return self._counts.get(method, 0)

    async def wait_for(self, method: str, nth: int = 1) -> Request:
        """Wait for the nth call of `method` (from 1, over all sessions), and return it."""
        while self.count(method) < nth:
            await self._arrived.park()
        return [request for request in self.received if request.method == method][nth - 1]

    # --- messages without a request ----------------------------------------------------------------------

    @property
    def link(self) -> Link:
        """The newest connection. Raises LookupError without a connection."""
        if not self.links:
            raise LookupError("no client has connected to the peer yet; await peer.linked() first")
        return self.links[-1]

    def send_event(
        self, method: str, params: Mapping[str, Any] | None = None, *, session_id: str | None = None
    ) -> None:
        """Send an event."""
        message: dict[str, Any] = {"method": method, "params": params or {}}
        if session_id is not None:
            message["sessionId"] = session_id
        self.link.send(_json.encode_ascii(message))

    def send_raw(self, message: bytes | str) -> None:
        """Send one message unchanged. On a websocket, a str is sent as text and bytes as a binary message."""
        self.link.send(message)

    def send_chunks(self, chunks: Iterable[bytes]) -> None:
        """Send one message given in chunks, such as one too large for memory."""
        self.link.send_chunks(chunks)

    def drop(self, *, mid_message: bool = False, reset: bool = False) -> None:
        """End the connection without a close frame, optionally after half a message or with a TCP reset."""
        self.link.drop(b'{"method":"Peer.halfMessage","params":{"te' if mid_message else b"", reset=reset)

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Close the websocket with a code and a reason. Pipes are only closed."""
        self.link.close(code, reason)

    async def flushed(self) -> None:
        """Wait until everything sent is written to the connection."""
        await self.link.flushed()

    # --- targets -------------------------------------------------------------------------------------------

    def attach_target(
        self,
        session_id: str,
        target_id: str | None = None,
        kind: str = "page",
        *,
        url: str = "about:blank",
        waiting: bool = False,
        parent: str | None = None,
    ) -> None:
        """Send Target.attachedToTarget on the session `parent` (None: the browser's)."""
        info = {
            "targetId": f"target-of-{session_id}" if target_id is None else target_id,
            "type": kind,
            "title": "",
            "url": url,
            "attached": True,
            "canAccessOpener": False,
        }
        params = {"sessionId": session_id, "targetInfo": info, "waitingForDebugger": waiting}
        self.send_event("Target.attachedToTarget", params, session_id=parent)

    def detach_target(self, session_id: str, *, parent: str | None = None) -> None:
        """Send Target.detachedFromTarget for a session."""
        self.send_event("Target.detachedFromTarget", {"sessionId": session_id}, session_id=parent)

    def crash_target(self, session_id: str) -> None:
        """Send Inspector.targetCrashed on a session."""
        self.send_event("Inspector.targetCrashed", session_id=session_id)

    # --- helpers --------------------------------------------------------------------------------------------

    def _running(self) -> trio.Nursery:
        if self._nursery is None:
            raise RuntimeError("the peer is not running: use it as `async with ScriptedPeer() as peer:`")
        return self._nursery

    async def _serve(self, stream: trio.SocketStream) -> None:
        async with stream:
            if self.handshake == "close":
                return
            if self.handshake == "ignore":
                await trio.sleep_forever()
            async with open_body_nursery() as nursery:
                request = await accept_websocket(nursery, stream)
                if request is None:
                    return
                if isinstance(self.handshake, int):
                    await request.reject(self.handshake)
                    return
                websocket = await request.accept()
                await self._run_link(Link(WebSocketWire(websocket, stream)))

    async def _run_link(self, link: Link) -> None:
        self.links.append(link)
        self._arrived.unpark_all()
        await link.run(lambda message: self._take(link, message))

    def _take(self, link: Link, message: bytes | str) -> None:
        try:
            self._take_command(link, message)
        except Exception as error:  # noqa: BLE001 (raised again in another task)
            # The task ends the `async with` block with this error. Raised here, it would first end the connection.
            self._running().start_soon(_raise, error, name="failure of the scripted peer")

    def _take_command(self, link: Link, message: bytes | str) -> None:
        command = _json.decode_leniently(message)
        request = Request(
            id=command["id"],
            method=command["method"],
            params=command.get("params", {}),
            session_id=command.get("sessionId"),
            link=link,
        )
        self.received.append(request)
        nth = self.count(request.method) + 1
        self._counts[request.method] = nth
        self._answer(request, self._rule(request.method, nth))
        self._arrived.unpark_all()

    def _rule(self, method: str, nth: int) -> Handler | Answer:
        for rules in (self._rules.get(method, ()), self._rules.get("*", ())):
            fitting = [rule for rule in rules if rule.nth == nth] or [
                rule for rule in rules if rule.nth is None
            ]
            if fitting:
                return fitting[-1].answer
        return None

    def _answer(self, request: Request, answer: Handler | Answer) -> None:
        if not callable(answer):
            request.answer(answer)
            return
        answered = answer(request)
        if inspect.isawaitable(answered):
            self._running().start_soon(_answer_later, request, answered, name=f"answer to {request.method}")
        else:
            request.answer(answered)


async def _raise(error: Exception) -> None:
    raise error


async def _answer_later(request: Request, answered: Awaitable[Answer]) -> None:
    request.answer(await answered)


def _pipe_pair() -> tuple[PipeTransport, PipeWire]:
    to_peer_read, to_peer_write = os.pipe()
    to_client_read, to_client_write = os.pipe()
    client = PipeTransport(trio.lowlevel.FdStream(to_peer_write), trio.lowlevel.FdStream(to_client_read))
    return client, PipeWire(trio.lowlevel.FdStream(to_client_write), trio.lowlevel.FdStream(to_peer_read))
