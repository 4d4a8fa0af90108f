"""Waiting until a condition of a model holds (Notifier).

Rule: a condition is a plain function of the model's current state. It is evaluated at the start and after every
change, so the wait misses no change and does not poll. Its exceptions end the wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import trio

T = TypeVar("T")


class Notifier:
    """One model's notifier. The reader calls `notify`; any number of tasks wait.

    A change of a part (a page) is also a change of the whole (`outer`, all pages).
    """

    def __init__(self, outer: Notifier | None = None) -> None:
        self._outer = outer
        self._waiting = trio.lowlevel.ParkingLot()

    def notify(self) -> None:
        """Let every waiter evaluate its condition again."""
        self._waiting.unpark_all()
        if self._outer is not None:
            self._outer.notify()

    async def wait_for(self, condition: Callable[[], T | None]) -> T:
        """Wait for the condition's first value that is neither None nor False, and return it."""
        await trio.lowlevel.checkpoint()
        while True:
            value = condition()
            if value is not None and value is not False:
                return value
            await self._waiting.park()
