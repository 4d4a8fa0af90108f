"""Expectations: what comes of a block that makes something happen: a popup, a dialog, a download.

Rule: whoever expects has subscribed before the block acts, so what happens in it is never missed. An exception of
the block leaves as itself; what has not come by the deadline is told, with what was seen instead.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine.errors import InvalidArgumentError

T = TypeVar("T")


@attrs.define(eq=False)
class Expected(Generic[T]):
    """What an `expect_...` block gives. `value` is there once the block has ended."""

    what: str
    _values: list[T] = attrs.field(factory=list, init=False, repr=False)

    @property
    def value(self) -> T:
        """What came. Raises InvalidArgumentError when it is asked for before the block has ended."""
        if not self._values:
            raise InvalidArgumentError(
                what="expected.value", given=f"asked for before {self.what} came", expected="after the block"
            )
        return self._values[0]

    def take(self, value: T) -> None:
        """Note what came."""
        self._values[:] = [value]


async def arrive(
    expected: Expected[T], budget: Budget, wait: Callable[[], Awaitable[T]], seen: Callable[[], str]
) -> None:
    """Wait until what is expected has come, and note it. Raises DeadlineExceededError, which says what was seen.

    Where the block took all the time, what came in it still counts.
    """
    with trio.CancelScope(deadline=max(budget.deadline, trio.current_time() + _GRACE)) as scope:
        expected.take(await wait())
    if scope.cancelled_caught:
        budget.step(f"{expected.what} did not come; {seen()}")
        raise budget.exceeded()


_GRACE = 0.08
"""Seconds that what came in the block gets to be ready, at least."""
