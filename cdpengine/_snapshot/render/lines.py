"""Lines: what a snapshot is to show, what a mode makes of a tree before it is cut to size, and what modes share.

Rule: a mode's lines stand in the order of the page, one entry for each node that is shown. Nothing here knows how
any mode reads. Options that cannot be, or would do nothing in the chosen mode, are refused when they are made.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Literal, get_args

import attrs

from cdpengine._snapshot.node import Document, Node, walk
from cdpengine._snapshot.refs import Ref
from cdpengine._snapshot.roles import STRUCTURAL_ROLES
from cdpengine._snapshot.text import collapse_space, is_token, quote, shorten
from cdpengine.errors import InvalidArgumentError

DEEPEST_INDENT = 100
"""Deeper lines are indented no further: without this, the text grows with the square of the depth."""

INDENTS = tuple("  " * depth for depth in range(DEEPEST_INDENT + 2))


@attrs.define(eq=False)
class Block:
    """The lines of one node and of all that is in it, where `place` says: its depth, and how addresses are cut.

    `refs` go with the nodes, and `shown` has them by their ids; `acting` counts the nodes that can be acted on.
    `given` are the refs of all nodes of the part (`RefsByNode.parts`), None where these are not known.
    """

    place: tuple[int, str, str]
    texts: list[str]
    nodes: list[Node | None]
    depths: list[int]
    refs: list[Ref | None]
    acting: int
    given: Mapping[Node, Ref] | None = None
    shown: dict[str, Ref] = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.shown = {ref.id: ref for ref in self.refs if ref is not None}

    def has_refs(self, given: Mapping[Node, Ref] | None, refs: Mapping[Node, Ref]) -> bool:
        """Say whether the nodes have these refs; `given` are those of the part."""
        if given is not None and given is self.given:
            return True
        if list(map(refs.get, self.nodes)) != self.refs:  # type: ignore[arg-type]  # no ref has None
            return False
        self.given = given
        return True


@attrs.define(eq=False)
class Blocks:
    """The lines of a document's parts: `known` are those that were written before, by the part's outermost node.

    A part is in the document as the very nodes that it was before, or it is another one. So its lines are the same
    where the refs of its nodes, and its place, are. `given` are the refs of parts (`RefsByNode.parts`).
    `kept` gets what later documents may use.
    """

    tops: AbstractSet[Node] = frozenset()
    known: Mapping[Node, Block] = attrs.field(factory=dict)
    given: Mapping[Node, Mapping[Node, Ref]] = attrs.field(factory=dict)
    kept: dict[Node, Block] = attrs.field(factory=dict)
    _opened: tuple[Node, int, tuple[int, int]] | None = None

    def reuse_or_open(
        self, node: Node, place: tuple[int, str, str], refs: Mapping[Node, Ref], lines: Lines
    ) -> bool:
        """Add the lines of a part that are known, and return True; otherwise they are to be written now."""
        block = self.known.get(node)
        if block is None or block.place != place or not block.has_refs(self.given.get(node), refs):
            self._opened = node, len(lines.texts), _counts(lines)
            return False
        self._opened = None
        lines.blocks.append((len(lines.texts), block))
        self.kept[node] = block
        lines.texts += block.texts
        lines.nodes += block.nodes
        lines.depths += block.depths
        return True

    def close(self, node: Node, place: tuple[int, str, str], refs: Mapping[Node, Ref], lines: Lines) -> None:
        """Keep the lines of a part, if it is `node` with all that is in it that was written just now."""
        if self._opened is None or self._opened[0] is not node:
            return
        _, start, counts = self._opened
        self._opened = None
        if counts != _counts(lines):
            return  # these depend on more than the part
        nodes = lines.nodes[start:]
        acting = sum(each is not None and can_be_acted_on(each) for each in nodes)
        found = list(map(refs.get, nodes))  # type: ignore[arg-type]  # no ref has None
        given = self.given.get(node)
        block = Block(place, lines.texts[start:], nodes, lines.depths[start:], found, acting, given)
        self.kept[node] = block
        lines.blocks.append((start, block))


def _counts(lines: Lines) -> tuple[int, int]:
    return len(lines.undescribed), lines.frames


@attrs.define(eq=False)
class Lines:
    """The lines of a snapshot. `texts`, `nodes` and `depths` go together, one of each for an entry.

    A text is one line, or several for a node whose properties have lines of their own. The node is None where
    an entry stands for nothing that can have a ref. `too_deep` are the nodes below `max_depth`; `remarks` say
    what else is missing. `undescribed` are the nodes that have a description, each with its text without that.
    `blocks` are parts of it, with the places where they begin; `frames` counts nodes that own frames.
    """

    texts: list[str] = attrs.field(factory=list)
    nodes: list[Node | None] = attrs.field(factory=list)
    depths: list[int] = attrs.field(factory=list)
    too_deep: list[Node | None] = attrs.field(factory=list)
    remarks: list[str] = attrs.field(factory=list)
    undescribed: dict[Node, str] = attrs.field(factory=dict)
    blocks: list[tuple[int, Block]] = attrs.field(factory=list)
    frames: int = 0

    def count_shown(self, refs: Mapping[Node, Ref]) -> tuple[dict[str, Ref], int]:
        """Return the refs that are shown by their ids, in order, and how many nodes can be acted on."""
        shown: dict[str, Ref] = {}
        acting = at = 0
        for start, block in [*self.blocks, (len(self.nodes), None)]:
            for node in self.nodes[at:start]:
                if node is not None:
                    if (ref := refs.get(node)) is not None:
                        shown[ref.id] = ref
                    acting += can_be_acted_on(node)
            if block is not None:
                shown.update(block.shown)
                acting += block.acting
                at = start + len(block.nodes)
        return shown, acting

    def leave_out_repeated(self, *, with_texts: bool) -> set[Node]:
        """Take out descriptions that the lines after them repeat; return the nodes that had them."""
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

    `with_texts`: a text that is all of an element's content stands on its line.
    """
    node = nodes[place]
    if node is None or not node.description:
        return False
    wanted = _letters(node.description)
    after = [] if place + 1 == len(nodes) else _say(nodes[place + 1], with_texts)
    inside = _letters(node.children[0].name) if with_texts and _text_inside(node) is not None else ""
    if any(_letters(text) == wanted for text in after) or inside == wanted:
        return True
    for below in range(place + 1, len(nodes)):
        if depths[below] <= depths[place] or len(inside) >= len(wanted):
            break
        inside += "".join(map(_letters, _say(nodes[below], with_texts)))
    return inside == wanted


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
    """A role as it may stand in a line: a token. Whatever else a source calls a role becomes `generic`."""

    def __missing__(self, role: str) -> str:
        safe = role if is_token(role) else "generic"
        self[role] = safe
        return safe


def can_be_acted_on(node: Node) -> bool:
    """Say whether `interactive` keeps the node."""
    return node.kind == "interactive" or node.clickable


def find_folded(document: Document, refs: Mapping[Node, Ref]) -> AbstractSet[Node]:
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


# --- options -------------------------------------------------------------------------------------------------

Mode = Literal["role", "ai", "aria", "numbered", "webarena"]
"""How a snapshot reads. modes.py and ax_modes.py say what a line of each is."""

_MODES: tuple[str, ...] = get_args(Mode)

RefsFor = Literal["actions", "all"]
"""What gets a ref: what can be acted on and named content, or every shown element."""

AX_MODES = frozenset({"aria", "webarena"})
"""Modes that show the accessibility tree itself: they need `Document.ax`."""


def _not_negative(_: object, attribute: attrs.Attribute[int | None], value: int | None) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int) or value < 0):
        raise InvalidArgumentError(
            what=attribute.name, given=repr(value), expected="0 or more, or None for no limit"
        )


@attrs.frozen(kw_only=True)
class SnapshotOptions:
    """What to show. Raises InvalidArgumentError for what cannot be, such as a negative limit.

    mode: role (indented lines), ai (YAML), aria (the accessibility tree, for debugging), numbered (flat
        numbers), webarena (as WebArena's agents read it).
    interactive: only what can be acted on; indented under other such nodes only.
    compact: without the unnamed structural lines that group fewer than two lines, or that hold no ref.
    max_depth: leave out lines that are indented deeper than this; 0 keeps the outermost lines.
    max_chars: cut at a line end, so that the text has at most this many characters, the remark about what was
        left out included (the remark is there even when it alone is longer).
    max_tokens: the same in tokens of a language model, as `estimate_tokens` counts them.
    refs: "actions" gives refs to what can be acted on, and to content that has a name (headings, images, items);
        "all" to every element that has a line. Texts have none, and what Chrome does not show (`ignored`).
    ignored: in mode aria, also the nodes that Chrome's tree holds but does not show, with Chrome's reasons.

    `interactive` and `compact` are for the modes role, ai and numbered.
    """

    mode: Mode = "role"
    interactive: bool = False
    compact: bool = False
    max_depth: int | None = attrs.field(default=None, validator=_not_negative)
    max_chars: int | None = attrs.field(default=None, validator=_not_negative)
    max_tokens: int | None = attrs.field(default=None, validator=_not_negative)
    ignored: bool = False
    refs: RefsFor = "actions"

    def __attrs_post_init__(self) -> None:
        if self.mode not in _MODES:
            raise InvalidArgumentError(
                what="mode", given=repr(self.mode), expected=f"one of {', '.join(get_args(Mode))}"
            )
        if self.refs not in get_args(RefsFor):
            raise InvalidArgumentError(
                what="refs", given=repr(self.refs), expected=f"one of {', '.join(get_args(RefsFor))}"
            )
        if self.ignored and self.mode != "aria":
            raise InvalidArgumentError(what="ignored", given="True", expected='False, or mode="aria" with it')
        for name in ("interactive", "compact"):
            if getattr(self, name) and self.mode in AX_MODES:
                raise InvalidArgumentError(
                    what=name, given="True", expected=f"False in mode {self.mode}, which shows all there is"
                )
