"""URLs of the web in one form each, so that a page is visited once however links to it are written. Pure.

Rule: two URLs have one form where the standards say that they are one: what browsers read as the same (the URL
standard, https://url.spec.whatwg.org), and what RFC 3986, section 6.2.2, calls equivalent. Nothing that a server
may tell apart is joined: a path with a slash at its end, an empty query, the order of parameters. What goes
further (the order of parameters, those that only follow a visitor around) is asked for by name. To make the form
of a form changes nothing.

`cdpengine.cache.normalize_url` is another one: it recognises pages, and forgets secrets, so it joins more.
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
"""Characters of a URL that is read; browsers and servers take less."""

_LONGEST_KEPT = 2_048
_BLANKS = "".join(map(chr, range(33)))
_SCHEME = re.compile(r"(https?):", re.IGNORECASE)
_TRIPLET = re.compile(r"%([0-9A-Fa-f]{2})")
_LONE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
# What the URL standard writes as triplets, beside what is not ASCII: its path, special-query and userinfo sets.
_NOT_IN_PATH = re.compile('[\\x00-\\x20"#<>?^`{}\\x7f-\U0010ffff]')
_NOT_IN_QUERY = re.compile("[\\x00-\\x20\"#<>'\\x7f-\U0010ffff]")
_NOT_IN_USER = re.compile('[\\x00-\\x20"#<>?^`{}/:;=@\\[\\\\\\]|\\x7f-\U0010ffff]')
_NOT_IN_HOST = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_SURROGATE = re.compile("[\ud800-\udfff]")


@attrs.frozen
class WebUrl:
    """The parts of a URL of http or https in their one form. `port` is None where it is the scheme's own."""

    scheme: str
    user: str
    """The user, or the user and the password, as "user:password"; "" without."""
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
    """Return the one form of a URL of http or https.

    Scheme and host are in small letters, the host in ASCII (IDNA as browsers do it, UTS #46), an address as it is
    written in short. The default port, dot segments and the fragment go, a path is "/" at least. Triplets are in
    capital letters, those of letters, digits and "-._~" are written out, and a "%" that begins none is "%25".

    `sort_query` orders the parameters by their names; those of one name keep their order. `drop_parameters` are
    names of parameters to leave out, "utm_*" is all that begin so: `TRACKING_PARAMETERS` is such a list.

    Raises InvalidArgumentError for what no browser can go to by http or https. The message does not repeat the
    URL.
    """
    parts = read_web_url(url)
    if parts.query is not None and (sort_query or drop_parameters):
        parts = attrs.evolve(parts, query=_arrange(parts.query, sort_query, drop_parameters))
    return parts.text


def read_web_url(url: str) -> WebUrl:
    """Return the parts of a URL in their one form. Raises InvalidArgumentError as `canonicalize_url` does."""
    if not isinstance(url, str):
        raise _refuse(f"a {type(url).__name__}")
    if len(url) > LONGEST_URL:
        raise _refuse(f"{len(url)} characters, more than {LONGEST_URL}")
    return _read_kept(url) if len(url) <= _LONGEST_KEPT else _read(url)


def _read(url: str) -> WebUrl:
    text = _SURROGATE.sub("\ufffd", re.sub(r"[\t\r\n]", "", url.strip(_BLANKS)))
    found = _SCHEME.match(text)
    if found is None:
        raise _refuse("a URL of another scheme, or without one")
    scheme = found[1].lower()
    address, mark, query = text[found.end() :].partition("#")[0].partition("?")
    # A browser reads "\" as "/" here, and takes any number of them.
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


# A scheduler asks about the same URLs again and again.
_read_kept = lru_cache(maxsize=1_024)(_read)


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
        raise _refuse("a URL whose host is no name")
    last = name.removesuffix(".").rpartition(".")[2]
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last):  # so it is an address, or nothing
        address = parse_address(name.removesuffix("."))
        if address is None:
            raise _refuse("a URL whose host is no address")
        return str(address)
    return name


def _to_ascii(name: str) -> str:
    """Return a name as UTS #46 maps it and Punycode writes it, without the checks that browsers leave out."""
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
    raise _refuse("a URL whose host is no name of the Internet")


def _ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise _refuse("a URL whose host is no address") from None
    if address.scope_id is not None:
        raise _refuse("a URL whose host has a zone")
    if address.ipv4_mapped is not None:  # Python writes these differently from version to version
        low = int(address.ipv4_mapped)
        return f"::ffff:{low >> 16:x}:{low & 0xFFFF:x}"
    return address.compressed


def _path(path: str) -> str:
    segments: list[str] = []
    given = _write(path, _NOT_IN_PATH).split("/")
    for number, segment in enumerate(given):
        if segment not in (".", ".."):
            segments.append(segment)
            continue
        if segment == ".." and segments:
            segments.pop()
        if number == len(given) - 1:
            segments.append("")
    return "/" + "/".join(segments)


def _write(text: str, not_allowed: re.Pattern[str]) -> str:
    """Return a part with its triplets in one form, and what may not stand in it as triplets."""

    def plain(found: re.Match[str]) -> str:
        value = int(found[1], 16)
        return chr(value) if value in _UNRESERVED else found[0].upper()

    def encode(found: re.Match[str]) -> str:
        return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8"))

    # Lone signs come first: with "%" alone, "%%37e" would become the triplet "%7e".
    return not_allowed.sub(encode, _TRIPLET.sub(plain, _LONE_PERCENT.sub("%25", text)))


def _arrange(query: str, sort_query: bool, drop: Collection[str]) -> str | None:
    named = [(unquote_plus(item.partition("=")[0]), item) for item in query.split("&")]
    kept = [(name, item) for name, item in named if not is_listed(name, drop)]
    if len(kept) < len(named) and not kept:
        return None
    if sort_query:
        kept.sort(key=lambda each: each[0])  # stable
    return "&".join(item for _, item in kept)


def _refuse(given: str) -> InvalidArgumentError:
    # The text itself is not repeated: it may hold a password.
    return InvalidArgumentError(what="url", given=given, expected="an absolute URL of http or https")
