"""Collection of a page's websockets, event sources and WebTransport sessions (WebSocketCollector).

Runs in the reader. Rule: the kept messages of all websockets of a page share one limit on their number and size.
If it is exceeded, the oldest message of the page is dropped, and counted on its websocket. Messages are kept while
the activity keeps them, or a stream yields websockets.
"""

from __future__ import annotations

import base64
import time
from collections import deque
from collections.abc import Callable

import attrs

from cdpengine._activity.kept import Kept
from cdpengine._activity.request import Request
from cdpengine._activity.streams import Subscribers
from cdpengine._activity.websocket import EventSourceMessage, WebSocket, WebSocketMessage, WebTransport
from cdpengine._history import LARGEST
from cdpengine._protocol.domains import network
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event

_FOLLOWED = 1_000
"""Maximum number of websockets, and of WebTransport sessions, followed at a time."""

_WATCHED = 1_000
"""Minimum number of kept messages while a stream yields websockets."""


@attrs.define(eq=False)
class _MessageLimit:
    """The kept messages of all websockets of a page, oldest first, with their sizes in bytes."""

    bound: int = 0
    _order: deque[tuple[WebSocket, int]] = attrs.field(factory=deque, init=False)
    _size: int = attrs.field(default=0, init=False)

    def keep(self, socket: WebSocket, message: WebSocketMessage, size: int, least: int) -> None:
        """Keep a message, and drop the oldest ones above the limit, which is at least `least` messages."""
        socket.records.add(message)
        self._order.append((socket, size))
        self._size += size
        most = max(self.bound, least)
        while len(self._order) > most or (self._size > LARGEST and len(self._order) > 1):
            oldest, dropped = self._order.popleft()
            self._size -= dropped
            oldest.records.drop_oldest()

    def clear(self) -> None:
        """Drop all kept messages."""
        for socket, _size in self._order:
            socket.records.clear()
        self.leave()

    def leave(self) -> None:
        """Stop counting the kept messages. Their websockets still have them."""
        self._order.clear()
        self._size = 0


class WebSocketCollector:
    """Keeps the websockets of one page, and delivers them to `subscribers`.

    `find_request` returns the followed request with an id.
    """

    def __init__(self, subscribers: Subscribers, find_request: Callable[[str], Request | None]) -> None:
        self.sockets: Kept[WebSocket] = Kept("websockets")
        self.transports: Kept[WebTransport] = Kept("webtransports")
        self.events: Kept[EventSourceMessage] = Kept("event_messages")
        self._messages = _MessageLimit()
        self._subscribers = subscribers
        self._find_request = find_request
        self._open: dict[str, WebSocket] = {}
        self._open_transports: dict[str, WebTransport] = {}
        self._offset: float | None = None

    def keep(self, sockets: int, messages: int) -> None:
        """Keep the latest `sockets` websockets, and the latest `messages` messages of all of them."""
        self.sockets.keep(sockets)
        self.transports.keep(sockets)
        self.events.keep(messages if sockets else 0)
        self._messages.bound = messages if sockets else 0

    def clear(self) -> None:
        """Drop the kept items. Open websockets are still followed."""
        self._messages.clear()
        for kept in (self.sockets, self.transports, self.events):
            kept.clear()

    def end(self) -> None:
        """Stop following websockets. They count as closed, because nothing reports their end."""
        self._end(lambda _session: True)
        self._open_transports.clear()
        if not self._messages.bound:
            self._messages.leave()

    def end_session(self, session: Session) -> None:
        """Note the end of the websockets of a session."""
        self._end(lambda each: each is session)

    def _end(self, wanted: Callable[[Session], bool]) -> None:
        for request_id, socket in list(self._open.items()):
            if wanted(socket.session):
                del self._open[request_id]
                socket.end(time.time())

    def take(self, session: Session, event: Event) -> None:
        """Take an event of a websocket or of an event source."""
        decoded = event.decode(network.WEBSOCKET_EVENTS[event.method])
        if isinstance(decoded, network.WebSocketCreated):
            self._begin(session, decoded, event)
        elif isinstance(decoded, network.EventSourceMessageReceived):
            self._take_event(decoded, event)
        elif (socket := self._open.get(decoded.request_id)) is not None:
            self._apply(socket, decoded, event)

    def take_transport(self, session: Session, event: Event) -> None:
        """Take an event of a WebTransport session."""
        decoded = event.decode(network.WEBTRANSPORT_EVENTS[event.method])
        at = self._time(decoded.timestamp)
        if isinstance(decoded, network.WebTransportCreated):
            made = WebTransport(decoded.transport_id, decoded.url, at, session.target_id or "")
            self._open_transports[made.id] = made
            if len(self._open_transports) > _FOLLOWED:
                del self._open_transports[next(iter(self._open_transports))]
            self.transports.add(made, event)
            self._subscribers.deliver("webtransports", made)
        elif (transport := self._open_transports.get(decoded.transport_id)) is not None:
            if isinstance(decoded, network.WebTransportClosed):
                transport.status, transport.closed_at = "closed", at
                del self._open_transports[transport.id]
            else:
                transport.status, transport.opened_at = "open", at

    def _begin(self, session: Session, created: network.WebSocketCreated, event: Event) -> None:
        request = self._find_request(created.request_id)
        socket = self._open[created.request_id] = WebSocket(created.request_id, created.url, session, request)
        if len(self._open) > _FOLLOWED:
            self._open.pop(next(iter(self._open))).end(time.time())
        self.sockets.add(socket, event)
        self._subscribers.deliver("websockets", socket)

    def _apply(self, socket: WebSocket, decoded: network.RequestEvent, event: Event) -> None:
        match decoded:
            case network.WebSocketWillSendHandshakeRequest():
                self._offset = decoded.wall_time - decoded.timestamp
            case network.WebSocketHandshakeResponseReceived():
                socket.status, socket.opened_at = "open", self._time(decoded.timestamp)
            case network.WebSocketFrameSent():
                self._take_message(socket, decoded, event)
            case network.WebSocketFrameError():
                socket.failure = socket.failure or decoded.error_message or "failed"
            case network.WebSocketClosed():
                del self._open[socket.id]
                socket.end(self._time(decoded.timestamp))
            case _:
                pass

    def _take_message(self, socket: WebSocket, frame: network.WebSocketFrameSent, event: Event) -> None:
        received = isinstance(frame, network.WebSocketFrameReceived)
        opcode, payload = int(frame.response.opcode), frame.response.payload_data
        message = WebSocketMessage(
            direction="received" if received else "sent",
            data=payload if opcode == 1 else base64.b64decode(payload),
            opcode=opcode,
            time=self._time(frame.timestamp),
            websocket_id=socket.id,
        )
        watched = _WATCHED if self._subscribers.includes("websockets") else 0
        if self._messages.bound or watched:
            self._messages.keep(socket, message, len(bytes(event.raw)), watched)
        socket.deliver(message)
        self._subscribers.deliver("messages", message)

    def _take_event(self, received: network.EventSourceMessageReceived, event: Event) -> None:
        request = self._find_request(received.request_id)
        message = EventSourceMessage(
            url="" if request is None else request.url,
            name=received.event_name or "message",
            id=received.event_id,
            data=received.data,
            time=self._time(received.timestamp),
            request_id=received.request_id,
        )
        self.events.add(message, event)
        self._subscribers.deliver("event_messages", message)

    def _time(self, timestamp: float) -> float:
        """Return Chrome's monotonic time as seconds since 1970."""
        if self._offset is None:
            self._offset = time.time() - timestamp
        return timestamp + self._offset
