"""The file of the store: its schema and permissions, files of other programs, and damage."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from cache_stores import KEY, entry, key, opened

from cdpengine.cache import StoreLimits, default_path, set_aside
from cdpengine.cache.database import SCHEMA_VERSION, BusyError, Database
from cdpengine.cache.entry_json import dump_entries
from cdpengine.errors import CacheUnavailableError, FileUnreadableError

pytestmark = pytest.mark.usefixtures("no_key")


async def test_the_file_and_its_folder_belong_to_the_user_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        async with opened(path) as store:
            await store.put(entry())
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert len(modes) >= 2  # including the write-ahead log
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_the_default_path_is_in_the_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "cdpengine" / "cache.sqlite3"


async def test_a_new_file_has_the_present_schema(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry(description="first"))
    async with opened(path) as store:
        assert [each.description for each in await store.entries()] == ["first"]
    database = sqlite3.connect(path)
    assert database.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    database.close()


@pytest.mark.parametrize(
    ("statements", "word"),
    [
        (["CREATE TABLE theirs (a)"], "another program"),
        (["PRAGMA application_id=7"], "another program"),
        ([f"PRAGMA application_id={0x63647063}", "PRAGMA user_version=99"], "newer"),
    ],
)
async def test_files_of_other_programs_are_left_alone(path: Path, statements: list[str], word: str) -> None:
    path.parent.mkdir()
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()
    before = path.read_bytes()
    with pytest.raises(CacheUnavailableError, match=word):
        async with opened(path):
            pass
    if "theirs" in statements[0]:
        assert path.read_bytes() == before


async def test_a_file_that_another_process_creates_concurrently_is_accepted(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    class Racing(sqlite3.Connection):
        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            if "PRAGMA application_id" in sql or "sqlite_master" in sql:
                looks.append(sql)
                if len(looks) == 2:  # between the two checks of a new file
                    with suppress(BusyError):
                        Database(path).close()
            return super().execute(sql, *more)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Racing))
    async with opened(path) as store:
        await store.put(entry())
    assert len(looks) >= 2


@pytest.mark.parametrize("how", ["no database", "cut", "a page overwritten"])
async def test_a_damaged_file_is_reported_and_can_be_set_aside(path: Path, how: str) -> None:
    async with opened(path, limits=StoreLimits()) as store:
        await store.import_entries(
            dump_entries([entry(number, description="x" * 500) for number in range(40)])
        )
    whole = path.read_bytes()
    damaged = {
        "no database": b"hunter2" * 1_000,
        "cut": whole[: len(whole) // 2],
        "a page overwritten": whole[:8192] + b"\xa5" * 4096 + whole[12288:],
    }[how]
    path.write_bytes(damaged)
    with pytest.raises(FileUnreadableError) as caught:
        async with opened(path) as store:
            await store.entries()
    assert str(path)[:50] in str(caught.value)
    assert "set_aside" in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert len(str(caught.value)) <= 400
    aside = set_aside(path)
    assert aside.read_bytes()[-4096:] == damaged[-4096:]
    async with opened(path) as store:
        await store.put(entry())
        assert len(await store.entries()) == 1
    assert set_aside(path) != aside


async def test_a_damaged_entry_is_named_and_the_others_remain(
    path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        await store.put(entry(2))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET body = zeroblob(100) WHERE id = ?", (key(1).id,))
        database.commit()
        database.close()
        with pytest.raises(FileUnreadableError, match=key(1).id):
            await store.get(key(1))
        assert await store.get(key(2)) is not None
        assert await store.versions(key(1)) == ()
        assert [each.key for each in await store.entries()] == [key(2)]
        assert [each.key for each in await store.find("login", key(2).address)] == [key(2)]
        assert await store.find("login", key(1).address) == ()
        assert json.loads((await store.export()).text)["entries"][0]["key"]["address"] == key(2).address
        assert await store.size() == 2
        assert store.damaged == {key(1).id: "it cannot be decrypted"}
        assert [record.levelname for record in caplog.records if key(1).id in record.message] == ["WARNING"]
        assert (await store.put(entry(1))).version == 2
        assert len(await store.versions(key(1))) == 1
        assert len(await store.entries()) == 2
        assert store.damaged == {}


async def test_a_folder_or_a_file_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for wrong in (tmp_path, tmp_path / "file" / "cache.sqlite3"):
        with pytest.raises(CacheUnavailableError):
            async with opened(wrong):
                pass
    with pytest.raises(CacheUnavailableError):
        set_aside(tmp_path / "nothing")


async def test_the_store_waits_for_a_file_that_another_process_writes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        started = trio.Event()
        tried: list[int] = []
        whole = store._database.transact

        def transact(work: Callable[[sqlite3.Connection], object], attempt: str, *, writes: bool) -> object:
            tried.append(1)
            trio.from_thread.run_sync(started.set)
            return whole(work, attempt, writes=writes)

        monkeypatch.setattr(store._database, "transact", transact)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(store.put, entry())
            await started.wait()
            other.execute("COMMIT")
        assert await store.get(key()) is not None
        other.execute("BEGIN IMMEDIATE")
        assert len(await store.entries()) == 1  # readers do not wait
        with trio.move_on_after(0.3) as scope:  # cancelled between two attempts
            await store.put(entry(1))
        assert scope.cancelled_caught
        monkeypatch.setattr("cdpengine.cache.store.LONGEST_BUSY", 0.05)
        with pytest.raises(CacheUnavailableError, match="another process writes"):
            await store.put(entry(1))
        other.close()
        assert await store.get(key(1)) is None
