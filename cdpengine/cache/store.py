"""The store: entries in a file that many processes share, found again, counted, limited, exported and imported.

Rule: what a coroutine has returned is on the disk, and stays there whatever happens to the process. One that was
cancelled did all of its work or none: while the file is written nothing is interrupted, and between two attempts
everything can be. An owner sees its own entries only. Entries are sealed where there is a key; without one, an
entry that holds typed text is refused.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import attrs
import trio

from cdpengine import _json
from cdpengine._paths import to_path
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.config import default_path
from cdpengine.cache.database import BusyError, Database
from cdpengine.cache.encryption import Cipher, check_key_bytes, find_cipher, missing_key
from cdpengine.cache.entries import (
    VERSIONS_KEPT,
    CacheEntry,
    CacheKey,
    EntryStatistics,
    check_entry,
    check_key,
)
from cdpengine.cache.entry_json import (
    Export,
    ImportReport,
    dump_entries,
    entry_to_json,
    load_entries,
    parse_entry,
)
from cdpengine.errors import (
    CacheDamagedError,
    CacheUnavailableError,
    InvalidArgumentError,
)

LONGEST_BUSY = 15.0
"""How long another process may write before it is an error, in seconds."""

_CLOSING = 10.0

_T = TypeVar("_T")

_Row = tuple[str, int, bytes, int, float, int, int, float, int, float]
"""What `_COLUMNS` are."""

_COLUMNS = "id, version, body, sealed, used_at, successes, failures, total_ms, failed_in_row, expires_at"


@attrs.frozen(kw_only=True)
class StoreLimits:
    """What a store keeps at most; what was used least recently goes first.

    Entries and bytes of all owners together, and the seconds after which what was not used goes.
    """

    entries: int = 5_000
    bytes: int = 64 * 2**20
    unused: float = 90 * 86_400.0


@attrs.frozen(kw_only=True)
class StoreStatistics:
    """What an owner's entries come to: how many, by level, their bytes, how many expired, and their runs."""

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
        """Not to be called: `open` does."""
        self._database = database
        self._cipher = cipher
        self._owner = owner
        self._limits = limits
        self._now = now
        self._lock = trio.Lock()

    @property
    def path(self) -> Path:
        """Where the file is."""
        return self._database.path

    @property
    def encrypted(self) -> bool:
        """Whether what is put is encrypted."""
        return self._cipher is not None

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: str | Path | None = None,
        *,
        owner: str = "",
        limits: StoreLimits = StoreLimits(),
        key: bytes | None = None,
        keyring: bool = True,
        now: Callable[[], float] = time.time,
    ) -> AsyncIterator[CacheStore]:
        """Open a store for the length of the block; the file is made where there is none.

        path: the file; without, that of the user (`default_path`).
        owner: whose entries are seen; entries of other owners are not there.
        limits: what is kept at most.
        key: 32 bytes to encrypt with; without, CDPENGINE_CACHE_KEY, and then the user's keyring.
        keyring: False asks no keyring.
        now: the time, in seconds since 1970.

        Raises CacheDamagedError, CacheKeyError, CacheUnavailableError and PackageMissingError.
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
            store = cls(database, cipher, owner, limits, now)
            try:
                yield store
            finally:
                with trio.CancelScope(shield=True, deadline=trio.current_time() + _CLOSING):
                    async with store._lock:
                        await trio.to_thread.run_sync(database.close)
        finally:
            database.close()

    async def put(self, entry: CacheEntry) -> CacheEntry:
        """Keep an entry; return it as it is kept, with its version.

        Where there is one of that key with other steps, it becomes an older version, of which two are kept. Raises
        InvalidArgumentError for an entry that cannot be kept, and CacheKeyError for one that holds typed text
        where there is no key.
        """
        check_entry(entry)
        return await self._write_with(lambda connection: self._put(connection, entry)[0])

    async def get(self, key: CacheKey) -> CacheEntry | None:
        """Return the entry of a key; None where there is none, or it has expired."""
        check_key(key)
        found = await self._read_with(lambda connection: self._read(connection, "id = ?", (key.id,)))
        return next((entry for entry in found if entry.expires_at > self._now()), None)

    async def find(self, scenario: str, url: str) -> tuple[CacheEntry, ...]:
        """Return the entries of a scenario for a URL that have not expired, the most exact address first."""

        def work(connection: sqlite3.Connection) -> list[CacheEntry]:
            rows = connection.execute(
                "SELECT id, address FROM entries WHERE owner = ? AND scenario = ? AND expires_at > ?",
                (self._owner, scenario, self._now()),
            ).fetchall()
            wanted = [identity for identity, address in rows if _may_be_for(address, url)]
            return [entry for each in wanted for entry in self._read(connection, "id = ?", (each,))]

        found = [each for each in await self._read_with(work) if each.key.pattern.matches(url)]
        found.sort(key=lambda each: (each.key.pattern.is_exact, each.key.pattern.weight), reverse=True)
        return tuple(found)

    async def entries(self) -> tuple[CacheEntry, ...]:
        """Return all entries of the owner, those that have expired included, the latest used first."""
        return tuple(await self._read_with(lambda connection: self._read(connection, "1", ())))

    async def versions(self, key: CacheKey) -> tuple[CacheEntry, ...]:
        """Return the current entry of a key and its older versions, the newest first."""

        def work(connection: sqlite3.Connection) -> list[CacheEntry]:
            older = connection.execute(
                "SELECT version, body, sealed FROM versions WHERE owner = ? AND id = ? ORDER BY version DESC",
                (self._owner, key.id),
            ).fetchall()
            current = self._read(connection, "id = ?", (key.id,))
            return current + [self._decode(key.id, *row) for row in older]

        return tuple(await self._read_with(work))

    async def note_run(
        self, key: CacheKey, *, succeeded: bool, milliseconds: float
    ) -> EntryStatistics | None:
        """Count a run of an entry; return its statistics then, None where there is no such entry."""

        def work(connection: sqlite3.Connection) -> EntryStatistics | None:
            row = self._row(connection, key.id)
            if row is None:
                return None
            after = _statistics(*row[4:9]).add_run(
                succeeded=succeeded, milliseconds=milliseconds, at=self._now()
            )
            connection.execute(
                """UPDATE entries SET used_at = ?, successes = ?, failures = ?, total_ms = ?, failed_in_row = ?
                WHERE owner = ? AND id = ?""",
                (after.last_used_at, *_counts(after), self._owner, key.id),
            )
            return after

        return await self._write_with(work)

    async def expire(self, key: CacheKey) -> bool:
        """Have an entry no longer be found; say whether it would have been. What replaces it is a new version."""
        statement = "UPDATE entries SET expires_at = ? WHERE owner = ? AND id = ? AND expires_at > ?"

        def work(connection: sqlite3.Connection) -> int:
            now = self._now()
            return connection.execute(statement, (now, self._owner, key.id, now)).rowcount

        return await self._write_with(work) > 0

    async def count(self, figures: Mapping[str, float]) -> None:
        """Add to the owner's counters, by name."""
        rows = [(self._owner, name, figure) for name, figure in figures.items()]
        statement = """INSERT INTO counters VALUES (?, ?, ?)
            ON CONFLICT (owner, name) DO UPDATE SET figure = figure + excluded.figure"""
        await self._write_with(lambda connection: connection.executemany(statement, rows))

    async def counters(self) -> dict[str, float]:
        """Return the owner's counters, by name: what `count` added."""
        statement = "SELECT name, figure FROM counters WHERE owner = ? ORDER BY name"
        return await self._read_with(
            lambda connection: dict(connection.execute(statement, (self._owner,)).fetchall())
        )

    async def delete(self, key: CacheKey) -> bool:
        """Delete an entry with its versions, readable or not; say whether there was one."""
        return await self._delete("id = ?", (key.id,)) > 0

    async def clear(self, scenario: str | None = None) -> int:
        """Delete all entries of the owner, or those of a scenario; return how many there were."""
        return await (
            self._delete("1", ()) if scenario is None else self._delete("scenario = ?", (scenario,))
        )

    async def statistics(self) -> StoreStatistics:
        """Return what the owner's entries come to."""

        def work(connection: sqlite3.Connection) -> list[tuple[str, int, float, int, int]]:
            return connection.execute(
                "SELECT level, LENGTH(body), expires_at, successes, failures FROM entries WHERE owner = ?",
                (self._owner,),
            ).fetchall()

        rows = await self._read_with(work)
        return StoreStatistics(
            entries=len(rows),
            levels={
                level: sum(row[0] == level for row in rows) for level in sorted({row[0] for row in rows})
            },
            bytes=sum(row[1] for row in rows),
            expired=sum(row[2] <= self._now() for row in rows),
            successes=sum(row[3] for row in rows),
            failures=sum(row[4] for row in rows),
        )

    async def export(self, *, typed: bool = False) -> Export:
        """Return the owner's entries as JSON. Those that hold typed text are left out without `typed`."""
        found = await self.entries()
        chosen = [entry for entry in found if typed or not entry.holds_typed_text]
        return Export(text=dump_entries(chosen), entries=len(chosen), left_out=len(found) - len(chosen))

    async def import_entries(self, text: str | bytes, *, replace: bool = False) -> ImportReport:
        """Put all entries of an export, or none; with `replace` in place of those that are there.

        Raises InvalidArgumentError for data that are not an export, and what `put` raises.
        """
        given = load_entries(text)

        def work(connection: sqlite3.Connection) -> ImportReport:
            added = replaced = 0
            for entry in given:
                if not replace and self._row(connection, entry.key.id) is not None:
                    continue
                _, is_new = self._put(connection, entry)
                added += is_new
                replaced += not is_new
            return ImportReport(added=added, replaced=replaced, kept=len(given) - added - replaced)

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

    def _put(self, connection: sqlite3.Connection, entry: CacheEntry) -> tuple[CacheEntry, bool]:
        """Keep an entry; return it as it is kept, and whether there was none of its key."""
        now = self._now()
        if self._cipher is None and entry.holds_typed_text:
            raise missing_key(str(self.path))
        row = self._row(connection, entry.key.id)
        version, statistics = 1, entry.statistics
        if row is not None:
            version, statistics = row[1], _statistics(*row[4:9])
            if (before := self._readable(row)) is None or before.steps != entry.steps:
                if before is not None:
                    connection.execute(
                        "INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (self._owner, entry.key.id, *row[1:4])
                    )
                version, statistics = version + 1, EntryStatistics()
        kept = attrs.evolve(entry, version=version, statistics=statistics)
        body, sealed = self._encode(kept)
        if len(body) > self._limits.bytes:
            raise InvalidArgumentError("entry", f"{len(body)} bytes", f"at most {self._limits.bytes}")
        values = (
            self._owner, entry.key.id, version, entry.key.scenario, entry.key.address, entry.level, body, sealed,
            entry.expires_at, max(now, statistics.last_used_at), *_counts(statistics),
        )  # fmt: skip
        connection.execute(
            """INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (owner, id) DO UPDATE SET version = excluded.version,
            level = excluded.level, body = excluded.body, sealed = excluded.sealed,
            expires_at = excluded.expires_at, used_at = excluded.used_at, successes = excluded.successes,
            failures = excluded.failures, total_ms = excluded.total_ms, failed_in_row = excluded.failed_in_row""",
            values,
        )
        connection.execute(
            "DELETE FROM versions WHERE owner = ? AND id = ? AND version <= ?",
            (self._owner, entry.key.id, version - VERSIONS_KEPT),
        )
        self._evict(connection, entry.key.id, now)
        return kept, row is None

    def _evict(self, connection: sqlite3.Connection, latest: str, now: float) -> None:
        """Delete what is over the limits, never the latest entry."""
        spare = "NOT (owner = ? AND id = ?)"
        mine = (self._owner, latest)
        connection.execute(
            f"DELETE FROM entries WHERE (expires_at <= ? OR used_at < ?) AND {spare}",  # noqa: S608 - a constant
            (now, now - self._limits.unused, *mine),
        )
        rows = connection.execute(
            """SELECT owner, id, LENGTH(body) + COALESCE((SELECT SUM(LENGTH(versions.body)) FROM versions
            WHERE versions.owner = entries.owner AND versions.id = entries.id), 0) FROM entries ORDER BY used_at"""
        ).fetchall()
        count, size = len(rows), sum(row[2] for row in rows)
        for owner, identity, bytes_kept in rows:
            if count <= self._limits.entries and size <= self._limits.bytes:
                break
            if (owner, identity) != mine:
                connection.execute("DELETE FROM entries WHERE owner = ? AND id = ?", (owner, identity))
                count, size = count - 1, size - bytes_kept

    def _row(self, connection: sqlite3.Connection, identity: str) -> _Row | None:
        found: _Row | None = connection.execute(
            f"SELECT {_COLUMNS} FROM entries WHERE owner = ? AND id = ?",  # noqa: S608 - a constant
            (self._owner, identity),
        ).fetchone()
        return found

    def _read(self, connection: sqlite3.Connection, where: str, values: Iterable[object]) -> list[CacheEntry]:
        query = f"SELECT {_COLUMNS} FROM entries WHERE owner = ? AND {where} ORDER BY used_at DESC, id"  # noqa: S608
        rows = connection.execute(query, (self._owner, *values)).fetchall()
        return [
            attrs.evolve(entry, statistics=_statistics(*row[4:9]), expires_at=min(entry.expires_at, row[9]))
            for row in rows
            for entry in [self._decode(*row[:4])]
        ]

    def _readable(self, row: _Row) -> CacheEntry | None:
        try:
            return self._decode(*row[:4])
        except CacheDamagedError:
            return None

    def _encode(self, entry: CacheEntry) -> tuple[bytes, bool]:
        data = entry_to_json(attrs.evolve(entry, statistics=EntryStatistics()))
        text = _json.encode_text(data, compact=True)
        if self._cipher is None:
            return text.encode(), False
        return self._cipher.seal(text, self._about(entry.key.id, entry.version)), True

    def _decode(self, identity: str, version: int, body: bytes, sealed: int) -> CacheEntry:
        try:
            if sealed:
                if self._cipher is None:
                    raise missing_key(str(self.path))
                text = self._cipher.open(bytes(body), self._about(identity, version))
            else:
                text = bytes(body).decode()
            entry = parse_entry(_json.decode_leniently(text))
            if entry.key.id != identity:
                raise ValueError("it is of another key")
        except (ValueError, TypeError) as error:
            reason = "it cannot be decrypted" if sealed else f"it is no entry ({type(error).__name__})"
            hint = "Delete it (delete, clear), or put a new one in its place"
            raise CacheDamagedError(str(self.path), f"entry {identity}", reason, hint) from None
        return attrs.evolve(entry, version=version)

    def _about(self, identity: str, version: int) -> str:
        return _json.encode_ascii([self._owner, identity, version])


def _statistics(
    used_at: float, successes: int, failures: int, total_ms: float, failed_in_row: int
) -> EntryStatistics:
    return EntryStatistics(
        successes=successes,
        failures=failures,
        failed_in_row=failed_in_row,
        total_ms=total_ms,
        last_used_at=used_at if successes or failures else 0.0,
    )


def _counts(statistics: EntryStatistics) -> tuple[int, int, float, int]:
    """Return the figures of an entry's runs, as the columns have them."""
    return statistics.successes, statistics.failures, statistics.total_ms, statistics.failed_in_row


def _may_be_for(address: str, url: str) -> bool:
    """Say whether an entry of this address is worth reading for a URL; what it holds itself decides."""
    try:
        return UrlPattern(address).matches(url)
    except InvalidArgumentError:
        return True


async def _persist(work: Callable[[], _T], path: str, attempt: str) -> _T:
    """Run blocking work in a thread, again and again while another process writes."""
    until = trio.current_time() + LONGEST_BUSY
    while True:
        try:
            return await trio.to_thread.run_sync(work)
        except BusyError:
            if trio.current_time() >= until:
                reason = f"another process writes to it, for more than {LONGEST_BUSY:g} s"
                raise CacheUnavailableError(path, attempt, reason) from None
        await trio.sleep(random.uniform(0.002, 0.03))
