"""A shortened first turn as warm-up.

Rule: for turns of seconds, for which a whole additional turn would be wasteful. Pure, except for counting its
calls.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def few_first(turn: Callable[[int], Awaitable[T]], few: int, many: int) -> Callable[[], Awaitable[T]]:
    """Return a turn that performs `few` units the first time, and `many` afterwards."""
    counts = [few]

    def taken() -> Awaitable[T]:
        return turn(counts.pop() if counts else many)

    return taken
