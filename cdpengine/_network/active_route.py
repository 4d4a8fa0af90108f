"""ActiveRoute: one route in effect, and its handlers. RouteRegistration is its public part.

Rule: a handler is user code. If it raises, hangs or gives no answer, its request fails, and the failure is
recorded and logged; the page, other requests and the program are not affected. When the route ends, the requests
of its handlers continue to the next route, as if this one had not existed.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import attrs
import trio

from cdpengine._handlers import call_async_handler, describe_failure
from cdpengine._history import BoundedHistory, Records
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._network.exchange import Exchange, Turn
from cdpengine._network.messages import InterceptedRequest
from cdpengine._network.route import Route
from cdpengine._pickling import not_picklable
from cdpengine.errors import BodyUnavailableError, shown_url
from cdpengine.errors.texts import duration

logger = get_logger("cdpengine.network")

RouteHandler: TypeAlias = Callable[[Route], Awaitable[object]]
"""An async function that receives the Route, and answers it."""

Stage: TypeAlias = Literal["request", "response"]


@attrs.frozen
class RouteFailure:
    """A request that failed because of a route's handler.

    `reason` describes the failure; `handler` and `pattern` name the route.
    """

    url: str
    method: str
    resource_type: str
    pattern: str
    handler: str
    reason: str
    frame_id: str = ""


@attrs.frozen
class RouteMatch:
    """The condition of a route.

    `test` is a predicate for URLs; empty `types` mean all; `words` name the route.
    """

    test: Callable[[str], bool]
    words: str
    types: frozenset[str] = frozenset()
    stage: Stage = "request"
    chrome_url: str = "*"

    def patterns(self) -> list[dict[str, str]]:
        """Return Chrome's `Fetch.RequestPattern`s, which cover at least the matching requests."""
        stage = self.stage.capitalize()
        if not self.types:
            return [{"urlPattern": self.chrome_url, "requestStage": stage}]
        return [
            {"urlPattern": self.chrome_url, "requestStage": stage, "resourceType": name}
            for name in sorted(self.types)
        ]

    def matches(self, request: InterceptedRequest, stage: Stage) -> bool:
        """Return whether the request matches. Raises the errors of a user's function."""
        if stage != self.stage or (self.types and request.resource_type not in self.types):
            return False
        return bool(self.test(request.url))


@not_picklable("a list of its failures")
@attrs.define(eq=False, repr=False)
class RouteRegistration:
    """One route in effect.

    `match` is its condition, `seen` the number of its handler's requests, and `failures` lists those that failed.
    """

    match: RouteMatch
    failures: BoundedHistory[RouteFailure]
    seen: int = 0

    def __repr__(self) -> str:
        return f"<route of {self.match.words}: {self.seen} requests, {len(self.failures)} failures>"


class ActiveRoute:
    """A route and its handlers at work. `registration` is its public part.

    Handlers run in `nursery`, each for at most `limit` seconds; failures are added to `log` too.
    """

    def __init__(
        self,
        match: RouteMatch,
        handler: RouteHandler,
        limit: float,
        nursery: trio.Nursery,
        log: Records[RouteFailure],
    ) -> None:
        self._failures: Records[RouteFailure] = Records()
        self.match = match
        self.registration = RouteRegistration(match, BoundedHistory(self._failures))
        self._handler = handler
        self._limit = limit
        self._nursery = nursery
        self._log = log
        self._failed = RepeatedWarning(
            logger, "the handler %s of the route of %s failed %s %s: %s", level=logging.ERROR
        )
        self._at_work: dict[Turn, trio.CancelScope] = {}
        self._closed = False

    def take(self, exchange: Exchange) -> bool:
        """Pass the exchange to the handler. Return False if it does not match or the route has ended."""
        if self._closed:
            return False
        turn = Turn(exchange)
        stage: Stage = "request" if exchange.response is None else "response"
        try:
            # Match the page's URL. Later routes see a changed URL but are not matched by it.
            if not self.match.matches(exchange.original_request, stage):
                return False
        except Exception as error:  # noqa: BLE001 - the user's function: as for the handler
            self._fail(turn, f"its pattern raised {describe_failure(error)}", error)
            return True
        self.registration.seen += 1
        scope = self._at_work[turn] = trio.CancelScope()
        self._nursery.start_soon(self._run, turn, scope, name=f"route of {self.match.words}")
        return True

    def close(self) -> None:
        """End the route: the requests of its handlers continue, and the handlers are cancelled."""
        self._closed = True
        for turn, scope in list(self._at_work.items()):
            turn.release("the scope of the route has ended")
            scope.cancel()

    async def _run(self, turn: Turn, scope: trio.CancelScope) -> None:
        reason, raised = "", None
        try:
            try:
                with scope, trio.move_on_after(self._limit) as deadline:
                    await call_async_handler(self._handler, Route(turn))
            except Exception as error:  # noqa: BLE001 - foreign code: on record, and in the log
                reason, raised = f"it raised {describe_failure(error)}", error
            if turn.exchange.dropped and (
                raised is None or (isinstance(raised, BodyUnavailableError) and raised.intercepted)
            ):
                return
            if self._closed or self._nursery.cancel_scope.cancel_called:
                return
            if not reason and deadline.cancelled_caught:
                reason = f"it gave no answer within {duration(self._limit)}"
            if not reason and not turn.answered:
                reason = "it ended without an answer"
            if reason:
                self._fail(turn, reason, raised)
        finally:
            turn.release("the handler was cancelled")
            self._at_work.pop(turn, None)

    def _fail(self, turn: Turn, reason: str, raised: Exception | None) -> None:
        request = turn.exchange.request
        failure = RouteFailure(
            url=request.url,
            method=request.method,
            resource_type=request.resource_type,
            pattern=self.match.words,
            handler=getattr(self._handler, "__qualname__", type(self._handler).__name__),
            reason=reason,
            frame_id=request.frame_id,
        )
        self._failures.add(failure)
        self._log.add(failure)
        where = (failure.handler, failure.pattern, failure.method, shown_url(failure.url))
        self._failed.log(*where, reason, error=raised)
        turn.fail(reason)
