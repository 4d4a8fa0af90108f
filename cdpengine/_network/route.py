"""Route: one intercepted request for one handler. Exchange: the paused request in Chrome, and its answer.

Chrome pauses a request before it is sent, or when its response has begun. Rule: an exchange is answered once, by
the first answer of a handler. If all handlers pass it on, it continues unchanged, or with their changes. An
invalid answer is refused before anything is sent, and the route can still be answered. An answer is sent to Chrome
as a whole, even if its sender is cancelled. A request that the page no longer needs is not an error.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import attrs
import trio

from cdpengine._network.entered_secrets import entered_by
from cdpengine._network.messages import (
    AbortReason,
    Headers,
    InterceptedRequest,
    InterceptedResponse,
    check_headers,
    check_reason,
    check_status,
    fulfil_params,
    header_entries,
    read_file,
)
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.domains.network import ResponseBodyReply
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    InterceptedBodyUnavailableError,
    InvalidArgumentError,
    ProtocolError,
    RemoteError,
    RouteAnsweredError,
    SessionGoneError,
    TargetCrashedError,
    shown_url,
)

_METHODS_LONGEST = 40


@not_picklable("its `request`")
class Route:
    """The argument of a handler: read `request` (and `response`), and answer it once.

    `continue_`, `fulfill` and `abort` are answers; `fallback` leaves the answer to the next route. `fetch` is not
    an answer: it sends the request to the server, and waits for the response.
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._closed = ""

    def __repr__(self) -> str:
        return f"<Route {self.request.method} {shown_url(self.request.url)[:80]}>"

    @property
    def request(self) -> InterceptedRequest:
        """The request, with the changes of earlier routes."""
        return self._exchange.request

    @property
    def response(self) -> InterceptedResponse | None:
        """The response, or None before the request is sent."""
        return self._exchange.response

    @property
    def answered(self) -> str:
        """The name of the answer, or "" before one is given."""
        return self._closed or self._exchange.answered

    async def continue_(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: Headers | None = None,
        post_data: bytes | str | None = None,
        status: int | None = None,
    ) -> None:
        """Continue the request to the server, or the response to the page, with these changes.

        `headers` replace all headers: `{**route.request.headers, "X-Test": "1"}` adds one. The page does not see a
        changed `url`. For a response, only `status` and `headers` can be changed; `fulfill` replaces its body.
        Earlier routes are not called. A request that the page no longer needs is not an error.

        Raises InvalidArgumentError, RemoteError if Chrome refuses, RouteAnsweredError.
        """
        self._check_open("continue_")
        overrides = self._overrides(url, method, headers, post_data, status).over(self._exchange.overrides)
        await self._answer("continue_", *self._exchange.continuing(overrides))

    async def fulfill(
        self,
        *,
        status: int | None = None,
        headers: Headers | None = None,
        body: bytes | str | None = None,
        json: Any = None,
        path: str | Path | None = None,
        content_type: str | None = None,
    ) -> None:
        """Answer the page instead of the server, with one of `body`, `json`, the file at `path`, or an empty body.

        The default `status` is 200, without other headers; if the route has a response, the defaults are its
        status and headers. The default `content_type` is "application/json" for `json`, derived from the extension
        of `path`, and "text/plain; charset=utf-8" for a string. The maximum body is about 70 MB.

        Raises InvalidArgumentError (also for an unreadable file), RemoteError if Chrome refuses,
        RouteAnsweredError.
        """
        self._check_open("fulfill")
        content = body
        if path is not None:
            if body is not None or json is not None:
                raise InvalidArgumentError(
                    what="fulfill", given="several of body, json and path", expected="one of them"
                )
            content = await read_file(path)
            self._check_open("fulfill")
        params = fulfil_params(
            status,
            headers,
            content,
            json,
            content_type,
            file_name=None if path is None else Path(path).name,
            response=self.response,
        )
        await self._answer("fulfill", "Fetch.fulfillRequest", params)

    async def abort(self, reason: AbortReason = "Failed") -> None:
        """Fail the request, with one of the reasons in `cdpengine.network.ABORT_REASONS`.

        Raises InvalidArgumentError, RouteAnsweredError.
        """
        self._check_open("abort")
        known = check_reason(reason)
        await self._answer("abort", "Fetch.failRequest", {"errorReason": known})

    async def fallback(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: Headers | None = None,
        post_data: bytes | str | None = None,
        status: int | None = None,
    ) -> None:
        """Leave the answer to the next route, which was added before this one. Without one, the request continues.

        The changes are as in `continue_`, and the next route sees them. The page's original URL decides which
        routes match. Raises InvalidArgumentError, RouteAnsweredError.
        """
        self._check_open("fallback")
        self._exchange.override(self._overrides(url, method, headers, post_data, status))
        self._closed = "fallback"
        self._exchange.pass_on()
        await trio.lowlevel.checkpoint()

    async def fetch(
        self,
        *,
        url: str | None = None,
        method: str | None = None,
        headers: Headers | None = None,
        post_data: bytes | str | None = None,
    ) -> InterceptedResponse:
        """Send the request, with changes as in `continue_`, and return the response as soon as it has begun.

        The route then has a `response` and must still be answered: `continue_()` passes it to the page unchanged,
        `fulfill(body=...)` replaces its body. A redirect is such a response. A failed request has a `failure`, and
        so has a request that the page cancelled ("Aborted"), for which an answer has no effect. Raises
        InvalidArgumentError, RemoteError if Chrome refuses, RouteAnsweredError.
        """
        self._check_open("fetch")
        exchange = self._exchange
        if exchange.response is not None:
            raise InvalidArgumentError(
                what="fetch", given="a route that has its response", expected="a route without one"
            )
        overrides = self._overrides(url, method, headers, post_data, None).over(exchange.overrides)
        name, params = exchange.continuing(overrides)
        exchange.override(overrides)
        exchange.overrides = Overrides()  # the changes are sent; later changes apply to the response
        response = await exchange.fetch(name, params)
        self._check_open("fetch")
        return response

    # --- shared ----------------------------------------------------------------------------------------------

    def _check_open(self, tried: str) -> None:
        if self.answered:
            raise RouteAnsweredError(url=self.request.url, answer=self.answered, tried=tried)

    async def _answer(self, name: str, method: str, params: dict[str, Any]) -> None:
        self._closed = name
        try:
            await self._exchange.answer(name, method, params)
        finally:
            if not self._exchange.answered:
                self._closed = ""  # Chrome refused the answer

    def _overrides(
        self,
        url: str | None,
        method: str | None,
        headers: Headers | None,
        post_data: bytes | str | None,
        status: int | None,
    ) -> Overrides:
        if self.response is None:
            if status is not None:
                raise InvalidArgumentError(
                    what="status", given=repr(status)[:80], expected="none before a response"
                )
        elif not (url is None and method is None and post_data is None):
            expected = "status and headers, because the request was already sent"
            raise InvalidArgumentError(what="changes", given="url, method or post_data", expected=expected)
        return Overrides(
            url=_check_url(url),
            method=_check_method(method),
            headers=None if headers is None else tuple(check_headers(headers)),
            post_data=_check_data(post_data),
            status=None if status is None else check_status(status),
        )


def _check_url(url: str | None) -> str | None:
    if url is not None and (not isinstance(url, str) or "://" not in url):
        given = repr(shown_url(url)) if isinstance(url, str) else f"a {type(url).__name__}"
        raise InvalidArgumentError(what="url", given=given, expected="a whole URL, with its scheme")
    return url


def _check_method(method: str | None) -> str | None:
    if method is not None and (
        not isinstance(method, str) or not method.isalpha() or len(method) > _METHODS_LONGEST
    ):
        raise InvalidArgumentError(what="method", given=repr(method)[:80], expected='a word such as "POST"')
    return method


def _check_data(data: bytes | str | None) -> bytes | None:
    if isinstance(data, str):
        return data.encode()
    if data is not None and not isinstance(data, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(
            what="post_data", given=f"a {type(data).__name__}", expected="bytes or str"
        )
    return None if data is None else bytes(data)


# --- the paused request, and its answer ----------------------------------------------------------------------

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
            raise InterceptedBodyUnavailableError(url=self.request.url, reason=reason) from None
        except binascii.Error:
            raise ProtocolError("Fetch.getResponseBody answered with invalid base64") from None
