"""Response bodies: decoding, streaming (BodyStream), keeping on arrival (BodyStore), and the rules for keeping.

Rule: kept and unread data is bounded by ActivityOptions and KeepBodies, which refuse invalid values before
anything is switched on. The size that Chrome counted decides whether a body is complete. A body is kept while it
arrives, so it stays available if the page leaves the document meanwhile. If Chrome did not send all pieces, the
whole body is requested immediately. For a body that is not kept, the reason is recorded.
"""

from __future__ import annotations

import codecs
import re
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import attrs
import trio

from cdpengine import _json
from cdpengine._page.patterns import UrlPattern, url_test
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import PendingCall, decode_bytes
from cdpengine._protocol.domains.network import ResponseBodyReply, StreamResourceContentReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    BodyUndecodableError,
    ConnectionLostError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
)

if TYPE_CHECKING:
    from cdpengine._activity.request import Request


@attrs.frozen
class Body:
    """A response body. `text` is set if Chrome returned a string; `data` is then that string in UTF-8."""

    data: bytes
    text: str | None = None


async def fetch_body(session: Session, request_id: str) -> Body:
    """Return the body of a completed response. Raises RemoteError if Chrome no longer has it."""
    return decode_body(
        await session.request("Network.getResponseBody", {"requestId": request_id}, ResponseBodyReply)
    )


def decode_body(reply: ResponseBodyReply) -> Body:
    """Decode the body in a reply."""
    if reply.base64_encoded:
        return Body(decode_bytes("Network.getResponseBody", reply.body))
    return Body(reply.body.encode("utf-8", "surrogatepass"), reply.body)


def charset_of(headers: dict[str, str]) -> str:
    """Return the character set in the headers, or ""."""
    for name, value in headers.items():
        if name.lower() == "content-type":
            found = _CHARSET.search(value)
            return found[1].lower() if found else ""
    return ""


_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([\w.:+-]{1,40})", re.IGNORECASE)


def restore_bytes(body: Body, headers: dict[str, str], size: int) -> Body:
    """Restore the received bytes of a body given as text, if its character set and size identify them."""
    if body.text is None or len(body.data) == size:
        return body
    for encoding in (charset_of(headers) or "utf-8", "utf-8-sig"):
        try:
            data = body.text.encode(encoding)
        except (UnicodeEncodeError, LookupError):
            continue
        if len(data) == size:
            return Body(data, body.text)
    return body


_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def text_of(body: Body, headers: dict[str, str]) -> str:
    """Decode a body by its byte order mark, its header, or as UTF-8. Invalid bytes become U+FFFD."""
    if body.text is not None:
        return body.text
    for mark, encoding in _MARKS:
        if body.data.startswith(mark):
            return body.data.decode(encoding, "replace")
    try:
        return body.data.decode(charset_of(headers) or "utf-8", "replace")
    except LookupError:
        return body.data.decode("utf-8", "replace")


def json_of(url: str, text: str) -> Any:
    """Decode a JSON string. Raises BodyUndecodableError."""
    try:
        return _json.decode_leniently(text)
    except ValueError as error:
        raise BodyUndecodableError(url=url, read_as="JSON", reason=f"it is {error}") from None


class Incoming:
    """A body that is arriving, for one reader. It buffers at most `limit` bytes.

    Chrome sends the earlier data in a reply and later data in events. `begin` takes the reply.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.over = False
        self.refused = False
        self.total = 0
        self._waiting = 0
        self._parts: deque[bytes] = deque()
        self._early: list[bytes] | None = []

    @property
    def begun(self) -> bool:
        """Whether the data from before the first event is known."""
        return self._early is None

    def begin(self, before: bytes) -> None:
        """Add the data from before the first event."""
        early, self._early = self._early or [], None
        for part in (before, *early):
            self.feed(part)

    def refuse(self) -> None:
        """Note that Chrome does not send this body in pieces."""
        self.refused = True
        self._early = None

    def feed(self, data: bytes) -> None:
        """Add the next piece. If the buffer exceeds its limit, drop everything."""
        if self._early is not None:
            self._early.append(data)
        elif data:
            self.total += len(data)
            self._waiting += len(data)
            if self._waiting > self.limit:
                self.over = True
                self._parts.clear()
            elif not self.over:
                self._parts.append(data)

    def take(self) -> bytes | None:
        """Return the buffered data, or None if there is none yet."""
        if not self._parts:
            return None
        part = self._parts.popleft()
        self._waiting -= len(part)
        return part

    def whole(self, size: int) -> bytes | None:
        """Return the whole body if it has that size, else None."""
        if self.over or self.refused or not self.begun or self.total != size:
            return None
        return b"".join(self._parts)


PIECE = 2**16
"""Size of the pieces of an already complete body, in bytes."""


@not_picklable("the bytes that it gave")
class BodyStream:
    """An async iterator over the pieces of a body. Get it from `Response.stream`."""

    def __init__(self, request: Request, backlog: int) -> None:
        self._request = request
        self._incoming = Incoming(backlog)
        self._started = False
        self._whole: bytes | None = None
        self._position = 0

    def __aiter__(self) -> BodyStream:
        return self

    async def __anext__(self) -> bytes:
        """Wait for the next piece and return it."""
        if not self._started:
            self._started = True
            await self._start()
        if self._whole is not None:
            piece = self._whole[self._position : self._position + PIECE]
            self._position += len(piece)
            if not piece:
                raise StopAsyncIteration
            return piece
        return await self._next()

    def close(self) -> None:
        """Stop reading the body."""
        if self._incoming in self._request._streams:
            self._request._streams.remove(self._incoming)

    async def _start(self) -> None:
        request = self._request
        if not request.ended and request._stored_body is None:
            request._streams.append(self._incoming)
            try:
                params = {"requestId": request.id}
                reply = await request._session.request(
                    "Network.streamResourceContent", params, StreamResourceContentReply
                )
            except (RemoteError, SessionGoneError):
                self.close()  # it already arrived, or continues in another process
            else:
                self._incoming.begin(decode_bytes("Network.streamResourceContent", reply.buffered_data))
                return
        self._whole = (await request._body()).data

    async def _next(self) -> bytes:
        request = self._request
        while True:
            if self._incoming.over:
                limit = self._incoming.limit
                raise request._unavailable(f"its reader fell behind by more than {limit} bytes")
            if (piece := self._incoming.take()) is not None:
                return piece
            if request.ended:
                break
            await request._wait_change()
        if request.failure:
            came = self._incoming.total
            raise request._unavailable(f"the request failed ({request.failure}) after {came} bytes")
        if self._incoming.total != request.body_size:
            reason = f"{self._incoming.total} of its {request.body_size} bytes were reported"
            raise request._unavailable(reason)
        raise StopAsyncIteration


class BodyStore:
    """Store of the bodies that match `rules`. Its tasks run in `nursery`."""

    def __init__(self, rules: KeepBodies, nursery: trio.Nursery) -> None:
        self.rules = rules
        self._nursery = nursery
        self._stored: deque[tuple[Request, int]] = deque()
        self._total = 0

    def begins(self, request: Request) -> None:
        """Handle the headers of a response. Called by the reader."""
        if not self.rules.wants(request.url, request.type):
            return
        length = request.response.header("content-length") if request.response else None
        encoded = request.response is not None and request.response.header("content-encoding")
        if length is not None and length.isdecimal() and int(length) > self.rules.largest and not encoded:
            request._missing_reason = self._too_large(int(length))
            return
        try:
            call = request._session.post("Network.streamResourceContent", requestId=request.id)
        except (SessionGoneError, ConnectionLostError):
            return
        request._incoming = Incoming(self.rules.largest)
        self._nursery.start_soon(self._begin, request, request._incoming, call, name="keep a body")

    def ended(self, request: Request) -> None:
        """Handle the end of a request. Called by the reader."""
        incoming = request._incoming
        if incoming is None:
            return
        if request.failure:
            self._note_missing_body(request, "")
            return
        whole = incoming.whole(request.body_size)
        if whole is not None:
            self._keep(request, Body(whole))
        elif incoming.over or request.body_size > self.rules.largest:
            self._note_missing_body(request, self._too_large(request.body_size))
        else:
            # Too late for pieces. Request the body now, because the page may leave the document at any moment.
            try:
                call = request._session.post("Network.getResponseBody", requestId=request.id)
            except (SessionGoneError, ConnectionLostError) as error:
                self._note_missing_body(request, f"it was not kept: {error}")
            else:
                self._nursery.start_soon(self._take, request, call, name="keep a body")

    async def _begin(self, request: Request, incoming: Incoming, call: PendingCall) -> None:
        try:
            reply = await call.decoded(StreamResourceContentReply)
            beginning = decode_bytes("Network.streamResourceContent", reply.buffered_data)
        except RemoteError:
            incoming.refuse()  # it already arrived, or continues in another process: the whole body is requested
        except (SessionGoneError, ConnectionLostError, ProtocolError) as error:
            if request._stored_body is None:
                self._note_missing_body(request, f"it was not kept: {error}")
        else:
            incoming.begin(beginning)

    async def _take(self, request: Request, call: PendingCall) -> None:
        try:
            body = decode_body(await call.decoded(ResponseBodyReply))
        except (RemoteError, SessionGoneError, ConnectionLostError, ProtocolError) as error:
            self._note_missing_body(request, f"it was not kept: {error}")
            return
        body = restore_bytes(body, request._response_headers, request.body_size)
        if len(body.data) > self.rules.largest:
            self._note_missing_body(request, self._too_large(len(body.data)))
        else:
            self._keep(request, body)

    def _note_missing_body(self, request: Request, reason: str) -> None:
        request._missing_reason = reason
        request._incoming = None
        request._changed()

    def _keep(self, request: Request, body: Body) -> None:
        request._stored_body, request._incoming = body, None
        request._changed()
        self._stored.append((request, len(body.data)))
        self._total += len(body.data)
        while self._total > self.rules.total and len(self._stored) > 1:
            oldest, size = self._stored.popleft()
            self._total -= size
            oldest._stored_body = None
            oldest._missing_reason = f"it was kept, and made room for others (total={self.rules.total})"

    def _too_large(self, size: int) -> str:
        return f"it was not kept: it has {size} bytes, more than largest={self.rules.largest}"


# --- options --------------------------------------------------------------------------------------------


def _check_count(what: str, given: object, least: int = 0) -> None:
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise InvalidArgumentError(
            what=what, given=repr(given)[:80], expected=f"a whole number, {least} or more"
        )


def _check_types(types: Iterable[str] | None) -> frozenset[str] | None:
    if types is None:
        return None
    names = None if isinstance(types, str) else tuple(types)
    if names is None or not all(isinstance(name, str) for name in names):
        raise InvalidArgumentError(
            what="types", given=repr(types)[:80], expected='several of "Document", "XHR", ...'
        )
    return frozenset(name.lower() for name in names)


@attrs.frozen
class KeepBodies:
    """Rules for keeping response bodies from their arrival, independent of their page.

    `url` (a glob, a compiled regular expression, or a function of the URL) and `types` (Chrome's resource types,
    such as "Document", "XHR", "Fetch", "Script") select responses; None selects all. Bodies above `largest` bytes
    are not kept. When all kept bodies exceed `total` bytes, the oldest are dropped. Raises InvalidArgumentError.
    """

    url: UrlPattern | None = None
    types: frozenset[str] | None = attrs.field(default=None, converter=_check_types)
    largest: int = 2**20
    total: int = 32 * 2**20

    def __attrs_post_init__(self) -> None:
        _check_count("largest", self.largest, 1)
        _check_count("total", self.total, 1)
        if self.url is not None:
            url_test(self.url)

    def wants(self, url: str, kind: str) -> bool:
        """Return whether to keep the body of a response with this URL and resource type."""
        if self.types is not None and kind.lower() not in self.types:
            return False
        return self.url is None or url_test(self.url)(url)


def _check_bodies(given: object) -> KeepBodies | None:
    if given is None or given is False:
        return None
    if given is True:
        return KeepBodies()
    if isinstance(given, KeepBodies):
        return given
    raise InvalidArgumentError(
        what="bodies", given=f"a {type(given).__name__}", expected="True, False or KeepBodies(...)"
    )


@attrs.frozen
class ActivityOptions:
    """Options for one page: the number of kept `console` messages, `errors` and `requests`; 0 keeps none.

    `keep_over_navigation=False` clears everything when the page navigates to another document, except the requests
    of that document. `bodies` selects the kept bodies; True is `KeepBodies()`. Raises InvalidArgumentError.
    """

    console: int = 500
    errors: int = 200
    requests: int = 500
    keep_over_navigation: bool = True
    bodies: KeepBodies | None = attrs.field(default=None, converter=_check_bodies)

    def __attrs_post_init__(self) -> None:
        for what in ("console", "errors", "requests"):
            _check_count(what, getattr(self, what))
        keep: object = self.keep_over_navigation
        if not isinstance(keep, bool):
            given = repr(keep)[:80]
            raise InvalidArgumentError(what="keep_over_navigation", given=given, expected="True or False")
        if self.bodies is not None and not self.requests:
            raise InvalidArgumentError(
                what="bodies", given="KeepBodies(...) with requests=0", expected="requests=1 or more with it"
            )

    @property
    def parts(self) -> frozenset[str]:
        """The kept parts among "console", "errors" and "requests"."""
        return frozenset(part for part in ("console", "errors", "requests") if getattr(self, part))


def check_options(given: object) -> ActivityOptions | None:
    """Convert the argument `activity=` to options: True for the defaults, None and False for nothing.

    Raises InvalidArgumentError for a value that is neither of these nor an ActivityOptions.
    """
    if given is None or given is False:
        return None
    if given is True:
        return ActivityOptions()
    if isinstance(given, ActivityOptions):
        return given
    expected = "True, or an ActivityOptions"
    raise InvalidArgumentError(what="activity", given=f"a {type(given).__name__}", expected=expected)
