"""Sending of one HTTP request by httpx, over the context's proxy or directly.

Rule: httpx and its TLS contexts are loaded on first use. No error of httpx leaves this module, and none contains a
password.
"""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import attrs

from cdpengine._api.http.body import HttpBody
from cdpengine._emulation.options import Proxy
from cdpengine._logs import http_logs_suppressed
from cdpengine._network.interceptor import Credentials
from cdpengine._urls.hosts import host_matches, is_below, parse_address
from cdpengine._urls.reading import parse_url
from cdpengine.errors import (
    HttpRequestFailedError,
    PackageMissingError,
    exhausted,
    shortage_of,
    shortages_named,
)

if TYPE_CHECKING:
    import httpx


@attrs.frozen
class HttpMessage:
    """One request to send. `credentials` answer a server that requests them."""

    method: str
    url: str
    headers: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    body: HttpBody = attrs.field(repr=False)
    credentials: Credentials | None = None


@attrs.frozen
class HttpReply:
    """One received response."""

    status: int
    status_text: str
    headers: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    content: bytes = attrs.field(repr=False)

    def header(self, name: str) -> str:
        """Return a header's first value, or ""."""
        return next((value for key, value in self.headers if key.lower() == name), "")


async def send(message: HttpMessage, *, proxy: Proxy | None, verify: bool) -> HttpReply:
    """Send a request and receive its whole response. Follows no redirect.

    Raises HttpRequestFailedError, PackageMissingError, ResourcesExhaustedError.
    """
    through = None if proxy is None or _bypasses(proxy, message.url) else proxy
    with _errors_named(message):
        import httpx

        server = None
        if through is not None:
            user = None if through.username is None else (through.username, through.password or "")
            server = httpx.Proxy(through.server, auth=user)
        client = httpx.AsyncClient(
            proxy=server,
            verify=_tls(verify),
            timeout=None,  # noqa: S113 - the caller's budget
            follow_redirects=False,
            trust_env=False,
        )
        async with client:
            with http_logs_suppressed():
                response = await client.send(_request(client, message))
                if response.status_code == httpx.codes.UNAUTHORIZED and message.credentials is not None:
                    auth = _auth(message.credentials, response.headers.get("www-authenticate", ""))
                    if auth is not None:
                        response = await client.send(_request(client, message), auth=auth)
        return HttpReply(
            status=response.status_code,
            status_text=response.reason_phrase,
            headers=tuple(
                (name.decode("latin-1"), value.decode("utf-8", "replace"))
                for name, value in response.headers.raw
            ),
            content=response.content,
        )


def _request(client: httpx.AsyncClient, message: HttpMessage) -> httpx.Request:
    body = message.body
    headers = list(message.headers)
    present = {name.lower() for name, _value in headers}
    if body.content_type is not None and "content-type" not in present:
        headers.append(("Content-Type", body.content_type))
    return client.build_request(
        message.method,
        message.url,
        content=body.content,
        files=list(body.parts) or None,
        headers=[(name.encode("ascii"), value.encode()) for name, value in headers],
    )


def _auth(credentials: Credentials, challenge: str) -> httpx.Auth | None:
    import httpx

    scheme = challenge.partition(" ")[0].lower()
    if scheme == "digest":
        return httpx.DigestAuth(credentials.username, credentials.password)
    if scheme == "basic":
        return httpx.BasicAuth(credentials.username, credentials.password)
    return None


@lru_cache(maxsize=2)
def _tls(verify: bool) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(verify=verify, trust_env=False)


@contextmanager
def _errors_named(message: HttpMessage) -> Iterator[None]:
    """Raise named errors instead of those of httpx."""
    fail = partial(HttpRequestFailedError, message.method, message.url)
    with shortages_named(partial(exhausted, "send an HTTP request")):
        try:
            import httpx
        except ModuleNotFoundError as error:
            if error.name != "httpx" or shortage_of(error) is not None:
                raise
            raise PackageMissingError("httpx", "sends HTTP requests", "http") from error
        try:
            yield
        except ImportError as error:
            if shortage_of(error) is not None:
                raise
            reason = "a SOCKS proxy needs the package socksio: pip install 'httpx[socks]'"
            raise fail(reason) from error
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, ValueError, OSError) as error:
            for cause in _causes(error):
                if (shortage := shortage_of(cause)) is not None:
                    raise exhausted("send an HTTP request", shortage) from error
            raise fail(_reason(error)) from None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes. httpx raises its errors "from None", so the cause is their context."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _reason(error: BaseException) -> str:
    """Return the reason of a failure: the last non-empty message of its causes."""
    import httpx

    if isinstance(error, ValueError):
        return f"the request or the proxy is invalid ({type(error).__name__})"
    if isinstance(error, httpx.ProxyError):
        return "the proxy refused the connection"
    reason = type(error).__name__
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its TLS certificate is not accepted: {cause.verify_message}"
        reason = str(cause) or reason
    return reason


def _bypasses(proxy: Proxy, url: str) -> bool:
    """Return whether a URL is reached without the proxy, as Chrome decides it. The last matching rule counts."""
    if proxy.server == "direct://":
        return True
    parts = parse_url(url)
    host = parts.host.strip("[]")
    port = parts.port or {"http": 80, "https": 443}[parts.scheme]
    if "<-loopback>" not in proxy.bypass and _is_loopback(host):
        return True
    return any(_matches(rule, host, port) for rule in proxy.bypass if rule != "<-loopback>")


def _is_loopback(host: str) -> bool:
    address = parse_address(host)
    return is_below(host, "localhost") or (address is not None and address.is_loopback)


def _matches(rule: str, host: str, port: int) -> bool:
    rule = rule.lower().partition("://")[2] or rule.lower()
    address = parse_address(host)
    if "/" in rule:
        try:
            return address is not None and address in ipaddress.ip_network(rule, strict=False)
        except ValueError:
            return False
    name, colon, wanted = rule.rpartition(":")
    if colon and wanted.isdigit() and (name.endswith("]") or ":" not in name):
        if int(wanted) != port:
            return False
        rule = name
    rule = rule.strip("[]")
    if rule.startswith("*"):
        return host.endswith(rule[1:])
    return host_matches(host, rule)
