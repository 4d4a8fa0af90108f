"""MainDocuments: the responses that a page's documents came with, followed while a navigation is under way.

Rule: nothing is switched on for it: a navigation listens to the network anyway. Of other requests only their ids
are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cdpengine._activity.exchange import Exchanges
from cdpengine._activity.request import Following, Request
from cdpengine._activity.response import Response
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains import network
from cdpengine._protocol.streams import Event

_KEPT = 50
"""Documents that are followed at a time."""

_EVENTS = [name for name in network.REQUEST_EVENTS if not name.startswith("Network.webSocket")]

_EXTRA = (network.RequestWillBeSentExtraInfo, network.ResponseReceivedExtraInfo)


class MainDocuments:
    """The documents of the main frame of one page. A document's request id is its loader id."""

    def __init__(self, page: PageTarget) -> None:
        self._page = page
        self._exchanges = Exchanges(_KEPT)
        self._following = Following()

    def response(self, loader_id: str) -> Response | None:
        """Return what a document came with; None where Chrome reported no response."""
        exchange = self._exchanges.known(None, loader_id)
        return None if exchange is None else exchange.owner.response

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Follow them while the body runs."""
        session = self._page.session
        for method in _EVENTS:
            session.on_event(method, self._take)
        try:
            yield
        finally:
            self._following.active = False
            for method in _EVENTS:
                session.off_event(method, self._take)

    def _take(self, event: Event) -> None:
        kind = network.REQUEST_EVENTS[event.method]
        request_id = event.decode(network.RequestEvent).request_id
        if kind is network.RequestWillBeSent:
            sent = event.decode(network.RequestWillBeSent)
            if request_id != sent.loader_id or sent.frame_id != self._page.target_id:
                return
        elif kind not in _EXTRA and self._exchanges.known(None, request_id) is None:
            return
        exchange = self._exchanges.take(None, event.decode(kind))
        if exchange is not None and exchange.owner is None:
            exchange.owner = Request(exchange, self._page.session, self._following)
