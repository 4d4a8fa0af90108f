"""Streams of a page's activity (Subscribers), and the conditions for an awaited response (AwaitedResponse).

Rule: the reader delivers each item as it arrives, without waiting. Each stream has a separate bound, and its
consumer gets an error for missing items.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal, TypeAlias

import attrs

from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.options import Part
from cdpengine._activity.request import Request, Response
from cdpengine._activity.websocket import EventSourceMessage, WebSocket, WebSocketMessage, WebTransport
from cdpengine._checks import invalid
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Stream, StreamFeed
from cdpengine._urls.patterns import UrlPattern, url_test, url_words
from cdpengine.errors import TargetCrashedError, shown_url

Kind = Literal[
    "console",
    "errors",
    "requests",
    "responses",
    "finished",
    "websockets",
    "messages",
    "event_messages",
    "webtransports",
]


@attrs.frozen
class RequestEnded:
    """An item of the kind "finished": the request has ended. `failure` is "" or the reason of its failure."""

    request: Request


ActivityItem: TypeAlias = (
    ConsoleMessage
    | PageError
    | Request
    | Response
    | RequestEnded
    | WebSocket
    | WebSocketMessage
    | EventSourceMessage
    | WebTransport
)

ActivityStream = Stream[ActivityItem]
"""A stream of `PageActivity.stream`: iterate over it, or call `receive()`."""

ActivityFeed = StreamFeed[ActivityItem]
"""The reader's end of an ActivityStream."""

PART_OF: dict[Kind, Part] = {
    "console": "console",
    "errors": "errors",
    "requests": "requests",
    "responses": "requests",
    "finished": "requests",
    "websockets": "requests",
    "messages": "requests",
    "event_messages": "requests",
    "webtransports": "requests",
}


class Subscribers:
    """The reader's ends of one page's streams. They end with its session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._open: set[StreamFeed[Any]] = set()
        self._streams: dict[Kind, tuple[StreamFeed[Any], ...]] = {}
        self._ignored: dict[StreamFeed[Any], Collection[Session]] = {}

    def add(
        self, stream: StreamFeed[Any], kinds: Sequence[Kind], *, only_new_of: Collection[Session] = ()
    ) -> None:
        """Deliver items of these kinds to another stream.

        Messages that Chrome kept from before are left out for the sessions `only_new_of`.
        """
        self._open.add(stream)
        self._ignored[stream] = only_new_of
        for kind in kinds:
            self._streams[kind] = (*self._streams.get(kind, ()), stream)
        self._session.connection.wire.consumers.add(stream)
        if self._session.ended:
            self._end(stream)

    def remove(self, stream: StreamFeed[Any]) -> None:
        """Stop delivering to a stream."""
        self._open.discard(stream)
        self._ignored.pop(stream, None)
        self._session.connection.wire.consumers.remove(stream)
        for kind, streams in self._streams.items():
            self._streams[kind] = tuple(each for each in streams if each is not stream)

    def includes(self, kind: Kind) -> bool:
        """Return whether a stream yields items of this kind."""
        return bool(self._streams.get(kind))

    def deliver(self, kind: Kind, item: ActivityItem, *, kept_by: Session | None = None) -> None:
        """Deliver an item. Called by the reader. `kept_by`: the session repeats it from before."""
        for stream in self._streams.get(kind, ()):
            if kept_by is None or kept_by not in self._ignored[stream]:
                stream.deliver(item)

    def crash(self) -> None:
        """Report the page's crash to every stream."""
        error = self._session.error()
        if isinstance(error, TargetCrashedError):
            for stream in tuple(self._open):
                stream.crash(error)

    def end(self) -> None:
        """End every stream."""
        for stream in tuple(self._open):
            self._end(stream)

    def _end(self, stream: StreamFeed[Any]) -> None:
        def reason() -> Exception:
            error = self._session.error()
            assert error is not None
            return error

        stream.end(reason)


_NAMED = 5
"""Maximum number of other responses named by an error."""


class AwaitedResponse:
    """The conditions for an awaited response, and the responses so far that did not match.

    `url` is a pattern for its URL, `where` a predicate; None matches all. Raises InvalidArgumentError.
    """

    def __init__(self, url: UrlPattern | None, where: Callable[[Response], bool] | None) -> None:
        if where is not None and not callable(where):
            raise invalid("where", where, "a function of the Response")
        self._matches_url = None if url is None else url_test(url)
        self._where = where
        self._others = 0
        self._latest: deque[str] = deque(maxlen=_NAMED)
        self.words = "wait for a response" if url is None else f"wait for a response from {url_words(url)}"

    @property
    def observation(self) -> str:
        """The responses that did not match, for messages."""
        if not self._others:
            return "no response came"
        return f"{self._others} others came, at last {', '.join(self._latest)}"

    async def next_in(self, stream: ActivityStream) -> Response:
        """Return the first matching response of a stream ("responses", "finished")."""
        async for item in stream:
            if isinstance(item, Response):
                if self._matches(item):
                    return item
                self._note(f"{item.status} {shown_url(item.url)}")
            elif isinstance(item, RequestEnded) and item.request.response is None:
                self._note(f"{shown_url(item.request.url)} failed ({item.request.failure})")
        raise AssertionError("a stream ends with an error")

    def _matches(self, response: Response) -> bool:
        if self._matches_url is not None and not self._matches_url(response.url):
            return False
        return self._where is None or bool(self._where(response))

    def _note(self, words: str) -> None:
        self._others += 1
        self._latest.append(words)
