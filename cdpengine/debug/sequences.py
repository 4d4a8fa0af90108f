"""The shortest way from one sequence to another, after Myers (1986). Pure.

Rule: time and memory grow with the differences, not with the product of the lengths; beyond `most` differences
the search is given up, and the caller is told so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

Step = tuple[Literal["same", "gone", "new"], int]
"""What became of an item: its index is that in the old sequence, of new ones that in the new sequence."""


def steps_between(old: Sequence[int], new: Sequence[int], *, most: int) -> list[Step] | None:
    """Return the steps that make `new` from `old`, None when more than `most` items differ."""
    head = 0
    while head < len(old) and head < len(new) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    middle = _myers(old[head : len(old) - tail], new[head : len(new) - tail], most)
    if middle is None:
        return None
    steps: list[Step] = [("same", index) for index in range(head)]
    steps += [(what, index + head) for what, index in middle]
    steps += [("same", index) for index in range(len(old) - tail, len(old))]
    return steps


def _myers(old: Sequence[int], new: Sequence[int], most: int) -> list[Step] | None:
    furthest = {1: 0}  # of each diagonal (x - y): how far along `old` one gets
    history: list[dict[int, int]] = []
    for differences in range(min(most, len(old) + len(new)) + 1):
        history.append(dict(furthest))
        for diagonal in range(-differences, differences + 1, 2):
            down = diagonal == -differences or (
                diagonal != differences and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
            )
            x = furthest[diagonal + 1] if down else furthest[diagonal - 1] + 1
            y = x - diagonal
            while x < len(old) and y < len(new) and old[x] == new[y]:
                x, y = x + 1, y + 1
            furthest[diagonal] = x
            if x >= len(old) and y >= len(new):
                return _walk_back(history, len(old), len(new))
    return None


def _walk_back(history: list[dict[int, int]], x: int, y: int) -> list[Step]:
    steps: list[Step] = []
    for differences in range(len(history) - 1, -1, -1):
        furthest = history[differences]
        diagonal = x - y
        down = diagonal == -differences or (
            diagonal != differences and furthest.get(diagonal - 1, -1) < furthest.get(diagonal + 1, -1)
        )
        came_from = diagonal + 1 if down else diagonal - 1
        old_x = furthest[came_from]
        old_y = old_x - came_from
        while x > old_x and y > old_y:
            x, y = x - 1, y - 1
            steps.append(("same", x))
        if differences:
            steps.append(("new", old_y) if down else ("gone", old_x))
            x, y = old_x, old_y
    steps.reverse()
    return steps
