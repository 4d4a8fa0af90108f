"""Confirmations by the person at an MCP client, through an elicitation (MCP 2025-06-18).

Rule: only a client that declared the capability gets the question. The form has no fields: accepting it means yes;
declining or closing it means no. The question contains no secrets.
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
    """Let the client's person confirm actions in this task, if the client supports that."""
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
        return None  # it supports only opening URLs

    async def confirm(asked: Confirmation) -> bool:
        question = f'The recorded flow "{asked.scenario}" is about to {asked.what}, on {asked.url}. Continue?'
        answer = await session.elicit_form(question, _NO_FIELDS, context.request_id)
        return answer.action == "accept"

    return confirm
