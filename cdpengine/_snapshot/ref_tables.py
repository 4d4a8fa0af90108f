"""The tables of refs of all pages.

Rule: all Page objects of one (browser, target) in one thread share a table, over whatever connection. The tables
are bounded in number and in sum. One that comes back goes on counting where it was: no ref means something else.
"""

from __future__ import annotations

import threading

from cdpengine._snapshot.refs import RefTable

_RETIRED_REMEMBERED = 10_000


class RefTables:
    """Tables by browser and target. `browser` is any text that tells browsers apart (`browser_key`)."""

    def __init__(self, *, max_targets: int = 50, max_refs: int = 200_000) -> None:
        self._max_targets = max_targets
        self._max_refs = max_refs
        self._tables: dict[tuple[str, str], RefTable] = {}  # ordered by use
        self._retired: dict[tuple[str, str], int] = {}  # the last numbers of tables that went
        self._highest_forgotten = 0

    def __len__(self) -> int:
        return len(self._tables)

    @property
    def refs(self) -> int:
        """How many refs there are in all."""
        return sum(map(len, self._tables.values()))

    def table(self, browser: str, target_id: str) -> RefTable:
        """Return the table of a target, which is used now. Ask each time: one that was kept may be retired."""
        key = (browser, target_id)
        table = self._tables.pop(key, None)
        if table is None:
            table = RefTable(last_number=self._retired.pop(key, self._highest_forgotten))
        self._tables[key] = table
        while len(self._tables) > self._max_targets:
            self._retire(next(iter(self._tables)))
        self._settle(table)
        return table

    def _settle(self, used: RefTable) -> None:
        excess = self.refs - self._max_refs
        for table in self._tables.values():
            if excess <= 0 or table is used:
                return
            held = len(table)
            table.shrink(held - excess, f"at most {self._max_refs} refs of all pages are kept")
            excess -= held - len(table)

    def _retire(self, key: tuple[str, str]) -> None:
        self._retired[key] = self._tables.pop(key).last_number
        if len(self._retired) > _RETIRED_REMEMBERED:
            forgotten = self._retired.pop(next(iter(self._retired)))
            self._highest_forgotten = max(self._highest_forgotten, forgotten)


class _OfThread(threading.local):
    def __init__(self) -> None:
        self.tables = RefTables()


_of_thread = _OfThread()


def ref_tables() -> RefTables:
    """Return the tables of this thread."""
    return _of_thread.tables
