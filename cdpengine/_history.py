"""The latest records, bounded in number and size. The engine adds to Records, and users read a BoundedHistory.

Rule: a history never exceeds its bounds. Surplus records are removed in order of arrival and counted in `dropped`.
A bound on the size keeps a few huge records from filling memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")
R = TypeVar("R")

DEFAULT_BOUND = 100

LARGEST = 64 * 2**20
"""Maximum total size of the protocol messages behind the records of a history, in bytes."""


class Records(Generic[R]):
    """The latest records, oldest first, for the code that adds them.

    `bound` is the maximum number of records. `dropped` counts the records removed since the last `clear`.
    """

    def __init__(self, bound: int = DEFAULT_BOUND) -> None:
        self.bound = bound
        self.dropped = 0
        self._records: deque[tuple[R, int]] = deque()
        self._size = 0
        self._marked = 0

    def __len__(self) -> int:
        return len(self._records)

    def __getitem__(self, index: int) -> R:
        return self._records[index][0]

    def mark(self) -> None:
        """Mark the present records as earlier ones."""
        self._marked = len(self._records)

    @property
    def since_mark(self) -> list[R]:
        """The records added since the latest `mark`."""
        return list(self)[self._marked :]

    def __iter__(self) -> Iterator[R]:
        """Iterate over a copy of the current records. Later changes do not affect the iteration."""
        return iter([record for record, _ in self._records])

    def add(self, record: R, size: int = 0) -> None:
        """Add a record; `size` is in bytes."""
        self._records.append((record, size))
        self._size += size
        while len(self._records) > self.bound or (self._size > LARGEST and len(self._records) > 1):
            self.drop_oldest()

    def set_bound(self, bound: int) -> None:
        """Change the maximum number of records."""
        self.bound = bound
        while len(self._records) > bound:
            self.drop_oldest()

    def clear(self, keep: Callable[[R], bool] = lambda _record: False) -> None:
        """Drop all records except those selected by `keep`, and reset the counter."""
        records, self._records, self._size = self._records, deque(), 0
        self.dropped = self._marked = 0
        for record, size in records:
            if keep(record):
                self._records.append((record, size))
                self._size += size

    def drop_oldest(self) -> None:
        """Drop the oldest record, and count it."""
        _record, size = self._records.popleft()
        self._size -= size
        self.dropped += 1
        self._marked = max(0, self._marked - 1)


class BoundedHistory(Sequence[T], Generic[T]):
    """A read-only sequence of the latest records, oldest first. It keeps changing; `list(history)` is a copy."""

    @overload
    def __init__(self, records: Records[T]) -> None: ...
    @overload
    def __init__(self, records: Records[R], shown: Callable[[R], T]) -> None: ...
    def __init__(self, records: Records[Any], shown: Callable[[Any], T] = lambda record: record) -> None:
        self._records = records
        self._shown = shown

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (list(self), self.bound, self.dropped)

    @property
    def bound(self) -> int:
        """The maximum number of records."""
        return self._records.bound

    @property
    def dropped(self) -> int:
        """The number of older records that were discarded."""
        return self._records.dropped

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        """Iterate over a copy of the current records. Later changes do not affect the iteration."""
        return map(self._shown, self._records)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        """Return one record, or a list of several."""
        if isinstance(index, slice):
            return list(map(self._shown, list(self._records)[index]))
        return self._shown(self._records[index])

    def __repr__(self) -> str:
        more = f", {self.dropped} dropped" if self.dropped else ""
        return f"<{len(self)} records{more}>"


def _restore(latest: list[T], bound: int, dropped: int) -> BoundedHistory[T]:
    """Return a history of these records. For pickling."""
    records: Records[T] = Records(bound)
    for record in latest:
        records.add(record)
    records.dropped = dropped
    return BoundedHistory(records)
