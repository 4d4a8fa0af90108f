"""The first turn of a side warms up: it does little of the same, the turns that count do it all.

Rule: for turns of seconds, where a whole one more for warming up would be wasted. Pure, but for counting its calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def few_first(turn: Callable[[int], Awaitable[T]], few: int, many: int) -> Callable[[], Awaitable[T]]:
    """Return a turn that does `few` of what `turn` does the first time, and `many` from then on."""
    counts = [few]

    def taken() -> Awaitable[T]:
        return turn(counts.pop() if counts else many)

    return taken
