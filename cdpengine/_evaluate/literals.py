"""A script's arguments as JavaScript source. Pure.

Rule: an argument arrives in the page as exactly the same value, or is refused with its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from cdpengine import _json
from cdpengine._checks import check_string, wrong_type
from cdpengine.errors import InvalidArgumentError

_DEEPEST = 200
"""Maximum nesting depth. V8's parser and Python's stack fail only at much larger depths."""

_LARGEST_EXACT = 2**53
"""The largest exact JavaScript integer. Larger integers are passed as BigInt."""


SourceOf = Callable[[object], "str | None"]
"""The source of a value of any other type, such as a handle; None if it cannot be an argument."""


def _no_source(_value: object) -> None:
    return None


def to_literal(value: object, source_of: SourceOf = _no_source) -> str:
    """Return JavaScript source for None, bool, int, float, str, and lists, tuples and mappings of them.

    None becomes null; an int outside of ±2^53 becomes a BigInt; NaN, the infinities and -0.0 are kept. Values of
    other types get the source of `source_of`. Raises InvalidArgumentError for types without a source and for
    cycles.
    """
    parts: list[str] = []
    _write(value, parts, "argument", 0, source_of)
    return "".join(parts)


def _write(value: object, parts: list[str], where: str, depth: int, source_of: SourceOf) -> None:
    if depth > _DEEPEST:
        raise InvalidArgumentError(
            what=where[:80], given="a cycle or deep nesting", expected=f"at most {_DEEPEST} levels"
        )
    if value is None:
        parts.append("null")
    elif value is True or value is False:
        parts.append("true" if value else "false")
    elif isinstance(value, str):
        parts.append(_json.encode_ascii(value))
    elif isinstance(value, int):
        # Base 16, because Python refuses to write large numbers in base 10.
        parts.append(f"{int(value)}" if -_LARGEST_EXACT <= value <= _LARGEST_EXACT else f"{int(value):#x}n")
    elif isinstance(value, float):
        parts.append(_float(value))
    elif isinstance(value, Mapping):
        _write_mapping(value, parts, where, depth, source_of)
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        parts.append("[")
        for index, item in enumerate(value):
            parts.append("," if index else "")
            _write(item, parts, f"{where}[{index}]", depth + 1, source_of)
        parts.append("]")
    elif (source := source_of(value)) is not None:
        parts.append(source)
    else:
        raise wrong_type(
            where[:80], value, "None, bool, int, float, str, list or dict, a handle or an element"
        )


def _write_mapping(
    value: Mapping[object, object], parts: list[str], where: str, depth: int, source_of: SourceOf
) -> None:
    parts.append("{")
    for index, (key, item) in enumerate(value.items()):
        name = check_string(f"a key of {where[:80]}", key)
        parts.append("," if index else "")
        # A computed key: a plain "__proto__" in an object literal would set the prototype.
        parts.append(f"[{_json.encode_ascii(name)}]:")
        _write(item, parts, f"{where}.{key}", depth + 1, source_of)
    parts.append("}")


def _float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return repr(float(value))
