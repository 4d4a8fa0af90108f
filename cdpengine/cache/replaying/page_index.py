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
from cdpengine.cache.targets import ITEM_ROLES, LONGEST_NAME, describe_frame, item_words

DIALOGS = frozenset({"dialog", "alertdialog"})


class PageIndex:
    """The nodes of one snapshot. Places are those in `Snapshot.nodes`."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.nodes: Sequence[SnapshotNode] = snapshot.nodes

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

    def dialog(self, place: int) -> int | None:
        """Return the dialog that a node is in, None where it is in none."""
        return next((each for each in self.around(place) if self.nodes[each].role in DIALOGS), None)

    def before(self, place: int) -> Landmark | None:
        """Return what stands before a node."""
        return self._beside(place, range(place - 1, -1, -1), set(self.around(place)))

    def after(self, place: int) -> Landmark | None:
        """Return what stands after a node."""
        return self._beside(place, range(self.ends[place], len(self.nodes)), set())

    def item(self, place: int) -> str:
        """Return what the item of a list or a table says that a node is in, without the node itself."""
        around = next((each for each in self.around(place) if self.nodes[each].role in ITEM_ROLES), None)
        if around is None:
            return ""
        own = range(place, self.ends[place])
        return item_words(
            self.nodes, (each for each in range(around + 1, self.ends[around]) if each not in own)
        )

    def landmark(self, place: int) -> Landmark:
        """Return what a node is, for a person."""
        node = self.nodes[place]
        return Landmark(role=node.role, name=(node.name or " ".join(node.text.split()))[:LONGEST_NAME])

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

    def _beside(self, place: int, places: range, passed: set[int]) -> Landmark | None:
        frame = self.nodes[place].frame
        for each in places:
            node = self.nodes[each]
            if node.frame == frame and each not in passed and (node.name or node.text):
                return self.landmark(each)
        return None
