"""RouteRegistration: one route while it is in effect: what it matches, its handler at work, and what failed.

Rule: a handler is foreign code. One that raises, hangs or gives no answer fails its own request, by name, on
record and in the log; never the page, another request or the program. When the route ends, the requests that its
handlers hold go on to the next route, as if this one had not existed.
"""

from __future__ import annotations

import inspect
import logging
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import attrs
import trio

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._network.exchange import Exchange
from cdpengine._network.messages import InterceptedRequest
from cdpengine._network.route import Route
from cdpengine._notifier import BoundedHistory
from cdpengine.errors import InvalidArgumentError, shown_url

logger = get_logger("cdpengine.network")

RouteHandler: TypeAlias = Callable[[Route], Awaitable[object]]
"""An async function that is given the Route, and answers it."""

Stage: TypeAlias = Literal["request", "response"]

_LONGEST_REASON = 300


@attrs.frozen
class RouteFailure:
    """A request that failed because of a route's handler. `reason` says how; `handler` and `pattern` name it."""

    url: str
    method: str
    resource_type: str
    pattern: str
    handler: str
    reason: str
    frame_id: str = ""


@attrs.frozen
class RouteMatch:
    """Which requests a route is for. `test` is asked about the URL; `types` empty: all; `words` name it."""

    test: Callable[[str], bool]
    words: str
    types: frozenset[str] = frozenset()
    stage: Stage = "request"
    chrome_url: str = "*"

    def patterns(self) -> list[dict[str, str]]:
        """Return what Chrome is to stop, as `Fetch.RequestPattern`s: at least what matches."""
        stage = self.stage.capitalize()
        if not self.types:
            return [{"urlPattern": self.chrome_url, "requestStage": stage}]
        return [
            {"urlPattern": self.chrome_url, "requestStage": stage, "resourceType": name}
            for name in sorted(self.types)
        ]

    def matches(self, request: InterceptedRequest, stage: Stage) -> bool:
        """Whether the request is meant. Raises what a function of the user's raises."""
        if stage != self.stage or (self.types and request.resource_type not in self.types):
            return False
        return bool(self.test(request.url))


def chrome_url_of(pattern: object) -> str:
    """Return the widest of Chrome's own patterns that a route's URL pattern fits into. Pure.

    For globs it is the same; in Chrome's, "?" is a character of any kind, and a backslash escapes.
    """
    if not isinstance(pattern, str):
        return "*"
    return pattern.replace("\\", "\\\\").replace("?", "\\?")


class RouteRegistration:
    """One route in effect. Handlers run in `nursery`, each for at most `limit` seconds; failures go to `log`, too.

    `seen` counts the requests that its handler was given.
    """

    def __init__(
        self,
        match: RouteMatch,
        handler: RouteHandler,
        limit: float,
        nursery: trio.Nursery,
        log: BoundedHistory[RouteFailure],
    ) -> None:
        self.match = match
        self.failures: BoundedHistory[RouteFailure] = BoundedHistory()
        self.seen = 0
        self._handler = handler
        self._limit = limit
        self._nursery = nursery
        self._log = log
        self._failed = RepeatedWarning(
            logger, "the handler %s of the route of %s failed %s %s: %s", level=logging.ERROR
        )
        self._at_work: dict[Route, tuple[Exchange, trio.CancelScope]] = {}
        self._closed = False

    def __repr__(self) -> str:
        return f"<route of {self.match.words}: {self.seen} requests, {len(self.failures)} failures>"

    def take(self, exchange: Exchange) -> bool:
        """Give the exchange to the handler. False when it is not for this route, or the route has ended."""
        if self._closed:
            return False
        stage: Stage = "request" if exchange.response is None else "response"
        try:
            # A changed URL is a later route's to see, not to be matched by.
            if not self.match.matches(exchange.asked, stage):
                return False
        except Exception as error:  # noqa: BLE001 - the user's function: as for the handler
            self._fail(exchange, f"its pattern raised {_describe_error(error)}", error)
            exchange.abort("Failed")
            return True
        self.seen += 1
        route, scope = Route(exchange), trio.CancelScope()
        self._at_work[route] = (exchange, scope)
        self._nursery.start_soon(self._run, route, exchange, scope, name=f"route of {self.match.words}")
        return True

    def close(self) -> None:
        """End the route: what its handlers hold goes on, and they are cancelled."""
        self._closed = True
        for route in list(self._at_work):
            exchange, scope = self._at_work[route]
            self._release(route, exchange, "the scope of the route has ended")
            scope.cancel()

    async def _run(self, route: Route, exchange: Exchange, scope: trio.CancelScope) -> None:
        reason, raised = "", None
        try:
            try:
                with scope, trio.move_on_after(self._limit) as deadline:
                    await _call_handler(self._handler, route)
            except Exception as error:  # noqa: BLE001 - foreign code: on record, and in the log
                reason, raised = f"it raised {_describe_error(error)}", error
            if self._closed or self._nursery.cancel_scope.cancel_called:
                return
            if not reason and deadline.cancelled_caught:
                reason = f"it gave no answer within {self._limit:g} s"
            if not reason and not route.answered:
                reason = "it ended without an answer"
            if reason:
                self._fail(exchange, reason, raised)
                if not route.answered:
                    route.closed = "the request was failed, because " + reason
                    exchange.abort("Failed")
        finally:
            self._release(route, exchange, "the handler was cancelled")
            self._at_work.pop(route, None)

    def _release(self, route: Route, exchange: Exchange, why: str) -> None:
        if not route.answered:
            route.closed = why
            exchange.pass_on()

    def _fail(self, exchange: Exchange, reason: str, raised: Exception | None) -> None:
        request = exchange.request
        failure = RouteFailure(
            url=request.url,
            method=request.method,
            resource_type=request.resource_type,
            pattern=self.match.words,
            handler=getattr(self._handler, "__qualname__", type(self._handler).__name__),
            reason=reason,
            frame_id=request.frame_id,
        )
        self.failures.add(failure)
        self._log.add(failure)
        where = (failure.handler, failure.pattern, failure.method, shown_url(failure.url))
        self._failed.tell(*where, reason, error=raised)


async def _call_handler(handler: RouteHandler, route: Route) -> None:
    result: object = handler(route)
    if not inspect.isawaitable(result):
        raise InvalidArgumentError(
            what="handler", given=f"one that returns a {type(result).__name__}", expected="an async function"
        )
    await result


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
