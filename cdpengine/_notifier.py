"""Notifier: waiting until a condition holds. Records and BoundedHistory: the latest items, to add and to read.

Rule: a condition is a plain function of the model's current state. It is evaluated at the start and after every
change, so the wait misses no change and does not poll. Its exceptions end the wait.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

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


DEFAULT_LIMIT = 100


class Records(Generic[T]):
    """The latest records, at most `limit`, and the number of `dropped` older ones."""

    def __init__(self, limit: int = DEFAULT_LIMIT) -> None:
        self.latest: deque[T] = deque(maxlen=limit)
        self.dropped = 0

    def add(self, record: T) -> None:
        """Add a record. The oldest one gives way to it."""
        if len(self.latest) == self.latest.maxlen:
            self.dropped += 1
        self.latest.append(record)


class BoundedHistory(Sequence[T], Generic[T]):
    """A read-only sequence of the latest records, oldest first."""

    def __init__(self, records: Records[T]) -> None:
        self._records = records

    @property
    def dropped(self) -> int:
        """The number of discarded older records."""
        return self._records.dropped

    def __len__(self) -> int:
        return len(self._records.latest)

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._records.latest))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return list(self._records.latest)[index]
        return self._records.latest[index]

    def __repr__(self) -> str:
        more = f", {self.dropped} dropped" if self.dropped else ""
        return f"<{len(self)} records{more}>"
