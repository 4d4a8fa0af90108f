"""Response: the answer to a request, and its body.

Rule: it shows what Chrome has reported so far. The body is asked for when it is wanted, within the caller's time.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import attrs

from cdpengine._activity.bodies import PIECE, BodyStream, json_of, text_of
from cdpengine._budget import within
from cdpengine._protocol.domains.network import Timing
from cdpengine.errors import InvalidArgumentError, shown_url

if TYPE_CHECKING:
    from cdpengine._activity.request import Request

BACKLOG = 64 * 2**20
"""Bytes of a body that is streamed that may wait for its reader."""


@attrs.frozen(eq=False)
class Response:
    """One response; its body excepted, which is asked for."""

    request: Request

    def __repr__(self) -> str:
        return f"<Response {self.status} {shown_url(self.url)[:80]}>"

    @property
    def _reply(self) -> Any:
        return self.request.exchange.response

    @property
    def url(self) -> str:
        """Where it is from."""
        return self.request.url

    @property
    def status(self) -> int:
        """The HTTP status."""
        status = self.request.exchange.response_status
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
        extra = self.request.exchange.response_headers
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
        return bool(self.request.exchange.from_cache or self._reply.from_disk_cache)

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
            return (await self.request.body()).data

    async def text(self, *, timeout: float = 30) -> str:
        """Return the body as text, by Chrome's own decoding, else by its byte order mark or header, else UTF-8.

        Raises as `body` does.
        """
        with within(f"read the body of {shown_url(self.url)}", timeout):
            return text_of(await self.request.body(), dict(self.headers))

    async def json(self, *, timeout: float = 30) -> Any:
        """Return the value of a body that is JSON.

        Raises BodyUndecodableError when it is not, else as `body` does.
        """
        return json_of(self.url, await self.text(timeout=timeout))

    @asynccontextmanager
    async def stream(self, *, backlog: int = BACKLOG) -> AsyncIterator[BodyStream]:
        """Read the body in pieces while it comes: `async for piece in stream`. It is never in memory as a whole.

        At most `backlog` bytes wait for their reader, who else gets BodyUnavailableError: Chrome does not wait. A
        body that has come already is read at once and given in pieces. Raises InvalidArgumentError; the iteration
        raises as `body` does, and BodyUnavailableError where what came is not whole.
        """
        if isinstance(backlog, bool) or not isinstance(backlog, int) or backlog < PIECE:
            expected = f"a number of bytes, {PIECE} or more"
            raise InvalidArgumentError(what="backlog", given=repr(backlog)[:80], expected=expected)
        stream = BodyStream(self.request, backlog)
        try:
            yield stream
        finally:
            stream.close()
