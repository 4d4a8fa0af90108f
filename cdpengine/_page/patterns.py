"""Patterns for URLs, strings and names; and origins. Pure.

Rule: an invalid value is refused before anything is sent, and every pattern can describe itself in a message. URLs
are matched by globs, regular expressions and functions. Texts and names are matched on one line, with white space
collapsed, by strings and regular expressions. Compiled expressions are never sent to the page. Storages,
permissions and cookies belong to an origin such as "https://example.com".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar
from urllib.parse import urlsplit

from cdpengine._checks import check_string, invalid
from cdpengine.errors import InvalidArgumentError, shown_url

UrlPattern: TypeAlias = str | re.Pattern[str] | Callable[[str], bool]
"""A glob in which "*" is any run of characters and all others are literal; a compiled regular expression, which is
searched for; or a function of the URL."""


def url_test(pattern: UrlPattern) -> Callable[[str], bool]:
    """Return a predicate for URLs that match the pattern.

    Raises InvalidArgumentError for a value that is not a pattern.
    """
    if isinstance(pattern, str) and pattern:
        parts = [re.escape(part) for part in pattern.split("*")]
        compiled = re.compile(".*".join(parts), re.DOTALL)
        return lambda url: compiled.fullmatch(url) is not None
    if isinstance(pattern, re.Pattern):
        return lambda url: pattern.search(url) is not None
    if callable(pattern):
        return lambda url: bool(pattern(url))
    raise invalid("url", pattern, "a glob, a compiled regular expression or a function")


def url_words(pattern: UrlPattern) -> str:
    """Return the description of a pattern for messages."""
    if isinstance(pattern, str):
        return pattern[:200]
    if isinstance(pattern, re.Pattern):
        return f"/{str(pattern.pattern)[:200]}/"
    return getattr(pattern, "__name__", "a function")


_DEFAULT_PORTS = {"http": 80, "https": 443}


def check_origin(given: object, what: str = "origin") -> str:
    """Return the origin of a URL or origin as Chrome writes it: "https://example.com", "http://localhost:8000".

    The path is omitted. Raises InvalidArgumentError for a value without an origin that has storage.
    """
    expected = "http(s)://host or http(s)://host:port"
    url = check_string(what, given, expected)
    origin = origin_of(url)
    if origin is None:
        raise invalid(what, shown_url(url), expected)
    return origin


def origin_of(url: str) -> str | None:
    """Return the origin of an http(s) URL, or None for others."""
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
    """Return whether a cookie of `domain` is sent to `host`. A leading dot includes subdomains."""
    host = host.lower()
    domain = domain.lower()
    if domain.startswith("."):
        return host == domain[1:] or host.endswith(domain)
    return host == domain


T = TypeVar("T")

Words: TypeAlias = "str | re.Pattern[str]"
"""A string, or a compiled pattern that is searched for."""

# White space in HTML or typography that is displayed as a space. Excludes line and paragraph separators.
SPACE = "\t\n\f\r \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Line-break opportunities and byte-order marks, which are not displayed.
NOTHING = "\xad\u200b\ufeff"

_UNTIDY = re.compile(f"[{SPACE}]{{2,}}|[{SPACE[:4]}{SPACE[5:]}{NOTHING}]|^ | $")
_SPACES = re.compile(f"[{SPACE}]+")
_BLANKS = re.compile(f"[{NOTHING}]+")

_LONGEST_DISPLAYED = 80


def collapse_space(text: str) -> str:
    """Return the string on one line: runs of white space become one space; invisible characters are removed."""
    if _UNTIDY.search(text) is None:
        return text
    return _SPACES.sub(" ", _BLANKS.sub("", text)).strip(" ")


def check_words(what: str, given: object, *, empty: bool = False) -> None:
    """Raise InvalidArgumentError unless `given` is a string, a compiled string pattern, or None (no condition).

    A string may be empty only with `empty`.
    """
    if given is None:
        return
    if isinstance(given, re.Pattern):
        if isinstance(given.pattern, str):
            return
        raise InvalidArgumentError(what=what, given="a pattern of bytes", expected="a pattern of str")
    check_string(what, given, "a str or a compiled pattern")
    check_string(what, given, empty=empty)


def with_name(items: Iterable[T], of: Callable[[T], str], name: Words | None, exact: bool) -> Sequence[T]:
    """Return the items whose name, returned by `of`, matches; all items if `name` is None.

    A string must equal the whole name. A name in the same case has priority; one in another case matches only if
    `exact` is False. A pattern may match a part of the name.
    """
    if name is None:
        return list(items)
    if isinstance(name, re.Pattern):
        return [item for item in items if name.search(of(item))]
    items = list(items)
    collapsed = collapse_space(name)
    found = [item for item in items if of(item) == collapsed]
    if found or exact:
        return found
    collapsed = collapsed.casefold()
    return [item for item in items if of(item).casefold() == collapsed]


def holds(text: str, words: Words, exact: bool) -> bool:
    """Return whether `text` contains `words`, ignoring case; with `exact`, whether both are equal."""
    if isinstance(words, re.Pattern):
        return words.search(text) is not None
    words = collapse_space(words)
    return text == words if exact else words.casefold() in text.casefold()


def describe_words(words: Words) -> str:
    """Return a string in quotes, or a pattern between slashes, shortened for a message."""
    if isinstance(words, re.Pattern):
        return f"/{words.pattern[:_LONGEST_DISPLAYED]}/"
    return repr(words[:_LONGEST_DISPLAYED])
