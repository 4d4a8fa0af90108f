"""The kept items of one part of a page's activity (Kept)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import attrs

from cdpengine._history import Records
from cdpengine._protocol.streams import Event
from cdpengine.errors import InvalidStateError

R = TypeVar("R")


@attrs.define(eq=False)
class Kept(Generic[R]):
    """The kept items of a part of `page.activity`: the latest ones that arrived while the part was on."""

    part: str
    _on: bool = False
    _records: Records[R] | None = None

    def __iter__(self) -> Iterator[R]:
        """Iterate over a copy of the current items."""
        return iter(self._records or ())

    @property
    def records(self) -> Records[R]:
        """The kept items. Raises InvalidStateError if none were ever kept."""
        if self._records is None:
            raise InvalidStateError(
                f"read page.activity.{self.part}",
                "it is not collected. Call `await page.activity.start()` first, or open the page with "
                "`activity=True`",
            )
        return self._records

    @property
    def bound(self) -> int:
        """The maximum number of items; 0 if none were ever kept."""
        return 0 if self._records is None else self._records.bound

    def keep(self, bound: int) -> None:
        """Keep the latest `bound` items from now on. 0 keeps no further items."""
        self._on = bound > 0
        if self._records is not None and bound:
            self._records.set_bound(bound)
        elif bound:
            self._records = Records(bound)

    def add(self, item: R, event: Event) -> None:
        """Keep an item that `event` reported, if the part is on."""
        if self._on and self._records is not None:
            self._records.add(item, len(bytes(event.raw)))

    def mark(self) -> None:
        """Mark the present items as those of earlier documents."""
        if self._records is not None:
            self._records.mark()

    def clear(self, keep: Callable[[R], bool] = lambda _item: False) -> None:
        """Drop all items except those selected by `keep`, and reset the counter."""
        if self._records is not None:
            self._records.clear(keep)
