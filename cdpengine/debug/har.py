"""The requests of a recording as an HTTP Archive (HAR 1.2). Pure.

Rule: only what the browser told of is said. Sizes and times that it did not tell of are -1, as the format has it;
what is known beyond the format stands in comments. A request without an answer has status 0 and says why.
Cookies are not listed: they are secrets, which a recording does not hold; headers are as they were recorded.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import attrs
import msgspec

from cdpengine._version import __version__
from cdpengine.debug import har_events as told
from cdpengine.debug.recording import Header, Line, Recording
from cdpengine.errors import RecordingLacks

Json = dict[str, Any]
"""A JSON object of the format."""


def archive_document(recording: Recording, lines: Iterable[Line]) -> bytes:
    """Return the archive of a recording whose lines are `lines`, as JSON.

    An event that is not what the protocol says is reported as damage of the recording. Raises RecordingLacks when
    no request is in it.
    """
    archive = Archive()
    for line in lines:
        try:
            archive.add(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            recording.report(f"{line.m} is not what the protocol says: {error}")
    if not archive.requests:
        raise RecordingLacks(
            path=str(recording.path),
            what="requests",
            hint='the Network domain was not enabled while it was recorded: have session.call("Network.enable") '
            "sent on the page's session, and record again",
        )
    return msgspec.json.format(msgspec.json.encode(archive.document(recording.header)), indent=1) + b"\n"


@attrs.define
class _Request:
    """One exchange under way, or done."""

    session: tuple[str, str]
    sent: told.RequestWillBeSent
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


@attrs.define
class _Page:
    id: str
    title: str
    began: float
    wall: float
    content_loaded: float | None = None
    loaded: float | None = None


class Archive:
    """Collects the exchanges of one recording; lines are given one after the other.

    What is held is one entry for each request. `requests` counts them, `cut` the events that were too large to be
    recorded whole, and so are missing here.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.cut = 0
        self._done: list[_Request] = []
        self._under_way: dict[tuple[str, str, str], _Request] = {}
        self._bodies_asked: dict[tuple[str, str, int], str] = {}
        self._pages: list[_Page] = []
        self._page_of: dict[tuple[str, str], _Page] = {}
        self._early: dict[tuple[str, str, str], list[told.ExtraInfo]] = {}

    def add_all(self, lines: Iterable[Line]) -> None:
        """Take several lines."""
        for line in lines:
            self.add(line)

    def add(self, line: Line) -> None:
        """Take one line. Raises msgspec.DecodeError when an event of requests is not what the protocol says."""
        if line.k == "event":
            if line.m in told.EVENTS:
                self._event(line)
        elif line.m == "Network.getResponseBody" and line.id is not None:
            if line.k == "call":
                asked = told.decode_payload(line, told.Asked)
                self._bodies_asked[line.c, line.s, line.id] = asked.request_id
            elif line.k == "reply":
                self._body(line)
            else:
                self._bodies_asked.pop((line.c, line.s, line.id), None)

    def document(self, header: Header) -> Json:
        """Return the archive, its entries in the order in which they began."""
        entries = sorted([*self._done, *self._under_way.values()], key=lambda request: request.sent.timestamp)
        comments = []
        if header.redacted:
            comments.append("secrets were redacted as it was recorded")
        if self.cut:
            comments.append(
                f"{self.cut} events of requests were too large to be recorded whole, and are missing"
            )
        log: Json = {
            "version": "1.2",
            "creator": {"name": "cdpengine", "version": __version__},
            "pages": [_page(page) for page in self._pages],
            "entries": [_entry(request) for request in entries],
        }
        if header.product:
            name, _, version = header.product.partition("/")
            log["browser"] = {"name": name, "version": version}
        if comments:
            log["comment"] = "; ".join(comments)
        return {"log": log}

    # --- events --------------------------------------------------------------------------------------------

    def _event(self, line: Line) -> None:
        event = told.decode_payload(line, told.EVENTS[line.m])
        session = (line.c, line.s)
        if isinstance(event, told.PageEvent):
            page = self._page_of.get(session)
            if page is not None and line.m == "Page.domContentEventFired":
                page.content_loaded = page.content_loaded or event.timestamp
            elif page is not None:
                page.loaded = page.loaded or event.timestamp
            return
        if not event.request_id:
            self.cut += 1
            return
        key = (*session, event.request_id)
        request = self._under_way.get(key)
        match event:
            case told.RequestWillBeSent():
                self._sent(key, event, line.T)
            case told.ExtraInfo():
                # It may come before its request, or, after a redirect, before the next one.
                if request is None or _has_headers(request, event):
                    self._early.setdefault(key, []).append(event)
                else:
                    _add_headers(request, event)
            case told.ResponseReceived() if request is not None:
                request.response = event.response
            case told.DataReceived() if request is not None:
                request.decoded += event.data_length
            case told.Finished() if request is not None:
                request.finished, request.encoded = event.timestamp, event.encoded_data_length
            case told.Failed() if request is not None:
                request.finished = event.timestamp
                request.failure = event.error_text or ("canceled" if event.canceled else "failed")
            case told.ServedFromCache() if request is not None:
                request.from_cache = True
            case _:
                pass  # its request was sent before the recording began

    def _sent(self, key: tuple[str, str, str], event: told.RequestWillBeSent, target: str) -> None:
        before = self._under_way.pop(key, None)
        if before is not None:
            if event.redirect_response is not None:
                before.response, before.finished = event.redirect_response, event.timestamp
                before.encoded = event.redirect_response.encoded_data_length
            self._done.append(before)
        session = (key[0], key[1])
        self.requests += 1
        request = self._under_way[key] = _Request(session, event)
        # A page's main frame has the id of its target.
        main = event.type == "Document" and event.request_id == event.loader_id
        if main and before is None and (not target or event.frame_id == target):
            number = len(self._pages) + 1
            page = _Page(f"page_{number}", event.request.url, event.timestamp, event.wall_time)
            self._pages.append(page)
            self._page_of[session] = page
        on = self._page_of.get(session)
        request.page = on.id if on is not None else ""
        for extra in self._early.pop(key, []):
            _add_headers(request, extra)

    def _body(self, line: Line) -> None:
        assert line.id is not None
        request_id = self._bodies_asked.pop((line.c, line.s, line.id), None)
        request = None if request_id is None else self._under_way.get((line.c, line.s, request_id))
        if request is None:
            return
        body = told.decode_payload(line, told.Body, "result")
        if body.cut is not None:
            request.body_comment = f"the body was cut as it was recorded; its reply had {body.cut} bytes"
        else:
            request.body, request.body_encoding = body.body, "base64" if body.base64_encoded else ""


def _has_headers(request: _Request, extra: told.ExtraInfo) -> bool:
    held = request.request_headers if extra.status_code is None else request.response_headers
    return held is not None


def _add_headers(request: _Request, extra: told.ExtraInfo) -> None:
    if extra.status_code is None:
        request.request_headers = extra.headers
    else:
        request.response_headers, request.response_status = extra.headers, extra.status_code


# --- the format ----------------------------------------------------------------------------------------------


def _page(page: _Page) -> Json:
    def since(moment: float | None) -> float:
        return -1 if moment is None else max(0.0, _ms(moment - page.began))

    return {
        "startedDateTime": _date(page.wall),
        "id": page.id,
        "title": page.title,
        "pageTimings": {"onContentLoad": since(page.content_loaded), "onLoad": since(page.loaded)},
    }


def _entry(request: _Request) -> Json:
    timings = _timings(request)
    entry: Json = {
        "startedDateTime": _date(request.sent.wall_time),
        "time": round(sum(value for name, value in timings.items() if value > 0 and name != "ssl"), 3),
        "request": _request(request),
        "response": _response(request),
        "cache": {},
        "timings": timings,
    }
    if request.page:
        entry["pageref"] = request.page
    response = request.response
    if response is not None and response.remote_ip:
        entry["serverIPAddress"] = response.remote_ip.strip("[]")
    if response is not None and response.connection_id:
        entry["connection"] = str(int(response.connection_id))
    comment = "; ".join(_comments(request))
    if comment:
        entry["comment"] = comment
    return entry


def _comments(request: _Request) -> Iterable[str]:
    if request.failure:
        yield request.failure
    elif request.finished is None:
        yield "not finished when the recording ended" if request.response else "no answer was recorded"
    if request.from_cache or (request.response is not None and request.response.from_disk_cache):
        yield "from the browser's cache"
    if request.response is not None and request.response.from_service_worker:
        yield "from a service worker"


def _request(request: _Request) -> Json:
    sent = request.sent.request
    url = sent.url + sent.url_fragment
    headers = sent.headers if request.request_headers is None else request.request_headers
    entry: Json = {
        "method": sent.method or "GET",
        "url": url,
        "httpVersion": _http_version(request.response),
        "cookies": [],
        "headers": _pairs(headers),
        "queryString": [{"name": name, "value": value} for name, value in _query(url)],
        "headersSize": -1,
        "bodySize": -1 if sent.has_post_data else 0,
    }
    if sent.has_post_data or sent.post_data is not None:
        kind = next((value for name, value in headers.items() if name.lower() == "content-type"), "")
        entry["postData"] = {"mimeType": kind, "text": sent.post_data or "", "params": []}
    return entry


def _response(request: _Request) -> Json:
    response = request.response
    if response is None:
        return {
            "status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [],
            "content": {"size": 0, "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1, "bodySize": -1,
        }  # fmt: skip
    headers = response.headers if request.response_headers is None else request.response_headers
    content: Json = {"size": request.decoded, "mimeType": response.mime_type or "x-unknown"}
    if request.body is not None:
        content["text"] = request.body
        if request.body_encoding:
            content["encoding"] = request.body_encoding
    if request.body_comment:
        content["comment"] = request.body_comment
    encoded = -1 if request.encoded is None else max(-1, int(request.encoded))
    return {
        "status": response.status if request.response_status is None else request.response_status,
        "statusText": response.status_text,
        "httpVersion": _http_version(response),
        "cookies": [],
        "headers": _pairs(headers),
        "content": content,
        "redirectURL": next((value for name, value in headers.items() if name.lower() == "location"), ""),
        "headersSize": -1,
        "bodySize": 0 if request.from_cache else -1,
        "comment": "" if encoded < 0 else f"{encoded} bytes came over the network, headers included",
    }


def _timings(request: _Request) -> dict[str, float]:
    """Return the format's timings: -1 for what does not apply; the sum of the others is the entry's time."""
    began, ended = request.sent.timestamp, request.finished
    whole = 0.0 if ended is None else max(0.0, _ms(ended - began))
    timing = None if request.response is None else request.response.timing
    if timing is None:
        return {"blocked": -1, "dns": -1, "connect": -1, "ssl": -1, "send": 0, "wait": whole, "receive": 0}

    def span(start: float, end: float) -> float:
        return round(max(0.0, end - start), 3) if start >= 0 and end >= 0 else -1

    starts = [start for start in (timing.dns_start, timing.connect_start, timing.send_start) if start >= 0]
    before = _ms(timing.request_time - began)
    blocked = round(max(0.0, before + (min(starts) if starts else 0.0)), 3)
    dns, connect = span(timing.dns_start, timing.dns_end), span(timing.connect_start, timing.connect_end)
    send = max(0.0, span(timing.send_start, timing.send_end))
    wait = max(0.0, span(timing.send_end, timing.receive_headers_end))
    known = blocked + max(0.0, dns) + max(0.0, connect) + send + wait
    return {
        "blocked": blocked,
        "dns": dns,
        "connect": connect,
        "ssl": span(timing.ssl_start, timing.ssl_end),
        "send": send,
        "wait": wait,
        "receive": round(max(0.0, whole - known), 3),
    }


def _pairs(headers: dict[str, str]) -> list[Json]:
    # Chrome joins the values of a header that came several times by line breaks.
    return [
        {"name": name, "value": value} for name, values in headers.items() for value in values.split("\n")
    ]


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []


def _http_version(response: told.Response | None) -> str:
    protocol = "" if response is None else response.protocol
    return {"h2": "HTTP/2", "h3": "HTTP/3", "http/1.1": "HTTP/1.1", "http/1.0": "HTTP/1.0"}.get(
        protocol, protocol
    )


def _date(wall: float) -> str:
    moment = dt.datetime.fromtimestamp(min(max(wall, 0.0), 9e10), dt.UTC)
    return moment.isoformat(timespec="milliseconds")


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
