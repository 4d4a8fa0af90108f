"""Columns: conversion of the walk's result (_snapshot/sources/walk.js) to the nodes that are shown. Pure.

Rule: the script in the page reports facts in document order. The name of each role, and the details that a node
shows, are decided here, by the tables of roles.py, as for Chrome's accessibility tree. `fold` gives the same
result for that tree. Unchanged parts keep their nodes. The page decides which parts it only names. This module
checks the condition that the page cannot: that a part still means the same in its surroundings. A part's nodes
then belong to several documents and must not be changed.
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
from cdpengine._snapshot.sources.assembly import (
    EDGE,
    Child,
    Edge,
    Hint,
    ListedNode,
    find_repeatable,
    finish,
    unwrap,
)
from cdpengine._snapshot.sources.document_kinds import describe_kind
from cdpengine._snapshot.text import LineBreak, Preformatted, collapse_space

Scalar = str | int | float | bool | None

TEXT, BLOCK_EDGE, CAPTION_EDGE, REUSED, OPENED, CLOSED, PREFORMATTED, BREAK, HINT = range(-1, -10, -1)
"""The kinds of rows without an element; walk.js has the same numbers."""


class Walk(msgspec.Struct, gc=False):
    """The columns: one row for each element with a line, each run of text, each border of a folded block.

    `depths` counts the shown elements around a row. `kinds` is twice the index of the element's role in `roles`,
    plus 1 if it is focusable, or a kind of row below 0. `uids` are the walk's numbers of elements, and of captions
    in rows that are their borders; `texts` are names and text. `extras` is a sequence of (row, key, value),
    `boxes` of (row, x, y, width, height), `labels` of (caption, name that it gave). `presumed` are the numbers of
    elements that seem to listen to presses, to be confirmed (see computed.py). `last` is the greatest number so
    far.

    Parts of the document (see `Parts`) are enclosed by rows OPENED and CLOSED, or are one row REUSED, with their
    numbers as uids. `number` is the number of the walk, 0 if no part is kept.

    If one of four flags is set, the walk has no other result. `same`: the result has not changed since the
    previous walk. `lacking`: the walk needs a source for roles and names that Chrome does not have. `bare`: Chrome
    has not laid out the document. `not_plain`: roles and names must come from Chrome
    (_snapshot/sources/walk_plain.js).

    `customs` are the numbers of custom elements about which Chrome's tree may have more facts
    (_snapshot/sources/internals.py), `leaves` the numbers of elements that it may report as hidden, and `around`
    those of the custom elements around these. `contested` alternates the numbers of elements that several others
    claim by aria-owns and of their owners, 0 for none; `claimants` are those others. `marks` is the prefix of
    the types of the listeners that mark new elements, "" if none exist (_snapshot/sources/walk_marks.js). `type`
    is the document's MIME type unless it is HTML, `size` the size of a picture. `carousels` counts the rows
    for parts of carousels (carousels.py).
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
    contested: tuple[int, ...] = ()
    claimants: tuple[int, ...] = ()
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
"""Decode the walk's answer. Raises msgspec.DecodeError, a ValueError, for any other string."""


Pairs = tuple[str | int | float | bool | None, ...]
"""Alternating keys and values: states, value, description and placeholder of a custom element."""


@attrs.frozen
class Internals:
    """The facts about a custom element that the walk receives.

    `pairs` is None if Chrome's tree lacks the element. Role and name are "" except for the source `dom`. `by` is
    the attribute that provides the name ("aria-label", "aria-labelledby"), "" for others.
    """

    pairs: Pairs | None = None
    hidden: bool = False
    role: str = ""
    name: str = ""
    by: str = ""

    def listed(self) -> list[Any]:
        """Return the facts in the format of walk_internals.js."""
        return [self.hidden, self.role, self.name, self.by, self.pairs]


NO_INTERNALS = Internals()


@attrs.define(eq=False)
class Custom:
    """A custom element: its node in the last walk, None without a line, and the facts that the walk has.

    For a `leaf`, only whether it is hidden matters. `look` is the number of the read in which Chrome was last
    asked about it. `answer` is the hash of the answer from which `internals` follows, None if the next answer must
    be decoded.
    """

    node: Node | None = None
    internals: Internals = NO_INTERNALS
    leaf: bool = False
    look: int = 0
    answer: int | None = None


# A role's properties for walk.js, which has the same bits.
_INLINE, _FOLDED, _INTERACTIVE, _VALUED, _HINTED, _BY_ATTRIBUTE, _DROPPED, _CAPTION, _REPEATED, _LAYOUT = (
    1 << place for place in range(10)
)

_NAMED_BY_ATTRIBUTE_ONLY = frozenset(
    {"DescriptionList", "definition", "directory", "list", "listitem", "paragraph", "row", "rowgroup"}
)
"""Roles whose names never come from their content. Asking Chrome for them costs time."""


def role_bits() -> dict[str, int]:
    """Return the tables of roles.py in the format of walk.js: the treatment of each of Chrome's roles."""
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
            roles.ALWAYS_LISTED,
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
            | _VALUED * (role in roles.ALWAYS_LISTED)
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
"""Nodes without ids yet, and their numbers."""

Customs = dict[int, Node | None]
"""The nodes of custom elements by number; None for those without a line."""


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

    `ids` maps the walk's numbers to backend node ids, 0 if none exists. Nodes whose numbers it lacks are added
    to `unnumbered`, for `set_ids`, and nodes of custom elements to `customs`. `parts` has the parts that rows may
    reuse, and receives this walk's parts.

    Contradictory rows (a depth without a row above it) move up one level. Raises PartChanged if a reused part
    would have other lines now.
    """
    later: Unnumbered = [] if unnumbered is None else unnumbered
    found: Customs = {} if customs is None else customs
    found.update(dict.fromkeys(walk.customs))
    with pause_collector():
        document = _nodes_of(walk, ids, frame_id, Parts() if parts is None else parts, later, found)
    if unnumbered is None:
        set_ids(later, ids)
    return document


def set_ids(unnumbered: Unnumbered, ids: Sequence[int]) -> None:
    """Set the ids of the nodes, once they are known."""
    for node, number in unnumbered:
        node.backend_node_id = ids[number] or None


_STATE_NAMES = roles.TOKEN_STATES | roles.NUMBER_STATES


class PartChanged(Exception):
    """A part that the walk referred to by its number is unknown, or its surroundings now change its meaning."""


class Part(msgspec.Struct, frozen=True, eq=False):
    """The children at the part's place. `enclosing` is the name around it, which the part's texts may repeat.

    `captions` are the captions in it, with the name that each one gave, if any.
    """

    top: tuple[Child, ...]
    enclosing: str | None
    captions: tuple[tuple[int, str | None], ...]


class _Opened(msgspec.Struct, eq=False):
    number: int
    children: list[Child]
    start: int
    enclosing: str | None
    captions: list[int] = msgspec.field(default_factory=list)
    end: int = 0


class Parts:
    """The parts of one walk while its nodes are made: `known` from the previous walk, `found` in this one."""

    def __init__(self, known: Mapping[int, Part] | None = None) -> None:
        self._known: Mapping[int, Part] = {} if known is None else known
        self.found: dict[int, Part] = {}
        self.reused = 0
        self._opened: list[_Opened] = []
        self._current: _Opened | None = None

    def reuse(self, number: int, enclosing: str | None, labels: Mapping[int, str]) -> Sequence[Child]:
        """Return the children at the part's place. Raises PartChanged."""
        part = self._known.get(number)
        if part is None or part.enclosing != enclosing:
            raise PartChanged
        for caption, name in part.captions:
            if labels.get(caption) != name:
                raise PartChanged
        self.found[number] = part
        self.reused += 1
        return part.top

    def open(self, number: int, children: list[Child], enclosing: str | None) -> None:
        """Begin a part at the current end of `children`."""
        self._current = _Opened(number, children, len(children), enclosing)

    def caption(self, number: int) -> None:
        """Record a caption."""
        if self._current is not None:
            self._current.captions.append(number)

    def close(self, number: int) -> None:
        """End the current part."""
        opened, self._current = self._current, None
        if opened is not None and opened.number == number:
            opened.end = len(opened.children)
            self._opened.append(opened)

    def tops(self) -> AbstractSet[Node]:
        """Return the outermost nodes of the parts in `found`."""
        return {each for part in self.found.values() for each in part.top if isinstance(each, Node)}

    def finish(
        self, gone: AbstractSet[Node], labels: Mapping[int, str], wrappers: AbstractSet[Node] = frozenset()
    ) -> None:
        """Keep the parts that were read, now that their nodes are complete, without the nodes that are `gone`.

        Each of the `wrappers` is replaced by its children.
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
            self.found[opened.number] = Part(tuple(top), opened.enclosing, captions)


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
    captions = iter(walk.labels)
    labels = {
        caption: str(name)
        for caption, name in zip(captions, captions, strict=True)
        if isinstance(caption, int)
    }
    top: list[Child] = []
    listed: list[ListedNode] = []
    inside: list[tuple[list[Child], str | None]] = [(top, "")]
    named_by_content, nothing = roles.NAMED_BY_CONTENT, ()
    rows = zip(walk.depths, walk.kinds, walk.uids, walk.texts, strict=True)
    for row, (depth, number, uid, text) in enumerate(rows):
        del inside[depth + 1 :]
        children, enclosing = inside[-1]
        if number < 0:
            if number == TEXT:
                children.append(text)
            elif number == BLOCK_EDGE:
                children.append(EDGE)
            elif number == CAPTION_EDGE:
                children.append(Edge(uid))
                parts.caption(uid)
            elif number == REUSED:
                children += parts.reuse(uid, enclosing, labels)
            elif number == OPENED:
                parts.open(uid, children, enclosing)
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
            enclosing = name
        elif node.value is not None or node.states is not nothing or node.clickable:
            enclosing = find_repeatable(node, node.value is not None, enclosing)
        inner: list[Child] = []
        listed.append((node, inner, enclosing))
        inside.append((inner, enclosing))
    gone: set[Node] = set()
    wrappers: set[Node] = set()
    outermost = finish(top, listed, labels, frame_id, gone, wrappers)
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
    """Return the extra pairs of each row, in display order, by the row's index."""
    extras: dict[int, list[tuple[str, Scalar]]] = {}
    triples = iter(flat)
    for row, key, value in zip(triples, triples, triples, strict=True):
        if isinstance(row, int) and isinstance(key, str):
            extras.setdefault(row, []).append((key, value))
    return extras


def _add(node: Node, extras: Sequence[tuple[str, Scalar]]) -> None:
    """Set the node's details from its row's extra pairs."""
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
                states.append((_STATE_NAMES.get(key, key), value))
    if hint not in (node.name, node.description):
        node.placeholder = hint
    node.states = tuple(states)
