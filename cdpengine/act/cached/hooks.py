"""What runs around each request of an actor, and what a cache is to requests.

Rule: hooks see a request that was parsed and let through, and the response to it. They have a time of their own.
A hook that raises any exception, takes longer or returns no response leaves the response as it is: what was done
on the page was done. The log names the failure.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Protocol

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine.act.cached.requests import CacheRequest
from cdpengine.act.performing import Performance
from cdpengine.act.requests import ActRequest
from cdpengine.act.response import ActResponse
from cdpengine.errors import EngineError, InvalidArgumentError

if TYPE_CHECKING:
    from cdpengine.act.actor import Actor

HOOK_TIME = 2.0
"""Seconds that a hook has, before a request and after it."""

_log = get_logger("cdpengine.act")


@attrs.frozen
class DispatchHook:
    """What an actor has run around its requests (`Actor.hooks`).

    `before` is called before a request is done. `after` is called with the response to it, and returns that which
    the caller gets; the dialogs come into its effects after that.
    """

    before: Callable[[Actor, ActRequest], Awaitable[None]] | None = None
    after: Callable[[Actor, ActRequest, ActResponse], Awaitable[ActResponse]] | None = None


class RequestCache(Protocol):
    """What does the requests about the cache (`Actor.cache`); `cdpengine.cache.CacheRequests` is one."""

    async def perform(self, run: Performance, request: CacheRequest) -> Any:
        """Do a request, and return its result, as JSON has it."""


async def call_before(actor: Actor, request: ActRequest) -> None:
    """Call all hooks before a request."""
    for hook in actor.hooks:
        if hook.before is not None:
            async with _bounded(request):
                await hook.before(actor, request)


async def call_after(actor: Actor, request: ActRequest, response: ActResponse) -> ActResponse:
    """Call all hooks with the response, and return what they make of it."""
    for hook in actor.hooks:
        if hook.after is not None:
            async with _bounded(request):
                response = _checked(await hook.after(actor, request, response))
    return response


def _checked(response: ActResponse) -> ActResponse:
    """Return the response of a hook. Raises InvalidArgumentError for anything else, such as a forgotten return."""
    if not isinstance(response, ActResponse):
        raise InvalidArgumentError("result of a hook", f"a {type(response).__name__}", "an ActResponse")
    return response


@asynccontextmanager
async def _bounded(request: ActRequest) -> AsyncIterator[None]:
    with trio.move_on_after(HOOK_TIME) as scope:
        try:
            yield
        except Exception as error:  # noqa: BLE001 - hooks are the caller's code, and the action is done
            # The text of another exception may hold a value of the request: a KeyError is its key.
            reason = str(error) if isinstance(error, EngineError) else type(error).__name__
            _log.warning("a hook of %s failed: %s", request.kind, reason)
    if scope.cancelled_caught:
        _log.warning("a hook of %s took more than %s s, and was ended", request.kind, HOOK_TIME)


async def perform(run: Performance, request: CacheRequest) -> Any:
    """Do a request about the cache. Raises InvalidArgumentError where the actor has none, or one that fails."""
    cache = run.actor.cache
    if cache is None:
        raise InvalidArgumentError(
            what=request.kind, given="a request about a cache", expected="another kind: no cache is open here"
        )
    try:
        return await cache.perform(run, request)
    except EngineError:
        raise
    except Exception as error:
        # The text of another exception may hold a value of the request: a KeyError is its key.
        raise InvalidArgumentError(
            what="Actor.cache",
            given=f"a cache that raised {type(error).__name__}",
            expected="one that raises EngineErrors",
        ) from error
