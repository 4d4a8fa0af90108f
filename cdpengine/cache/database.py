"""The SQLite file of a store: its schema, migrations and transactions. All methods block.

Rule: each write is one immediate transaction. It is atomic, and it returns after the data is on the disk
(WAL, synchronous FULL). SQLite errors become errors of the engine with the file's path and a hint. The exception
is BusyError: the caller retries. The file is created with mode 0600, a new folder with mode 0700.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cdpengine.errors import CacheUnavailableError, FileUnreadableError, os_reason
from cdpengine.errors.texts import cut

APPLICATION_ID = 0x63647063
"""The SQLite application id in the header of the file."""

BUSY_SECONDS = 0.1
"""SQLite's own timeout for a locked file, in seconds. The thread is not interruptible during this time."""

_CHECKED_FOR = 0.02
"""Time limit of the damage check when a file is opened, in seconds. 1,000 entries take about half of it."""

_T = TypeVar("_T")

SPANS = (1, 256, 65_536)
"""Lengths of the spans of time in which expiring entries are counted, in seconds."""

_ADD = """
    INSERT INTO levels VALUES (NEW.owner, NEW.level, 1) ON CONFLICT DO UPDATE SET entries = entries + 1;
    INSERT INTO expiries SELECT NEW.owner, span, CAST(NEW.expires_at / span AS INTEGER), 1 FROM spans WHERE TRUE
        ON CONFLICT DO UPDATE SET entries = entries + 1;
"""
_REMOVE = """
    UPDATE levels SET entries = entries - 1 WHERE owner = OLD.owner AND level = OLD.level;
    DELETE FROM levels WHERE owner = OLD.owner AND level = OLD.level AND entries = 0;
    UPDATE expiries SET entries = entries - 1 WHERE owner = OLD.owner
        AND (span, number) IN (SELECT span, CAST(OLD.expires_at / span AS INTEGER) FROM spans);
    DELETE FROM expiries WHERE owner = OLD.owner AND entries = 0
        AND (span, number) IN (SELECT span, CAST(OLD.expires_at / span AS INTEGER) FROM spans);
"""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE meta (name TEXT PRIMARY KEY, value BLOB NOT NULL)",
        # The columns after `failed_in_row` are for queries that do not open a body (`rows.py`).
        """CREATE TABLE entries (
            owner TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, scenario TEXT NOT NULL,
            address TEXT NOT NULL, level TEXT NOT NULL, body BLOB NOT NULL, sealed INTEGER NOT NULL,
            expires_at REAL NOT NULL, used_at REAL NOT NULL, successes INTEGER NOT NULL,
            failures INTEGER NOT NULL, mistakes INTEGER NOT NULL, cancelled INTEGER NOT NULL,
            total_ms REAL NOT NULL, failed_in_row INTEGER NOT NULL, place TEXT NOT NULL,
            weight INTEGER NOT NULL, anywhere INTEGER NOT NULL, variables TEXT,
            PRIMARY KEY (owner, id)
        )""",
        "CREATE INDEX entries_by_use ON entries (used_at)",
        "CREATE INDEX entries_by_place ON entries (owner, place, weight)",
        "CREATE INDEX entries_by_scenario_and_place ON entries (owner, scenario, place, weight)",
        "CREATE INDEX entries_by_scenario_and_use ON entries (owner, scenario, used_at DESC, id)",
        "CREATE INDEX entries_by_owner_and_use ON entries (owner, used_at DESC, id)",
        "CREATE INDEX entries_by_address ON entries (owner, scenario, address)",
        "CREATE INDEX entries_by_variables ON entries (owner, scenario, variables)",
        "CREATE INDEX entries_by_expiry ON entries (expires_at)",
        "CREATE INDEX entries_from_anywhere ON entries (owner, scenario, used_at) WHERE anywhere <> 0",
        """CREATE TABLE versions (
            owner TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL,
            sealed INTEGER NOT NULL, PRIMARY KEY (owner, id, version),
            FOREIGN KEY (owner, id) REFERENCES entries (owner, id) ON DELETE CASCADE
        )""",
        # Counters outlive their entries.
        """CREATE TABLE counters (
            owner TEXT NOT NULL, name TEXT NOT NULL, figure REAL NOT NULL, PRIMARY KEY (owner, name)
        )""",
        # Precomputed sums, so that queries need not add up rows. Scenario "" is the sum of an owner, and `used`
        # is the sum of all owners.
        """CREATE TABLE totals (
            owner TEXT NOT NULL, scenario TEXT NOT NULL, entries INTEGER NOT NULL, bytes INTEGER NOT NULL,
            successes INTEGER NOT NULL, failures INTEGER NOT NULL, PRIMARY KEY (owner, scenario)
        ) WITHOUT ROWID""",
        "CREATE TABLE used (entries INTEGER NOT NULL, bytes INTEGER NOT NULL)",
        "INSERT INTO used VALUES (0, 0)",
        """CREATE TRIGGER entry_added AFTER INSERT ON entries BEGIN
            INSERT INTO totals VALUES (NEW.owner, '', 0, 0, 0, 0), (NEW.owner, NEW.scenario, 0, 0, 0, 0)
                ON CONFLICT DO NOTHING;
            UPDATE totals SET entries = entries + 1, bytes = bytes + LENGTH(NEW.body),
                successes = successes + NEW.successes, failures = failures + NEW.failures
                WHERE owner = NEW.owner AND scenario IN ('', NEW.scenario);
            UPDATE used SET entries = entries + 1, bytes = bytes + LENGTH(NEW.body);
        END""",
        """CREATE TRIGGER entry_changed AFTER UPDATE OF body, successes, failures ON entries BEGIN
            UPDATE totals SET bytes = bytes + LENGTH(NEW.body) - LENGTH(OLD.body),
                successes = successes + NEW.successes - OLD.successes,
                failures = failures + NEW.failures - OLD.failures
                WHERE owner = NEW.owner AND scenario IN ('', NEW.scenario);
            UPDATE used SET bytes = bytes + LENGTH(NEW.body) - LENGTH(OLD.body);
        END""",
        """CREATE TRIGGER entry_deleted AFTER DELETE ON entries BEGIN
            UPDATE totals SET entries = entries - 1, bytes = bytes - LENGTH(OLD.body),
                successes = successes - OLD.successes, failures = failures - OLD.failures
                WHERE owner = OLD.owner AND scenario IN ('', OLD.scenario);
            DELETE FROM totals WHERE owner = OLD.owner AND scenario IN ('', OLD.scenario) AND entries = 0;
            UPDATE used SET entries = entries - 1, bytes = bytes - LENGTH(OLD.body);
        END""",
        """CREATE TRIGGER version_added AFTER INSERT ON versions BEGIN
            UPDATE used SET bytes = bytes + LENGTH(NEW.body);
        END""",
        """CREATE TRIGGER version_deleted AFTER DELETE ON versions BEGIN
            UPDATE used SET bytes = bytes - LENGTH(OLD.body);
        END""",
        # Numbers of entries by level, and by the time of their expiry (`count_expired`).
        """CREATE TABLE levels (
            owner TEXT NOT NULL, level TEXT NOT NULL, entries INTEGER NOT NULL, PRIMARY KEY (owner, level)
        ) WITHOUT ROWID""",
        """CREATE TABLE expiries (
            owner TEXT NOT NULL, span INTEGER NOT NULL, number INTEGER NOT NULL, entries INTEGER NOT NULL,
            PRIMARY KEY (owner, span, number)
        ) WITHOUT ROWID""",
        "CREATE TABLE spans (span INTEGER PRIMARY KEY)",
        *(f"INSERT INTO spans VALUES ({span})" for span in SPANS),  # noqa: S608 - a constant
        f"CREATE TRIGGER entry_numbered AFTER INSERT ON entries BEGIN {_ADD} END",
        f"CREATE TRIGGER entry_not_numbered AFTER DELETE ON entries BEGIN {_REMOVE} END",
        f"""CREATE TRIGGER entry_renumbered AFTER UPDATE OF level, expires_at ON entries
            WHEN OLD.level <> NEW.level OR OLD.expires_at <> NEW.expires_at BEGIN {_REMOVE} {_ADD} END""",
    ),
)
"""The migration statements. Item n migrates schema version n to n + 1."""

SCHEMA_VERSION = len(MIGRATIONS)


class BusyError(Exception):
    """Raised if another process is writing. The caller retries."""


class Database:
    """An open database file. Its methods block. The caller must not run two of them at the same time."""

    def __init__(self, path: Path) -> None:
        """Open or create the file, and migrate it to the current schema.

        Raises BusyError, FileUnreadableError and CacheUnavailableError.
        """
        self.path = path
        self._shown = str(path)
        self._make_file()
        try:
            connection = sqlite3.connect(
                path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise self._translate(error, "open") from error
        self._connection: sqlite3.Connection | None = connection
        try:
            self._set_up(connection)
            self.transact(self._migrate, "open")
        except sqlite3.Error as error:
            self.close()
            raise self._translate(error, "open") from error
        except BaseException:
            self.close()
            raise

    def transact(self, work: Callable[[sqlite3.Connection], _T], attempt: str, *, writes: bool = True) -> _T:
        """Run `work` in a transaction, and return its result after the commit. Roll back if it raises.

        Work that only reads (`writes=False`) sees a consistent state of the file and waits for no other
        process.
        """
        connection = self._connection
        if connection is None:
            raise CacheUnavailableError(self._shown, attempt, "the store is closed")
        try:
            connection.execute("BEGIN IMMEDIATE" if writes else "BEGIN")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # after some errors, SQLite has already rolled back
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._translate(error, attempt) from error
        return result

    def close(self) -> None:
        """Close the file. A second call has no effect."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _make_file(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        except FileExistsError:
            if self.path.is_dir():
                raise CacheUnavailableError(self._shown, "open", "it is a folder") from None
        except OSError as error:
            raise CacheUnavailableError(self._shown, "make", os_reason(error)) from error

    def _set_up(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN")  # one consistent state: another process can be creating the file
        try:
            (tables,) = connection.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
            (found,) = connection.execute("PRAGMA application_id").fetchone()
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        if found != APPLICATION_ID and (found or tables):
            raise CacheUnavailableError(self._shown, "open", "it is another program's database")
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {pragma}").fetchall()
        connection.execute(f"PRAGMA journal_size_limit={4 * 2**20}").fetchall()
        self._check(connection)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Check the file for damage, for a limited time. In a large file, reads find the remaining damage."""
        until = time.monotonic() + _CHECKED_FOR
        connection.set_progress_handler(lambda: time.monotonic() > until, 1_000)
        try:
            (checked,) = connection.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                raise
        else:
            if checked != "ok":
                raise self._damaged(cut(str(checked), 100))
        finally:
            connection.set_progress_handler(None, 0)

    def _migrate(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > SCHEMA_VERSION:
            reason = f"a newer cdpengine made it (schema {version}; this one knows {SCHEMA_VERSION})"
            raise CacheUnavailableError(self._shown, "open", reason)
        for statements in MIGRATIONS[version:]:
            for statement in statements:
                connection.execute(statement)
        if version < SCHEMA_VERSION:
            connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")

    def _damaged(self, reason: str) -> FileUnreadableError:
        hint = "Set it aside with cdpengine.cache.set_aside, and a new one is made"
        return FileUnreadableError("the cache", self._shown, reason, hint)

    def _translate(self, error: sqlite3.Error, attempt: str) -> Exception:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return BusyError()
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._damaged(str(error))
        if code == sqlite3.SQLITE_FULL:
            return CacheUnavailableError(self._shown, attempt, os_reason(OSError(errno.ENOSPC, "")))
        if code == sqlite3.SQLITE_IOERR:
            reason = (
                "the system could not read or write it; look at the room on the disk and at limits of files"
            )
            return CacheUnavailableError(self._shown, attempt, reason)
        return CacheUnavailableError(self._shown, attempt, str(error))


def count_expired(connection: sqlite3.Connection, owner: str, now: float) -> int:
    """Return the number of an owner's entries that have expired.

    It adds up whole spans of time, the longest first, and counts the entries of the current second. So the time
    does not grow with the number of entries.
    """
    total, begin = 0, 0
    for span in reversed(SPANS):
        number = int(now // span)
        (entries,) = connection.execute(
            "SELECT COALESCE(SUM(entries), 0) FROM expiries "
            "WHERE owner = ? AND span = ? AND number >= ? AND number < ?",
            (owner, span, begin // span, number),
        ).fetchone()
        total, begin = total + entries, number * span
    (entries,) = connection.execute(
        "SELECT COUNT(*) FROM entries INDEXED BY entries_by_expiry "
        "WHERE expires_at >= ? AND expires_at <= ? AND owner = ?",
        (begin, now, owner),
    ).fetchone()
    return int(total + entries)


def set_aside(path: Path) -> Path:
    """Rename the file of a store and its companion files, and return the new path. Nothing is deleted.

    No process may have the file open. Raises CacheUnavailableError if the rename fails.
    """
    number = 1
    while (target := path.with_name(f"{path.name}.damaged-{number}")).exists():
        number += 1
    try:
        # The main file is last: after a failure, the remaining companion files still belong to it.
        for ending in ("-wal", "-shm", ""):
            part = path.with_name(path.name + ending)
            if ending == "" or part.exists():
                part.rename(target.with_name(target.name + ending))
    except OSError as error:
        raise CacheUnavailableError(str(path), "set aside", os_reason(error)) from error
    return target
