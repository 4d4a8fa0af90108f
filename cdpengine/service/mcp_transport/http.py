"""MCP over streamable HTTP: the tools at a path of the service, behind the same guard.

Rule: a client's session is its `Mcp-Session-Id`, with a browser context of its own. The protocol's revision of
2026 has no such ids: there, and wherever the URL says so (`?session=NAME`), the session is the one of that name. A
client that closes the connection on which its answer comes ends its call: the page's script is stopped.
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
from cdpengine.service.mcp_answers import say
from cdpengine.service.mcp_server import McpSettings, ToolServer
from cdpengine.service.mcp_transport.messages import Accepted, Refusal, read_message, refuse_duplicate
from cdpengine.service.outputs import Outputs, open_outputs
from cdpengine.service.sessions import check_name
from cdpengine.service.settings import ServiceSettings

SHARED_SESSION = "mcp"
"""The session of clients that have no session id, and name none."""

OWN = "mcp-"
"""What the names of sessions begin with that are those of one client alone; the rest is its id."""

_LONGEST_ID = 60

_CALL = "cdpengine.call"
"""Where a request's scope keeps whose call it is."""

_OUTPUT_BYTES = 50_000_000
"""What the files of one session may hold, before the oldest of them are removed."""

Perform = Callable[[str, Mapping[str, Any]], Awaitable[ActResponse]]
"""Does a request in the session of that name."""

CloseSession = Callable[[str], Awaitable[bool]]


@attrs.define(eq=False)
class _Call:
    """One HTTP request: its session, and what ends what it asked for."""

    session: str
    left: bool = False
    scopes: set[trio.CancelScope] = attrs.field(factory=set)

    @property
    def is_its_own(self) -> bool:
        """Whether the session is that of one client alone."""
        return self.session.startswith(OWN)

    def leave(self) -> None:
        """Take note that the client is gone."""
        self.left = True
        for scope in self.scopes:
            scope.cancel()


@attrs.define(eq=False)
class McpEndpoint:
    """The endpoint, as an ASGI application; `run` runs beside it. `outputs` is the folder for long answers."""

    _perform: Perform
    _close_session: CloseSession
    _settings: ServiceSettings
    _offered: McpSettings
    _outputs: Path
    _manager: StreamableHTTPSessionManager = attrs.field(init=False)
    _tools: OrderedDict[str, ToolServer] = attrs.field(factory=OrderedDict)
    """Of the sessions that were used last, as many as there may be clients."""
    _asked: set[tuple[str, str] | None] = attrs.field(factory=set)
    """Sessions and ids of requests without an answer: the SDK would mix up the answers of two that are alike."""

    def __attrs_post_init__(self) -> None:
        self._manager = StreamableHTTPSessionManager(
            self._tools_of(SHARED_SESSION).server(on_call=self._call),
            # The service's own guard has looked at Host and Origin, and knows the names that were allowed.
            security_settings=TransportSecuritySettings(enable_dns_rebinding_protection=False),
            session_idle_timeout=self._settings.session_idle,
            max_request_body_size=self._settings.body,
            max_sessions=self._settings.connections,
        )

    async def run(self, *, task_status: trio.TaskStatus[None]) -> None:
        """Keep the clients' sessions until cancelled; then their streams end."""
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
        asked: tuple[str, str] | None = None
        if scope["method"] == "POST":
            content = await _read_body(receive)  # its size and time are bounded by the guard
            if content is None:
                return
            read = read_message(content)
            if isinstance(read, Accepted) and call.is_its_own and read.id is not None:
                asked = call.session, str(read.id)
            if asked in self._asked:
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

        with self._noting(asked):
            await self._manager.handle_request(scope, noting_the_end, noting_the_status)
        if scope["method"] == "DELETE" and statuses[:1] == [200] and call.is_its_own:
            await self._forget(call.session)
            await self._close_session(call.session)

    @contextmanager
    def _noting(self, asked: tuple[str, str] | None) -> Iterator[None]:
        """Note a request while it has no answer."""
        if asked is not None:
            self._asked.add(asked)
        try:
            yield
        finally:
            self._asked.discard(asked)

    def _tools_of(self, session: str) -> ToolServer:
        """Return what does the calls of a session; its long answers are in a folder of its own."""
        if session not in self._tools:
            folder = self._folder_of(session)
            folder.mkdir(mode=0o700, exist_ok=True)
            outputs = Outputs(folder, most_bytes=_OUTPUT_BYTES)
            self._tools[session] = ToolServer(partial(self._perform, session), self._offered, outputs)
        self._tools.move_to_end(session)
        return self._tools[session]

    async def _forget(self, session: str) -> None:
        """Forget a session with its long answers."""
        self._tools.pop(session, None)
        folder = self._folder_of(session)
        await trio.to_thread.run_sync(partial(shutil.rmtree, folder, ignore_errors=True))

    def _folder_of(self, session: str) -> Path:
        return self._outputs / session.replace(":", "-")

    async def _call(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """Do a call of a tool, and end it when the client is gone."""
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
        return say("the client left before the answer", failed=True)  # which nobody reads


async def _read_body(receive: Receive) -> bytes | None:
    """Return the body of a request, or None if the client is gone."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _refuse(send: Send, refusal: Refusal) -> None:
    """Answer a message that the SDK does not get. One that has no answer gets the same status and no content."""
    content = b"" if refusal.silent else refusal.to_json()
    headers = [(b"content-length", str(len(content)).encode())]
    if content:
        headers.append((b"content-type", b"application/json"))
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def session_of(scope: Mapping[str, Any]) -> str:
    """Return the session that an HTTP request is for. Raises InvalidArgumentError for a wrong name."""
    named = parse_qs(scope["query_string"].decode("latin-1")).get("session")
    if named:
        return check_name(named[0])
    header = MCP_SESSION_ID_HEADER.encode()
    headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
    given = headers.get(header, "")
    return f"{OWN}{check_name(given)[:_LONGEST_ID]}" if given else SHARED_SESSION


@asynccontextmanager
async def open_endpoint(
    perform: Perform, close_session: CloseSession, settings: ServiceSettings
) -> AsyncIterator[McpEndpoint]:
    """Give the endpoint while the block runs."""
    async with open_outputs() as outputs, open_body_nursery() as nursery:
        offered = McpSettings(capabilities=settings.mcp_capabilities, structured=settings.mcp_structured)
        endpoint = McpEndpoint(perform, close_session, settings, offered, outputs.path)
        await nursery.start(endpoint.run)
        yield endpoint
