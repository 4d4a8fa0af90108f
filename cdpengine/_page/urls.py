"""URL patterns (globs, regular expressions, functions) as one kind of test, and origins. Pure.

Rule: a value that cannot be a pattern is refused before anything is sent, and every pattern can describe itself in
a message. An origin such as "https://example.com" is what storages, permissions and cookies are bound to.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urlsplit

from cdpengine.errors import InvalidArgumentError, shown_url

UrlPattern: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]
"""A glob, in which "*" is any run of characters and everything else is itself; a compiled regular expression,
which is searched for; or a function of the URL."""


def url_test(pattern: UrlPattern) -> Callable[[str], bool]:
    """Return the test that a pattern stands for. Raises InvalidArgumentError for a value that is not a pattern."""
    if isinstance(pattern, str) and pattern:
        parts = [re.escape(part) for part in pattern.split("*")]
        compiled = re.compile(".*".join(parts), re.DOTALL)
        return lambda url: compiled.fullmatch(url) is not None
    if isinstance(pattern, re.Pattern):
        return lambda url: pattern.search(url) is not None
    if callable(pattern):
        return lambda url: bool(pattern(url))
    given = '""' if pattern == "" else f"a {type(pattern).__name__}"
    raise InvalidArgumentError(
        what="url", given=given, expected="a glob, a compiled regular expression or a function"
    )


def url_words(pattern: UrlPattern) -> str:
    """Return a pattern's words for messages."""
    if isinstance(pattern, str):
        return pattern[:200]
    if isinstance(pattern, re.Pattern):
        return f"/{str(pattern.pattern)[:200]}/"
    return getattr(pattern, "__name__", "a function")


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
