"""Request: what a page asked the network for, and what came of it.

Rule: it shows what Chrome has reported so far, and goes on changing until the request has ended. A body comes from
what was kept of it, or from Chrome while Chrome has it; where neither has it, BodyUnavailableError says so.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs
import trio

from cdpengine._activity import har
from cdpengine._activity.bodies import Body, Incoming, fetch_body, restore_bytes
from cdpengine._activity.exchange import Exchange
from cdpengine._activity.response import Response
from cdpengine._budget import within
from cdpengine._protocol.domains.network import Initiator
from cdpengine._protocol.session import Session
from cdpengine.errors import BodyUnavailableError, RemoteError, SessionGoneError, shown_url


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
        "_lot",
        "_response",
        "end_delivered",
        "exchange",
        "following",
        "incoming",
        "kept",
        "not_kept",
        "response_delivered",
        "session",
        "streams",
    )

    def __init__(self, exchange: Exchange, session: Session, following: Following) -> None:
        self.exchange = exchange
        self.session = session
        self.following = following
        self.kept: Body | None = None
        self.not_kept = ""
        self.incoming: Incoming | None = None
        self.streams: list[Incoming] = []
        self.end_delivered = False
        self.response_delivered = False
        self._response: Response | None = None
        self._lot: trio.lowlevel.ParkingLot | None = None

    def __repr__(self) -> str:
        state = self.failure or (str(self.response.status) if self.response else "under way")
        return f"<Request {self.method} {shown_url(self.url)[:80]} {state}>"

    @property
    def id(self) -> str:
        """Chrome's id; all requests of a chain of redirects have the same."""
        return self.exchange.sent.request_id

    @property
    def url(self) -> str:
        """Where to, fragment included. A data: URL of more than 64 KiB is cut."""
        return self.exchange.sent.request.url + self.exchange.sent.request.url_fragment

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self.exchange.sent.request.method or "GET"

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers as they went over the network, if Chrome has reported them, else as they were to be sent."""
        extra = self.exchange.request_headers
        return self.exchange.sent.request.headers if extra is None else extra

    @property
    def post_data(self) -> str | None:
        """What was sent as text, None when nothing was, or too much for Chrome's event."""
        return self.exchange.sent.request.post_data

    @property
    def type(self) -> str:
        """Chrome's word for what it is for: "Document", "Script", "XHR", "Fetch", "Image", "WebSocket", ..."""
        return self.exchange.sent.type

    @property
    def is_navigation(self) -> bool:
        """Whether it is for the document of a frame."""
        return self.type == "Document" and self.exchange.sent.request_id == self.exchange.sent.loader_id

    @property
    def frame_id(self) -> str:
        """The frame that it is for; "" for a worker's."""
        return self.exchange.sent.frame_id

    @property
    def loader_id(self) -> str:
        """The document that it is for; "" for a worker's."""
        return self.exchange.sent.loader_id

    @property
    def document_url(self) -> str:
        """The URL of that document."""
        return self.exchange.sent.document_url

    @property
    def target_type(self) -> str:
        """What asked: "page", "iframe" (of another process) or "worker"."""
        return self.session.target_type

    @property
    def initiator(self) -> Initiator:
        """What in the page made the request: a script (with its stack), the parser, ..."""
        return self.exchange.sent.initiator

    @property
    def time(self) -> float:
        """When it began, in seconds since 1970; 0 where Chrome did not say."""
        return self.exchange.sent.wall_time

    @property
    def response(self) -> Response | None:
        """The response, once its headers are there."""
        if self._response is None and self.exchange.response is not None:
            self._response = Response(self)
        return self._response

    @property
    def failure(self) -> str:
        """Why it came to nothing; "" when it did not."""
        return self.exchange.failure

    @property
    def ended(self) -> bool:
        """Whether it is over: all of its response came, it was redirected, or it failed."""
        return self.exchange.ended

    @property
    def duration(self) -> float | None:
        """Seconds from its beginning to its end; None while it is under way."""
        finished = self.exchange.finished
        return None if finished is None else max(0.0, finished - self.exchange.sent.timestamp)

    @property
    def timings(self) -> Mapping[str, float]:
        """Milliseconds for blocked, dns, connect, ssl, send, wait and receive, as in HAR; -1: did not apply."""
        return har.timings(self.exchange)

    @property
    def encoded_size(self) -> int | None:
        """Bytes that came over the network, headers included; None before the end."""
        encoded = self.exchange.encoded
        return None if encoded is None or encoded < 0 else int(encoded)

    @property
    def body_size(self) -> int:
        """Bytes of the response's body that came so far, decoded."""
        return self.exchange.decoded

    @property
    def redirected_from(self) -> Request | None:
        """The request whose answer was the redirect to this one."""
        return None if self.exchange.before is None else self.exchange.before.owner

    @property
    def redirected_to(self) -> Request | None:
        """The request that this one was redirected to."""
        return None if self.exchange.after is None else self.exchange.after.owner

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

        Raises DeadlineExceededError, and BodyUnavailableError when the page's requests are not followed any more,
        so that its end will not be heard of.
        """
        with within(f"wait for the end of {shown_url(self.url)}", timeout):
            await self.wait_ended()

    # --- for the engine's own parts ---------------------------------------------------------------------------

    def changed(self) -> None:
        """Wake those who wait for something of this request."""
        if self._lot is not None:
            self._lot.unpark_all()

    async def wait_change(self) -> None:
        """Wait for the next `changed`. Raises BodyUnavailableError when there will be none."""
        if not self.following.active:
            raise self.unavailable("nothing follows the page's requests any more, and it had not ended")
        await self._parked()

    async def _parked(self) -> None:
        if self._lot is None:
            self._lot = trio.lowlevel.ParkingLot()
        await self._lot.park()

    async def wait_ended(self) -> None:
        """Wait for the end. Raises BodyUnavailableError when it will not be heard of."""
        await trio.lowlevel.checkpoint()
        while not self.ended:
            await self.wait_change()

    async def body(self) -> Body:
        """Return the body of the response. Raises BodyUnavailableError, ConnectionLostError."""
        if self.exchange.after is not None:
            raise self.unavailable("it is a redirect; what it led to is in `redirected_to`")
        await self.wait_ended()
        while self.incoming is not None:
            await self._parked()  # it is being kept, and comes to an end
        if self.kept is not None:
            return self.kept
        if self.failure:
            raise self.unavailable(f"the request failed ({self.failure})")
        try:
            body = await fetch_body(self.session, self.id)
            return restore_bytes(body, self.response_headers, self.body_size)
        except RemoteError as error:
            note = f"; {self.not_kept}" if self.not_kept else ""
            raise self.unavailable(f"Chrome does not have it ({error.message}){note}") from None
        except SessionGoneError as error:
            raise self.unavailable(f"its page is gone ({error})") from None

    @property
    def response_headers(self) -> dict[str, str]:
        """The headers of the response as Chrome reports them, none where there is none."""
        response = self.exchange.response
        return self.exchange.response_headers or ({} if response is None else response.headers)

    def unavailable(self, reason: str) -> BodyUnavailableError:
        """Return the error that says why there is no body."""
        return BodyUnavailableError(url=self.url, reason=reason)
