"""Url, the parts of a URL as browsers read it, in canonical form. Pure.

Rule: two URLs have equal parts if browsers read them alike (URL standard, https://url.spec.whatwg.org), or if
RFC 3986, section 6.2.2, calls them equivalent. URLs that a server may distinguish stay different: a trailing
slash, an empty query, the order of parameters. The canonical form of a canonical URL is itself. No error contains
the URL, which may include a password.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import unquote

import attrs

from cdpengine._urls.hosts import UnreadableUrl, read_host
from cdpengine.errors import InvalidArgumentError

DEFAULT_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21}

WEB = ("http", "https")

_LONGEST_CACHED = 2_048
_BLANKS = "".join(map(chr, range(33)))
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):")
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Characters that the URL standard percent-encodes besides non-ASCII ones: its path, special-query and userinfo
# sets.
_NOT_IN_PATH = re.compile('[\\x00-\\x20"#<>?^`{}\\x7f-\U0010ffff]')
_NOT_IN_QUERY = re.compile("[\\x00-\\x20\"#<>'\\x7f-\U0010ffff]")
_NOT_IN_USER = re.compile('[\\x00-\\x20"#<>?^`{}/:;=@\\[\\\\\\]|\\x7f-\U0010ffff]')
_SURROGATE = re.compile("[\ud800-\udfff]")


@attrs.frozen
class Url:
    """The parts of a URL in canonical form. `port` is None for the scheme's default."""

    scheme: str
    user: str
    """The user, or "user:password"; "" without a user."""
    host: str
    """In brackets if it is an IPv6 address; "" for most files."""
    port: int | None
    path: str
    query: str | None
    fragment: str
    """As in the URL."""

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as "https://example.com:8443"."""
        return f"{self.scheme}://{self.host}{'' if self.port is None else f':{self.port}'}"

    @property
    def text(self) -> str:
        """The whole URL, without its fragment."""
        _, _, authority = self.origin.partition("://")
        user = f"{self.user}@" if self.user else ""
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}://{user}{authority}{self.path}{query}"


def read_url(url: str, what: str = "url", *, schemes: Collection[str] = WEB, longest: int = 65_536) -> Url:
    """Return the parts of a URL that a caller gave. `longest` is its maximum length, in characters.

    Raises InvalidArgumentError for `what` if the value is no absolute URL of these schemes.
    """
    try:
        if not isinstance(url, str):
            raise UnreadableUrl(f"a {type(url).__name__}")
        if len(url) > longest:
            raise UnreadableUrl(f"{len(url)} characters, more than {longest}")
        parts = parse_url(url)
        if parts.scheme not in schemes:
            raise UnreadableUrl("a URL of another scheme, or without one")
    except UnreadableUrl as unreadable:
        *others, last = schemes
        expected = f"an absolute URL of {', '.join(others)} or {last}"
        raise InvalidArgumentError(what=what, given=str(unreadable), expected=expected) from None
    return parts


def parse_url(url: str) -> Url:
    """Return the parts of an http, https, ws, wss, ftp or file URL. Raises UnreadableUrl."""
    return _parse_cached(url) if len(url) <= _LONGEST_CACHED else _parse(url)


def split_url(url: str) -> tuple[str, str]:
    """Return the scheme and the host of any URL, for comparison: in lower case, without brackets and last dot.

    A missing scheme or host is "", and so is a host that browsers refuse.
    """
    try:
        parts = parse_url(url)
    except UnreadableUrl:
        found = _SCHEME.match(clean_up(url))
        return ("" if found is None else found[1].lower()), ""
    return parts.scheme, parts.host.strip("[]").rstrip(".")


def clean_up(url: str) -> str:
    """Return a URL without line breaks, tabs and surrounding control characters, which browsers ignore."""
    return re.sub(r"[\t\r\n]", "", url).strip(_BLANKS)


def _parse(url: str) -> Url:
    text = _SURROGATE.sub("\ufffd", clean_up(url))
    found = _SCHEME.match(text)
    scheme = "" if found is None else found[1].lower()
    if found is None or scheme not in (*DEFAULT_PORTS, "file"):
        raise UnreadableUrl("a URL of another scheme, or without one")
    rest, _, fragment = text[found.end() :].partition("#")
    place, mark, query = rest.partition("?")
    authority, path = _split_path(scheme, place.replace("\\", "/"))
    user, _, host_and_port = authority.rpartition("@")
    host, port = _split_port(host_and_port)
    return Url(
        scheme=scheme,
        user=_user(user),
        host=read_host(host) if host or scheme != "file" else "",
        port=None if port == DEFAULT_PORTS.get(scheme) else port,
        path=resolve_dots(encode(path, _NOT_IN_PATH)),
        query=encode(query, _NOT_IN_QUERY) if mark else None,
        fragment=fragment,
    )


# A scheduler looks up the same URLs repeatedly.
_parse_cached = lru_cache(maxsize=1_024)(_parse)


def _split_path(scheme: str, place: str) -> tuple[str, str]:
    """Split the part after the scheme into user, host and port, and the path with its leading slash."""
    if scheme != "file":
        place = f"//{place.lstrip('/')}"  # browsers accept any number of slashes
    elif not place.startswith("//"):
        place = f"//{'' if place.startswith('/') else '/'}{place}"
    authority, _, path = place[2:].partition("/")
    return authority, f"/{path}"


def _split_port(place: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", place)
    if found is None:
        raise UnreadableUrl("a URL whose host or port cannot be read")
    digits = (found[2] or "").lstrip("0") or ("0" if found[2] else "")
    if len(digits) > 5 or int(digits or 0) > 65_535:
        raise UnreadableUrl("a port above 65535")
    return found[1], int(digits) if digits else None


def _user(user: str) -> str:
    name, mark, password = user.partition(":")
    password = encode(password, _NOT_IN_USER)
    return encode(name, _NOT_IN_USER) + (f":{password}" if mark and password else "")


def resolve_dots(path: str) -> str:
    """Return a path without "." and ".." segments. It begins with a slash."""
    segments: list[str] = []
    written = path[1:].split("/")
    for number, segment in enumerate(written):
        if segment not in (".", ".."):
            segments.append(segment)
            continue
        if segment == ".." and segments:
            segments.pop()
        if number == len(written) - 1:
            segments.append("")
    return "/" + "/".join(segments)


def encode(text: str, not_allowed: re.Pattern[str]) -> str:
    """Return a part with canonical percent-encodings, and with its forbidden characters encoded."""

    def plain(found: re.Match[str]) -> str:
        value = int(found[1], 16)
        return chr(value) if value in _UNRESERVED else found[0].upper()

    def encoded(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))

    # Lone "%" first: otherwise "%%37e" would become the encoding "%7e".
    return not_allowed.sub(encoded, _TRIPLET.sub(plain, _LONE_PERCENT.sub("%25", text)))


# --- credentials ---------------------------------------------------------------------------------------------

_CREDENTIALS = re.compile(r"(?:https?|wss?|ftp):[/\\]*([^/\\?#]*)@", re.IGNORECASE)
"""Up to the last @ before the path. Browsers accept any number of slashes and backslashes as two slashes."""


def credentials_in(url: str) -> list[str]:
    """Return the user and the password of a URL, without percent-encoding; [] for none."""
    found = _CREDENTIALS.match(url.strip())
    return [] if found is None else [unquote(each) for each in found[1].split(":", 1) if each]


def without_credentials(url: str) -> str:
    """Return a URL without its user and password."""
    found = _CREDENTIALS.match(url)
    return url if found is None else url[: found.start(1)] + url[found.end() :]
