"""Elements that Chrome's accessibility tree leaves out, put into it where they are in the page. Pure.

Rule: by position alone, never by what is written: a page's order is that of its flat tree. What is inside of such
an element goes below it, and nothing else moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

import attrs
import msgspec

from cdpengine._protocol.domains.accessibility import AXNode, AXTree, AXValue


@attrs.frozen
class Place:
    """Where an element is in the flat tree, in backend node ids.

    `inside` has what is in it, `above` what it is in, from the inside out, `after` what comes after it.
    """

    backend_node_id: int
    inside: AbstractSet[int]
    above: tuple[int, ...]
    after: AbstractSet[int]


def with_missing(tree: AXTree, places: Iterable[Place]) -> AXTree:
    """Return the tree with a node `generic` for each of these that it has none for; outer ones come first."""
    nodes = [msgspec.structs.replace(node) for node in tree.nodes]
    by_backend: dict[int, AXNode] = {}
    for node in nodes:
        if node.backend_node_id is not None:
            by_backend.setdefault(node.backend_node_id, node)
    backend_of = {node.node_id: node.backend_node_id for node in nodes}
    for place in places:
        number = place.backend_node_id
        holder = next((by_backend[above] for above in place.above if above in by_backend), None)
        if number in by_backend or holder is None:
            continue
        children = holder.child_ids
        taken = tuple(child for child in children if backend_of.get(child) in place.inside)
        behind = taken or tuple(child for child in children if backend_of.get(child) in place.after)
        at = children.index(behind[0]) if behind else len(children)
        new = AXNode(f"element {number}", role=AXValue("generic"), child_ids=taken, backend_node_id=number)
        rest = [child for child in children[at:] if child not in set(taken)]
        holder.child_ids = (*children[:at], new.node_id, *rest)
        nodes.append(new)
        by_backend[number] = new
        backend_of[new.node_id] = number
    return AXTree(tuple(nodes))
