"""How the fields of a request are declared: each with one sentence on what it means, and its bounds.

Rule: what a field says here is all that is written of it. The parser checks the bounds, and the JSON Schema and
the documentation are made of the same words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

MEANING, LEAST, MOST, SECRET = "meaning", "least", "most", "secret"


@attrs.frozen
class Timing:
    """The time that a request of one kind gets, in milliseconds, and the most that it can ask for."""

    default_ms: int = 8_000
    longest_ms: int = 60_000


def field(
    meaning: str,
    default: Any = attrs.NOTHING,
    *,
    least: float | None = None,
    most: float | None = None,
    secret: bool = False,
) -> Any:
    """Declare a field of a request.

    `least` and `most` bound a number, or the number of a list's entries. A `secret` one may hold what a person
    would not want shown: it is left out of a request's `repr`.
    """
    metadata: Mapping[str, object] = {MEANING: meaning, LEAST: least, MOST: most, SECRET: secret}
    return attrs.field(default=default, metadata=metadata, repr=not secret)


def camel_case(name: str) -> str:
    """Return what a field is called in JSON: "max_depth" is "maxDepth"."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
