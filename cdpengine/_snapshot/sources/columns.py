"""Columns: from what the walk in the page (_snapshot/sources/walk.js) returns to the nodes that are shown. Pure.

Rule: the page's part says what there is, in order; the name of each role, and what is shown of a node, is decided
here, by the tables of roles.py, as for Chrome's accessibility tree. The result equals what `fold` makes of that
tree. Parts that say the same as when they were last read keep their nodes. The page decides which parts it only
names; checked here is what the page cannot see: that a part's surroundings make the same of it. The nodes of a
part then belong to several documents, and must not be changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import attrs
import msgspec

from cdpengine import _json
from cdpengine._collector import pause_collector
from cdpengine._snapshot import roles
from cdpengine._snapshot.node import Document, Kind, Node
from cdpengine._snapshot.roles import kind_of, role_and_kind, role_name
from cdpengine._snapshot.sources.document_kinds import describe_kind
from cdpengine._snapshot.sources.finish import (
    EDGE,
    Child,
    Edge,
    Hint,
    Shown,
    find_said_inside,
    finish,
    unwrap,
)
from cdpengine._snapshot.text import LineBreak, Preformatted, collapse_space

Scalar = str | int | float | bool | None

TEXT, BLOCK_EDGE, CAPTION_EDGE, REUSED, OPENED, CLOSED, PREFORMATTED, BREAK, HINT = range(-1, -10, -1)
"""The kinds of rows that are no element; walk.js has the same numbers."""


class Walk(msgspec.Struct, gc=False):
    """The columns: one row for each element with a line, each run of text, each border of a folded block.

    `depths` says how many rows' elements a row is in; `kinds` is twice the number of the element's role in
    `roles`, plus 1 when it can take the focus, or a kind of row below 0. `uids` are the walk's own numbers of
    elements, and of captions in rows that are their borders; `texts` names and texts. `extras` are (row, key,
    value) one after the other, `boxes` (row, x, y, width, height), `labels` (caption, name that it gave).
    `presumed` are the numbers of what seems to listen to presses, to be confirmed (see computed.py).
    `last` is the greatest number given so far. Parts of the document (see `Parts`) stand between rows OPENED and
    CLOSED, or are one row REUSED, with their numbers for uids; `number` is that of the walk, 0 when no part is
    kept. `same` stands for all the rest: it is what the walk before said. `lacking` stands for all the rest, too:
    the walk was given no source for roles and names that Chrome does not have; and so does `bare`: Chrome has not
    laid the document out; and `not_plain`: its roles and names have to be Chrome's own
    (_snapshot/sources/walk_plain.js). `customs` are the numbers of custom elements of which Chrome's tree may say
    more (_snapshot/sources/internals.py), `leaves` those of which it may say that they are hidden, and `around`
    those of the custom elements that all these are in. `marks` is what the types of the listeners begin with that
    were put on new elements, "" for none (_snapshot/sources/walk_marks.js). `type` is the document's MIME type
    where that is not HTML's, `size` that of a picture. `carousels` counts the rows that stand for parts of
    carousels (carousels.py).
    """

    depths: tuple[int, ...] = ()
    kinds: tuple[int, ...] = ()
    uids: tuple[int, ...] = ()
    texts: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    extras: tuple[Scalar, ...] = ()
    boxes: tuple[float, ...] = ()
    labels: tuple[int | str, ...] = ()
    presumed: tuple[int, ...] = ()
    customs: tuple[int, ...] = ()
    leaves: tuple[int, ...] = ()
    around: tuple[int, ...] = ()
    url: str = ""
    title: str = ""
    viewport: tuple[float, float] | None = None
    seen: int = 0
    cut: bool = False
    deep: bool = False
    unread: int = 0
    last: int = 0
    number: int = 0
    same: bool = False
    lacking: bool = False
    bare: bool = False
    not_plain: bool = msgspec.field(default=False, name="notPlain")
    marks: str = ""
    type: str = ""
    size: tuple[float, float] | None = None
    carousels: int = 0


decode_walk = _json.Decoder(Walk).decode
"""Decode the walk's answer. Raises msgspec.DecodeError, a ValueError, for any other text."""


Pairs = tuple[str | int | float | bool | None, ...]
"""Keys and values by turns: states, value, description and placeholder of a custom element."""


@attrs.frozen
class Told:
    """What the walk is told of a custom element.

    `pairs` is None where Chrome's tree does not have the element. Role and name are for the source `dom`, "" for
    others; `by` is the attribute that the name stands for ("aria-label", "aria-labelledby"), "" for others.
    """

    pairs: Pairs | None = None
    hidden: bool = False
    role: str = ""
    name: str = ""
    by: str = ""

    def listed(self) -> list[Any]:
        """Return it as walk_internals.js takes it."""
        return [self.hidden, self.role, self.name, self.by, self.pairs]


NOTHING_KNOWN = Told()


@attrs.frozen(eq=False)
class Custom:
    """A custom element: its node in the walk that read it last, None without a line; what the walk was told.

    Of a `leaf` it matters only whether it is hidden; `look` is the look in which Chrome was asked last.
    """

    node: Node | None = None
    told: Told = NOTHING_KNOWN
    leaf: bool = False
    look: int = 0


# What walk.js needs to know of a role: it has the same bits.
_INLINE, _FOLDED, _INTERACTIVE, _VALUED, _HINTED, _BY_ATTRIBUTE, _DROPPED, _CAPTION, _REPEATED, _LAYOUT = (
    1 << place for place in range(10)
)

_NAMED_BY_ATTRIBUTE_ONLY = frozenset(
    {"DescriptionList", "definition", "directory", "list", "listitem", "paragraph", "row", "rowgroup"}
)
"""Roles whose names never come from what is inside; asking Chrome for them costs time."""


def role_bits() -> dict[str, int]:
    """Return the tables of roles.py as walk.js takes them: for each of Chrome's roles, what a snapshot does."""
    in_tables = {
        role
        for table in (
            roles.INTERACTIVE_ROLES,
            roles.CONTENT_ROLES,
            roles.STRUCTURAL_ROLES,
            roles.INTERNAL_ROLES,
            roles.DROPPED_ROLES,
            roles.INLINE_ROLES,
            roles.FOLDED_ROLES,
            roles.ALWAYS_SHOWN,
            _NAMED_BY_ATTRIBUTE_ONLY,
        )
        for role in table
    }
    bits = {}
    for chrome_role in in_tables:
        role = role_name(chrome_role)
        bits[chrome_role] = (
            _INLINE * (chrome_role in roles.INLINE_ROLES)
            | _FOLDED * (chrome_role in roles.FOLDED_ROLES)
            | _INTERACTIVE * (kind_of(role) == "interactive")
            | _VALUED * (role in roles.ALWAYS_SHOWN)
            | _HINTED * (role in roles.PLACEHOLDER_ROLES)
            | _BY_ATTRIBUTE
            * (
                chrome_role in roles.INLINE_ROLES
                or chrome_role in roles.FOLDED_ROLES
                or chrome_role in _NAMED_BY_ATTRIBUTE_ONLY
            )
            | _DROPPED * (chrome_role in roles.DROPPED_ROLES)
            | _LAYOUT * (chrome_role in roles.LAYOUT_ROLES)
            | _CAPTION * (chrome_role in roles.CAPTION_ROLES)
            | _REPEATED * (role in roles.NAMED_BY_CONTENT and role not in roles.CELL_ROLES)
        )
    return bits


Unnumbered = list[tuple["Node", int]]
"""Nodes whose ids were not known yet, and their numbers."""

Customs = dict[int, Node | None]
"""The nodes of custom elements, by number; None for those without a line."""


def nodes_of(
    walk: Walk,
    ids: Sequence[int],
    *,
    frame_id: str | None = None,
    parts: Parts | None = None,
    unnumbered: Unnumbered | None = None,
    customs: Customs | None = None,
) -> Document:
    """Return the shown nodes.

    `ids` maps the walk's numbers to backend node ids; 0 where there is none. Nodes whose numbers are not there yet
    are put into `unnumbered`, for `give_ids`, and those of custom elements into `customs`. `parts` has those that
    rows may reuse, and gets those of this walk.

    Rows that contradict one another (a depth without the row that would be above it) are put one level up.
    Raises PartChanged when a part that is reused would read differently now.
    """
    later: Unnumbered = [] if unnumbered is None else unnumbered
    found: Customs = {} if customs is None else customs
    found.update(dict.fromkeys(walk.customs))
    with pause_collector():
        document = _nodes_of(walk, ids, frame_id, Parts() if parts is None else parts, later, found)
    if unnumbered is None:
        give_ids(later, ids)
    return document


def give_ids(unnumbered: Unnumbered, ids: Sequence[int]) -> None:
    """Give the nodes their ids, which are known by now."""
    for node, number in unnumbered:
        node.backend_node_id = ids[number] or None


_SHOWN_AS = roles.TOKEN_STATES | roles.NUMBER_STATES


class PartChanged(Exception):
    """A part that the walk only named is not known, or what is around it makes something else of it now."""


class Part(msgspec.Struct, frozen=True, eq=False):
    """What stands right inside of the part's place. `said` is what is said above it, which its texts may repeat.

    `captions` are the captions in it, with what each one gave its name to, if anything.
    """

    top: tuple[Child, ...]
    said: str | None
    captions: tuple[tuple[int, str | None], ...]


class _Opened(msgspec.Struct, eq=False):
    number: int
    children: list[Child]
    start: int
    said: str | None
    captions: list[int] = msgspec.field(default_factory=list)
    end: int = 0


class Parts:
    """The parts of one walk, while its nodes are made: `kept` are of the walk before, `found` of this one."""

    def __init__(self, kept: Mapping[int, Part] | None = None) -> None:
        self._kept: Mapping[int, Part] = {} if kept is None else kept
        self.found: dict[int, Part] = {}
        self.reused = 0
        self._opened: list[_Opened] = []
        self._current: _Opened | None = None

    def reuse(self, number: int, said: str | None, labels: Mapping[int, str]) -> Sequence[Child]:
        """Return what stands in the part's place. Raises PartChanged."""
        part = self._kept.get(number)
        if part is None or part.said != said:
            raise PartChanged
        for caption, name in part.captions:
            if labels.get(caption) != name:
                raise PartChanged
        self.found[number] = part
        self.reused += 1
        return part.top

    def open(self, number: int, children: list[Child], said: str | None) -> None:
        """Begin a part, at the end of the `children` so far."""
        self._current = _Opened(number, children, len(children), said)

    def caption(self, number: int) -> None:
        """Take note of a caption."""
        if self._current is not None:
            self._current.captions.append(number)

    def close(self, number: int) -> None:
        """End the part that was begun last."""
        opened, self._current = self._current, None
        if opened is not None and opened.number == number:
            opened.end = len(opened.children)
            self._opened.append(opened)

    def tops(self) -> AbstractSet[Node]:
        """Return the outermost nodes of the parts that were found."""
        return {each for part in self.found.values() for each in part.top if isinstance(each, Node)}

    def finish(
        self, gone: AbstractSet[Node], labels: Mapping[int, str], wrappers: AbstractSet[Node] = frozenset()
    ) -> None:
        """Keep the parts that were read, now that their nodes are whole, but for the nodes that are `gone`.

        In the place of one of the `wrappers` stand its children.
        """
        for opened in self._opened:
            top = opened.children[opened.start : opened.end]
            if gone or wrappers:
                top = [
                    each
                    for child in top
                    if child not in gone
                    for each in (unwrap(child, wrappers) if isinstance(child, Node) else (child,))
                ]
            captions: tuple[tuple[int, str | None], ...] = ()
            if opened.captions:
                captions = tuple((number, labels.get(number)) for number in set(opened.captions) if number)
            self.found[opened.number] = Part(tuple(top), opened.said, captions)


def _nodes_of(
    walk: Walk, ids: Sequence[int], frame_id: str | None, parts: Parts, later: Unnumbered, customs: Customs
) -> Document:
    known = len(ids)
    role_of: list[str] = []
    kind_of: list[Kind] = []
    for chrome_role in walk.roles:
        role, kind = role_and_kind(chrome_role)
        role_of += (role, role)
        kind_of += (kind, "interactive")
    extras = _extras(walk.extras)
    boxes = iter(walk.boxes)
    box_of = {
        int(row): (x, y, w, h) for row, x, y, w, h in zip(boxes, boxes, boxes, boxes, boxes, strict=True)
    }
    given = iter(walk.labels)
    labels = {
        caption: str(name) for caption, name in zip(given, given, strict=True) if isinstance(caption, int)
    }
    top: list[Child] = []
    shown: list[Shown] = []
    inside: list[tuple[list[Child], str | None]] = [(top, "")]
    named_by_content, nothing = roles.NAMED_BY_CONTENT, ()
    rows = zip(walk.depths, walk.kinds, walk.uids, walk.texts, strict=True)
    for row, (depth, number, uid, text) in enumerate(rows):
        del inside[depth + 1 :]
        children, said = inside[-1]
        if number < 0:
            if number == TEXT:
                children.append(text)
            elif number == BLOCK_EDGE:
                children.append(EDGE)
            elif number == CAPTION_EDGE:
                children.append(Edge(uid))
                parts.caption(uid)
            elif number == REUSED:
                children += parts.reuse(uid, said, labels)
            elif number == OPENED:
                parts.open(uid, children, said)
            elif number == PREFORMATTED:
                children.append(Preformatted(text))
            elif number == BREAK:
                children.append(LineBreak(text))
            elif number == HINT:
                children.append(Hint(collapse_space(text)))
            else:
                parts.close(uid)
            continue
        role = role_of[number]
        name = collapse_space(text) if text else text
        node = Node(role, kind_of[number], name, frame_id=frame_id)
        if uid < known:
            node.backend_node_id = ids[uid] or None
        else:
            later.append((node, uid))
        children.append(node)
        if uid in customs:
            customs[uid] = node
        if box_of:
            node.box = box_of.get(row)
        if row in extras:
            _add(node, extras[row])
        if name and role in named_by_content:
            said = name
        elif node.value is not None or node.states is not nothing or node.clickable:
            said = find_said_inside(node, node.value is not None, said)
        inner: list[Child] = []
        shown.append((node, inner, said))
        inside.append((inner, said))
    gone: set[Node] = set()
    wrappers: set[Node] = set()
    outermost = finish(top, shown, labels, frame_id, gone, wrappers)
    parts.finish(gone, labels, wrappers)
    return Document(
        outermost,
        walk.url,
        collapse_space(walk.title),
        frame_id,
        walk.seen,
        source="computed",
        cut=walk.cut,
        deep=walk.deep,
        unread=walk.unread,
        viewport=walk.viewport,
        kind=describe_kind(walk.type, walk.size),
        content_type=walk.type,
    )


def _extras(flat: Sequence[Scalar]) -> dict[int, list[tuple[str, Scalar]]]:
    """Return what else is said of each row: its number -> pairs, in the order in which they are shown."""
    extras: dict[int, list[tuple[str, Scalar]]] = {}
    triples = iter(flat)
    for row, key, value in zip(triples, triples, triples, strict=True):
        if isinstance(row, int) and isinstance(key, str):
            extras.setdefault(row, []).append((key, value))
    return extras


def _add(node: Node, extras: Sequence[tuple[str, Scalar]]) -> None:
    """Give a node what its row says besides role and name."""
    states: list[tuple[str, str | int | float | bool]] = []
    hint = ""
    for key, value in extras:
        if key == "url":
            node.url = value if isinstance(value, str) else ""
        elif key == "value":
            if value is None:
                states.append(("value", "hidden"))
            elif isinstance(value, str):
                node.value = value
        elif key == "description":
            described = collapse_space(str(value))
            node.description = "" if described == node.name else described
        elif key == "placeholder":
            hint = collapse_space(str(value))
        elif key == "clickable":
            node.clickable = value is True
        elif value is not None:
            only_for = roles.STATE_ROLES.get(key)
            if only_for is None or node.role in only_for:
                states.append((_SHOWN_AS.get(key, key), value))
    if hint not in (node.name, node.description):
        node.placeholder = hint
    node.states = tuple(states)
