"""Exchange: a request that Chrome has paused, and its answer. Turn: one handler's turn at it.

Rule: an exchange is answered once, by the first answer of a handler. If all handlers pass it on, it continues
unchanged, or with their changes. An answer is sent to Chrome as a whole, even if its sender is cancelled. If the
page no longer needs a request, that is not an error.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

import attrs
import trio

from cdpengine._network.entered_secrets import entered_by
from cdpengine._network.messages import AbortReason, InterceptedRequest, InterceptedResponse, header_entries
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    BodyUnavailableError,
    ConnectionLostError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)


@attrs.define(eq=False)
class Turn:
    """One handler's turn at an exchange. `ended` is the answer or the reason that ended it, "" before."""

    exchange: Exchange
    ended: str = ""

    @property
    def answered(self) -> str:
        """The answer or the reason that ended the turn or the exchange, or ""."""
        return self.ended or self.exchange.answered

    def release(self, why: str) -> None:
        """End the turn, and pass the exchange on, unless it is answered."""
        if not self.answered:
            self.ended = why
            self.exchange.pass_on()

    def fail(self, why: str) -> None:
        """End the turn, and fail the request, unless it is answered."""
        if not self.answered:
            self.ended = f"the request failed: {why}"
            self.exchange.abort("Failed")


_GONE = ("Invalid InterceptionId", "Fetch domain is not enabled")
"""Chrome's messages for a request that is no longer paused: the page dropped it, or it was continued."""

_SESSION_LOST = (SessionGoneError, TargetCrashedError, ConnectionLostError)
_FIRST_PROBE, _LONGEST_PROBE = 0.1, 1.0
"""Seconds between probes whether the page still needs a request that `fetch` has sent.

Chrome reports no event when a page cancels a request while the Network domain is off.
"""


@attrs.frozen
class Overrides:
    """Changes to a request, or to the status and headers of a response. None: unchanged."""

    url: str | None = None
    method: str | None = None
    headers: tuple[tuple[str, str], ...] | None = None
    post_data: bytes | None = None
    status: int | None = None

    def over(self, earlier: Overrides) -> Overrides:
        """Return these changes merged with `earlier` ones; these have priority."""
        overridden = {name: value for name in _OVERRIDDEN if (value := getattr(self, name)) is not None}
        return attrs.evolve(earlier, **overridden)


_OVERRIDDEN = ("url", "method", "headers", "post_data", "status")


Taker: TypeAlias = "Callable[[Exchange], bool]"
"""Takes an exchange, to answer it or pass it on. Returns False if it does not take it."""


class Exchange:
    """One paused request. `takers` are tried one after the other. `response` is None before the request is sent.

    `original_request` is the page's request, `request` the changed one. `fetching` are the session's exchanges
    that `fetch` sent, by request id, shared by all exchanges.
    """

    def __init__(
        self,
        session: Session,
        request_id: str,
        request: InterceptedRequest,
        response: InterceptedResponse | None,
        takers: Sequence[Taker],
        fetching: dict[str, Exchange],
    ) -> None:
        self.session = session
        self.request_id = request_id
        self.original_request = request
        self.request = request
        self.response = response
        self.takers = list(takers)
        self.overrides = Overrides()
        self.answered = ""
        self.dropped = False
        """Whether the page has cancelled the request."""
        self._fetching = fetching
        self._reason: AbortReason = "Failed"
        self._responded: trio.Event | None = None

    def pass_on(self) -> None:
        """Pass the request to the next taker. Without one, it continues, with the changes so far."""
        if self._responded is not None:
            # The request is on its way to the server. When the response begins, the response routes receive it.
            self._forget_fetch()
            self.answered = "continued"
            return
        while self.takers:
            if self.takers.pop(0)(self):
                return
        self.answered = self.answered or "continued"
        self.send(*self.continuing(self.overrides))

    def override(self, overrides: Overrides) -> None:
        """Change the request that is sent in the end, and that later takers see."""
        self.overrides = overrides.over(self.overrides)
        if self.response is None:
            changed: dict[str, Any] = {
                name: value
                for name in ("url", "method", "post_data")
                if (value := getattr(overrides, name)) is not None
            }
            if overrides.headers is not None:
                changed["headers"] = dict(overrides.headers)
            if overrides.post_data is not None:
                changed["post_data_missing"] = ""
            self.request = attrs.evolve(self.request, **changed)

    # --- commands to Chrome ----------------------------------------------------------------------------------

    def continuing(self, overrides: Overrides) -> tuple[str, dict[str, Any]]:
        """Return the command that continues it, with changes or without."""
        params: dict[str, Any] = {}
        if self.response is not None:
            if overrides.status is None and overrides.headers is None:
                return "Fetch.continueRequest", params
            # Chrome requires both if one is changed.
            status = self.response.status if overrides.status is None else overrides.status
            headers = self.response.header_list if overrides.headers is None else overrides.headers
            return "Fetch.continueResponse", {
                "responseCode": status,
                "responseHeaders": header_entries(headers),
            }
        if overrides.url is not None:
            params["url"] = overrides.url
        if overrides.method is not None:
            params["method"] = overrides.method
        if overrides.headers is not None:
            params["headers"] = header_entries(overrides.headers)
        if overrides.post_data is not None:
            params["postData"] = base64.b64encode(overrides.post_data).decode("ascii")
        return "Fetch.continueRequest", params

    def abort(self, reason: AbortReason) -> None:
        """Fail the request, or its response if it is on its way to the server. Does not wait."""
        self.answered = "abort"
        self._reason = reason
        if self._responded is not None:
            return
        self.send("Fetch.failRequest", {"errorReason": reason})

    def send(self, method: str, params: dict[str, Any]) -> SharedCall | None:
        """Send an answer, or return None if the session has ended. Cancelling the caller does not withdraw it."""
        for value in entered_by(params, self.original_request, self.response):
            self.session.connection.instruments.add_secret(value)
        try:
            return self.session.post_shared(method, {"requestId": self.request_id, **params})
        except (SessionGoneError, ConnectionLostError):
            return None

    async def answer(self, name: str, method: str, params: dict[str, Any]) -> None:
        """Send an answer and wait for Chrome's reply.

        Raises RemoteError if Chrome refuses; the request stays paused.
        """
        self.answered = name
        call = None if self.dropped else self.send(method, params)
        try:
            if call is not None:
                await call.wait()
        except RemoteError as error:
            if not error.message.startswith(_GONE):
                self.answered = ""
                raise
        except (SessionGoneError, ConnectionLostError):
            pass  # the page ended too, and needs no answer

    async def fetch(self, method: str, params: dict[str, Any]) -> InterceptedResponse:
        """Send the request, and return the response when it has begun. Raises RemoteError if Chrome refuses.

        For a request that the page cancelled, before or meanwhile, the response has the failure "Aborted".
        """
        responded = self._responded = trio.Event()
        self._fetching[self.request_id] = self
        call = self.send(method, {**params, "interceptResponse": True})
        try:
            if call is not None:
                await call.wait()
                await self._wait_for(responded)
        except _SESSION_LOST:
            pass  # the page ended too, and needs no response
        except RemoteError as error:
            if not error.message.startswith(_GONE):
                self._forget_fetch()
                raise
        if self.response is None:
            self._forget_fetch()
            self.dropped = True
            self.response = InterceptedResponse(url=self.request.url, status=0, failure="Aborted")
        return self.response

    async def _wait_for(self, responded: trio.Event) -> None:
        """Wait for the response. Raises RemoteError (`_GONE`) or `_SESSION_LOST` if the page does not need it."""
        pause = _FIRST_PROBE
        while True:
            with trio.move_on_after(pause):
                await responded.wait()
                return
            try:
                # Chrome's refusal shows whether the request is still on its way or gone.
                await self.session.call("Fetch.getResponseBody", requestId=self.request_id)
            except RemoteError as error:
                if error.message.startswith(_GONE) and not responded.is_set():
                    raise
            pause = min(2 * pause, _LONGEST_PROBE)

    def _forget_fetch(self) -> None:
        self._responded = None
        self._fetching.pop(self.request_id, None)

    def respond(self, response: InterceptedResponse, takers: Sequence[Taker]) -> None:
        """Accept the response of a request of `fetch`; `takers` intercept responses."""
        self.response, self.takers = response, list(takers)
        responded, self._responded = self._responded, None
        if self.answered:
            self.abort(self._reason)  # the handler was cancelled meanwhile
        elif responded is not None:
            responded.set()

    # --- queries to Chrome -----------------------------------------------------------------------------------

    def body_reader(self) -> Callable[[], Awaitable[bytes]]:
        """Return a reader for the response body. It is valid while the request is paused."""
        return self._read_body

    async def _read_body(self) -> bytes:
        try:
            reply = await self.session.request(
                "Fetch.getResponseBody", {"requestId": self.request_id}, ResponseBodyReply
            )
            return base64.b64decode(reply.body) if reply.base64_encoded else reply.body.encode()
        except RemoteError as error:
            reason = error.message
            if error.message.startswith(_GONE):
                self.dropped = not self.answered
                reason = "the route was answered, or the page cancelled the request"
            elif "headers received" in error.message:
                reason = "a redirect has none"
            raise BodyUnavailableError(self.request.url, reason, intercepted=True) from None
        except binascii.Error:
            raise ProtocolError("it has invalid base64", "Fetch.getResponseBody") from None
