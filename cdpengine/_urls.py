"""Parts of URLs: credentials, ports, tracking parameters, and hosts' addresses. Strings that are no URLs.

Rule: pure. Hosts are parsed as in browsers: "0x7f.1" is 127.0.0.1. An IPv4 address within an IPv6 one is
classified as the IPv4 address.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import unquote

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

DEFAULT_PORTS = {"http": 80, "https": 443}

TRACKING_PARAMETERS: frozenset[str] = frozenset(
    {
        "utm_*", "mtm_*", "pk_*", "piwik_*", "hsa_*", "_hsenc", "_hsmi", "__hstc", "__hssc", "__hsfp",
        "hsctatracking", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "_ga", "_gl", "fbclid",
        "fb_action_ids", "msclkid", "yclid", "ysclid", "ttclid", "twclid", "li_fat_id", "igshid", "igsh",
        "mc_cid", "mc_eid", "mkt_tok", "vero_id", "oly_anon_id", "oly_enc_id", "s_cid", "wickedid",
        "rb_clickid", "epik", "spm", "scm", "_openstat",
    }
)  # fmt: skip
"""Tracking parameters, in lowercase; `*` at the end matches any ending.

After the lists of EasyPrivacy and of browsers that remove them (Firefox's query stripping, Brave).
"""


def is_listed(name: str, names: Collection[str]) -> bool:
    """Return whether a parameter's name is listed, in any case. "utm_*" matches all names with that beginning."""
    lower = name.lower()
    return lower in names or any(each.endswith("*") and lower.startswith(each[:-1]) for each in names)


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


EXAMPLE = "https://example.com/"

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOST_AND_PORT = re.compile(
    r"(?!(?:data|about|blob|file|javascript|mailto|tel|sms|urn):)[^/?#:@\s]+:([0-9]+)(?:[/?#]|$)",
    re.IGNORECASE,
)
"""Pattern of a host with a port. Chrome parses the host in "localhost:8000/x" as a scheme."""
_NO_HOST = re.compile(r"https?:[/\\]*(?:[?#]|$)", re.IGNORECASE)
_FILE = re.compile(
    r"[^?#]*\.(?:html?|xhtml|mhtml|pdf|svg|png|jpe?g|gif|webp|txt|json|xml|csv)", re.IGNORECASE
)
_HOST = re.compile(
    r"(?:localhost|(?:[^\s/?#@:.]+\.)+[^\s/?#@:.]{2,}\.?|[0-9]+(?:\.[0-9]+){3}|\[[0-9a-f:.]+\](?::[0-9]+)?)(?:[/?#]|$)",
    re.IGNORECASE,
)
_BLANKS = "".join(map(chr, range(33)))
_LOCAL = ("localhost", "127.", "[::1]")


def explain_no_url(text: str) -> tuple[str, str]:
    """Return why a string is no absolute URL, and the URL that was probably meant; ("", "") if it is one.

    The reason continues a sentence: "'/a' is a path without a host". An unknown scheme is no fault here.
    """
    text = re.sub(r"[\t\r\n]", "", text).strip(_BLANKS)  # as browsers do
    if not text:
        return "is empty", EXAMPLE
    if _DRIVE.match(text):
        return "is a file name", f"file:///{text.replace(chr(92), '/')}"
    if _NO_HOST.match(text):
        return "names no host", EXAMPLE
    plain_http = text.lower().startswith(_LOCAL)
    if (port := _HOST_AND_PORT.match(text)) is not None:
        plain_http = plain_http or not port[1].endswith("443")
    else:
        if _SCHEME.match(text):
            return "", ""
        if text.startswith("//"):
            return "has no scheme", f"https:{text}"
        if text[0] in "/.?#":
            return "is a path without a host", f"{EXAMPLE}{text.lstrip('./')}"
        host = _HOST.match(text)
        if _FILE.fullmatch(text) and (host is None or "/" not in text):
            return "is a file name", "file:///folder/name.html"
        if host is None:
            return "is not an address", EXAMPLE
    return "has no scheme", f"{'http' if plain_http else 'https'}://{text}"


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
