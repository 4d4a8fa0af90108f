"""Normalized addresses of pages, and patterns that match many addresses. Pure.

Rule: equivalent URLs have the same normalized form:

- Scheme and host are in lowercase. The default port, the user and the password are removed.
- `.` and `..` are resolved. Percent-encoding remains only where it is necessary.
- Parameters are sorted by name. Tracking parameters (`TRACKING_PARAMETERS`) are removed.
- The value of a secret parameter (`token=...`) becomes `*`, because the form is stored and shown. So does a
  random path segment. Session ids are removed (`session_ids`).
- The fragment is removed unless it is a client-side route (`#/cart`, `#!cart`).

Normalization is idempotent.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from functools import lru_cache
from urllib.parse import SplitResult, urlsplit

import attrs

from cdpengine._secrets import is_secret_parameter, is_session_parameter
from cdpengine._urls import DEFAULT_PORTS, TRACKING_PARAMETERS, is_listed
from cdpengine.cache.session_ids import drop_session_segments, replace_random
from cdpengine.errors import InvalidArgumentError

LONGEST_URL = 8_192
"""Maximum length of a URL and of a pattern, in characters."""

__all__ = ["TRACKING_PARAMETERS", "UrlPattern", "choose_pattern", "generalize_url", "normalize_url"]

SCHEMES = ("http", "https", "file")

_UNRESERVED = r"A-Za-z0-9._~\-"
_PIECE = re.compile(r"%[0-9A-Fa-f]{2}|.", re.DOTALL)
_PATH_CHARACTER = re.compile(rf"[{_UNRESERVED}!$&'()*+,;=:@/]")
_QUERY_CHARACTER = re.compile(rf"[{_UNRESERVED}!$'()*+,;:@/?=&]")
_PLAIN_CHARACTER = re.compile(rf"[{_UNRESERVED}]")
_HOST = re.compile(r"\[[0-9a-f:.]+\]|[a-z0-9*_.-]+")
_ROUTE = re.compile(r"[!/]")


def normalize_url(url: str, *, tracking: Collection[str] = TRACKING_PARAMETERS) -> str:
    """Return the normalized form of a page's URL, without the parameters in `tracking`.

    Raises InvalidArgumentError for anything but an absolute http, https or file URL.
    """
    parts = _split(url, "url")
    if "*" in parts.netloc:
        raise _refuse("url", "a host with *")
    form = f"{parts.scheme}://{_host(parts, 'url')}{_path(parts.path)}"
    query = _query(parts.query, tracking)
    return f"{form}{f'?{query}' if query else ''}{_fragment(parts.fragment)}"


def has_address(url: str) -> bool:
    """Return whether a page with this URL can have entries. Blank tabs and generated documents cannot."""
    return url.partition(":")[0].lower() in SCHEMES


def generalize_url(url: str) -> str:
    """Return the pattern of all similar pages: `*` replaces each id in the path.

    Ids are numbers, UUIDs, and words of at least 16 characters that mix letters and digits. For a URL without
    ids, the pattern is the normalized URL.
    """
    form = normalize_url(url)
    head, mark, rest = _cut_path(form)
    path = head.split("/")
    path[3:] = ["*" if _ID.fullmatch(segment) else segment for segment in path[3:]]
    return "/".join(path) + mark + rest


_ID = re.compile(
    r"[0-9]+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|(?=[A-Za-z_-]*[0-9])(?=[0-9_-]*[A-Za-z])[\w-]{16,}",
    re.ASCII,
)


@attrs.frozen
class UrlPattern:
    """A pattern of URLs, such as `https://*.example.com/orders/*?page=*`.

    `*` matches any characters except `/`, and in a host any characters except the dot. `**` matches any
    characters in a path. A pattern without a query matches any query. A pattern with a query matches URLs
    that have at least its parameters. The same rules apply to a fragment. A normalized URL is also a pattern:
    it matches itself, also with additional parameters.
    """

    text: str

    def __attrs_post_init__(self) -> None:
        """Raise InvalidArgumentError for an invalid pattern."""
        _compile(self.text)

    @property
    def is_exact(self) -> bool:
        """Whether the pattern has no `*`."""
        return "*" not in self.text

    @property
    def weight(self) -> int:
        """The specificity: the pattern with the higher weight fits a page better."""
        return len(self.text.replace("*", ""))

    def matches(self, url: str) -> bool:
        """Return whether the pattern matches a URL in any form. An invalid URL never matches."""
        try:
            form = normalize_url(url)
        except InvalidArgumentError:
            return False
        if form == self.text:
            return True
        head, parameters, fragment = _compile(self.text)
        path, mark, rest = _cut_path(form)
        query, _, route = (rest if mark == "?" else f"#{rest}" if mark else "").partition("#")
        if head.fullmatch(path) is None or (fragment is not None and fragment.fullmatch(route) is None):
            return False
        items = [item for item in query.split("&") if item]
        return all(any(pattern.fullmatch(item) for item in items) for pattern in parameters)


def choose_pattern(patterns: Iterable[UrlPattern], url: str) -> UrlPattern | None:
    """Return the most specific pattern that matches a URL, or None."""
    return max(
        (each for each in patterns if each.matches(url)),
        key=lambda each: (each.is_exact, each.weight, each.text),
        default=None,
    )


@lru_cache(maxsize=1_000)
def _compile(text: str) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...], re.Pattern[str] | None]:
    """Return a pattern's regular expressions for scheme to path, for each parameter, and for the fragment."""
    parts = _split(text, "pattern")
    host = _glob(_host(parts, "pattern"), r"[^./:]*", r"[^/]*")
    path = _glob(_path(parts.path), "[^/]*", ".*")
    items = [item for item in _query(parts.query, ()).split("&") if item]
    fragment = _fragment(parts.fragment)
    return (
        re.compile(f"{parts.scheme}://{host}{path}", re.DOTALL),
        tuple(re.compile(_glob(item, ".*", ".*"), re.DOTALL) for item in items),
        re.compile(_glob(fragment[1:], ".*", ".*"), re.DOTALL) if fragment else None,
    )


def _glob(text: str, one: str, many: str) -> str:
    pieces = re.split(r"(\*+)", text)
    return "".join(
        (one if len(piece) == 1 else many) if piece.startswith("*") else re.escape(piece) for piece in pieces
    )


def _cut_path(form: str) -> tuple[str, str, str]:
    """Split a URL at its query or fragment: the part before, the separator, and the part after."""
    found = re.search(r"[?#]", form)
    return (form, "", "") if found is None else (form[: found.start()], found[0], form[found.end() :])


def _split(url: str, what: str) -> SplitResult:
    if not isinstance(url, str):
        raise _refuse(what, f"a {type(url).__name__}")
    if len(url) > LONGEST_URL:
        raise _refuse(what, f"{len(url)} characters, more than {LONGEST_URL}")
    # Like browsers: strip surrounding white space, remove line ends and tabs, and treat \ as /.
    text = re.sub(r"[\t\r\n]", "", url.strip("".join(map(chr, range(33)))))
    address, mark, rest = _cut_path(text)
    try:
        parts = urlsplit(address.replace("\\", "/") + mark + rest)
        _ = parts.port
    except ValueError:
        raise _refuse(what, "a text whose host or port cannot be read") from None
    if parts.scheme not in SCHEMES:
        raise _refuse(what, "a URL of another scheme, or without one")
    if parts.scheme != "file" and not parts.hostname:
        raise _refuse(what, "a URL without a host")
    return parts


def _host(parts: SplitResult, what: str) -> str:
    host = parts.netloc.rpartition("@")[2].lower()
    host, port = host[: host.rfind(":")] if parts.port is not None else host.rstrip(":"), parts.port
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii")
        except UnicodeError:
            raise _refuse(what, "a host with an invalid name") from None
    if host and _HOST.fullmatch(host) is None:
        raise _refuse(what, "a host with characters that no host has")
    return host if port is None or port == DEFAULT_PORTS.get(parts.scheme) else f"{host}:{port}"


def _path(path: str) -> str:
    segments: list[str] = []
    pieces = _generalize(path).split("/")
    for number, segment in enumerate(pieces):
        if segment in (".", ".."):
            if segment == ".." and len(segments) > 1:
                segments.pop()
            if number == len(pieces) - 1:
                segments.append("")
        else:
            segments.append(segment)
    joined = "/".join(segments)
    return joined if joined.startswith("/") else f"/{joined}"


def _generalize(path: str) -> str:
    return replace_random(drop_session_segments(_recode(path, _PATH_CHARACTER)))


def _query(query: str, tracking: Collection[str]) -> str:
    items = []
    for item in query.split("&"):
        name, equals, value = _recode(item, _QUERY_CHARACTER).partition("=")
        if not item or is_listed(name, tracking) or is_session_parameter(name):
            continue
        items.append((name, f"{name}{equals}{'*' if value and is_secret_parameter(name) else value}"))
    # The sort is stable: parameters of the same name keep their order.
    return "&".join(text for _, text in sorted(items, key=lambda each: each[0]))


def _fragment(fragment: str) -> str:
    if _ROUTE.match(fragment) is None:
        return ""
    path, mark, query = fragment.partition("?")
    query = _query(query, TRACKING_PARAMETERS)
    return f"#{_generalize(path)}{mark if query else ''}{query}"


def _recode(text: str, allowed: re.Pattern[str]) -> str:
    def recode(found: re.Match[str]) -> str:
        piece = found[0]
        if len(piece) == 3:
            character = chr(int(piece[1:], 16))
            return character if _PLAIN_CHARACTER.fullmatch(character) else piece.upper()
        if allowed.fullmatch(piece):
            return piece
        return "".join(f"%{byte:02X}" for byte in piece.encode("utf-8", "replace"))

    return _PIECE.sub(recode, text)


def _refuse(what: str, url: str) -> InvalidArgumentError:
    # The message does not repeat the URL: it can contain a password.
    return InvalidArgumentError(what=what, given=url, expected="an absolute URL of http, https or file")
