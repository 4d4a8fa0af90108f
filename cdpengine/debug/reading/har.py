"""The requests of a recording as an HTTP Archive (HAR 1.2). Pure.

Rule: the archive contains only recorded facts, in the form of _activity/har.py. Secrets stay redacted. Sessions of
a page's frames and workers belong to the page, because events of one request can arrive on several of them. Every
event field has a default, so that events of older and newer browsers decode.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

import msgspec

from cdpengine import _json
from cdpengine._activity import har
from cdpengine._activity.exchange import Exchange, Exchanges
from cdpengine._protocol.domains import network as network_events
from cdpengine._protocol.domains.network import REQUEST_EVENTS, RequestEvent, ResponseBodyReply
from cdpengine.debug.reading.recording import Recording
from cdpengine.debug.recording_format import CUT, Header, Line, Message
from cdpengine.errors import FileUnreadableError


def archive_document(recording: Recording, lines: Iterable[Line]) -> bytes:
    """Return the archive of the recording with these lines, as JSON.

    An invalid event is reported as damage of the recording. Raises FileUnreadableError if the recording has
    no request.
    """
    archive = Archive()
    for line in lines:
        try:
            archive.add(line)
        except msgspec.DecodeError as error:
            recording.report(f"{line.m} does not match the protocol: {error}")
    if not archive.requests:
        raise FileUnreadableError(
            "requests",
            str(recording.path),
            reason="it has none, because the Network domain was not enabled while it was recorded",
            advice='Call session.call("Network.enable") on the page\'s session, and record again',
        )
    return har.encode(archive.document(recording.header))


class Archive:
    """Collector of the exchanges of one recording, whose lines are added in order.

    It keeps one entry for each request. `requests` counts them. `cut` counts events that were too large to be
    recorded whole and are missing here.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.cut = 0
        self._exchanges = Exchanges()
        self._all: list[Exchange] = []
        self._body_requests: dict[tuple[str, str, int], str] = {}
        self._pages: list[har.Visit] = []
        self._page_of: dict[tuple[str, str], har.Visit] = {}
        self._page_session: dict[tuple[str, str], str] = {}

    def add_all(self, lines: Iterable[Line]) -> None:
        """Add several lines."""
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Add one line. Raises msgspec.DecodeError for a request event that does not match the protocol."""
        if line.k == "event":
            if line.m in EVENTS:
                self._event(line)
        elif line.m == "Network.getResponseBody" and line.id is not None:
            if line.k == "call":
                command = decode_payload(line, RequestCommand)
                self._body_requests[line.c, line.s, line.id] = command.request_id
            elif line.k == "reply":
                self._body(line)
            else:
                self._body_requests.pop((line.c, line.s, line.id), None)

    def document(self, header: Header) -> har.Json:
        """Return the archive, with the entries in the order of their start."""
        comments = []
        if header.redacted:
            comments.append("secrets were redacted during the recording")
        if self.cut:
            comments.append(
                f"{self.cut} events of requests are missing because they were too large to be recorded whole"
            )
        return har.document(
            self._all, self._pages, cookies=not header.redacted, product=header.product, comments=comments
        )

    # --- events --------------------------------------------------------------------------------------------

    def _event(self, line: Line) -> None:
        event = decode_payload(line, EVENTS[line.m])
        session = self._page_of_session(line)
        if isinstance(event, Attached):
            if line.s and event.session_id:
                self._page_session[line.c, event.session_id] = session[1]
        elif isinstance(event, PageEvent):
            page = self._page_of.get(session) if session[1] == line.s else None
            if page is not None and line.m == "Page.domContentEventFired":
                page.content_loaded = page.content_loaded or event.timestamp
            elif page is not None:
                page.loaded = page.loaded or event.timestamp
        elif not event.request_id:
            self.cut += 1
        else:
            exchange = self._exchanges.take(session, event)
            if exchange is not None and isinstance(
                event, network_events.RequestWillBeSent | network_events.WebSocketCreated
            ):
                self._began(session, exchange, line)

    def _page_of_session(self, line: Line) -> tuple[str, str]:
        """Return the session of the page that the line's session belongs to."""
        return line.c, self._page_session.get((line.c, line.s), line.s)

    def _began(self, session: tuple[str, str], exchange: Exchange, line: Line) -> None:
        self.requests += 1
        self._all.append(exchange)
        sent = exchange.sent
        # A page's main frame has the id of its target.
        main = sent.type == "Document" and sent.request_id == sent.loader_id
        own = session[1] == line.s and (not line.T or sent.frame_id == line.T)
        if main and exchange.before is None and own:
            page = har.Visit(f"page_{len(self._pages) + 1}", sent.request.url, sent.timestamp, sent.wall_time)
            self._pages.append(page)
            self._page_of[session] = page
        on = self._page_of.get(session)
        exchange.page = on.id if on is not None else ""

    def _body(self, line: Line) -> None:
        assert line.id is not None
        request_id = self._body_requests.pop((line.c, line.s, line.id), None)
        exchange = (
            None if request_id is None else self._exchanges.known(self._page_of_session(line), request_id)
        )
        if exchange is None:
            return
        body = decode_payload(line, Body, "result")
        if body.cut is not None:
            exchange.body_comment = f"the body was cut during the recording; its reply had {body.cut} bytes"
        else:
            exchange.body, exchange.body_encoding = body.body, "base64" if body.base64_encoded else ""


class PageEvent(RequestEvent, rename="camel"):
    """A load event of a page."""

    timestamp: float = 0.0


class Attached(RequestEvent, rename="camel"):
    """A new session. The event arrives on the parent session."""

    session_id: str = ""


class RequestCommand(RequestEvent, rename="camel"):
    """A command about one request."""


class Body(ResponseBodyReply, rename="camel"):
    """A response body, possibly cut during the recording."""

    cut: int | None = msgspec.field(default=None, name=CUT)


EVENTS: dict[str, type[RequestEvent]] = {
    **REQUEST_EVENTS,
    "Page.domContentEventFired": PageEvent,
    "Page.loadEventFired": PageEvent,
    "Target.attachedToTarget": Attached,
}

_decode = _json.Decoder(Message).decode
S = TypeVar("S", bound=msgspec.Struct)


def decode_payload(line: Line, as_type: type[S], key: str = "params") -> S:
    """Decode the payload of a line's message. Raises msgspec.DecodeError."""
    message = _decode(line.msg)
    return _json.decode(message.result if key == "result" else message.params, as_type, strict=False)
