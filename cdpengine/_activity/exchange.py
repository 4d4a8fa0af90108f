"""Requests and their responses, assembled from Chrome's events. Pure.

Rule: an event for an unknown request is ignored. A redirect ends one exchange and begins the next. Network headers
(ExtraInfo) come from another process and in any order with the other events: before their request, or after the
next one began. They keep the order of the requests, and each request eventually reports whether it has any. So the
n-th headers belong to the n-th request with headers. If a maximum number is set, the exchanges that ended first
are removed first, so memory is bounded.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable
from typing import Any

import attrs

from cdpengine._headers import HeaderMapping
from cdpengine._page.dialog_release import RELEASE_URL
from cdpengine._protocol.domains import network
from cdpengine._protocol.posted_data import PostedData, posted_data

_MAX_ENDED = 200
"""Number of ended exchanges that stay known, because their headers may arrive later."""

_MOST_EARLY = 1_000
"""Maximum number of requests with headers that arrived before them. Beyond it the oldest are dropped."""

_WITHOUT_BODY = ("", "GET", "HEAD", "OPTIONS")

_STREAM = "Chrome does not report a stream that a page posts, and the request may be one"

_ExtraInfo = network.RequestWillBeSentExtraInfo | network.ResponseReceivedExtraInfo


@attrs.define(eq=False, repr=False)
class Exchange:
    """One request and its response. Times are Chrome's monotonic seconds.

    `encoded` counts the bytes received from the network, including headers; `decoded` those of the body. `before`
    is the exchange that redirected to this one. `has_extra_info` is None until Chrome reports whether this
    exchange has network headers. `state` is its RequestState, if a
    collector follows it.
    """

    sent: network.RequestWillBeSent
    before: Exchange | None = None
    after: Exchange | None = None
    response: network.Response | None = None
    request_headers: dict[str, str] | None = None
    response_headers: dict[str, str] | None = None
    response_status: int | None = None
    has_extra_info: bool | None = None
    finished: float | None = None
    encoded: float | None = None
    decoded: int = 0
    failure: str = ""
    from_cache: bool = False
    body: str | None = None
    body_encoding: str = ""
    body_comment: str = ""
    page: str = ""
    state: Any = None

    @property
    def id(self) -> str:
        """Chrome's id, which all exchanges of a redirect chain share."""
        return self.sent.request_id

    @property
    def url(self) -> str:
        """The URL including the fragment."""
        return self.sent.request.url + self.sent.request.url_fragment

    @property
    def sent_headers(self) -> HeaderMapping:
        """The headers sent over the network, or until Chrome reports them, those that it intends to send."""
        return HeaderMapping(
            self.sent.request.headers if self.request_headers is None else self.request_headers
        )

    @property
    def received_headers(self) -> HeaderMapping:
        """The headers received over the network, or until Chrome reports them, those that the page has."""
        if self.response_headers is None:
            return HeaderMapping() if self.response is None else HeaderMapping(self.response.headers)
        return HeaderMapping(self.response_headers)

    @property
    def is_navigation(self) -> bool:
        """Whether the request loads the document of a frame."""
        return self.sent.type == "Document" and self.sent.request_id == self.sent.loader_id

    @property
    def ended(self) -> bool:
        """Whether the exchange is complete: finished, redirected, or failed."""
        return self.finished is not None or bool(self.failure)

    @property
    def posted(self) -> PostedData:
        """The body of the request."""
        posted = posted_data(self.sent.request)
        if posted.content is None and not posted.missing and self._may_be_stream:
            return PostedData(missing=_STREAM)
        return posted

    @property
    def posted_size(self) -> int:
        """Size of the request's body in bytes, -1 if unknown."""
        posted = self.posted
        if not posted.missing:
            return len(posted.content or b"")
        length = HeaderMapping(self.request_headers or {}).get("content-length", "")
        return int(length) if length.isdecimal() else -1

    @property
    def _may_be_stream(self) -> bool:
        """Whether the request may have had a body that Chrome does not report, because it is a stream.

        Chrome sends no Content-Length with a stream, and requires HTTP/2 for it.
        """
        if self.sent.request.method in _WITHOUT_BODY:
            return False
        if HeaderMapping(self.request_headers or {}).get("content-length"):
            return False
        return self.response is None or not self.response.protocol.startswith("http/1")

    @property
    def awaits_headers(self) -> bool:
        """Whether the response's network headers are announced and have not arrived."""
        return self.has_extra_info is True and self.response_headers is None


@attrs.define(eq=False)
class _Chain:
    """The requests with one id, each redirected to the next, and the headers received for that id."""

    hops: list[Exchange] = attrs.Factory(list)
    sent: list[network.RequestWillBeSentExtraInfo] = attrs.Factory(list)
    answered: list[network.ResponseReceivedExtraInfo] = attrs.Factory(list)

    def assign(self) -> None:
        """Assign the received headers, in order, to the requests that may have some."""
        with_extra = [hop for hop in self.hops if hop.has_extra_info is not False]
        for hop in self.hops:
            hop.request_headers = hop.response_headers = hop.response_status = None
        for hop, extra in zip(with_extra, self.sent, strict=False):
            hop.request_headers = extra.headers
        for hop, answer in zip(with_extra, self.answered, strict=False):
            hop.response_headers, hop.response_status = answer.headers, answer.status_code

    def unassigned(self) -> _Chain:
        """Return a chain with the headers that belong to no request of this chain."""
        taken = sum(hop.has_extra_info is not False for hop in self.hops)
        return _Chain(sent=self.sent[taken:], answered=self.answered[taken:])


class Exchanges:
    """The exchanges of a page. `limit` is the maximum number of requests to remember (None: all)."""

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._known: dict[Hashable, _Chain] = {}
        self._over: deque[tuple[Hashable, Exchange]] = deque()
        self._early: dict[Hashable, _Chain] = {}

    def known(self, scope: Hashable, request_id: str) -> Exchange | None:
        """Return the latest exchange with that id, or None."""
        chain = self._known.get((scope, request_id))
        return None if chain is None else chain.hops[-1]

    def under_way(self) -> list[Exchange]:
        """Return the exchanges that have not ended."""
        return [chain.hops[-1] for chain in self._known.values() if not chain.hops[-1].ended]

    def take(self, scope: Hashable, event: network.RequestEvent) -> Exchange | None:
        """Process an event. Return its exchange, or None for an unknown exchange.

        For ExtraInfo, return the latest exchange with the id; the headers may belong to an earlier one. Request
        ids are unique within `scope`.
        """
        key = (scope, event.request_id)
        if isinstance(event, network.RequestWillBeSent):
            # The engine's navigation does not belong to the page.
            return None if event.request.url == RELEASE_URL else self._sent(key, event)
        if isinstance(event, network.WebSocketCreated):
            request = network.Request(url=event.url, method="GET")
            sent = network.RequestWillBeSent(
                request_id=event.request_id, type="WebSocket", request=request, initiator=event.initiator
            )
            return self._sent(key, sent)
        if isinstance(event, _ExtraInfo):
            return self._add_headers(key, event)
        chain = self._known.get(key)
        if chain is None:
            return None
        exchange = chain.hops[-1]
        _apply(exchange, event)
        if isinstance(event, network.ResponseReceived):
            chain.assign()
        if exchange.ended and self._limit is not None:
            self._end(key, exchange)
        return exchange

    def fail(self, exchange: Exchange, reason: str) -> None:
        """Mark an exchange as failed."""
        if not exchange.ended:
            exchange.failure = reason

    def _sent(self, key: Hashable, event: network.RequestWillBeSent) -> Exchange:
        chain = self._known.pop(key, None) or self._early.pop(key, None) or _Chain()
        before = chain.hops[-1] if chain.hops else None
        if before is not None and event.redirect_response is not None:
            before.response, before.finished = event.redirect_response, event.timestamp
            before.encoded = event.redirect_response.encoded_data_length
            before.has_extra_info = event.redirect_has_extra_info
        elif before is not None:
            chain, before = chain.unassigned(), None
        exchange = Exchange(event, before)
        if before is not None:
            before.after = exchange
        chain.hops.append(exchange)
        chain.assign()
        self._known[key] = chain
        if self._limit is not None and len(self._known) > self._limit:
            del self._known[next(iter(self._known))]
        return exchange

    def _add_headers(self, key: Hashable, extra: _ExtraInfo) -> Exchange | None:
        chain = self._known.get(key)
        if chain is None:
            chain = self._early.setdefault(key, _Chain())
            if self._limit is not None and len(self._early) > _MOST_EARLY:
                del self._early[next(iter(self._early))]
        if isinstance(extra, network.ResponseReceivedExtraInfo):
            chain.answered.append(extra)
        else:
            chain.sent.append(extra)
        chain.assign()
        return chain.hops[-1] if chain.hops else None

    def _end(self, key: Hashable, exchange: Exchange) -> None:
        self._over.append((key, exchange))
        if len(self._over) > _MAX_ENDED:
            key, oldest = self._over.popleft()
            chain = self._known.get(key)
            if chain is not None and chain.hops[-1] is oldest:
                del self._known[key]


def _apply(exchange: Exchange, event: network.RequestEvent) -> None:
    match event:
        case network.ResponseReceived():
            exchange.response, exchange.has_extra_info = event.response, event.has_extra_info
        case network.DataReceived():
            exchange.decoded += event.data_length
        case network.LoadingFinished():
            exchange.finished, exchange.encoded = event.timestamp, event.encoded_data_length
        case network.LoadingFailed():
            exchange.finished = event.timestamp
            exchange.failure = event.error_text or ("canceled" if event.canceled else "failed")
            if event.blocked_reason:
                exchange.failure += f" (blocked: {event.blocked_reason})"
        case network.RequestServedFromCache():
            exchange.from_cache = True
        case network.WebSocketWillSendHandshakeRequest():
            sent = exchange.sent
            sent.timestamp, sent.wall_time = event.timestamp, event.wall_time
            sent.request.headers = event.request.headers
        case network.WebSocketHandshakeResponseReceived():
            answer = event.response
            exchange.response = network.Response(
                url=exchange.sent.request.url,
                status=answer.status,
                status_text=answer.status_text,
                headers=answer.headers,
                protocol="websocket",
            )
        case network.WebSocketFrameError():
            exchange.failure = exchange.failure or event.error_message or "failed"
            exchange.finished = exchange.finished or event.timestamp
        case network.WebSocketClosed():
            exchange.finished = event.timestamp
        case _:
            pass
