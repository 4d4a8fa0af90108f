"""Manners over time: robots.txt is cached, one task refreshes it, others may be cancelled, and turns obey it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from email.utils import formatdate
from time import time

import pytest
import trio
import trio.testing
from robots_site import RULES, answer, disallowed, robots_of, site_of

from cdpengine.errors import DisallowedByRobotsError
from cdpengine.pool.manners import Manners
from cdpengine.pool.manners.robots import LONGEST_CACHED

# --- cached, refreshed, refreshed by one task
# ------------------------------------------------------------------


async def later(clock: trio.testing.MockClock, seconds: float) -> None:
    """Let time pass. Meanwhile the clock runs in real time."""
    clock.jump(seconds)
    await trio.lowlevel.checkpoint()


@pytest.fixture
def clock(mock_clock: trio.testing.MockClock) -> trio.testing.MockClock:
    mock_clock.rate = 1.0  # servers need real time
    return mock_clock


async def test_rules_are_valid_for_a_day(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES), answer(404)) as site:
        manners = site.manners()
        assert await disallowed(manners, f"{site.origin}/private") is not None
        await later(clock, LONGEST_CACHED - 100)
        assert await disallowed(manners, f"{site.origin}/private") is not None
        assert len(site.requested) == 1
        await later(clock, 101)
        assert await disallowed(manners, f"{site.origin}/private") is None
        assert len(site.requested) == 2


async def test_old_rules_stay_valid_while_the_server_is_unreachable(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES), answer(500), answer(200, b"")) as site:
        manners = site.manners()
        assert await disallowed(manners, f"{site.origin}/private") is not None
        await later(clock, LONGEST_CACHED + 1)
        assert await disallowed(manners, f"{site.origin}/private") is not None
        assert await disallowed(manners, f"{site.origin}/public") is None
        assert len(site.requested) == 2
        await later(clock, 61)
        assert await disallowed(manners, f"{site.origin}/private") is None


async def test_a_failing_server_is_asked_less_and_less_often(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(500)) as site:
        manners, waits = site.manners(), list[int]()
        for _ in range(9):
            error = await disallowed(manners, f"{site.origin}/")
            assert error is not None
            assert error.retry_after is not None
            waits.append(round(error.retry_after))
            await later(clock, error.retry_after)
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600]
        assert len(site.requested) == 9


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_sets_the_time_of_the_next_request(
    form: str, clock: trio.testing.MockClock
) -> None:
    value = "300" if form == "seconds" else formatdate(time() + 300, usegmt=True)
    async with site_of(answer(503, Retry_After=value), answer(200, RULES)) as site:
        manners = site.manners()
        error = await disallowed(manners, f"{site.origin}/public")
        assert error is not None
        assert error.retry_after is not None
        assert 295 < error.retry_after <= 300
        again = manners.begin(f"{site.origin}/public")
        assert again is not None
        assert 295 < again - trio.current_time() <= 300
        await later(clock, 300)
        assert await disallowed(manners, f"{site.origin}/public") is None
        assert len(site.requested) == 2


async def test_one_task_asks_and_all_get_the_answer() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners, found = site.manners(), list[bool]()
        site.gate = trio.Event()

        async def check(number: int) -> None:
            path = "/private" if number % 2 else "/public"
            found.append((await disallowed(manners, site.origin + path) is not None) is bool(number % 2))

        async with trio.open_nursery() as nursery:
            for number in range(20):
                nursery.start_soon(check, number)
            await site.was_requested.wait()
            await trio.testing.wait_all_tasks_blocked(0.01)
            site.gate.set()
        assert found == [True] * 20
        assert site.requested == ["/robots.txt"]
        assert site.most_at_once == 1


async def test_origins_are_asked_concurrently() -> None:
    async with site_of(answer(200, RULES)) as one, site_of(answer(200, b"")) as other:
        one.gate = trio.Event()
        manners = one.manners()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(manners.check, f"{one.origin}/x")
            await one.was_requested.wait()
            assert await manners.check(f"{other.origin}/private") == 0.0
            one.gate.set()


@pytest.mark.parametrize("waiting", [False, True])
async def test_a_cancelled_task_does_not_affect_the_others(waiting: bool) -> None:
    """The task is either the one that asks, or one that waits for it."""
    async with site_of(answer(200, RULES)) as site:
        manners, found = site.manners(), list[str]()
        site.gate = trio.Event()
        scopes = [trio.CancelScope() for _ in range(3)]

        async def check(number: int) -> None:
            with scopes[number]:
                found.append(f"{number} {await disallowed(manners, f'{site.origin}/private') is not None}")

        async with trio.open_nursery() as nursery:
            for number in range(3):
                nursery.start_soon(check, number)
                if number == 0:
                    await site.was_requested.wait()
                await trio.testing.wait_all_tasks_blocked(0.01)
            scopes[1 if waiting else 0].cancel()
            await trio.testing.wait_all_tasks_blocked(0.01)
            site.gate.set()
        assert found == (["0 True", "2 True"] if waiting else ["1 True", "2 True"])
        assert len(site.requested) == (1 if waiting else 2)


@pytest.mark.parametrize("call", ["check", "turn"])
async def test_every_coroutine_can_be_cancelled_while_a_server_is_silent(call: str) -> None:
    async with site_of(answer(200, b"")) as site:
        manners = site.manners()
        site.gate = trio.Event()
        calls: dict[str, Callable[[], object]] = {
            "check": lambda: manners.check(f"{site.origin}/x"),
            "turn": lambda: in_turn(manners, f"{site.origin}/x"),
        }
        began = trio.current_time()
        with trio.move_on_after(0.1) as scope:
            await calls[call]()  # type: ignore[misc]
        assert scope.cancelled_caught
        assert trio.current_time() - began < 5
        site.gate.set()
        assert manners.begin(f"{site.origin}/x") is None  # no turn was taken
        manners.end(f"{site.origin}/x")
        await in_turn(manners, f"{site.origin}/x")


async def in_turn(manners: Manners, url: str) -> None:
    async with manners.turn(url):
        pass


# --- combined
# -------------------------------------------------------------------------------------------------


async def test_a_turn_keeps_robots_delay_and_number(clock: trio.testing.MockClock) -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners(at_once=1)
        await in_turn(manners, f"{site.origin}/1")
        again = manners.begin(f"{site.origin}/2")
        assert again is not None
        assert 2 < again - trio.current_time() <= 3
        with pytest.raises(DisallowedByRobotsError):
            await in_turn(manners, f"{site.origin}/private")
        await later(clock, 3)
        assert manners.begin(f"{site.origin}/2") is None
        manners.end(f"{site.origin}/2")


async def test_robots_may_be_off() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = site.manners(robots=False)
        assert await manners.check(f"{site.origin}/private") == 0.0
        await in_turn(manners, f"{site.origin}/private")
        assert site.requested == []


async def test_manners_are_off_for_the_local_machine() -> None:
    async with site_of(answer(200, RULES)) as site:
        manners = Manners()
        url = f"{site.origin}/private"
        assert not manners.are_due(url)
        assert await manners.check(url) == 0.0
        for _ in range(5):
            assert manners.begin(url) is None
        assert manners.pause(url, 9.0) == 0.0
        assert manners.note_response(url, 503, {"Retry-After": "9"}) == 0.0
        async with manners.turn(url), manners.turn(url), manners.turn(url):
            pass
        manners.end(url)
        assert site.requested == []


@pytest.mark.parametrize("url", ["about:blank", "data:text/html,x", "not a URL", "http://"])
async def test_urls_outside_of_the_web_need_no_manners(url: str) -> None:
    manners = Manners(foreign_only=False)
    assert await manners.check(url) == 0.0
    assert manners.begin(url) is None
    manners.end(url)
    await in_turn(manners, url)
    assert manners.pause(url, 5.0) == 0.0
    assert manners.admit(url)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (429, {"Retry-After": "120"}, 120),
        (503, {"Retry-After": "99999"}, 600),
        (429, {}, 10),
        (503, {"Retry-After": "later"}, 10),
        (200, {"Retry-After": "120"}, 0),
        (404, {}, 0),
    ],
)
async def test_an_answer_pauses_the_host_for_all(
    status: int, headers: dict[str, str], expected: float
) -> None:
    manners = Manners(delay=0.0, robots=False)
    assert manners.note_response("https://shop.example.com/a", status, headers) == pytest.approx(expected)
    again = manners.begin("http://shop.example.com:8080/b")
    if not expected:
        assert again is None
    else:
        assert again is not None
        assert again - trio.current_time() == pytest.approx(expected, abs=2)
    assert manners.begin("http://other.example.com/") is None


WITHOUT_DESCRIPTORS = """
import os, sys, trio
from cdpengine.errors import ResourcesExhaustedError
from cdpengine.pool.manners import Manners

async def main():
    manners = Manners(foreign_only=False)
    if sys.argv[1] == "later":  # when all that it imports is there
        try:
            await manners.check("http://127.0.0.1:9/")
        except Exception:
            pass
    else:
        import cdpengine.pool.manners.robots_fetch, protego
    held = []
    try:
        while True:
            held.append(os.open(os.devnull, os.O_RDONLY))
    except OSError:
        pass
    try:
        await manners.check("http://127.0.0.2:9/")
    except ResourcesExhaustedError as error:
        print(error)

import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
trio.run(main)
"""


@pytest.mark.parametrize("when", ["at first", "later"])
async def test_a_local_shortage_is_not_blamed_on_the_server(when: str) -> None:
    done = await trio.run_process([sys.executable, "-c", WITHOUT_DESCRIPTORS, when], capture_stdout=True)
    output = done.stdout.decode()
    assert output.startswith(
        "could not fetch http://127.0.0.2:9/robots.txt: the program has no file descriptors left"
    )


async def test_origins_in_memory_are_bounded() -> None:
    robots = robots_of()
    for number in range(3_000):
        robots._origin(f"http://h{number}.example")
    assert len(robots._origins) == 1_000
    assert "http://h2999.example" in robots._origins
