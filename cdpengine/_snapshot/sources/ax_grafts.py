"""Grafts: visible content that Chrome's accessibility tree lacks, inserted into that tree. Pure.

Rule: the page's walk finds the content (_snapshot/sources/walk_beyond.js): controls hidden behind their labels,
and visible content under `aria-hidden`. The source `dom` makes its nodes. A control replaces its label in the
tree, with all the label's content. Content under `aria-hidden` keeps its place in the flat tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs
import msgspec

from cdpengine._protocol.domains.accessibility import AXNode, AXTree, AXValue
from cdpengine._snapshot.node import Node, walk
from cdpengine._snapshot.sources.ax_tree import ax_node


@attrs.frozen
class Place:
    """An element's place in the flat tree, in backend node ids.

    `inside` are its descendants, `above` its ancestors from the inside out, `after` the elements after it.
    """

    backend_node_id: int
    inside: AbstractSet[int]
    above: tuple[int, ...]
    after: AbstractSet[int]


@attrs.frozen
class Graft:
    """A node with its descendants, and its place in the tree, or the place of its label."""

    node: Node
    place: Place

    @property
    def ids(self) -> frozenset[int]:
        """The backend node ids of the elements that it represents."""
        found = (node.backend_node_id for node in walk([self.node]))
        return frozenset(each for each in found if each is not None) | {self.place.backend_node_id}


class _Tree:
    """An editable accessibility tree: `nodes` are copies of the tree's nodes, by id."""

    def __init__(self, tree: AXTree) -> None:
        self.nodes = {node.node_id: msgspec.structs.replace(node) for node in tree.nodes}
        self.by_backend: dict[int, AXNode] = {}
        for node in self.nodes.values():
            if node.backend_node_id is not None:
                self.by_backend.setdefault(node.backend_node_id, node)
        self.parents = {child: node for node in self.nodes.values() for child in node.child_ids}

    def insert(self, new: AXNode, place: Place, *, instead: bool = False) -> None:
        """Insert a node at its place: above the nodes `inside` it or, with `instead`, replacing the node there."""
        standing = self.by_backend.get(place.backend_node_id) if instead else None
        holder = self.parents.get(standing.node_id) if standing is not None else None
        taken: tuple[str, ...]
        if standing is not None and holder is not None:
            children = holder.child_ids
            at, taken = children.index(standing.node_id), (standing.node_id,)
        else:
            first = next(iter(self.nodes.values()), None)
            holder = next((self.by_backend[each] for each in place.above if each in self.by_backend), first)
            if holder is None:
                return
            children = holder.child_ids
            taken = tuple(child for child in children if self._backend(child) in place.inside)
            behind = taken or tuple(child for child in children if self._backend(child) in place.after)
            at = children.index(behind[0]) if behind else len(children)
        rest = [child for child in children[at:] if child not in set(taken)]
        holder.child_ids = (*children[:at], new.node_id, *rest)
        if not instead:
            new.child_ids = taken
            self.parents.update(dict.fromkeys(taken, new))
        self.nodes[new.node_id] = new
        self.parents[new.node_id] = holder
        if new.backend_node_id is not None:
            self.by_backend[new.backend_node_id] = new

    def drop(self, numbers: AbstractSet[int]) -> None:
        """Remove the nodes with these backend node ids, and their descendants."""
        waiting = [node.node_id for node in self.nodes.values() if node.backend_node_id in numbers]
        while waiting:
            gone = self.nodes.pop(waiting.pop(), None)
            if gone is not None:
                waiting.extend(gone.child_ids)

    def _backend(self, node_id: str) -> int | None:
        node = self.nodes.get(node_id)
        return None if node is None else node.backend_node_id


def add_missing(tree: AXTree, places: Iterable[Place]) -> AXTree:
    """Return the tree with a `generic` node for each place that has none. Outer places must come first."""
    changed = _Tree(tree)
    for place in places:
        number = place.backend_node_id
        if number not in changed.by_backend and any(above in changed.by_backend for above in place.above):
            new = AXNode(f"element {number}", role=AXValue("generic"), backend_node_id=number)
            changed.insert(new, place)
    return AXTree(tuple(changed.nodes.values()))


def add_grafts(tree: AXTree, grafts: Sequence[Graft]) -> tuple[AXTree, Mapping[str, Node]]:
    """Return the tree with the grafts inserted, and their nodes by their ids in the tree."""
    changed = _Tree(tree)
    ready: dict[str, Node] = {}
    inner: list[AXNode] = []
    gone: set[int] = set()
    for number, graft in enumerate(grafts):
        made = _ax_nodes(graft.node, f"graft{number}")
        changed.insert(made[0], graft.place, instead=True)
        inner += made
        ready[made[0].node_id] = graft.node
        gone |= graft.ids
    for node in ready:
        changed.nodes.pop(node, None)
    changed.drop(gone)
    return AXTree((*changed.nodes.values(), *inner)), ready


def _ax_nodes(root: Node, name: str) -> list[AXNode]:
    """Return a node and its descendants as nodes of an accessibility tree."""
    ids = {node: f"{name}.{number}" if number else name for number, node in enumerate(walk([root]))}
    return [
        ax_node(node, node_id, tuple(map(ids.__getitem__, node.children))) for node, node_id in ids.items()
    ]
