"""Hosts of URLs: names, addresses, and domains. Pure.

Rule: hosts are read as in browsers (URL standard, https://url.spec.whatwg.org): "0x7f.1" is 127.0.0.1, and names
are ASCII (UTS #46). An IPv4 address within an IPv6 one is classified as the IPv4 address.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote_to_bytes

import idna

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAME = re.compile(r"[a-z0-9*_.-]+")
"""Browsers accept more characters, which no name has. `*` is for patterns of hosts."""


class UnreadableUrl(ValueError):
    """A string that browsers do not open as a URL. The message describes it without repeating it."""


def read_host(host: str) -> str:
    """Return the canonical form of a URL's host, such as "xn--bcher-kva.example", "127.0.0.1" or "[::1]".

    Raises UnreadableUrl.
    """
    if host.startswith("["):
        return f"[{_read_ipv6(host[1:-1])}]"
    name = unquote_to_bytes(host).decode("utf-8", "replace")
    name = name.lower() if name.isascii() else _to_ascii(name)
    if _NAME.fullmatch(name) is None:
        raise UnreadableUrl("a URL whose host is not a name")
    last = name.removesuffix(".").rpartition(".")[2]
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", last):  # must be an address
        address = parse_address(name.removesuffix("."))
        if address is None:
            raise UnreadableUrl("a URL whose host is not an address")
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
    raise UnreadableUrl("a URL whose host is not a valid domain name")


def _read_ipv6(text: str) -> str:
    try:
        address = ipaddress.IPv6Address(text)
    except ValueError:
        raise UnreadableUrl("a URL whose host is not an address") from None
    if address.scope_id is not None:
        raise UnreadableUrl("a URL whose host has a zone")
    if address.ipv4_mapped is not None:  # their form depends on the version of Python
        low = int(address.ipv4_mapped)
        return f"::ffff:{low >> 16:x}:{low & 0xFFFF:x}"
    return address.compressed


def parse_address(host: str) -> Address | None:
    """Return the address of a host, or None for a name. "0x7f.1" is 127.0.0.1, as in browsers."""
    try:
        return ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return _parse_number_parts(host)


def _parse_number_parts(host: str) -> ipaddress.IPv4Address | None:
    """Return the IPv4 address of one to four numbers: decimal, octal (0...) or hexadecimal (0x...)."""
    parts = host.split(".")
    if not 1 <= len(parts) <= 4:
        return None
    numbers = []
    for part in parts:
        match = re.fullmatch(r"0x([0-9a-f]*)|0([0-7]+)|(0|[1-9][0-9]*)", part, re.IGNORECASE)
        if match is None:
            return None
        if match[1] is not None:
            numbers.append(int(match[1] or "0", 16))
        else:
            numbers.append(int(match[2], 8) if match[2] is not None else int(match[3]))
    *first, last = numbers
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        return None
    value = last + sum(number * 256 ** (3 - place) for place, number in enumerate(first))
    return ipaddress.IPv4Address(value)


_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_INTERNET = ipaddress.IPv6Network("2000::/3")

_SPECIAL = tuple(
    ipaddress.ip_network(each)
    for each in (
        "192.0.0.0/24", "192.88.99.0/24",  # protocol assignments; former relays of 6to4
        "2001::/23", "2001:db8::/32", "3fff::/20",  # protocol assignments (Teredo is one), documentation
    )
)  # fmt: skip
"""Ranges that some versions of `ipaddress` call global: the special-purpose registries of IANA (RFC 6890)."""


def is_public(address: Address) -> bool:
    """Return whether an address is public. An IPv4 address within an IPv6 one is classified as the IPv4 address.

    Public IPv6 addresses are in 2000::/3 (RFC 4291); other ranges, such as fec0::/10 and ::/96, have none.
    """
    if isinstance(address, ipaddress.IPv6Address):
        within = address.ipv4_mapped or address.sixtofour
        if within is None and address in _NAT64:
            within = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if within is not None:
            return is_public(within)
        if address not in _INTERNET:
            return False
    special = any(address in each for each in _SPECIAL)
    return address.is_global and not address.is_multicast and not special


def is_below(host: str, domain: str) -> bool:
    """Return whether a host is the domain or one of its subdomains. Both are lower-case."""
    return host == domain or host.endswith(f".{domain}")


def host_matches(host: str, domain: str) -> bool:
    """Return whether a cookie of `domain` is sent to `host`. A leading dot includes subdomains."""
    host, domain = host.lower(), domain.lower()
    return is_below(host, domain[1:]) if domain.startswith(".") else host == domain
