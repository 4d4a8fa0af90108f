"""The store of entries in a file that several processes share.

Rule: when a coroutine returns, its changes are on the disk and survive the end of the process. A cancelled
coroutine makes all of its changes or none: cancellation interrupts the pause between two attempts, but not
the write. Each owner sees only its entries. With a key, entries are encrypted. Without a key, the store
rejects entries with typed text.
"""

from __future__ import annotations

import difflib
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import attrs
import trio

from cdpengine._paths import to_path
from cdpengine._storage.encryption import Cipher
from cdpengine.cache.config import default_path
from cdpengine.cache.database import BusyError, Database, count_expired
from cdpengine.cache.encryption import check_key_bytes, find_cipher
from cdpengine.cache.entries import (
    CacheEntry,
    CacheKey,
    EntryStatistics,
    Excuse,
    Level,
    check_entry,
    check_key,
)
from cdpengine.cache.entry_json import Export, ImportReport, dump_entries, load_entries
from cdpengine.cache.entry_table import EntryTable, ScenarioSummary, StoreLimits
from cdpengine.cache.rows import RowCodec, statistics_of
from cdpengine.errors import CacheUnavailableError

LONGEST_BUSY = 15.0
"""Maximum time to wait for another process that writes, in seconds."""

_CLOSING = 10.0

_T = TypeVar("_T")


@attrs.frozen(kw_only=True)
class StoreStatistics:
    """Statistics of an owner's entries: their number (by level), size in bytes, expired entries, and runs."""

    entries: int
    levels: dict[str, int]
    bytes: int
    expired: int
    successes: int
    failures: int


class CacheStore:
    """An open store: see `CacheStore.open`."""

    def __init__(
        self,
        database: Database,
        cipher: Cipher | None,
        owner: str,
        limits: StoreLimits,
        now: Callable[[], float],
    ) -> None:
        """Use `open` instead."""
        self._database = database
        self._cipher = cipher
        self._owner = owner
        self._now = now
        self._table = EntryTable(owner, RowCodec(str(database.path), owner, cipher), limits, now)
        self._lock = trio.Lock()

    @property
    def path(self) -> Path:
        """The path of the file."""
        return self._database.path

    @property
    def encrypted(self) -> bool:
        """Whether new entries are encrypted."""
        return self._cipher is not None

    @property
    def damaged(self) -> Mapping[str, str]:
        """The ids of entries that were unreadable since the store was opened, with the reasons."""
        return dict(self._table.damaged)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: str | Path | None = None,
        *,
        owner: str = "",
        limits: StoreLimits | None = None,
        key: bytes | None = None,
        keyring: bool = True,
        now: Callable[[], float] = time.time,
    ) -> AsyncIterator[CacheStore]:
        """Open a store for the duration of the block; the file is created if it does not exist.

        path: the file; by default the user's file (`default_path`).
        owner: the owner of the entries; entries of other owners are invisible.
        limits: the limits of the store; by default `StoreLimits`.
        key: 32 bytes for encryption; by default CDPENGINE_CACHE_KEY, then the user's keyring.
        keyring: False does not use the keyring.
        now: the time, in seconds since 1970.

        Raises FileUnreadableError, CacheUnavailableError and PackageMissingError.
        """
        file = default_path() if path is None else to_path("path of the store", path)
        if key is not None:
            check_key_bytes(str(file), key)
        database = await _persist(lambda: Database(file), str(file), "open")
        try:
            cipher = await _persist(
                lambda: database.transact(
                    lambda connection: find_cipher(connection, str(file), key, keyring=keyring), "open"
                ),
                str(file),
                "open",
            )
            store = cls(database, cipher, owner, limits or StoreLimits(), now)
            try:
                yield store
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLOSING):
                    async with store._lock:
                        await trio.to_thread.run_sync(database.close)
        finally:
            database.close()

    async def put(
        self,
        entry: CacheEntry,
        *,
        based_on: int | None = None,
        replace_narrower: bool = False,
        takes_over: CacheKey | None = None,
    ) -> CacheEntry:
        """Store an entry; return the newest one of its key, with its version.

        If the key has an entry with other steps or another page, that becomes an older version, of which two
        are kept; the statistics of its runs continue. `based_on` is the version from which the entry was
        made: if another one was stored meanwhile, that stays the newest, and the entry becomes the version
        before it. `replace_narrower`: an entry of the same flow with fewer variables becomes an older version
        of this one. `takes_over`: the entry of this key expires, and the statistics of its runs move to this
        one.

        Raises InvalidArgumentError for an invalid entry, and CacheUnavailableError for one with typed text if
        there is no key.
        """
        check_entry(entry)
        return await self._write_with(
            lambda connection: self._table.put(
                connection,
                entry,
                based_on=based_on,
                replace_narrower=replace_narrower,
                takes_over=None if takes_over is None else takes_over.id,
            )[0]
        )

    async def get(self, key: CacheKey | str, *, expired: bool = False) -> CacheEntry | None:
        """Return the entry of a key or id; None if it does not exist or has expired.

        `expired`: include expired entries. Raises FileUnreadableError for an unreadable entry.
        """
        identity = _identity(key)
        found = await self._read_with(lambda connection: self._table.get(connection, identity))
        return found if found is not None and (expired or found.expires_at > self._now()) else None

    async def find(
        self,
        scenario: str | None,
        url: str,
        *,
        levels: Sequence[Level] | None = None,
        fewer_failures: int | None = None,
        limit: int | None = None,
    ) -> tuple[CacheEntry, ...]:
        """Return the entries for a URL that have not expired, the most exact address first.

        scenario: only entries of this scenario; None means all scenarios.
        levels: only entries of these levels. fewer_failures: only entries with fewer consecutive failures.
        limit: the maximum number.
        """
        return tuple(
            await self._read_with(
                lambda connection: self._table.find(
                    connection, url, scenario, levels=levels, fewer_failures=fewer_failures, limit=limit
                )
            )
        )

    async def find_from_anywhere(self, scenario: str) -> tuple[CacheEntry, ...]:
        """Return the latest used entries of a scenario that navigate to their page themselves, 20 at most."""
        return tuple(
            await self._read_with(lambda connection: self._table.find_from_anywhere(connection, scenario))
        )

    async def entries(
        self, scenario: str | None = None, *, limit: int | None = None, offset: int = 0
    ) -> tuple[CacheEntry, ...]:
        """Return entries of the owner or of a scenario, latest used first, including expired ones.

        `limit`: the maximum number, from `offset` on. An unreadable entry is skipped: see `damaged`.
        """
        return tuple(
            await self._read_with(
                lambda connection: self._table.read(connection, scenario, limit=limit, offset=offset)
            )
        )

    async def size(self, scenario: str | None = None) -> int:
        """Return the number of the owner's entries, or of a scenario's entries."""
        return await self._read_with(lambda connection: self._table.count(connection, scenario))

    async def scenarios(self, *, limit: int) -> tuple[ScenarioSummary, ...]:
        """Return summaries of the first scenarios, in alphabetical order."""
        return tuple(await self._read_with(lambda connection: self._table.summarize(connection, limit)))

    async def scenarios_like(self, name: str) -> tuple[str, ...]:
        """Return the names of scenarios that are similar to `name`, the most similar one first, 3 at most.

        Of a store with more than 50 scenarios, it compares only some: the time does not grow with the store.
        """
        names = await self._read_with(lambda connection: self._table.names_near(connection, name))
        return tuple(difflib.get_close_matches(name, names, n=3, cutoff=0.6))

    async def versions(self, key: CacheKey | str) -> tuple[CacheEntry, ...]:
        """Return the current entry of a key and its older versions, newest first."""
        identity = _identity(key)
        return tuple(await self._read_with(lambda connection: self._table.versions(connection, identity)))

    async def restore(self, key: CacheKey | str, version: int) -> CacheEntry | None:
        """Make an older version of an entry the current one, and return it, or None if it does not exist."""
        identity = _identity(key)
        return await self._write_with(lambda connection: self._table.restore(connection, identity, version))

    async def note_run(
        self,
        key: CacheKey,
        *,
        succeeded: bool,
        milliseconds: float,
        excuse: Excuse | None = None,
        figures: Mapping[str, float] = MappingProxyType({}),
    ) -> EntryStatistics | None:
        """Count a run of an entry; return its new statistics, or None if the entry does not exist.

        excuse: why a failed run does not count as a failure of the entry.
        figures: added to the owner's counters in the same transaction, even if the entry is gone.
        """

        def work(connection: sqlite3.Connection) -> EntryStatistics | None:
            self._add_figures(connection, figures)
            row = self._table.row(connection, key.id)
            if row is None:
                return None
            after = statistics_of(row).add_run(
                succeeded=succeeded, milliseconds=milliseconds, at=self._now(), excuse=excuse
            )
            self._table.set_statistics(connection, key.id, after)
            return after

        return await self._write_with(work)

    async def expire(self, key: CacheKey | str) -> bool:
        """Expire an entry; return whether it was valid until now. Its replacement is a new version."""
        statement = "UPDATE entries SET expires_at = ? WHERE owner = ? AND id = ? AND expires_at > ?"
        identity = _identity(key)

        def work(connection: sqlite3.Connection) -> int:
            now = self._now()
            return connection.execute(statement, (now, self._owner, identity, now)).rowcount

        return await self._write_with(work) > 0

    async def count(self, figures: Mapping[str, float]) -> None:
        """Add to the owner's counters, by name."""
        await self._write_with(lambda connection: self._add_figures(connection, figures))

    def _add_figures(self, connection: sqlite3.Connection, figures: Mapping[str, float]) -> None:
        rows = [(self._owner, name, figure) for name, figure in figures.items()]
        statement = """INSERT INTO counters VALUES (?, ?, ?)
            ON CONFLICT (owner, name) DO UPDATE SET figure = figure + excluded.figure"""
        connection.executemany(statement, rows)

    async def counters(self) -> dict[str, float]:
        """Return the owner's counters by name, as `count` has added them."""
        statement = "SELECT name, figure FROM counters WHERE owner = ? ORDER BY name"
        return await self._read_with(
            lambda connection: dict(connection.execute(statement, (self._owner,)).fetchall())
        )

    async def delete(self, key: CacheKey | str) -> bool:
        """Delete an entry with its versions, readable or not; return whether it existed."""
        identity = _identity(key)
        self._table.damaged.pop(identity, None)
        return await self._delete("id = ?", (identity,)) > 0

    async def clear(self, scenario: str | None = None) -> int:
        """Delete all entries of the owner, or of a scenario. Return their number."""
        return await (
            self._delete("1", ()) if scenario is None else self._delete("scenario = ?", (scenario,))
        )

    async def statistics(self) -> StoreStatistics:
        """Return the statistics of the owner's entries."""

        def work(connection: sqlite3.Connection) -> StoreStatistics:
            mine = (self._owner,)
            sums = connection.execute(
                "SELECT entries, bytes, successes, failures FROM totals WHERE owner = ? AND scenario = ''",
                mine,
            ).fetchone()
            entries, size, successes, failures = sums or (0, 0, 0, 0)
            levels = connection.execute("SELECT level, entries FROM levels WHERE owner = ?", mine).fetchall()
            return StoreStatistics(
                entries=entries,
                levels=dict(levels),
                bytes=size,
                expired=count_expired(connection, self._owner, self._now()),
                successes=successes,
                failures=failures,
            )

        return await self._read_with(work)

    async def export(self, *, typed: bool = False) -> Export:
        """Return the owner's entries as JSON. Entries with typed text are omitted without `typed`."""
        found = await self.entries()
        chosen = [entry for entry in found if typed or not entry.holds_typed_text]
        return Export(text=dump_entries(chosen), entries=len(chosen), left_out=len(found) - len(chosen))

    async def import_entries(self, text: str | bytes, *, replace: bool = False) -> ImportReport:
        """Store all entries of an export, or none; with `replace`, instead of existing ones.

        Raises InvalidArgumentError for invalid data, and the errors of `put`.
        """
        # The environment of an export belongs to another machine.
        loaded = [attrs.evolve(entry, environment=()) for entry in load_entries(text)]

        def work(connection: sqlite3.Connection) -> ImportReport:
            added = replaced = 0
            for entry in loaded:
                if not replace and self._table.row(connection, entry.key.id) is not None:
                    continue
                _, is_new = self._table.put(connection, entry)
                added += is_new
                replaced += not is_new
            return ImportReport(added=added, replaced=replaced, kept=len(loaded) - added - replaced)

        return await self._write_with(work)

    # --- in the file's thread --------------------------------------------------------------------------------

    async def _read_with(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await self._transact("read", work, writes=False)

    async def _write_with(self, work: Callable[[sqlite3.Connection], _T]) -> _T:
        return await self._transact("write to", work, writes=True)

    async def _transact(self, attempt: str, work: Callable[[sqlite3.Connection], _T], *, writes: bool) -> _T:
        async with self._lock:
            return await _persist(
                lambda: self._database.transact(work, attempt, writes=writes), str(self.path), attempt
            )

    async def _delete(self, where: str, values: tuple[object, ...]) -> int:
        statement = f"DELETE FROM entries WHERE owner = ? AND {where}"  # noqa: S608 - `where` is this module's own
        return await self._write_with(
            lambda connection: connection.execute(statement, (self._owner, *values)).rowcount
        )


def _identity(key: CacheKey | str) -> str:
    if isinstance(key, str):
        return key
    check_key(key)
    return key.id


async def _persist(work: Callable[[], _T], path: str, attempt: str) -> _T:
    """Run blocking work in a thread; repeat it while another process writes."""
    until = trio.current_time() + LONGEST_BUSY
    while True:
        try:
            return await trio.to_thread.run_sync(work)
        except BusyError:
            if trio.current_time() >= until:
                reason = f"another process writes to it, for more than {LONGEST_BUSY:g} s"
                raise CacheUnavailableError(path, attempt, reason) from None
        await trio.sleep(random.uniform(0.002, 0.03))
