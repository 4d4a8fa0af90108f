"""Masks the values of secret fields in Chrome's accessibility tree. Pure.

Rule: Chrome masks password fields itself. The walk reports the other secret fields (see secret_field.js), such as
one with `autocomplete=cc-number`. Their values become bullets, like Chrome's masks. A value can also be part of a
name: that of an element around the field, or of an element with a label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

import msgspec

from cdpengine._protocol.domains.accessibility import AXName, AXNode, AXTree, AXValue

_BULLET = "\u2022"


def mask_secrets(tree: AXTree, secrets: AbstractSet[int]) -> AXTree:
    """Return the tree without the values of these fields, by backend node id, and without selections in them."""
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
                kept = tuple(item for item in node.properties if item.name != "selected")
                nodes[node.node_id] = msgspec.structs.replace(node, properties=kept)
            else:
                nodes[node.node_id] = _masked(node)
    return AXTree(tuple(nodes.values()))


def _forms(value: AXValue | None) -> Iterator[str]:
    """Return a value as it can be part of a name: as it is, and with single spaces."""
    if value is not None and (text := str(value.value).strip()):
        yield text
        yield " ".join(text.split())


def _bullets(given: AXValue) -> str:
    return _BULLET * len(str(given.value))


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
