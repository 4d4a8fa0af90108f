"""Records: the latest of something, and how many older ones were dropped. Pure.

Rule: bounded, and honest about it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")

KEPT = 100


class BoundedHistory(Sequence[T], Generic[T]):
    """A read-only sequence of the latest records, oldest first. `dropped`: how many older ones are gone."""

    def __init__(self, kept: int = KEPT) -> None:
        self.dropped = 0
        self._records: deque[T] = deque(maxlen=kept)

    def add(self, record: T) -> None:
        """Add one. For the engine."""
        if len(self._records) == self._records.maxlen:
            self.dropped += 1
        self._records.append(record)

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[T]:
        return iter(list(self._records))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return list(self._records)[index]
        return self._records[index]

    def __repr__(self) -> str:
        more = f", {self.dropped} dropped" if self.dropped else ""
        return f"<{len(self)} records{more}>"
