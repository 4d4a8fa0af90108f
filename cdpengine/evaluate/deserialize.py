"""From V8's deep serialization to Python values. Pure.

Rule: total and iterative. A type that is not known becomes a JSValue that names it; what is no serialization at
all raises ProtocolError and nothing else; nesting costs no Python stack.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import attrs

from cdpengine.errors import ProtocolError
from cdpengine.evaluate.values import (
    JSDate,
    JSError,
    JSFunction,
    JSMap,
    JSNode,
    JSObject,
    JSRegExp,
    JSSet,
    JSSymbol,
    JSTypedArray,
    JSValue,
    JSWindow,
)

Serialized = Mapping[str, Any]
"""`Runtime.DeepSerializedValue`: type, value, weakLocalObjectReference (only where an object occurs twice)."""

_NUMBERS = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "-0": -0.0,
}

_PRIMITIVES = frozenset({"string", "number", "boolean", "null", "undefined", "bigint"})

_FORMATS = {
    "Int8Array": "=b",
    "Int16Array": "=h",
    "Uint16Array": "=H",
    "Int32Array": "=i",
    "Uint32Array": "=I",
    "BigInt64Array": "=q",
    "BigUint64Array": "=Q",
    "Float16Array": "=e",
    "Float32Array": "=f",
    "Float64Array": "=d",
}
"""Typed arrays that are not plain bytes, and the `struct` code of one element."""

_MISSING = object()


def deserialize(value: object, details: Iterable[tuple[object, object]] = ()) -> Any:
    """Return the Python value of a deep-serialized one.

    `details` are pairs of a serialized object, which names it by its weakLocalObjectReference, and what is
    known of it beyond V8's answer: a serialized array of a word and its data, as js/value.js makes them.
    Raises ProtocolError when this is no deep serialization.
    """
    try:
        return _Deserializer(details).run(value)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ProtocolError(f"a value came back in a shape that is not known: {type(error).__name__}") from None


@attrs.define(eq=False)
class _Container:
    """A container that is being filled: its encoded children, and what to do with each of the decoded."""

    encoded: Iterable[Any]
    add: Any
    done: Any = None


class _Deserializer:
    def __init__(self, details: Iterable[tuple[object, object]]) -> None:
        self._objects: dict[int, Any] = {}
        self._details: dict[int, list[Any]] = {}
        for owner, detail in details:
            if (reference := _mapping(owner).get("weakLocalObjectReference")) is not None:
                self._details[reference] = _list(_mapping(detail)["value"])

    def run(self, value: object) -> Any:
        result: list[Any] = []
        stack: list[tuple[Any, Any]] = []
        # A stack of iterators over (encoded child, where the decoded child goes).
        stack.append((iter([(value, result.append)]), None))
        while stack:
            children, finish = stack[-1]
            for encoded, add in children:
                decoded, inside, after = self._open(encoded)
                add(decoded)
                if inside is not None:
                    stack.append((inside, after))
                    break
            else:
                stack.pop()
                if finish is not None:
                    finish()
        return result[0]
