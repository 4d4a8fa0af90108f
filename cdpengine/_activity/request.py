"""Request and Response: what a page asked the network for, what came of it, and the body of the answer.

Rule: both show what Chrome has reported so far; a request goes on changing until it has ended. A body comes from
what was kept of it, or from Chrome while Chrome has it, within the caller's time; where neither has it,
BodyUnavailableError says so.

MainDocuments are the responses that a page's documents came with, followed while a navigation is under way.
Nothing is switched on for it: a navigation listens to the network anyway. Of other requests only their ids are
read.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import attrs
import trio

from cdpengine._activity import har
from cdpengine._activity.bodies import (
    PIECE,
    Body,
    BodyStream,
    Incoming,
    fetch_body,
    json_of,
    restore_bytes,
    text_of,
)
from cdpengine._activity.exchange import Exchange, Exchanges
from cdpengine._budget import within
from cdpengine._page.page_target import PageTarget
from cdpengine._pickling import restore_state, state_without_page
from cdpengine._protocol.domains import network
from cdpengine._protocol.domains.network import Initiator, Timing
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    BodyUnavailableError,
    InvalidArgumentError,
    RemoteError,
    SessionGoneError,
    shown_url,
)


@attrs.define
class Following:
    """Whether requests are followed still; shared by all that began meanwhile."""

    active: bool = True


class Request:
    """One request. A redirect ends one and begins the next: `redirected_from`, `redirected_to`.

    Times are seconds, sizes bytes. `response` is None until its headers are there, `failure` is "" or
    Chrome's reason, such as "net::ERR_CONNECTION_REFUSED".
    """

    __slots__ = (
        "_end_delivered",
        "_exchange",
        "_following",
        "_incoming",
        "_kept",
        "_lot",
        "_not_kept",
        "_response",
        "_response_delivered",
        "_session",
        "_streams",
    )

    def __init__(self, exchange: Exchange, session: Session, following: Following) -> None:
        self._exchange = exchange
        self._session = session
        self._following = following
        self._kept: Body | None = None
        self._not_kept = ""
        self._incoming: Incoming | None = None
        self._streams: list[Incoming] = []
        self._end_delivered = False
        self._response_delivered = False
        self._response: Response | None = None
        self._lot: trio.lowlevel.ParkingLot | None = None

    def __getstate__(self) -> dict[str, object]:
        return state_without_page(
            self, _following=Following(active=False), _incoming=None, _streams=[], _lot=None
        )

    def __setstate__(self, state: dict[str, object]) -> None:
        restore_state(self, state)

    def __repr__(self) -> str:
        state = self.failure or (str(self.response.status) if self.response else "under way")
        return f"<Request {self.method} {shown_url(self.url)[:80]} {state}>"

    @property
    def id(self) -> str:
        """Chrome's id; all requests of a chain of redirects have the same."""
        return self._exchange.sent.request_id

    @property
    def url(self) -> str:
        """The URL, fragment included. A data: URL of more than 64 KiB is cut."""
        return self._exchange.sent.request.url + self._exchange.sent.request.url_fragment

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._exchange.sent.request.method or "GET"

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers as they went over the network, if Chrome has reported them, else as they were to be sent."""
        extra = self._exchange.request_headers
        return self._exchange.sent.request.headers if extra is None else extra

    @property
    def post_data(self) -> str | bytes | None:
        """The whole body that was sent, never a part: a str if its bytes are UTF-8, else bytes.

        None if there is none, and if Chrome does not report it: `post_data_missing` gives the reason then.
        """
        content = self._exchange.posted.content
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            return content

    @property
    def post_data_missing(self) -> str:
        """Why `post_data` lacks the body: files, blobs and streams; "" if it is whole, or there is none.

        A request that may have sent a stream has a reason until its headers or its response rule that out.
        """
        return self._exchange.posted.missing

    @property
    def type(self) -> str:
        """Chrome's word for what it is for: "Document", "Script", "XHR", "Fetch", "Image", "WebSocket", ..."""
        return self._exchange.sent.type

    @property
    def is_navigation(self) -> bool:
        """Whether it is for the document of a frame."""
        return self.type == "Document" and self._exchange.sent.request_id == self._exchange.sent.loader_id

    @property
    def frame_id(self) -> str:
        """The frame that it is for; "" for a worker's."""
        return self._exchange.sent.frame_id

    @property
    def loader_id(self) -> str:
        """The document that it is for; "" for a worker's."""
        return self._exchange.sent.loader_id

    @property
    def document_url(self) -> str:
        """The URL of that document."""
        return self._exchange.sent.document_url

    @property
    def target_type(self) -> str:
        """What made it: "page", "iframe" (of another process) or "worker"."""
        return self._session.target_type

    @property
    def initiator(self) -> Initiator:
        """What in the page made the request: a script (with its stack), the parser, ..."""
        return self._exchange.sent.initiator

    @property
    def time(self) -> float:
        """When it began, in seconds since 1970; 0 where Chrome did not say."""
        return self._exchange.sent.wall_time

    @property
    def response(self) -> Response | None:
        """The response, once its headers are there."""
        if self._response is None and self._exchange.response is not None:
            self._response = Response(self)
        return self._response

    @property
    def failure(self) -> str:
        """Why it failed; "" when it did not."""
        return self._exchange.failure

    @property
    def ended(self) -> bool:
        """Whether it is over: all of its response came, it was redirected, or it failed."""
        return self._exchange.ended

    @property
    def duration(self) -> float | None:
        """Seconds from its beginning to its end; None while it is under way."""
        finished = self._exchange.finished
        return None if finished is None else max(0.0, finished - self._exchange.sent.timestamp)

    @property
    def timings(self) -> Mapping[str, float]:
        """Milliseconds for blocked, dns, connect, ssl, send, wait and receive, as in HAR; -1: did not apply."""
        return har.timings(self._exchange)

    @property
    def encoded_size(self) -> int | None:
        """Bytes that came over the network, headers included; None before the end."""
        encoded = self._exchange.encoded
        return None if encoded is None or encoded < 0 else int(encoded)

    @property
    def body_size(self) -> int:
        """Bytes of the response's body that came so far, decoded."""
        return self._exchange.decoded

    @property
    def redirected_from(self) -> Request | None:
        """The request whose answer was the redirect to this one."""
        return None if self._exchange.before is None else self._exchange.before.owner

    @property
    def redirected_to(self) -> Request | None:
        """The request that this one was redirected to."""
        return None if self._exchange.after is None else self._exchange.after.owner

    @property
    def redirect_chain(self) -> tuple[Request, ...]:
        """The requests that were redirected to this one, the first one first."""
        chain: list[Request] = []
        each = self.redirected_from
        while each is not None:
            chain.append(each)
            each = each.redirected_from
        return tuple(reversed(chain))

    async def finished(self, *, timeout: float = 30) -> None:
        """Wait until it has ended; look at `failure` then.

        Raises DeadlineExceededError, and BodyUnavailableError when the page's requests are not followed any more:
        nothing reports the end then.
        """
        with within(f"wait for the end of {shown_url(self.url)}", timeout):
            await self._wait_ended()

    # --- for the engine's own parts ---------------------------------------------------------------------------

    def _changed(self) -> None:
        """Wake those who wait for something of this request."""
        if self._lot is not None:
            self._lot.unpark_all()

    async def _wait_change(self) -> None:
        """Wait for the next `changed`. Raises BodyUnavailableError when there will be none."""
        if not self._following.active:
            raise self._unavailable("nothing follows the page's requests any more, and it had not ended")
        await self._park()

    async def _park(self) -> None:
        if self._lot is None:
            self._lot = trio.lowlevel.ParkingLot()
        await self._lot.park()

    async def _wait_ended(self) -> None:
        """Wait for the end. Raises BodyUnavailableError when nothing will report it."""
        await trio.lowlevel.checkpoint()
        while not self.ended:
            await self._wait_change()

    async def _body(self) -> Body:
        """Return the body of the response. Raises BodyUnavailableError, ConnectionLostError."""
        if self._exchange.after is not None:
            raise self._unavailable("it is a redirect; what it led to is in `redirected_to`")
        await self._wait_ended()
        while self._incoming is not None:
            await self._park()  # it is being kept, and comes to an end
        if self._kept is not None:
            return self._kept
        if self.failure:
            raise self._unavailable(f"the request failed ({self.failure})")
        try:
            body = await fetch_body(self._session, self.id)
            return restore_bytes(body, self._response_headers, self.body_size)
        except RemoteError as error:
            note = f"; {self._not_kept}" if self._not_kept else ""
            raise self._unavailable(f"Chrome does not have it ({error.message}){note}") from None
        except SessionGoneError as error:
            raise self._unavailable(f"its page is gone ({error})") from None

    @property
    def _response_headers(self) -> dict[str, str]:
        """The headers of the response as Chrome reports them, none where there is none."""
        response = self._exchange.response
        return self._exchange.response_headers or ({} if response is None else response.headers)

    def _unavailable(self, reason: str) -> BodyUnavailableError:
        """Return the error that says why there is no body."""
        return BodyUnavailableError(url=self.url, reason=reason)


# --- the response --------------------------------------------------------------------------------------------

BACKLOG = 64 * 2**20
"""Bytes of a body that is streamed that may wait for its reader."""


@attrs.frozen(eq=False)
class Response:
    """One response. Its body is not in it: that is asked for."""

    request: Request

    def __repr__(self) -> str:
        return f"<Response {self.status} {shown_url(self.url)[:80]}>"

    @property
    def _reply(self) -> Any:
        return self.request._exchange.response

    @property
    def url(self) -> str:
        """The URL that answered."""
        return self.request.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        status = self.request._exchange.response_status
        return int(self._reply.status if status is None else status)

    @property
    def ok(self) -> bool:
        """Whether the status is of 200 to 299, or there is none because no server was asked (data:, file:)."""
        return 200 <= self.status < 300 or (self.status == 0 and not self.request.failure)

    @property
    def status_text(self) -> str:
        """The words with the status; "" in HTTP/2."""
        return str(self._reply.status_text)

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers; where one came several times, its values are separated by line breaks.

        Those that pages may not see (Set-Cookie) come from another process of Chrome: on a busy machine they can
        come some milliseconds after a page has its answer.
        """
        extra = self.request._exchange.response_headers
        headers: Mapping[str, str] = self._reply.headers if extra is None else extra
        return headers

    def header(self, name: str) -> str | None:
        """Return one header, whatever the case of its name; None when there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers.items() if key.lower() == wanted), None)

    @property
    def mime_type(self) -> str:
        """The type as Chrome took it, such as "text/html"."""
        return str(self._reply.mime_type)

    @property
    def protocol(self) -> str:
        """Such as "http/1.1", "h2", "h3", "data"."""
        return str(self._reply.protocol)

    @property
    def remote_address(self) -> tuple[str, int] | None:
        """Address and port of the server, None where Chrome did not say."""
        return (self._reply.remote_ip.strip("[]"), self._reply.remote_port) if self._reply.remote_ip else None

    @property
    def from_cache(self) -> bool:
        """Whether it came from one of Chrome's caches."""
        return bool(self.request._exchange.from_cache or self._reply.from_disk_cache)

    @property
    def from_service_worker(self) -> bool:
        """Whether a service worker answered."""
        return bool(self._reply.from_service_worker)

    @property
    def timing(self) -> Timing | None:
        """Chrome's own times; `request.timings` are easier to read."""
        timing: Timing | None = self._reply.timing
        return timing

    async def body(self, *, timeout: float = 30) -> bytes:
        """Return the whole body, decoded (gzip, ...), waiting until it is there.

        It is the bytes that came; only where it was not kept as it arrived, Chrome took it for a text, and the
        response's header does not say in which character set, it is that text in UTF-8. Raises
        BodyUnavailableError when it is gone (Chrome forgets bodies when their document goes, and the oldest when
        they are many), when there is none (a redirect, a failure), or when the page is gone;
        DeadlineExceededError, ConnectionLostError.
        """
        with within(f"read the body of {shown_url(self.url)}", timeout):
            return (await self.request._body()).data

    async def text(self, *, timeout: float = 30) -> str:
        """Return the body as text, by Chrome's own decoding, else by its byte order mark or header, else UTF-8.

        Raises as `body` does.
        """
        with within(f"read the body of {shown_url(self.url)}", timeout):
            return text_of(await self.request._body(), dict(self.headers))

    async def json(self, *, timeout: float = 30) -> Any:
        """Return the value of a body that is JSON.

        Raises BodyUndecodableError when it is not, else as `body` does.
        """
        return json_of(self.url, await self.text(timeout=timeout))

    @asynccontextmanager
    async def stream(self, *, backlog: int = BACKLOG) -> AsyncIterator[BodyStream]:
        """Read the body in pieces while it comes: `async for piece in stream`. It is never in memory as a whole.

        At most `backlog` bytes wait for their reader; a slower one gets BodyUnavailableError, as Chrome does not
        wait. A body that has come already is read at once and given in pieces. Raises InvalidArgumentError; the
        iteration raises as `body` does, and BodyUnavailableError where what came is not whole.
        """
        if isinstance(backlog, bool) or not isinstance(backlog, int) or backlog < PIECE:
            expected = f"a number of bytes, {PIECE} or more"
            raise InvalidArgumentError(what="backlog", given=repr(backlog)[:80], expected=expected)
        stream = BodyStream(self.request, backlog)
        try:
            yield stream
        finally:
            stream.close()


# --- the responses that documents came with ------------------------------------------------------------------

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
            if request_id != sent.loader_id or sent.frame_id != self._page.session.frame_id:
                return
        elif kind not in _EXTRA and self._exchanges.known(None, request_id) is None:
            return
        exchange = self._exchanges.take(None, event.decode(kind))
        if exchange is not None and exchange.owner is None:
            exchange.owner = Request(exchange, self._page.session, self._following)
