"""Collection of a page's requests (RequestCollector). Runs in the reader.

Rule: every request, response and end is delivered once, in the order of the redirects. A request that its session
leaves under way fails.
"""

from __future__ import annotations

from collections import deque

from cdpengine._activity.body_store import BodyStore
from cdpengine._activity.exchange import Exchange, Exchanges
from cdpengine._activity.har import Visit
from cdpengine._activity.kept import Kept
from cdpengine._activity.request import Request, Response, request_of
from cdpengine._activity.request_state import Following, RequestState
from cdpengine._activity.streams import RequestEnded, Subscribers
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains import network
from cdpengine._protocol.domains.page import PageFired
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event

_FOLLOWED = 10_000
"""Maximum number of requests followed at a time. Beyond it the oldest are dropped."""

_VISITS = 100
_LONGEST_URL = 2**16

_RESPONSE = (network.ResponseReceived, network.WebSocketHandshakeResponseReceived)

_OF_ITS_SESSION = (
    *_RESPONSE,
    network.LoadingFinished,
    network.LoadingFailed,
    network.WebSocketFrameError,
    network.WebSocketClosed,
)
"""Events that arrive on the request's own session. Headers (ExtraInfo) of a worker may arrive on its page's."""


class RequestCollector:
    """Keeps the requests of one page, and delivers them to `subscribers`. `visits` lists the latest documents."""

    def __init__(self, page: PageTarget, subscribers: Subscribers) -> None:
        self.kept: Kept[RequestState] = Kept("requests")
        self.body_store: BodyStore | None = None
        self.visits: deque[Visit] = deque(maxlen=_VISITS)
        self._page = page
        self._subscribers = subscribers
        self._exchanges = Exchanges(_FOLLOWED)
        self._following = Following(active=False)
        self._loader_id = ""
        page.session.on_event("Page.domContentEventFired", self._note_content_loaded)
        page.session.on_event("Page.loadEventFired", self._note_load)

    def begin(self) -> None:
        """Follow requests from now on. Earlier ones are no longer followed."""
        self._exchanges = Exchanges(_FOLLOWED)
        self._following = Following()

    def end(self) -> None:
        """Stop following requests. Tasks that wait for one get an error."""
        self._following.active = False
        for exchange in self._exchanges.under_way():
            exchange.state.notify()

    def response(self, request_id: str) -> Response | None:
        """Return the response of a followed request, or None."""
        exchange = self._exchanges.known(None, request_id) if self._following.active else None
        return None if exchange is None else request_of(exchange.state).response

    def request(self, request_id: str) -> Request | None:
        """Return a followed request, or None."""
        exchange = self._exchanges.known(None, request_id)
        return None if exchange is None else request_of(exchange.state)

    def clear(self, keep_loader: str | None = None) -> None:
        """Drop the kept requests, except those of the document `keep_loader`."""
        self.kept.clear(
            lambda state: keep_loader is not None and state.exchange.sent.loader_id == keep_loader
        )

    def since_mark(self) -> list[RequestState]:
        """Return the kept requests since the latest `mark`, and that of the document itself."""
        records = self.kept.records
        later = set(records.since_mark)
        return [
            state
            for state in records
            if state in later or (self._loader_id and state.exchange.sent.loader_id == self._loader_id)
        ]

    def mark(self, loader_id: str) -> None:
        """Mark the present requests as those of earlier documents. `loader_id` is the new document's."""
        self.kept.mark()
        self._loader_id = loader_id

    def fail(self, session: Session, reason: str) -> None:
        """Fail the requests of a session that are under way."""
        for exchange in self._exchanges.under_way():
            if exchange.state.session is session:
                self._exchanges.fail(exchange, reason)
                self._deliver(exchange)

    def take(self, session: Session, event: Event) -> None:
        """Take an event of the Network domain."""
        decoded = event.decode(network.REQUEST_EVENTS[event.method])
        exchange = self._exchanges.take(None, decoded)
        if exchange is None:
            return
        if isinstance(decoded, network.RequestWillBeSent | network.WebSocketCreated):
            self._begin_request(session, exchange, event)
            return
        state: RequestState = exchange.state
        if isinstance(decoded, network.DataReceived):
            state.feed(decoded.data)
        else:
            if isinstance(decoded, _OF_ITS_SESSION):
                state.session = session
            if self.body_store is not None and isinstance(decoded, _RESPONSE):
                self.body_store.begins(state)
            self._deliver(exchange)
        state.notify()

    def _begin_request(self, session: Session, exchange: Exchange, event: Event) -> None:
        sent = exchange.sent
        if len(sent.request.url) > _LONGEST_URL:
            sent.request.url = sent.request.url[:_LONGEST_URL] + "…"
        state = exchange.state = RequestState(exchange, session, self._following)
        if exchange.before is not None:
            self._deliver(exchange)
            exchange.before.state.notify()
        in_main_frame = sent.frame_id == self._page.session.frame_id
        if in_main_frame and exchange.is_navigation and exchange.before is None:
            number = int(self.visits[-1].id.rpartition("_")[2]) + 1 if self.visits else 1
            self.visits.append(Visit(f"page_{number}", exchange.url, sent.timestamp, sent.wall_time))
        exchange.page = self.visits[-1].id if self.visits else ""
        self.kept.add(state, event)
        self._subscribers.deliver("requests", request_of(state))

    def _deliver(self, exchange: Exchange) -> None:
        """Deliver the responses with complete headers, and the ends, of a chain of redirects.

        Network headers may arrive late, so a response waits for them until its chain ends.
        """
        over = exchange.ended
        hops: list[Exchange] = []
        each: Exchange | None = exchange
        while each is not None and not each.state.end_delivered:
            hops.append(each)
            each = each.before
        for hop in reversed(hops):
            state: RequestState = hop.state
            response = request_of(state).response
            if response is not None and not state.response_delivered:
                if hop.awaits_headers and not over:
                    break
                state.response_delivered = True
                self._subscribers.deliver("responses", response)
            if hop.ended:
                self._end_request(state)

    def _end_request(self, state: RequestState) -> None:
        state.end_delivered = True
        if self.body_store is not None:
            self.body_store.ended(state)
        else:
            state.incoming = None
        self._subscribers.deliver("finished", RequestEnded(request_of(state)))
        state.notify()

    def _note_content_loaded(self, event: Event) -> None:
        if self.visits and self.visits[-1].content_loaded is None:
            self.visits[-1].content_loaded = event.decode(PageFired).timestamp

    def _note_load(self, event: Event) -> None:
        if self.visits and self.visits[-1].loaded is None:
            self.visits[-1].loaded = event.decode(PageFired).timestamp
