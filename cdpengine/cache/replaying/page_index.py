"""PageIndex: the nodes of a snapshot, made ready for many questions about where each of them is. Pure.

Rule: what it says of a node is what `describe_target` wrote of it, so the two can be compared. Going through all
nodes once is all that it takes: a page may have thousands of them.
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
"""Parts of a page that are, where they have a name, for something of their own: a login, a newsletter."""


class PageIndex:
    """The nodes of one snapshot. Places are those in `Snapshot.nodes`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.nodes: Sequence[SnapshotNode] = snapshot.nodes
        self._controls: dict[int, list[tuple[int, Landmark]]] = {}

    @cached_property
    def ends(self) -> list[int]:
        """Of each node, the place behind the last one in it."""
        ends = list(range(1, len(self.nodes) + 1))
        for place in range(len(self.nodes) - 1, -1, -1):
            parent = self.nodes[place].parent
            if parent is not None:
                ends[parent] = max(ends[parent], ends[place])
        return ends

    @cached_property
    def steps(self) -> list[PathStep]:
        """Of each node, its step in the path: its role, and which of that role it is below its parent."""
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
        """The way to each frame, outermost first; () is that of the page's own document.

        A frame that shows nothing has no id in a snapshot: its way stands under its element's place.
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
        """Yield the nodes around one in its own document, innermost first."""
        node = self.nodes[place]
        parent = node.parent
        while parent is not None and self.nodes[parent].frame == node.frame:
            yield parent
            parent = self.nodes[parent].parent

    def path(self, place: int) -> tuple[PathStep, ...]:
        """Return the way to a node through its document, outermost first."""
        return tuple(self.steps[each] for each in [*list(self.around(place))[::-1], place])

    def within(self, place: int) -> list[int]:
        """Return the named parts around a node, innermost first."""
        return [each for each in self.around(place) if self.nodes[each].name]

    def part(self, place: int) -> int | None:
        """Return the innermost part of the page (`OWN_PARTS`) around a node that has a name, None without one."""
        return next((each for each in self.within(place) if self.nodes[each].role in OWN_PARTS), None)

    def dialog(self, place: int) -> int | None:
        """Return the dialog that a node is in, None where it is in none."""
        return next((each for each in self.around(place) if self.nodes[each].role in DIALOGS), None)

    def before(self, place: int) -> Landmark | None:
        """Return what stands before a node."""
        return find_beside(self.nodes, place, range(place - 1, -1, -1), set(self.around(place)))

    def after(self, place: int) -> Landmark | None:
        """Return what stands after a node."""
        return find_beside(self.nodes, place, range(self.ends[place], len(self.nodes)), set())

    def item(self, place: int) -> str:
        """Return what the item of a list or a table says that a node is in, without the node itself."""
        around = next((each for each in self.around(place) if self.nodes[each].role in ITEM_ROLES), None)
        if around is None:
            return ""
        own = range(place, self.ends[place])
        inside = (each for each in range(around + 1, self.ends[around]) if each not in own)
        return item_words(self.nodes, around, inside)

    def together(self, place: int) -> frozenset[Landmark]:
        """Return the other controls of the form, the dialog or the section that a node is in."""
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
        """Return what a node is, for a person."""
        return read_landmark(self.nodes[place])

    def landmarks_in(self, part: int, place: int) -> Iterator[Landmark]:
        """Yield what is in a part and says something, but for what is in the node at `place`."""
        own = range(place, self.ends[place])
        for each in range(part + 1, self.ends[part]):
            node = self.nodes[each]
            if each not in own and node.frame == self.nodes[part].frame and (node.name or node.text):
                yield read_landmark(node)

    def is_only_one(self, place: int) -> bool:
        """Say whether a node is the only one of its role in the innermost named part around it."""
        named = self.within(place)
        return bool(named) and self._counts[named[0], self.nodes[place].role] == 1

    @cached_property
    def _counts(self) -> Counter[tuple[int, str]]:
        """How many nodes of a role there are in each named part, of its own document."""
        return Counter(
            (around, node.role)
            for place, node in enumerate(self.nodes)
            if node.ref is not None
            for around in self.within(place)
        )
