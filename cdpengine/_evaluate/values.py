"""Python values from V8's deep serialization, and frozen classes for values that Python lacks. Pure.

Rule: a value becomes the Python value with the same meaning, or an instance of a class here that identifies it. It
never becomes an approximation.

    JavaScript                               Python
    -----------------------------------------------------------------------------------------------
    undefined, null                          None; so is a hole of an array
    boolean, string                          bool, str (unpaired surrogates are kept)
    number                                   int, or float: fractions, beyond ±2^53, NaN, infinities, -0
    bigint                                   int
    Array, NodeList, HTMLCollection          list
    plain object, null-prototype object      dict of the own enumerable properties with string keys
    Map                                      dict when all keys are primitive and differ in Python too, else JSMap
    Set                                      set on the same condition, else JSSet
    Date                                     aware datetime, UTC; JSDate when invalid or outside of years 1 to 9999
    ArrayBuffer, DataView, Uint8Array        bytes; so is Uint8ClampedArray
    other typed arrays                       JSTypedArray
    URL                                      str
    Number, String, Boolean, BigInt objects  their primitive
    RegExp, Error, function, symbol          JSRegExp, JSError (also DOMException), JSFunction, JSSymbol
    node, window                             JSNode, JSWindow
    class instance, platform object          JSObject: class name, and the properties that are its data
    promise, proxy, WeakMap, other values    JSValue: its type, and a description if it has one

One JavaScript object becomes one Python object, wherever it occurs: cycles stay cycles. Only plain JSON data is
copied at each occurrence. A Proxy of plain JSON data becomes that data, unless the value also contains other data.
Properties of arrays, Maps and Dates other than their elements are left out.

Decoding handles every input, without recursion. An unknown type becomes a JSValue with its name. An invalid
serialization raises ProtocolError and no other error.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import attrs

from cdpengine._json_values import SPECIAL_NUMBERS
from cdpengine.errors import ProtocolError


@attrs.frozen
class JSDate:
    """A Date outside of datetime's range. `text` is ISO 8601 with a six-digit year, or "Invalid Date"."""

    text: str


@attrs.frozen
class JSRegExp:
    """A regular expression: `/source/flags`. JavaScript's syntax differs from the syntax of `re`."""

    source: str
    flags: str = ""


@attrs.frozen
class JSError:
    """An Error that was returned, not thrown. `stack` begins with the name and the message."""

    name: str
    message: str
    stack: str = attrs.field(default="", repr=False)


@attrs.frozen
class JSFunction:
    """A function or class; `name` is "" for an anonymous one."""

    name: str


@attrs.frozen
class JSSymbol:
    """A symbol. Different symbols may have the same description."""

    description: str


@attrs.frozen
class JSTypedArray:
    """A typed array. `type` is JavaScript's name of the class, `data` its elements in the machine's byte order."""

    type: str
    data: bytes = attrs.field(repr=False)
    format: str
    """The code of one element, as in the `struct` module."""

    def __iter__(self) -> Iterator[int | float]:
        import struct

        return (element for (element,) in struct.iter_unpack(self.format, self.data))

    def __len__(self) -> int:
        import struct

        return len(self.data) // struct.calcsize(self.format)


@attrs.frozen
class JSNode:
    """A DOM node.

    `backend_node_id` identifies it in the renderer process of the evaluating session, while the document
    `loader_id` exists. `type` is the DOM's nodeType (1 element, 3 text, 9 document, ...); `name` is the local name
    of an element or attribute.
    """

    backend_node_id: int
    loader_id: str
    type: int
    name: str = ""
    value: str = ""
    attributes: Mapping[str, str] = attrs.field(factory=dict)
    child_count: int = 0


@attrs.frozen
class JSWindow:
    """A window, by the id of its frame."""

    frame_id: str


@attrs.frozen
class JSMap:
    """A Map whose keys do not fit a dict: objects, or keys that are equal in Python, such as 1 and true."""

    entries: list[tuple[Any, Any]]


@attrs.frozen
class JSSet:
    """A Set whose members do not fit a Python set, in their order."""

    members: list[Any]


@attrs.frozen
class JSObject:
    """An instance of a class that the page or the platform defines, with its data properties.

    For the page's classes, these are its own enumerable properties. For a platform object they are the result of
    toJSON (DOMRect, PerformanceTiming, ...), else its own enumerable primitive properties (DOMStringMap, Storage,
    ...).
    """

    class_name: str
    properties: dict[str, Any]


@attrs.frozen
class JSValue:
    """Any other value: `type` is V8's name for it ("promise", "proxy", "weakmap", ...) or its class's name."""

    type: str
    description: str = ""


# --- decoding ------------------------------------------------------------------------------------------------

Serialized = Mapping[str, Any]
"""`Runtime.DeepSerializedValue`: type, value, weakLocalObjectReference (only where an object occurs twice)."""

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

_PLAIN_BYTES = frozenset({"Uint8Array", "Uint8ClampedArray"})

LARGEST_EXACT = 2**53
"""The largest exact JavaScript integer."""

_Child = tuple[Callable[[Any], object], Any]
"""A callback that stores a decoded value, and the encoded value."""


def deserialize(value: object, details: Sequence[object] = ()) -> Any:
    """Return the Python value of a deep-serialized value.

    `details` are pairs of serialized values from _evaluate/value.js: an object, identified by its
    weakLocalObjectReference, and an array of a word and its data. They add only the data that V8 omits, and never
    change V8's own. Raises ProtocolError for an invalid deep serialization.
    """
    try:
        return _Deserializer(details).run(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ProtocolError(f"a value has an unknown shape ({type(error).__name__})") from None


def number(value: float | str) -> int | float:
    """Return a JavaScript number as an int or float. An integer beyond 2^53 was rounded, so it becomes a float."""
    if isinstance(value, str):
        return SPECIAL_NUMBERS[value]
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return float(value)
    return value


class _Deserializer:
    """Decodes one reply. Keeps open containers on a stack of iterators, depth first, in V8's order."""

    def __init__(self, details: Sequence[object]) -> None:
        self._by_reference: dict[int, Any] = {}
        self._details: dict[int, list[Any]] = {}
        for owner, detail in zip(details[::2], details[1::2], strict=True):
            reference = _mapping(owner).get("weakLocalObjectReference")
            if reference is not None:
                self._details[reference] = list(_mapping(detail)["value"])

    def run(self, value: object) -> Any:
        root: list[Any] = []
        stack: list[Iterator[_Child]] = [iter([(root.append, value)])]
        while stack:
            for add, encoded in stack[-1]:
                if (children := self._open(_mapping(encoded), add)) is not None:
                    stack.append(children)
                    break
            else:
                stack.pop()
        return root[0]

    def _open(self, encoded: Serialized, add: Callable[[Any], object]) -> Iterator[_Child] | None:
        """Pass the value on to `add`, with containers still empty.

        Return an iterator over a container's children.
        """
        kind = encoded["type"]
        if kind in _PRIMITIVES:
            add(_primitive(encoded))
            return None
        reference = encoded.get("weakLocalObjectReference")
        if reference is not None and reference in self._by_reference:
            add(self._by_reference[reference])
            return None
        details = [] if reference is None else self._details.get(reference, [])
        value, children = self._make(kind, encoded, details)
        if reference is not None:
            self._by_reference[reference] = value
        add(value)
        return children

    def _make(self, kind: str, encoded: Serialized, detail: list[Any]) -> tuple[Any, Iterator[_Child] | None]:
        value = encoded.get("value")
        if kind in _LEAVES and value is not None:
            return _LEAVES[kind](value), None
        if kind in _LISTS and value is not None:
            items: list[Any] = []
            return items, ((items.append, item) for item in value)
        if kind == "map" and value is not None:
            return _map([(_serialize_key(key), item) for key, item in value])
        if kind == "set" and value is not None:
            return _set(value)
        if kind in _DESCRIBED and detail:
            return _make_described(kind, [_plain(part) for part in detail[:-1]], detail[-1], value)
        if kind == "object" and value is not None:
            return _object(value)
        return JSValue(str(kind)), None


def _object(pairs: Iterable[Any]) -> tuple[dict[str, Any], Iterator[_Child]]:
    properties: dict[str, Any] = {}
    return properties, ((partial(properties.__setitem__, key), item) for key, item in map(_pair, pairs))


def _map(entries: list[tuple[Serialized, Any]]) -> tuple[Any, Iterator[_Child]]:
    keys = [_primitive(key) for key, _ in entries if key["type"] in _PRIMITIVES]
    if len(set(keys)) == len(entries):
        mapping: dict[Any, Any] = dict.fromkeys(keys)
        return mapping, (
            (partial(mapping.__setitem__, key), item) for key, (_, item) in zip(keys, entries, strict=True)
        )
    result = JSMap([])
    return result, _entries(result, entries)


def _entries(result: JSMap, entries: list[tuple[Serialized, Any]]) -> Iterator[_Child]:
    for key, item in entries:
        entry: list[Any] = []
        yield entry.append, key
        yield entry.append, item
        result.entries.append((entry[0], entry[1]))


def _set(members: list[Any]) -> tuple[Any, Iterator[_Child] | None]:
    primitive = [_primitive(member) for member in members if _mapping(member)["type"] in _PRIMITIVES]
    distinct = set(primitive)
    if len(distinct) == len(members):
        return distinct, None
    result = JSSet([])
    return result, ((result.members.append, member) for member in members)


def _make_described(
    kind: str, words: list[Any], last: Any, value: Any
) -> tuple[Any, Iterator[_Child] | None]:
    """Return a value of which V8 reports only the type.

    Its detail has some words and a last, possibly nested, value.
    """
    match words, _mapping(last)["type"]:
        case ["function"], "string":
            return JSFunction(_plain(last)), None
        case ["symbol"], "string":
            return JSSymbol(_plain(last)), None
        case ["error", name, message], "string":
            return JSError(name, message, _plain(last)), None
        case ["bytes", name], "string":
            return _bytes(kind, name, base64.b64decode(_plain(last), validate=True)), None
        case ["primitive"], _:
            return _plain(last), None
        case ["text", "URL"], "string":
            return _plain(last), None
        case ["text", name], "string":
            return JSValue(name, _plain(last)), None
        case ["object"], "string":
            properties, children = _object(value or ())
            return JSObject(_plain(last), properties), children
        case ["object", name], "object":
            # V8's own answer comes first; it is missing for platform objects.
            properties, children = _object(value or last["value"])
            return JSObject(name, properties), children
    return JSValue(kind), None


def _bytes(kind: str, name: str, data: bytes) -> bytes | JSTypedArray | JSValue:
    if kind != "typedarray" or name in _PLAIN_BYTES:
        return data
    code = _FORMATS.get(name)
    return JSValue(name) if code is None else JSTypedArray(name, data, code)


def _date(text: str) -> datetime | JSDate:
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return JSDate(text)


def _regexp(value: Mapping[str, str]) -> JSRegExp:
    return JSRegExp(value["pattern"], value.get("flags", ""))


def _node(value: Mapping[str, Any]) -> JSNode:
    return JSNode(
        backend_node_id=value["backendNodeId"],
        loader_id=value.get("loaderId", ""),
        type=value["nodeType"],
        name=value.get("localName", ""),
        value=value.get("nodeValue", ""),
        attributes=value.get("attributes") or {},
        child_count=value.get("childNodeCount", 0),
    )


def _window(value: Mapping[str, str]) -> JSWindow:
    return JSWindow(value["context"])


def _primitive(encoded: Serialized) -> Any:
    kind, value = encoded["type"], encoded.get("value")
    match kind, value:
        case "null" | "undefined", _:
            return None
        case "string", str():
            return value
        case "boolean", bool():
            return value
        case "number", int() | float() | str():
            return number(value)
        case "bigint", str():
            return int(value)
    raise ValueError(kind)


def _plain(encoded: Any) -> Any:
    return _primitive(_mapping(encoded))


def _serialize_key(key: Any) -> Serialized:
    """Return a Map's key in the form of other values: V8 writes a string key as a bare string."""
    return {"type": "string", "value": key} if isinstance(key, str) else _mapping(key)


def _pair(pair: Any) -> tuple[str, Any]:
    key, item = pair
    if not isinstance(key, str):
        raise TypeError
    return key, item


def _mapping(value: object) -> Serialized:
    if not isinstance(value, Mapping):
        raise TypeError
    return value


_LEAVES: dict[str, Callable[[Any], Any]] = {
    "date": _date,
    "regexp": _regexp,
    "node": _node,
    "window": _window,
}

_LISTS = frozenset({"array", "nodelist", "htmlcollection"})

_DESCRIBED = frozenset(
    {"object", "platformobject", "function", "symbol", "error", "typedarray", "arraybuffer"}
)
"""Types that V8 names without content. It sends the complete content of all others."""
