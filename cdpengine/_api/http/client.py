"""HttpClient: HTTP requests of the program with the state of a browser context: `context.request`.

Rule: requests share the context's cookies in both directions, and use its user agent, languages, extra headers,
HTTP credentials and proxy. They run in no page: no page sees them, and routes and `page.activity` do not list
them. Each call opens its own connections and closes them, however it ends.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack
from urllib.parse import urlencode, urljoin

import attrs
import trio

from cdpengine._api.browser_state import ContextCore
from cdpengine._api.http.body import HttpBody, MultipartValue, make_body
from cdpengine._api.http.cookie_jar import cookie_header, cookies_for, keep_cookies
from cdpengine._api.http.response import HttpResponse
from cdpengine._api.http.sending import HttpMessage, HttpReply, send
from cdpengine._api.scopes.network import Network
from cdpengine._budget import within
from cdpengine._checks import check_count, check_flag, check_type, invalid
from cdpengine._emulation.commands import accept_language
from cdpengine._emulation.devices import UserAgent
from cdpengine._emulation.options import Proxy
from cdpengine._network.messages import Headers, check_headers, merge_headers, secret_values
from cdpengine._pickling import not_picklable
from cdpengine._urls.patterns import join_url
from cdpengine._urls.reading import credentials_in, read_url, without_credentials
from cdpengine.errors import HttpRequestFailedError, HttpStatusError, shown_url

_MOVED = (301, 302, 303, 307, 308)
_OF_THE_BODY = frozenset({"content-type", "content-length", "content-encoding", "transfer-encoding"})
_OF_THE_ORIGIN = frozenset({"authorization", "cookie", "proxy-authorization"})
"""Headers of the caller that are not sent to another origin after a redirect."""

_LONGEST_METHOD = 40


class HttpOptions(TypedDict, total=False):
    """The options of a request: see `HttpClient.fetch`."""

    params: Mapping[str, str] | Sequence[tuple[str, str]] | None
    headers: Headers | None
    data: bytes | str | None
    json: Any
    form: Mapping[str, str] | None
    multipart: Mapping[str, MultipartValue] | None
    max_redirects: int
    fail_on_status: bool
    ignore_https_errors: bool | None
    timeout: float


@not_picklable("its responses")
class HttpClient:
    """HTTP requests with the state of a context: `context.request`. Needs the extra `http`."""

    def __init__(self, core: ContextCore, network: Network, proxy: Proxy | None) -> None:
        self._core = core
        self._network = network
        self._proxy = proxy

    async def get(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a GET request: `fetch(url)`."""
        return await self.fetch(url, method="GET", **options)

    async def head(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a HEAD request: `fetch(url, method="HEAD")`."""
        return await self.fetch(url, method="HEAD", **options)

    async def post(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a POST request: `fetch(url, method="POST")`."""
        return await self.fetch(url, method="POST", **options)

    async def put(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a PUT request: `fetch(url, method="PUT")`."""
        return await self.fetch(url, method="PUT", **options)

    async def patch(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a PATCH request: `fetch(url, method="PATCH")`."""
        return await self.fetch(url, method="PATCH", **options)

    async def delete(self, url: str, **options: Unpack[HttpOptions]) -> HttpResponse:
        """Send a DELETE request: `fetch(url, method="DELETE")`."""
        return await self.fetch(url, method="DELETE", **options)

    async def fetch(
        self,
        url: str,
        *,
        method: str = "GET",
        params: Mapping[str, str] | Sequence[tuple[str, str]] | None = None,
        headers: Headers | None = None,
        data: bytes | str | None = None,
        json: Any = None,
        form: Mapping[str, str] | None = None,
        multipart: Mapping[str, MultipartValue] | None = None,
        max_redirects: int = 20,
        fail_on_status: bool = False,
        ignore_https_errors: bool | None = None,
        timeout: float = 30,
    ) -> HttpResponse:
        """Send a request, follow its redirects, and return the response with its whole body.

        A relative `url` is joined to the context's `base_url`. `params` are added to its query. `headers` replace
        those of the context of the same names; a `Cookie` header replaces the context's cookies. The body is one
        of `data` (bytes or str), `json`, `form` (URL-encoded) and `multipart`, whose fields are strings, bytes,
        Paths and FileContents. After `max_redirects` redirects the request fails; 0 returns the first response. A
        redirect to another origin drops the caller's `Authorization` and `Cookie` headers. With `fail_on_status`,
        a status of 400 or more raises HttpStatusError. `ignore_https_errors` of None means the option of the
        context.

        Raises HttpRequestFailedError without a response, InvalidArgumentError, PackageMissingError without the
        extra `http`, DeadlineExceededError, SessionGoneError after the end of the context, ConnectionLostError.
        """
        whole = _with_params(join_url(self._core.base_url, url), params)
        read_url(whole)
        own = [] if headers is None else check_headers(headers)
        verb = _check_method(method)
        check_count("max_redirects", max_redirects)
        check_flag("fail_on_status", fail_on_status)
        insecure = self._core.ignore_https_errors if ignore_https_errors is None else ignore_https_errors
        check_flag("ignore_https_errors", insecure)
        self._core.state.check_context(self._core.id)
        with within(f"{verb} {shown_url(whole)}", timeout):
            body = await make_body(data=data, json=json, form=form, multipart=multipart)
            for secret in [*secret_values(own), *credentials_in(whole)]:
                self._core.state.instruments.add_secret(secret)
            journey = _Journey(verb, whole, own, body)
            while True:
                reply = await self._send(journey, verify=not insecure)
                if not (max_redirects and journey.follow(reply, max_redirects)):
                    break
        response = HttpResponse(
            url=without_credentials(journey.url),
            status=reply.status,
            status_text=reply.status_text,
            header_list=reply.headers,
            redirects=tuple(journey.redirects),
            content=reply.content,
        )
        if fail_on_status and reply.status >= 400:
            raise HttpStatusError(verb, journey.url, reply.status, reply.status_text)
        return response

    async def _send(self, journey: _Journey, *, verify: bool) -> HttpReply:
        root, context_id = self._core.state.session, self._core.id
        given = {name.lower() for name, _value in journey.headers}
        headers = [pair for pair in self._context_headers() if pair[0].lower() not in given]
        headers += journey.headers
        if "cookie" not in given and (cookies := await cookies_for(root, context_id, journey.url)):
            headers.append(("Cookie", cookie_header(cookies)))
        origin = read_url(journey.url).origin
        credentials = next(
            (each for each in reversed(self._network.active_credentials) if each.fit(origin, "Server")), None
        )
        message = HttpMessage(journey.method, journey.url, tuple(headers), journey.body, credentials)
        reply = await send(message, proxy=self._proxy, verify=verify)
        lines = [value for name, value in reply.headers if name.lower() == "set-cookie"]
        if lines:
            await keep_cookies(root, context_id, journey.url, lines)
        else:
            await trio.lowlevel.checkpoint()
        return reply

    def _context_headers(self) -> list[tuple[str, str]]:
        settings = self._core.state.emulations.settings_of_context(self._core.holds)
        agent, locale = settings.get("user_agent"), settings.get("locale")
        text = agent.text if isinstance(agent, UserAgent) else ""
        headers = {"User-Agent": text or self._core.state.version.user_agent, "Accept": "*/*"}
        if isinstance(locale, str):
            headers["Accept-Language"] = accept_language(locale)
        return list(merge_headers([headers, *self._network.active_headers]).items())


@attrs.define
class _Journey:
    """One request and its redirects: the method, URL, headers and body of the next hop."""

    method: str
    url: str
    headers: list[tuple[str, str]]
    body: HttpBody
    redirects: list[str] = attrs.field(factory=list)

    def follow(self, reply: HttpReply, most: int) -> bool:
        """Take the redirect of a reply. Return False if it is no redirect. Raises HttpRequestFailedError."""
        location = reply.header("location")
        if reply.status not in _MOVED or not location:
            return False
        if len(self.redirects) == most:
            raise HttpRequestFailedError(self.method, self.url, f"it redirected more than {most} times")
        before, after = self.url, urljoin(self.url, location)
        if not after.lower().startswith(("http://", "https://")):
            raise HttpRequestFailedError(self.method, self.url, "it redirected to a URL that is not http(s)")
        self.redirects.append(without_credentials(before))
        self.url = after
        if (reply.status == 303 and self.method != "HEAD") or (
            reply.status in (301, 302) and self.method == "POST"
        ):
            self.method, self.body = "GET", HttpBody()
            self._drop(_OF_THE_BODY)
        if read_url(before).origin != read_url(after).origin:
            self._drop(_OF_THE_ORIGIN)
        return True

    def _drop(self, names: frozenset[str]) -> None:
        self.headers = [pair for pair in self.headers if pair[0].lower() not in names]


def _check_method(method: str) -> str:
    check_type("method", method, str, "a str")
    if not method.isascii() or not method.isalpha() or len(method) > _LONGEST_METHOD:
        raise invalid("method", method, 'a word such as "POST"')
    return method.upper()


def _with_params(url: str, params: Mapping[str, str] | Sequence[tuple[str, str]] | None) -> str:
    if not params or not isinstance(url, str):
        return url
    pairs = list(params.items()) if isinstance(params, Mapping) else list(params)
    for pair in pairs:
        check_type("params", pair, tuple, "a mapping of names to strings, or pairs of them")
    place, mark, fragment = url.partition("#")
    joint = "&" if "?" in place else "?"
    return f"{place}{joint}{urlencode(pairs)}{mark}{fragment}"
