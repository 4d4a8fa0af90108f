"""Patterns that callers give: of URLs, of texts and names; and origins. Pure.

Rule: a value that cannot be a pattern is refused before anything is sent, and every pattern can describe itself in
a message. URLs are matched by globs, regular expressions and functions, words on one line, white space collapsed,
by texts and regular expressions; nothing of a compiled one is sent to the page. An origin such as
"https://example.com" is what storages, permissions and cookies are bound to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypeVar
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


T = TypeVar("T")

Words: TypeAlias = "str | re.Pattern[str]"
"""A text, or a compiled pattern that is searched for."""

# Space that HTML or typography made: it means a space to a reader. Line and paragraph separators are not here.
SPACE = "\t\n\f\r \xa0\u1680\u2000-\u200a\u202f\u205f\u3000"
# Places where a line may break, and byte-order marks: they mean nothing to a reader.
NOTHING = "\xad\u200b\ufeff"

_UNTIDY = re.compile(f"[{SPACE}]{{2,}}|[{SPACE[:4]}{SPACE[5:]}{NOTHING}]|^ | $")
_SPACES = re.compile(f"[{SPACE}]+")
_BLANKS = re.compile(f"[{NOTHING}]+")

_LONGEST_SHOWN = 80


def collapse_space(text: str) -> str:
    """Return the text on one line: runs of white space become one space, soft hyphens and the like nothing."""
    if _UNTIDY.search(text) is None:
        return text
    return _SPACES.sub(" ", _BLANKS.sub("", text)).strip(" ")


def check_words(what: str, given: object, *, empty: bool = False) -> None:
    """Raise InvalidArgumentError for what is neither a text nor a compiled pattern of text; None is no condition.

    A text may be empty only with `empty`.
    """
    if given is None:
        return
    if isinstance(given, re.Pattern):
        if isinstance(given.pattern, str):
            return
        raise InvalidArgumentError(what=what, given="a pattern of bytes", expected="a pattern of str")
    if not isinstance(given, str):
        raise InvalidArgumentError(
            what=what, given=f"a {type(given).__name__}", expected="a str or a compiled pattern"
        )
    if not empty and not given.strip():
        raise InvalidArgumentError(what=what, given=repr(given)[:80], expected="a text that is not empty")


def with_name(items: Iterable[T], of: Callable[[T], str], name: Words | None, exact: bool) -> Sequence[T]:
    """Return the items whose name, as `of` gives it, is the one that is wanted; all of them where none is.

    A text is the whole name: in the same case or, where no name has the same case and `exact` is not asked for, in
    any case. A pattern is searched for.
    """
    if name is None:
        return list(items)
    if isinstance(name, re.Pattern):
        return [item for item in items if name.search(of(item))]
    items = list(items)
    wanted = collapse_space(name)
    found = [item for item in items if of(item) == wanted]
    if found or exact:
        return found
    wanted = wanted.casefold()
    return [item for item in items if of(item).casefold() == wanted]


def holds(text: str, wanted: Words, exact: bool) -> bool:
    """Say whether a text holds the wanted one: in any case or, `exact`, as all of it and in the same case."""
    if isinstance(wanted, re.Pattern):
        return wanted.search(text) is not None
    wanted = collapse_space(wanted)
    return text == wanted if exact else wanted.casefold() in text.casefold()


def describe_words(given: Words) -> str:
    """Return a text in quotes, or a pattern between slashes, cut for a message."""
    if isinstance(given, re.Pattern):
        return f"/{given.pattern[:_LONGEST_SHOWN]}/"
    return repr(given[:_LONGEST_SHOWN])
