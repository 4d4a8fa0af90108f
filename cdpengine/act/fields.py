"""Declarations of request fields: a sentence about the meaning, and the bounds.

Rule: the sentence here is the only description of a field. The parser checks the bounds; the JSON Schema and the
documentation use the same sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_type_hints

import attrs

MEANING, LEAST, MOST, SECRET, FILE = "meaning", "least", "most", "secret", "file"


@attrs.frozen
class Timing:
    """The default and the maximum timeout of a kind of request, in milliseconds."""

    default_ms: int = 8_000
    longest_ms: int = 60_000


def field(
    meaning: str,
    default: Any = attrs.NOTHING,
    *,
    least: float | None = None,
    most: float | None = None,
    secret: bool = False,
    file: bool = False,
) -> Any:
    """Declare a field of a request.

    `least` and `most` bound a number, or the length of a list. A `secret` field may contain private data, so a
    request's `repr` omits it. A `file` field has paths of this machine, which an actor checks.
    """
    metadata: Mapping[str, object] = {MEANING: meaning, LEAST: least, MOST: most, SECRET: secret, FILE: file}
    return attrs.field(default=default, metadata=metadata, repr=not secret)


def file_fields(kind: type[Any]) -> Sequence[str]:
    """Return the Python names of the fields of a request that name files."""
    return tuple(each.name for each in attrs.fields(kind) if each.metadata.get(FILE))


def secret_fields(kind: type[Any]) -> Sequence[str]:
    """Return the Python names of the fields that may contain private data, themselves or in their parts."""
    hints = get_type_hints(kind)
    return tuple(
        each.name
        for each in attrs.fields(kind)
        if each.metadata.get(SECRET) or any(map(secret_fields, _parts_of(hints[each.name])))
    )


def _parts_of(hint: Any) -> Iterator[type[Any]]:
    """Yield the attrs classes in a type, such as that of `tuple[FormField, ...]`."""
    if attrs.has(hint):
        yield hint
    for each in get_args(hint):
        yield from _parts_of(each)


def summary_of(kind: type[Any]) -> str:
    """Return the first line of the docstring of a request, or of a part of it."""
    return (kind.__doc__ or "").strip().partition("\n")[0]


def camel_case(name: str) -> str:
    """Return the JSON name of a field: "maxDepth" for "max_depth"."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def snake_case(name: str, separator: str = "_") -> str:
    """Return a JSON name in lower case: "scroll_into_view" for "scrollIntoView"."""
    return re.sub("([A-Z])", lambda found: f"{separator}{found[1].lower()}", name)
