"""Targets: descriptions of elements in a snapshot, for finding them without a ref. Pure.

Rule: a description uses what a person sees: role, name, surroundings and frame. It never contains the value
of a field. Strings are cut (`LONGEST_NAME`), because each step stores a target. `PageIndex` takes one pass over
the nodes, because a page can have thousands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter

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


DIALOGS = frozenset({"dialog", "alertdialog"})

OWN_PARTS = frozenset({"form", "search", "region", "navigation", "complementary", *DIALOGS})
"""Parts of a page that have their own purpose if they have a name: a login, a newsletter."""


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
    return PageIndex(snapshot).describe(place)


class PageIndex:
    """An index of one snapshot. A place is an index into `Snapshot.nodes`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.nodes: Sequence[SnapshotNode] = snapshot.nodes
        self._controls: dict[int, list[tuple[int, Landmark]]] = {}

    @cached_property
    def ends(self) -> list[int]:
        """For each node, the place after its last descendant."""
        ends = list(range(1, len(self.nodes) + 1))
        for place in range(len(self.nodes) - 1, -1, -1):
            parent = self.nodes[place].parent
            if parent is not None:
                ends[parent] = max(ends[parent], ends[place])
        return ends

    @cached_property
    def steps(self) -> list[PathStep]:
        """For each node, its step in the path: the role, and the position among siblings of that role."""
        counts: dict[tuple[int | None, str], int] = {}
        steps = []
        for node in self.nodes:
            key = node.parent, node.role
            nth = counts.get(key, 0)
            counts[key] = nth + 1
            steps.append(PathStep(role=node.role, nth=nth))
        return steps

    @cached_property
    def frames(self) -> dict[str | None, tuple[FramePlace, ...]]:
        """The chain of each frame, outermost first; () for the page's main document.

        An empty frame has no id in a snapshot: the key of its chain is the place of its element.
        """
        frames: dict[str | None, tuple[FramePlace, ...]] = {}
        owned = {
            node.parent: node.frame
            for node in self.nodes
            if node.parent is not None and node.frame != self.nodes[node.parent].frame
        }
        for place, node in enumerate(self.nodes):
            if node.parent is None:
                frames.setdefault(node.frame, ())
            if place in owned or node.role == "iframe":
                way = (*frames.get(node.frame, ()), _describe_frame(self.nodes, place))
                frames[owned.get(place, f"empty {place}")] = way
        return frames

    def around(self, place: int) -> Iterator[int]:
        """Yield the ancestors of a node in its document, innermost first."""
        node = self.nodes[place]
        parent = node.parent
        while parent is not None and self.nodes[parent].frame == node.frame:
            yield parent
            parent = self.nodes[parent].parent

    def path(self, place: int) -> tuple[PathStep, ...]:
        """Return the path of a node in its document, outermost first."""
        return tuple(self.steps[each] for each in [*list(self.around(place))[::-1], place])

    def within(self, place: int) -> list[int]:
        """Return the named ancestors of a node, innermost first."""
        return [each for each in self.around(place) if self.nodes[each].name]

    def part(self, place: int) -> int | None:
        """Return the innermost named part of the page (`OWN_PARTS`) around a node, or None."""
        return next((each for each in self.within(place) if self.nodes[each].role in OWN_PARTS), None)

    def dialog(self, place: int) -> int | None:
        """Return the innermost dialog around a node, or None."""
        return next((each for each in self.around(place) if self.nodes[each].role in DIALOGS), None)

    def before(self, place: int) -> Landmark | None:
        """Return the landmark before a node."""
        return self._beside(place, range(place - 1, -1, -1), set(self.around(place)))

    def after(self, place: int) -> Landmark | None:
        """Return the landmark after a node."""
        return self._beside(place, range(self.ends[place], len(self.nodes)), set())

    def _beside(self, place: int, places: range, passed: set[int]) -> Landmark | None:
        """Return the first named node of `places` in the frame of a node that is not in `passed`.

        Text that repeats the node's name, as a label does, is not a neighbour.
        """
        node = self.nodes[place]
        for each in places:
            other = self.nodes[each]
            if other.frame != node.frame or each in passed or not (other.name or other.text):
                continue
            landmark = self.landmark(each)
            if other.role == "text" and landmark.name == node.name[:LONGEST_NAME]:
                continue
            return landmark
        return None

    def item(self, place: int) -> str:
        """Return the words of the list item or table row around a node, without the node itself."""
        around = next((each for each in self.around(place) if self.nodes[each].role in ITEM_ROLES), None)
        if around is None:
            return ""
        own = range(place, self.ends[place])
        inside = (each for each in range(around + 1, self.ends[around]) if each not in own)
        return _item_words(self.nodes, around, inside)

    def together(self, place: int) -> list[tuple[int, Landmark]]:
        """Return the other controls in the form, dialog or section of a node, in page order."""
        holder = self._holder(place)
        if holder is None:
            return []
        if holder not in self._controls:
            frame = self.nodes[holder].frame
            self._controls[holder] = [
                (each, self.landmark(each))
                for each in range(holder + 1, self.ends[holder])
                if self.nodes[each].frame == frame and _is_control(self.nodes[each])
            ]
        return [(each, landmark) for each, landmark in self._controls[holder] if each != place]

    def _holder(self, place: int) -> int | None:
        """Return the container of a node: the innermost of its ancestors that groups controls."""
        for roles in (FORM_ROLES, SECTION_ROLES):
            for each in self.around(place):
                if self.nodes[each].role in roles:
                    return each
        return None

    def landmark(self, place: int) -> Landmark:
        """Return the landmark of a node."""
        node = self.nodes[place]
        return Landmark(role=node.role, name=(node.name or " ".join(node.text.split()))[:LONGEST_NAME])

    def landmarks_in(self, part: int, place: int) -> Iterator[Landmark]:
        """Yield the landmarks with a name or text in a part, except those inside the node at `place`."""
        own = range(place, self.ends[place])
        for each in range(part + 1, self.ends[part]):
            node = self.nodes[each]
            if each not in own and node.frame == self.nodes[part].frame and (node.name or node.text):
                yield self.landmark(each)

    def is_only_one(self, place: int) -> bool:
        """Return whether a node is the only one of its role in its innermost named part."""
        named = self.within(place)
        return bool(named) and self._counts[named[0], self.nodes[place].role] == 1

    @cached_property
    def _counts(self) -> Counter[tuple[int, str]]:
        """The number of nodes by named part and role, within one document."""
        return Counter(
            (around, node.role)
            for place, node in enumerate(self.nodes)
            if node.ref is not None
            for around in self.within(place)
        )

    def describe(self, place: int) -> Target:
        """Return the description of a node. A dollar in a name is escaped."""
        node = self.nodes[place]
        like = [
            other
            for other, each in enumerate(self.nodes)
            if each.ref is not None
            and (each.role, each.name, each.frame) == (node.role, node.name, node.frame)
        ]
        item = self.item(place)
        within = tuple(self.landmark(each) for each in self.within(place)[:MOST_AROUND])
        nearest = sorted(self.together(place), key=lambda each: abs(each[0] - place))[:MOST_TOGETHER]
        return Target(
            role=node.role,
            name=escape(node.name[:LONGEST_NAME]),
            nth=like.index(place),
            alike=len(like),
            frames=self.frames.get(node.frame, ()),
            within=within,
            before=self.before(place),
            after=self.after(place),
            path=self.path(place),
            item=escape(item),
            together=tuple(dict.fromkeys(landmark for _, landmark in sorted(nearest, key=itemgetter(0)))),
            twins=sum(self._is_twin(each, within, item) for each in like),
        )

    def _is_twin(self, place: int, within: Sequence[Landmark], item: str) -> bool:
        """Return whether its surroundings cannot distinguish an equal element from the described one."""
        if item:
            return self.item(place) == item
        named = next((self.landmark(each) for each in self.within(place)), None)
        return named == (within[0] if within else None)


def _describe_frame(nodes: Sequence[SnapshotNode], place: int) -> FramePlace:
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


def _is_control(node: SnapshotNode) -> bool:
    """Return whether a node is a named control, as a person would list it for a form."""
    return (
        node.ref is not None and node.name != "" and node.role != "option" and node.role in INTERACTIVE_ROLES
    )


def _item_words(nodes: Sequence[SnapshotNode], item: int, places: Iterable[int]) -> str:
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
