"""The person of an MCP client, who can be asked by an elicitation (MCP 2025-06-18).

Rule: only a client that declared the capability is asked. The form has no fields: to accept it is a yes; to
decline or to close it is a no. Nothing that is secret is in the question.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mcp.server.context import ServerRequestContext

from cdpengine.act.confirming import Confirm, Confirmation, person

_NO_FIELDS: dict[str, Any] = {"type": "object", "properties": {}}


@contextmanager
def person_of_client(context: ServerRequestContext[Any]) -> Iterator[None]:
    """Have the client's person asked for confirmations in this task, where the client can do so."""
    token = person.set(_make_confirm(context))
    try:
        yield
    finally:
        person.reset(token)


def _make_confirm(context: ServerRequestContext[Any]) -> Confirm | None:
    session = context.session
    declared = None if session.client_capabilities is None else session.client_capabilities.elicitation
    if declared is None or not session.can_send_request:
        return None
    if declared.form is None and declared.url is not None:
        return None  # it opens addresses only

    async def confirm(asked: Confirmation) -> bool:
        question = f'The recorded flow "{asked.scenario}" is about to {asked.what}, on {asked.url}. Go on?'
        answer = await session.elicit_form(question, _NO_FIELDS, context.request_id)
        return answer.action == "accept"

    return confirm
