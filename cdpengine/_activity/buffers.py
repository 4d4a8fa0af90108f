"""Buffer: the latest of what a page did, as a sequence with a bound.

Rule: exact to its bound: what is over it goes in the order in which it came, and is counted in `dropped`. A
bound on the size keeps a few huge items from filling memory.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Generic, TypeVar, overload

T = TypeVar("T")

LARGEST = 64 * 2**20
"""Bytes of the messages of the protocol that the items of one buffer came in, all together."""


class Buffer(Sequence[T], Generic[T]):
    """The latest items, oldest first; it goes on changing. `list(buffer)` is how it is at one moment.

    `bound` is how many are kept. `dropped` counts those that came since the last `clear` and made room for
    others.
    """

    def __init__(self, bound: int) -> None:
        self.bound = bound
        self.dropped = 0
        self._items: deque[tuple[T, int]] = deque()
        self._size = 0

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        """Return one item, or a list of several."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self._items))
            if step > 0:
                return [item for item, _ in islice(self._items, start, max(start, stop), step)]
            return [item for item, _ in self._items][index]
        return self._items[index][0]

    def __iter__(self) -> Iterator[T]:
        """Iterate over the items of now: what comes meanwhile does no harm."""
        return iter([item for item, _ in self._items])

    def __repr__(self) -> str:
        return (
            f"<{len(self)} kept, {self.dropped} dropped: {[item for item, _ in islice(self._items, 3)]}...>"
        )

    def add(self, item: T, size: int) -> None:
        """Take one more item; `size` is in bytes."""
        self._items.append((item, size))
        self._size += size
        while len(self._items) > self.bound or (self._size > LARGEST and len(self._items) > 1):
            self._drop()
            self.dropped += 1

    def rebound(self, bound: int) -> None:
        """Change how many are kept."""
        self.bound = bound
        while len(self._items) > bound:
            self._drop()
            self.dropped += 1

    def clear(self, keep: Callable[[T], bool] = lambda _item: False) -> None:
        """Forget all items but those that are to be kept, and begin to count anew."""
        items, self._items, self._size = self._items, deque(), 0
        self.dropped = 0
        for item, size in items:
            if keep(item):
                self._items.append((item, size))
                self._size += size

    def _drop(self) -> None:
        _item, size = self._items.popleft()
        self._size -= size
