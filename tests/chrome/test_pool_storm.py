"""A pool under stress: jobs cancelled at random, browsers killed, pages hung. Each item has exactly one
outcome.

A usual run is small. `--run-slow` runs 2,000 jobs on two browsers with ten pages each: 500 jobs are
cancelled, 20 hang, and five browsers are killed.
"""

from __future__ import annotations

import gc
import logging
import os
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

import pytest
import trio
from busy_machine import slack
from pools import kill_browser, wait_until_idle, wait_until_ready
from pytest_httpserver import HTTPServer
from rounds import rounds
from werkzeug import Request, Response

import cdpengine
from cdpengine.pool import BrowserPool, JobResult

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(rounds(120, 900))]

JOBS = rounds(40, 2000)
CANCELLED = JOBS // 4
HUNG = JOBS // 100
KILLS = rounds(1, 5)
PAGES = rounds(4, 10)


def resident() -> int:
    """Return this process's resident memory, in bytes."""
    gc.collect()
    return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder for this test."""
    folder = tmp_path / "t"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_records(caplog: pytest.LogCaptureFixture) -> None:
    """Drop log records, because pytest keeps each one until the test ends."""
    for name in ("cdpengine", "werkzeug"):
        caplog.set_level(logging.CRITICAL + 1, logger=name)


@pytest.mark.parametrize("seed", [1])
async def test_each_job_has_one_outcome(seed: int, temporary: Path, httpserver: HTTPServer) -> None:
    random = Random(seed)
    numbers = list(range(JOBS))
    random.shuffle(numbers)
    to_cancel, to_hang, to_kill = (
        set(numbers[:CANCELLED]),
        set(numbers[CANCELLED : CANCELLED + HUNG]),
        set(numbers[CANCELLED + HUNG : CANCELLED + HUNG + KILLS]),
    )
    visits: Counter[int] = Counter()

    def visit(request: Request) -> Response:
        visits[int(request.args["n"])] += 1
        return Response(f"<title>{request.args['n']}</title>", content_type="text/html")

    httpserver.expect_request("/").respond_with_handler(visit)
    killed = 0

    async def work(page: cdpengine.Page, number: int) -> str:
        nonlocal killed
        await page.goto(httpserver.url_for(f"/?n={number}"))
        if number in to_kill:
            to_kill.remove(number)
            killed += 1
            await kill_browser(page)
        if number in to_hang:
            await page.evaluate("while (true) {}", timeout=120)
        return await page.title()

    before = descriptors()
    outcomes: list[JobResult[str]] = []
    cancelled: set[int] = set()
    memory: list[int] = []
    async with BrowserPool(browsers=2, pages=PAGES) as pool:
        await wait_until_ready(pool, 2)
        started = trio.current_time()
        async with trio.open_nursery() as nursery:
            results = pool.map(work, range(JOBS), retries=4, timeout=slack(rounds(4, 8)), retry_if=is_loss)

            async def cancel_some() -> None:
                """Cancel the chosen jobs at a random moment after their start."""
                left = set(to_cancel)
                while left:
                    for index in list(left):
                        if random.random() < 0.2 and results.cancel(index):
                            cancelled.add(index)
                            left.discard(index)
                    left = {index for index in left if index >= len(outcomes) - 8 * PAGES}
                    await trio.sleep(0.005)

            nursery.start_soon(cancel_some)
            async for result in results:
                outcomes.append(result)
                if len(outcomes) % (JOBS // 4) == 0:
                    httpserver.clear_log()  # the test's server keeps each request
                    memory.append(resident())
            nursery.cancel_scope.cancel()
        took = trio.current_time() - started
        await wait_until_idle(pool)
        counts = pool.statistics()
        # Check the leftovers one by one: each browser has only its default context.
        await wait_until_ready(pool, 2)
        seen: set[str] = set()
        while len(seen) < 2:
            async with pool.page() as page, pool.page() as other:
                for each in (page, other):
                    answer = await each.browser.session.call("Target.getBrowserContexts")
                    assert len(answer["browserContextIds"]) <= 2
                    seen.add(each.browser.key)
    print(f"{JOBS} jobs in {took:.1f} s, {counts}, resident MB {[number >> 20 for number in memory]}")

    assert Counter(result.index for result in outcomes) == Counter(range(JOBS))
    errors = {result.index: result.error for result in outcomes if result.error is not None}
    assert len(cancelled) > CANCELLED // 3
    for index, error in errors.items():
        assert (index in cancelled) == isinstance(error, cdpengine.errors.JobCancelledError), error
        assert index in cancelled or (
            index in to_hang and isinstance(error, cdpengine.errors.DeadlineExceededError)
        ), error
    assert cancelled <= set(errors)
    assert set(errors) == cancelled | to_hang
    assert all(result.unwrap() == str(result.index) for result in outcomes if result.ok)
    assert all(visits[result.index] >= 1 for result in outcomes if result.ok)
    assert all(visits[result.index] <= len(result.attempts) for result in outcomes if result.ok)
    assert killed >= KILLS - len(cancelled & set(numbers[CANCELLED + HUNG :]))
    assert counts.replaced.get("lost", 0) >= min(killed, 1)
    assert counts.jobs == JOBS
    assert memory[-1] - memory[0] < 32 << 20
    with trio.fail_after(20):
        while descriptors() > before or any(temporary.iterdir()):  # noqa: ASYNC110 - it has no event
            await trio.sleep(0.05)


def is_loss(error: Exception) -> bool:
    """Return whether to retry a job: its browser was lost."""
    return isinstance(
        error,
        cdpengine.errors.LeaseEndedError
        | cdpengine.errors.ConnectionLostError
        | cdpengine.errors.SessionGoneError,
    )
