"""Headers: from what a caller gives to what Chrome takes. Pure.

Rule: a header that no server could read is refused before anything is sent; order and repetition are kept where
Chrome keeps them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from cdpengine.errors import InvalidArgument

Headers: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Names and values; pairs where a name comes more than once (Set-Cookie)."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_BREAKS = re.compile(r"[\r\n\0]")

OF_THE_BODY_AS_SENT = frozenset({"content-length", "content-encoding", "transfer-encoding"})
"""What is true only of a body as it came over the wire: not of one that was read, and perhaps changed."""


def check_headers(headers: object) -> list[tuple[str, str]]:
    """Return the headers as pairs. Raises InvalidArgument; the message holds no value, as it may be a secret."""
    if isinstance(headers, Mapping):
        pairs = list(headers.items())
    elif isinstance(headers, Iterable) and not isinstance(headers, (str, bytes)):
        pairs = list(headers)
    else:
        raise InvalidArgument(what="headers", given=f"a {type(headers).__name__}", expected=_EXPECTED)
    for pair in pairs:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InvalidArgument(what="headers", given=f"a {type(pair).__name__}", expected=_EXPECTED)
        name, value = pair
        if not isinstance(name, str) or _NAME.fullmatch(name) is None:
            expected = "a name of letters, digits and hyphens"
            raise InvalidArgument(what="name of a header", given=repr(name)[:80], expected=expected)
        if not isinstance(value, str):
            raise InvalidArgument(what=f"header {name}", given=f"a {type(value).__name__}", expected="a str")
        if _BREAKS.search(value):
            raise InvalidArgument(
                what=f"header {name}", given="a value with a line break", expected="a value of one line"
            )
    return pairs


def entries(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """Return headers as the Fetch domain takes them."""
    return [{"name": name, "value": value} for name, value in pairs]


def merged(layers: Iterable[Mapping[str, str]]) -> dict[str, str]:
    """Return the headers of all layers; a later one wins, however its name is written."""
    found: dict[str, tuple[str, str]] = {}
    for layer in layers:
        for name, value in layer.items():
            found[name.casefold()] = (name, value)
    return dict(found.values())


_EXPECTED = "a mapping of names to values, or pairs of them"
