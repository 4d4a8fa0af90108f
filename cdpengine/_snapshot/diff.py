"""SnapshotDiff: the changes between two snapshots of a page, so that a model need not read the whole page again.

Rule: pure, exact and about linear in the number of lines. The previous text and the diff determine the current
text exactly. The first line summarizes the changes; then each line is one step through the previous text:

    @41 - main "Shop" [ref=e2]      skip to after line 41; for the reader: the parent of the change
    ~   - button "Buy" [ref=e4] …   the next line of the previous text has changed to this
    +   - text: "new"               a new line
    -5   - list "Offers" [ref=e9]   the next 5 lines are gone; this is the first of them (no number: 1)
    ^340,5   - row "B" [ref=e7]     insert 5 lines that moved here, unchanged, from line 340 on
    v5   - row "B" [ref=e7]         the next 5 lines have moved away
    >3     - row "C" [ref=e8]       the next 3 lines are unchanged except for this indentation
    n-1 - button "Buy"            from here on, [nth=...] of lines with this beginning decreases by 1

After the mark follow one space and the line. `matched_lines.py` describes the matching of lines.
"""

from __future__ import annotations

import re
import zlib

import attrs

from cdpengine._checks import invalid
from cdpengine._snapshot.render.matched_lines import BLANK, Shift, match_lines, width_of
from cdpengine._snapshot.text import shorten
from cdpengine.errors import InvalidArgumentError

_NTH = re.compile(
    r"([ \t]*)(- [A-Za-z][A-Za-z0-9-]*(?: \"[^\"\\]*(?:\\.[^\"\\]*)*\")?)"
    r"( \[ref=e[0-9]+\])(?: \[nth=([1-9][0-9]{0,8})\])?"
)

_LONGEST_CONTEXT = 120


@attrs.frozen(eq=False)
class SnapshotDiff:
    """The changes. `str()` returns the diff to read; `apply` computes the current text from the previous one.

    `added` and `removed` are lines, `changed` pairs of lines (before, now), `moved` lines that changed only their
    position or indentation.
    """

    text: str
    added: tuple[str, ...] = attrs.field(repr=False)
    removed: tuple[str, ...] = attrs.field(repr=False)
    changed: tuple[tuple[str, str], ...] = attrs.field(repr=False)
    moved: tuple[str, ...] = attrs.field(repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def lines(self) -> list[str]:
        """The lines of the current text that the diff shows."""
        return [*self.added, *(now for _, now in self.changed), *self.moved]

    def __bool__(self) -> bool:
        """Return whether anything changed."""
        return bool(self.added or self.removed or self.changed or self.moved)

    def apply(self, previous: str) -> str:
        """Return the current text.

        Raises InvalidArgumentError if `previous` is not the previous text of this diff.
        """
        return apply(previous, self.text)


def diff(previous: str, current: str) -> SnapshotDiff:
    """Compare two snapshots, given as text, of the same mode."""
    before, after = previous.split("\n"), current.split("\n")
    head = f"# diff of {len(before)} lines {_checksum(previous)} to {len(after)} lines {_checksum(current)}: "
    if before == after:
        return SnapshotDiff(head + "nothing changed", (), (), (), ())
    return _Writer(before, after, *match_lines(before, after)).diff(head)


def apply(previous: str, diff_text: str) -> str:
    """Return the current text.

    Raises InvalidArgumentError if `diff_text` is not a diff, or belongs to another previous text.
    """
    head, _, rest = diff_text.partition("\n")
    known = _HEAD.match(head)
    if known is None:
        raise invalid("diff", head, "the text of a SnapshotDiff")
    if known[1] != _checksum(previous):
        raise InvalidArgumentError(
            what="previous",
            given=f"a snapshot with the checksum {_checksum(previous)}",
            expected=f"the compared snapshot, {known[1]}",
        )
    before = previous.split("\n")
    after: list[str] = []
    position = 0
    shifts: dict[str, int] = {}
    try:
        for step in rest.split("\n") if rest else ():
            position = _step(step, before, after, position, shifts)
    except (ValueError, IndexError) as error:
        raise InvalidArgumentError(
            what="diff", given="a text that was changed", expected="the text as it was made"
        ) from error
    after += [_renumber(line, shifts) for line in before[position:]]
    current = "\n".join(after)
    if known[2] != _checksum(current):
        raise InvalidArgumentError(
            what="diff", given="a text that was changed", expected="the text as it was made"
        )
    return current


_HEAD = re.compile(r"# diff of [0-9]+ lines ([0-9a-f]{8}) to [0-9]+ lines ([0-9a-f]{8}): ")


def _step(step: str, before: list[str], after: list[str], position: int, shifts: dict[str, int]) -> int:
    mark, _, line = step.partition(" ")
    kind, number = mark[0], mark[1:]
    if kind == "@":
        target = int(number)
        if not position < target <= len(before):
            raise ValueError(target)
        after += [_renumber(line, shifts) for line in before[position:target]]
        return target
    if kind == "n":
        shifts[line] = int(number)
        return position
    if kind == "+":
        after.append(line)
        return position
    if kind == "~":
        after.append(line)
        return position + 1
    if kind in "-v":
        return position + int(number or 1)
    if kind == "^":
        start, _, count = number.partition(",")
        after += _reindented(before, int(start) - 1, int(count), line)
        return position
    if kind == ">":
        after += _reindented(before, position, int(number or 1), line)
        return position + int(number or 1)
    raise ValueError(kind)


def _reindented(before: list[str], start: int, count: int, first: str) -> list[str]:
    if not 0 <= start <= start + count <= len(before):
        raise ValueError(count)
    shift = Shift.between(before[start], first)
    return [shift.of(line) for line in before[start : start + count]]


def _renumber(line: str, shifts: dict[str, int]) -> str:
    """Return the line with its nth changed by the entry of `shifts` for its beginning; nth=0 is not shown."""
    match = _NTH.match(line) if shifts else None
    if match is None or not shifts.get(match[2]):
        return line
    nth = int(match[4] or 0) + shifts[match[2]]
    return match[1] + match[2] + match[3] + (f" [nth={nth}]" if nth else "") + line[match.end() :]


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"


class _Writer:
    """Writes the steps of a diff from the matched lines of two snapshots."""

    def __init__(
        self, before: list[str], after: list[str], matches: list[int], moved: dict[int, tuple[int, int]]
    ) -> None:
        self._before = before
        self._after = after
        self._matches = matches
        self._moved = moved
        self._moved_away = dict(moved.values())
        self._steps: list[str] = []
        self._shifts: dict[str, int] = {}
        self._reader_line = 0  # position of the reader of the steps, as a line of `before`
        self._parents = (_Parents(before), _Parents(after))
        self._lists: tuple[list[str], list[str], list[tuple[str, str]], list[str]] = ([], [], [], [])

    def diff(self, head: str) -> SnapshotDiff:
        before, after, matches = self._before, self._after, self._matches
        added, removed, changed, moved = self._lists
        following = self._find_following()
        old = new = 0
        while new < len(after):
            match = matches[new]
            if old < following[new]:
                self._drop(old, following[new])
                old = following[new]
            if match < 0:
                run = self._moved.get(new)
                if run is None:
                    self._step("+", after[new], old, self._parents[1], new)
                    added.append(after[new])
                    new += 1
                else:
                    self._step(f"^{run[0] + 1},{run[1]}", after[new], old, self._parents[1], new)
                    moved += after[new : new + run[1]]
                    new += run[1]
            elif self._is_unchanged(old, new):
                old, new = old + 1, new + 1
            else:
                count = self._reindented(old, new)
                if count:
                    self._step(f">{count if count > 1 else ''}", after[new], old, self._parents[1], new)
                    moved += after[new : new + count]
                else:
                    count = 1
                    self._step("~", after[new], old, self._parents[1], new)
                    changed.append((before[old], after[new]))
                old, new = old + count, new + count
                self._reader_line = old
        self._drop(old, len(before))
        numbers = (len(added), len(removed), len(changed), len(moved))
        words = ("added", "removed", "changed", "moved")
        counts = [f"{number} {word}" for number, word in zip(numbers, words, strict=True) if number]
        text = "\n".join([head + ", ".join(counts), *self._steps])
        return SnapshotDiff(text, tuple(added), tuple(removed), tuple(changed), tuple(moved))

    def _find_following(self) -> list[int]:
        """Return for each line of `after` the `before` position of the first match at or after it."""
        following = [0] * len(self._after)
        where = len(self._before)
        for index in range(len(self._after) - 1, -1, -1):
            if self._matches[index] >= 0:
                where = self._matches[index]
            following[index] = where
        return following

    def _is_unchanged(self, old: int, new: int) -> bool:
        """Return whether at most the line's nth changed. A new shift of nth is one step for all lines like it."""
        one, other = self._before[old], self._after[new]
        if _renumber(one, self._shifts) == other:
            return True
        then, now = _NTH.match(one), _NTH.match(other)
        if then is None or now is None or then.group(1, 2, 3) != now.group(1, 2, 3):
            return False
        shift = int(now[4] or 0) - int(then[4] or 0)
        if _renumber(one, {then[2]: shift}) != other:
            return False
        self._step(f"n{shift:+d}", then[2], old, self._parents[1], new)
        self._shifts[then[2]] = shift
        return True

    def _reindented(self, old: int, new: int) -> int:
        """Return the number of lines from here on that differ only by one change of indentation."""
        shift = Shift.between(self._before[old], self._after[new])
        count = 0
        while (
            new + count < len(self._after)
            and self._matches[new + count] == old + count
            and self._before[old + count] != self._after[new + count]
            and shift.fits(self._before[old + count], self._after[new + count])
        ):
            count += 1
        return count

    def _drop(self, start: int, end: int) -> None:
        while start < end:
            count = self._moved_away.get(start, 0)
            mark = "v"
            if not count:
                mark, count = "-", 1
                width = width_of(self._before[start])
                while (
                    start + count < end
                    and start + count not in self._moved_away
                    and width_of(self._before[start + count]) > width
                ):
                    count += 1
                self._lists[1].extend(self._before[start : start + count])
            self._step(
                f"{mark}{count if count > 1 else ''}", self._before[start], start, self._parents[0], start
            )
            start += count
            self._reader_line = start

    def _step(self, mark: str, line: str, old: int, parents: _Parents, index: int) -> None:
        if self._reader_line != old:
            parent = parents.of(index)
            self._steps.append(f"@{old} {shorten(parent.strip(BLANK), _LONGEST_CONTEXT)}".rstrip(" "))
            self._reader_line = old
        self._steps.append(f"{mark} {line}")


class _Parents:
    """The nearest less indented line above each line. Computed for all lines on first use."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._parents: list[int] | None = None

    def of(self, index: int) -> str:
        if self._parents is None:
            self._parents = []
            path: list[tuple[int, int]] = []
            for each, line in enumerate(self._lines):
                width = width_of(line)
                while path and path[-1][1] >= width:
                    path.pop()
                self._parents.append(path[-1][0] if path else -1)
                path.append((each, width))
        parent = self._parents[index]
        return self._lines[parent] if parent >= 0 else ""
