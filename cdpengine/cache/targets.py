"""Targets: descriptions of elements in a snapshot, for finding them without a ref. Pure.

Rule: a description uses what a person sees: role, name, surroundings and frame. It never contains the value
of a field. Strings are cut (`LONGEST_NAME`), because each step stores a target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from cdpengine._snapshot.refs import parse_ref_text
from cdpengine._snapshot.roles import INTERACTIVE_ROLES
from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.cache.addresses import normalize_url
from cdpengine.cache.entries import FramePlace, Landmark, PathStep, Target
from cdpengine.cache.templates import escape
from cdpengine.errors import InvalidArgumentError, NodeNotFoundError

LONGEST_NAME = 200
"""Maximum length of a name and of a neighbouring text, in characters."""

MOST_AROUND = 4
"""Maximum number of named ancestors in a description."""

ITEM_ROLES = frozenset({"row", "listitem", "article", "treeitem"})
"""Repeating containers (rows, cards): a button in one of them belongs to its container."""


FORM_ROLES = frozenset({"form", "dialog", "alertdialog", "search"})
SECTION_ROLES = frozenset({"region", "article", "navigation", "complementary"})
"""Containers of controls: a form or a dialog; without one, the innermost section."""

MOST_TOGETHER = 8
"""Maximum number of other controls of the container in a description."""


def describe_target(snapshot: Snapshot, ref: str) -> Target:
    """Return the description of the element with this ref, such as "e7". A dollar in a name is escaped.

    Raises InvalidArgumentError for a string that is not a ref, NodeNotFoundError for a ref that is not in the
    snapshot.
    """
    identity = parse_ref_text(ref)
    if identity is None:
        raise InvalidArgumentError("ref", repr(ref)[:40], 'a ref of the snapshot, such as "e7"')
    nodes = snapshot.nodes
    place = next(
        (place for place, node in enumerate(nodes) if node.ref is not None and node.ref.id == identity), None
    )
    if place is None:
        raise NodeNotFoundError(identity, "it is not in the snapshot")
    node = nodes[place]
    like = [
        other
        for other, each in enumerate(nodes)
        if each.ref is not None and (each.role, each.name, each.frame) == (node.role, node.name, node.frame)
    ]
    around = list(_around(nodes, place))
    inside = [each for each in around if nodes[each].frame == node.frame]
    within = tuple(read_landmark(nodes[each]) for each in inside if nodes[each].name)[:MOST_AROUND]
    return Target(
        role=node.role,
        name=escape(node.name[:LONGEST_NAME]),
        nth=like.index(place),
        alike=len(like),
        frames=tuple(_frames(nodes, place))[::-1],
        within=within,
        before=find_beside(nodes, place, range(place - 1, -1, -1), set(around)),
        after=find_beside(nodes, place, range(_end(nodes, place), len(nodes)), set()),
        path=tuple(_path_step(nodes, each) for each in [*inside[::-1], place]),
        item=escape(item := _item(nodes, place, inside)),
        together=_together(nodes, place, inside),
        twins=sum(_is_twin(nodes, each, within, item) for each in like),
    )


def _around(nodes: Sequence[SnapshotNode], place: int) -> Iterator[int]:
    """Yield the places of a node's ancestors, innermost first."""
    parent = nodes[place].parent
    while parent is not None:
        yield parent
        parent = nodes[parent].parent


def _frames(nodes: Sequence[SnapshotNode], place: int) -> Iterator[FramePlace]:
    """Yield the frames around a node, innermost first.

    The element of a frame is the first ancestor that belongs to another frame.
    """
    frame = nodes[place].frame
    for around in _around(nodes, place):
        owner = nodes[around]
        if owner.frame != frame:
            yield describe_frame(nodes, around)
            frame = owner.frame


def describe_frame(nodes: Sequence[SnapshotNode], place: int) -> FramePlace:
    """Return the description of the frame that an element owns."""
    owner = nodes[place]
    key = owner.name[:LONGEST_NAME], _address(owner.url)
    same = [other for other, each in enumerate(nodes) if (each.role, each.frame) == (owner.role, owner.frame)]
    alike = sum((nodes[each].name[:LONGEST_NAME], _address(nodes[each].url)) == key for each in same)
    return FramePlace(name=key[0], address=key[1], nth=same.index(place), alike=alike)


def _address(url: str) -> str:
    try:
        return normalize_url(url)
    except InvalidArgumentError:
        return ""  # about:blank, srcdoc and data: documents have no address


def _path_step(nodes: Sequence[SnapshotNode], place: int) -> PathStep:
    node = nodes[place]
    siblings = [other for other in range(place) if nodes[other].parent == node.parent]
    return PathStep(role=node.role, nth=sum(nodes[other].role == node.role for other in siblings))


def find_beside(
    nodes: Sequence[SnapshotNode], place: int, places: range, passed: set[int]
) -> Landmark | None:
    """Return the neighbour of a node: the first named node of `places` in its frame that is not in `passed`.

    Text that repeats the node's name, as a label does, is not a neighbour.
    """
    node = nodes[place]
    for each in places:
        other = nodes[each]
        if other.frame != node.frame or each in passed or not (other.name or other.text):
            continue
        landmark = read_landmark(other)
        if other.role == "text" and landmark.name == node.name[:LONGEST_NAME]:
            continue
        return landmark
    return None


def read_landmark(node: SnapshotNode) -> Landmark:
    """Return a description of a node for a person."""
    return Landmark(role=node.role, name=(node.name or " ".join(node.text.split()))[:LONGEST_NAME])


def _item(nodes: Sequence[SnapshotNode], place: int, inside: Sequence[int]) -> str:
    around = next((each for each in inside if nodes[each].role in ITEM_ROLES), None)
    if around is None:
        return ""
    own = range(place, _end(nodes, place))
    return item_words(
        nodes, around, (each for each in range(around + 1, _end(nodes, around)) if each not in own)
    )


def find_holder(nodes: Sequence[SnapshotNode], inside: Sequence[int]) -> int | None:
    """Return the container of an element: the innermost of its ancestors that groups controls."""
    for roles in (FORM_ROLES, SECTION_ROLES):
        for each in inside:
            if nodes[each].role in roles:
                return each
    return None


def is_control(node: SnapshotNode) -> bool:
    """Return whether a node is a named control, as a person would list it for a form."""
    return (
        node.ref is not None and node.name != "" and node.role != "option" and node.role in INTERACTIVE_ROLES
    )


def _together(nodes: Sequence[SnapshotNode], place: int, inside: Sequence[int]) -> tuple[Landmark, ...]:
    holder = find_holder(nodes, inside)
    if holder is None:
        return ()
    frame = nodes[place].frame
    others = [
        each
        for each in range(holder + 1, _end(nodes, holder))
        if each != place and nodes[each].frame == frame and is_control(nodes[each])
    ]
    nearest = sorted(others, key=lambda each: abs(each - place))[:MOST_TOGETHER]
    return tuple(dict.fromkeys(read_landmark(nodes[each]) for each in sorted(nearest)))


def _is_twin(nodes: Sequence[SnapshotNode], place: int, within: Sequence[Landmark], item: str) -> bool:
    """Return whether its surroundings cannot distinguish an equal element from the described one."""
    inside = [each for each in _around(nodes, place) if nodes[each].frame == nodes[place].frame]
    if item:
        return _item(nodes, place, inside) == item
    named = next((read_landmark(nodes[each]) for each in inside if nodes[each].name), None)
    return named == (within[0] if within else None)


def item_words(nodes: Sequence[SnapshotNode], item: int, places: Iterable[int]) -> str:
    """Return the label of an item from the names and page text of these nodes, truncated.

    For a named article, the label is its name: its content, such as a price, may change. Values of fields are
    omitted.
    """
    if nodes[item].role == "article" and nodes[item].name:
        return nodes[item].name[:LONGEST_NAME]
    words: list[str] = []
    for place in places:
        node = nodes[place]
        words += [*node.name.split(), *(node.text.split() if node.text != node.name else ())]
    return " ".join(words)[:LONGEST_NAME]


def _end(nodes: Sequence[SnapshotNode], place: int) -> int:
    """Return the place after the last descendant of a node."""
    inside = {place}
    for after in range(place + 1, len(nodes)):
        if nodes[after].parent not in inside:
            return after
        inside.add(after)
    return len(nodes)
