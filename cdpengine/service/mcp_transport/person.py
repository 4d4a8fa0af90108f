"""Confirmations by the person at an MCP client, through an elicitation.

Rule: only a client that declared the capability gets the question. The form has no fields: accepting it means yes;
declining or closing it means no. The question contains no secrets.

Since MCP 2025-06-18, the server sends the question as a request during the call. MCP 2026-07-28 has no requests
from a server. There, the call ends with the question (`InputRequiredResult`), and the client calls again with the
answer. Meanwhile the request waits in the server. The client only receives an unguessable name for it.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import attrs
import mcp_types as types
import trio
from mcp.server.context import ServerRequestContext
from mcp_types.version import is_version_at_least

from cdpengine._nursery import open_body_nursery
from cdpengine.act.confirming import Confirm, Confirmation, person

ROUNDS = "2026-07-28"
"""The first revision in which the call ends with the question."""

_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}

_CONFIRM = "confirm"
"""Key of the question among the requests to the client, and of the answer."""

Work = Callable[[], Awaitable[types.CallToolResult]]
"""The work of a call."""


@contextmanager
def person_of_client(context: ServerRequestContext[Any]) -> Iterator[None]:
    """Let the client's person confirm actions in this task, if the client supports requests of the server."""
    token = person.set(_make_confirm(context))
    try:
        yield
    finally:
        person.reset(token)


def asks_in_rounds(context: ServerRequestContext[Any]) -> bool:
    """Return whether questions to the client's person are possible only between two calls."""
    return is_version_at_least(context.session.protocol_version, ROUNDS) and _can_ask(context)


def _can_ask(context: ServerRequestContext[Any]) -> bool:
    capabilities = context.session.client_capabilities
    declared = None if capabilities is None else capabilities.elicitation
    # A client that declares only "url" supports only opening URLs.
    return declared is not None and (declared.form is not None or declared.url is None)


def _make_confirm(context: ServerRequestContext[Any]) -> Confirm | None:
    session = context.session
    if not session.can_send_request or not _can_ask(context):
        return None

    async def confirm(confirmation: Confirmation) -> bool:
        answer = await session.elicit_form(_word(confirmation), _NO_FIELDS, context.request_id)
        return answer.action == "accept"

    return confirm


def _word(confirmation: Confirmation) -> str:
    about = f"{confirmation.what}, on {confirmation.url}"
    return f'The learned flow "{confirmation.scenario}" is about to {about}. Continue?'


# --- questions between two calls --------------------------------------------------------------------------------


@asynccontextmanager
async def open_calls(_server: Any) -> AsyncIterator[trio.Nursery]:
    """Run the calls that wait for an answer, until the server ends. For `lifespan` of the SDK's server."""
    async with open_body_nursery() as nursery:
        yield nursery


@attrs.frozen(eq=False)
class _Question:
    """A question to the client's person. `answer` has the answer when `answered` is set."""

    confirmation: Confirmation
    answered: trio.Event = attrs.field(factory=trio.Event)
    answer: list[bool] = attrs.field(factory=list)
    closed: trio.Event = attrs.field(factory=trio.Event)

    async def wait(self) -> bool:
        """Wait for the answer and return it. The caller limits the time."""
        try:
            await self.answered.wait()
            return self.answer[0]
        finally:
            self.closed.set()

    def put(self, answer: bool) -> None:
        """Set the answer. A late one has no effect."""
        self.answer.append(answer)
        self.answered.set()


@attrs.define(eq=False)
class _Call:
    """A call whose work continues while the client has its question."""

    name: str
    arguments: Mapping[str, Any]
    scope: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    ended: bool = False
    _send: trio.MemorySendChannel[_Question | types.CallToolResult | Exception] = attrs.field(init=False)
    _receive: trio.MemoryReceiveChannel[_Question | types.CallToolResult | Exception] = attrs.field(
        init=False
    )

    def __attrs_post_init__(self) -> None:
        self._send, self._receive = trio.open_memory_channel(math.inf)

    async def run(self, work: Work) -> None:
        """Run `work`. Its result or exception is the last outcome."""
        person.set(self._ask)
        try:
            with self.scope:
                try:
                    outcome: types.CallToolResult | Exception = await work()
                except Exception as error:  # noqa: BLE001 - raised in the call that waits for the outcome
                    outcome = error
                self._send.send_nowait(outcome)
        finally:
            self.ended = True

    async def _ask(self, confirmation: Confirmation) -> bool:
        question = _Question(confirmation)
        self._send.send_nowait(question)
        return await question.wait()

    async def next(self) -> _Question | types.CallToolResult:
        """Return the next open question, or the result. If the client cancels meanwhile, the work ends."""
        try:
            outcome = await self._receive.receive()
            while isinstance(outcome, _Question) and outcome.closed.is_set():
                outcome = await self._receive.receive()
        except trio.Cancelled:
            self.scope.cancel()
            raise
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@attrs.define(eq=False)
class CallRounds:
    """The calls of a session that wait for an answer, by the state that was sent to the client."""

    _open: dict[str, tuple[_Call, _Question]] = attrs.field(factory=dict)

    async def perform(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams, work: Work
    ) -> types.CallToolResult | types.InputRequiredResult | None:
        """Perform a call, or continue it with the answer of the client's person.

        Returns the result, the next question, or None if no call waits for this answer.
        """
        self._open = {state: each for state, each in self._open.items() if not each[0].ended}
        if params.request_state is None:
            call = _Call(params.name, params.arguments or {})
            nursery: trio.Nursery = context.lifespan_context
            nursery.start_soon(call.run, work)
        else:
            found = self._open.get(params.request_state)
            if found is None or (found[0].name, found[0].arguments) != (params.name, params.arguments or {}):
                return None
            del self._open[params.request_state]
            call, question = found
            answer = (params.input_responses or {}).get(_CONFIRM)
            question.put(isinstance(answer, types.ElicitResult) and answer.action == "accept")
        outcome = await call.next()
        if isinstance(outcome, types.CallToolResult):
            return outcome
        state = secrets.token_urlsafe(24)
        self._open[state] = call, outcome
        form = types.ElicitRequestFormParams(message=_word(outcome.confirmation), requested_schema=_NO_FIELDS)
        return types.InputRequiredResult(
            input_requests={_CONFIRM: types.ElicitRequest(params=form)}, request_state=state
        )
