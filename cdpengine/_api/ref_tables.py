"""The ref tables of all pages of a thread, their limits, and the numbers that tables share.

Rule: all Page objects of one (browser, target) in one thread share a table, over any connection. An open page
keeps its table. The number of closed pages' tables is limited, and so is the total number of refs. If a table is
retired and created again, its numbering continues, so a ref never changes its meaning.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TypeAlias

import attrs

from cdpengine._page.page_target import PageTarget
from cdpengine._snapshot.ref import RefNumbers
from cdpengine._snapshot.refs import RefTable

_RETIRED_REMEMBERED = 10_000

_EACH_OPEN_PAGE = 4_000
"""Number of refs that every open page keeps in any case, for its latest snapshots."""


class RefTables:
    """Ref tables by browser and target. `browser` is any string that identifies a browser (`browser_key`).

    `max_targets` limits the tables of closed pages, and `max_refs` the total of refs. Each open page adds
    `_EACH_OPEN_PAGE` to that total.
    """

    def __init__(self, *, max_targets: int = 50, max_refs: int = 200_000) -> None:
        self._max_targets = max_targets
        self._max_refs = max_refs
        self._tables: dict[tuple[str, str], RefTable] = {}  # ordered by use
        self._retired: dict[tuple[str, str], int] = {}  # the last numbers of removed tables
        self._open: Counter[tuple[str, str]] = Counter()
        self._highest_forgotten = 0

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def refs(self) -> int:
        """The number of refs in all tables."""
        return sum(map(len, self._tables.values()))

    def table(self, browser: str, target_id: str, numbers: RefNumbers | None = None) -> RefTable:
        """Return the table of a target and mark it as used. Do not keep it: it may be retired later.

        `numbers` are the ref numbers that it shares with other tables.
        """
        key = (browser, target_id)
        table = self._tables.pop(key, None)
        if table is None:
            table = RefTable(last_number=self._retired.pop(key, self._highest_forgotten))
        if numbers is not None:
            table.share(numbers)
        self._tables[key] = table
        if len(self._tables) > self._max_targets + len(self._open):
            self._retire(next(other for other in self._tables if other not in self._open and other != key))
        self._settle(key)
        return table

    def acquire(self, browser: str, target_id: str) -> None:
        """Note that a page is open. Call `release` when it has ended."""
        self._open[browser, target_id] += 1

    def release(self, browser: str, target_id: str) -> None:
        """Note that a page, or the connection to it, has ended."""
        self._open[browser, target_id] -= 1
        self._open += Counter()  # without those at zero

    def note_lost(self, browser: str) -> None:
        """Note that a browser died. New tables continue its numbering, so old refs do not match new elements."""
        numbers = [table.last_number for (key, _), table in self._tables.items() if key == browser]
        self._highest_forgotten = max(self._highest_forgotten, *numbers, 0)

    def _settle(self, used: tuple[str, str]) -> None:
        excess = self.refs - self._max_refs - _EACH_OPEN_PAGE * len(self._open)
        for key, table in self._tables.items():
            if excess <= 0 or key == used:
                return
            count = len(table)
            keep = max(count - excess, _EACH_OPEN_PAGE if key in self._open else 0)
            table.shrink(keep, f"at most {self._max_refs} refs of all pages are kept")
            excess -= count - len(table)

    def _retire(self, key: tuple[str, str]) -> None:
        self._retired[key] = self._tables.pop(key).last_number
        if len(self._retired) > _RETIRED_REMEMBERED:
            forgotten = self._retired.pop(next(iter(self._retired)))
            self._highest_forgotten = max(self._highest_forgotten, forgotten)


Holds: TypeAlias = Callable[[PageTarget], bool]
"""The test whether a context has a page."""


@attrs.define(eq=False)
class SharedNumbers:
    """The numbers that the refs of several pages share: the pages of a context, or of the browser (None)."""

    _numbers: dict[Holds | None, RefNumbers] = attrs.field(factory=dict, init=False)

    def add(self, holds: Holds | None, numbers: RefNumbers) -> None:
        """Share the numbers between all pages for which `holds` is true, or between all others (None)."""
        self._numbers[holds] = numbers

    def drop(self, holds: Holds | None) -> None:
        """End the sharing of these pages."""
        self._numbers.pop(holds, None)

    def of(self, page: PageTarget) -> RefNumbers | None:
        """Return the numbers of a page, or None if it shares none."""
        for holds, numbers in self._numbers.items():
            if holds is not None and holds(page):
                return numbers
        return self._numbers.get(None)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.tables = RefTables()


_of_thread = _OfThread()


def ref_tables() -> RefTables:
    """Return the tables of the current thread."""
    return _of_thread.tables
