"""Assembly of nodes, the last step of every source: upwards, from the innermost nodes to the roots.

Rule: pure, linear, without recursion. Runs of text are joined, text that repeats a name is left out, and nodes
that are empty then are removed. A source reads its document once, in order, and collects `ListedNode` entries.
`finish` makes the nodes' children from them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Node
from cdpengine._snapshot.text import collapse_space, has_lines, join_run


@attrs.frozen(eq=False)
class Edge:
    """The border of a folded block, which ends a run of text.

    `caption` is the source's number of the block's element if the block may label something.
    """

    caption: int | None = None


EDGE = Edge()


@attrs.frozen(eq=False)
class Hint:
    """The description of a folded element (a `title`), shown by an interactive element without other labels."""

    text: str


Child = str | Edge | Hint | Node
"""A child of a node while the tree is built: a piece of running text, the border of a block, the description of a
folded element, or a node.
"""

ListedNode = tuple[Node, list[Child], str | None]
"""A node, its direct content, and the name that text inside may repeat (see `find_repeatable`)."""

# Maximum length of a name that is searched for repeated text, so that time stays linear.
_LONGEST_SEARCHED = 2000


LONGEST_NAME = 80
"""Maximum length of text that names a clickable. Longer text is shown inside it."""


def is_named_by_text(node: Node) -> bool:
    """Return whether the node is shown only because it is clickable. Its text then names it."""
    return node.clickable and node.kind == "structural" and node.role not in roles.STRUCTURAL_ROLES


def find_repeatable(node: Node, has_value: bool, enclosing: str | None) -> str | None:
    """Return the string that text inside the node may repeat: its name, or `enclosing`, the name outside it.

    Returns None if text inside is the field's value, which is already shown.
    """
    if node.name and node.role in roles.NAMED_BY_CONTENT:
        return node.name
    if is_named_by_text(node):
        return ""
    if node.role in roles.RANGE_ROLES:
        return node.value if has_value and node.value is not None else enclosing
    if has_value and (node.role in roles.VALUE_ROLES or ("editable", True) in node.states):
        return None
    return enclosing


def finish(
    top: Sequence[Child],
    listed: Sequence[ListedNode],
    labels: Mapping[int, str],
    frame_id: str | None,
    gone: set[Node] | None = None,
    wrappers: set[Node] | None = None,
) -> list[Node]:
    """Fill the children of the shown nodes, given in document order, and return the outermost nodes.

    `top` is the content outside all shown nodes. `labels` maps a caption's number to the name that it gave. `gone`
    collects the removed nodes, `wrappers` the nodes that their children replace.
    """
    gone = set() if gone is None else gone
    wrappers = set() if wrappers is None else wrappers
    hints: dict[Node, str] = {}
    noted: list[Hint] = []
    for node, raw, enclosing in reversed(listed):
        hint = ""
        if raw:
            naming = node.role in roles.NAMING_ROLES
            in_lines = node.role in roles.CELL_ROLES and not naming and node.name != "" and has_lines(raw)
            if in_lines:
                enclosing = ""  # a name has no line breaks
            node.children = _finish(raw, enclosing, gone, labels, frame_id, wrappers, noted)
            if noted or hints:
                noted.clear()
                hint = _hints(raw, hints)
            if node.role in roles.CELL_ROLES and node.name:
                if len(node.children) == 1 and _is_text(node.children[0], node.name):
                    if in_lines:
                        node.name = ""
                    else:
                        node.children = []
                elif not naming and _make_up_name(node.children, node.name):
                    node.name = ""
        if node.clickable and not node.name and is_named_by_text(node):
            _name_clickable(node)
            if _is_wrapper(node):
                wrappers.add(node)
        if (
            hint
            and not node.description
            and (node.kind == "interactive" or node.clickable)
            and _is_bare(node)
        ):
            node.description = hint
        if not node.name and not node.children and _needs_no_line(node):
            gone.add(node)
            if hint:
                hints[node] = hint
    return _finish(top, "", gone, labels, frame_id, wrappers, noted)


def _finish(
    raw: Sequence[Child],
    enclosing: str | None,
    gone: set[Node],
    labels: Mapping[int, str],
    frame_id: str | None,
    wrappers: AbstractSet[Node],
    noted: list[Hint],
) -> list[Node]:
    """Join runs of text, and leave out text that repeats the name `enclosing`. `noted` collects hints."""
    children: list[Node] = []
    pieces: list[str] = []
    caption: int | None = None

    def end_run() -> None:
        text = join_run(pieces)
        pieces.clear()
        line = collapse_space(text) if "\n" in text else text
        if text and not _repeats(line, enclosing) and (caption is None or labels.get(caption) != line):
            children.append(Node("text", "text", text, frame_id=frame_id))

    for child in raw:
        if isinstance(child, Node):
            role = child.role
            if child in gone or (
                role == "image" and _is_mere_image(child) and _repeats(child.name, enclosing)
            ):
                continue
            if pieces:
                end_run()
            if role == "canvas" and _is_silent_canvas(child) and children and _is_silent_canvas(children[-1]):
                # Of adjacent canvases only the last is shown: if they overlap, it is on top.
                before = children.pop()
                gone.add(before)
                child.states = (("count", _count(before) + 1),)
            children += unwrap(child, wrappers)
        elif isinstance(child, str):
            pieces.append(child)
        elif isinstance(child, Edge):
            if pieces:
                end_run()
            caption = child.caption
        else:
            noted.append(child)
    if pieces:
        end_run()
    return children


def _is_mere_image(node: Node) -> bool:
    """Return whether the node is an image without interaction."""
    return node.role == "image" and node.kind != "interactive" and not node.clickable and not node.children


def _is_silent_canvas(node: Node) -> bool:
    """Return whether the node is a canvas without a label. A count of equal canvases before it does not matter."""
    if node.role != "canvas" or node.name or node.children or node.clickable or node.description:
        return False
    return not node.states or node.states[0][0] == "count"


def _count(node: Node) -> int:
    return next((value for state, value in node.states if state == "count" and isinstance(value, int)), 1)


def _is_text(node: Node, text: str) -> bool:
    return node.kind == "text" and collapse_space(node.name) == text


def _repeats(text: str, enclosing: str | None) -> bool:
    """Return whether `enclosing` contains the string as whole words."""
    if enclosing is None or text == enclosing:
        return True
    return len(text) < len(enclosing) <= _LONGEST_SEARCHED and f" {text} " in f" {enclosing} "


def unwrap(node: Node, wrappers: AbstractSet[Node]) -> Sequence[Node]:
    """Return the node; for a wrapper its children, which are not wrappers."""
    return node.children if node in wrappers else (node,)


def _is_wrapper(node: Node) -> bool:
    """Return whether a clickable contains only controls and has no label.

    A click on such a control reaches the wrapper, so the wrapper needs no line, unless a control is disabled and
    does not accept clicks.
    """
    if node.name or node.description:
        return False
    found = False
    waiting = list(node.children)
    while waiting:
        inside = waiting.pop()
        if inside.kind == "interactive" or inside.clickable:
            if ("disabled", True) in inside.states or inside.role == "iframe":
                return False
            found = True
        elif inside.kind == "text" or inside.role == "image" or inside.name or inside.value is not None:
            return False
        else:
            waiting.extend(inside.children)
    return found


def _needs_no_line(node: Node) -> bool:
    """Return whether a node without a name needs no line."""
    return node.role not in roles.ALWAYS_LISTED and node.kind != "interactive" and not node.clickable


def _name_clickable(node: Node) -> None:
    """Name the node by its text if it has no other content, or else by its description."""
    if not node.children:
        node.name, node.description = node.description, ""
    elif all(child.kind == "text" for child in node.children):
        name = " ".join(child.name for child in node.children)
        if 0 < len(name) <= LONGEST_NAME and "\n" not in name:
            node.name, node.children = name, []


def _make_up_name(children: list[Node], name: str) -> bool:
    """Return whether the names of the lines below make up the name."""
    if all(child.kind == "text" for child in children):
        return False
    return "".join("".join(child.name for child in children).split()) == name.replace(" ", "")


def _hints(raw: Sequence[Child], of: Mapping[Node, str]) -> str:
    """Return the descriptions of the folded elements inside, including those of removed nodes."""
    found = [
        child.text if isinstance(child, Hint) else of.get(child, "")
        for child in raw
        if not isinstance(child, str | Edge)
    ]
    return " ".join(dict.fromkeys(hint for hint in found if hint))


def _is_bare(node: Node) -> bool:
    """Return whether the node shows nothing but letters of icon fonts."""
    if node.value is not None or node.placeholder or node.document is not None:
        return False
    if not all(child.kind == "text" for child in node.children):
        return False
    return not _ICONS.sub("", "".join((node.name, *(child.name for child in node.children)))).strip()


_ICONS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]+")
