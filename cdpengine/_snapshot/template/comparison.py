"""The difference between a template and a snapshot that does not match it, for people. Pure.

Rule: each line of the template is listed once: unchanged where the snapshot has it, else with "-", followed by the
most similar line of the snapshot with "+". Lines that the template may leave out are not listed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from cdpengine._snapshot.template.lines import TEXT, LineTree
from cdpengine._snapshot.template.matching import Matching

_SIMILAR = 0.55
"""Minimum similarity, from 0 to 1, of a line that is shown as the nearest one."""

_MOST_COMPARED = 300
"""Maximum number of lines that are compared with one missing line."""

_LONGEST_COMPARED = 120

_MATCH = 10
"""Weight of a match with all lines inside. A line that matches alone weighs 2, one of the same role 1."""


def compare(template: LineTree, snapshot: LineTree) -> str:
    """Return the difference as a unified diff, or "" if the snapshot matches the template."""
    matching = Matching(template, snapshot)
    if matching.holds:
        return ""
    writer = _Writer(matching)
    writer.write_inside(-1, -1, 0)
    return "\n".join(["--- template", "+++ page", *writer.output])


class _Writer:
    """Writes the lines of a diff, from the outermost ones to the innermost."""

    def __init__(self, matching: Matching) -> None:
        self._matching = matching
        self._template, self._snapshot = matching.template, matching.snapshot
        self.output: list[str] = []

    def write_inside(self, index: int, at: int, depth: int) -> None:
        """Write the lines inside a line of the template, compared with those inside a line of the snapshot."""
        wanted = list(self._template.inside(index))
        children = self._template.children if index < 0 else self._template.lines[index].children
        if children == "contain":
            self._write_contained(wanted, at, depth)
        else:
            self._write_equal(wanted, list(self._snapshot.inside(at)), depth)

    # --- any lines may be between the matches --------------------------------------------------------------

    def _write_contained(self, wanted: Sequence[int], at: int, depth: int) -> None:
        start, end = self._range(at)
        for one, low, high in self._gaps(wanted, start, end):
            found = self._matching.places[one].first(low, high, self._snapshot)
            if found >= 0:
                self._write_lines(" ", one, depth)
                continue
            low = max(low, start)
            near = self._nearest(one, low, high)
            self._write_pair(one, near, depth)
            if near >= 0:
                start = self._snapshot.lines[near].end

    def _range(self, at: int) -> tuple[int, int]:
        return at + 1, len(self._snapshot.lines) if at < 0 else self._snapshot.lines[at].end

    def _gaps(self, wanted: Sequence[int], start: int, end: int) -> Iterator[tuple[int, int, int]]:
        """Yield each line with the range in which it can be: a match, or the gap between its neighbours."""
        lines = self._snapshot.lines
        found: list[int] = []
        low = start
        for one in wanted:
            found.append(self._matching.places[one].first(low, end, self._snapshot))
            low = lines[found[-1]].end if found[-1] >= 0 else low
        low = start
        for place, one in enumerate(wanted):
            if found[place] >= 0:
                yield one, found[place], lines[found[place]].end
                low = lines[found[place]].end
            else:
                later = [each for each in found[place + 1 :] if each >= 0]
                yield one, low, later[0] if later else end

    def _nearest(self, one: int, low: int, high: int) -> int:
        """Return the line in a range that matches a template's line best, or -1 if none is similar."""
        wanted = self._template.lines[one]
        lines = self._snapshot.lines
        same = [at for at in range(low, high) if wanted.matches(lines[at])]
        if same:
            return max(same[:_MOST_COMPARED], key=lambda at: (self._count_inside(one, at), -at))
        text = str(wanted)[:_LONGEST_COMPARED]
        matcher = SequenceMatcher(None, "", text, autojunk=False)
        best, similarity = -1, _SIMILAR
        alike = [at for at in range(low, high) if lines[at].role == wanted.role]
        for at in alike[:_MOST_COMPARED]:
            matcher.set_seq1(str(lines[at])[:_LONGEST_COMPARED])
            if (ratio := matcher.ratio()) > similarity:
                best, similarity = at, ratio
        return alike[0] if best < 0 and len(alike) == 1 else best

    def _count_inside(self, one: int, at: int) -> int:
        """Return the number of lines inside a template's line that also are inside a snapshot's line."""
        start, end = self._range(at)
        lines, wanted = self._snapshot.lines, self._template.lines
        return sum(
            any(wanted[each].matches(lines[other]) for other in range(start, end))
            for each in range(one + 1, wanted[one].end)
        )

    # --- exactly these lines ------------------------------------------------------------------------------

    def _write_equal(self, wanted: Sequence[int], actual: Sequence[int], depth: int) -> None:
        for one, at in self._pair(wanted, actual):
            if one >= 0 and at in self._matching.places[one].exact:
                self._write_lines(" ", one, depth)
            elif one >= 0:
                self._write_pair(one, at, depth)
            else:
                self._add("+", self._snapshot.with_text(at), depth)

    def _pair(self, wanted: Sequence[int], actual: Sequence[int]) -> list[tuple[int, int]]:
        """Return the pairs of lines with the most matches, in order; -1 for a missing partner."""
        rows, columns = len(wanted), len(actual)
        score = [[0] * (columns + 1) for _ in range(rows + 1)]
        for row in range(rows - 1, -1, -1):
            for column in range(columns - 1, -1, -1):
                together = self._likeness(wanted[row], actual[column])
                best = max(score[row + 1][column], score[row][column + 1])
                score[row][column] = max(best, score[row + 1][column + 1] + together if together else 0)
        pairs: list[tuple[int, int]] = []
        row = column = 0
        while row < rows and column < columns:
            together = self._likeness(wanted[row], actual[column])
            if together and score[row][column] == score[row + 1][column + 1] + together:
                pairs.append((wanted[row], actual[column]))
                row, column = row + 1, column + 1
            elif score[row][column] == score[row + 1][column]:
                pairs.append((wanted[row], -1))
                row += 1
            else:
                pairs.append((-1, actual[column]))
                column += 1
        pairs += [(one, -1) for one in wanted[row:]]
        pairs += [(-1, at) for at in actual[column:]]
        return pairs

    def _likeness(self, one: int, at: int) -> int:
        if at in self._matching.places[one].exact:
            return _MATCH
        wanted, there = self._template.lines[one], self._snapshot.lines[at]
        return 2 if wanted.matches(there) else int(wanted.role == there.role)

    # --- lines --------------------------------------------------------------------------------------------

    def _write_lines(self, mark: str, one: int, depth: int) -> None:
        """Write a template's line and the lines inside it."""
        line = self._template.lines[one]
        for own_depth, text in self._template.written(one, line.end):
            self._add(mark, text, depth + own_depth - line.depth)

    def _write_pair(self, one: int, at: int, depth: int) -> None:
        """Write a template's line without a match, and the nearest line of the snapshot (-1: none)."""
        if at < 0:
            self._write_lines("-", one, depth)
            return
        wanted, actual = self._template.lines[one], self._snapshot.lines[at]
        if self._template.has_only_text(one) and self._snapshot.has_only_text(at):
            self._add("-", self._template.with_text(one), depth)
            self._add("+", self._snapshot.with_text(at), depth)
            return
        if wanted.matches(actual):
            self._add(" ", str(wanted), depth)
        else:
            self._add("-", str(wanted), depth)
            self._add("+", str(actual), depth)
        if wanted.role != TEXT:
            self.write_inside(one, at, depth + 1)

    def _add(self, mark: str, text: str, depth: int) -> None:
        self.output.append(f"{mark} {'  ' * depth}{text}")
