"""The store: what is confirmed stays, what is wrong is said, owners and keys are kept apart."""

from __future__ import annotations

import base64
import json
import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import keyring
import keyring.backend
import pytest
import trio

from cdpengine.act import Click, Navigate, Press, Type
from cdpengine.cache import (
    CacheEntry,
    CacheKey,
    CacheStore,
    EntryStatistics,
    ImportReport,
    Step,
    StoreLimits,
    Target,
    UrlPattern,
    Viewport,
    default_path,
    make_entry,
    make_key,
    set_aside,
)
from cdpengine.cache.database import MIGRATIONS, SCHEMA_VERSION, BusyError, Database
from cdpengine.cache.encryption import KEY_VARIABLE, Cipher
from cdpengine.cache.entry_json import dump_entries, entry_to_json
from cdpengine.errors import (
    CacheDamagedError,
    CacheKeyError,
    CacheUnavailableError,
    EngineError,
    InvalidArgumentError,
)

KEY, OTHER_KEY = b"k" * 32, b"o" * 32
VIEWPORT = Viewport(width=800, height=600)
BUTTON = Target(role="button", name="Go")


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "cache.sqlite3"


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        self.now += 1
        return self.now


def key(number: int = 0, **more: Any) -> CacheKey:
    made: dict[str, Any] = {"scenario": "login", "url": f"https://a.example/{number}", "viewport": VIEWPORT}
    return make_key(**made | more)


def entry(number: int = 0, text: str = "", **more: Any) -> CacheEntry:
    steps = [Step(request=Click(ref="t1"), targets={"t1": BUTTON})]
    if text:
        steps.append(Step(request=Type(ref="t1", text=text), targets={"t1": BUTTON}))
    options: dict[str, Any] = {"key": key(number), "steps": steps, "now": 1_000.0}
    return make_entry(**options | more)


def opened(path: Path, **more: Any) -> Any:
    options: dict[str, Any] = {"keyring": False, "now": Clock()}
    return CacheStore.open(path, **options | more)


async def test_an_entry_is_there_after_the_store_was_closed(path: Path) -> None:
    async with opened(path) as store:
        kept = await store.put(entry(description="go"))
        assert await store.get(key()) == kept == entry(description="go")
        assert await store.get(key(1)) is None
    async with opened(path) as store:
        assert await store.get(key()) == kept
        assert await store.entries() == (kept,)
        assert await store.delete(key()) is True
        assert await store.delete(key()) is False
        assert await store.entries() == ()
    with pytest.raises(CacheUnavailableError, match="closed"):
        await store.entries()


async def test_the_file_and_its_folder_are_the_users_own(path: Path) -> None:
    before = os.umask(0)
    try:
        async with opened(path) as store:
            await store.put(entry())
            modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert len(modes) >= 2  # the write-ahead log is among them
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_counters_add_up_by_owner(path: Path) -> None:
    async with opened(path) as store, opened(path, owner="ada") as other:
        await store.count({"misses": 1, "tokens": 2.5})
        await store.count({"misses": 2})
        await other.count({"misses": 7})
        await other.count({})
        assert await store.counters() == {"misses": 3, "tokens": 2.5}
        assert await other.counters() == {"misses": 7}
    async with opened(path) as store:
        assert await store.counters() == {"misses": 3, "tokens": 2.5}


async def test_what_is_expired_by_hand_is_not_found_and_comes_back_as_a_new_version(path: Path) -> None:
    async with opened(path) as store:
        assert not await store.expire(key())
        await store.put(entry())
        assert await store.expire(key())
        assert not await store.expire(key())
        assert await store.get(key()) is None
        assert await store.find("login", key().address) == ()
        assert len(await store.entries()) == 1
        again = await store.put(entry(steps=[Step(request=Navigate(url="https://a.example/"))]))
        assert again.version == 2
        assert await store.get(key()) == again


async def test_failures_in_a_row_end_with_a_success(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry())
        for succeeded, expected in [(False, 1), (False, 2), (True, 0), (False, 1)]:
            after = await store.note_run(key(), succeeded=succeeded, milliseconds=1.0)
            assert after is not None
            assert after.failed_in_row == expected
        found = await store.get(key())
        assert found is not None
        assert (found.statistics.failures, found.statistics.failed_in_row) == (3, 1)


async def test_three_versions_are_kept_and_statistics_are_those_of_the_steps(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry())
        assert await store.note_run(key(), succeeded=True, milliseconds=20.0) is not None
        again = await store.put(entry(description="the same steps"))
        assert (again.version, again.statistics.successes) == (1, 1)
        for number in range(4):
            steps = [Step(request=Press(key=f"F{number + 1}"))]
            assert (await store.put(entry(steps=steps))).version == number + 2
        versions = await store.versions(key())
        assert [each.version for each in versions] == [5, 4, 3]
        assert [each.steps[0].request.key for each in versions] == ["F4", "F3", "F2"]
        assert versions[0].statistics == EntryStatistics()
        await store.delete(key())
        assert await store.versions(key()) == ()


async def test_runs_are_counted(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry())
        await store.note_run(key(), succeeded=True, milliseconds=20.0)
        after = await store.note_run(key(), succeeded=False, milliseconds=5.0)
        assert (after.successes, after.failures, after.total_ms) == (1, 1, 20.0)
        assert (await store.get(key())).statistics == after
        assert await store.note_run(key(1), succeeded=True, milliseconds=1.0) is None
        found = await store.statistics()
        assert (found.entries, found.levels, found.successes, found.failures, found.expired) == (
            1,
            {"L3": 1},
            1,
            1,
            0,
        )


async def test_entries_are_found_by_scenario_and_url_the_most_exact_first(path: Path) -> None:
    async with opened(path) as store:
        for url in (
            UrlPattern("https://a.example/**"),
            "https://a.example/5",
            UrlPattern("https://*.example/*"),
        ):
            await store.put(entry(key=key(url=url)))
        await store.put(entry(key=key(scenario="logout", url="https://a.example/5")))
        found = await store.find("login", "https://A.example:443/5?utm_source=x")
        assert [each.key.address for each in found] == [
            "https://a.example/5", "https://a.example/**", "https://*.example/*",
        ]  # fmt: skip
        assert await store.find("login", "https://b.test/5") == ()


async def test_what_has_expired_is_not_given_and_goes_with_the_next_put(path: Path) -> None:
    clock = Clock()
    async with opened(path, now=clock) as store:
        await store.put(entry(level="L1"))
        clock.now += 1_800
        assert await store.get(key()) is None
        assert await store.find("login", key().address) == ()
        assert (await store.statistics()).expired == 1
        await store.put(entry(1))
        assert [each.key for each in await store.entries()] == [key(1)]


SIZE = len(json.dumps(entry_to_json(entry()), separators=(",", ":")))


@pytest.mark.parametrize("limits", [StoreLimits(entries=3), StoreLimits(bytes=3 * SIZE + 20)])
async def test_what_was_used_least_recently_goes_first(path: Path, limits: StoreLimits) -> None:
    async with opened(path, limits=limits) as store:
        for number in range(3):
            await store.put(entry(number))
        await store.note_run(key(0), succeeded=True, milliseconds=1.0)
        await store.put(entry(3))
        assert {each.key for each in await store.entries()} == {key(0), key(2), key(3)}
        if limits.entries > 3:
            with pytest.raises(InvalidArgumentError):
                await store.put(entry(4, description="x" * 3 * SIZE))
            assert len(await store.entries()) == 3


async def test_what_is_unused_for_long_goes(path: Path) -> None:
    clock = Clock()
    async with opened(path, now=clock, limits=StoreLimits(unused=100.0)) as store:
        await store.put(entry())
        clock.now += 200
        await store.put(entry(1))
        assert [each.key for each in await store.entries()] == [key(1)]


async def test_owners_see_their_own(path: Path) -> None:
    async with opened(path, owner="ada", key=KEY) as ada, opened(path, owner="bob", key=KEY) as bob:
        await ada.put(entry(description="ada's"))
        assert await bob.entries() == ()
        assert await bob.get(key()) is None
        await bob.put(entry(description="bob's"))
        assert await bob.clear() == 1
        assert (await ada.get(key())).description == "ada's"
        assert await ada.clear("logout") == 0


# --- secrets -------------------------------------------------------------------------------------------------


def files_of(path: Path) -> bytes:
    return b"".join(each.read_bytes() for each in path.parent.iterdir())


async def test_without_a_key_typed_text_is_refused_and_templates_are_kept(path: Path) -> None:
    async with opened(path) as store:
        assert not store.encrypted
        with pytest.raises(CacheKeyError) as caught:
            await store.put(entry(text="canary"))
        assert KEY_VARIABLE in str(caught.value)
        assert "canary" not in str(caught.value)
        made = make_key("login", "https://a.example/", VIEWPORT, ["password"])
        await store.put(entry(key=made, text="${password}"))
        assert b"canary" not in files_of(path)


@pytest.mark.parametrize("way", ["argument", "base64", "urlsafe", "hex"])
async def test_with_a_key_nothing_is_plain(path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = bytes(range(224, 256))
    texts = {
        "base64": base64.b64encode(secret).decode(), "urlsafe": base64.urlsafe_b64encode(secret).decode().rstrip("="),
        "hex": secret.hex(),
    }  # fmt: skip
    if way != "argument":
        monkeypatch.setenv(KEY_VARIABLE, texts[way])
    async with opened(path, key=secret if way == "argument" else None) as store:
        assert store.encrypted
        kept = await store.put(entry(text="canary", description="canary"))
        assert await store.get(key()) == kept
        assert b"canary" not in files_of(path)
    async with opened(path, key=secret) as store:
        assert await store.get(key()) == kept


@pytest.mark.parametrize("more", [{"key": OTHER_KEY}, {"key": None}])
async def test_another_key_or_none_is_said(path: Path, more: dict[str, Any]) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry())
    with pytest.raises(CacheKeyError):
        async with opened(path, **more):
            pass
    async with opened(path, key=KEY) as store:
        assert len(await store.entries()) == 1


@pytest.mark.parametrize("text", ["short", "x" * 64, "!" * 44, "é"])
async def test_an_environment_without_a_real_key_is_refused(
    path: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, text)
    with pytest.raises(CacheKeyError) as caught:
        async with opened(path):
            pass
    assert text not in str(caught.value)
    with pytest.raises(CacheKeyError):
        async with opened(path, key=b"short"):
            pass


class Ring(keyring.backend.KeyringBackend):
    priority = 1.0

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.kept[service, username] = password


async def test_the_keyring_keeps_a_key_for_each_file(path: Path) -> None:
    before, ring = keyring.get_keyring(), Ring()
    keyring.set_keyring(ring)
    try:
        for file in (path, path.with_name("other.sqlite3")):
            async with opened(file, keyring=True) as store:
                await store.put(entry(text="canary"))
            async with opened(file, keyring=True) as store:
                assert (await store.get(key())).holds_typed_text
        assert len(set(ring.kept.values())) == 2
        assert b"canary" not in files_of(path)
        ring.kept.clear()
        with pytest.raises(CacheKeyError):  # no new key where entries are sealed with a lost one
            async with opened(path, keyring=True):
                pass
        assert ring.kept == {}
    finally:
        keyring.set_keyring(before)


def test_what_is_sealed_is_bound_to_its_place() -> None:
    cipher = Cipher(KEY)
    sealed = cipher.seal("canary", "here")
    assert cipher.open(sealed, "here") == "canary"
    assert cipher.seal("canary", "here") != sealed
    wrong = [(cipher, sealed, "there"), (cipher, sealed[:-1] + bytes([sealed[-1] ^ 1]), "here")]
    wrong += [(Cipher(OTHER_KEY), sealed, "here"), (cipher, b"", "here")]
    for other, given, about in wrong:
        with pytest.raises(ValueError, match="cannot be decrypted"):
            other.open(given, about)


async def test_an_export_has_no_typed_text_unless_asked(path: Path) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        await store.put(entry(2, text="canary"))
        made = await store.export()
        assert (made.entries, made.left_out) == (1, 1)
        assert "canary" not in made.text + repr(await store.export(typed=True))
        whole = await store.export(typed=True)
        assert (whole.entries, whole.left_out) == (2, 0)
        everything = await store.entries()
    async with opened(path.with_name("other.sqlite3"), key=OTHER_KEY) as other:
        assert await other.import_entries(whole.text) == ImportReport(added=2)
        assert set(map(str, await other.entries())) == set(map(str, everything))
        changed = whole.text.replace('"name": "Go"', '"name": "Gone"')
        assert await other.import_entries(changed) == ImportReport(kept=2)
        assert await other.import_entries(changed, replace=True) == ImportReport(replaced=2)
        assert [each.version for each in await other.versions(key(1))] == [2, 1]
    async with opened(path.with_name("plain.sqlite3")) as plain:
        with pytest.raises(CacheKeyError):
            await plain.import_entries(whole.text)
        assert await plain.entries() == ()  # all of an import or none


async def test_an_import_that_is_wrong_changes_nothing(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry(1))
        text = (await store.export()).text
        data = json.loads(text)
        data["entries"] += [{**data["entries"][0], "level": "L9"}]
        await store.clear()
        with pytest.raises(InvalidArgumentError, match="entry 2"):
            await store.import_entries(json.dumps(data))
        assert await store.entries() == ()


# --- the file ------------------------------------------------------------------------------------------------


OLDEST_COLUMNS = (
    "id, version, scenario, address, level, body, sealed, expires_at, used_at, successes, failures, total_ms"
)


@pytest.mark.parametrize("version", range(SCHEMA_VERSION))
async def test_older_files_are_brought_up_to_date(path: Path, version: int) -> None:
    path.parent.mkdir()
    database = sqlite3.connect(path)
    for statements in MIGRATIONS[:version]:
        for statement in statements:
            database.execute(statement)
    if version:
        body = json.dumps(entry_to_json(entry(description="old"))).encode()
        row = (key().id, 1, "login", key().address, "L3", body, 0, 1e12, 5.0, 3, 1, 30.0)
        owner = ("",) if version > 1 else ()
        names = "owner, " * len(owner) + OLDEST_COLUMNS
        marks = ", ".join("?" * (len(owner) + len(row)))
        database.execute(f"INSERT INTO entries ({names}) VALUES ({marks})", (*owner, *row))
        database.execute(f"PRAGMA application_id={0x63647063}")
    database.execute(f"PRAGMA user_version={version}")
    database.commit()
    database.close()
    async with opened(path) as store:
        found = await store.entries()
        assert [each.description for each in found] == ["old"] * bool(version)
        assert all(each.statistics.successes == 3 for each in found)
        assert (
            await store.put(entry(steps=[Step(request=Navigate(url="https://a.example/"))]))
        ).version == 1 + bool(version)
        assert len(await store.versions(key())) == 1 + bool(version)
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
async def test_files_of_others_are_left_alone(path: Path, statements: list[str], word: str) -> None:
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


async def test_a_file_that_another_process_makes_meanwhile_is_ours(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[str] = []

    class Racing(sqlite3.Connection):
        def execute(self, sql: str, *more: Any) -> sqlite3.Cursor:
            if "PRAGMA application_id" in sql or "sqlite_master" in sql:
                looks.append(sql)
                if len(looks) == 2:  # between the two looks at a new file
                    with suppress(BusyError):
                        Database(path).close()
            return super().execute(sql, *more)

    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Racing))
    async with opened(path) as store:
        await store.put(entry())
    assert len(looks) >= 2


@pytest.mark.parametrize("how", ["no database", "cut", "a page overwritten"])
async def test_a_damaged_file_is_said_and_can_be_set_aside(path: Path, how: str) -> None:
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
    with pytest.raises(CacheDamagedError) as caught:
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


async def test_a_damaged_entry_is_said_and_the_others_are_there(path: Path) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        await store.put(entry(2))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET body = zeroblob(100) WHERE id = ?", (key(1).id,))
        database.commit()
        database.close()
        for read in (store.entries, lambda: store.get(key(1)), lambda: store.versions(key(1)), store.export):
            with pytest.raises(CacheDamagedError, match=key(1).id):
                await read()
        assert await store.get(key(2)) is not None
        assert [each.key for each in await store.find("login", key(2).address)] == [key(2)]
        with pytest.raises(CacheDamagedError, match=key(1).id):
            await store.find("login", key(1).address)
        assert (await store.put(entry(1))).version == 2
        assert len(await store.versions(key(1))) == 1
        assert len(await store.entries()) == 2


@pytest.mark.parametrize("address", ["https://a.example/1", "https://b.test/", "odd"])
async def test_an_address_that_was_changed_leads_to_no_other_page(path: Path, address: str) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(2))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET address = ?", (address,))
        database.commit()
        database.close()
        assert await store.find("login", key(1).address) == ()


async def test_an_entry_in_the_place_of_another_is_damaged(path: Path) -> None:
    async with opened(path, key=KEY) as store:
        await store.put(entry(1))
        database = sqlite3.connect(path)
        database.execute("UPDATE entries SET id = ?", (key(2).id,))
        database.commit()
        database.close()
        with pytest.raises(CacheDamagedError):
            await store.get(key(2))


async def test_a_folder_or_a_file_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    for wrong in (tmp_path, tmp_path / "file" / "cache.sqlite3"):
        with pytest.raises(CacheUnavailableError):
            async with opened(wrong):
                pass
    with pytest.raises(CacheUnavailableError):
        set_aside(tmp_path / "nothing")


async def test_a_file_that_another_process_writes_is_waited_for(
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
        assert len(await store.entries()) == 1  # who only reads does not wait
        with trio.move_on_after(0.3) as scope:  # cancelled between two attempts
            await store.put(entry(1))
        assert scope.cancelled_caught
        monkeypatch.setattr("cdpengine.cache.store.LONGEST_BUSY", 0.05)
        with pytest.raises(CacheUnavailableError, match="another process writes"):
            await store.put(entry(1))
        other.close()
        assert await store.get(key(1)) is None


CALLS: dict[str, Callable[[Any], Any]] = {
    "put": lambda store: store.put(entry(1)),
    "get": lambda store: store.get(key()),
    "find": lambda store: store.find("login", key().address),
    "entries": lambda store: store.entries(),
    "versions": lambda store: store.versions(key()),
    "note_run": lambda store: store.note_run(key(), succeeded=True, milliseconds=1.0),
    "expire": lambda store: store.expire(key()),
    "count": lambda store: store.count({"misses": 1}),
    "counters": lambda store: store.counters(),
    "delete": lambda store: store.delete(key()),
    "clear": lambda store: store.clear(),
    "statistics": lambda store: store.statistics(),
    "export": lambda store: store.export(),
    "import_entries": lambda store: store.import_entries(
        '{"format": "cdpengine cache", "version": 1, "entries": []}'
    ),
}


def test_every_coroutine_is_cancelled_below() -> None:
    import inspect

    assert CALLS.keys() == {
        name
        for name, each in vars(CacheStore).items()
        if inspect.iscoroutinefunction(each) and not name.startswith("_")
    }


async def test_what_is_cancelled_before_it_began_did_nothing(path: Path) -> None:
    async with opened(path) as store:
        kept = await store.put(entry())
        for call in CALLS.values():
            with trio.CancelScope() as scope:
                scope.cancel()
                await call(store)
            assert scope.cancelled_caught
        assert await store.entries() == (kept,)


async def test_what_is_cancelled_while_it_is_written_is_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as store:
        inside, go_on = trio.Event(), threading.Event()
        whole = store._put

        def put(connection: sqlite3.Connection, each: CacheEntry) -> Any:
            kept = whole(connection, each)
            trio.from_thread.run_sync(inside.set)
            assert go_on.wait(10)
            return kept

        monkeypatch.setattr(store, "_put", put)
        kept: list[CacheEntry] = []

        async def run() -> None:
            kept.append(await store.put(entry()))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await inside.wait()
            nursery.cancel_scope.cancel()
            go_on.set()
        assert tuple(kept) == await store.entries() == (entry(),)


async def test_many_tasks_of_one_store_wait_for_each_other(path: Path) -> None:
    async with opened(path) as store:
        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(store.put, entry(number))
        assert len(await store.entries()) == 20


async def test_the_store_is_closed_when_its_block_is_cancelled(path: Path) -> None:
    with trio.CancelScope() as scope:
        async with opened(path) as store:
            await store.put(entry())
            scope.cancel()
            await trio.lowlevel.checkpoint()
    with pytest.raises(CacheUnavailableError):
        await store.entries()
    async with opened(path) as store:
        assert len(await store.entries()) == 1


def test_the_default_path_is_in_the_users_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert default_path() == tmp_path / "cdpengine" / "cache.sqlite3"


def test_errors_of_the_store_are_the_engines() -> None:
    for kind in (CacheDamagedError, CacheKeyError, CacheUnavailableError):
        assert issubclass(kind, EngineError)
        made = kind(*["/" + "x" * 5_000] * len(attrs.fields(kind)))
        assert len(str(made)) <= 400
