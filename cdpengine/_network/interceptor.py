"""Interceptor: the Fetch domain of one session, for routes and credentials.

Rule: Chrome pauses only requests that a route or credentials may match. A request that none of them takes
continues immediately, in the reader. Without routes and credentials, the Fetch domain is off. The latest route is
tried first. Credentials are sent only to their server or proxy, once for each request. A second challenge means a
refusal, which the page then sees. No message and no log contains them.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

import attrs

from cdpengine._checks import check_string
from cdpengine._logs import RepeatedWarning, get_logger
from cdpengine._network.active_route import ActiveRoute
from cdpengine._network.exchange import Exchange, Overrides
from cdpengine._network.messages import is_at_response, to_request, to_response
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.fetch import AuthRequired, RequestPaused, RequestPausedId
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine._urls.origins import check_origin, origin_of
from cdpengine.errors import (
    ConnectionLostError,
    ProtocolError,
    SessionGoneError,
)

logger = get_logger("cdpengine.network")

_MOST_CHALLENGED = 1000
"""Maximum number of remembered challenges that were answered. The same challenge again means a refusal."""


ChangeHeaders: TypeAlias = Callable[[Mapping[str, str]], Mapping[str, str]]
"""Returns the headers that a request is sent with, from those that Chrome reports."""


class Interceptor:
    """The Fetch domain of one session. Obtain it with `interceptor_of`."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._routes: list[ActiveRoute] = []
        self._credentials: list[Credentials] = []
        self._fetching: dict[str, Exchange] = {}
        self._challenged: OrderedDict[tuple[str, str, str], Credentials] = OrderedDict()
        self._listening = False
        self._not_understood = RepeatedWarning(
            logger, "an undecodable intercepted request continues: %s", level=logging.ERROR
        )

    def add(self, part: ActiveRoute | Credentials) -> list[PendingCall]:
        """Add a route or credentials."""
        if isinstance(part, ActiveRoute):
            self._routes.append(part)
        else:
            self._credentials.append(part)
            self._session.connection.instruments.add_secret(part.password)
        return self._update()

    def remove(self, part: ActiveRoute | Credentials) -> list[PendingCall]:
        """Remove a route or credentials.

        Its handlers' requests have been continued before: see `ActiveRoute.close`.
        """
        if isinstance(part, ActiveRoute):
            known = part in self._routes
            self._routes = [route for route in self._routes if route is not part]
        else:
            known = part in self._credentials
            self._credentials = [each for each in self._credentials if each is not part]
        return self._update() if known else []

    def restore(self) -> list[PendingCall]:
        """Let Chrome pause the requests of a document from the back/forward cache."""
        return self._update() if self._routes or self._credentials else []

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
        except ProtocolError as error:
            self._not_understood.log(error)
            self._continue(event.decode(RequestPausedId).request_id)
            return
        self.take(paused, self._session)

    def take(
        self, paused: RequestPaused, session: Session, change_headers: ChangeHeaders | None = None
    ) -> Exchange:
        """Offer a request that `session` paused to the routes."""
        takers = [route.take for route in reversed(self._routes)]
        if is_at_response(paused) and (fetched := self._fetching.pop(paused.request_id, None)) is not None:
            fetched.respond(to_response(paused, fetched.body_reader()), takers)
            return fetched
        request = to_request(paused, self._session.target_id or "")
        exchange = Exchange(session, paused.request_id, request, None, takers, self._fetching)
        if is_at_response(paused):
            exchange.response = to_response(paused, exchange.body_reader())
        elif change_headers is not None:
            exchange.override(Overrides(headers=tuple(change_headers(request.headers).items())))
        exchange.pass_on()
        return exchange

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
            check_string(what, value)
        return cls(
            username, password, None if origin is None else check_origin(origin, whole=True), bool(proxy)
        )

    def fit(self, origin: str, source: str) -> bool:
        """Return whether they are for the server or proxy (`source`) at `origin` that requests credentials."""
        if self.proxy != (source == "Proxy"):
            return False
        return self.origin is None or self.origin == origin_of(origin)

    def patterns(self) -> list[dict[str, str]]:
        """Return Chrome's interception patterns: it asks for credentials only for requests that may be paused."""
        # A request to any URL can be redirected to the origin, or use the proxy.
        return [{"urlPattern": "*", "requestStage": "Request"}]

    def note_refusal(self, origin: str) -> None:
        """Note that a server or proxy refused them."""
        self._refused.log(origin)
