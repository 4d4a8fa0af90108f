"""Patterns of URLs: globs, regular expressions and functions. Pure.

Rule: an invalid pattern is refused before anything is sent, and every pattern can describe itself in a message.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias
from urllib.parse import urljoin

from cdpengine._checks import invalid

UrlPattern: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]
"""A glob in which "*" is any run of characters and all others are literal; a compiled regular expression, which is
searched for; or a function of the URL."""


def url_test(pattern: UrlPattern) -> Callable[[str], bool]:
    """Return a predicate for URLs that match the pattern.

    Raises InvalidArgumentError for a value that is not a pattern.
    """
    if isinstance(pattern, str) and pattern:
        if _ALTERNATIVES.search(pattern):
            raise invalid(
                "url", pattern, 'a glob, in which only "*" is special; or re.compile("[.](png|jpg)$")'
            )
        parts = [re.escape(part) for part in pattern.split("*")]
        compiled = re.compile(".*".join(parts), re.DOTALL)
        return lambda url: compiled.fullmatch(url) is not None
    if isinstance(pattern, re.Pattern):
        return lambda url: pattern.search(url) is not None
    if callable(pattern):
        return lambda url: bool(pattern(url))
    raise invalid("url", pattern, "a glob, a compiled regular expression or a function")


_ALTERNATIVES = re.compile(r"^[^?]*\{[\w.*/-]*,[\w.*,/-]*\}")
"""Alternatives, which globs of other libraries have ("*.{png,jpg}"). No path of a URL contains a brace."""

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.*-]*:|\*")
"""The start of a URL or glob that is not relative: a scheme, which may contain "*", or any run of characters."""


def join_url(base: str | None, url: str) -> str:
    """Return `url`, joined to `base` if it is relative. None joins nothing."""
    return url if base is None or not isinstance(url, str) else urljoin(base, url)


def join_pattern(base: str | None, pattern: UrlPattern) -> UrlPattern:
    """Return the pattern. A relative glob ("/cart*") is joined to `base`; one that starts with "*" is not."""
    if base is None or not isinstance(pattern, str) or not pattern or _ABSOLUTE.match(pattern):
        return pattern
    return urljoin(base, pattern)


def url_words(pattern: UrlPattern) -> str:
    """Return the description of a pattern for messages."""
    if isinstance(pattern, str):
        return pattern[:200]
    if isinstance(pattern, re.Pattern):
        return f"/{str(pattern.pattern)[:200]}/"
    return getattr(pattern, "__name__", "a function")


def chrome_url_of(pattern: object) -> str:
    """Return the narrowest Chrome pattern that covers a route's URL pattern. Pure.

    A glob stays the same, except that "?" and the backslash are special in Chrome, so they are escaped.
    """
    if not isinstance(pattern, str):
        return "*"
    return pattern.replace("\\", "\\\\").replace("?", "\\?")
