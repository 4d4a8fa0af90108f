"""The accessibility tree, decoded from the reply of `Accessibility.getFullAXTree`.

Rule: a malformed node is left out; any JSON reply is accepted. msgspec decodes it in one pass. Only replies that
msgspec refuses are decoded by the slow path below. Once per session, before other accessibility calls, Chrome
receives the command to keep its trees between queries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import msgspec

from cdpengine import _json
from cdpengine._protocol.domains.accessibility import (
    AXName,
    AXNameSource,
    AXNode,
    AXProperty,
    AXPropertyValue,
    AXTree,
    AXTreeUnread,
    AXValue,
    RelatedNode,
)
from cdpengine._snapshot.node import Node
from cdpengine._snapshot.roles import MASKS

_decode = _json.Decoder(AXTree).decode
_decode_raw = _json.Decoder(AXTreeUnread).decode
_decode_nodes = _json.Decoder(tuple[AXNode, ...]).decode
_decode_reasons = _json.Decoder(tuple[AXProperty, ...]).decode
_decode_sources = _json.Decoder(tuple[AXNameSource, ...]).decode


def decode_ax_tree(raw: bytes | memoryview | msgspec.Raw) -> AXTree:
    """Decode the JSON of a reply. Raises ValueError if it is not JSON or is nested too deeply.

    msgspec refuses numbers beyond a float's range, which `aria-valuemax` can have.
    """
    try:
        return _decode(raw)
    except msgspec.DecodeError:
        return _tree(_json.decode_leniently(bytes(raw).decode(errors="replace")))


_CHUNK = 256
"""Nodes to decode at a time: enough for msgspec's full speed, few enough to save memory."""


def ax_nodes(raw: bytes | memoryview | msgspec.Raw) -> Iterator[Sequence[AXNode]]:
    """Decode the nodes of a reply in chunks. A caller that releases them never holds the whole tree.

    Raises the errors of `decode_ax_tree`, before the first chunk.
    """
    try:
        waiting = _decode_raw(raw).nodes
    except msgspec.DecodeError:
        yield decode_ax_tree(raw).nodes
        return
    waiting.reverse()
    while waiting:
        chunk = waiting[: -_CHUNK - 1 : -1]
        del waiting[-_CHUNK:]
        joined = b"[" + b",".join(chunk) + b"]"
        try:
            yield _decode_nodes(joined)
        except msgspec.DecodeError:
            yield decode_ax_tree(b'{"nodes":' + joined + b"}").nodes


def ax_node(node: Node, node_id: str, child_ids: tuple[str, ...]) -> AXNode:
    """Return a node of a snapshot as a node of an accessibility tree."""
    return AXNode(
        node_id,
        role=AXValue("StaticText" if node.kind == "text" else node.role),
        name=AXName(node.name),
        description=AXValue(node.description) if node.description else None,
        value=None if node.value is None else AXValue(node.value),
        properties=tuple(AXProperty(key, AXPropertyValue(value)) for key, value in node.states),
        child_ids=child_ids,
        backend_node_id=node.backend_node_id,
    )


def value_text(ax_value: AXValue | AXName | AXPropertyValue | None) -> str:
    """Return a value as a string: numbers without the noise of 32-bit floats, "" for other types."""
    if ax_value is None:
        return ""
    value = ax_value.value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def is_masked(value: str) -> bool:
    """Return whether the value is masked. Its last character may be visible for a moment after it is typed."""
    return value != "" and (MASKS.issuperset(value) or (len(value) > 1 and MASKS.issuperset(value[:-1])))


def name_sources(name: AXName) -> Sequence[AXNameSource]:
    """Return the possible sources of a name, in Chrome's order; () if they are malformed."""
    try:
        return _decode_sources(name.sources) if bytes(name.sources) else ()
    except msgspec.DecodeError:
        return ()


def placeholder(name: AXName | None) -> str:
    """Return a text field's placeholder, which the protocol reports only as a source of its name."""
    for source in () if name is None else name_sources(name):
        if source.type == "placeholder" and source.value is not None and isinstance(source.value.value, str):
            return source.value.value
    return ""


def ignored_reasons(node: AXNode) -> Sequence[AXProperty]:
    """Return Chrome's reasons for not showing the node, named by protocol terms such as "notRendered"."""
    try:
        return _decode_reasons(node.ignored_reasons) if bytes(node.ignored_reasons) else ()
    except msgspec.DecodeError:
        return ()


# --- the slow path: any JSON, field by field ----------------------------------------------


def _tree(reply: object) -> AXTree:
    nodes = reply.get("nodes") if isinstance(reply, dict) else None
    return AXTree(tuple(_node(node) for node in _list(nodes) if isinstance(node, dict)))


def _node(node: dict[str, Any]) -> AXNode:
    properties = [item for item in _list(node.get("properties")) if isinstance(item, dict)]
    return AXNode(
        node_id=_text(node.get("nodeId")) or "",
        ignored=node.get("ignored") is True,
        role=_value(node.get("role")),
        name=_name(node.get("name")),
        description=_value(node.get("description")),
        value=_value(node.get("value")),
        properties=tuple(
            AXProperty(_text(item.get("name")) or "", _property_value(item.get("value")))
            for item in properties
        ),
        child_ids=tuple(child for item in _list(node.get("childIds")) if (child := _text(item)) is not None),
        backend_node_id=_integer(node.get("backendDOMNodeId")),
        frame_id=_text(node.get("frameId")),
        ignored_reasons=_raw_list(node.get("ignoredReasons")),
    )


def _value(item: object) -> AXValue | None:
    return AXValue(item.get("value")) if isinstance(item, dict) else None


def _name(item: object) -> AXName | None:
    if not isinstance(item, dict):
        return None
    return AXName(item.get("value"), _raw_list(item.get("sources")))


def _raw_list(item: object) -> msgspec.Raw:
    return msgspec.Raw(_json.encode(item) if isinstance(item, list) else b"")


def _property_value(item: object) -> AXPropertyValue | None:
    if not isinstance(item, dict):
        return None
    related = [node for node in _list(item.get("relatedNodes")) if isinstance(node, dict)]
    return AXPropertyValue(
        item.get("value"),
        tuple(RelatedNode(_integer(node.get("backendDOMNodeId"))) for node in related) or None,
    )


def _list(item: object) -> list[Any]:
    return item if isinstance(item, list) else []


def _text(item: object) -> str | None:
    """Return an id that is a string, or a number from another implementation of the protocol."""
    if isinstance(item, str):
        return item
    return str(item) if isinstance(item, int) and not isinstance(item, bool) else None


def _integer(item: object) -> int | None:
    return item if isinstance(item, int) and not isinstance(item, bool) else None


# --- secret fields -------------------------------------------------------------------------------------------

# Chrome masks password fields itself. The walk reports the other secret fields (see secret_field.js), such as one
# with `autocomplete=cc-number`. A value can also be part of a name: that of an element around the field, or of an
# element with a label.

_BULLET = "\u2022"


def mask_secrets(tree: AXTree, secrets: AbstractSet[int]) -> AXTree:
    """Return the tree without the values of these fields (backend node ids), and without selections in them."""
    nodes = {node.node_id: node for node in tree.nodes}
    fields = [node for node in tree.nodes if node.backend_node_id in secrets]
    above = _ancestors(tree, fields)
    values = sorted({text for node in fields for text in _forms(node.value)}, key=len, reverse=True)
    for node in tree.nodes:
        if values and (node.node_id in above or _is_labelled(node)):
            nodes[node.node_id] = _without(node, values)
    for field in fields:
        value = None if field.value is None else AXValue(_bullets(field.value))
        nodes[field.node_id] = msgspec.structs.replace(nodes[field.node_id], value=value)
        inside = list(_descendants(nodes, field))
        has_options = any(node.role is not None and node.role.value == "option" for node in inside)
        for node in inside:
            if has_options:  # their names belong to the page
                properties = tuple(item for item in node.properties if item.name != "selected")
                nodes[node.node_id] = msgspec.structs.replace(node, properties=properties)
            else:
                nodes[node.node_id] = _masked(node)
    return AXTree(tuple(nodes.values()))


def _forms(value: AXValue | None) -> Iterator[str]:
    """Return the forms of a value that can be part of a name: unchanged, and with single spaces."""
    if value is not None and (text := str(value.value).strip()):
        yield text
        yield " ".join(text.split())


def _bullets(ax_value: AXValue) -> str:
    return _BULLET * len(str(ax_value.value))


def _is_labelled(node: AXNode) -> bool:
    return any(item.name == "labelledby" for item in node.properties)


def _ancestors(tree: AXTree, fields: list[AXNode]) -> set[str]:
    parents = {child: node.node_id for node in tree.nodes for child in node.child_ids}
    found: set[str] = set()
    for field in fields:
        above = parents.get(field.node_id)
        while above is not None and above not in found:
            found.add(above)
            above = parents.get(above)
    return found


def _descendants(nodes: Mapping[str, AXNode], field: AXNode) -> Iterator[AXNode]:
    waiting = list(field.child_ids)
    while waiting:
        node = nodes.get(waiting.pop())
        if node is not None:
            waiting += node.child_ids
            yield node


def _without(node: AXNode, values: list[str]) -> AXNode:
    """Return a node whose name and description do not include these values."""

    def veil(text: str) -> str:
        for value in values:
            text = text.replace(value, _BULLET * len(value))
        return text

    name, description = node.name, node.description
    if name is not None and isinstance(name.value, str) and (veiled := veil(name.value)) != name.value:
        name = AXName(veiled)
    if description is not None and isinstance(description.value, str):
        description = AXValue(veil(description.value))
    return msgspec.structs.replace(node, name=name, description=description)


def _masked(node: AXNode) -> AXNode:
    name = None if node.name is None else AXName(_bullets(node.name))
    value = None if node.value is None else AXValue(_bullets(node.value))
    return msgspec.structs.replace(node, name=name, value=value)
