"""Values become what JSON holds: those of scripts, and the engine's own records.

Rule: nothing is lost in silence. Numbers that JSON lacks become their names, moments ISO 8601, bytes base64, and
other objects their text. What a script gives may contain itself, which JSON cannot: there a text stands instead.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

CIRCULAR = "[Circular]"
"""What stands in place of a value inside of itself; Node.js writes it so."""

REPEATED = "[Repeated]"
"""What stands in place of a value that was written before, when too much was written again."""

MOST_REPEATED = 100_000
"""Values that are written again. Sixty lists that hold the next one twice would be 2^60 values in JSON."""


def to_plain(value: object, *, fields_of: Callable[[Any], Mapping[str, object]] | None = None) -> Any:
    """Return `value` as what JSON has.

    `fields_of` gives the fields of an attrs object by their names in JSON; without it, all that are public, by
    their own names. A moment is written as JavaScript does: ISO 8601 in UTC, with a T, milliseconds and a Z.
    """
    return _Plainer(_public_fields if fields_of is None else fields_of).plain(value)


class _Plainer:
    """Makes one value plain. A level of nesting costs one level of Python's stack: `evaluate` gives up to 500."""

    def __init__(self, fields_of: Callable[[Any], Mapping[str, object]]) -> None:
        self._fields_of = fields_of
        self._around: set[int] = set()
        self._seen: set[int] = set()
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
        if number in self._seen:
            self._repeated += 1 + len(inside)
            if self._repeated > MOST_REPEATED:
                return REPEATED
        self._seen.add(number)
        self._around.add(number)
        # Loops, as a comprehension would be a level of the stack more.
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
    """Return JavaScript's name of a number that JSON has no way to write."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
