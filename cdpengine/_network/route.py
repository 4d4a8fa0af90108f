"""Route: one intercepted request for one handler.

Chrome pauses a request before it is sent, or when its response has begun. Rule: an invalid answer is refused
before anything is sent, and the route can still be answered.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import trio

from cdpengine._checks import check_string, check_type, invalid
from cdpengine._network.exchange import Overrides, Turn
from cdpengine._network.messages import (
    AbortReason,
    Headers,
    InterceptedRequest,
    InterceptedResponse,
    check_headers,
    check_reason,
    check_status,
    fulfil_params,
    read_file,
)
from cdpengine._pickling import not_picklable
from cdpengine.errors import InvalidArgumentError, InvalidStateError, shown_url

_METHODS_LONGEST = 40


@not_picklable("its `request`")
class Route:
    """The argument of a handler: read `request` (and `response`), and answer it once.

    `continue_`, `fulfill` and `abort` are answers; `fallback` leaves the answer to the next route. `fetch` is not
    an answer: it sends the request to the server, and waits for the response.
    """

    def __init__(self, turn: Turn) -> None:
        self._turn = turn
        self._exchange = turn.exchange

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
        return self._turn.answered

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

        Raises InvalidArgumentError, RemoteError if Chrome refuses, InvalidStateError.
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
        InvalidStateError.
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

        Raises InvalidArgumentError, InvalidStateError.
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
        routes match. Raises InvalidArgumentError, InvalidStateError.
        """
        self._check_open("fallback")
        self._exchange.override(self._overrides(url, method, headers, post_data, status))
        self._turn.release("fallback")
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
        InvalidArgumentError, RemoteError if Chrome refuses, InvalidStateError.
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
            raise InvalidStateError(
                f"{tried} the route of {shown_url(self.request.url)}",
                f"it was already answered ({self.answered}); answer each route once",
            )

    async def _answer(self, name: str, method: str, params: dict[str, Any]) -> None:
        self._turn.ended = name
        try:
            await self._exchange.answer(name, method, params)
        finally:
            if not self._exchange.answered:
                self._turn.ended = ""  # Chrome refused the answer

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
                raise invalid("status", status, "none before a response")
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
    expected = "a whole URL, with its scheme"
    if url is not None and "://" not in check_string("url", url, expected):
        raise invalid("url", shown_url(url), expected)
    return url


def _check_method(method: str | None) -> str | None:
    if method is not None and (
        not isinstance(method, str) or not method.isalpha() or len(method) > _METHODS_LONGEST
    ):
        raise invalid("method", method, 'a word such as "POST"')
    return method


def _check_data(data: bytes | str | None) -> bytes | None:
    if isinstance(data, str):
        return data.encode()
    check_type("post_data", data, bytes | bytearray | memoryview | None, "bytes or str")
    return None if data is None else bytes(data)
