"""Lines: what a mode makes of a tree, before it is cut to size and joined; and what the modes share.

Rule: a mode's lines stand in the order of the page, one entry for each node that is shown. Nothing here knows
how any mode reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

import attrs

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.refs.refs import Ref
from cdpengine._snapshot.roles import STRUCTURAL_ROLES
from cdpengine._snapshot.text import collapse_space, is_token, quote, shorten

DEEPEST_INDENT = 100
"""Deeper lines are indented no further: without this, the text grows with the square of the depth."""

INDENTS = tuple("  " * depth for depth in range(DEEPEST_INDENT + 2))


@attrs.define(eq=False)
class Lines:
    """The lines of a snapshot. `texts`, `nodes` and `depths` go together, one of each for an entry.

    A text is one line, or several for a node whose properties have lines of their own. The node is None where
    an entry stands for nothing that can have a ref. `too_deep` are the nodes below `max_depth`; `remarks` say
    what else is missing. `undescribed` are the nodes that have a description, each with its text without that.
    """

    texts: list[str] = attrs.field(factory=list)
    nodes: list[Node | None] = attrs.field(factory=list)
    depths: list[int] = attrs.field(factory=list)
    too_deep: list[Node | None] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    undescribed: dict[Node, str] = attrs.field(factory=dict)

    def leave_out_repeated(self, *, with_texts: bool) -> set[Node]:
        """Take the descriptions that the lines after them repeat out of the texts, and return whose they were."""
        repeated: set[Node] = set()
        for place, node in enumerate(self.nodes) if self.undescribed else ():
            if node is None or node not in self.undescribed:
                continue
            if says_description(place, self.nodes, self.depths, with_texts=with_texts):
                self.texts[place] = self.undescribed[node]
                repeated.add(node)
        return repeated


def says_description(
    place: int, nodes: Sequence[Node | None], depths: Sequence[int], *, with_texts: bool
) -> bool:
    """Say whether the node's description is what is shown inside of it, or what the line after it says.

    `with_texts`, texts stand on the lines of what they are all of.
    """
    node = nodes[place]
    if node is None or not node.description:
        return False
    wanted = _letters(node.description)
    after = [] if place + 1 == len(nodes) else _said(nodes[place + 1], with_texts)
    inside = _letters(node.children[0].name) if with_texts and _text_inside(node) is not None else ""
    if any(_letters(text) == wanted for text in after) or inside == wanted:
        return True
    for below in range(place + 1, len(nodes)):
        if depths[below] <= depths[place] or len(inside) >= len(wanted):
            break
        inside += "".join(map(_letters, _said(nodes[below], with_texts)))
    return inside == wanted


def _said(node: Node | None, with_texts: bool) -> list[str]:
    if node is None:
        return []
    text = _text_inside(node) if with_texts else None
    return [node.name] if text is None else [node.name, text.name]


def _text_inside(node: Node) -> Node | None:
    return node.children[0] if len(node.children) == 1 and node.children[0].kind == "text" else None


def _letters(text: str) -> str:
    return collapse_space(text).replace(" ", "")


class Roles(dict[str, str]):
    """A role as it may stand in a line: a token. Whatever else a source calls a role becomes `generic`."""

    def __missing__(self, role: str) -> str:
        safe = role if is_token(role) else "generic"
        self[role] = safe
        return safe


def can_be_acted_on(node: Node) -> bool:
    """Say whether `interactive` keeps the node."""
    return node.kind == "interactive" or node.clickable


def folded_when_compact(document: Document, refs: Mapping[Node, Ref]) -> AbstractSet[Node]:
    """Return the unnamed structural nodes that group fewer than two lines, or that hold no ref.

    A ref that a node only has because all have one does not count.
    """
    folded: set[Node] = set()
    below: dict[Node, tuple[int, bool]] = {}  # lines right below, after folding; whether a ref is below
    for node in reversed(list(walk(document.roots))):
        lines, has_ref = 0, False
        for child in node.children:
            child_lines, child_has_ref = below.pop(child)
            lines += child_lines if child in folded else 1
            has_ref = has_ref or child_has_ref or (child in refs and child.wants_ref)
        below[node] = lines, has_ref
        says_nothing = (
            not node.name and not node.states and node.value is None and not (node in refs and node.wants_ref)
        )
        if node.role in STRUCTURAL_ROLES and says_nothing and not node.remark and (lines < 2 or not has_ref):
            folded.add(node)
    return folded


def amount(lines: int, refs: int, more: str = "") -> str:
    """Return such as "3 more lines (1 ref)"."""
    return f"{lines} {more}line{'s' if lines != 1 else ''} ({refs} ref{'s' if refs != 1 else ''})"


_REMARK = re.compile(r"[A-Za-z][A-Za-z0-9 .,'=-]{0,79}")


def safe_remark(remark: str) -> str:
    """Return a remark as it may stand in brackets: it should be ours, and is quoted when it does not look so."""
    return remark if _REMARK.fullmatch(remark) is not None else quote(remark)


# --- links ---------------------------------------------------------------------------------------------------

_LONGEST_URL = 120
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def page_and_origin(url: str) -> tuple[str, str]:
    """Return what the address of a link within the document, and within its origin, begins with."""
    origin = _ORIGIN.match(url)
    return url.partition("#")[0] + "#", origin[0] + "/" if origin else ""


def short_url(url: str, page: str, origin: str) -> str:
    """Leave out what a link shares with its document; cut what is long, the middle of no escape spared."""
    if url.startswith(page):
        url = url[len(page) - 1 :]
    elif origin and url.startswith(origin):
        url = url[len(origin) - 1 :]
    return url if len(url) <= _LONGEST_URL else shorten(url, _LONGEST_URL)


# --- states --------------------------------------------------------------------------------------------------


def state_texts(states: Iterable[tuple[str, str | int | float | bool]]) -> list[str]:
    """Return such as ["checked", "checked=mixed", "level=2"]; a text that is not a token is quoted."""
    texts = []
    for state, value in states:
        name = state if is_token(state) else quote(state)
        if value is True:
            texts.append(name)
        elif isinstance(value, str):
            texts.append(f"{name}={value if is_token(value) else quote(value)}")
        else:
            texts.append(f"{name}={value:g}")
    return texts
