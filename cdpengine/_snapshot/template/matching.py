"""Whether a snapshot has the lines of a template. Pure.

Rule: a template matches if removing lines from the snapshot gives the template. The lines inside a removed line
take its place. The order of the remaining lines is the same. In a line with `/children: equal`, no line between
its own and the matched ones may be removed.

The search is exact and takes time proportional to the product of the numbers of lines. For each line of the
template, from the last to the first, it finds all lines of the snapshot that match with everything inside them.
Of several candidates, it prefers the one that ends first, because that leaves the most lines for the next one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import attrs

from cdpengine._snapshot.template.lines import LineTree


@attrs.frozen(eq=False)
class Places:
    """The lines of a snapshot that match one line of a template, in order.

    `best` has for each of them the line with the smallest end among it and the later ones.
    """

    starts: Sequence[int]
    best: Sequence[int]
    exact: frozenset[int]

    def first(self, start: int, end: int, snapshot: LineTree) -> int:
        """Return the match from `start` on that ends first, or -1 if none ends by `end`."""
        at = bisect_left(self.starts, start)
        if at == len(self.starts):
            return -1
        found = self.best[at]
        return found if snapshot.lines[found].end <= end else -1


class Matching:
    """The places of all lines of a template in a snapshot."""

    def __init__(self, template: LineTree, snapshot: LineTree) -> None:
        self.template = template
        self.snapshot = snapshot
        self.places: list[Places] = [Places((), (), frozenset())] * len(template.lines)
        by_role: dict[str, list[int]] = {}
        for index, line in enumerate(snapshot.lines):
            by_role.setdefault(line.role, []).append(index)
        self._by_role = by_role
        for index in range(len(template.lines) - 1, -1, -1):
            self.places[index] = self._find_places(index)
        self.holds = self._has_inside(-1, -1)

    def _find_places(self, index: int) -> Places:
        wanted = self.template.lines[index]
        lines = self.snapshot.lines
        starts = [
            at
            for at in self._by_role.get(wanted.role, ())
            if wanted.matches(lines[at]) and self._has_inside(index, at)
        ]
        best = list(starts)
        for place in range(len(best) - 2, -1, -1):
            if lines[best[place + 1]].end <= lines[best[place]].end:
                best[place] = best[place + 1]
        return Places(starts, best, frozenset(starts))

    def _has_inside(self, index: int, at: int) -> bool:
        """Return whether the lines inside a template's line are inside a snapshot's line; -1: the whole."""
        children = self.template.children if index < 0 else self.template.lines[index].children
        wanted = self.template.inside(index)
        if children != "contain":
            inside, actual = list(wanted), list(self.snapshot.inside(at))
            return len(inside) == len(actual) and all(
                there in self.places[one].exact for one, there in zip(inside, actual, strict=True)
            )
        start = at + 1
        end = len(self.snapshot.lines) if at < 0 else self.snapshot.lines[at].end
        for one in wanted:
            found = self.places[one].first(start, end, self.snapshot)
            if found < 0:
                return False
            start = self.snapshot.lines[found].end
        return True
