"""Changes: a way to wait until something holds, woken by every change.

Rule: a condition is a plain function of the model's present state. It is looked at once at the start and again
after every change, so nothing is missed and nothing is polled. What it raises ends the wait.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import trio

T = TypeVar("T")


class Notifier:
    """One model's notifier. `notify` is called by the reader; any number of tasks wait.

    A change of a part (a page) is a change of the whole (`outer`, all pages) too.
    """

    def __init__(self, outer: Notifier | None = None) -> None:
        self._outer = outer
        self._waiting = trio.lowlevel.ParkingLot()

    def notify(self) -> None:
        """Have every waiter look at its condition again."""
        self._waiting.unpark_all()
        if self._outer is not None:
            self._outer.notify()

    async def wait_for(self, condition: Callable[[], T | None]) -> T:
        """Return the condition's first value that is neither None nor False, waiting for it."""
        await trio.lowlevel.checkpoint()
        while True:
            value = condition()
            if value is not None and value is not False:
                return value
            await self._waiting.park()
