"""Sending of one HTTP request by httpx, over the context's proxy or directly.

Rule: httpx and its TLS contexts are loaded on first use. No error of httpx leaves this module, and none contains a
password.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Iterator, Sequence
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
    with _errors_named(message, through):
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
                    auth = _auth(message.credentials, response.headers.get_list("www-authenticate"))
                    if auth is not None:
                        try:
                            response = await client.send(_request(client, message), auth=auth)
                        except (
                            NotImplementedError,
                            LookupError,
                            ValueError,
                        ):  # httpx cannot read the challenge
                            raise HttpRequestFailedError(message.method, message.url, _UNSUPPORTED) from None
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


_UNSUPPORTED = "the server requires a form of Digest authentication that is not supported"


def _auth(credentials: Credentials, challenges: Sequence[str]) -> httpx.Auth | None:
    """Return the answer to a server's challenges, Digest rather than Basic."""
    import httpx

    schemes = {challenge.partition(" ")[0].lower() for challenge in challenges}
    if "digest" in schemes:
        return httpx.DigestAuth(credentials.username, credentials.password)
    if "basic" in schemes:
        return httpx.BasicAuth(credentials.username, credentials.password)
    return None


@lru_cache(maxsize=2)
def _tls(verify: bool) -> ssl.SSLContext:
    import httpx

    return httpx.create_ssl_context(verify=verify, trust_env=False)


@contextmanager
def _errors_named(message: HttpMessage, through: Proxy | None) -> Iterator[None]:
    """Raise named errors instead of those of httpx. `through` is the proxy, if any."""
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
            raise fail(_reason(error, through.server if through is not None else message.url)) from None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an error and its causes. httpx raises its errors "from None", so the cause is their context."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


def _reason(error: BaseException, connected: str) -> str:
    """Return the reason of a failure. `connected` is the URL of the server or proxy."""
    import httpx

    if isinstance(error, ValueError):
        return f"the request or the proxy is invalid ({type(error).__name__})"
    if isinstance(error, httpx.ProxyError):
        return "the proxy refused the connection"
    reason = type(error).__name__
    for cause in _causes(error):
        if isinstance(cause, ssl.SSLCertVerificationError):
            return f"its TLS certificate is not accepted: {cause.verify_message}"
        if isinstance(cause, socket.gaierror):
            host = parse_url(connected).host
            return f"the host {host} is unknown ({cause.strerror}). Check its name, and the network"
        if isinstance(cause, ExceptionGroup) and isinstance(error, httpx.ConnectError):
            return _connection_reason(cause, connected)
        reason = str(cause) or reason
    return reason


def _connection_reason(attempts: ExceptionGroup[Exception], connected: str) -> str:
    """Return why no address of a host accepted a connection, with the host and the port."""
    parts = parse_url(connected)
    place = f"{parts.host}:{parts.port or _PORTS.get(parts.scheme, '')}"
    if all(isinstance(each, ConnectionRefusedError) for each in attempts.exceptions):
        return f"{place} refused the connection. Check that the server runs and listens on this port"
    numbers = {each.errno for each in attempts.exceptions if isinstance(each, OSError)}
    reasons = sorted(os.strerror(number) for number in numbers if number is not None)
    return f"no connection to {place} ({', '.join(reasons)}). Check the address, and the network"


_PORTS = {"http": 80, "https": 443}


def _bypasses(proxy: Proxy, url: str) -> bool:
    """Return whether a URL is reached without the proxy, as Chrome decides it. The last matching rule counts."""
    if proxy.server == "direct://":
        return True
    parts = parse_url(url)
    host = parts.host.strip("[]")
    port = parts.port or _PORTS[parts.scheme]
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
