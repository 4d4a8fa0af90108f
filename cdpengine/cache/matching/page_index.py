"""An index of a snapshot's nodes for repeated queries about their positions. Pure.

Rule: the index describes a node like `describe_target`, so that the two descriptions are comparable. Building
the index takes one pass over the nodes, because a page can have thousands.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property

from cdpengine._snapshot.snapshot import Snapshot, SnapshotNode
from cdpengine.cache.entries import FramePlace, Landmark, PathStep
from cdpengine.cache.targets import (
    ITEM_ROLES,
    describe_frame,
    find_beside,
    find_holder,
    is_control,
    item_words,
    read_landmark,
)

DIALOGS = frozenset({"dialog", "alertdialog"})

OWN_PARTS = frozenset({"form", "search", "region", "navigation", "complementary", *DIALOGS})
"""Parts of a page that have their own purpose if they have a name: a login, a newsletter."""


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
                way = (*frames.get(node.frame, ()), describe_frame(self.nodes, place))
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
        return find_beside(self.nodes, place, range(place - 1, -1, -1), set(self.around(place)))

    def after(self, place: int) -> Landmark | None:
        """Return the landmark after a node."""
        return find_beside(self.nodes, place, range(self.ends[place], len(self.nodes)), set())

    def item(self, place: int) -> str:
        """Return the words of the list item or table row around a node, without the node itself."""
        around = next((each for each in self.around(place) if self.nodes[each].role in ITEM_ROLES), None)
        if around is None:
            return ""
        own = range(place, self.ends[place])
        inside = (each for each in range(around + 1, self.ends[around]) if each not in own)
        return item_words(self.nodes, around, inside)

    def together(self, place: int) -> frozenset[Landmark]:
        """Return the other controls in the form, dialog or section of a node."""
        holder = find_holder(self.nodes, list(self.around(place)))
        if holder is None:
            return frozenset()
        if holder not in self._controls:
            frame = self.nodes[holder].frame
            self._controls[holder] = [
                (each, self.landmark(each))
                for each in range(holder + 1, self.ends[holder])
                if self.nodes[each].frame == frame and is_control(self.nodes[each])
            ]
        return frozenset(landmark for each, landmark in self._controls[holder] if each != place)

    def landmark(self, place: int) -> Landmark:
        """Return the landmark of a node."""
        return read_landmark(self.nodes[place])

    def landmarks_in(self, part: int, place: int) -> Iterator[Landmark]:
        """Yield the landmarks with a name or text in a part, except those inside the node at `place`."""
        own = range(place, self.ends[place])
        for each in range(part + 1, self.ends[part]):
            node = self.nodes[each]
            if each not in own and node.frame == self.nodes[part].frame and (node.name or node.text):
                yield read_landmark(node)

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
