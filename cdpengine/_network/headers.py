"""Headers: from what a caller gives to what Chrome takes. Pure.

Rule: a header that no server could read is refused before anything is sent; order and repetition are kept where
Chrome keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cdpengine.errors import InvalidArgumentError

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Names and values; pairs where a name comes more than once (Set-Cookie)."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\0]")

_SCHEME = re.compile(r"(?:Basic|Bearer|Digest|Negotiate|Token)\s+", re.IGNORECASE)

_HARMLESS = frozenset({
    "age", "allow", "alt-svc", "cache-control", "connection", "content-disposition", "content-encoding",
    "content-language", "content-length", "content-range", "content-security-policy",
    "content-security-policy-report-only", "content-type", "cross-origin-embedder-policy",
    "cross-origin-opener-policy", "cross-origin-resource-policy", "date", "dnt", "etag", "expect", "expires",
    "forwarded", "host", "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
    "keep-alive", "last-modified", "link", "location", "max-forwards", "origin", "permissions-policy",
    "pragma", "priority", "range", "referer", "referrer-policy", "refresh", "retry-after", "save-data",
    "server", "server-timing", "service-worker-allowed", "sourcemap", "strict-transport-security", "te",
    "timing-allow-origin", "trailer", "transfer-encoding", "upgrade", "upgrade-insecure-requests",
    "user-agent", "vary", "via", "x-content-type-options", "x-dns-prefetch-control", "x-frame-options",
    "x-requested-with", "x-xss-protection",
})  # fmt: skip
_HARMLESS_BEGINNINGS = ("accept", "access-control-", "sec-", "x-forwarded-")
"""Headers of HTTP's own whose values say what everybody may know. Others are taken for secrets:
Authorization, Cookie, X-Api-Key."""

OF_THE_BODY_AS_SENT = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""What is true only of a body as it came over the wire: not of one that was read, and perhaps changed."""


def check_headers(headers: object) -> list[tuple[str, str]]:
    """Return the headers as pairs.

    Raises InvalidArgumentError; the message holds no value, as it may be a secret.
    """
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, Iterable) and not isinstance(headers, (str, bytes)):
        pairs = list(headers)
    else:
        raise InvalidArgumentError(what="headers", given=f"a {type(headers).__name__}", expected=_EXPECTED)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidArgumentError(what="headers", given=f"a {type(pair).__name__}", expected=_EXPECTED)
        name, value = pair
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            expected = "a name of letters, digits and hyphens"
            raise InvalidArgumentError(what="name of a header", given=repr(name)[:80], expected=expected)
        if not isinstance(value, str):
            raise InvalidArgumentError(
                what=f"header {name}", given=f"a {type(value).__name__}", expected="a str"
            )
        if _BREAKS.search(value):
            raise InvalidArgumentError(
                what=f"header {name}", given="a value with a line break", expected="a value of one line"
            )
    return pairs


def secret_values(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Return the values of headers that a program gives and that can be secrets: of all but the harmless ones.

    Of "Bearer abc" and the like it is what follows the scheme.
    """
    found = []
    for name, value in pairs:
        if name.casefold() not in _HARMLESS and not name.casefold().startswith(_HARMLESS_BEGINNINGS):
            scheme = _SCHEME.match(value)
            found.append(value if scheme is None else value[scheme.end() :])
    return found


def header_entries(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return headers as the Fetch domain takes them."""
    return [{"name": name, "value": value} for name, value in pairs]


def merge_headers(layers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the headers of all layers; a later one wins, however its name is written."""
    found: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            found[name.casefold()] = (name, value)
    return dict(found.values())


_EXPECTED = "a mapping of names to values, or pairs of them"
