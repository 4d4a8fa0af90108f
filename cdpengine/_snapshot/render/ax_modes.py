"""The modes that show Chrome's accessibility tree itself: aria (the whole tree, for debugging) and webarena.

Rule: every node of every frame's tree is visited once, parents first, with a frame's tree below its iframe. The
mode decides which nodes have a line and what it contains. Secrets are hidden: the content of a masked field, which
Chrome reports as one mask character per character, is not shown. A line that begins with `#` is a remark of the
engine.

aria has one line for each AX node, in Chrome's terms:

    - StaticText "name" [ref=e3] [node=12] [backend=34] [focusable] [level=2] [value="..."] [describedby="hint"]

A true property is shown by its name; `[name.nodes=34,35]` lists the backend ids of the nodes that a property
refers to. Ignored nodes (on request) have `[ignored=reason,reason]`. Everything between double quotes is a JSON
string and comes from the page; everything outside them comes from Chrome or the engine.

webarena has the format that WebArena's agents read, with one tab for each level:

    [12] button 'Log in' focused: True

The number is the number of the ref, so `12` and `e12` act on the same node. A node without a ref has no number
(WebArena numbers all nodes, with ids that no action accepts). Names are Python string literals, so
`ast.literal_eval` reads them back. The tables below list WebArena's omitted properties and folded nodes, with two
exceptions: nodes with a ref are never folded, and other nodes that Chrome ignores always are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

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
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.render.lines import DEEPEST_INDENT, Lines, SnapshotOptions, safe_remark
from cdpengine._snapshot.roles import TEXT_ROLES, role_and_kind
from cdpengine._snapshot.sources.ax_tree import ax_node, ignored_reasons, is_masked, value_text
from cdpengine._snapshot.text import collapse_space, is_token, python_text, quote


@attrs.define(eq=False)
class Visit:
    """One visited AX node. `node` is the snapshot's node for it, if any; `ref` is its ref.

    `hidden` is whether the name is text of a masked field, `loose` whether the snapshot has no regular node for
    it.
    """

    ax: AXNode
    node: Node | None
    ref: Ref | None
    document: Document
    hidden: bool
    loose: bool = False


def loose_nodes(document: Document) -> list[Node]:
    """Return nodes for elements that only the accessibility tree has. The modes role and ai fold them."""
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
"""Returns a node's line without indentation, or None if its children take its place."""


def ax_lines(
    document: Document,
    refs: Mapping[Node, Ref],
    describe: Describe,
    *,
    indent: str,
    max_depth: int | None,
) -> Lines:
    """Return the lines of all trees. A document without a tree is shown by its nodes, with a remark."""
    texts, nodes, depths = list[str](), list[Node | None](), list[int]()
    lines = Lines(texts, nodes, depths, too_deep := list[Node | None]())
    for visit, depth, show in _visits(document, refs, describe, lines.remarks):
        if max_depth is not None and depth > max_depth:
            too_deep.append(visit.node)
        else:
            texts.append(indent * min(depth, DEEPEST_INDENT) + show)
            nodes.append(visit.node)
            depths.append(depth)
    return lines


def ax_visits(document: Document, refs: Mapping[Node, Ref], *, ignored: bool) -> Iterator[tuple[Visit, int]]:
    """Yield the nodes of all trees with their depths, with `ignored` nodes on request."""

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
                f"# {whose} is not shown from the accessibility tree, but from the source {child.source}"
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
        self._nodes: dict[int, Node] = {}  # by backend id; prefers the node with a ref, else the first
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
        self._roots += [  # never seen with a real tree, but a frame must not get lost
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
    """Yield the nodes, without the nodes of documents in frames."""
    stack = list(reversed(document.roots))
    while stack:
        node = stack.pop()
        yield node
        if node.document is None:
            stack.extend(reversed(node.children))


def _tree_of_nodes(document: Document) -> AXTree:
    """Return the document's nodes as an accessibility tree."""
    ids = {node: str(number) for number, node in enumerate(_own_nodes(document), 1)}
    inside = {node: () if node.document is not None else tuple(node.children) for node in ids}
    return AXTree(tuple(ax_node(node, ids[node], tuple(map(ids.__getitem__, inside[node]))) for node in ids))


# --- aria ----------------------------------------------------------------------------------------------------

_TEXT_ROLES = TEXT_ROLES | {"InlineTextBox"}
_OURS = frozenset({"backend", "ignored", "node", "ref"})


def aria_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of all trees."""

    def describe(visit: Visit) -> str | None:
        left_out = visit.ax.ignored and visit.ref is None and not options.ignored
        return None if left_out else _aria_line(visit)

    return ax_lines(document, refs, describe, indent="  ", max_depth=options.max_depth)


def to_json(document: Document, refs: Mapping[Node, Ref], *, ignored: bool = False) -> list[dict[str, Any]]:
    """Return the trees as a flat list of JSON values, parents before children.

    Keys follow the protocol. `childIds` are unique within one `frameId`, and refer to nodes in the list: the
    children of an omitted node take its place. `properties` is a mapping; `ref` is None for a node without one.
    """
    out: list[dict[str, Any]] = []
    above: list[tuple[Document, dict[str, Any]]] = []  # the last node of each depth down to the current one
    for visit, depth in ax_visits(document, refs, ignored=ignored):
        ax = visit.ax
        name, value = _hide_masked(visit)
        del above[depth:]
        if above and above[-1][0] is visit.document:
            above[-1][1]["childIds"].append(ax.node_id)
        out.append(
            {
                "nodeId": ax.node_id,
                "backendNodeId": ax.backend_node_id,
                "frameId": visit.document.frame_id,
                "ref": None if visit.ref is None else visit.ref.id,
                "role": value_text(ax.role),
                "name": name,
                "value": value,
                "description": value_text(ax.description),
                "properties": {
                    item.name: _plain(item.value) for item in ax.properties if item.value is not None
                },
                "ignored": ax.ignored,
                "ignoredReasons": [reason.name for reason in ignored_reasons(ax)],
                "childIds": [],
                "remark": "" if visit.node is None else visit.node.remark,
            }
        )
        above.append((visit.document, out[-1]))
    return out


def _aria_line(visit: Visit) -> str:
    ax = visit.ax
    role = value_text(ax.role)
    name, value = _hide_masked(visit)
    line = f"- {role}" if is_token(role) else "- unknown"
    if name:
        line += f" {quote(name)}"
    if visit.ref is not None:
        line += f" [ref={visit.ref.id}]"
    line += f" [node={ax.node_id if is_token('n' + ax.node_id) else quote(ax.node_id)}]"
    if ax.backend_node_id is not None:
        line += f" [backend={ax.backend_node_id}]"
    if ax.ignored:
        reasons = [reason.name for reason in ignored_reasons(ax) if is_token(reason.name)]
        line += f" [ignored={','.join(reasons)}]" if reasons else " [ignored]"
    if visit.node is not None and visit.node.remark:
        line += f" [{safe_remark(visit.node.remark)}]"
    for item in ax.properties:
        if item.value is not None:
            line += _aria_property(item.name, item.value)
    if value is not None:
        line += " [value=hidden]" if value == _HIDDEN else f" [value={quote(value)}]"
    description = value_text(ax.description)
    return f"{line} [description={quote(description)}]" if description else line


_HIDDEN = "(hidden)"


def _hide_masked(visit: Visit) -> tuple[str, str | None]:
    """Return the name and the value, without the content of a masked field."""
    ax = visit.ax
    name, value = value_text(ax.name), None if ax.value is None else value_text(ax.value)
    if visit.hidden and value_text(ax.role) in _TEXT_ROLES:
        name = _HIDDEN
    return name, _HIDDEN if value is not None and (visit.hidden or is_masked(value)) else value


def _aria_property(name: str, ax_value: AXPropertyValue) -> str:
    name = name if is_token(name) and name not in _OURS else quote(name)
    value, text = ax_value.value, ""
    if value is True:
        text = f" [{name}]"
    elif value is False:
        text = f" [{name}=false]"
    elif isinstance(value, int | float):
        text = f" [{name}={value:g}]"
    elif isinstance(value, str):
        text = f" [{name}={value if is_token(value) else quote(value)}]"
    if ax_value.related_nodes:
        numbers = [
            str(node.backend_node_id) for node in ax_value.related_nodes if node.backend_node_id is not None
        ]
        text += f" [{name}.nodes={','.join(numbers)}]" if numbers else ""
    return text


def _plain(ax_value: AXPropertyValue) -> object:
    if not ax_value.related_nodes:
        return ax_value.value
    return {
        "value": ax_value.value,
        "backendNodeIds": [node.backend_node_id for node in ax_value.related_nodes],
    }


# --- webarena ------------------------------------------------------------------------------------------------

IGNORED_PROPERTIES = frozenset(
    {"editable", "focusable", "invalid", "level", "multiline", "readonly", "settable"}
    | {"url"}  # Chrome did not report it at the time of WebArena
)

FOLDED_WITHOUT_NAME = frozenset(
    {
        "LabelText", "Legend", "Section", "banner", "generic", "img", "list", "listitem", "navigation",
        "paragraph", "strong",
    }
    | {"image"}  # Chrome's current name of `img`
)  # fmt: skip
"""Folded if they have neither a name nor a property."""

ALWAYS_FOLDED_WITHOUT_NAME = frozenset({"listitem"})

LEFT_OUT = frozenset({"InlineTextBox"})
"""The pieces of a StaticText, which Chrome did not report at the time of WebArena."""


def webarena_lines(document: Document, refs: Mapping[Node, Ref], options: SnapshotOptions) -> Lines:
    """Return the lines of all trees."""
    return ax_lines(document, refs, _webarena_line, indent="\t", max_depth=options.max_depth)


def _webarena_line(visit: Visit) -> str | None:
    ax = visit.ax
    role = "generic" if ax.ignored else value_text(ax.role)
    has_line = visit.ref is not None and not visit.loose
    if not has_line and (ax.ignored or ax.name is None or not role or role in LEFT_OUT):
        return None
    name = "(hidden)" if visit.hidden and role in TEXT_ROLES else value_text(ax.name)
    if not name and visit.node is not None and visit.node.clickable:
        name = visit.node.name
    properties = [
        text
        for item in ax.properties
        if item.name not in IGNORED_PROPERTIES and (text := _webarena_property(item))
    ]
    if visit.node is not None and visit.node.remark:
        properties.append(f"remark: {python_text(visit.node.remark)}")
    if (
        not name.strip()
        and not has_line
        and (role in FOLDED_WITHOUT_NAME if not properties else role in ALWAYS_FOLDED_WITHOUT_NAME)
    ):
        return None
    line = f"{role if is_token(role) else 'unknown'} {python_text(name)}"
    if visit.ref is not None:
        line = f"[{visit.ref.id[1:]}] {line}"
    return " ".join([line, *properties])


def _webarena_property(item: AXProperty) -> str | None:
    value = None if item.value is None else item.value.value
    name = item.name if is_token(item.name) else python_text(item.name)
    if isinstance(value, str):
        return f"{name}: {value if is_token(value) else python_text(value)}"
    if isinstance(value, bool):
        return f"{name}: {value}"
    return f"{name}: {value:g}" if isinstance(value, int | float) else None
