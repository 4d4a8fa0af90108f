"""The last step of making nodes, whatever source they come from: upwards, from the innermost to the roots.

Rule: pure, linear, without recursion. Runs of text are joined, what only repeats a name is left out, and what
then holds nothing is taken away. A source goes through its document once, in order, and collects `Shown`
entries; `finish` makes the nodes' children out of them.
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
    """The border of a folded block: it ends a run of text.

    `caption` is the number (the source's own) of the block's element when the block may label something.
    """

    caption: int | None = None


EDGE = Edge()


@attrs.frozen(eq=False)
class Hint:
    """What describes a folded element (a `title`): shown of what can be acted on, if it says nothing else."""

    text: str


Child = str | Edge | Hint | Node
"""What is inside of a node while the tree is built: a piece of running text, the border of a block, what describes
a folded element, a node."""

Shown = tuple[Node, list[Child], str | None]
"""A node, what is right inside of it, and the name that text inside may repeat (see `find_said_inside`)."""

# A text is not looked for in a name longer than this, so that time stays linear.
_LONGEST_SEARCHED = 2000


LONGEST_NAME = 80
"""A longer text is shown inside of what a page made clickable, and does not name it."""


def is_named_by_text(node: Node) -> bool:
    """Say whether the node is there only because the page made it clickable: its text then names it."""
    return node.clickable and node.kind == "structural" and node.role not in roles.STRUCTURAL_ROLES


def find_said_inside(node: Node, has_value: bool, said: str | None) -> str | None:
    """Return what text inside of the node may repeat: its name or, where `said`, what is said outside of it.

    None when such text is the field's value, which is shown already.
    """
    if node.name and node.role in roles.NAMED_BY_CONTENT:
        return node.name
    if is_named_by_text(node):
        return ""
    if node.role in roles.RANGE_ROLES:
        return node.value if has_value and node.value is not None else said
    if has_value and (node.role in roles.VALUE_ROLES or ("editable", True) in node.states):
        return None
    return said


def finish(
    top: Sequence[Child],
    shown: Sequence[Shown],
    labels: Mapping[int, str],
    frame_id: str | None,
    gone: set[Node] | None = None,
    wrappers: set[Node] | None = None,
) -> list[Node]:
    """Fill the children of the shown nodes, given in the order of the page, and return the outermost nodes.

    `top` is what is outside of every shown node; `labels` says what a caption gave its name to: its number ->
    that name. `gone` is filled with the nodes that are left out, `wrappers` with those in whose place stand their
    children.
    """
    gone = set() if gone is None else gone
    wrappers = set() if wrappers is None else wrappers
    hints: dict[Node, str] = {}
    noted: list[Hint] = []
    for node, raw, said in reversed(shown):
        hint = ""
        if raw:
            naming = node.role in roles.NAMING_ROLES
            in_lines = node.role in roles.CELL_ROLES and not naming and node.name != "" and has_lines(raw)
            if in_lines:
                said = ""  # a name has no line breaks
            node.children = _finish(raw, said, gone, labels, frame_id, wrappers, noted)
            if noted or hints:
                noted.clear()
                hint = _hints(raw, hints)
            if node.role in roles.CELL_ROLES and node.name:
                if len(node.children) == 1 and _is_text(node.children[0], node.name):
                    if in_lines:
                        node.name = ""
                    else:
                        node.children = []
                elif not naming and _says_all(node.children, node.name):
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
        if not node.name and not node.children and _says_nothing(node):
            gone.add(node)
            if hint:
                hints[node] = hint
    return _finish(top, "", gone, labels, frame_id, wrappers, noted)


def _finish(
    raw: Sequence[Child],
    said: str | None,
    gone: set[Node],
    labels: Mapping[int, str],
    frame_id: str | None,
    wrappers: AbstractSet[Node],
    noted: list[Hint],
) -> list[Node]:
    """Join runs of text and leave out what `said`, the name above, has said already. `noted` gets the hints."""
    children: list[Node] = []
    pieces: list[str] = []
    caption: int | None = None

    def end_run() -> None:
        text = join_run(pieces)
        pieces.clear()
        line = collapse_space(text) if "\n" in text else text
        if text and not _repeats(line, said) and (caption is None or labels.get(caption) != line):
            children.append(Node("text", "text", text, frame_id=frame_id))

    for child in raw:
        if isinstance(child, Node):
            role = child.role
            if child in gone or (role == "image" and _is_mere_image(child) and _repeats(child.name, said)):
                continue
            if pieces:
                end_run()
            if role == "canvas" and _is_silent_canvas(child) and children and _is_silent_canvas(children[-1]):
                # Of canvases in a row the last one is shown: where they lie upon each other, it is on top.
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
    """Say whether it is an image that can only be looked at."""
    return node.role == "image" and node.kind != "interactive" and not node.clickable and not node.children


def _is_silent_canvas(node: Node) -> bool:
    """Say whether it is a canvas that says nothing but how many others like it came before it."""
    if node.role != "canvas" or node.name or node.children or node.clickable or node.description:
        return False
    return not node.states or node.states[0][0] == "count"


def _count(node: Node) -> int:
    return next((value for state, value in node.states if state == "count" and isinstance(value, int)), 1)


def _is_text(node: Node, text: str) -> bool:
    return node.kind == "text" and collapse_space(node.name) == text


def _repeats(text: str, said: str | None) -> bool:
    """Say whether the text is, as whole words, part of what was said."""
    if said is None or text == said:
        return True
    return len(text) < len(said) <= _LONGEST_SEARCHED and f" {text} " in f" {said} "


def unwrap(node: Node, wrappers: AbstractSet[Node]) -> Sequence[Node]:
    """Return what stands in the node's place: the node, or of a wrapper its children, which are not wrappers."""
    return node.children if node in wrappers else (node,)


def _is_wrapper(node: Node) -> bool:
    """Say whether a clickable holds controls, and neither holds nor says anything else.

    A click on such a control reaches its wrapper, so that has no line of its own, unless one of the controls is
    disabled and takes no click.
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


def _says_nothing(node: Node) -> bool:
    """Say whether a node without a name is not worth a line."""
    return node.role not in roles.ALWAYS_SHOWN and node.kind != "interactive" and not node.clickable


def _name_clickable(node: Node) -> None:
    """Name the node by the text that is all there is inside of it, or else by what describes it."""
    if not node.children:
        node.name, node.description = node.description, ""
    elif all(child.kind == "text" for child in node.children):
        name = " ".join(child.name for child in node.children)
        if 0 < len(name) <= LONGEST_NAME and "\n" not in name:
            node.name, node.children = name, []


def _says_all(children: list[Node], name: str) -> bool:
    """Say whether the names of the lines below make up the name."""
    if all(child.kind == "text" for child in children):
        return False
    return "".join("".join(child.name for child in children).split()) == name.replace(" ", "")


def _hints(raw: Sequence[Child], of: Mapping[Node, str]) -> str:
    """Return what describes the folded elements inside, those of nodes that are left out with them."""
    found = [
        child.text if isinstance(child, Hint) else of.get(child, "")
        for child in raw
        if not isinstance(child, str | Edge)
    ]
    return " ".join(dict.fromkeys(hint for hint in found if hint))


def _is_bare(node: Node) -> bool:
    """Say whether the node shows nothing but letters of icon fonts."""
    if node.value is not None or node.placeholder or node.document is not None:
        return False
    if not all(child.kind == "text" for child in node.children):
        return False
    return not _ICONS.sub("", "".join((node.name, *(child.name for child in node.children)))).strip()


_ICONS = re.compile("[\ue000-\uf8ff\U000f0000-\U0010ffff]+")
