"""Resolving a user's endpoint to the browser-level websocket URL to connect to.

Rule: invalid endpoints are refused before anything is sent; unreachable ones raise with the reason. Error messages
contain only redacted endpoints, because a query is often a token.

Chrome answers 500 to a Host header with a DNS name other than localhost, on HTTP and on the websocket upgrade. So
on plain connections, the address that answers replaces the name. TLS endpoints keep their name, because the
certificate is checked against it. /json/version repeats the requested host, or the host that Chrome sees behind a
forwarded port, so the endpoint's host and port are restored in its URL.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

import attrs
import trio

from cdpengine import _json
from cdpengine._protocol.http_connections import get, lacking, open_stream
from cdpengine._urls.reading import DEFAULT_PORTS
from cdpengine.errors import ConnectFailedError, InvalidArgumentError, shortages_named

_EXPECTED = 'a URL such as "http://127.0.0.1:9222" or "ws://127.0.0.1:9222/devtools/browser/<id>"'
_SCHEMES = ("http", "https", "ws", "wss")
_VERSION_PATH = "/json/version"
_LONGEST_ANSWER = 65_536  # bytes; Chrome's answer is under 1 KB, another server's may be endless
_PLAIN = re.compile(r"\d{1,9}|true|false", re.IGNORECASE)
"""Query values that are settings and not credentials: timeout=300000, headless=true."""

_NO_JSON_ADVICE = (
    "Is it Chrome's debugging port? A Chrome with remote debugging allowed in its settings does not serve "
    f"{_VERSION_PATH}: pass the ws:// URL instead (port and path are in DevToolsActivePort in its profile)"
)


@attrs.frozen
class ResolvedEndpoint:
    """The browser-level websocket URL, and the headers of the upgrade request."""

    ws_url: str
    headers: Mapping[str, str] = attrs.field(repr=lambda headers: f"<{len(headers)} headers>")

    def __str__(self) -> str:
        return redact_endpoint(self.ws_url)


async def resolve_endpoint(endpoint: str, headers: Mapping[str, str] | None = None) -> ResolvedEndpoint:
    """Return the browser-level websocket URL behind `endpoint`.

    `http(s)://host:port` is queried at /json/version. `ws(s)://...` stays unchanged, except that a DNS name
    becomes an address on a plain connection. `headers` are sent with the request. Redirects on the same host are
    followed; with `headers`, only on the same port, or to https. Proxies from the environment are not used,
    because the websocket client does not support them. Has no timeout: put it in a cancel scope.

    Raises InvalidArgumentError for an invalid URL, ConnectFailedError if no server answers, or if the server is
    not a browser.
    """
    url = check_endpoint(endpoint)
    sent = MappingProxyType(dict(headers or {}))
    with shortages_named(partial(lacking, redact_endpoint(endpoint))):
        if url.scheme in ("http", "ws") and not _needs_no_lookup(url.hostname or ""):
            url = _with_authority(url, await _address_that_answers(url))
        if url.scheme in ("ws", "wss"):
            return ResolvedEndpoint(ws_url=url.geturl(), headers=sent)
        return ResolvedEndpoint(ws_url=await _ask(url, sent, endpoint), headers=sent)


def check_endpoint(endpoint: str) -> SplitResult:
    """Return the parts of an endpoint. Raises InvalidArgumentError, without secrets, if it is malformed."""
    redacted = (
        repr(redact_endpoint(endpoint)) if isinstance(endpoint, str) else f"a {type(endpoint).__name__}"
    )

    def wrong(expected: str) -> InvalidArgumentError:
        if redacted == "a NoneType":  # the endpoint of a browser without a port
            expected = f"{_EXPECTED}; launch(debugging_port=0) opens a port"
        return InvalidArgumentError(what="endpoint", given=redacted, expected=expected)

    if not isinstance(endpoint, str) or not endpoint or re.search(r"[\s\x00-\x1f\x7f]", endpoint):
        raise wrong(_EXPECTED)
    if re.fullmatch(r"[^/@?#]+:\d+", endpoint):
        raise wrong(f'a scheme: "http://{endpoint}"')
    try:
        url = urlsplit(endpoint)
        port = url.port
    except ValueError:
        raise wrong(f"{_EXPECTED}, with a port from 1 to 65535") from None
    if url.scheme not in _SCHEMES:
        raise wrong(_EXPECTED)
    if not url.hostname:
        raise wrong(f"{_EXPECTED}; the host is missing")
    if _ip(url.hostname) is None:
        try:
            url.hostname.encode("idna")
        except UnicodeError:
            raise wrong(f"{_EXPECTED}; each label of a host name has 1 to 63 characters") from None
    if port == 0:
        raise wrong(f"{_EXPECTED}, with a port from 1 to 65535")
    if url.username is not None or url.password is not None:
        raise wrong('no user and password in the URL; pass headers={"Authorization": ...} instead')
    return url._replace(fragment="")


def redact_endpoint(endpoint: str) -> str:
    """Return the endpoint without user, password and query values, fit for errors and logs. Never raises."""
    head, mark, query = endpoint.partition("?")
    # Up to the last @ of the authority, because a password may contain one.
    head = re.sub(r"^([a-zA-Z][\w+.-]*://|//)?[^/]*@", r"\1***@", head)
    if not mark:
        return head
    names = [part.partition("=")[0] for part in re.split(r"[&;#]", query) if "=" in part]
    return f"{head}?{'&'.join(f'{name}=***' for name in names) or '***'}"


def secrets_in_endpoint(endpoint: str) -> list[str]:
    """Return the possible tokens of an endpoint: user, password, and the query's values except small numbers."""
    try:
        url = urlsplit(endpoint)
        pairs = parse_qsl(url.query)
    except ValueError:
        return []
    values = [value for _name, value in pairs if not _PLAIN.fullmatch(value)]
    if url.query and "=" not in url.query:
        values.append(url.query)
    return [each for each in (url.username, url.password, *values) if each]


def browser_key(ws_url: str) -> str:
    """Return an identifier of the browser behind a websocket URL, without secrets.

    Chrome makes a new UUID at each start and serves only /devtools/browser/<uuid>, so the UUID identifies the
    browser, whatever the host. For a gateway with other paths, the identifier is host and path. Pages of several
    browsers behind a gateway still have different identifiers, because target ids are random.
    """
    url = urlsplit(ws_url)
    own = re.search(r"/devtools/browser/([0-9a-f-]{36})$", url.path)
    return own[1] if own else f"{url.hostname}:{url.port}{url.path}"


def names_one_browser(ws_url: str) -> bool:
    """Return whether another connection to a websocket URL reaches the same browser.

    True for Chrome's own URL. A URL with another path is a gateway, which may start a browser for each connection.
    """
    return re.search(r"/devtools/browser/[^/]+$", urlsplit(ws_url).path) is not None


def websocket_url(answer: bytes, url: SplitResult) -> str:
    """Extract the websocket URL from an answer of /json/version, and restore the host and port of `url`.

    The query of `url` (a gateway's token) is added if Chrome's URL has none. Raises ValueError with the fault of
    the answer.
    """
    try:
        document = _json.decode_leniently(answer)
    except ValueError:
        kind = "HTML" if answer.lstrip()[:1] == b"<" else "no JSON"
        raise ValueError(f"it answered {kind}") from None
    reported = document.get("webSocketDebuggerUrl") if isinstance(document, dict) else None
    if not isinstance(reported, str):
        raise ValueError("its JSON has no webSocketDebuggerUrl")
    try:
        inner = urlsplit(reported)
    except ValueError:
        inner = urlsplit("")
    if inner.scheme not in ("ws", "wss"):
        raise ValueError("its webSocketDebuggerUrl is not a websocket URL")
    return SplitResult(
        scheme="wss" if url.scheme == "https" else "ws",
        netloc=url.netloc,
        path=_prefix(url.path) + inner.path,
        query=inner.query or urlencode(parse_qsl(url.query, keep_blank_values=True)),
        fragment="",
    ).geturl()


def _redirected(url: SplitResult, answered: SplitResult) -> SplitResult:
    """Return the endpoint after a redirect of its `_VERSION_PATH`; Chrome's other paths move with it."""
    # A token in the query is valid only for its port.
    query = answered.query or (url.query if answered.port == url.port else "")
    moved = url._replace(scheme=answered.scheme, netloc=answered.netloc, query=query)
    beside = answered.path.removesuffix("/").endswith(_VERSION_PATH)
    return moved._replace(path=answered.path) if beside else moved


def _prefix(path: str) -> str:
    """Return the path prefix of Chrome's paths on a gateway; empty for Chrome itself."""
    return path.removesuffix("/").removesuffix(_VERSION_PATH).removesuffix("/")


def _ip(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None


def _is_localhost(host: str) -> bool:
    return host == "localhost" or host.endswith(".localhost")


def _needs_no_lookup(host: str) -> bool:
    return _is_localhost(host) or _ip(host) is not None


def _with_authority(url: SplitResult, host: str) -> SplitResult:
    bracketed = f"[{host}]" if ":" in host else host
    return url._replace(netloc=bracketed if url.port is None else f"{bracketed}:{url.port}")


async def _address_that_answers(url: SplitResult) -> str:
    """Return an address of the URL's host that accepts a connection.

    Servers often listen on only one of IPv4 and IPv6.
    """
    host, port = url.hostname or "", url.port or DEFAULT_PORTS[url.scheme]
    stream = await open_stream(host, port, tls=False, endpoint=redact_endpoint(url.geturl()))
    assert isinstance(stream, trio.SocketStream)
    async with stream:
        return str(stream.socket.getpeername()[0])


async def _ask(url: SplitResult, headers: Mapping[str, str], endpoint: str) -> str:
    redacted, name = redact_endpoint(endpoint), urlsplit(endpoint).hostname or ""
    version_url = url._replace(path=_prefix(url.path) + _VERSION_PATH).geturl()
    try:
        answered, answer = await get(
            version_url, headers, endpoint=redacted, longest=_LONGEST_ANSWER, name=name
        )
        return websocket_url(answer, _redirected(url, urlsplit(answered)))
    except ConnectFailedError as error:
        if error.status == HTTPStatus.NOT_FOUND:
            error.advice = _NO_JSON_ADVICE
        raise
    except ValueError as error:
        raise ConnectFailedError(endpoint=redacted, reason=str(error), advice=_NO_JSON_ADVICE) from None
