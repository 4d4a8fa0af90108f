"""HTTP Archives (HAR 1.2) of exchanges. Pure.

Rule: an archive contains only facts that the browser reported. Unknown sizes and times are -1, as the format
defines. Facts that the format has no field for are in comments. A request without a response has status 0 and a
comment with the reason; a missing body of a request or response has a comment too. Cookies are secrets, and are
listed only if the caller wants secrets. Headers are included as given.
"""

from __future__ import annotations

import base64
import datetime as dt
from collections.abc import Iterable, Sequence
from typing import Any, Protocol
from urllib.parse import parse_qsl, urlsplit

import attrs

from cdpengine import _json
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.har_cookies import sent_cookies, set_cookies
from cdpengine._protocol.domains import network
from cdpengine._version import __version__

Json = dict[str, Any]
"""A JSON object of the format."""


@attrs.define
class Visit:
    """A document visited by the page: one of the archive's "pages". Times are Chrome's monotonic seconds."""

    id: str
    title: str
    began: float
    wall: float
    content_loaded: float | None = None
    loaded: float | None = None


def document(
    exchanges: Iterable[Exchange],
    visits: Sequence[Visit],
    *,
    cookies: bool,
    product: str = "",
    comments: Sequence[str] = (),
) -> Json:
    """Return the archive, with entries in the order of their start. `cookies`: whether to include cookies.

    `product` is the browser's name and version, for example "Chrome/156.0.1".
    """
    entries = sorted(exchanges, key=lambda exchange: exchange.sent.timestamp)
    log: Json = {
        "version": "1.2",
        "creator": {"name": "cdpengine", "version": __version__},
        "pages": [_page(visit) for visit in visits],
        "entries": [_entry(exchange, cookies=cookies) for exchange in entries],
    }
    if product:
        name, _, version = product.partition("/")
        log["browser"] = {"name": name, "version": version}
    if comments:
        log["comment"] = "; ".join(comments)
    return {"log": log}


def encode(archive: Json) -> bytes:
    """Encode an archive as indented JSON."""
    return _json.encode(archive, indent=1) + b"\n"


class Redacting(Protocol):
    """A redactor with memory: the Redactor of recordings."""

    def text(self, text: str) -> str:
        """Return a string without secrets."""

    def clean(self, value: Json) -> Json:
        """Return a JSON object without its secrets."""

    def hide(self, text: str) -> str:
        """Return the placeholder for a secret."""


def redacted(archive: Json, redactor: Redacting) -> Json:
    """Return an archive without secrets: posted data, and everything else that the redactor finds."""
    log = archive["log"]
    for entry in log["entries"]:
        request = entry["request"]
        if "postData" in request:
            _hide_posted(request["postData"], redactor)
        # The URL decides which parts of its query are secret.
        request["url"] = redactor.text(request["url"])
        request["queryString"] = _query_string(request["url"])
    # Twice, because a secret learned in the first pass may also occur earlier.
    for _ in range(2):
        archive = redactor.clean(archive)
    comment = "secrets are redacted"
    log = archive["log"]
    log["comment"] = f"{log['comment']}; {comment}" if "comment" in log else comment
    return archive


def _hide_posted(posted: Json, redactor: Redacting) -> None:
    text = posted["text"]
    if posted.get("comment") == _BINARY:
        # The redactor learns the parts of the body.
        text = base64.b64decode(text).decode("utf-8", "replace")
        del posted["comment"]
    posted["text"] = redactor.hide(text)


def timings(request: Exchange) -> dict[str, float]:
    """Return the timings in milliseconds: -1 if not applicable. The other values add up to the entry's time."""
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


_BINARY = "the body is binary, and its text is base64"


def _page(page: Visit) -> Json:
    def since(moment: float | None) -> float:
        return -1 if moment is None else max(0.0, _ms(moment - page.began))

    return {
        "startedDateTime": _date(page.wall),
        "id": page.id,
        "title": page.title,
        "pageTimings": {"onContentLoad": since(page.content_loaded), "onLoad": since(page.loaded)},
    }


def _entry(request: Exchange, *, cookies: bool) -> Json:
    spans = timings(request)
    entry: Json = {
        "startedDateTime": _date(request.sent.wall_time),
        "time": round(sum(value for name, value in spans.items() if value > 0 and name != "ssl"), 3),
        "request": _request(request, cookies=cookies),
        "response": _response(request, cookies=cookies),
        "cache": {},
        "timings": spans,
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


def _comments(request: Exchange) -> Iterable[str]:
    if request.failure:
        yield request.failure
    elif request.finished is None:
        yield "not finished when the recording ended" if request.response else "no answer was recorded"
    if request.from_cache or (request.response is not None and request.response.from_disk_cache):
        yield "from the browser's cache"
    if request.response is not None and request.response.from_service_worker:
        yield "from a service worker"


def _request(request: Exchange, *, cookies: bool) -> Json:
    sent = request.sent.request
    url, headers = request.url, request.sent_headers
    entry: Json = {
        "method": sent.method or "GET",
        "url": url,
        "httpVersion": _http_version(request.response),
        "cookies": sent_cookies(headers) if cookies else [],
        "headers": _pairs(headers),
        "queryString": _query_string(url),
        "headersSize": -1,
        "bodySize": request.posted_size,
    }
    posted = request.posted
    if posted.content is not None:
        entry["postData"] = {"mimeType": headers.get("content-type", ""), **_posted_text(posted.content)}
    elif posted.missing:
        comment = f"the body is missing: {posted.missing}"
        kind = headers.get("content-type", "")
        entry["postData"] = {"mimeType": kind, "text": "", "params": [], "comment": comment}
    return entry


def _posted_text(content: bytes) -> Json:
    try:
        return {"text": content.decode(), "params": []}
    except UnicodeDecodeError:
        text = base64.b64encode(content).decode("ascii")
        return {"text": text, "params": [], "comment": _BINARY}


def _response(request: Exchange, *, cookies: bool) -> Json:
    response = request.response
    if response is None:
        return {
            "status": 0, "statusText": "", "httpVersion": "", "cookies": [], "headers": [], "content":
            {"size": _content_size(request), "mimeType": "x-unknown"}, "redirectURL": "", "headersSize": -1,
            "bodySize": -1,
        }  # fmt: skip
    headers = request.received_headers
    content: Json = {"size": _content_size(request), "mimeType": response.mime_type or "x-unknown"}
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
        "cookies": set_cookies(headers) if cookies else [],
        "headers": _pairs(headers),
        "content": content,
        "redirectURL": headers.get("location", ""),
        "headersSize": -1,
        "bodySize": 0 if request.from_cache else -1,
        "comment": "" if encoded < 0 else f"{encoded} bytes came over the network, headers included",
    }


def _content_size(request: Exchange) -> int:
    """Return the size of the body in bytes: -1 for redirects, and before the request has ended."""
    return request.decoded if request.ended and request.after is None else -1


def _pairs(headers: dict[str, str]) -> list[Json]:
    # Chrome joins the values of a repeated header with line breaks.
    return [
        {"name": name, "value": value} for name, values in headers.items() for value in values.split("\n")
    ]


def _query_string(url: str) -> list[Json]:
    return [{"name": name, "value": value} for name, value in _query(url)]


def _query(url: str) -> list[tuple[str, str]]:
    try:
        return parse_qsl(urlsplit(url).query, keep_blank_values=True)
    except ValueError:
        return []


def _http_version(response: network.Response | None) -> str:
    protocol = "" if response is None else response.protocol
    return {"h2": "HTTP/2", "h3": "HTTP/3", "http/1.1": "HTTP/1.1", "http/1.0": "HTTP/1.0"}.get(
        protocol, protocol
    )


def _date(wall: float) -> str:
    moment = dt.datetime.fromtimestamp(min(max(wall, 0.0), 9e10), dt.UTC)
    return moment.isoformat(timespec="milliseconds")


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
