"""Turns at hosts: limits, delays and order hold, and no task waits for another host.

Retry-After is parsed.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from email.utils import formatdate

import pytest
import trio
import trio.testing

from cdpengine.errors import InvalidArgumentError
from cdpengine.pool.manners import HostLimits, HostSchedule
from cdpengine.pool.manners.retry_after import requested_pause

A, B = "http://a.example/", "http://b.example/"


# --- the schedule -------------------------------------------------------------------------------------------


def test_a_host_gets_its_limit_immediately_and_then_its_delay() -> None:
    schedule = HostSchedule(at_once=2, delay=1.0)
    assert schedule.begin("a", 0.0) is None
    assert schedule.begin("a", 0.5) == 1.0  # too soon
    assert schedule.begin("b", 0.5) is None  # another host
    assert schedule.begin("a", 1.0) is None
    assert schedule.begin("a", 9.0) == math.inf  # too many
    schedule.end("a")
    assert schedule.begin("a", 1.5) == 2.0
    assert schedule.begin("a", 9.0) is None


def test_the_longer_delay_counts_and_is_bounded() -> None:
    schedule = HostSchedule(at_once=9, delay=1.0, longest_delay=5.0)
    assert schedule.begin("a", 0.0, delay=3.0) is None
    assert schedule.begin("a", 0.0, delay=0.5) == 1.0
    assert schedule.begin("a", 0.0, delay=3.0) == 3.0
    assert schedule.begin("a", 0.0, delay=1e9) == 5.0
    assert HostSchedule(at_once=1, delay=9.0, longest_delay=5.0).begin("a", 0.0) is None


def test_a_pause_applies_to_all_and_is_only_extended() -> None:
    schedule = HostSchedule(at_once=9, delay=0.0, longest_pause=100.0)
    assert schedule.begin("a", 0.0) is None
    assert schedule.pause("a", 0.0, 10.0) == 10.0
    assert schedule.pause("a", 4.0, 2.0) == 6.0
    assert schedule.begin("a", 4.0) == 10.0
    assert schedule.pause("a", 4.0, 1e12) == 100.0
    assert schedule.begin("a", 103.9) == 104.0
    assert schedule.begin("a", 104.0) is None
    assert schedule.begin("b", 4.0) is None
    assert schedule.pause("new", 0.0, -5.0) == 0.0
    assert schedule.begin("new", 0.0) is None


def test_an_end_without_a_start_is_ignored() -> None:
    schedule = HostSchedule()
    with pytest.raises(RuntimeError):
        schedule.end("a")
    schedule.begin("a", 0.0)
    schedule.end("a")
    with pytest.raises(RuntimeError):
        schedule.end("a")


def test_hosts_with_an_irrelevant_past_are_forgotten() -> None:
    schedule = HostSchedule(at_once=1, delay=1.0, longest_delay=10.0, longest_pause=1e6)
    assert schedule.begin("busy", 0.0) is None
    schedule.pause("paused", 0.0, 1e6)
    for number in range(20_000):
        now = number * 0.1
        assert schedule.begin(f"host{number}", now) is None
        schedule.end(f"host{number}")
        assert len(schedule) <= 2_100
    assert schedule.begin("busy", 2_000.0) == math.inf
    assert schedule.begin("paused", 2_000.0) == 1e6
    assert schedule.begin("host19999", now + 0.5) == now + 1.0
    schedule.end("busy")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("at_once", 0), ("at_once", True), ("at_once", 1.5), ("at_once", "2"), ("delay", -1.0), ("delay", math.inf),
        ("delay", math.nan), ("delay", "1"), ("longest_delay", -1), ("longest_pause", math.inf), ("delay", True),
    ],
)  # fmt: skip
def test_impossible_limits_are_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidArgumentError, match=name):
        HostSchedule(**{name: value})  # type: ignore[arg-type]


@pytest.mark.parametrize("seed", range(40))
def test_a_walk_over_the_schedule_breaks_no_limit(seed: int) -> None:
    chance = random.Random(seed)
    at_once, delay = chance.randint(1, 4), chance.choice([0.0, 0.3, 2.0])
    schedule = HostSchedule(at_once, delay, longest_delay=5.0, longest_pause=7.0)
    now, paused = 0.0, defaultdict[str, float](lambda: -math.inf)
    under_way, last = defaultdict[str, int](int), defaultdict[str, float](lambda: -math.inf)
    for _ in range(600):
        host = f"h{chance.randrange(4)}"
        step = chance.random()
        if step < 0.15:
            seconds = chance.choice([0.0, 1.0, 6.0, 99.0])
            paused[host] = max(paused[host], now + min(seconds, 7.0))
            assert schedule.pause(host, now, seconds) == max(0.0, paused[host] - now)
        elif step < 0.4 and under_way[host]:
            schedule.end(host)
            under_way[host] -= 1
        else:
            asked = chance.choice([0.0, 0.0, 1.0, 50.0])
            again = schedule.begin(host, now, delay=asked)
            earliest = max(paused[host], last[host] + max(delay, min(asked, 5.0)))
            if again is None:
                assert now >= earliest
                under_way[host] += 1
                assert under_way[host] <= at_once
                last[host] = now
            else:
                assert again == (math.inf if under_way[host] == at_once else earliest)
                assert again > now
        assert schedule.under_way(host) == under_way[host]
        now += chance.choice([0.0, 0.1, 0.5])


# --- turns of tasks -----------------------------------------------------------------------------------------


def limits_of(at_once: int = 1, delay: float = 0.0, **more: float) -> HostLimits:
    return HostLimits(HostSchedule(at_once, delay, **more))


async def test_turns_of_a_host_are_given_in_order_at_their_times(
    autojump_clock: trio.testing.MockClock,
) -> None:
    limits, begun = limits_of(at_once=2, delay=1.0), list[tuple[int, float]]()

    async def visit(number: int) -> None:
        async with limits.turn(A):
            begun.append((number, trio.current_time() - start))
            await trio.sleep(3.0)

    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        for number in range(5):
            nursery.start_soon(visit, number)
            await trio.testing.wait_all_tasks_blocked()
    assert begun == [(0, 0.0), (1, 1.0), (2, 3.0), (3, 4.0), (4, 6.0)]
    assert limits.waiting(A) == 0


async def test_no_task_waits_for_another_host(autojump_clock: trio.testing.MockClock) -> None:
    limits = limits_of()
    limits.pause(A, 100.0)
    start = trio.current_time()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(visit_once, limits, A)
        await trio.testing.wait_all_tasks_blocked()
        await visit_once(limits, B)
        await visit_once(limits, "about:blank")
        assert trio.current_time() == start
    assert trio.current_time() == start + 100.0


async def visit_once(limits: HostLimits, url: str) -> None:
    async with limits.turn(url):
        pass


async def test_ports_schemes_and_spellings_are_one_host(autojump_clock: trio.testing.MockClock) -> None:
    limits = limits_of(delay=5.0)
    start = trio.current_time()
    for url in ("http://a.example:1/", "https://A.EXAMPLE/", "http://a.example./x", "http://u:p@%61.example"):
        await visit_once(limits, url)
    assert trio.current_time() == start + 15.0


async def test_a_pause_that_begins_while_tasks_wait_applies_to_them(
    autojump_clock: trio.testing.MockClock,
) -> None:
    limits = limits_of(delay=1.0)
    start = trio.current_time()
    await visit_once(limits, A)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(visit_once, limits, A)
        await trio.sleep(0.5)
        assert limits.pause(A, 10.0) == 10.0
    assert trio.current_time() == start + 10.5


async def test_a_turn_asks_the_clock_no_more_often_than_it_must(
    autojump_clock: trio.testing.MockClock,
) -> None:
    asked = 0

    class Counting(HostSchedule):
        def begin(self, host: str, now: float, *, delay: float = 0.0) -> float | None:
            nonlocal asked
            asked += 1
            return super().begin(host, now, delay=delay)

    limits = HostLimits(Counting(3, 2.0))
    async with trio.open_nursery() as nursery:
        for _ in range(200):
            nursery.start_soon(visit_once, limits, A)
    assert asked <= 3 * 200


async def test_a_scheduler_may_begin_without_waiting(autojump_clock: trio.testing.MockClock) -> None:
    limits = limits_of(delay=2.0)
    start = trio.current_time()
    assert limits.begin(A) is None
    assert limits.begin(A) == math.inf
    assert limits.begin("about:blank") is None
    limits.end("about:blank")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(visit_once, limits, A)
        await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(5.0)
        limits.end(A)  # it wakes the waiting task
    assert trio.current_time() == start + 5.0


async def test_a_failed_visit_returns_its_turn(autojump_clock: trio.testing.MockClock) -> None:
    limits = limits_of()
    with pytest.raises(ZeroDivisionError):
        async with limits.turn(A):
            raise ZeroDivisionError
    await visit_once(limits, A)


@pytest.mark.parametrize("victim", [0, 1, 2, 3])
async def test_a_cancelled_task_leaves_its_place_to_the_next(
    victim: int, autojump_clock: trio.testing.MockClock
) -> None:
    limits, begun = limits_of(delay=1.0), list[int]()
    scopes = [trio.CancelScope() for _ in range(4)]

    async def visit(number: int) -> None:
        with scopes[number]:
            async with limits.turn(A):
                begun.append(number)
                await trio.sleep(10.0)

    async with trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(visit, number)
            await trio.testing.wait_all_tasks_blocked()
        scopes[victim].cancel()
    assert begun == [number for number in range(4) if number != victim or number == 0]
    assert limits.schedule.under_way("a.example") == 0
    assert limits.waiting(A) == 0


async def test_a_turn_in_a_cancelled_scope_begins_nothing(autojump_clock: trio.testing.MockClock) -> None:
    limits = limits_of()
    with trio.CancelScope() as scope:
        scope.cancel()
        await visit_once(limits, A)
        pytest.fail("the turn was given")
    assert limits.begin(A) is None


@pytest.mark.parametrize("seed", range(20))
async def test_a_walk_of_many_jobs_over_hosts_breaks_no_limit_and_starves_none(
    seed: int, autojump_clock: trio.testing.MockClock
) -> None:
    chance = random.Random(seed)
    at_once, delay = chance.randint(1, 3), chance.choice([0.0, 0.25, 1.0])
    limits = limits_of(at_once, delay, longest_pause=20.0, longest_delay=3.0)
    urls = [f"http://h{number}.example/" for number in range(chance.randint(1, 6))]
    own_delay = {url: chance.choice([0.0, 0.0, 2.0, 50.0]) for url in urls}
    under_way, last = defaultdict[str, int](int), defaultdict[str, float](lambda: -math.inf)
    paused = defaultdict[str, float](lambda: -math.inf)
    asked, begun = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
    cancelled = set[int]()
    finished = 0

    async def visit(number: int) -> None:
        nonlocal finished
        url = chance.choice(urls)
        await trio.sleep(chance.random() * 5)
        limit = chance.choice([math.inf, math.inf, math.inf, chance.random() * 30])
        with trio.move_on_after(limit) as scope:
            asked[url].append(number)
            async with limits.turn(url, delay=own_delay[url]):
                now = trio.current_time()
                begun[url].append(number)
                under_way[url] += 1
                try:
                    assert under_way[url] <= at_once
                    assert now >= last[url] + max(delay, min(own_delay[url], 3.0))
                    assert now >= paused[url]
                    last[url] = now
                    await trio.sleep(chance.random() * 2)
                finally:
                    under_way[url] -= 1
        if scope.cancelled_caught:
            cancelled.add(number)
        finished += 1

    async def pause_now_and_then() -> None:
        for _ in range(10):
            await trio.sleep(chance.random() * 4)
            url, seconds = chance.choice(urls), chance.choice([0.5, 3.0, 1000.0])
            paused[url] = max(paused[url], trio.current_time() + min(seconds, 20.0))
            limits.pause(url, seconds)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(pause_now_and_then)
        for number in range(150):
            nursery.start_soon(visit, number)
    assert finished == 150
    for url in urls:
        # In order, despite cancelled tasks in between.
        assert [each for each in asked[url] if each in begun[url]] == begun[url]
        assert set(asked[url]) - set(begun[url]) <= cancelled
        assert limits.waiting(url) == 0
        assert limits.schedule.under_way(url[7:-1]) == 0


# --- Retry-After --------------------------------------------------------------------------------------------

NOW = 784_111_777.0  # Sun, 06 Nov 1994 08:49:37 GMT


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {"Retry-After": "120"}, 120.0),
        (503, {"retry-after": " 0 "}, 0.0),
        (503, {"RETRY-AFTER": "999999999999999999"}, 1e18),
        (503, {"Retry-After": "Sun, 06 Nov 1994 08:50:37 GMT"}, 60.0),
        (503, {"Retry-After": "Sunday, 06-Nov-94 08:50:37 GMT"}, 60.0),
        (503, {"Retry-After": "Sun Nov  6 08:50:37 1994"}, 60.0),
        (503, {"Retry-After": "Sun, 06 Nov 1994 08:40:00 GMT"}, 0.0),
        # The server's clock is an hour slow.
        (429, {"Retry-After": formatdate(NOW - 3500, usegmt=True), "Date": formatdate(NOW - 3600, usegmt=True)}, 100.0),
        (429, {"Retry-After": formatdate(NOW + 7, usegmt=True), "Date": "yesterday"}, 7.0),
        (200, {"Retry-After": "120"}, None),
        (500, {"Retry-After": "120"}, None),
        (429, {}, None),
        (429, {"Retry-After": ""}, None),
        (429, {"Retry-After": "-5"}, None),
        (429, {"Retry-After": "1.5"}, None),
        (429, {"Retry-After": "soon"}, None),
        (429, {"Retry-After": "٣"}, None),
        (429, {"Retry-After": "Sun, 99 Nov 1994 08:49:37 GMT"}, None),
        (429, {"Retry-After": "Sun, 06 Nov 99999 08:49:37 GMT"}, None),
    ],
)  # fmt: skip
def test_retry_after_is_read(status: int, headers: dict[str, str], expected: float | None) -> None:
    assert requested_pause(status, headers, NOW) == expected
