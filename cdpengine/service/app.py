"""The service's routes: each one is a request of `cdpengine.act`, performed in the named session.

Rule: `_perform` is the only way to perform a request; a route decides only the form of the request and of its
response. If a client disconnects, its request is cancelled: its script is stopped, and pressed buttons are
released.
"""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

import attrs
import trio
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from cdpengine import _json
from cdpengine._checks import invalid
from cdpengine.act import ActRequest, ActResponse, Navigate, NewTab, dispatch, parse_request
from cdpengine.act.response import describe_failure
from cdpengine.errors import EngineError, InvalidArgumentError, PackageMissingError, packages_named
from cdpengine.service.events.listening import EVENTS, EventFilter, EventsResponse
from cdpengine.service.guard import Receive, Send
from cdpengine.service.http_responses import (
    add_reason,
    answer_busy,
    answer_gone,
    answer_refused,
    refuse_url,
    status_of,
)
from cdpengine.service.metrics import CONTENT_TYPE, Metrics
from cdpengine.service.openapi import make_document
from cdpengine.service.session import Session, SessionRefusedError
from cdpengine.service.sessions import Sessions
from cdpengine.service.settings import ServiceSettings

if TYPE_CHECKING:
    from cdpengine.service.mcp_transport.http import McpEndpoint

DEFAULT_SESSION = "default"

SHORT_PATHS: Mapping[str, str] = {
    "/snapshot": "snapshot",
    "/screenshot": "screenshot",
    "/navigate": "navigate",
    "/console": "console",
    "/requests": "requests",
    "/hooks/dialog": "dialog",
    "/hooks/file-chooser": "fileChooser",
    "/wait/download": "download",
}
"""Paths for a single kind of request. The body has the other fields of the request."""


class _ClientLeftError(Exception):
    """The client disconnected before the response."""


@attrs.define(eq=False)
class Service:
    """The service: its sessions, limits and counters.

    The nursery `keeping` runs tasks that last as long as a session.
    """

    settings: ServiceSettings
    sessions: Sessions
    keeping: trio.Nursery
    metrics: Metrics = attrs.field(factory=Metrics)
    closing: trio.Event = attrs.field(factory=trio.Event)
    _room: trio.CapacityLimiter = attrs.field(init=False)
    _waiting: int = 0
    _listening: int = 0
    _mcp: McpEndpoint | None = None
    _mcp_starting: trio.Lock = attrs.field(factory=trio.Lock)
    _changed: trio.Event = attrs.field(factory=trio.Event)
    _running: set[trio.CancelScope] = attrs.field(factory=set)

    def __attrs_post_init__(self) -> None:
        self._room = trio.CapacityLimiter(self.settings.requests)
        self.metrics.show("sessions", "Open sessions.", lambda: len(self.sessions.names))
        self.metrics.show(
            "requests_under_way", "Requests that are running.", lambda: self._room.borrowed_tokens
        )
        self.metrics.show("listeners", "Clients that receive events.", lambda: self._listening)
        self.metrics.show("browser_up", "Whether the browser is running.", lambda: self.sessions.browser_runs)
        self.metrics.show("pages", "Open pages of all sessions.", lambda: self.sessions.pages)
        self.metrics.show(
            "targets", "Targets of the browsers: pages, frames, workers.", lambda: self.sessions.targets
        )
        self.metrics.show(
            "tasks", "Tasks of the service.", lambda: trio.lowlevel.current_statistics().tasks_living
        )
        self.metrics.show(
            "browsers_started", "Browsers started so far.", lambda: self.sessions.browsers_started
        )

    def application(self) -> Starlette:
        """Return the routes."""
        routes = [
            Route("/healthz", self._health, methods=["GET"]),
            Route("/metrics", self._metrics, methods=["GET"]),
            Route("/openapi.json", self._openapi, methods=["GET"]),
            Route("/act", self._act, methods=["POST"]),
            Route("/tabs", self._tabs, methods=["GET"]),
            Route("/events", self._events, methods=["GET"]),
            Route("/mcp", _Mcp(self)),
            Route("/sessions", self._list_sessions, methods=["GET"]),
            Route("/sessions/{name}", self._close_session, methods=["DELETE"]),
            *(Route(path, self._short(kind), methods=["POST"]) for path, kind in SHORT_PATHS.items()),
        ]
        return Starlette(routes=routes, exception_handlers={404: _not_found, 405: _not_allowed})

    async def until_done(self) -> None:
        """Wait until no request is running."""
        while self._room.borrowed_tokens:
            await self._changed.wait()

    def cancel_running(self) -> None:
        """Cancel the running requests. Each gets a response that gives the reason."""
        for scope in list(self._running):
            scope.cancel()

    # --- requests ---------------------------------------------------------------------------------------------

    async def perform(
        self, session_name: str, request: ActRequest | Mapping[str, Any] | bytes
    ) -> ActResponse:
        """Perform a request in a session, which is created if it does not exist. Failures are in the response."""
        began = trio.current_time()
        try:
            parsed = parse_request(request)
            response = await self._perform_in_turn(session_name, parsed)
            kind = parsed.kind
        except EngineError as error:
            kind = ""
            response = ActResponse(kind=kind, ok=False, error=describe_failure(error))
        self.metrics.count(
            kind, "" if response.error is None else response.error.kind, trio.current_time() - began
        )
        return response

    async def _perform_in_turn(self, session_name: str, request: ActRequest) -> ActResponse:
        if self.closing.is_set():
            return answer_busy(request.kind, "the service is ending")
        if self._waiting >= self.settings.queue:
            return answer_busy(request.kind, f"{self._waiting} requests are already waiting")
        arrived = trio.current_time()
        longest = min(request.timeout, self.settings.longest)
        place = object()
        self._waiting += 1
        try:
            with trio.move_on_after(longest):
                await self._room.acquire_on_behalf_of(place)
        finally:
            self._waiting -= 1
        if place not in self._room.statistics().borrowers:
            return answer_busy(request.kind, "no capacity became available within the request's time")
        left = longest - (trio.current_time() - arrived)
        try:
            with trio.CancelScope() as scope:
                self._running.add(scope)
                return await self._perform(
                    session_name, attrs.evolve(request, timeout_ms=max(int(left * 1000), 1))
                )
            return answer_busy(request.kind, "the service ended before the request was done")
        finally:
            self._running.discard(scope)
            self._room.release_on_behalf_of(place)
            self._changed.set()
            self._changed = trio.Event()

    async def _perform(self, session_name: str, request: ActRequest) -> ActResponse:
        try:
            async with self.sessions.use(session_name) as session:
                if session_name in self.sessions.lost:
                    self.sessions.lost.discard(session_name)
                    return answer_gone(ActResponse(kind=request.kind, ok=False), session_name)
                url = request.url if isinstance(request, (Navigate, NewTab)) else None
                refusal = "" if url is None else await self.settings.url_policy.check(url)
                if refusal:
                    remedy = self.settings.url_policy.remedy(refusal)
                    session.actor.note_refusal(refusal, remedy)
                    return refuse_url(ActResponse(kind=request.kind, ok=False), refusal, remedy)
                began = trio.current_time()
                response = await dispatch(session.actor, request)
                if response.error is not None and session.actor.browser.connections[0].lost is not None:
                    session.is_end_reported = True
                    self.sessions.lost.discard(session_name)
                    return answer_gone(response, session_name)
                return self._explain(response, session, url or response.url or "", began)
        except SessionRefusedError as refused:
            return answer_refused(request.kind, refused)

    def _explain(self, response: ActResponse, session: Session, url: str, began: float) -> ActResponse:
        """Add the reason to a failed navigation's response, if the policy blocked it or only the gate knows it."""
        if response.error is None or response.error.kind != "navigationFailed":
            return response
        blocked = "ERR_BLOCKED_BY_CLIENT" in response.error.message
        policy = self.settings.url_policy
        if blocked and (refusal := session.why_refused(response.target_id, began)):
            session.actor.note_refusal(refusal, policy.remedy(refusal))
            return refuse_url(response, refusal, policy.remedy(refusal))
        why = self.sessions.why_not_connected(url) if "ERR_SOCKS_" in response.error.message else None
        if why is None:
            return response
        if not why.refused:
            return add_reason(response, why.reason)
        session.actor.note_refusal(why.reason, policy.remedy(why.reason))
        return refuse_url(response, why.reason, policy.remedy(why.reason))

    async def _unless_left(
        self, request: Request, perform: Callable[[], Awaitable[ActResponse]]
    ) -> ActResponse:
        """Run `perform`, and cancel it if the client disconnects. Raises _ClientLeftError."""
        done: list[ActResponse] = []
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                nursery.cancel_scope.cancel()

            async def run() -> None:
                done.append(await perform())
                nursery.cancel_scope.cancel()

            nursery.start_soon(watch)
            nursery.start_soon(run)
        if not done:
            self.metrics.count_abandoned()
            raise _ClientLeftError
        return done[0]

    async def _answer(self, request: Request, body: Mapping[str, Any] | bytes) -> Response:
        name = request.query_params.get("session", DEFAULT_SESSION)
        try:
            response = await self._unless_left(request, lambda: self.perform(name, body))
        except _ClientLeftError:
            return Response(status_code=499)  # not delivered: the client disconnected
        return _to_http(response)

    async def _act(self, request: Request) -> Response:
        return await self._answer(request, await request.body())

    async def _tabs(self, request: Request) -> Response:
        return await self._answer(request, {"kind": "tabs"})

    def _short(self, kind: str) -> Callable[[Request], Awaitable[Response]]:
        async def handle(request: Request) -> Response:
            body = await request.body()
            try:
                fields = _json.decode_leniently(body) if body.strip() else {}
                if not isinstance(fields, dict) or "kind" in fields:
                    raise ValueError
            except ValueError:
                error = InvalidArgumentError(
                    what="the body",
                    given="something else",
                    expected=f"the fields of a {kind} request as a JSON object",
                )
                return _to_http(ActResponse(kind=kind, ok=False, error=describe_failure(error)))
            response = await self._answer(request, {"kind": kind, **fields})
            wants_picture = "image/" in request.headers.get("accept", "")
            return _to_picture(response) if kind == "screenshot" and wants_picture else response

        return handle

    # --- MCP --------------------------------------------------------------------------------------------------

    async def mcp_endpoint(self) -> McpEndpoint:
        """Return the application for MCP clients. Raises PackageMissingError without the extra `mcp`."""
        async with self._mcp_starting:
            if self._mcp is None:
                await trio.to_thread.run_sync(_load_mcp)
                self._mcp = await self.keeping.start(self._keep_mcp)
            return self._mcp

    async def _keep_mcp(self, task_status: trio.TaskStatus[McpEndpoint]) -> None:
        from cdpengine.service.mcp_transport.http import open_endpoint

        async with open_endpoint(self.perform, self.sessions.close, self.settings) as endpoint:
            task_status.started(endpoint)
            await trio.sleep_forever()

    # --- events -----------------------------------------------------------------------------------------------

    async def _events(self, request: Request) -> Response:
        """Send the events of a session as they occur."""
        query, last_id = request.query_params, request.headers.get("last-event-id", "")
        name = query.get("session", DEFAULT_SESSION)
        if self._listening >= self.settings.listeners or self.closing.is_set():
            why = (
                "the service is ending"
                if self.closing.is_set()
                else f"{self._listening} clients are already listening"
            )
            return _to_http(answer_busy("events", why))
        if last_id and self.sessions.find(name) is None:
            # A client that reconnects automatically must not begin a new session instead of the ended one.
            return _error(
                404,
                "sessionNotFound",
                "the session of these events has ended",
                "Connect without Last-Event-ID to listen to a new session.",
            )
        self._listening += 1
        opened = False
        try:
            response = await self._open_events(name, last_id, query)
            opened = True
            return response
        except EngineError as error:
            return _to_http(ActResponse(kind="events", ok=False, error=describe_failure(error)))
        except SessionRefusedError as refused:
            return _to_http(answer_refused("events", refused))
        finally:
            if not opened:
                self._listening -= 1

    async def _open_events(self, name: str, last_id: str, query: Mapping[str, str]) -> Response:
        names = frozenset(each for each in query.get("events", "").split(",") if each)
        if unknown := sorted(names - set(EVENTS)):
            raise invalid("events", unknown[0], f"names among {', '.join(EVENTS)}")
        async with self.sessions.use(name) as session:
            target_id = query.get("targetId")
            if target_id is not None and all(page.target_id != target_id for page in session.actor.pages):
                given = f"{target_id[:40]!r}, which is not open"
                raise InvalidArgumentError(
                    what="targetId", given=given, expected="one that a tabs request lists"
                )
            latest = session.events.last
            journal = await session.follow()
        number = journal.number_of(last_id)
        missed = "" if number is not None or not last_id else "the id belongs to a session that has ended"
        after = number if number is not None else 0 if missed else latest
        return EventsResponse(
            journal,
            EventFilter(target_id=target_id, names=names or None),
            after=after,
            missed=missed,
            heartbeat=self.settings.heartbeat,
            left=self._note_listener_left,
        )

    def _note_listener_left(self) -> None:
        self._listening -= 1

    # --- the rest ---------------------------------------------------------------------------------------------

    async def _health(self, _request: Request) -> Response:
        await trio.lowlevel.checkpoint()
        return _json_response({"ok": not self.closing.is_set()}, 503 if self.closing.is_set() else 200)

    async def _metrics(self, _request: Request) -> Response:
        await trio.lowlevel.checkpoint()
        return Response(self.metrics.text(), media_type=CONTENT_TYPE)

    async def _openapi(self, _request: Request) -> Response:
        await trio.lowlevel.checkpoint()
        return _json_response(make_document(SHORT_PATHS))

    async def _list_sessions(self, _request: Request) -> Response:
        await trio.lowlevel.checkpoint()
        return _json_response({"sessions": self.sessions.names})

    async def _close_session(self, request: Request) -> Response:
        closed = await self.sessions.close(request.path_params["name"])
        return (
            _json_response({"ok": True})
            if closed
            else _error(404, "sessionNotFound", "no session has this name")
        )


@attrs.frozen(eq=False)
class _Mcp:
    """The path of MCP, as an ASGI application. The first request loads its packages."""

    _service: Service

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        service = self._service
        try:
            endpoint = await service.mcp_endpoint()
        except PackageMissingError as error:
            response = _error(501, "packageMissing", str(error), "Install it where the service runs.")
            await response(scope, receive, send)
            return
        if service.closing.is_set():
            response = _to_http(answer_busy("mcp", "the service is ending"))
            await response(scope, receive, send)
            return
        await endpoint(scope, receive, send)


def _json_response(document: object, status: int = 200) -> Response:
    return Response(_json.encode(document), status, media_type="application/json")


def _to_http(response: ActResponse) -> Response:
    return _json_response(response.to_json(), status_of(response))


def _to_picture(response: Response) -> Response:
    """Return the picture's bytes instead of the JSON that contains them."""
    document = _json.decode_leniently(bytes(response.body))
    if not document["ok"] or "base64" not in document["result"]:
        return response
    result = document["result"]
    return Response(base64.b64decode(result["base64"]), media_type=f"image/{result['format']}")


def _load_mcp() -> None:
    with packages_named():
        import cdpengine.service.mcp_transport.http  # noqa: F401 - here, in a thread, because it takes its time


async def _not_found(request: Request, _: Exception) -> Response:
    await trio.lowlevel.checkpoint()
    return _error(
        404, "pathNotFound", f"the path {request.url.path[:80]} does not exist", "See /openapi.json."
    )


async def _not_allowed(_request: Request, _: Exception) -> Response:
    await trio.lowlevel.checkpoint()
    return _error(405, "methodNotAllowed", "this path does not accept this method", "See /openapi.json.")


def _error(status: int, kind: str, message: str, hint: str = "") -> Response:
    error = {"kind": kind, "message": message, "hint": hint, "retryable": False}
    return _json_response({"ok": False, "error": error}, status)
