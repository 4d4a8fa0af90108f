"""Interception on one session: the routes in effect, and the credentials.

Rule: Chrome pauses only requests that a route or credentials may match. A request that none of them takes
continues immediately, in the reader. Without routes and credentials, the Fetch domain is off. The latest route is
tried first. Credentials are sent only to their server or proxy, once for each request. A second challenge means a
refusal, which the page then sees. No message and no log contains them.

A route's handler is user code. If it raises, hangs or gives no answer, its request fails, and the failure is
recorded and logged; the page, other requests and the program are not affected. When the route ends, the requests
of its handlers continue to the next route, as if this one had not existed.
"""

from __future__ import annotations

import inspect
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

import attrs
import trio

from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._network.messages import InterceptedRequest, is_at_response, to_request, to_response
from cdpengine._network.route import Exchange, Route
from cdpengine._notifier import BoundedHistory
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.fetch import AuthRequired, RequestPaused, RequestPausedId
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    InterceptedBodyUnavailableError,
    InvalidArgumentError,
    SessionGoneError,
    UndecodableReplyError,
    shown_url,
)
from cdpengine.errors.texts import duration

logger = get_logger("cdpengine.network")

_MOST_CHALLENGED = 1000
"""Maximum number of remembered challenges that were answered. The same challenge again means a refusal."""


class Interceptor:
    """The Fetch domain of one session. Obtain it with `interceptor_of`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._routes: list[RouteRegistration] = []
        self._credentials: list[Credentials] = []
        self._fetching: dict[str, Exchange] = {}
        self._challenged: OrderedDict[tuple[str, str, str], Credentials] = OrderedDict()
        self._listening = False
        self._not_understood = RepeatedWarning(
            logger, "an undecodable intercepted request continues: %s", level=logging.ERROR
        )

    def add(self, part: RouteRegistration | Credentials) -> list[PendingCall]:
        """Add a route or credentials."""
        if isinstance(part, RouteRegistration):
            self._routes.append(part)
        else:
            self._credentials.append(part)
            self._session.connection.instruments.add_secret(part.password)
        return self._update()

    def remove(self, part: RouteRegistration | Credentials) -> list[PendingCall]:
        """Remove a route or credentials.

        Its handlers' requests have been continued before: see `RouteRegistration._close`.
        """
        if isinstance(part, RouteRegistration):
            known = part in self._routes
            self._routes = [route for route in self._routes if route is not part]
        else:
            known = part in self._credentials
            self._credentials = [each for each in self._credentials if each is not part]
        return self._update() if known else []

    async def renew(self) -> None:
        """Let Chrome pause the requests of a document that it had prerendered."""
        for call in self._update():
            await call.raw()

    def _update(self) -> list[PendingCall]:
        if not (self._routes or self._credentials):
            self._listen(False)
            # Chrome then continues all paused requests.
            return [self._session.post("Fetch.disable")]
        self._listen(True)
        patterns: list[dict[str, str]] = []
        pattern_lists = [route.match.patterns() for route in self._routes]
        pattern_lists += [credentials.patterns() for credentials in self._credentials]
        for each in pattern_lists:
            patterns += [pattern for pattern in each if pattern not in patterns]
        return [
            self._session.post("Fetch.enable", patterns=patterns, handleAuthRequests=bool(self._credentials))
        ]

    def _listen(self, listening: bool) -> None:
        if listening is self._listening:
            return
        self._listening = listening
        switch = self._session.on_event if listening else self._session.off_event
        switch("Fetch.requestPaused", self._take_paused)
        switch("Fetch.authRequired", self._answer_challenge)

    # --- events, in the reader ----------------------------------------------------------------------------

    def _take_paused(self, event: Event) -> None:
        try:
            paused = event.decode(RequestPaused)
        except UndecodableReplyError as error:
            self._not_understood.log(error)
            self._continue(event.decode(RequestPausedId).request_id)
            return
        takers = [route._take for route in reversed(self._routes)]
        if is_at_response(paused) and (fetched := self._fetching.pop(paused.request_id, None)) is not None:
            fetched.respond(to_response(paused, fetched.body_reader()), takers)
            return
        request = to_request(paused, self._session.target_id or "")
        exchange = Exchange(self._session, paused.request_id, request, None, takers, self._fetching)
        if is_at_response(paused):
            exchange.response = to_response(paused, exchange.body_reader())
        exchange.pass_on()

    def _continue(self, request_id: str) -> None:
        with suppress(SessionGoneError, ConnectionLostError):
            self._session.post("Fetch.continueRequest", requestId=request_id)

    def _answer_challenge(self, event: Event) -> None:
        paused = event.decode(AuthRequired)
        challenge = paused.auth_challenge
        answer: dict[str, str] = {"response": "CancelAuth"}
        # After a refusal, Chrome repeats a challenge with the same id; the page then gets the refusal. A proxy and
        # the server behind it challenge the same request one after the other.
        key = (paused.request_id, challenge.source or "", challenge.origin)
        if key not in self._challenged:
            found = next(
                (each for each in self._credentials[::-1] if each.fit(challenge.origin, challenge.source)),
                None,
            )
            if found is not None:
                self._challenged[key] = found
                while len(self._challenged) > _MOST_CHALLENGED:
                    self._challenged.popitem(last=False)
                answer = {
                    "response": "ProvideCredentials",
                    "username": found.username,
                    "password": found.password,
                }
        else:
            self._challenged.pop(key).note_refusal(challenge.origin)
        with suppress(SessionGoneError, ConnectionLostError):
            self._session.post(
                "Fetch.continueWithAuth", requestId=paused.request_id, authChallengeResponse=answer
            )


_INTERCEPTORS: dict[Session, Interceptor] = {}


def interceptor_of(session: Session) -> Interceptor:
    """Return the interceptor of a session, the same for the whole life of the session."""
    found = _INTERCEPTORS.get(session)
    if found is None:
        found = Interceptor(session)
        if not session.ended:
            _INTERCEPTORS[session] = found

            def forget() -> None:
                _INTERCEPTORS.pop(session, None)

            session.on_end(forget)
    return found


@attrs.frozen(eq=False)
class Credentials:
    """Credentials for the server `origin` ("https://example.com:8443"; None: any), or for a proxy (`proxy`)."""

    username: str = attrs.field(repr=False)
    password: str = attrs.field(repr=False)
    origin: str | None = None
    proxy: bool = False
    _refused: RepeatedWarning = attrs.field(
        init=False,
        repr=False,
        factory=lambda: RepeatedWarning(logger, "%s refused the credentials"),
    )

    @classmethod
    def checked(cls, username: str, password: str, origin: str | None, proxy: bool) -> Credentials:
        """Return checked credentials. Raises InvalidArgumentError."""
        for what, value in (("username", username), ("password", password)):
            if not isinstance(value, str):
                raise InvalidArgumentError(what=what, given=f"a {type(value).__name__}", expected="a str")
        return cls(username, password, None if origin is None else _check_origin(origin), bool(proxy))

    def fit(self, origin: str, source: str) -> bool:
        """Return whether they are for the server or proxy (`source`) at `origin` that requests credentials."""
        if self.proxy != (source == "Proxy"):
            return False
        return self.origin is None or self.origin == _normalize_origin(origin)

    def patterns(self) -> list[dict[str, str]]:
        """Return Chrome's interception patterns: it asks for credentials only for requests that may be paused."""
        # A request to any URL can be redirected to the origin, or use the proxy.
        return [{"urlPattern": "*", "requestStage": "Request"}]

    def note_refusal(self, origin: str) -> None:
        """Note that a server or proxy refused them."""
        self._refused.log(origin)


def _check_origin(given: str) -> str:
    if isinstance(given, str):
        try:
            normal = _normalize_origin(given)
            parts = urlsplit(given)
            if normal and not parts.path.strip("/") and not parts.query and parts.username is None:
                return normal
        except ValueError:
            pass
    expected = 'scheme, host and port, such as "https://example.com:8443"'
    what = repr(shown_url(given)) if isinstance(given, str) else f"a {type(given).__name__}"
    raise InvalidArgumentError(what="origin", given=what, expected=expected)


def _normalize_origin(origin: str) -> str:
    parts = urlsplit(origin)
    if not parts.scheme or not parts.hostname:
        return ""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    return f"{parts.scheme}://{parts.hostname}:{port}"


# --- routes in effect ----------------------------------------------------------------------------------------

RouteHandler: TypeAlias = Callable[[Route], Awaitable[object]]
"""An async function that receives the Route, and answers it."""

Stage: TypeAlias = Literal["request", "response"]

_LONGEST_REASON = 300


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


def chrome_url_of(pattern: object) -> str:
    """Return the narrowest Chrome pattern that covers a route's URL pattern. Pure.

    A glob stays the same, except that "?" and the backslash are special in Chrome, so they are escaped.
    """
    if not isinstance(pattern, str):
        return "*"
    return pattern.replace("\\", "\\\\").replace("?", "\\?")


@not_picklable("a list of its failures")
class RouteRegistration:
    """One route in effect.

    Handlers run in `nursery`, each for at most `limit` seconds; failures are added to `log` too.

    `match` is its condition; `seen` counts the requests of its handler.
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

    def _take(self, exchange: Exchange) -> bool:
        """Pass the exchange to the handler. Return False if it does not match or the route has ended."""
        if self._closed:
            return False
        stage: Stage = "request" if exchange.response is None else "response"
        try:
            # Match the page's URL. Later routes see a changed URL but are not matched by it.
            if not self.match.matches(exchange.original_request, stage):
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

    def _close(self) -> None:
        """End the route: the requests of its handlers continue, and the handlers are cancelled."""
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
            if exchange.dropped and (raised is None or isinstance(raised, InterceptedBodyUnavailableError)):
                return
            if self._closed or self._nursery.cancel_scope.cancel_called:
                return
            if not reason and deadline.cancelled_caught:
                reason = f"it gave no answer within {duration(self._limit)}"
            if not reason and not route.answered:
                reason = "it ended without an answer"
            if reason:
                self._fail(exchange, reason, raised)
                if not route.answered:
                    route._closed = "the request failed: " + reason
                    exchange.abort("Failed")
        finally:
            self._release(route, exchange, "the handler was cancelled")
            self._at_work.pop(route, None)

    def _release(self, route: Route, exchange: Exchange, why: str) -> None:
        if not route.answered:
            route._closed = why
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
        self.failures._add(failure)
        self._log._add(failure)
        where = (failure.handler, failure.pattern, failure.method, shown_url(failure.url))
        self._failed.log(*where, reason, error=raised)


async def _call_handler(handler: RouteHandler, route: Route) -> None:
    result: object = handler(route)
    if not inspect.isawaitable(result):
        raise InvalidArgumentError(
            what="handler",
            given=f"a function that returns a {type(result).__name__}",
            expected="an async function",
        )
    await result


def _describe_error(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
