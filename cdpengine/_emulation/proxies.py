"""Proxies of browser contexts, checked. Pure.

Rule: Chrome accepts any text as a proxy, and then reaches nothing: a text that cannot be one is refused before.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

import attrs

from cdpengine.errors import InvalidArgumentError, shown_url

_SCHEMES = ("http", "https", "socks4", "socks5")


@attrs.frozen
class Proxy:
    """A proxy: `server` is "http://host:port" ("https", "socks4", "socks5" likewise), or "direct://" for none.

    `bypass` are hosts that are reached without it ("*.example.com", "10.0.0.0/8", "localhost:3000"). Chrome never
    uses a proxy for this machine itself (localhost, 127.0.0.1), unless `bypass` has "<-loopback>". `username` and
    `password` are for a proxy that asks for them.
    """

    server: str
    bypass: Sequence[str] = ()
    username: str | None = attrs.field(default=None, repr=False)
    password: str | None = attrs.field(default=None, repr=False)


def check_proxy(given: object) -> Proxy:
    """Return a proxy, given as such or as its server.

    Raises InvalidArgumentError; its message holds no password.
    """
    if not isinstance(given, str | Proxy):
        raise InvalidArgumentError(
            what="proxy", given=f"a {type(given).__name__}", expected="a str or a Proxy"
        )
    proxy = Proxy(given) if isinstance(given, str) else given
    server: object = proxy.server
    if not isinstance(server, str):
        raise InvalidArgumentError(what="proxy.server", given=f"a {type(server).__name__}", expected="a str")
    if proxy.server != "direct://":
        _check_server(proxy.server)
    if isinstance(proxy.bypass, str) or not isinstance(proxy.bypass, Sequence):
        kind = f"a {type(proxy.bypass).__name__}"
        raise InvalidArgumentError(what="proxy.bypass", given=kind, expected="a list of hosts")
    for host in proxy.bypass:
        if not isinstance(host, str) or not host or set(host) & set(" ,;\t\r\n") or not host.isascii():
            expected = 'hosts such as "*.example.com", without spaces and commas'
            raise InvalidArgumentError(what="proxy.bypass", given=repr(host)[:80], expected=expected)
    for name in ("username", "password"):
        if (text := getattr(proxy, name)) is not None and not isinstance(text, str):
            raise InvalidArgumentError(
                what=f"proxy.{name}", given=f"a {type(text).__name__}", expected="a str"
            )
    if (proxy.username is None) != (proxy.password is None):
        given = "one of them"
        raise InvalidArgumentError(what="proxy.username, .password", given=given, expected="both or neither")
    return proxy


def _check_server(server: str) -> None:
    whole = server if "://" in server else f"http://{server}"
    try:
        parts = urlsplit(whole)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port, parts = None, None, urlsplit("")
    if "@" in parts.netloc:
        raise InvalidArgumentError(
            what="proxy.server", given="one with a user", expected="Proxy(server, username=..., password=...)"
        )
    odd = parts.path not in ("", "/") or parts.query or parts.fragment or set(server) & set(" ,;=\t\r\n")
    if parts.scheme not in _SCHEMES or not host or port == 0 or odd or not server.isascii():
        expected = f"scheme://host:port with one of {', '.join(_SCHEMES)}"
        raise InvalidArgumentError(what="proxy.server", given=repr(shown_url(server)[:80]), expected=expected)


def context_params(proxy: Proxy) -> dict[str, str]:
    """Return the parameters of `Target.createBrowserContext` for it."""
    params = {"proxyServer": proxy.server.rstrip("/") if proxy.server != "direct://" else proxy.server}
    if proxy.bypass:
        # Of several rules for one host Chrome takes the last: what is named goes before "<-loopback>".
        rules = sorted(proxy.bypass, key=lambda rule: rule != "<-loopback>")
        params["proxyBypassList"] = ",".join(rules)
    return params
