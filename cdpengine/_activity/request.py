"""Network requests of a page, their responses, and the response bodies.

Rule: Request and Response contain the facts that Chrome has reported so far. A request changes until it has ended.
A body was kept on arrival, or is fetched from Chrome within the caller's timeout. If neither is possible,
BodyUnavailableError is raised.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import attrs

from cdpengine._activity import har
from cdpengine._activity.bodies import json_of, text_of
from cdpengine._activity.body_stream import BACKLOG, PIECE, BodyStream
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.request_state import RequestState
from cdpengine._budget import within
from cdpengine._checks import check_count
from cdpengine._protocol.domains import network
from cdpengine._protocol.domains.network import Initiator, Timing
from cdpengine.errors import shown_url


class Request:
    """One request. A redirect ends it and begins another: `redirected_from`, `redirected_to`.

    Times are seconds, sizes bytes. `response` is None until its headers arrive. `failure` is "" or Chrome's
    reason, such as "net::ERR_CONNECTION_REFUSED". `internals` is the engine's own state.
    """

    __slots__ = ("_exchange", "_response", "internals")

    def __init__(self, state: RequestState) -> None:
        self._exchange = state.exchange
        self._response: Response | None = None
        self.internals = state

    def __repr__(self) -> str:
        state = self.failure or (str(self.response.status) if self.response else "under way")
        return f"<Request {self.method} {shown_url(self.url)[:80]} {state}>"

    @property
    def id(self) -> str:
        """Chrome's id, which all requests of a redirect chain share."""
        return self._exchange.id

    @property
    def url(self) -> str:
        """The URL including the fragment. A data: URL above 64 KiB is truncated."""
        return self._exchange.url

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._exchange.sent.request.method or "GET"

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers sent over the network, or until Chrome reports them, the headers it intends to send.

        Names are found in any case.
        """
        return self._exchange.sent_headers

    @property
    def post_data(self) -> str | bytes | None:
        """The whole request body, never a part: a str if its bytes are UTF-8, else bytes.

        None without a body, or if Chrome does not report it; `post_data_missing` then has the reason.
        """
        content = self._exchange.posted.content
        try:
            return None if content is None else content.decode()
        except UnicodeDecodeError:
            return content

    @property
    def post_data_missing(self) -> str:
        """Reason why `post_data` is None although a body exists: files, blobs and streams; "" otherwise.

        A request that may have sent a stream has a reason until its headers or its response rule out a stream.
        """
        return self._exchange.posted.missing

    @property
    def type(self) -> str:
        """Chrome's resource type: "Document", "Script", "XHR", "Fetch", "Image", "WebSocket", ..."""
        return self._exchange.sent.type

    @property
    def is_navigation(self) -> bool:
        """Whether the request loads the document of a frame."""
        return self._exchange.is_navigation

    @property
    def frame_id(self) -> str:
        """Id of the frame that sent the request; "" for a worker."""
        return self._exchange.sent.frame_id

    @property
    def loader_id(self) -> str:
        """Id of the document that sent the request (Chrome's loader id); "" for a worker."""
        return self._exchange.sent.loader_id

    @property
    def document_url(self) -> str:
        """The URL of the document that sent the request."""
        return self._exchange.sent.document_url

    @property
    def target_type(self) -> str:
        """Type of the requesting target: "page", "iframe" (of another process) or "worker"."""
        return self.internals.session.target_type

    @property
    def target_id(self) -> str:
        """Chrome's id of the requesting target, such as the `target_id` of a worker."""
        return self.internals.session.target_id or ""

    @property
    def initiator(self) -> Initiator:
        """The cause of the request in the page: a script (with its stack), the parser, ..."""
        return self._exchange.sent.initiator

    @property
    def time(self) -> float:
        """Start time in seconds since 1970; 0 if unknown."""
        return self._exchange.sent.wall_time

    @property
    def response(self) -> Response | None:
        """The response, once its headers have arrived."""
        if self._response is None and self._exchange.response is not None:
            self._response = Response(self.internals)
        return self._response

    @property
    def failure(self) -> str:
        """Reason of the failure, or ""."""
        return self._exchange.failure

    @property
    def ended(self) -> bool:
        """Whether the request is complete: fully received, redirected, or failed."""
        return self._exchange.ended

    @property
    def duration(self) -> float | None:
        """Seconds from its start to its end, or None while it is running."""
        finished = self._exchange.finished
        return None if finished is None else max(0.0, finished - self._exchange.sent.timestamp)

    @property
    def timings(self) -> Mapping[str, float]:
        """Milliseconds for blocked, dns, connect, ssl, send, wait and receive, as in HAR; -1 if not applicable."""
        return har.timings(self._exchange)

    @property
    def encoded_size(self) -> int | None:
        """Bytes received from the network, including headers; None before the end."""
        encoded = self._exchange.encoded
        return None if encoded is None or encoded < 0 else int(encoded)

    @property
    def body_size(self) -> int:
        """Bytes of the decoded response body received so far."""
        return self._exchange.decoded

    @property
    def redirected_from(self) -> Request | None:
        """The request that redirected to this one."""
        return _request_of_exchange(self._exchange.before)

    @property
    def redirected_to(self) -> Request | None:
        """The request after the redirect."""
        return _request_of_exchange(self._exchange.after)

    @property
    def redirect_chain(self) -> tuple[Request, ...]:
        """The requests that led to this one by redirects, the first one first."""
        chain: list[Request] = []
        each = self.redirected_from
        while each is not None:
            chain.append(each)
            each = each.redirected_from
        return tuple(reversed(chain))

    async def finished(self, *, timeout: float = 30) -> None:
        """Wait until the request has ended. `failure` is then "" or the reason.

        Raises DeadlineExceededError. Raises BodyUnavailableError if the page's requests are no longer followed,
        because nothing reports the end then.
        """
        with within(f"wait for the end of {shown_url(self.url)}", timeout):
            await self.internals.wait_ended()


def request_of(state: RequestState) -> Request:
    """Return the request that users hold. Each state has one."""
    if state.request is None:
        state.request = Request(state)
    request: Request = state.request
    return request


def _request_of_exchange(exchange: Exchange | None) -> Request | None:
    return None if exchange is None else request_of(exchange.state)


@attrs.frozen
class SecurityDetails:
    """The certificate of a server, and the encryption of the connection.

    `protocol` is such as "TLS 1.3". `issuer` and `subject` are common names, and `names` the hosts and addresses
    of the certificate. It is valid from `valid_from` to `valid_to`, in seconds since 1970.
    """

    protocol: str
    cipher: str
    issuer: str
    subject: str
    names: tuple[str, ...]
    valid_from: float
    valid_to: float


# --- the response --------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Response:
    """The response to a request. `body`, `text` and `json` fetch its body."""

    _state: RequestState

    def __repr__(self) -> str:
        return f"<Response {self.status} {shown_url(self.url)[:80]}>"

    @property
    def _exchange(self) -> Exchange:
        return self._state.exchange

    @property
    def _reply(self) -> network.Response:
        reply = self._state.exchange.response
        assert reply is not None
        return reply

    @property
    def request(self) -> Request:
        """The request."""
        return request_of(self._state)

    @property
    def url(self) -> str:
        """The URL of the response."""
        return self._exchange.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        status = self._exchange.response_status
        return self._reply.status if status is None else status

    @property
    def ok(self) -> bool:
        """Whether the status is 200 to 299, or missing because no server was contacted (data:, file:)."""
        return 200 <= self.status < 300 or (self.status == 0 and not self._exchange.failure)

    @property
    def status_text(self) -> str:
        """The reason phrase of the status; "" in HTTP/2."""
        return self._reply.status_text

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers. Names are found in any case; values of a repeated header are separated by line breaks.

        Headers hidden from pages (Set-Cookie) come from another process of Chrome. On a busy machine they can
        arrive some milliseconds after the page has its response.
        """
        return self._exchange.received_headers

    def header(self, name: str) -> str | None:
        """Return a header by its case-insensitive name, or None."""
        return self.headers.get(name)

    @property
    def mime_type(self) -> str:
        """The type detected by Chrome, such as "text/html"."""
        return self._reply.mime_type

    @property
    def protocol(self) -> str:
        """The protocol, such as "http/1.1", "h2", "h3", "data"."""
        return self._reply.protocol

    @property
    def remote_address(self) -> tuple[str, int] | None:
        """Address and port of the server, or None if unknown."""
        return (self._reply.remote_ip.strip("[]"), self._reply.remote_port) if self._reply.remote_ip else None

    @property
    def security_details(self) -> SecurityDetails | None:
        """The certificate and the encryption of the connection, or None without TLS."""
        details = self._reply.security_details
        if details is None:
            return None
        return SecurityDetails(
            protocol=details.protocol,
            cipher=details.cipher,
            issuer=details.issuer,
            subject=details.subject_name,
            names=tuple(details.san_list),
            valid_from=details.valid_from,
            valid_to=details.valid_to,
        )

    @property
    def from_cache(self) -> bool:
        """Whether the response came from one of Chrome's caches."""
        return self._exchange.from_cache or self._reply.from_disk_cache

    @property
    def from_service_worker(self) -> bool:
        """Whether a service worker answered."""
        return self._reply.from_service_worker

    @property
    def timing(self) -> Timing | None:
        """Chrome's timing data; `request.timings` are easier to read."""
        return self._reply.timing

    async def body(self, *, timeout: float = 30) -> bytes:
        """Return the whole decoded body (gzip, ...). Waits until it is complete.

        The bytes are the received ones, with one exception: if the body was not kept, Chrome treats it as text,
        and the header names no character set, they are this text in UTF-8. Raises BodyUnavailableError if the body
        is gone (Chrome drops bodies with their document, and the oldest of many), if no body exists (a redirect, a
        failure), or if the page is gone. Raises DeadlineExceededError, ConnectionLostError.
        """
        with within(f"read the body of {shown_url(self.url)}", timeout):
            return (await self._state.read_body()).data

    async def text(self, *, timeout: float = 30) -> str:
        """Return the body as text, decoded by Chrome, by its byte order mark or header, or as UTF-8.

        Raises the errors of `body`.
        """
        with within(f"read the body of {shown_url(self.url)}", timeout):
            return text_of(await self._state.read_body(), self._exchange.received_headers)

    async def json(self, *, timeout: float = 30) -> Any:
        """Decode a JSON body.

        Raises BodyUndecodableError for invalid JSON, and the errors of `body`.
        """
        return json_of(self.url, await self.text(timeout=timeout))

    @asynccontextmanager
    async def stream(self, *, backlog: int = BACKLOG) -> AsyncIterator[BodyStream]:
        """Read the body in pieces while it arrives: `async for piece in stream`.

        The body is never held in memory as a whole. At most `backlog` bytes are buffered. A reader that falls
        further behind gets BodyUnavailableError, because Chrome does not wait. A complete body is read in one call
        and returned in pieces. Raises InvalidArgumentError. The iteration raises the errors of `body`, and
        BodyUnavailableError for an incomplete body.
        """
        check_count("backlog", backlog, least=PIECE, unit="bytes")
        stream = BodyStream(self._state, backlog)
        try:
            yield stream
        finally:
            stream.close()
