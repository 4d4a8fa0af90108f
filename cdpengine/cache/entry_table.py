"""The table of entries: its queries and changes, each inside one transaction, in the file's thread.

Rule: a query opens only the entries that it returns. A query for several entries skips a damaged one and
remembers its id. A query for the damaged entry itself raises an error.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence

import attrs

from cdpengine import _json
from cdpengine._logs import get_logger
from cdpengine.cache.addresses import UrlPattern
from cdpengine.cache.encryption import missing_key
from cdpengine.cache.entries import VERSIONS_KEPT, CacheEntry, EntryStatistics, Level, begins_anywhere
from cdpengine.cache.rows import (
    COLUMNS,
    Row,
    RowCodec,
    add_statistics,
    counts_of,
    is_narrower,
    place_of,
    places_of,
    statistics_of,
    weight_of,
)
from cdpengine.errors import FileUnreadableError, InvalidArgumentError

_log = get_logger("cdpengine.cache")

EXPIRED_KEPT = 30 * 86_400.0
"""Time before an expired entry is deleted, in seconds. A flow learned meanwhile is its next version."""

_LATEST = 20
"""Maximum number of opened entries if any entry of a scenario fits: the latest used ones."""

_SHOWN = 5
"""Maximum number of addresses in the summary of a scenario."""

_FIRST_NAMES, _NEIGHBOURS = 50, 25
"""Maximum numbers of names of scenarios that a name is compared with."""


@attrs.frozen(kw_only=True)
class StoreLimits:
    """The limits of a store. It deletes the least recently used entries first.

    `entries` and `bytes` apply to all owners together. `unused` is the time after which an unused entry is
    deleted, in seconds.
    """

    entries: int = 5_000
    bytes: int = 64 * 2**20
    unused: float = 90 * 86_400.0


@attrs.frozen(kw_only=True)
class ScenarioSummary:
    """A summary of one scenario: the number of entries, their variables, and their runs.

    `addresses` are the first 5 addresses in alphabetical order.
    """

    scenario: str
    entries: int
    addresses: tuple[str, ...]
    variables: tuple[str, ...]
    successes: int
    failures: int


@attrs.define(eq=False)
class EntryTable:
    """The entries of one owner. `damaged` maps the ids of unreadable entries to the reasons."""

    owner: str
    codec: RowCodec
    limits: StoreLimits
    now: Callable[[], float]
    damaged: dict[str, str] = attrs.field(factory=dict, init=False)

    # --- reading ---------------------------------------------------------------------------------------------

    def row(self, connection: sqlite3.Connection, identity: str) -> Row | None:
        """Return the row of an entry."""
        found: Row | None = connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE owner = ? AND id = ?",  # noqa: S608 - a constant
            (self.owner, identity),
        ).fetchone()
        return found

    def get(self, connection: sqlite3.Connection, identity: str) -> CacheEntry | None:
        """Return an entry, expired or not. Raises FileUnreadableError if it is unreadable."""
        row = self.row(connection, identity)
        return None if row is None else self.codec.decode_row(row)

    def read(
        self,
        connection: sqlite3.Connection,
        scenario: str | None = None,
        *,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[CacheEntry]:
        """Return all entries or a scenario's entries, latest used first, including expired ones."""
        where, values = ("", ()) if scenario is None else ("AND scenario = ?", (scenario,))
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE owner = ? {where} "  # noqa: S608 - this module's own
            "ORDER BY used_at DESC, id LIMIT ? OFFSET ?",
            (self.owner, *values, -1 if limit is None else limit, offset),
        )
        return list(self._readable(rows))

    def find(
        self,
        connection: sqlite3.Connection,
        url: str,
        scenario: str | None = None,
        *,
        levels: Sequence[Level] | None = None,
        fewer_failures: int | None = None,
        limit: int | None = None,
    ) -> list[CacheEntry]:
        """Return the valid entries for a URL, most exact address first.

        scenario, levels: only entries of this scenario, and of these levels.
        fewer_failures: only entries with fewer consecutive failures.
        limit: the maximum number.
        """
        places = places_of(url)
        index = "entries_by_place" if scenario is None else "entries_by_scenario_and_place"
        where = [f"place IN ({_marks(places)})", "expires_at > ?"]
        values: list[object] = [*places, self.now()]
        if scenario is not None:
            where.append("scenario = ?")
            values.append(scenario)
        if levels is not None:
            where.append(f"level IN ({_marks(levels)})")
            values += levels
        if fewer_failures is not None:
            where.append("failed_in_row < ?")
            values.append(fewer_failures)
        rows = connection.execute(
            f"SELECT {COLUMNS}, address FROM entries INDEXED BY {index} "  # noqa: S608
            f"WHERE owner = ? AND {' AND '.join(where)} "
            "ORDER BY weight DESC, used_at DESC, id",
            (self.owner, *values),
        )
        fitting = (row[:-1] for row in rows if UrlPattern(row[-1]).matches(url))
        found = []
        for entry in self._readable(fitting):
            found.append(entry)
            if len(found) == limit:
                break
        return found

    def find_from_anywhere(self, connection: sqlite3.Connection, scenario: str) -> list[CacheEntry]:
        """Return the latest used entries of a scenario that navigate to their page themselves."""
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE owner = ? AND scenario = ? AND anywhere <> 0 "  # noqa: S608
            "AND expires_at > ? ORDER BY used_at DESC LIMIT ?",
            (self.owner, scenario, self.now(), _LATEST),
        )
        return [entry for entry in self._readable(rows) if begins_anywhere(entry)]

    def versions(self, connection: sqlite3.Connection, identity: str) -> list[CacheEntry]:
        """Return an entry and its older versions, newest first, without unreadable ones."""
        older = connection.execute(
            "SELECT version, body, sealed FROM versions WHERE owner = ? AND id = ? ORDER BY version DESC",
            (self.owner, identity),
        ).fetchall()
        found: list[CacheEntry] = []
        if (row := self.row(connection, identity)) is not None:
            found += self._readable([row])
        for version, body, sealed in older:
            try:
                found.append(self.codec.decode(identity, version, body, sealed))
            except FileUnreadableError as error:
                self._note_damage(f"{identity}, version {version}", error)
        return found

    def count(self, connection: sqlite3.Connection, scenario: str | None = None) -> int:
        """Return the number of entries, including unreadable ones."""
        found = connection.execute(
            "SELECT entries FROM totals WHERE owner = ? AND scenario = ?", (self.owner, scenario or "")
        ).fetchone()
        return 0 if found is None else int(found[0])

    def summarize(self, connection: sqlite3.Connection, limit: int) -> list[ScenarioSummary]:
        """Return the summaries of the first `limit` scenarios, in alphabetical order."""
        rows = connection.execute(
            "SELECT scenario, entries, successes, failures FROM totals "
            "WHERE owner = ? AND scenario > '' ORDER BY scenario LIMIT ?",
            (self.owner, limit),
        ).fetchall()
        return [
            ScenarioSummary(
                scenario=scenario,
                entries=entries,
                addresses=tuple(self._distinct(connection, "address", scenario, _SHOWN)),
                variables=tuple(
                    sorted(
                        {
                            name
                            for names in self._distinct(connection, "variables", scenario, _LATEST)
                            for name in _json.decode(names, list[str])
                        }
                    )
                ),
                successes=successes,
                failures=failures,
            )
            for scenario, entries, successes, failures in rows
        ]

    def names_near(self, connection: sqlite3.Connection, name: str) -> list[str]:
        """Return names of scenarios: the first ones in alphabetical order, and the neighbours of `name`."""
        names = "SELECT scenario FROM totals WHERE owner = ? AND scenario"
        queries = (
            (f"{names} > ? ORDER BY scenario LIMIT ?", "", _FIRST_NAMES),
            (f"{names} > ? ORDER BY scenario LIMIT ?", name, _NEIGHBOURS),
            (f"{names} < ? ORDER BY scenario DESC LIMIT ?", name, _NEIGHBOURS),
        )
        found = [row[0] for query, *of in queries for row in connection.execute(query, (self.owner, *of))]
        return [scenario for scenario in dict.fromkeys(found) if scenario]

    def _distinct(self, connection: sqlite3.Connection, column: str, scenario: str, most: int) -> list[str]:
        """Return the first distinct values of a column in a scenario, with one index lookup per value."""
        found: list[str] = []
        last = ""
        while len(found) < most:
            row = connection.execute(
                f"SELECT {column} FROM entries WHERE owner = ? AND scenario = ? AND {column} > ? "  # noqa: S608
                f"ORDER BY {column} LIMIT 1",
                (self.owner, scenario, last),
            ).fetchone()
            if row is None:
                break
            last = row[0]
            found.append(last)
        return found

    def _readable(self, rows: Iterable[Row]) -> Iterator[CacheEntry]:
        for row in rows:
            try:
                yield self.codec.decode_row(row)
            except FileUnreadableError as error:
                self._note_damage(row[0], error)

    def _note_damage(self, identity: str, error: FileUnreadableError) -> None:
        if identity not in self.damaged:
            _log.warning("an entry of the cache is skipped: %s", error)
        self.damaged[identity] = error.reason

    # --- writing ---------------------------------------------------------------------------------------------

    def put(
        self,
        connection: sqlite3.Connection,
        entry: CacheEntry,
        *,
        based_on: int | None = None,
        replace_narrower: bool = False,
        takes_over: str | None = None,
    ) -> tuple[CacheEntry, bool]:
        """Store an entry. Return the newest entry of its key, and whether the key is new.

        based_on: the version that the entry was made from. If another version was stored meanwhile, it stays
            the newest and is returned, and the entry becomes the version before it.
        replace_narrower: entries of the same flow with fewer variables become older versions of this one, and
            their statistics continue.
        takes_over: the id of an entry that expires and whose statistics move to this one.
        """
        if self.codec.cipher is None and entry.holds_typed_text:
            raise missing_key(self.codec.path)
        row = self.row(connection, entry.key.id)
        before = None if row is None else next(self._readable([row]), None)
        if before is not None and based_on not in (None, before.version) and before.steps != entry.steps:
            return self._put_behind(connection, entry, before), False
        version, statistics = 1, entry.statistics
        if row is not None:
            version, statistics = row[1], statistics_of(row)
            if before is None or (before.steps, before.features) != (entry.steps, entry.features):
                if before is not None:
                    self._keep_version(connection, entry.key.id, row[1:4])
                version, statistics = version + 1, attrs.evolve(statistics, failed_in_row=0)
        narrower = self._narrower(connection, entry) if replace_narrower else []
        older = [attrs.evolve(each, key=entry.key, version=n) for n, each in enumerate(narrower, version)]
        for each in narrower:
            statistics = add_statistics(statistics, each.statistics)
            connection.execute("DELETE FROM entries WHERE owner = ? AND id = ?", (self.owner, each.key.id))
        if takes_over is not None and takes_over != entry.key.id:
            statistics = add_statistics(statistics, self._end(connection, takes_over))
        kept = attrs.evolve(entry, version=version + len(older), statistics=statistics)
        self._write(connection, kept)
        for each in older:
            self._keep_version(connection, entry.key.id, (each.version, *self.codec.encode(each)))
        self.damaged.pop(entry.key.id, None)
        self._evict(connection, entry.key.id)
        return kept, row is None

    def restore(self, connection: sqlite3.Connection, identity: str, version: int) -> CacheEntry | None:
        """Make an older version the newest one, and return it, or None if it does not exist."""
        restored = next(
            (each for each in self.versions(connection, identity) if each.version == version), None
        )
        if restored is None:
            return None
        lifetime = restored.expires_at - restored.created_at
        return self.put(connection, attrs.evolve(restored, expires_at=self.now() + lifetime))[0]

    def set_statistics(
        self, connection: sqlite3.Connection, identity: str, statistics: EntryStatistics
    ) -> None:
        """Store the statistics of an entry."""
        connection.execute(
            """UPDATE entries SET used_at = MAX(used_at, ?), successes = ?, failures = ?, mistakes = ?,
            cancelled = ?, total_ms = ?, failed_in_row = ? WHERE owner = ? AND id = ?""",
            (statistics.last_used_at, *counts_of(statistics), self.owner, identity),
        )

    def _end(self, connection: sqlite3.Connection, identity: str) -> EntryStatistics:
        """Expire an entry, reset its statistics, and return the old ones."""
        row = self.row(connection, identity)
        if row is None:
            return EntryStatistics()
        connection.execute(
            "UPDATE entries SET expires_at = MIN(expires_at, ?) WHERE owner = ? AND id = ?",
            (self.now(), self.owner, identity),
        )
        self.set_statistics(connection, identity, EntryStatistics())
        return statistics_of(row)

    def _narrower(self, connection: sqlite3.Connection, entry: CacheEntry) -> list[CacheEntry]:
        """Return the entries of the same flow with fewer variables, oldest first."""
        rows = connection.execute(
            f"SELECT {COLUMNS} FROM entries WHERE owner = ? AND scenario = ? AND address = ?",  # noqa: S608
            (self.owner, entry.key.scenario, entry.key.address),
        ).fetchall()
        narrower = (each for each in self._readable(rows) if is_narrower(each, entry))
        return sorted(narrower, key=lambda each: each.created_at)

    def _put_behind(
        self, connection: sqlite3.Connection, entry: CacheEntry, newest: CacheEntry
    ) -> CacheEntry:
        """Store an entry as the version before the newest one."""
        behind = attrs.evolve(entry, version=newest.version + 1)
        body, sealed = self.codec.encode(behind)
        self._keep_version(connection, entry.key.id, (behind.version, body, sealed))
        kept = attrs.evolve(newest, version=newest.version + 2)
        self._write(connection, kept)
        return kept

    def _keep_version(self, connection: sqlite3.Connection, identity: str, version: Sequence[object]) -> None:
        connection.execute("INSERT INTO versions VALUES (?, ?, ?, ?, ?)", (self.owner, identity, *version))

    def _write(self, connection: sqlite3.Connection, entry: CacheEntry) -> None:
        body, sealed = self.codec.encode(entry)
        if len(body) > self.limits.bytes:
            raise InvalidArgumentError("entry", f"{len(body)} bytes", f"at most {self.limits.bytes}")
        key, used_at = entry.key, max(self.now(), entry.statistics.last_used_at)
        connection.execute(
            """INSERT INTO entries (owner, id, version, scenario, address, level, body, sealed, expires_at,
                used_at, successes, failures, mistakes, cancelled, total_ms, failed_in_row, place, weight,
                anywhere, variables)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (owner, id) DO UPDATE SET version = excluded.version, level = excluded.level,
            body = excluded.body, sealed = excluded.sealed, expires_at = excluded.expires_at,
            used_at = excluded.used_at, successes = excluded.successes, failures = excluded.failures,
            mistakes = excluded.mistakes, cancelled = excluded.cancelled,
            total_ms = excluded.total_ms, failed_in_row = excluded.failed_in_row,
            anywhere = excluded.anywhere, variables = excluded.variables""",
            (
                self.owner, key.id, entry.version, key.scenario, key.address, entry.level, body, sealed,
                entry.expires_at, used_at, *counts_of(entry.statistics), place_of(key.address),
                weight_of(key.address), begins_anywhere(entry), _names(entry),
            ),
        )  # fmt: skip
        connection.execute(
            "DELETE FROM versions WHERE owner = ? AND id = ? AND version <= ?",
            (self.owner, key.id, entry.version - VERSIONS_KEPT),
        )

    def _evict(self, connection: sqlite3.Connection, latest: str) -> None:
        """Delete the entries above the limits, but never the latest entry."""
        now, mine = self.now(), (self.owner, latest)
        for column, before in (("expires_at", now - EXPIRED_KEPT), ("used_at", now - self.limits.unused)):
            connection.execute(
                f"DELETE FROM entries WHERE {column} < ? AND NOT (owner = ? AND id = ?)",  # noqa: S608
                (before, *mine),
            )
        while True:
            entries, size = connection.execute("SELECT entries, bytes FROM used").fetchone()
            if entries <= self.limits.entries and size <= self.limits.bytes:
                return
            oldest = self._first(
                connection, "expires_at <= ? AND", (now, *mine), "expires_at"
            ) or self._first(connection, "", mine, "used_at")
            if oldest is None:
                return
            connection.execute("DELETE FROM entries WHERE owner = ? AND id = ?", oldest)

    def _first(
        self, connection: sqlite3.Connection, where: str, values: Sequence[object], order: str
    ) -> tuple[str, str] | None:
        found: tuple[str, str] | None = connection.execute(
            f"SELECT owner, id FROM entries WHERE {where} NOT (owner = ? AND id = ?) ORDER BY {order} LIMIT 1",  # noqa: S608
            values,
        ).fetchone()
        return found


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))


def _names(entry: CacheEntry) -> str:
    return _json.encode(list(entry.key.variables)).decode()
