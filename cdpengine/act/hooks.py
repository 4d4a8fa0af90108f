"""The calls of an actor's hooks, before and after each request.

Rule: hooks see an accepted request and its response. They have a separate timeout. If a hook raises, takes too
long or returns no response, the response stays unchanged, because the action is already done. The log has the
failure.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import trio

from cdpengine._checks import check_type
from cdpengine._logs import get_logger
from cdpengine.act.actor import Actor
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import ActResponse
from cdpengine.errors import EngineError

HOOK_TIME = 2.0
"""Timeout of a hook, before a request and after it, in seconds."""

_log = get_logger("cdpengine.act")


async def call_before(actor: Actor, request: ActRequest) -> None:
    """Call all hooks before a request."""
    for hook in actor.hooks:
        if hook.before is not None:
            async with _bounded(request):
                await hook.before(actor, request)


async def call_after(actor: Actor, request: ActRequest, response: ActResponse) -> ActResponse:
    """Call all hooks with the response, and return the resulting response."""
    for hook in actor.hooks:
        if hook.after is not None:
            async with _bounded(request):
                response = _checked(await hook.after(actor, request, response))
    return response


def _checked(response: ActResponse) -> ActResponse:
    """Return the response of a hook. Raises InvalidArgumentError for another value, such as a forgotten return."""
    return check_type("result of a hook", response, ActResponse, "an ActResponse")


@asynccontextmanager
async def _bounded(request: ActRequest) -> AsyncIterator[None]:
    with trio.move_on_after(HOOK_TIME) as scope:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - hooks are the caller's code, and the action is done
            # The message of another exception may contain a value of the request: a KeyError has its key.
            reason = str(error) if isinstance(error, EngineError) else type(error).__name__
            _log.warning("a hook of %s failed: %s", request.kind, reason)
    if scope.cancelled_caught:
        _log.warning("a hook of %s took more than %s s, and was ended", request.kind, HOOK_TIME)
