"""Values become what JSON holds: those of scripts, and the engine's own records.

Rule: nothing is lost in silence. Numbers that JSON lacks become their names, moments ISO 8601, bytes base64, and
other objects their text.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs


def to_plain(value: object, *, fields_of: Callable[[Any], Mapping[str, object]] | None = None) -> Any:
    """Return `value` as what JSON has.

    `fields_of` gives the fields of an attrs object by their names in JSON; without it, all that are public, by
    their own names. A moment is written as JavaScript does: ISO 8601 in UTC, with a T, milliseconds and a Z.
    """
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
        case Mapping():
            return {str(key): to_plain(item, fields_of=fields_of) for key, item in value.items()}
        case Sequence() | set() | frozenset():
            return [to_plain(item, fields_of=fields_of) for item in value]
    kind = type(value)
    if not attrs.has(kind):
        return str(value)
    if fields_of is not None:
        fields = fields_of(value)
    else:
        names = [field.name for field in attrs.fields(kind) if not field.name.startswith("_")]
        fields = {name: getattr(value, name) for name in names}
    return {name: to_plain(item, fields_of=fields_of) for name, item in fields.items()}


def _name_number(value: float) -> str:
    """Return JavaScript's name of a number that JSON has no way to write."""
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
