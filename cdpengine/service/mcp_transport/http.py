"""MCP over streamable HTTP: the tools at a path of the service, behind the same guard.

Rule: a client's session is its `Mcp-Session-Id`, with a separate browser context. The 2026 revision of the
protocol has no such ids. For that revision, and for URLs with `?session=NAME`, the session is selected by its
name. If the client closes the connection of a call, the call is cancelled and the page's script stopped.
"""

from __future__ import annotations

import shutil
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, MutableMapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import attrs
import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from cdpengine._nursery import open_body_nursery
from cdpengine.act import ActResponse
from cdpengine.errors import InvalidArgumentError
from cdpengine.service.guard import Message, Receive, Refused, Send, answer
from cdpengine.service.mcp_results import say
from cdpengine.service.mcp_server import CallOutcome, McpSettings, ToolServer
from cdpengine.service.mcp_transport.messages import Accepted, Refusal, read_message, refuse_duplicate
from cdpengine.service.outputs import Outputs, open_outputs
from cdpengine.service.sessions import check_name
from cdpengine.service.settings import ServiceSettings

SHARED_SESSION = "mcp"
"""The session of clients that send no session id and no name."""

OWN = "mcp-"
"""Prefix of the names of sessions that belong to one client; the rest is its id."""

_LONGEST_ID = 60

_CALL = "cdpengine.call"
"""Key of a request's scope for its call."""

_OUTPUT_BYTES = 50_000_000
"""Maximum size of the files of one session, in bytes, before the oldest are removed."""

Perform = Callable[[str, Mapping[str, Any]], Awaitable[ActResponse]]
"""Performs a request in the session of that name."""

CloseSession = Callable[[str], Awaitable[bool]]


@attrs.define(eq=False)
class _Call:
    """One HTTP request: its session, and the cancel scope of its call."""

    session: str
    left: bool = False
    scopes: set[trio.CancelScope] = attrs.field(factory=set)

    @property
    def is_its_own(self) -> bool:
        """Whether the session belongs to one client."""
        return self.session.startswith(OWN)

    def leave(self) -> None:
        """Note that the client has disconnected."""
        self.left = True
        for scope in self.scopes:
            scope.cancel()


@attrs.define(eq=False)
class McpEndpoint:
    """The endpoint, as an ASGI application; `run` must be running. `outputs` is the folder for long results."""

    _perform: Perform
    _close_session: CloseSession
    _settings: ServiceSettings
    _offered: McpSettings
    _outputs: Path
    _manager: StreamableHTTPSessionManager = attrs.field(init=False)
    _tools: OrderedDict[str, ToolServer] = attrs.field(factory=OrderedDict)
    """The tools of the most recently used sessions, up to the maximum number of clients."""
    _running: set[tuple[str, str] | None] = attrs.field(factory=set)
    """Sessions and ids of unanswered requests: the SDK would confuse the responses to two equal ids."""

    def __attrs_post_init__(self) -> None:
        self._manager = StreamableHTTPSessionManager(
            self._tools_of(SHARED_SESSION).server(on_call=self._call),
            # The service's guard has already checked Host and Origin against the allowed names.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=self._settings.session_idle,
            max_request_body_size=self._settings.body,
            max_sessions=self._settings.connections,
        )

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Run the clients' sessions until cancelled; then their streams end."""
        async with self._manager.run():
            task_status.started()
            await trio.sleep_forever()

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Answer one HTTP request."""
        try:
            call = scope[_CALL] = _Call(session_of(scope))
        except InvalidArgumentError as error:
            await answer(send, Refused(400, "invalidArgument", str(error), "Correct the URL."))
            return
        statuses: list[int] = []
        body: list[Message] = []
        call_id: tuple[str, str] | None = None
        if scope["method"] == "POST":
            content = await _read_body(receive)  # its size and time are bounded by the guard
            if content is None:
                return
            read = read_message(content)
            if isinstance(read, Accepted) and call.is_its_own and read.id is not None:
                call_id = call.session, str(read.id)
            if call_id in self._running:
                read = refuse_duplicate(read.id)
            if isinstance(read, Refusal):
                await _refuse(send, read)
                return
            body.append({"type": "http.request", "body": read.text.encode(), "more_body": False})

        async def noting_the_end() -> Message:
            if body:
                return body.pop()
            message = await receive()
            if message["type"] == "http.disconnect":
                call.leave()
            return message

        async def noting_the_status(message: Message) -> None:
            statuses.append(message.get("status", 0))
            await send(message)

        with self._noting(call_id):
            await self._manager.handle_request(scope, noting_the_end, noting_the_status)
        if scope["method"] == "DELETE" and statuses[:1] == [200] and call.is_its_own:
            await self._forget(call.session)
            await self._close_session(call.session)

    @contextmanager
    def _noting(self, call_id: tuple[str, str] | None) -> Iterator[None]:
        """Record a request while it is unanswered."""
        if call_id is not None:
            self._running.add(call_id)
        try:
            yield
        finally:
            self._running.discard(call_id)

    def _tools_of(self, session: str) -> ToolServer:
        """Return the tool server of a session, which has a folder for its long results."""
        if session not in self._tools:
            folder = self._folder_of(session)
            folder.mkdir(mode=0o700, exist_ok=True)
            outputs = Outputs(folder, most_bytes=_OUTPUT_BYTES)
            self._tools[session] = ToolServer(partial(self._perform, session), self._offered, outputs)
        self._tools.move_to_end(session)
        return self._tools[session]

    async def _forget(self, session: str) -> None:
        """Remove a session and its long results."""
        self._tools.pop(session, None)
        folder = self._folder_of(session)
        await trio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))

    def _folder_of(self, session: str) -> Path:
        return self._outputs / session.replace(":", "-")

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> CallOutcome:
        """Perform a tool call, and cancel it if the client disconnects."""
        assert context.request is not None
        call: _Call = context.request.scope[_CALL]
        with trio.CancelScope() as scope:
            call.scopes.add(scope)
            try:
                if not call.left:
                    if call.session not in self._tools and len(self._tools) >= self._settings.connections:
                        await self._forget(next(iter(self._tools)))
                    return await self._tools_of(call.session).handle_call(context, params)
            finally:
                call.scopes.discard(scope)
        return say("the client left before the answer", failed=True)  # not delivered


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body of a request, or None if the client has disconnected."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _refuse(send: Send, refusal: Refusal) -> None:
    """Answer a message that the SDK does not get.

    A refused notification or response gets the same status without content.
    """
    content = b"" if refusal.silent else refusal.to_json()
    headers = [(b"content-length", str(len(content)).encode())]
    if content:
        headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def session_of(scope: Mapping[str, Any]) -> str:
    """Return the session of an HTTP request. Raises InvalidArgumentError for an invalid name."""
    named = parse_qs(scope["query_string"].decode("latin-1")).get("session")
    if named:
        return check_name(named[0])
    header = MCP_SESSION_ID_HEADER.encode()
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    session_id = headers.get(header, "")
    return f"{OWN}{check_name(session_id)[:_LONGEST_ID]}" if session_id else SHARED_SESSION


@asynccontextmanager
async def open_endpoint(
    perform: Perform, close_session: CloseSession, settings: ServiceSettings
) -> AsyncIterator[McpEndpoint]:
    """Run the endpoint during the block."""
    async with open_outputs() as outputs, open_body_nursery() as nursery:
        offered = McpSettings(capabilities=settings.mcp_capabilities, structured=settings.mcp_structured)
        endpoint = McpEndpoint(perform, close_session, settings, offered, outputs.path)
        await nursery.start(endpoint.run)
        yield endpoint
