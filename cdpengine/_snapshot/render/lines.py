"""Lines: the options of a snapshot, the lines of a mode before they are cut to size, and code that modes share.

Rule: a mode's lines are in document order, one entry for each shown node. This module is independent of any mode's
format. Options that are invalid, or have no effect in the chosen mode, raise when they are created.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import attrs

from cdpengine._checks import check_choice, check_count, checked
from cdpengine._snapshot.node import Node
from cdpengine._snapshot.ref import Ref
from cdpengine._snapshot.roles import STATES
from cdpengine._snapshot.text import collapse_space, is_token, quote, shorten
from cdpengine.errors import InvalidArgumentError

DEEPEST_INDENT = 100
"""Maximum indentation, in levels. Without it, the output grows with the square of the depth."""

INDENTS = tuple("  " * depth for depth in range(DEEPEST_INDENT + 1))


@attrs.define(eq=False)
class RenderedPart:
    """The lines of one part of a document. They depend on `place`: its depth, and how addresses are shortened.

    `refs` correspond to the nodes, and `listed` maps their ids to them; `acting` counts the interactive nodes.
    `assigned` are the refs of all nodes of the part (`RefsByNode.parts`), None if unknown.
    """

    place: tuple[int, str, str]
    texts: list[str]
    nodes: list[Node]
    depths: list[int]
    refs: list[Ref | None]
    acting: int
    assigned: Mapping[Node, Ref] | None = None
    listed: dict[str, Ref] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.listed = {ref.id: ref for ref in self.refs if ref is not None}


@attrs.define(eq=False)
class Lines:
    """The lines of a snapshot. `texts`, `nodes` and `depths` have one item for each entry.

    A text is one line, or several for a node whose properties have separate lines. The node is None if the entry
    can have no ref. `too_deep` are the nodes below `max_depth`; `remarks` describe other missing content.
    `undescribed` maps nodes with a description to their text without it. `parts` are parts with the index of their
    first line. `dependent` are the indexes of lines that depend on later lines or on another document.
    """

    texts: list[str]
    nodes: Sequence[Node | None]
    depths: Sequence[int]
    too_deep: Sequence[Node | None]
    remarks: list[str] = attrs.field(factory=list)
    undescribed: dict[Node, str] = attrs.field(factory=dict)
    parts: list[tuple[int, RenderedPart]] = attrs.field(factory=list)
    dependent: list[int] = attrs.field(factory=list)

    def add_dependent(self, node: Node, text: str, undescribed: str | None) -> None:
        """Add a line that depends on later lines or on another document, and its text without the description."""
        self.dependent.append(len(self.texts))
        if undescribed is not None:
            self.undescribed[node] = undescribed
        self.texts.append(text)

    def collect_listed(self, refs: Mapping[Node, Ref]) -> tuple[dict[str, Ref], int]:
        """Return the shown refs by their ids, in order, and the number of interactive nodes."""
        listed: dict[str, Ref] = {}
        acting = at = 0
        for start, part in [*self.parts, (len(self.nodes), None)]:
            for node in self.nodes[at:start]:
                if node is not None:
                    if (ref := refs.get(node)) is not None:
                        listed[ref.id] = ref
                    acting += can_be_acted_on(node)
            if part is not None:
                listed.update(part.listed)
                acting += part.acting
                at = start + len(part.nodes)
        return listed, acting

    def leave_out_repeated(self, *, with_texts: bool) -> set[Node]:
        """Remove descriptions that the following lines repeat. Return their nodes."""
        repeated: set[Node] = set()
        for place, node in enumerate(self.nodes) if self.undescribed else ():
            if node is None or node not in self.undescribed:
                continue
            if repeats_description(place, self.nodes, self.depths, with_texts=with_texts):
                self.texts[place] = self.undescribed[node]
                repeated.add(node)
        return repeated


def repeats_description(
    place: int, nodes: Sequence[Node | None], depths: Sequence[int], *, with_texts: bool
) -> bool:
    """Return whether the content of the node, or of the next line, repeats the node's description.

    `with_texts`: text that is an element's only content is on its line.
    """
    node = nodes[place]
    if node is None or not node.description:
        return False
    letters = _letters(node.description)
    after = [] if place + 1 == len(nodes) else _say(nodes[place + 1], with_texts)
    inside = _letters(node.children[0].name) if with_texts and _text_inside(node) is not None else ""
    if any(_letters(text) == letters for text in after) or inside == letters:
        return True
    for below in range(place + 1, len(nodes)):
        if depths[below] <= depths[place] or len(inside) >= len(letters):
            break
        inside += "".join(map(_letters, _say(nodes[below], with_texts)))
    return inside == letters


def _say(node: Node | None, with_texts: bool) -> list[str]:
    if node is None:
        return []
    text = _text_inside(node) if with_texts else None
    return [node.name] if text is None else [node.name, text.name]


def _text_inside(node: Node) -> Node | None:
    return node.children[0] if len(node.children) == 1 and node.children[0].kind == "text" else None


def _letters(text: str) -> str:
    return collapse_space(text).replace(" ", "")


class Roles(dict[str, str]):
    """Roles as they may appear in a line: tokens. Any other role becomes `generic`."""

    def __missing__(self, role: str) -> str:
        safe = role if is_token(role) else "generic"
        self[role] = safe
        return safe


def can_be_acted_on(node: Node) -> bool:
    """Return whether `interactive` keeps the node."""
    return node.kind == "interactive" or node.clickable


def amount(lines: int, refs: int, more: str = "") -> str:
    """Return a string such as "3 more lines (1 ref)"."""
    return f"{lines} {more}line{'s' if lines != 1 else ''} ({refs} ref{'s' if refs != 1 else ''})"


_REMARK = re.compile(r"[A-Za-z][A-Za-z0-9 .,'=-]{0,79}")


def safe_remark(remark: str) -> str:
    """Return a remark for use in brackets, quoted if it does not look like a remark of the engine."""
    return remark if _REMARK.fullmatch(remark) is not None else quote(remark)


# --- links ---------------------------------------------------------------------------------------------------

_LONGEST_URL = 120
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")


def page_and_origin(url: str) -> tuple[str, str]:
    """Return the prefixes of link addresses within the document, and within its origin."""
    origin = _ORIGIN.match(url)
    return url.partition("#")[0] + "#", origin[0] + "/" if origin else ""


def short_url(url: str, page: str, origin: str) -> str:
    """Remove the prefix that a link shares with its document, and shorten the rest.

    The cut can be inside an escape.
    """
    if url.startswith(page):
        url = url[len(page) - 1 :]
    elif origin and url.startswith(origin):
        url = url[len(origin) - 1 :]
    return url if len(url) <= _LONGEST_URL else shorten(url, _LONGEST_URL)


# --- states --------------------------------------------------------------------------------------------------


def state_texts(states: Iterable[tuple[str, str | int | float | bool]]) -> list[str]:
    """Return strings such as ["checked", "checked=mixed", "level=2"]; values that are not tokens are quoted."""
    texts = []
    for state, value in states:
        name = state if state in STATES or is_token(state) else quote(state)
        if value is True:
            texts.append(name)
        elif isinstance(value, str):
            texts.append(f"{name}={value if is_token(value) else quote(value)}")
        else:
            texts.append(f"{name}={value:g}")
    return texts


# --- options -------------------------------------------------------------------------------------------------

Mode = Literal["role", "ai", "aria", "numbered", "webarena"]
"""The format of a snapshot. modes.py and ax_modes.py describe the lines of each."""

RefsFor = Literal["actions", "all"]
"""Elements that get a ref: interactive elements and named content, or every shown element."""

AX_MODES = frozenset({"aria", "webarena"})
"""Modes that show the accessibility tree itself: they need `Document.ax`."""


_LIMIT = attrs.validators.optional(checked(check_count, expected="0 or more, or None for no limit"))


@attrs.frozen(kw_only=True)
class SnapshotOptions:
    """Options of a snapshot. Raises InvalidArgumentError for invalid values, such as a negative limit.

    mode: role (indented lines), ai (YAML), aria (the accessibility tree, for debugging), numbered (flat
        numbers), webarena (the format of WebArena's agents).
    interactive: show only interactive elements, indented only under other interactive elements.
    compact: leave out the unnamed structural lines that group fewer than two lines, or contain no ref.
    max_depth: leave out lines that are indented deeper than this; 0 keeps the outermost lines.
    max_chars: cut at a line end, so that the snapshot has at most this many characters, including the remark
        about omitted lines (the remark is present even if it alone is longer).
    max_tokens: the same in tokens of a language model, as `estimate_tokens` counts them.
    refs: "actions" gives refs to interactive elements, and to named content (headings, images, items); "all" to
        every element with a line. Texts and nodes that Chrome does not show (`ignored`) have none.
    ignored: in mode aria, also show the ignored nodes of Chrome's tree, with Chrome's reasons.

    `interactive` and `compact` are for the modes role, ai and numbered.
    """

    mode: Mode = "role"
    interactive: bool = False
    compact: bool = False
    max_depth: int | None = attrs.field(default=None, validator=_LIMIT)
    max_chars: int | None = attrs.field(default=None, validator=_LIMIT)
    max_tokens: int | None = attrs.field(default=None, validator=_LIMIT)
    ignored: bool = False
    refs: RefsFor = "actions"

    def __attrs_post_init__(self) -> None:
        check_choice("mode", self.mode, get_args(Mode))
        check_choice("refs", self.refs, get_args(RefsFor))
        if self.ignored and self.mode != "aria":
            raise InvalidArgumentError(what="ignored", given="True", expected='False, or mode="aria" with it')
        for name in ("interactive", "compact"):
            if getattr(self, name) and self.mode in AX_MODES:
                raise InvalidArgumentError(
                    what=name, given="True", expected=f"False in mode {self.mode}, which shows all nodes"
                )
