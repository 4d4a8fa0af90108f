"""Announcing: report a request to the listeners of its page, such as a step trace, as one call.

Rule: the methods of the page that perform the request are parts of it. Requests about the cache are not announced,
because they perform other requests, which are.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs

from cdpengine._page.announcing import ActionCall, RequestFacts, announce_request
from cdpengine.act.fields import camel_case, secret_fields
from cdpengine.act.performing import Performance
from cdpengine.act.requests import ActRequest, CacheRequest
from cdpengine.act.response import ActResponse

_OMITTED = frozenset({"target_id", "timeout_ms"})

_GIVEN = ("snapshot", "diff", "base64")
"""Parts of a result that are no facts about the outcome: the given text, and pictures."""


async def perform_announced(
    performance: Performance, request: ActRequest, perform: Callable[[], Awaitable[ActResponse]]
) -> ActResponse:
    """Perform a request, and announce it to the listeners of its page."""
    page = performance.page_or_none
    listeners = [] if page is None else page.internals.target.running.request_listeners
    if not listeners or isinstance(request, CacheRequest):
        return await perform()
    responses: list[ActResponse] = []

    async def run() -> object:
        response = await perform()
        responses.append(response)
        return _outcome_of(performance, response)

    secret = [camel_case(name) for name in secret_fields(type(request))]
    runs_script = bool(request.script()) and not request.opens_url
    reads = not (request.in_order or request.runs_script)
    facts = RequestFacts(reads=reads, secret=secret, runs_script=runs_script)
    await announce_request(ActionCall(request.kind, _arguments_of(request), request=facts), listeners, run)
    return responses[0]


def _arguments_of(request: ActRequest) -> dict[str, Any]:
    """Return the fields that are not their defaults, by their names in JSON."""
    return {
        camel_case(each.name): value
        for each in attrs.fields(type(request))
        if each.name not in _OMITTED and (value := getattr(request, each.name)) != each.default
    }


def _outcome_of(performance: Performance, response: ActResponse) -> object:
    """Return the outcome of the action, or the facts of the result."""
    if performance.outcome is not None:
        return performance.outcome
    result = response.result
    facts = result if isinstance(result, dict) else {} if result is None else {"result": result}
    return {name: value for name, value in facts.items() if name not in _GIVEN} or None
