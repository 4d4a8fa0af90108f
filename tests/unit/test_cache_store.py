"""The store: confirmed writes remain, owners see only their entries, and a cancelled operation is complete or
has no effect.
"""

from __future__ import annotations

import json
import random
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any, get_args

import attrs
import hypothesis.strategies as st
import pytest
import trio
from cache_stores import KEY, Clock, entry, key, opened
from hypothesis import given
from rounds import rounds

from cdpengine.act import Navigate, Press
from cdpengine.cache import CacheEntry, CacheStore, Step, StoreLimits, UrlPattern
from cdpengine.cache.database import MIGRATIONS, count_expired
from cdpengine.cache.entries import Level
from cdpengine.cache.entry_json import dump_entries, entry_to_json
from cdpengine.cache.entry_table import EXPIRED_KEPT, EntryTable
from cdpengine.cache.rows import RowCodec
from cdpengine.errors import (
    CacheUnavailableError,
    EngineError,
    FileUnreadableError,
    InvalidArgumentError,
)

pytestmark = pytest.mark.usefixtures("no_key")


async def test_an_entry_survives_closing_the_store(path: Path) -> None:
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


async def test_an_excused_run_is_not_a_failure_of_its_entry(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry())
        for succeeded, excuse in (
            (False, None),
            (False, "mistake"),
            (False, "cancelled"),
            (True, None),
            (False, None),
        ):
            after = await store.note_run(
                key(), succeeded=succeeded, milliseconds=8, excuse=excuse, figures={"runs": 1}
            )
        assert after is not None
        assert (after.successes, after.failures, after.mistakes, after.cancelled) == (1, 2, 1, 1)
        assert (after.uses, after.failed_in_row, after.mean_ms, after.success_rate) == (5, 1, 8, 1 / 3)
        assert (await store.entries())[0].statistics == after
        assert await store.note_run(key(9), succeeded=True, milliseconds=1, figures={"runs": 1}) is None
        assert await store.counters() == {"runs": 6}


async def test_the_figures_of_an_entry_move_once_to_its_replacement(path: Path) -> None:
    async with opened(path) as store:
        for number in (0, 1):
            await store.put(entry(number))
            await store.note_run(key(number), succeeded=True, milliseconds=5)
            await store.note_run(key(number), succeeded=False, milliseconds=5)
        kept = await store.put(entry(1), takes_over=key(0))
        assert (kept.statistics.successes, kept.statistics.failures, kept.statistics.total_ms) == (2, 2, 10)
        assert await store.get(key(0)) is None
        old = await store.get(key(0), expired=True)
        assert old is not None
        assert old.statistics.uses == 0
        whole = await store.statistics()
        assert (whole.successes, whole.failures) == (2, 2)


async def test_a_manually_expired_entry_is_not_found_and_returns_as_a_new_version(path: Path) -> None:
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


async def test_a_success_ends_consecutive_failures(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry())
        for succeeded, expected in [(False, 1), (False, 2), (True, 0), (False, 1)]:
            after = await store.note_run(key(), succeeded=succeeded, milliseconds=1.0)
            assert after is not None
            assert after.failed_in_row == expected
        found = await store.get(key())
        assert found is not None
        assert (found.statistics.failures, found.statistics.failed_in_row) == (3, 1)


async def test_three_versions_are_kept_and_statistics_continue(path: Path) -> None:
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
        assert versions[0].statistics.successes == 1
        await store.delete(key())
        assert await store.versions(key()) == ()


async def test_an_older_version_is_restored_as_the_newest(path: Path) -> None:
    clock = Clock()
    async with opened(path, now=clock) as store:
        for name in ("F1", "F2"):
            await store.put(entry(steps=[Step(request=Press(key=name))]))
        await store.expire(key())
        restored = await store.restore(key().id, 1)
        assert restored is not None
        assert (restored.version, restored.steps[0].request.key) == (3, "F1")
        assert await store.get(key()) == restored
        assert [each.version for each in await store.versions(key())] == [3, 2, 1]
        assert await store.restore(key(), 9) is None


async def test_a_concurrent_newer_version_stays_the_newest(path: Path) -> None:
    """A replay of version 1 writes its entry after version 2 was learned. Both are kept."""
    async with opened(path, key=KEY) as store:
        first = await store.put(entry(steps=[Step(request=Press(key="F1"))]))
        await store.put(entry(steps=[Step(request=Press(key="F2"))]))
        healed = attrs.evolve(first, steps=(Step(request=Press(key="F3")),))
        kept = await store.put(healed, based_on=first.version)
        assert (kept.version, kept.steps[0].request.key) == (4, "F2")
        versions = await store.versions(key())
        assert [(each.version, each.steps[0].request.key) for each in versions] == [(4, "F2"), (3, "F3")]
        again = await store.put(healed, based_on=kept.version)
        assert (again.version, again.steps[0].request.key) == (5, "F3")


PLACES = (
    "https://a.example/", "https://a.example/x", "https://a.example/x?b=1", "https://b.example/x", "file:///tmp/x",
    "https://a.example/x#/route",
)  # fmt: skip
PATTERNS = (
    "https://a.example/*", "https://a.example/**", "https://*.example/x", "https://a.example/x?b=*", "https://*/x",
    "https://a.example/x?*=1", "file:///tmp/*",
)  # fmt: skip


@pytest.mark.parametrize("url", [*PLACES, "https://c.example/x?b=1&c=2", "data:,x", "about:blank"])
async def test_all_addresses_of_a_url_are_found_without_a_look_at_others(path: Path, url: str) -> None:
    async with opened(path) as store:
        for address in (*PLACES, *map(UrlPattern, PATTERNS)):
            await store.put(entry(key=key(url=address)))
        found = await store.find(None, url)
        every = [each for each in await store.entries() if each.key.pattern.matches(url)]
        assert {each.key for each in found} == {each.key for each in every}
        weights = [(each.key.pattern.is_exact, each.key.pattern.weight) for each in found]
        assert weights == sorted(weights, reverse=True)
        assert await store.find("login", url, limit=2) == found[:2]


async def test_sums_equal_a_count_of_all_rows(path: Path) -> None:
    chosen = random.Random(5)
    async with opened(path, limits=StoreLimits(entries=25)) as store, opened(path, owner="ada") as other:
        for _ in range(300):
            number = chosen.randrange(40)
            of = key(
                number, scenario=f"flow_{number % 4}", variables=[f"v{number % 3}"] if number % 5 else []
            )
            match chosen.randrange(7):
                case 0 | 1 | 2:
                    steps = [Step(request=Press(key=f"F{chosen.randrange(1, 9)}"))]
                    await chosen.choice([store, other]).put(entry(key=of, steps=steps))
                case 3 | 4:
                    await store.note_run(of, succeeded=chosen.random() < 0.5, milliseconds=1.0)
                case 5:
                    await store.delete(of)
                case 6:
                    await store.expire(of)
        await store.clear("flow_3")
        for each in (store, other):
            every = await each.entries()
            assert await each.size() == len(every)
            found = await each.statistics()
            assert (found.entries, found.successes, found.failures) == (
                len(every),
                sum(one.statistics.successes for one in every),
                sum(one.statistics.failures for one in every),
            )
            for summary in await each.scenarios(limit=50):
                mine = [one for one in every if one.key.scenario == summary.scenario]
                assert summary.entries == len(mine) == await each.size(summary.scenario)
                assert summary.addresses == tuple(sorted({one.key.address for one in mine})[:5])
                assert set(summary.variables) == {name for one in mine for name in one.key.variables}
        database = sqlite3.connect(path)
        for sums, rows in (
            ("SELECT entries FROM used", "SELECT COUNT(*) FROM entries"),
            (
                "SELECT bytes FROM used",
                "SELECT SUM(LENGTH(body)) FROM (SELECT body FROM entries UNION ALL SELECT body FROM versions)",
            ),
            (
                "SELECT SUM(bytes), SUM(entries) FROM totals WHERE scenario = ''",
                "SELECT SUM(LENGTH(body)), COUNT(*) FROM entries",
            ),
        ):
            assert database.execute(sums).fetchall() == database.execute(rows).fetchall()
        database.close()


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


async def test_an_expired_entry_is_not_returned_and_is_deleted_later(path: Path) -> None:
    clock = Clock()
    async with opened(path, now=clock) as store:
        await store.put(entry(level="L1"))
        clock.now += 1_800
        assert await store.get(key()) is None
        assert await store.find("login", key().address) == ()
        assert (await store.statistics()).expired == 1
        await store.put(entry(1))
        assert [each.key for each in await store.entries()] == [key(1), key()]
        clock.now += EXPIRED_KEPT
        await store.put(entry(2))
        assert key() not in [each.key for each in await store.entries()]


SIZE = len(json.dumps(entry_to_json(entry()), separators=(",", ":")))


@pytest.mark.parametrize("limits", [StoreLimits(entries=3), StoreLimits(bytes=3 * SIZE + 20)])
async def test_the_least_recently_used_entry_is_deleted_first(path: Path, limits: StoreLimits) -> None:
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


async def test_entries_unused_for_long_are_deleted(path: Path) -> None:
    clock = Clock()
    async with opened(path, now=clock, limits=StoreLimits(unused=100.0)) as store:
        await store.put(entry())
        clock.now += 200
        await store.put(entry(1))
        assert [each.key for each in await store.entries()] == [key(1)]


async def test_owners_see_only_their_entries(path: Path) -> None:
    async with opened(path, owner="ada", key=KEY) as ada, opened(path, owner="bob", key=KEY) as bob:
        await ada.put(entry(description="ada's"))
        assert await bob.entries() == ()
        assert await bob.get(key()) is None
        await bob.put(entry(description="bob's"))
        assert await bob.clear() == 1
        assert (await ada.get(key())).description == "ada's"
        assert await ada.clear("logout") == 0


async def test_an_invalid_import_changes_nothing(path: Path) -> None:
    async with opened(path) as store:
        await store.put(entry(1))
        text = (await store.export()).text
        data = json.loads(text)
        data["entries"] += [{**data["entries"][0], "level": "L9"}]
        await store.clear()
        with pytest.raises(InvalidArgumentError, match="entry 2"):
            await store.import_entries(json.dumps(data))
        assert await store.entries() == ()


# --- concurrency and cancellation
# --------------------------------------------------------------------------------


CALLS: dict[str, Callable[[Any], Any]] = {
    "put": lambda store: store.put(entry(1)),
    "get": lambda store: store.get(key()),
    "find": lambda store: store.find("login", key().address),
    "entries": lambda store: store.entries(),
    "versions": lambda store: store.versions(key()),
    "note_run": lambda store: store.note_run(key(), succeeded=True, milliseconds=1.0),
    "restore": lambda store: store.restore(key(), 1),
    "find_from_anywhere": lambda store: store.find_from_anywhere("login"),
    "size": lambda store: store.size(),
    "scenarios": lambda store: store.scenarios(limit=5),
    "scenarios_like": lambda store: store.scenarios_like("logn"),
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


async def test_similar_scenarios_are_found_among_many(path: Path) -> None:
    async with opened(path) as store:
        for number in range(120):
            await store.put(entry(key=key(scenario=f"flow_{number:03}")))
        await store.put(entry(key=key(scenario="login")))
        assert await store.scenarios_like("logni") == ("login",)
        assert "flow_107" in await store.scenarios_like("flow_107x")
        assert await store.scenarios_like("qqqq") == ()


async def test_an_operation_cancelled_before_its_start_has_no_effect(path: Path) -> None:
    async with opened(path) as store:
        kept = await store.put(entry())
        for call in CALLS.values():
            with trio.CancelScope() as scope:
                scope.cancel()
                await call(store)
            assert scope.cancelled_caught
        assert await store.entries() == (kept,)


async def test_an_operation_cancelled_during_its_write_is_complete(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(path) as store:
        inside, go_on = trio.Event(), threading.Event()
        whole = store._table.put

        def put(connection: sqlite3.Connection, each: CacheEntry, **options: Any) -> Any:
            kept = whole(connection, each, **options)
            trio.from_thread.run_sync(inside.set)
            assert go_on.wait(10)
            return kept

        monkeypatch.setattr(EntryTable, "put", lambda _self, *given, **options: put(*given, **options))
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


def test_errors_of_the_store_are_the_engines() -> None:
    long = "/" + "x" * 5_000
    for kind in (FileUnreadableError, CacheUnavailableError):
        assert issubclass(kind, EngineError)
        made = kind(long, long, long)
        assert len(str(made)) <= 400


# --- cost of queries
# ---------------------------------------------------------------------------------------------

QUERIES: dict[str, Callable[[CacheStore], Any]] = {
    "entries of a page": lambda store: store.find(None, "https://a.example/7", limit=5),
    "a page of another site": lambda store: store.find(None, "https://b.example/7", limit=5),
    "an entry of a scenario": lambda store: store.find("login", "https://a.example/7"),
    "one that begins anywhere": lambda store: store.find_from_anywhere("login"),
    "a list": lambda store: store.entries(limit=10),
    "a list of a scenario": lambda store: store.entries("login", limit=10),
    "the scenarios": lambda store: store.scenarios(limit=10),
    "a mistyped scenario": lambda store: store.scenarios_like("scenraio"),
    "an entry": lambda store: store.get(key(7)),
    "how many": lambda store: store.size(),
    "the statistics": lambda store: store.statistics(),
    "the counters": lambda store: store.counters(),
    "a counted run": lambda store: store.note_run(
        key(7), succeeded=True, milliseconds=5.0, figures={"hits": 1}
    ),
    "an entry that expires": lambda store: store.expire(key(8)),
    "a changed entry": lambda store: store.put(entry(7, level="L1", expires_at=2e12)),
}


@pytest.mark.parametrize("shape", ["one scenario", "many scenarios", "many sites"])
async def test_queries_take_as_many_steps_with_many_entries(
    path: Path, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted in steps of SQLite's virtual machine and in decoded bodies, which do not depend on the
    machine's load.
    """
    opened_bodies = [0]
    whole = RowCodec.decode

    def decode(codec: RowCodec, *given: Any) -> CacheEntry:
        opened_bodies[0] += 1
        return whole(codec, *given)

    monkeypatch.setattr(RowCodec, "decode", decode)

    def make(number: int) -> CacheEntry:
        scenario = "login" if shape != "many scenarios" or number == 7 else f"flow_{number}"
        site = (
            f"https://site{number}.example/"
            if shape == "many sites" and number != 7
            else f"https://a.example/{number}"
        )
        # Of four entries, one expired long ago and one recently.
        expires = {1: 1_001.0 + number % 50, 2: 900_000.0 - number}.get(number % 4, 1e12)
        return entry(key=key(scenario=scenario, url=site), expires_at=expires)

    async def measure(count: int, store: CacheStore) -> dict[str, tuple[int, int]]:
        await store.import_entries(dump_entries([make(number) for number in range(count)]))
        connection = store._database._connection
        assert connection is not None
        taken = {}
        for name, query in QUERIES.items():
            steps = [0]
            opened_bodies[0] = 0

            def count_step(steps: list[int] = steps) -> int:
                steps[0] += 1
                return 0

            connection.set_progress_handler(count_step, 1)
            await query(store)
            connection.set_progress_handler(None, 0)
            taken[name] = (steps[0], opened_bodies[0])
        return taken

    clock = Clock()
    clock.now = 1_000_000.0
    async with opened(path, key=KEY, now=clock) as store:
        few = await measure(50, store)
    async with opened(path.with_name("many.sqlite3"), key=KEY, now=clock) as store:
        many = await measure(rounds(1_000, 5_000), store)
    for name, (steps, bodies) in few.items():
        assert many[name][0] <= 1.2 * steps, (name, few[name], many[name])
        assert many[name][1] == bodies, name


@given(
    st.lists(st.tuples(st.floats(0, 3e5), st.sampled_from(get_args(Level)), st.booleans()), max_size=30),
    st.lists(st.floats(0, 3e5), min_size=1, max_size=5),
)
def test_expired_entries_and_levels_are_counted(
    made: list[tuple[float, Level, bool]], times: list[float]
) -> None:
    with sqlite3.connect(":memory:", isolation_level=None) as connection:
        for statement in chain.from_iterable(MIGRATIONS):
            connection.execute(statement)
        table = EntryTable("", RowCodec("", "", None), StoreLimits(), lambda: 1.0)
        expected: dict[str, tuple[float, Level]] = {}
        for number, (expires, level, changes) in enumerate(made):
            one = entry(number // 2, expires_at=expires, level=level)
            table.put(connection, one)
            expected[one.key.id] = expires, level
            if changes and number % 3 == 0:
                connection.execute("DELETE FROM entries WHERE id = ?", (one.key.id,))
                del expected[one.key.id]
        for now in (*times, *(expires for expires, _ in expected.values())):
            assert count_expired(connection, "", now) == sum(each <= now for each, _ in expected.values())
        levels = dict(connection.execute("SELECT level, entries FROM levels").fetchall())
        assert levels == Counter(level for _, level in expected.values())
