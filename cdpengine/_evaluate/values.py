"""What JavaScript has and Python lacks, as small frozen values. Pure.

Rule: a value comes back as the Python value that means the same, or as one of the classes here, which says what
it was. Never as something near it.

    JavaScript                               Python
    -----------------------------------------------------------------------------------------------
    undefined, null                          None; so is a hole of an array
    boolean, string                          bool, str (halves of surrogate pairs are kept)
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
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs


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
