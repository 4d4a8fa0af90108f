"""The walk through accessibility trees that the modes aria and webarena share.

Rule: every node of every frame's tree is visited once, parents first, a frame's tree below its iframe; what a
line says, and which nodes have one, is the mode's. No secret gets through: the text of a masked field, which
Chrome gives as one character for each, is not shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import attrs

from cdpengine._protocol.domains.accessibility import (
    AXName,
    AXNode,
    AXProperty,
    AXPropertyValue,
    AXTree,
    AXValue,
)
from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Document, Node
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.render.lines import DEEPEST_INDENT, Lines
from cdpengine._snapshot.roles import role_and_kind
from cdpengine._snapshot.text import collapse_space


@attrs.define(eq=False)
class Visit:
    """One AX node on the way. `node` is what the snapshot made of it, None for most; `ref` is its ref.

    `hidden` says that the name is text of a masked field, `loose` that the snapshot's own nodes have none for it.
    """

    ax: AXNode
    node: Node | None
    ref: Ref | None
    document: Document
    hidden: bool
    loose: bool = False


def loose_nodes(document: Document) -> list[Node]:
    """Return nodes for the elements that only the accessibility tree has: the modes role and ai fold them."""
    known = {node.backend_node_id for node in _own_nodes(document)}
    found: list[Node] = []
    for ax in () if document.ax is None else document.ax.nodes:
        chrome_role, number = value_text(ax.role), ax.backend_node_id
        if (
            ax.ignored
            or not chrome_role
            or chrome_role in roles.NEVER_FOUND
            or number is None
            or number in known
        ):
            continue
        known.add(number)
        role, kind = role_and_kind(chrome_role)
        found.append(
            Node(
                role,
                kind,
                collapse_space(value_text(ax.name)),
                backend_node_id=number,
                frame_id=document.frame_id,
            )
        )
    return found


Describe = Callable[[Visit], str | None]
"""Returns a node's line without indentation, or None when its children take its place."""


def ax_lines(
    document: Document,
    refs: Mapping[Node, Ref],
    describe: Describe,
    *,
    indent: str,
    max_depth: int | None,
) -> Lines:
    """Return the lines of all trees. A document that has no tree is shown by its nodes, which a remark says."""
    lines = Lines()
    for visit, depth, show in _visits(document, refs, describe, lines.remarks):
        if max_depth is not None and depth > max_depth:
            lines.too_deep.append(visit.node)
        else:
            lines.texts.append(indent * min(depth, DEEPEST_INDENT) + show)
            lines.nodes.append(visit.node)
            lines.depths.append(depth)
    return lines


def ax_visits(document: Document, refs: Mapping[Node, Ref], *, ignored: bool) -> Iterator[tuple[Visit, int]]:
    """Go through the nodes of all trees with their depths; where `ignored` ones are left out, without these."""

    def describe(visit: Visit) -> str | None:
        return None if visit.ax.ignored and visit.ref is None and not ignored else ""

    for visit, depth, _ in _visits(document, refs, describe, []):
        yield visit, depth


def _visits(
    document: Document, refs: Mapping[Node, Ref], describe: Describe, remarks: list[str]
) -> Iterator[tuple[Visit, int, str]]:
    stack: list[tuple[_Tree, AXNode, int, bool]] = []

    def enter(child: Document, depth: int) -> None:
        tree = _Tree(child, refs)
        if child.ax is None:
            whose = "this document" if child is document else "a frame's document"
            remarks.append(
                f"# {whose} is not shown from the accessibility tree, but from source={child.source}"
            )
        stack.extend((tree, root, depth, False) for root in reversed(tree.take_roots()))

    enter(document, 0)
    while stack:
        tree, ax, depth, hidden = stack.pop()
        node = tree.take_node(ax)
        ref = None if node is None else refs.get(node)
        visit = Visit(ax, node, ref, tree.document, hidden, node in tree.loose)
        text = describe(visit)
        if text is not None:
            yield visit, depth, text
            depth += 1
        if node is not None and node.document is not None and node.document is not tree.document:
            enter(node.document, depth)
        hidden = hidden or is_masked(value_text(ax.value))
        stack.extend((tree, child, depth, hidden) for child in reversed(tree.take_children(ax)))


class _Tree:
    """One document's AX nodes, each of which is taken once."""

    def __init__(self, document: Document, refs: Mapping[Node, Ref]) -> None:
        self.document = document
        ax = document.ax if document.ax is not None else _tree_of_nodes(document)
        self._left = {node.node_id: node for node in reversed(ax.nodes)}  # of several with one id, the first
        self._nodes: dict[int, Node] = {}  # by backend id: the one with the ref, else the first
        self.loose = frozenset(document.loose)
        for node in (*_own_nodes(document), *document.loose):
            number = node.backend_node_id
            if number is not None and (
                number not in self._nodes or (node in refs and self._nodes[number] not in refs)
            ):
                self._nodes[number] = node
        below = {child_id for node in ax.nodes for child_id in node.child_ids}
        self._roots = [node for node in ax.nodes if node.node_id not in below] or list(ax.nodes[:1])
        known = {node.backend_node_id for node in ax.nodes}
        self._roots += [  # never seen with a real tree; a frame must not get lost
            AXNode(f"frame {number}", role=AXValue("Iframe"), name=AXName(node.name), backend_node_id=number)
            for number, node in self._nodes.items()
            if node.document is not None and number not in known
        ]

    def take_roots(self) -> list[AXNode]:
        return [node for node in self._roots if self._left.pop(node.node_id, node) is node]

    def take_children(self, ax: AXNode) -> list[AXNode]:
        found = (self._left.pop(child_id, None) for child_id in ax.child_ids)
        return [child for child in found if child is not None]

    def take_node(self, ax: AXNode) -> Node | None:
        return None if ax.backend_node_id is None else self._nodes.pop(ax.backend_node_id, None)


def _own_nodes(document: Document) -> Iterator[Node]:
    """Go through the nodes without those of documents in frames."""
    stack = list(reversed(document.roots))
    while stack:
        node = stack.pop()
        yield node
        if node.document is None:
            stack.extend(reversed(node.children))


def _tree_of_nodes(document: Document) -> AXTree:
    """Return the document's nodes in the shape of an accessibility tree."""
    ids = {node: str(number) for number, node in enumerate(_own_nodes(document), 1)}
    return AXTree(
        tuple(
            AXNode(
                node_id,
                role=AXValue("StaticText" if node.kind == "text" else node.role),
                name=AXName(node.name),
                description=AXValue(node.description) if node.description else None,
                value=None if node.value is None else AXValue(node.value),
                properties=tuple(AXProperty(key, AXPropertyValue(value)) for key, value in node.states),
                child_ids=() if node.document is not None else tuple(ids[child] for child in node.children),
                backend_node_id=node.backend_node_id,
            )
            for node, node_id in ids.items()
        )
    )


def value_text(given: AXValue | AXName | None) -> str:
    """Return a role, name or value as text; what is neither text nor a number as nothing."""
    value = None if given is None else given.value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def is_masked(value: str) -> bool:
    """Say whether the value is a masked one; its last character may be shown for a moment after it is typed."""
    return value != "" and (
        roles.MASKS.issuperset(value) or (len(value) > 1 and roles.MASKS.issuperset(value[:-1]))
    )
