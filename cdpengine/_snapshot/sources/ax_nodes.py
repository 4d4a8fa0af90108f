"""Conversion of Chrome's accessibility tree to the nodes that are shown.

Rule: pure, linear in the number of nodes, and safe for any input. Downwards, without recursion, each AX node is
shown, folded into the nearest shown ancestor, or left out, depending only on itself; `finish` does the rest. Each
node is visited once, so cycles and dangling ids are harmless.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs
import msgspec

from cdpengine._protocol.domains.accessibility import AXNode, AXTree
from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Document, Kind, Node
from cdpengine._snapshot.roles import role_and_kind
from cdpengine._snapshot.sources.assembly import EDGE, Child, Edge, Hint, ListedNode, find_repeatable, finish
from cdpengine._snapshot.sources.ax_tree import is_masked, placeholder, value_text
from cdpengine._snapshot.text import LineBreak, Preformatted, collapse_space


def fold(
    nodes: AXTree | Iterable[Sequence[AXNode]],
    *,
    within: Collection[int] | None = None,
    frame_id: str | None = None,
    owners: AbstractSet[int] = frozenset(),
    doubtful: list[Node] | None = None,
    clickables: AbstractSet[int] = frozenset(),
    draggables: AbstractSet[int] = frozenset(),
    ready: Mapping[str, Node] | None = None,
) -> Document:
    """Return the shown nodes of a reply, given as a whole tree or in chunks, which are released after use.

    `within` limits a tree to the nodes with these backend node ids and their descendants in the accessibility
    tree, in which `aria-owns` moves nodes. `frame_id` is set on each node; the default is the root's frame.
    `owners` are the backend node ids of frame owners, `clickables` those of clickable elements; both are shown
    whatever their role. `draggables` are clickable elements that Chrome calls groups only because they are
    draggable. `doubtful` collects the nodes with a bound of 0, which Chrome also reports for a missing
    bound. `ready` are finished nodes with their descendants, by their ids in the tree.
    """
    single = SingleNodes(frame_id, owners, clickables, draggables, [] if doubtful is None else doubtful)
    folding = _Folding(single, ready or {})
    for chunk in (nodes.nodes,) if isinstance(nodes, AXTree) else nodes:
        folding.convert(chunk)
    if within is None or not isinstance(nodes, AXTree):
        return folding.document(folding.outermost())
    inside = [ax for ax in nodes.nodes if ax.backend_node_id in within]
    below = {child_id for ax in inside for child_id in ax.child_ids}
    return folding.document([ax.node_id for ax in inside if ax.node_id not in below])


@attrs.define(eq=False)
class SingleNodes:
    """The conversion of single AX nodes, without their descendants.

    The fields are those of `fold`. `labels` maps the backend node ids of labels to the names that they gave.
    """

    frame_id: str | None
    owners: AbstractSet[int] = frozenset()
    clickables: AbstractSet[int] = frozenset()
    draggables: AbstractSet[int] = frozenset()
    doubtful: list[Node] = attrs.field(factory=list)
    labels: dict[int, str] = attrs.field(factory=dict)
    _known_roles: dict[str, tuple[str, Kind]] = attrs.field(factory=dict)

    def convert(self, ax: AXNode, chrome_role: str) -> Node | None:
        """Return the node to show; None if its children take its place."""
        if chrome_role in roles.ROOT_ROLES:
            return None
        if chrome_role == "group" and ax.backend_node_id in self.draggables:
            chrome_role = "generic"
        role, kind = self._role(chrome_role)
        name = collapse_space(value_text(ax.name))
        facts = self._read_properties(ax, role, name)
        clickable = ax.backend_node_id in self.clickables
        if facts.focusable or ax.backend_node_id in self.owners:
            kind = "interactive"
        if (
            not facts.focusable
            and not clickable
            and (
                chrome_role in roles.INLINE_ROLES
                or chrome_role in roles.LAYOUT_ROLES
                or (chrome_role in roles.FOLDED_ROLES and not name)
            )
        ):
            return None
        node = Node(role, kind, name, backend_node_id=ax.backend_node_id, frame_id=self.frame_id)
        node.clickable = clickable
        if role == "link":
            node.url = facts.url
        if ax.value is not None and (kind == "interactive" or role in roles.ALWAYS_LISTED):
            _set_value(node, facts, value_text(ax.value))
        if kind == "interactive" or clickable:
            _set_description(node, ax)
        if facts.states:
            node.states = tuple(facts.states.items())
            if role == "spinbutton" and 0 in (facts.states.get("min"), facts.states.get("max")):
                self.doubtful.append(node)
        return node

    def _role(self, chrome_role: str) -> tuple[str, Kind]:
        known = self._known_roles.get(chrome_role)
        if known is None:
            known = self._known_roles[chrome_role] = role_and_kind(chrome_role)
        return known

    def _read_properties(self, ax: AXNode, role: str, name: str) -> _Facts:
        facts = _Facts()
        states = facts.states
        for item in ax.properties:
            ax_value = item.value
            if ax_value is None:
                continue
            value, key = ax_value.value, item.name
            if key == "focusable":
                facts.focusable = value is True
            elif key == "labelledby":
                for node in (ax_value.related_nodes or ()) if name else ():
                    if node.backend_node_id is not None:
                        self.labels[node.backend_node_id] = name
            elif key == "expanded":
                states["expanded" if value is True or value == "true" else "collapsed"] = True
            elif key == "url":
                facts.url = value if isinstance(value, str) else ""
            elif key == "valuetext":
                facts.value_text = value if isinstance(value, str) else ""
            elif value is not False and value is not None and value != "false" and key in _STATES:
                facts.editable = facts.editable or key == "editable"
                state = _state(key, value, role)
                if state is not None:
                    states[state[0]] = state[1]
        return facts


class _Facts(msgspec.Struct, eq=False):
    """The properties of an AX node. `value_text` is the author's text for its value."""

    states: dict[str, str | int | float | bool] = msgspec.field(default_factory=dict)
    focusable: bool = False
    editable: bool = False
    url: str = ""
    value_text: str = ""


def _set_value(node: Node, facts: _Facts, value: str) -> None:
    value = facts.value_text or value
    if node.role == "combobox" and not facts.editable:
        value = collapse_space(value)  # the value equals the content
    if is_masked(value):
        facts.states["value"] = "hidden"
    elif value:
        node.value = value


def _set_description(node: Node, ax: AXNode) -> None:
    described = collapse_space(value_text(ax.description))
    node.description = "" if described == node.name else described
    if node.role in roles.PLACEHOLDER_ROLES:
        hint = collapse_space(placeholder(ax.name))
        node.placeholder = "" if hint in (node.name, described) else hint


_STATES = roles.FLAG_STATES.union(roles.TOKEN_STATES, roles.NUMBER_STATES)


def _state(key: str, value: object, role: str) -> tuple[str, str | int | float | bool] | None:
    """Return the state to show for a property that is not false."""
    only_for = roles.STATE_ROLES.get(key)
    if only_for is not None and role not in only_for:
        return None
    if key in roles.FLAG_STATES:
        return key, True
    if key in roles.NUMBER_STATES:
        return (roles.NUMBER_STATES[key], value) if isinstance(value, int | float) else None
    if value is True or value == "true":
        return roles.TOKEN_STATES[key], True
    return (roles.TOKEN_STATES[key], value) if isinstance(value, str) and value else None


# --- the whole tree ------------------------------------------------------------------------------------------

_Content = str | Edge | Node | None
"""The conversion of one AX node: a piece of text, the border of a folded block, a shown node, or None if its
children take its place.
"""


class _Folding:
    """The nodes of a tree: first converted one by one, then assembled from the roots downwards."""

    def __init__(self, single: SingleNodes, ready: Mapping[str, Node]) -> None:
        self._single = single
        self._ready = ready
        # Content, with the ids of children, by node id. Content without a tuple has no children.
        self._unvisited: dict[str, _Content | tuple[_Content, tuple[str, ...]]] = {}
        self._first_id: str | None = None
        self._left_out: set[str] = set()  # children of text and the like; never shown
        self._node_count = 0
        self._documents: dict[str, AXNode] = {}
        self._valued: set[Node] = set()
        self._hints: dict[str, Hint] = {}  # by the ids of folded nodes

    # --- conversion of each node ----------------------------------------------------------------------------

    def convert(self, nodes: Sequence[AXNode]) -> None:
        """Convert nodes of the tree. If several have the same id, the first counts."""
        known, left_out, single = self._unvisited, self._left_out, self._single
        self._node_count += len(nodes)
        if self._first_id is None and nodes:
            self._first_id = nodes[0].node_id
        for ax in nodes:
            node_id, child_ids = ax.node_id, ax.child_ids
            if node_id in known:
                continue
            if node_id in self._ready:
                left_out.update(child_ids)
                known[node_id] = self._ready[node_id]
                continue
            if ax.ignored and ax.backend_node_id not in single.clickables:
                known[node_id] = (EDGE, child_ids) if child_ids else None
                continue
            role = "generic" if ax.ignored else value_text(ax.role)
            if role in roles.DROPPED_ROLES:
                left_out.update(child_ids)
                left_out.discard(node_id)  # no longer a root candidate
            elif role in roles.TEXT_ROLES:
                left_out.update(child_ids)
                text = value_text(ax.name)
                has_text = ax.backend_node_id is not None or text.strip() not in roles.MARKER_TEXTS
                if "\n" in text or "  " in text or text[:1] == " ":
                    # Chrome reports text as laid out, so this white space is visible.
                    text = Preformatted(text)
                known[node_id] = text if has_text else None
            elif role in roles.BREAK_ROLES:
                left_out.update(child_ids)
                known[node_id] = _BREAK
            elif (node := single.convert(ax, role)) is not None:
                if ax.value is not None and value_text(ax.value):
                    self._valued.add(node)
                if child_ids and node.role in roles.CLOSED_ROLES:
                    left_out.update(child_ids)
                    child_ids = ()
                known[node_id] = (node, child_ids) if child_ids else node
            elif not child_ids:
                # Chrome omits white space next to an empty element. The words must stay separate.
                known[node_id] = " "
                self._note_hint(ax)
            elif role in roles.INLINE_ROLES:
                known[node_id] = (None, child_ids)
                self._note_hint(ax)
            else:
                known[node_id] = (
                    Edge(ax.backend_node_id) if role in roles.CAPTION_ROLES else EDGE,
                    child_ids,
                )
                self._note_hint(ax)
            if role in roles.ROOT_ROLES:
                self._documents[node_id] = ax

    def outermost(self) -> list[str]:
        """Return the ids of the root nodes. If every node is below another, return the first id."""
        below = self._left_out
        for entry in self._unvisited.values():
            if isinstance(entry, tuple):
                below.update(entry[1])
        found = [node_id for node_id in self._unvisited if node_id not in below]
        return found or ([] if self._first_id is None else [self._first_id])

    # --- downwards -----------------------------------------------------------------------------------------

    def document(self, root_ids: Sequence[str]) -> Document:
        """Make the document from the nodes below these roots."""
        url = title = ""
        frame_id = self._single.frame_id
        for node_id in root_ids:
            if (root := self._documents.get(node_id)) is not None:
                url, title = _property(root, "url"), collapse_space(value_text(root.name))
                frame_id = frame_id or root.frame_id
                break
        top: list[Child] = []
        listed = self._descend(root_ids, top)
        if frame_id != self._single.frame_id:
            for node, _, _ in listed:
                node.frame_id = frame_id
        return Document(
            finish(top, listed, self._single.labels, frame_id), url, title, frame_id, self._node_count
        )

    def _descend(self, root_ids: Sequence[str], top: list[Child]) -> list[ListedNode]:
        """Assign the children of each node, and return the shown nodes in document order."""
        take, valued, hints = self._unvisited.pop, self._valued, self._hints
        listed: list[ListedNode] = []
        children, ids, closes = top, iter(root_ids), False
        enclosing: str | None = ""
        outside: list[tuple[list[Child], str | None, Iterator[str], bool]] = []
        while True:
            for child_id in ids:
                entry = take(child_id, None)
                if hints and (hint := hints.pop(child_id, None)) is not None:
                    children.append(hint)
                if entry is None:
                    continue
                content, inside = entry if isinstance(entry, tuple) else (entry, ())
                if content is not None:
                    children.append(content)
                if inside:
                    outside.append((children, enclosing, ids, closes))
                    ids, closes = iter(inside), isinstance(content, Edge)
                if isinstance(content, Node):
                    below: list[Child] = []
                    inner = find_repeatable(content, content in valued, enclosing)
                    listed.append((content, below, inner))
                    if inside:
                        children, enclosing = below, inner
                if inside:
                    break
            else:
                if closes:
                    children.append(EDGE)
                if not outside:
                    return listed
                children, enclosing, ids, closes = outside.pop()

    def _note_hint(self, ax: AXNode) -> None:
        if ax.description is not None and (text := collapse_space(value_text(ax.description))):
            self._hints[ax.node_id] = Hint(text)


_BREAK = LineBreak("\n")


def _property(ax: AXNode, key: str) -> str:
    return next((value_text(item.value) for item in ax.properties if item.name == key), "")
