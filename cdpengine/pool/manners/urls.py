"""Canonical web URLs, so that a page is visited once however its links are written. Pure.

Rule: two URLs are equal if the standards say so: if browsers read them alike (URL standard,
https://url.spec.whatwg.org), or RFC 3986, section 6.2.2, calls them equivalent. URLs that a server may distinguish
stay different: a trailing slash, an empty query, the order of parameters. Further simplifications (sorting
parameters, dropping tracking parameters) are options. The canonical form of a canonical URL is itself.

`cdpengine.cache.normalize_url` is different: it recognises pages and drops secrets, so it merges more URLs.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from functools import lru_cache
from urllib.parse import unquote_plus, unquote_to_bytes

import attrs
import idna

from cdpengine._urls import DEFAULT_PORTS, TRACKING_PARAMETERS, is_listed, parse_address
from cdpengine.errors import InvalidArgumentError

__all__ = ["TRACKING_PARAMETERS", "WebUrl", "canonicalize_url", "read_web_url"]

LONGEST_URL = 65_536
"""Maximum length of a URL, in characters. Browsers and servers accept less."""

_LONGEST_CACHED = 2_048
_BLANKS = "".join(map(chr, range(33)))
_SCHEME = re.compile(r"(https?):", re.IGNORECASE)
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# Characters that the URL standard percent-encodes besides non-ASCII ones: its path, special-query and userinfo
# sets.
_NOT_IN_PATH = re.compile('[\\x00-\\x20"#<>?^`{}\\x7f-\U0010ffff]')
_NOT_IN_QUERY = re.compile("[\\x00-\\x20\"#<>'\\x7f-\U0010ffff]")
_NOT_IN_USER = re.compile('[\\x00-\\x20"#<>?^`{}/:;=@\\[\\\\\\]|\\x7f-\U0010ffff]')
_NOT_IN_HOST = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@attrs.frozen
class WebUrl:
    """The parts of an http or https URL in canonical form. `port` is None for the scheme's default."""

    scheme: str
    user: str
    """The user, or "user:password"; "" without a user."""
    host: str
    port: int | None
    path: str
    query: str | None

    @property
    def origin(self) -> str:
        """Scheme, host and port, such as "https://example.com:8443"."""
        return f"{self.scheme}://{self.host}{'' if self.port is None else f':{self.port}'}"

    @property
    def text(self) -> str:
        """The whole URL."""
        _, _, authority = self.origin.partition("://")
        user = f"{self.user}@" if self.user else ""
        query = "" if self.query is None else f"?{self.query}"
        return f"{self.scheme}://{user}{authority}{self.path}{query}"


def canonicalize_url(url: str, *, sort_query: bool = False, drop_parameters: Collection[str] = ()) -> str:
    """Return the canonical form of an http or https URL.

    Scheme and host are lower-case. The host is ASCII (IDNA like browsers, UTS #46), addresses are in their
    shortest form. The default port, dot segments and the fragment are removed, and the path is at least "/".
    Percent-encodings are upper-case, those of letters, digits and "-._~" are decoded, and a lone "%" becomes
    "%25".

    `sort_query` sorts the parameters by name; equal names keep their order. `drop_parameters` are names of
    parameters to remove; "utm_*" matches a prefix. `TRACKING_PARAMETERS` is such a list.

    Raises InvalidArgumentError for a URL that no browser can open over http or https. The message does not contain
    the URL.
    """
    parts = read_web_url(url)
    if parts.query is not None and (sort_query or drop_parameters):
        parts = attrs.evolve(parts, query=_arrange(parts.query, sort_query, drop_parameters))
    return parts.text


def read_web_url(url: str) -> WebUrl:
    """Return the parts of a URL in canonical form. Raises the errors of `canonicalize_url`."""
    if not isinstance(url, str):
        raise _refuse(f"a {type(url).__name__}")
    if len(url) > LONGEST_URL:
        raise _refuse(f"{len(url)} characters, more than {LONGEST_URL}")
    return _read_cached(url) if len(url) <= _LONGEST_CACHED else _read(url)


def _read(url: str) -> WebUrl:
    text = _SURROGATE.sub("\ufffd", re.sub(r"[\t\r\n]", "", url.strip(_BLANKS)))
    found = _SCHEME.match(text)
    if found is None:
        raise _refuse("a URL of another scheme, or without one")
    scheme = found[1].lower()
    address, mark, query = text[found.end() :].partition("#")[0].partition("?")
    # Browsers read "\" as "/" here, and accept any number of them.
    authority, _, path = address.replace("\\", "/").lstrip("/").partition("/")
    user, _, place = authority.rpartition("@")
    host, port = _split_port(place)
    return WebUrl(
        scheme=scheme,
        user=_user(user),
        host=_host(host),
        port=None if port == DEFAULT_PORTS[scheme] else port,
        path=_path(path),
        query=_write(query, _NOT_IN_QUERY) if mark else None,
    )


# A scheduler looks up the same URLs repeatedly.
_read_cached = lru_cache(maxsize=1_024)(_read)


def _split_port(place: str) -> tuple[str, int | None]:
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]*))?", place)
    if found is None:
        raise _refuse("a URL whose host or port cannot be read")
    digits = (found[2] or "").lstrip("0") or ("0" if found[2] else "")
    if len(digits) > 5 or int(digits or 0) > 65_535:
        raise _refuse("a port above 65535")
    return found[1], int(digits) if digits else None


def _user(user: str) -> str:
    name, mark, password = user.partition(":")
    password = _write(password, _NOT_IN_USER)
    return _write(name, _NOT_IN_USER) + (f":{password}" if mark and password else "")


def _host(host: str) -> str:
    if host.startswith("["):
        return f"[{_ipv6(host[1:-1])}]"
    name = unquote_to_bytes(host).decode("utf-8", "replace")
    name = name.lower() if name.isascii() else _to_ascii(name)
    if not name or _NOT_IN_HOST.search(name):
        raise _refuse("a URL whose host is not a name")
    last = name.removesuffix(".").rpartition(".")[2]
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last):  # must be an address
        address = parse_address(name.removesuffix("."))
        if address is None:
            raise _refuse("a URL whose host is not an address")
        return str(address)
    return name


def _to_ascii(name: str) -> str:
    """Encode a name with UTS #46 and Punycode, without the checks that browsers omit."""
    try:
        mapped = idna.uts46_remap(name, std3_rules=False, transitional=False)
        labels = mapped.split(".")
        if not any(label.startswith("xn--") and not label.isascii() for label in labels):
            return ".".join(
                label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"
                for label in labels
            )
    except (idna.IDNAError, UnicodeError):
        pass
    raise _refuse("a URL whose host is not a valid domain name")


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise _refuse("a URL whose host is not an address") from None
    if address.scope_id is not None:
        raise _refuse("a URL whose host has a zone")
    if address.ipv4_mapped is not None:  # their form depends on the version of Python
        low = int(address.ipv4_mapped)
        return f"::ffff:{low >> 16:x}:{low & 0xFFFF:x}"
    return address.compressed


def _path(path: str) -> str:
    segments: list[str] = []
    written = _write(path, _NOT_IN_PATH).split("/")
    for number, segment in enumerate(written):
        if segment not in (".", ".."):
            segments.append(segment)
            continue
        if segment == ".." and segments:
            segments.pop()
        if number == len(written) - 1:
            segments.append("")
    return "/" + "/".join(segments)


def _write(text: str, not_allowed: re.Pattern[str]) -> str:
    """Return a part with canonical percent-encodings, and with its forbidden characters encoded."""

    def plain(found: re.Match[str]) -> str:
        value = int(found[1], 16)
        return chr(value) if value in _UNRESERVED else found[0].upper()

    def encode(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))

    # Lone "%" first: otherwise "%%37e" would become the encoding "%7e".
    return not_allowed.sub(encode, _TRIPLET.sub(plain, _LONE_PERCENT.sub("%25", text)))


def _arrange(query: str, sort_query: bool, drop: Collection[str]) -> str | None:
    named = [(unquote_plus(item.partition("=")[0]), item) for item in query.split("&")]
    remaining = [(name, item) for name, item in named if not is_listed(name, drop)]
    if len(remaining) < len(named) and not remaining:
        return None
    if sort_query:
        remaining.sort(key=lambda each: each[0])  # stable
    return "&".join(item for _, item in remaining)


def _refuse(given: str) -> InvalidArgumentError:
    # The error does not contain the URL, which may include a password.
    return InvalidArgumentError(what="url", given=given, expected="an absolute URL of http or https")
