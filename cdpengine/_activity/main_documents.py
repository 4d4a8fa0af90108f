"""Responses of a frame's documents (MainDocuments).

Rule: the documents are followed during a navigation. Nothing is switched on for it, because a navigation observes
the network anyway. For other requests only the ids are decoded.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from cdpengine._activity.exchange import Exchanges
from cdpengine._activity.request import Response, request_of
from cdpengine._activity.request_state import Following, RequestState
from cdpengine._page.frames import Frame
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains import network
from cdpengine._protocol.streams import Event

_MAX_ENDED = 50
"""Maximum number of documents followed at a time."""

_EVENTS = [name for name in network.REQUEST_EVENTS if not name.startswith("Network.webSocket")]

_EXTRA = (network.RequestWillBeSentExtraInfo, network.ResponseReceivedExtraInfo)


class MainDocuments:
    """The documents of a page's main frame, or of another frame. A document's request id is its loader id."""

    def __init__(self, page: PageTarget, frame: Frame | None = None) -> None:
        self._session = page.session if frame is None else frame.session
        self._frame = frame
        self._exchanges = Exchanges(_MAX_ENDED)
        self._following = Following()

    def _frame_id(self) -> str:
        return self._session.frame_id if self._frame is None else self._frame.id

    def response(self, loader_id: str) -> Response | None:
        """Return the response of a document, or None if Chrome reported none."""
        exchange = self._exchanges.known(None, loader_id)
        return None if exchange is None else request_of(exchange.state).response

    @contextmanager
    def followed(self) -> Iterator[None]:
        """Follow the documents while the body runs."""
        try:
            with self._session.listening(dict.fromkeys(_EVENTS, self._take)):
                yield
        finally:
            self._following.active = False

    def _take(self, event: Event) -> None:
        kind = network.REQUEST_EVENTS[event.method]
        request_id = event.decode(network.RequestEvent).request_id
        if kind is network.RequestWillBeSent:
            sent = event.decode(network.RequestWillBeSent)
            if request_id != sent.loader_id or sent.frame_id != self._frame_id():
                return
        elif kind not in _EXTRA and self._exchanges.known(None, request_id) is None:
            return
        exchange = self._exchanges.take(None, event.decode(kind))
        if exchange is not None and exchange.state is None:
            exchange.state = RequestState(exchange, self._session, self._following)
