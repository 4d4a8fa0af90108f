"""From Chrome's accessibility tree to the nodes that are shown.

Rule: pure, linear in the number of nodes, and never surprised. Two passes without recursion: downwards, each
AX node is shown, folded into the nearest shown ancestor, or left out, by what it is itself; upwards, runs of
text are joined, what only repeats a name is left out, and what then holds nothing is taken away. A node is
visited once, so neither cycles nor ids that lead nowhere do any harm.
"""

from __future__ import annotations

import attrs

from cdpengine.snapshot import roles
from cdpengine.snapshot.axtree import (
    AXName,
    AXNode,
    AXProperty,
    AXPropertyValue,
    AXTree,
    AXValue,
    placeholder,
)
from cdpengine.snapshot.node import Document, Kind, Node
from cdpengine.snapshot.text import collapse_space, is_token

# In a node's list of children, while the tree is built: a string is a piece of running text, an _Edge ends a
# run of text, a Node is a node.


@attrs.frozen(eq=False)
class _Edge:
    """The border of a folded block. `caption` is its backend node id when it may label something."""

    caption: int | None = None


_EDGE = _Edge()
_Child = str | _Edge | Node

# A text is not looked for in a name longer than this, so that time stays linear.
_LONGEST_SEARCHED = 2000


def fold(tree: AXTree, *, frame_id: str | None = None) -> Document:
    """Return the shown nodes of a reply. `frame_id` is given to each; by default the one that the root names."""
    by_id = {ax.node_id: ax for ax in reversed(tree.nodes)}  # of several with one id, the first
    below = {child_id for ax in tree.nodes for child_id in ax.child_ids}
    roots = [ax for ax in tree.nodes if ax.node_id not in below]
    if not roots:
        roots = list(tree.nodes[:1])
    del below
    url = title = ""
    for ax in roots:
        if _string(ax.role) in roles.ROOT_ROLES:
            url, title = _property(ax, "url"), collapse_space(_string(ax.name))
            frame_id = frame_id or ax.frame_id
            break
    folding = _Folding(by_id, frame_id)
    folding.descend(roots)
    return Document(folding.ascend(), url, title, frame_id, len(tree.nodes))


class _Folding:
    def __init__(self, by_id: dict[str, AXNode], frame_id: str | None) -> None:
        self._unvisited = by_id
        self._frame_id = frame_id
        self._top: list[_Child] = []
        # Every shown node in the order of the page, its raw children, and the name that text inside may
        # repeat: None when such text is the field's value, which is shown already.
        self._shown: list[tuple[Node, list[_Child], str | None]] = []
        self._labels: dict[int, str] = {}
        self._known_roles: dict[str, tuple[str, Kind]] = {}

    # --- downwards ---------------------------------------------------------------------------------------

    def descend(self, roots: list[AXNode]) -> None:
        take = self._unvisited.pop
        stack: list[tuple[AXNode | _Edge, list[_Child], str | None]] = []
        first = [root for root in roots if take(root.node_id, None) is root]
        stack.extend((root, self._top, "") for root in reversed(first))
        while stack:
            ax, children, said = stack.pop()
            if isinstance(ax, _Edge):
                children.append(ax)
                continue
            role = "" if ax.ignored else _string(ax.role)
            if role in roles.TEXT_ROLES:
                text = _string(ax.name)
                if ax.backend_node_id is not None or text.strip() not in roles.MARKER_TEXTS:
                    children.append(text)
                continue
            if role in roles.DROPPED_ROLES:
                continue
            if role in roles.BREAK_ROLES:
                children.append("\n")
                continue
            node = None if ax.ignored else self._node(ax, role)
            if node is not None:
                children.append(node)
                children, said = [], _said_inside(node, ax, said)
                self._shown.append((node, children, said))
                if node.role in roles.CLOSED_ROLES:
                    continue
            elif role not in roles.INLINE_ROLES and ax.child_ids:
                children.append(_Edge(ax.backend_node_id) if role in roles.CAPTION_ROLES else _EDGE)
                stack.append((_EDGE, children, said))
            for child_id in reversed(ax.child_ids):
                child = take(child_id, None)
                if child is not None:
                    stack.append((child, children, said))

    def _node(self, ax: AXNode, chrome_role: str) -> Node | None:
        """Return the node to show, or None when its children go to its parent."""
        if chrome_role in roles.ROOT_ROLES:
            return None
        role, kind = self._role(chrome_role)
        name = collapse_space(_string(ax.name))
        states: dict[str, str | int | float | bool] = {}
        focusable = False
        url = spoken = ""
        for item in ax.properties:
            given = item.value
            if given is None:
                continue
            value, key = given.value, item.name
            if key == "focusable":
                focusable = value is True
            elif key == "labelledby":
                self._note_labels(item, name)
            elif key == "expanded":
                states["expanded" if value is True or value == "true" else "collapsed"] = True
            elif key == "url":
                url = value if isinstance(value, str) else ""
            elif key == "valuetext":
                spoken = value if isinstance(value, str) else ""
            elif value is not False and value is not None and value != "false" and key in _STATES:
                state = _state(key, value, role)
                if state is not None:
                    states[state[0]] = state[1]
        if focusable:
            kind = "interactive"
        elif chrome_role in roles.INLINE_ROLES or (chrome_role in roles.FOLDED_ROLES and not name):
            return None
        node = Node(role, kind, name, backend_node_id=ax.backend_node_id, frame_id=self._frame_id)
        if role == "link":
            node.url = url
        if ax.value is not None and (kind == "interactive" or role in roles.ALWAYS_SHOWN):
            value = spoken or _string(ax.value)
            if _is_masked(value):
                states["value"] = "hidden"
            elif value:
                node.value = value
        if kind == "interactive":
            described = collapse_space(_string(ax.description))
            node.description = "" if described == name else described
            if role in roles.PLACEHOLDER_ROLES:
                hint = collapse_space(placeholder(ax.name))
                node.placeholder = "" if hint in (name, described) else hint
        if states:
            node.states = tuple(states.items())
        return node

    def _role(self, chrome_role: str) -> tuple[str, Kind]:
        known = self._known_roles.get(chrome_role)
        if known is None:
            role = roles.INTERNAL_ROLES.get(chrome_role) or chrome_role.lower()
            if not is_token(role):
                role = "generic"
            kind: Kind = "structural"
            if role in roles.INTERACTIVE_ROLES:
                kind = "interactive"
            elif role in roles.CONTENT_ROLES:
                kind = "content"
            known = self._known_roles[chrome_role] = (role, kind)
        return known

    def _note_labels(self, item: AXProperty, name: str) -> None:
        if item.value is not None and name:
            for node in item.value.related_nodes or ():
                if node.backend_node_id is not None:
                    self._labels[node.backend_node_id] = name

    # --- upwards -----------------------------------------------------------------------------------------

    def ascend(self) -> list[Node]:
        """Finish the shown nodes, the innermost first, and return the outermost ones."""
        gone: set[Node] = set()
        for node, raw, said in reversed(self._shown):
            if raw:
                node.children = self._finished(raw, said, gone)
                if node.role in roles.CELL_ROLES and node.name and _says_all(node.children, node.name):
                    node.name = ""
            if not node.children and _says_nothing(node):
                gone.add(node)
        return self._finished(self._top, "", gone)

    def _finished(self, raw: list[_Child], said: str | None, gone: set[Node]) -> list[Node]:
        """Join runs of text and leave out what `said`, the name above, has said already."""
        children: list[Node] = []
        pieces: list[str] = []
        caption: int | None = None
        for child in raw:
            if isinstance(child, str):
                pieces.append(child)
                continue
            if isinstance(child, Node) and (
                child in gone or (child.role == "image" and not child.children and _repeats(child.name, said))
            ):
                continue
            if pieces:
                self._add_text(children, pieces, said, caption)
                pieces = []
            if isinstance(child, _Edge):
                caption = child.caption
            else:
                children.append(child)
        if pieces:
            self._add_text(children, pieces, said, caption)
        return children

    def _add_text(
        self, children: list[Node], pieces: list[str], said: str | None, caption: int | None
    ) -> None:
        text = collapse_space("".join(pieces))
        if not text or _repeats(text, said) or (caption is not None and self._labels.get(caption) == text):
            return
        children.append(Node("text", "text", text, frame_id=self._frame_id))


_STATES = roles.FLAG_STATES.union(roles.TOKEN_STATES, roles.NUMBER_STATES)


def _state(key: str, value: object, role: str) -> tuple[str, str | int | float | bool] | None:
    """Return the pair to show for a property that is not false."""
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


def _string(given: AXValue | AXName | AXPropertyValue | None) -> str:
    """Return a value as text: numbers without the noise of 32-bit floats, other types as nothing."""
    if given is None:
        return ""
    value = given.value
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else ""


def _property(ax: AXNode, key: str) -> str:
    return next((_string(item.value) for item in ax.properties if item.name == key), "")


def _said_inside(node: Node, ax: AXNode, said: str | None) -> str | None:
    if node.name and node.role in roles.NAMED_BY_CONTENT:
        return node.name
    is_field = node.role in roles.VALUE_ROLES or ("editable", True) in node.states
    return None if is_field and _string(ax.value) else said


def _repeats(text: str, said: str | None) -> bool:
    """Say whether the text is, as whole words, part of what was said."""
    if said is None or text == said:
        return True
    return len(text) < len(said) <= _LONGEST_SEARCHED and f" {text} " in f" {said} "


def _says_nothing(node: Node) -> bool:
    return not node.name and node.role not in roles.ALWAYS_SHOWN and node.kind != "interactive"


def _says_all(children: list[Node], name: str) -> bool:
    """Say whether the names of the lines below make up the name."""
    if all(child.kind == "text" for child in children):
        return False
    return "".join(child.name for child in children).replace(" ", "") == name.replace(" ", "")


def _is_masked(value: str) -> bool:
    """Say whether the value is a masked one; the last character may be shown for a moment after it is typed."""
    return value != "" and (
        roles.MASKS.issuperset(value) or (len(value) > 1 and roles.MASKS.issuperset(value[:-1]))
    )
