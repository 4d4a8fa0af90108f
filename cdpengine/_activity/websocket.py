"""Websockets of a page with their messages, messages of event sources, and WebTransport sessions.

Rule: the objects contain the facts that Chrome has reported so far, and change until the end. Chrome reports whole
messages, also of fragmented ones, and neither pings nor the code of a close. Times are in seconds since 1970.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Literal, TypeAlias

import attrs
import trio

from cdpengine._activity.request import Request
from cdpengine._checks import check_count
from cdpengine._history import BoundedHistory, Records
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Stream, StreamFeed, caller
from cdpengine.errors import shown_url

SocketStatus: TypeAlias = Literal["connecting", "open", "closed"]


@attrs.frozen
class WebSocketMessage:
    """A message of a websocket: `data` is a str for text (`opcode` 1), else bytes.

    `direction` is "sent" (by the page) or "received". `websocket_id` is the `id` of the websocket.
    """

    direction: Literal["sent", "received"]
    data: str | bytes
    opcode: int
    time: float
    websocket_id: str


@attrs.frozen
class EventSourceMessage:
    """A message of an EventSource: the `data` of an event with that `name` and `id`.

    `request_id` is the `id` of its request, `url` the request's URL.
    """

    url: str
    name: str
    id: str
    data: str
    time: float
    request_id: str


@not_picklable("a list of its messages")
class MessageStream(Stream[WebSocketMessage]):
    """The messages of one websocket as they happen. The iteration ends when the websocket is closed.

    `buffer` is the maximum number of waiting messages.
    """

    async def __anext__(self) -> WebSocketMessage:
        try:
            return await self.receive()
        except trio.EndOfChannel:
            raise StopAsyncIteration from None


@not_picklable("a list of its messages")
class WebSocket:
    """A websocket of a page, a frame or a worker. `messages` are the latest messages, oldest first.

    They are kept while the activity keeps messages, or a stream yields websockets.
    `target_id` is Chrome's id of its page, frame or worker. `request` is the request of the handshake to `url`.
    `status` is "connecting", "open" or "closed", with the times `opened_at` and `closed_at`. `failure` is Chrome's
    reason if the websocket failed, or "".
    """

    def __init__(self, request_id: str, url: str, session: Session, request: Request | None) -> None:
        self.id = request_id
        self.url = url
        self.request = request
        self.target_id = session.target_id or ""
        self.status: SocketStatus = "connecting"
        self.opened_at: float | None = None
        self.closed_at: float | None = None
        self.failure = ""
        self._session = session
        self._records: Records[WebSocketMessage] = Records(_UNLIMITED)
        self._feeds: tuple[StreamFeed[WebSocketMessage], ...] = ()

    def __repr__(self) -> str:
        return f"<WebSocket {shown_url(self.url)[:80]} {self.status}, {len(self._records)} messages>"

    @property
    def messages(self) -> BoundedHistory[WebSocketMessage]:
        """The kept messages, oldest first. `messages.dropped` counts those that were removed."""
        return BoundedHistory(self._records)

    @property
    def protocol(self) -> str:
        """The subprotocol that the server chose, or ""."""
        response = None if self.request is None else self.request.response
        return "" if response is None else response.header("sec-websocket-protocol") or ""

    @property
    def closed(self) -> bool:
        """Whether the websocket is closed, or could not be opened: then `failure` has the reason."""
        return self.status == "closed"

    @asynccontextmanager
    async def stream(self, *, buffer: int = 1000) -> AsyncIterator[MessageStream]:
        """Receive the messages of the websocket as they happen, from the start of the block.

        The iteration ends when the websocket is closed, and `receive()` raises trio.EndOfChannel then. At most
        `buffer` messages wait. If more arrive, the stream raises EventsLostError at the place of the missing
        messages, and continues. Raises InvalidArgumentError.
        """
        check_count("buffer", buffer, least=1, unit="messages")
        feed: StreamFeed[WebSocketMessage] = StreamFeed((f"messages of {self.url[:100]}",), buffer, caller())
        consumers = self._session.connection.wire.consumers
        consumers.add(feed)
        self._feeds = (*self._feeds, feed)
        if self.closed:
            feed.end(trio.EndOfChannel)
        try:
            yield MessageStream(feed)
        finally:
            self._feeds = tuple(each for each in self._feeds if each is not feed)
            consumers.remove(feed)
            feed.end(_stream_left_error)

    # --- for the engine ---------------------------------------------------------------------------------------

    @property
    def records(self) -> Records[WebSocketMessage]:
        """The kept messages, for the engine."""
        return self._records

    @property
    def session(self) -> Session:
        """The session that reports the websocket."""
        return self._session

    def deliver(self, message: WebSocketMessage) -> None:
        """Pass a message to the streams. Called by the reader."""
        for feed in self._feeds:
            feed.deliver(message)

    def end(self, time: float) -> None:
        """Note the end of the websocket."""
        if self.status != "closed":
            self.status, self.closed_at = "closed", time
            for feed in self._feeds:
                feed.end(trio.EndOfChannel)


_UNLIMITED = 2**31
"""The websockets of a page share one limit."""


@attrs.define(eq=False)
class WebTransport:
    """A WebTransport session of a page. Chrome reports none of its data."""

    id: str
    url: str
    created_at: float
    target_id: str = ""
    status: SocketStatus = "connecting"
    opened_at: float | None = None
    closed_at: float | None = None


def _stream_left_error() -> trio.ClosedResourceError:
    return trio.ClosedResourceError("the stream was left")
