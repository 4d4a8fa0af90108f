"""Origins: "https://example.com", as storages, permissions and cookies are bound to them. Pure."""

from __future__ import annotations

from urllib.parse import urlsplit

from cdpengine.errors import InvalidArgumentError, shown_url

_DEFAULT_PORTS = {"http": 80, "https": 443}


def check_origin(given: object, what: str = "origin") -> str:
    """Return the origin of a URL or origin as Chrome writes it: "https://example.com", "http://localhost:8000".

    A path is left out. Raises InvalidArgumentError for what has no origin with storage of its own.
    """
    origin = origin_of(given) if isinstance(given, str) else None
    if origin is None:
        shown = repr(shown_url(given)) if isinstance(given, str) else f"a {type(given).__name__}"
        raise InvalidArgumentError(what=what, given=shown, expected="http(s)://host or http(s)://host:port")
    return origin


def origin_of(url: str) -> str | None:
    """Return the origin of an http(s) URL; None for all others."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host or any(sign in host for sign in ' \\"<>^`{|}%'):
        return None
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            return None
    if ":" in host:
        host = f"[{host}]"
    written = "" if port is None or port == _DEFAULT_PORTS[parts.scheme] else f":{port}"
    return f"{parts.scheme}://{host}{written}"


def host_matches(host: str, domain: str) -> bool:
    """Tell whether a cookie of `domain` goes to `host`: a leading dot stands for the hosts below it too."""
    host = host.lower()
    domain = domain.lower()
    if domain.startswith("."):
        return host == domain[1:] or host.endswith(domain)
    return host == domain
