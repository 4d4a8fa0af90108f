"""Exchanges: requests and their answers, put together from Chrome's events. Pure.

Rule: an event that belongs to no known request is passed over; headers as they went over the network may come
before the request that they are of. A redirect ends one exchange and begins the next. With a bound, what has
ended is forgotten in the order in which it ended, so that memory does not grow with the page's life.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any

import attrs

from cdpengine.activity import network_events as told

_ENDED_KEPT = 200
"""Exchanges that are known for a while after their end: their headers may be told after it."""

_MOST_EARLY = 1_000
"""Requests for which headers are held that came before them."""


@attrs.define(eq=False, repr=False)
class Exchange:
    """One request and what came of it. Times are Chrome's monotonic seconds.

    `encoded` counts the bytes that came over the network, headers included, `decoded` those of the body.
    `before` is the exchange that was redirected to this one. `owner` is the business of whoever collects.
    """

    sent: told.RequestWillBeSent
    before: Exchange | None = None
    after: Exchange | None = None
    response: told.Response | None = None
    request_headers: dict[str, str] | None = None
    response_headers: dict[str, str] | None = None
    response_status: int | None = None
    finished: float | None = None
    encoded: float | None = None
    decoded: int = 0
    failure: str = ""
    from_cache: bool = False
    body: str | None = None
    body_encoding: str = ""
    body_comment: str = ""
    page: str = ""
    owner: Any = None

    @property
    def ended(self) -> bool:
        """Whether nothing more will come: it is finished, redirected, or has failed."""
        return self.finished is not None or bool(self.failure)


class Exchanges:
    """The exchanges that are under way. `kept` bounds how many are remembered (None: all of them)."""

    def __init__(self, kept: int | None = None) -> None:
        self._kept = kept
        self._known: dict[Hashable, Exchange] = {}
        self._over: deque[tuple[Hashable, Exchange]] = deque()
        self._early: dict[Hashable, list[told.ExtraInfo]] = {}

    def known(self, scope: Hashable, request_id: str) -> Exchange | None:
        """Return the latest exchange of that id, None when there is none (any more)."""
        return self._known.get((scope, request_id))

    def under_way(self) -> list[Exchange]:
        """Return those that have not ended."""
        return [exchange for exchange in self._known.values() if not exchange.ended]

    def take(self, scope: Hashable, event: told.Told) -> Exchange | None:
        """Take one event, and return the exchange that it is about, None when that is not known.

        `scope` says within what request ids are unique.
        """
        key = (scope, event.request_id)
        if isinstance(event, told.RequestWillBeSent):
            return self._sent(key, event)
        if isinstance(event, told.SocketCreated):
            request = told.Request(url=event.url, method="GET")
            sent = told.RequestWillBeSent(
                request_id=event.request_id, type="WebSocket", request=request, initiator=event.initiator
            )
            return self._sent(key, sent)
        exchange = self._known.get(key)
        if isinstance(event, told.ExtraInfo):
            # It may come before its request, or, after a redirect, before the next one.
            if exchange is None or _has_headers(exchange, event):
                if self._kept is None or len(self._early) < _MOST_EARLY:
                    self._early.setdefault(key, []).append(event)
            else:
                _add_headers(exchange, event)
            return exchange
        if exchange is not None:
            _apply(exchange, event)
            if exchange.ended and self._kept is not None:
                self._end(key, exchange)
        return exchange

    def fail(self, exchange: Exchange, reason: str) -> None:
        """Note that nothing more will be told of an exchange."""
        if not exchange.ended:
            exchange.failure = reason

    def _sent(self, key: Hashable, event: told.RequestWillBeSent) -> Exchange:
        before = self._known.pop(key, None)
        redirected = before is not None and event.redirect_response is not None
        if before is not None and event.redirect_response is not None:
            before.response, before.finished = event.redirect_response, event.timestamp
            before.encoded = event.redirect_response.encoded_data_length
        exchange = self._known[key] = Exchange(event, before if redirected else None)
        if before is not None and redirected:
            before.after = exchange
        for extra in self._early.pop(key, []):
            _add_headers(exchange, extra)
        if self._kept is not None and len(self._known) > self._kept:
            del self._known[next(iter(self._known))]
        return exchange

    def _end(self, key: Hashable, exchange: Exchange) -> None:
        self._over.append((key, exchange))
        if len(self._over) > _ENDED_KEPT:
            key, oldest = self._over.popleft()
            if self._known.get(key) is oldest:
                del self._known[key]
            self._early.pop(key, None)


def _apply(exchange: Exchange, event: told.Told) -> None:
    match event:
        case told.ResponseReceived():
            exchange.response = event.response
        case told.DataReceived():
            exchange.decoded += event.data_length
        case told.Finished():
            exchange.finished, exchange.encoded = event.timestamp, event.encoded_data_length
        case told.Failed():
            exchange.finished = event.timestamp
            exchange.failure = event.error_text or ("canceled" if event.canceled else "failed")
            if event.blocked_reason:
                exchange.failure += f" (blocked: {event.blocked_reason})"
        case told.ServedFromCache():
            exchange.from_cache = True
        case told.SocketAsked():
            sent = exchange.sent
            sent.timestamp, sent.wall_time = event.timestamp, event.wall_time
            sent.request.headers = event.request.headers
        case told.SocketAnswered():
            answer = event.response
            exchange.response = told.Response(
                url=exchange.sent.request.url,
                status=answer.status,
                status_text=answer.status_text,
                headers=answer.headers,
                protocol="websocket",
            )
        case told.SocketFailed():
            exchange.failure = exchange.failure or event.error_message or "failed"
            exchange.finished = exchange.finished or event.timestamp
        case told.SocketClosed():
            exchange.finished = event.timestamp
        case _:
            pass


def _has_headers(exchange: Exchange, extra: told.ExtraInfo) -> bool:
    held = exchange.request_headers if extra.status_code is None else exchange.response_headers
    return held is not None


def _add_headers(exchange: Exchange, extra: told.ExtraInfo) -> None:
    if extra.status_code is None:
        exchange.request_headers = extra.headers
    else:
        exchange.response_headers, exchange.response_status = extra.headers, extra.status_code
