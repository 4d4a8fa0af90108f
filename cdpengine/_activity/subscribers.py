"""Outlets: the streams in which one page's doing is delivered as it happens.

Rule: the reader delivers and never waits; each stream has its own bound, and tells its consumer what is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import attrs

from cdpengine._activity.console import ConsoleMessage
from cdpengine._activity.page_errors import PageError
from cdpengine._activity.request import Request
from cdpengine._activity.response import Response
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Stream
from cdpengine.errors import TargetCrashedError

Part = Literal["console", "errors", "requests"]
Kind = Literal["console", "errors", "requests", "responses", "finished"]


@attrs.frozen
class RequestEnded:
    """What a stream of "finished" gives: the request has ended; look at its `failure`."""

    request: Request


ActivityItem: TypeAlias = ConsoleMessage | PageError | Request | Response | RequestEnded

ActivityStream = Stream[ActivityItem]
"""What `PageActivity.stream` gives: iterate over it, or call `receive()`."""

PART_OF: dict[Kind, Part] = {
    "console": "console",
    "errors": "errors",
    "requests": "requests",
    "responses": "requests",
    "finished": "requests",
}


class Outlets:
    """The streams of one page. They end with its session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._streams: dict[Kind, tuple[ActivityStream, ...]] = {}

    def add(self, stream: ActivityStream, kinds: Sequence[Kind]) -> None:
        """Deliver what is of these kinds to one more stream."""
        for kind in kinds:
            self._streams[kind] = (*self._streams.get(kind, ()), stream)
        self._session.connection.consumers.add(stream)
        if self._session.ended:
            self._end(stream)

    def remove(self, stream: ActivityStream) -> None:
        """Deliver no more to a stream."""
        self._session.connection.consumers.remove(stream)
        for kind, streams in self._streams.items():
            self._streams[kind] = tuple(each for each in streams if each is not stream)

    def deliver(self, kind: Kind, item: ActivityItem) -> None:
        """Pass one item on (called by the reader)."""
        for stream in self._streams.get(kind, ()):
            stream.deliver(item)

    def crash(self) -> None:
        """Tell every stream that the page crashed here."""
        error = self._session.error()
        if isinstance(error, TargetCrashedError):
            for stream in self._all():
                stream.crash(error)

    def end(self) -> None:
        """Tell every stream that nothing more will come."""
        for stream in self._all():
            self._end(stream)

    def _all(self) -> set[ActivityStream]:
        return {stream for streams in self._streams.values() for stream in streams}

    def _end(self, stream: ActivityStream) -> None:
        def reason() -> Exception:
            error = self._session.error()
            assert error is not None
            return error

        stream.end(reason)
