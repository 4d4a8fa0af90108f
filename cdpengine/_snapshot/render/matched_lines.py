"""Matching of the lines of two snapshots: each line's counterpart in the earlier text.

Rule: pure and about linear in the number of lines. Lines are matched by their refs, which never change hands, then
by content that occurs once, then by their matched neighbours. Moved lines are found as runs. The remaining lines
are paired if they begin alike.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence

import attrs

_REF = re.compile(
    r"[ \t]*(?:- '?[A-Za-z][A-Za-z0-9-]*(?: \"[^\"\\]*(?:\\.[^\"\\]*)*\")? \[ref=e([0-9]+)\]|\[([0-9]+)\] )"
)
_SHAPE = re.compile(r"[ \t]*[^\"':]*")

_SMALL_GAP = 400
"""Maximum number of pairs to compare in one gap, so that time stays linear."""

_LEAST_MOVED = 24
"""Minimum length of a moved line without a ref that is reported alone, in characters."""


def width_of(line: str) -> int:
    """Return the line's indentation, in characters."""
    return len(line) - len(line.lstrip(BLANK))


BLANK = " \t"


@attrs.frozen
class Shift:
    """A change of indentation by `by` characters (negative: fewer). Added characters are `fill`."""

    by: int
    fill: str

    @classmethod
    def between(cls, old: str, new: str) -> Shift:
        """Return the shift from the indentation of one line to the indentation of another."""
        return cls(width_of(new) - width_of(old), new[:1])

    def of(self, line: str) -> str:
        """Return the line with the shifted indentation."""
        return self.fill * self.by + line if self.by >= 0 else line[-self.by :]

    def fits(self, old: str, new: str) -> bool:
        """Return whether the shift turns the old line into the new one."""
        if self.by == 0:
            return old == new
        return self.of(old) == new and (self.by > 0 or not old[: -self.by].strip(BLANK))


def _ref(line: str) -> str | None:
    match = _REF.match(line)
    return None if match is None else match[1] or match[2]


def _key(line: str) -> Hashable:
    """Return the line's identity: its ref as a number, else its text."""
    ref = _ref(line)
    return line.lstrip(" \t") if ref is None else int(ref)


def match_lines(before: list[str], after: list[str]) -> tuple[list[int], dict[int, tuple[int, int]]]:
    """Return, for each line of `after`, its counterpart in `before`, or -1.

    The lines of `before` are in ascending order. The second result has the runs that moved: {line of `after`:
    (line of `before`, count)}.
    """
    matches = [-1] * len(after)
    keys_before = _Lazy(before, _key)
    keys_after = _Lazy(after, _key)
    # Later rounds find lines that occur once between two lines that are already matched.
    gaps = [(0, len(before), 0, len(after))]
    for _ in range(3):
        narrower: list[tuple[int, int, int, int]] = []
        for gap in gaps:
            narrower += _anchor(gap, before, after, keys_before, keys_after, matches)
        if narrower == gaps:
            break
        gaps = narrower
    moved = _find_moved(gaps, before, after, matches)
    gone = {start + step for start, count in moved.values() for step in range(count)}
    come = {start + step for start, (_, count) in moved.items() for step in range(count)}
    for before_from, before_to, after_from, after_to in gaps:
        left = [index for index in range(before_from, before_to) if index not in gone]
        right = [index for index in range(after_from, after_to) if index not in come]
        for old, new in _pair(left, right, before, after):
            matches[new] = old
    return matches, moved


class _Lazy:
    """The keys of lines, computed on demand."""

    def __init__(self, lines: list[str], key: Callable[[str], Hashable]) -> None:
        self._lines = lines
        self._key = key
        self._keys: list[Hashable] = [None] * len(lines)

    def __getitem__(self, index: int) -> Hashable:
        key = self._keys[index]
        if key is None:
            key = self._keys[index] = self._key(self._lines[index])
        return key


_SAME = Shift(0, "")


def _anchor(
    gap: tuple[int, int, int, int],
    before: list[str],
    after: list[str],
    keys_before: _Lazy,
    keys_after: _Lazy,
    matches: list[int],
) -> list[tuple[int, int, int, int]]:
    """Match equal lines at both ends of the gap, and lines that occur once. Return the remaining gaps."""
    low, high, start, end = gap
    while low < high and start < end and before[low] == after[start]:
        matches[start] = low
        low, start = low + 1, start + 1
    back = _count_opening(before, after, low, start, high, end, min(low - gap[0], start - gap[2]))
    low, start = low - back, start - back
    matches[start : start + back] = [-1] * back
    while low < high and start < end and before[high - 1] == after[end - 1]:
        high, end = high - 1, end - 1
        matches[end] = high
    if low == high and start == end:
        return []
    if low == high or start == end:
        return [(low, high, start, end)]
    once_before = _once(keys_before, low, high)
    once_after = _once(keys_after, start, end)
    pairs = [(once_before[key], index) for key, index in once_after.items() if key in once_before]
    gaps: list[tuple[int, int, int, int]] = []
    for old, new in [*_find_rising(pairs), (high, end)]:
        # Equal lines directly before and after a matched line match too.
        shift = Shift.between(before[old], after[new]) if new < end else _SAME
        back_old, back_new = old, new
        while back_old > low and back_new > start and shift.fits(before[back_old - 1], after[back_new - 1]):
            back_old, back_new = back_old - 1, back_new - 1
            matches[back_new] = back_old
        if back_old > low or back_new > start:
            gaps.append((low, back_old, start, back_new))
        if new < end:
            matches[new] = old
            low, start = old + 1, new + 1
            first = start
            while low < high and start < end and shift.fits(before[low], after[start]):
                if keys_after[start] in once_after and keys_before[low] in once_before:
                    break  # the line matches separately, or moved
                matches[start] = low
                low, start = low + 1, start + 1
            back = _count_opening(before, after, low, start, high, end, start - first)
            low, start = low - back, start - back
            matches[start : start + back] = [-1] * back
    return gaps


def _count_opening(
    before: list[str], after: list[str], low: int, start: int, high: int, end: int, most: int
) -> int:
    """Return the number of lines before a difference that are parents of the difference.

    If a row was inserted, the line that opens it often equals the line that opens the next row. Such lines are
    left for later matches to decide.
    """
    back = 0
    while (
        back < most
        and ((low < high and start < end) or back)
        and width_of(after[start - back]) > width_of(after[start - back - 1])
        and width_of(before[low - back]) > width_of(before[low - back - 1])
    ):
        back += 1
    return back


def _once(keys: _Lazy, low: int, high: int) -> dict[Hashable, int]:
    """Return the keys that occur once, with their places, in order."""
    found: dict[Hashable, int] = {}
    for index in range(low, high):
        key = keys[index]
        found[key] = index if key not in found else -1
    return {key: index for key, index in found.items() if index >= 0}


def _find_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return a longest subsequence of pairs, sorted by their second element, in which the first rises too."""
    ends: list[int] = []  # the least first element that can end a run of that length
    at: list[int] = []
    behind: list[int] = []
    for index, (old, _) in enumerate(pairs):
        length = bisect_left(ends, old)
        behind.append(at[length - 1] if length else -1)
        if length == len(ends):
            ends.append(old)
            at.append(index)
        else:
            ends[length] = old
            at[length] = index
    chosen: list[tuple[int, int]] = []
    index = at[-1] if at else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = behind[index]
    chosen.reverse()
    return chosen


def _find_moved(
    gaps: list[tuple[int, int, int, int]], before: list[str], after: list[str], matches: list[int]
) -> dict[int, tuple[int, int]]:
    """Find runs of lines that moved from one gap to another, with the same or another indentation."""
    left = {index for low, high, _, _ in gaps for index in range(low, high)}
    texts: dict[str, int] = {}
    for index in sorted(left):
        text = before[index].lstrip(" \t")
        texts[text] = index if text not in texts else -1
    moved: dict[int, tuple[int, int]] = {}
    for _, _, start, end in gaps:
        index = start
        free = start  # earlier lines of this gap are taken
        while index < end:
            old = texts.get(after[index].lstrip(" \t"), -1)
            if old not in left or matches[index] >= 0:
                index += 1
                continue
            shift = Shift.between(before[old], after[index])
            if not shift.fits(before[old], after[index]):
                index += 1
                continue
            first_old, first_new, after_new = old, index, index + 1
            while (
                first_new > free
                and first_old - 1 in left
                and shift.fits(before[first_old - 1], after[first_new - 1])
            ):
                first_old, first_new = first_old - 1, first_new - 1
            while after_new < end and old + 1 in left and shift.fits(before[old + 1], after[after_new]):
                old, after_new = old + 1, after_new + 1
            count = after_new - first_new
            if count > 1 or len(after[index]) >= _LEAST_MOVED or _ref(after[index]) is not None:
                moved[first_new] = (first_old, count)
                left.difference_update(range(first_old, first_old + count))
                free = after_new
            index = after_new
    return moved


def _pair(
    left: Sequence[int], right: Sequence[int], before: list[str], after: list[str]
) -> list[tuple[int, int]]:
    """Pair lines of one gap that begin alike: the same element with changed content."""
    if not left or not right:
        return []
    shapes_left = [_shape(before[index]) for index in left]
    shapes_right = [_shape(after[index]) for index in right]
    if len(left) * len(right) > _SMALL_GAP:
        if len(left) != len(right):
            return []
        return [
            (old, new)
            for old, new, one, other in zip(left, right, shapes_left, shapes_right, strict=True)
            if one == other
        ]
    # The longest common subsequence, by trying all pairs.
    rows, columns = len(left), len(right)
    best = [[0] * (columns + 1) for _ in range(rows + 1)]
    for row in range(rows - 1, -1, -1):
        for column in range(columns - 1, -1, -1):
            if shapes_left[row] == shapes_right[column]:
                best[row][column] = best[row + 1][column + 1] + 1
            else:
                best[row][column] = max(best[row + 1][column], best[row][column + 1])
    pairs: list[tuple[int, int]] = []
    row = column = 0
    while row < rows and column < columns:
        if shapes_left[row] == shapes_right[column]:
            pairs.append((left[row], right[column]))
            row, column = row + 1, column + 1
        elif best[row + 1][column] >= best[row][column + 1]:
            row += 1
        else:
            column += 1
    return pairs


def _shape(line: str) -> str:
    """Return the part of a line that paired lines share. Lines with different refs never share it."""
    ref = _ref(line)
    if ref is not None:
        return ref
    match = _SHAPE.match(line)
    return match[0] if match is not None else ""
