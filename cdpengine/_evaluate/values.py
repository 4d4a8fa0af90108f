"""Values: from V8's deep serialization to Python, and what Python lacks as small frozen classes. Pure.

Rule: a value comes back as the Python value that means the same, or as one of the classes here, which says what
it was. Never as something near it.

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
    promise, proxy, WeakMap, anything else   JSValue: its type, and a description if there is one

One JavaScript object is one Python object, wherever it occurs: cycles stay cycles. Only plain JSON data is
copied at each place where it occurs. A Proxy that shows plain JSON data is that data, unless something that is
not plain stands beside it. Properties of arrays, Maps and Dates other than their elements are left out.

Decoding is total and iterative. A type that is not known becomes a JSValue that names it; a value that is no
serialization at all raises ProtocolError and nothing else; nesting costs no Python stack.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any

import attrs

from cdpengine.errors import ProtocolError


@attrs.frozen
class JSDate:
    """A Date that datetime cannot hold. `text` is ISO 8601 with a six-digit year, or "Invalid Date"."""

    text: str


@attrs.frozen
class JSRegExp:
    """A regular expression: `/source/flags`. JavaScript's syntax is not quite that of `re`."""

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
    """A function or class; `name` is empty when it has none."""

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

    `backend_node_id` names it in the renderer process of the session that evaluated, as long as the document
    `loader_id` is there. `type` is the DOM's nodeType (1 element, 3 text, 9 document, ...); `name` is the local
    name of an element or attribute.
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
    """A Map whose keys a dict cannot hold: objects, or keys that are equal in Python such as 1 and true."""

    entries: list[tuple[Any, Any]]


@attrs.frozen
class JSSet:
    """A Set whose members a set cannot hold, in their order."""

    members: list[Any]


@attrs.frozen
class JSObject:
    """An instance of a class, the page's own or the platform's, with the properties that are its data.

    Of an instance of the page's classes these are the own enumerable ones; of a platform object what its toJSON
    gives (DOMRect, PerformanceTiming, ...), else its own enumerable primitive ones (DOMStringMap, Storage, ...).
    """

    class_name: str
    properties: dict[str, Any]


@attrs.frozen
class JSValue:
    """Anything else: `type` is V8's word for it ("promise", "proxy", "weakmap", ...) or the class's own."""

    type: str
    description: str = ""


# --- decoding ------------------------------------------------------------------------------------------------

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

_PLAIN_BYTES = frozenset({"Uint8Array", "Uint8ClampedArray"})

LARGEST_EXACT = 2**53
"""From here on a JavaScript number cannot hold every integer."""

_Child = tuple[Callable[[Any], object], Any]
"""Where a decoded value goes, and the value as it came."""


def deserialize(value: object, details: Sequence[object] = ()) -> Any:
    """Return the Python value of a deep-serialized one.

    `details` are serialized values, by twos: an object, which names itself by its weakLocalObjectReference, and an
    array of a word and what it means, as _evaluate/value.js makes them. They complete what V8 leaves out; they
    never change what V8 reports. Raises ProtocolError when this is not a deep serialization.
    """
    try:
        return _Deserializer(details).run(value)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ProtocolError(f"a value came back in an unknown shape ({type(error).__name__})") from None


def number(value: float | str) -> int | float:
    """Return the number that JavaScript means: an integer beyond 2^53 was rounded, so it is a float."""
    if isinstance(value, str):
        return _NUMBERS[value]
    if isinstance(value, int) and abs(value) > LARGEST_EXACT:
        return float(value)
    return value


class _Deserializer:
    """Decodes one reply. Containers are opened on a stack of iterators, depth first, as V8 wrote them."""

    def __init__(self, details: Sequence[object]) -> None:
        self._seen: dict[int, Any] = {}
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
        """Pass the value on to `add`, a container still empty; return what is to be put into it."""
        kind = encoded["type"]
        if kind in _PRIMITIVES:
            add(_primitive(encoded))
            return None
        reference = encoded.get("weakLocalObjectReference")
        if reference is not None and reference in self._seen:
            add(self._seen[reference])
            return None
        details = [] if reference is None else self._details.get(reference, [])
        value, children = self._make(kind, encoded, details)
        if reference is not None:
            self._seen[reference] = value
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
    """Return what V8 names only by its kind, from its detail: some words, and a last part that may be nested."""
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
            # V8's own answer first; it has none for what the platform made.
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
    """Return a Map's key as any value: V8 writes a string key as the string itself."""
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
"""What V8 names without its content. Of all other types it sends everything that is kept."""
