"""Conversion of scripts' values and the engine's records to JSON values.

Rule: no value is dropped. Numbers that JSON lacks become their names, datetimes ISO 8601, bytes base64, and other
objects their string. A script's value may contain itself; a placeholder string marks this place.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

CIRCULAR = "[Circular]"
"""Placeholder for a value inside itself, as in Node.js."""

REPEATED = "[Repeated]"
"""Placeholder for a repeated value after MOST_REPEATED repetitions."""

MOST_REPEATED = 100_000
"""Maximum number of repeated values. Sixty lists that contain the next one twice would be 2^60 values in JSON."""


SPECIAL_NUMBERS: Mapping[str, float] = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "-0": -0.0,
}
"""Numbers that JSON lacks, by the names that the protocol uses."""


def to_plain(value: object, *, fields_of: Callable[[Any], Mapping[str, object]] | None = None) -> Any:
    """Return `value` as a JSON value.

    `fields_of` returns the fields of an attrs object by their names in JSON; by default all public ones, by their
    own names. Datetimes are written as in JavaScript: ISO 8601 in UTC, with a T, milliseconds and a Z.
    """
    return _Plainer(_public_fields if fields_of is None else fields_of).plain(value)


class _Plainer:
    """Converts one value. A level of nesting costs one level of Python's stack: `evaluate` returns up to 500."""

    def __init__(self, fields_of: Callable[[Any], Mapping[str, object]]) -> None:
        self._fields_of = fields_of
        self._around: set[int] = set()
        self._visited: set[int] = set()
        self._repeated = 0

    def plain(self, value: object) -> Any:
        match value:
            case None | bool() | int() | str():
                return value
            case float():
                return value if math.isfinite(value) else _name_number(value)
            case datetime():
                text = value.astimezone(UTC).isoformat(timespec="milliseconds")
                return f"{text.removesuffix('+00:00')}Z"
            case bytes() | bytearray() | memoryview():
                return base64.b64encode(value).decode("ascii")
            case Mapping() | Sequence() | set() | frozenset():
                inside = value
            case _ if attrs.has(type(value)):
                inside = self._fields_of(value)
            case _:
                return str(value)
        number = id(value)
        if number in self._around:
            return CIRCULAR
        if number in self._visited:
            self._repeated += 1 + len(inside)
            if self._repeated > MOST_REPEATED:
                return REPEATED
        self._visited.add(number)
        self._around.add(number)
        # Loops, because a comprehension would add a level to the stack.
        made: dict[str, Any] | list[Any]
        if isinstance(inside, Mapping):
            made = {}
            for key, item in inside.items():
                made[str(key)] = self.plain(item)
        else:
            made = []
            for item in inside:
                made.append(self.plain(item))
        self._around.discard(number)
        return made


def _public_fields(value: Any) -> dict[str, object]:
    names = [field.name for field in attrs.fields(type(value)) if not field.name.startswith("_")]
    return {name: getattr(value, name) for name in names}


def _name_number(value: float) -> str:
    """Return JavaScript's name of a number that JSON cannot represent."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
