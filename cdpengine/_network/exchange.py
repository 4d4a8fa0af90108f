"""Exchange: one request that Chrome has stopped, before it is sent or when its response has begun, and its answer.

Rule: an exchange is answered once, by the first answer: a handler's, or, when all handlers have passed it on, by
continuing as without interception. An answer is sent to Chrome as a whole, even when its sender is cancelled. A
request that the page no longer wants is no error.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import attrs
import trio

from cdpengine._network.constants import AbortReason
from cdpengine._network.headers import header_entries, secret_values
from cdpengine._network.messages import InterceptedRequest, InterceptedResponse
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    InterceptedBodyUnavailableError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
)

_GONE = ("Invalid InterceptionId", "Fetch domain is not enabled")
"""Chrome's words for a request that is not stopped any more: the page dropped it, or it was continued."""


@attrs.frozen
class Overrides:
    """What is changed of a request, or (status and headers) of a response, before it goes on. None: as it is."""

    url: str | None = None
    method: str | None = None
    headers: tuple[tuple[str, str], ...] | None = None
    post_data: bytes | None = None
    status: int | None = None

    def over(self, earlier: Overrides) -> Overrides:
        """Return both together, this one first."""
        given = {name: value for name in _OVERRIDDEN if (value := getattr(self, name)) is not None}
        return attrs.evolve(earlier, **given)


_OVERRIDDEN = ("url", "method", "headers", "post_data", "status")


class Taker(Protocol):
    """Somebody who may answer an exchange, or pass it on."""

    def take(self, exchange: Exchange) -> bool:
        """Take charge of the exchange. False: it does not want it, or not any more."""


class Exchange:
    """One stopped request. `takers` are asked one after the other. `response` is None while it has not been sent.

    `asked` is the request as the page made it, `request` with what was
    changed. `fetching` are the exchanges of the session that `fetch` sent on, by request id, shared by all.
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
        self.asked = request
        self.request = request
        self.response = response
        self.takers = list(takers)
        self.overrides = Overrides()
        self.answered = ""
        self._fetching = fetching
        self._reason: AbortReason = "Failed"
        self._responded: trio.Event | None = None

    def pass_on(self) -> None:
        """Let the next taker have it; where there is none, it goes on, with what was changed so far."""
        if self._responded is not None:
            # It is on its way to the server: the routes of responses get it from there.
            self._responded = None
            self._fetching.pop(self.request_id, None)
            self.answered = "continued"
            return
        while self.takers:
            if self.takers.pop(0).take(self):
                return
        self.answered = self.answered or "continued"
        self.send(*self.continuing(self.overrides))

    def override(self, overrides: Overrides) -> None:
        """Change what goes on in the end, and what the takers that follow see of the request."""
        self.overrides = overrides.over(self.overrides)
        if self.response is None:
            seen: dict[str, Any] = {
                name: value
                for name in ("url", "method", "post_data")
                if (value := getattr(overrides, name)) is not None
            }
            if overrides.headers is not None:
                seen["headers"] = dict(overrides.headers)
            self.request = attrs.evolve(self.request, **seen)

    # --- what is sent to Chrome ------------------------------------------------------------------------------

    def continuing(self, overrides: Overrides) -> tuple[str, dict[str, Any]]:
        """Return the command that continues it, changed or not."""
        params: dict[str, Any] = {}
        if self.response is not None:
            if overrides.status is None and overrides.headers is None:
                return "Fetch.continueRequest", params
            # Chrome wants both where one is changed.
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
        """Fail the request; one that is on its way to the server, when its response begins. Not waited for."""
        self.answered = "abort"
        self._reason = reason
        if self._responded is not None:
            return
        self.send("Fetch.failRequest", {"errorReason": reason})

    def send(self, method: str, params: dict[str, Any]) -> SharedCall | None:
        """Send an answer; None when its session is gone. Cancelling the caller does not take it back."""
        if self.session.error(method) is not None:
            return None
        connection = self.session.connection
        for value in self._secrets(params.get("headers", params.get("responseHeaders", ()))):
            connection.instruments.add_secret(value)
        try:
            return connection.post_shared(method, {"requestId": self.request_id, **params}, self.session.id)
        except (SessionGoneError, ConnectionLostError):
            return None

    def _secrets(self, headers: Iterable[Mapping[str, str]]) -> list[str]:
        """Return the headers' values that can be secrets, but for those that are the page's or a server's."""
        foreign = set(self.asked.headers.values())
        if self.response is not None:
            foreign.update(value for _name, value in self.response.header_list)
        given = [(each["name"], each["value"]) for each in headers if each["value"] not in foreign]
        return secret_values(given)

    async def answer(self, name: str, method: str, params: dict[str, Any]) -> None:
        """Send an answer and wait for Chrome's word. Raises RemoteError where it is refused: none is given."""
        self.answered = name
        call = self.send(method, params)
        try:
            if call is not None:
                await call.wait()
        except RemoteError as error:
            if not error.message.startswith(_GONE):
                self.answered = ""
                raise
        except (SessionGoneError, ConnectionLostError):
            pass  # and with it the page that wanted an answer

    async def fetch(self, method: str, params: dict[str, Any]) -> InterceptedResponse:
        """Send the request, and return the response when it has begun. Raises RemoteError when it is refused."""
        responded = self._responded = trio.Event()
        self._fetching[self.request_id] = self
        call = self.send(method, {**params, "interceptResponse": True})
        try:
            if call is not None:
                await call.wait()
            await responded.wait()
        except (RemoteError, SessionGoneError, ConnectionLostError):
            self._responded = None
            self._fetching.pop(self.request_id, None)
            raise
        assert self.response is not None
        return self.response

    def respond(self, response: InterceptedResponse, takers: Sequence[Taker]) -> None:
        """Take the response to what `fetch` sent; `takers` are those who intercept responses."""
        self.response, self.takers = response, list(takers)
        responded, self._responded = self._responded, None
        if self.answered:
            self.abort(self._reason)  # the handler was given up meanwhile
        elif responded is not None:
            responded.set()

    # --- what Chrome is asked --------------------------------------------------------------------------------

    def body_reader(self) -> Callable[[], Awaitable[bytes]]:
        """Return what reads the body of the response, for as long as this is stopped at it."""
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
                reason = "the route was answered, or the page does not want it any more"
            elif "headers received" in error.message:
                reason = "a redirect has none"
            raise InterceptedBodyUnavailableError(url=self.request.url, reason=reason) from None
        except binascii.Error:
            raise ProtocolError("Fetch.getResponseBody answered with a text that is not base64") from None
