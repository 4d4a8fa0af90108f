"""fetch_robots: the robots.txt of an origin, as text, or why there is none (RFC 9309, section 2.3).

Rule: every response has one of three meanings. The server has rules. Or it has none, and everything is allowed
(2xx without rules, 4xx, more than five redirects). Or its rules are unknown, and everything is disallowed (5xx,
429, no response in time, an unreadable response). At most `LONGEST_ROBOTS` bytes are read. A redirect from a
foreign host into this machine or its network is not followed.

httpx sends the request instead of a page. That needs no tab and no process, and no browser renders or stores the
response.
"""

from __future__ import annotations

import ssl
import time
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache, partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import attrs

from cdpengine._logs import http_logs_suppressed
from cdpengine._urls.reading import read_url
from cdpengine.errors import (
    InvalidArgumentError,
    PackageMissingError,
    exhausted,
    shortage_of,
    shortages_named,
)
from cdpengine.pool.manners.foreign_hosts import is_foreign
from cdpengine.pool.manners.retry_after import requested_pause

if TYPE_CHECKING:
    import httpx

LONGEST_ROBOTS = 500 * 1024
"""Maximum size of a robots.txt, in bytes: the minimum that RFC 9309, section 2.5, requires crawlers to read."""

_MOST_REDIRECTS = 5  # RFC 9309, section 2.3.1.2
_ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@attrs.frozen
class RobotsAnswer:
    """The result of a fetch: `text` is a robots.txt, "" if the origin has none, or None if it is unavailable.

    `obstacle` is the reason for None, `retry_after` the server's requested seconds until a retry.
    """

    text: str | None
    obstacle: str = ""
    retry_after: float | None = None


@attrs.frozen
class _Unreadable(Exception):
    reason: str


async def fetch_robots(origin: str, *, agent: str, proxy: str | None) -> RobotsAnswer:
    """Fetch the robots.txt of an origin ("https://example.com"). Has no timeout: use a cancel scope.

    `agent` is the User-Agent header. `proxy` is the URL of a proxy; by default the proxy of the environment.

    Raises PackageMissingError without the extra `crawl`, and ResourcesExhaustedError if this machine lacks
    resources.
    """
    url = f"{origin}/robots.txt"
    headers = {
        "User-Agent": agent,
        "Accept": "text/plain, */*;q=0.1",
        "Accept-Encoding": "identity",
        "Connection": "close",
    }
    with shortages_named(partial(exhausted, f"fetch {url}")):
        try:
            import httpx
        except ModuleNotFoundError as error:
            if error.name != "httpx" or shortage_of(error) is not None:
                raise
            raise PackageMissingError("httpx", "fetches robots.txt", "crawl") from error
        try:
            client = httpx.AsyncClient(
                headers=headers,
                proxy=proxy,
                verify=_tls(),
                timeout=None,  # noqa: S113 - the caller's cancel scope
                follow_redirects=False,
            )
        except (ImportError, ValueError) as error:
            if shortage_of(error) is not None:
                raise
            # The error may contain the URL with its password.
            return RobotsAnswer(None, f"the proxy cannot be used ({type(error).__name__})")
        try:
            async with client:
                with http_logs_suppressed():
                    return await _follow(client, url)
        except _Unreadable as error:
            return RobotsAnswer(None, error.reason)
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, UnicodeError) as error:
            for cause in _causes(error):
                if (shortage := shortage_of(cause)) is not None:  # this machine lacks resources
                    raise exhausted(f"fetch {url}", shortage) from error
            return RobotsAnswer(None, _describe(error))


def _describe(error: BaseException) -> str:
    """Return the reason of a failure: the last non-empty message of its causes."""
    reason = type(error).__name__
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its TLS certificate is not accepted: {cause.verify_message}"
        reason = str(cause) or reason
    return reason


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes. httpx raises its errors "from None", so the cause is their context."""
    current: BaseException | None = error
    while current is not None:
        if isinstance(current, BaseExceptionGroup):
            current = current.exceptions[0]
        yield current
        current = current.__cause__ or current.__context__


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    # Cached: loading the system's certificates takes about 20 ms, and each origin has a separate client.
    return ssl.create_default_context()


async def _follow(client: httpx.AsyncClient, url: str) -> RobotsAnswer:
    was_foreign = is_foreign(url)
    for _ in range(_MOST_REDIRECTS + 1):
        async with client.stream("GET", url) as response:
            if response.status_code not in _REDIRECTS or "location" not in response.headers:
                return await _read(response)
            try:
                url = read_url(urljoin(url, response.headers["location"])).text
            except (InvalidArgumentError, ValueError):
                raise _Unreadable("it redirects to something other than a URL of http or https") from None
        if was_foreign and not is_foreign(url):
            raise _Unreadable("it redirects into this machine or its network")
    return RobotsAnswer("")


async def _read(response: httpx.Response) -> RobotsAnswer:
    import httpx

    status = response.status_code
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        headers: Mapping[str, str] = response.headers
        return RobotsAnswer(None, f"HTTP status {status}", requested_pause(status, headers, time.time()))
    if not response.is_success:
        return RobotsAnswer("")
    body = _Body(response.headers.get("content-encoding", "").strip().lower())
    try:
        async for piece in response.aiter_raw():
            if not body.feed(piece):
                # Closing ends the loop. After a `break`, httpx would leave generators open.
                await response.extensions["network_stream"].aclose()
    except (httpx.StreamError, httpx.HTTPError):
        if not body.is_enough:
            raise
    return body.answer()


@attrs.define
class _Body:
    """A body being received, decompressed if a server compresses without request. Its size is bounded."""

    encoding: str
    is_enough: bool = attrs.field(default=False, init=False)
    """Whether the received part is sufficient."""
    _text: bytearray = attrs.field(factory=bytearray, init=False)
    _obstacle: str = attrs.field(default="", init=False)
    _received: int = attrs.field(default=0, init=False)
    _decoder: Any = attrs.field(default=None, init=False)

    def __attrs_post_init__(self) -> None:
        if self.encoding in _ENCODINGS:
            self._decoder = zlib.decompressobj(47)  # gzip or zlib, by its first bytes
        elif self.encoding not in ("", "identity"):
            self._refuse(f"it has the encoding {self.encoding[:40]}, which was not requested")

    def feed(self, piece: bytes) -> bool:
        """Add received data. Return whether more is needed."""
        if self.is_enough:
            return False
        self._received += len(piece)
        try:
            self._text += (
                piece if self._decoder is None else self._decoder.decompress(piece, LONGEST_ROBOTS + 1)
            )
        except zlib.error:
            self._refuse(f"its content does not match its encoding ({self.encoding})")
        self.is_enough |= max(self._received, len(self._text)) > LONGEST_ROBOTS
        return not self.is_enough

    def answer(self) -> RobotsAnswer:
        """Return the result for the received data."""
        if self._obstacle:
            return RobotsAnswer(None, self._obstacle)
        if self.is_enough:
            # The last line may be cut: "Disallow: /" differs from "Disallow: /private".
            del self._text[LONGEST_ROBOTS:]
            del self._text[max(self._text.rfind(b"\n"), self._text.rfind(b"\r")) + 1 :]
        return RobotsAnswer(self._text.decode("utf-8-sig", "replace"))

    def _refuse(self, obstacle: str) -> None:
        self._obstacle, self.is_enough = obstacle, True
