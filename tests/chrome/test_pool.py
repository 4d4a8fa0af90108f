"""Pools of each kind of browser: leases, jobs and lost browsers, checked against the pages' record."""

from __future__ import annotations

import gc
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trio
import trio.lowlevel
from pools import KINDS, kill_browser, members_of, wait_until, wait_until_idle, wait_until_ready
from pytest_httpserver import HTTPServer
from rounds import rounds
from werkzeug import Request, Response

import cdpengine
from cdpengine.pool import BrowserPool, JobResult, LaunchedBrowsers, RemoteBrowsers

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(120)]

COUNT = rounds(5, 15)
"""Items of one map. One in five raises, and one throws in the page."""


@pytest.fixture(params=KINDS)
async def members(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[LaunchedBrowsers | RemoteBrowsers]:
    async with members_of(request.param, tmp_path) as members:
        yield members


@pytest.fixture
async def pool(members: LaunchedBrowsers | RemoteBrowsers) -> AsyncIterator[BrowserPool]:
    async with BrowserPool(members, pages=3) as pool:
        await wait_until_ready(pool, 2)
        yield pool


@pytest.fixture
def site(httpserver: HTTPServer) -> HTTPServer:
    """Pages that give each new visitor a number as a cookie, and show it."""
    numbers = itertools.count(1)

    def visit(request: Request) -> Response:
        number = request.cookies.get("number") or str(next(numbers))
        response = Response(f"<title>{number}</title>", content_type="text/html")
        response.set_cookie("number", number, max_age=600)
        return response

    httpserver.expect_request("/visit").respond_with_handler(visit)
    return httpserver


async def title(page: cdpengine.Page, url: str) -> str:
    await page.goto(url)
    return await page.title()


# --- leases -----------------------------------------------------------------------------------------------------


async def test_each_lease_is_isolated_and_named_context_is_shared(
    pool: BrowserPool, site: HTTPServer
) -> None:
    url = site.url_for("/visit")
    seen = []
    for context in (None, "anna", None, "ben", "anna", "ben"):
        async with pool.page(url, context=context) as page:
            seen.append(await page.title())
            browser, of_context = page.browser, page.context_id
        if context is None:
            with trio.fail_after(5):
                answer = await browser.session.call("Target.getBrowserContexts")
                assert of_context not in answer["browserContextIds"]
        assert page.closed
    assert seen == ["1", "2", "3", "4", "2", "4"]
    assert await pool.close_context("anna")
    assert not await pool.close_context("anna")
    async with pool.page(url, context="anna") as page:
        assert await page.title() == "5"
        assert not await pool.close_context("anna")  # the page is in use


async def test_number_of_pages_is_limited(pool: BrowserPool) -> None:
    most: Counter[str] = Counter()
    done = 0

    async def look(number: int) -> None:
        nonlocal done
        async with pool.page() as page:
            for browser in pool.statistics().browsers:
                most[browser.name] = max(most[browser.name], browser.leases)
            own = [each for each in page.browser.pages if each.context_id is not None]
            most["pages"] = max(most["pages"], len(own))
            assert await page.evaluate(f"{number}") == number
        done += 1

    async with trio.open_nursery() as nursery:
        for number in range(20):
            nursery.start_soon(look, number)
    assert done == 20
    assert most == {"browser 1.1": 3, "browser 2.1": 3, "pages": most["pages"]}
    assert most["pages"] <= 4  # a closing page is still listed for a moment
    assert all(browser.leases == 0 for browser in pool.statistics().browsers)


async def test_higher_priority_leases_come_first(pool: BrowserPool) -> None:
    order: list[int] = []

    async def wait(priority: int, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        task_status.started()
        async with pool.page(priority=priority):
            order.append(priority)

    async with trio.open_nursery() as nursery, trio.open_nursery() as holders:
        release, end = trio.Event(), trio.Event()

        async def hold(until: trio.Event, *, task_status: trio.TaskStatus[None]) -> None:
            async with pool.page():
                task_status.started()
                await until.wait()

        for number in range(pool.capacity):
            await holders.start(hold, end if number else release)
        for priority in (0, 2, 1, 2, 0):
            nursery.start_soon(wait, priority)
        while pool.statistics().waiting < 5:
            await trio.lowlevel.checkpoint()
        with pytest.raises(cdpengine.errors.DeadlineExceededError, match="lease a page"):
            async with pool.page(timeout=0.05):
                pytest.fail("got a page beyond the limit")
        assert pool.statistics().waiting == 5
        release.set()
        await wait_until(lambda: len(order) == 5)
        end.set()
    assert order == [2, 2, 1, 0, 0]


async def test_options_of_a_context(pool: BrowserPool) -> None:
    async with pool.page(locale="de-DE", timezone="Asia/Tokyo") as page:
        shown = "[navigator.language, Intl.DateTimeFormat().resolvedOptions().timeZone]"
        assert await page.evaluate(shown) == ["de-DE", "Asia/Tokyo"]
    async with pool.page(context="one", locale="de-DE"):
        pass
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="options of the context 'one'"):
        async with pool.page(context="one"):
            pytest.fail("a context changed its locale")
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="options among"):
        async with pool.page(context="two", colour="red"):  # type: ignore[call-arg]
            pytest.fail("accepted an unknown option")
    async with pool.page(context="two"):
        pass  # the failed lease left no partial context


# --- jobs -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ordered", [False, True])
async def test_each_item_has_one_result(pool: BrowserPool, ordered: bool) -> None:
    async def work(page: cdpengine.Page, number: int) -> int:
        match number % 5:
            case 1:
                raise LookupError(f"number {number}")
            case 3:
                await page.evaluate("throw new Error('no')")
        return int(await page.evaluate(f"{number} * 2"))

    results: dict[int, JobResult[int]] = {}
    async for result in pool.map(work, range(COUNT), ordered=ordered):
        assert result.index not in results
        results[result.index] = result
    assert set(results) == set(range(COUNT))
    assert not ordered or list(results) == list(range(COUNT))
    for number, result in results.items():
        assert result.item == number
        expected = {1: LookupError, 3: cdpengine.errors.EvaluationFailedError}
        if number % 5 in expected:
            assert isinstance(result.error, expected[number % 5]), result
            assert not result.ok
            with pytest.raises(expected[number % 5]):
                result.unwrap()
        else:
            assert result.unwrap() == number * 2
        assert len(result.attempts) == 1
        assert result.attempts[0].browser.startswith("browser ")
        assert result.attempts[0].error is result.error
    counts = pool.statistics()
    assert (counts.jobs, counts.failed, counts.retried) == (COUNT, COUNT // 5 * 2, 0)


async def test_hung_job_ends_at_its_timeout(pool: BrowserPool) -> None:
    async def hang(page: cdpengine.Page, _number: int) -> None:
        await page.evaluate("while (true) {}", timeout=60)

    result = await pool.run(hang, 0, timeout=0.3)
    assert isinstance(result.error, cdpengine.errors.DeadlineExceededError)
    assert not any(browser.leases for browser in pool.statistics().browsers)


async def test_repeatable_jobs_are_retried(pool: BrowserPool) -> None:
    tried: Counter[int] = Counter()

    async def work(page: cdpengine.Page, number: int) -> int:
        tried[number] += 1
        if number == 0:
            raise ValueError("its own")
        if tried[number] < 3:
            await page.evaluate("new Promise(() => {})", timeout=0.1)
        return tried[number]

    results = {result.index: result async for result in pool.map(work, range(3), retries=2)}
    assert isinstance(results[0].error, ValueError)
    assert [results[each].unwrap() for each in (1, 2)] == [3, 3]
    assert [type(each.error).__name__ for each in results[1].attempts] == [
        "EvaluationTimeoutError", "EvaluationTimeoutError", "NoneType",
    ]  # fmt: skip
    assert tried == {0: 1, 1: 3, 2: 3}
    one = await pool.run(work, 0, retries=1, retry_if=lambda error: isinstance(error, ValueError))
    assert len(one.attempts) == 2
    assert isinstance(one.error, ValueError)


async def test_a_source_is_pulled_as_results_are_taken(pool: BrowserPool) -> None:
    pulled = 0

    async def numbers() -> AsyncIterator[int]:
        nonlocal pulled
        for number in range(100):
            pulled += 1
            yield number

    async def work(page: cdpengine.Page, number: int) -> int:
        return int(await page.evaluate(f"{number}"))

    async with pool.map(work, numbers(), ahead=4) as results:
        taken = 0
        async for _ in results:
            taken += 1
            assert pulled <= taken + 4
            if taken == 10:
                break
    at_the_end = pulled
    assert at_the_end <= 14
    assert not any(browser.leases for browser in pool.statistics().browsers)
    await trio.testing.wait_all_tasks_blocked()
    assert pulled == at_the_end


async def test_leaving_the_loop_stops_its_jobs(pool: BrowserPool) -> None:
    began = 0

    async def work(page: cdpengine.Page, number: int) -> None:
        nonlocal began
        began += 1
        if number:
            await page.evaluate("new Promise(() => {})", timeout=60)

    async for result in pool.map(work, itertools.count()):
        assert result.index == 0
        break
    del result
    gc.collect()
    await wait_until_idle(pool)
    assert began <= 1 + 2 * pool.capacity


async def test_error_of_source_is_raised_after_the_results(pool: BrowserPool) -> None:
    def numbers() -> Iterator[int]:
        yield from range(3)
        raise OSError("the disk")

    async def work(page: cdpengine.Page, number: int) -> int:
        return number

    seen = []
    with pytest.raises(OSError, match="the disk"):
        async for result in pool.map(work, numbers()):
            seen += [result.unwrap()]
    assert sorted(seen) == [0, 1, 2]


async def test_one_job_is_cancelled_by_its_number(pool: BrowserPool) -> None:
    started = trio.Event()

    async def work(page: cdpengine.Page, number: int) -> int:
        if number == 1:
            started.set()
            await page.evaluate("while (true) {}", timeout=60)
        return number

    async with pool.map(work, range(3), ordered=True) as results:
        await started.wait()
        assert results.cancel(1)
        assert not results.cancel(17)
        ended = [result async for result in results]
    assert [type(each.error).__name__ for each in ended] == ["NoneType", "JobCancelledError", "NoneType"]


@pytest.mark.parametrize("fails", [False, True])
async def test_a_job_that_ends_in_spite_of_its_cancellation_counts_as_cancelled(
    pool: BrowserPool, fails: bool
) -> None:
    started = trio.Event()

    async def work(page: cdpengine.Page, number: int) -> int:
        with trio.CancelScope(shield=True):
            started.set()
            await page.evaluate("new Promise((done) => setTimeout(done, 300))", timeout=60)
        if fails:
            raise ValueError(number)
        return number

    async with pool.map(work, [1]) as results:
        await started.wait()
        assert results.cancel(0)
        ended = [result async for result in results]
    assert [type(each.error).__name__ for each in ended] == ["JobCancelledError"]


async def test_jobs_in_one_named_context(pool: BrowserPool, site: HTTPServer) -> None:
    url = site.url_for("/visit")
    first = await pool.run(title, url, context="all")
    assert first.unwrap() == "1"
    assert {result.unwrap() async for result in pool.map(title, [url] * 6, context="all")} == {"1"}


# --- lost browsers ----------------------------------------------------------------------------------------------


async def test_killed_browser_ends_its_leases_with_named_error(pool: BrowserPool) -> None:
    async with pool.page() as other:
        with pytest.raises(cdpengine.errors.LeaseEndedError, match=r"browser \d\.1 ended: ") as caught:
            async with pool.page() as page:
                assert page.browser is not other.browser
                await kill_browser(page)
                await trio.sleep(20)  # the block is cancelled, whatever it waits for
        assert await other.evaluate("1 + 1") == 2  # the other lease continues
    with pytest.raises(cdpengine.errors.LeaseEndedError):
        async with pool.page() as page:
            await kill_browser(page)
            await page.evaluate("new Promise(() => {})", timeout=20)
    await wait_until_ready(pool, 2)
    counts = pool.statistics()
    assert counts.replaced == {"lost": 2}
    assert counts.ended_by_name == 2
    assert caught.value.browser in ("browser 1.1", "browser 2.1")
    async with pool.page() as page:
        assert await page.evaluate("2 + 2") == 4


async def test_jobs_go_on_when_browsers_are_killed(pool: BrowserPool) -> None:
    killed = 0

    async def work(page: cdpengine.Page, number: int) -> int:
        nonlocal killed
        if number % 4 == 3 and killed < 3:
            killed += 1
            await kill_browser(page)
            await trio.sleep(20)
        return int(await page.evaluate(f"{number}"))

    results = {result.index: result async for result in pool.map(work, range(12), retries=3)}
    assert [results[number].unwrap() for number in range(12)] == list(range(12))
    assert killed == 3
    lost = [result for result in results.values() if len(result.attempts) > 1]
    assert len(lost) >= 2  # two of them may have been in one browser
    assert all(
        isinstance(each.error, cdpengine.errors.LeaseEndedError) for one in lost for each in one.attempts[:-1]
    )
    # Not declared repeatable: no job runs twice.
    killed = 2
    results = {result.index: result async for result in pool.map(work, range(3, 12))}
    assert len(results) == 9
    assert any(isinstance(result.error, cdpengine.errors.LeaseEndedError) for result in results.values())
    assert all(len(result.attempts) == 1 for result in results.values())


# --- the end ----------------------------------------------------------------------------------------------------


async def test_draining_pool_finishes_its_jobs(pool: BrowserPool) -> None:
    begun = trio.Event()

    async def work(page: cdpengine.Page, number: int) -> int:
        begun.set()
        return int(await page.evaluate(f"new Promise(done => setTimeout(done, 50, {number}))", timeout=10))

    values: list[int] = []
    async with trio.open_nursery() as nursery:

        async def take() -> None:
            nonlocal values
            with pytest.raises(cdpengine.errors.PoolUnavailableError, match="continue with the items"):
                async for result in pool.map(work, itertools.count()):
                    values += [result.unwrap()]

        nursery.start_soon(take)
        await begun.wait()
        with pytest.raises(cdpengine.errors.DeadlineExceededError):
            await pool.drain(timeout=0.001)
        await pool.drain(timeout=30)
    assert sorted(values) == list(range(len(values)))
    with pytest.raises(cdpengine.errors.PoolUnavailableError, match="drains"):
        async with pool.page():
            pytest.fail("got a page of a draining pool")
    with pytest.raises(cdpengine.errors.PoolUnavailableError, match="drains"):
        pool.map(work, [1])


async def test_stopping_pool_ends_all_with_named_error(pool: BrowserPool) -> None:
    errors: list[BaseException] = []

    async def use() -> None:
        try:
            async with pool.page():
                await trio.sleep_forever()
        except cdpengine.errors.EngineError as error:
            errors.append(error)

    async with trio.open_nursery() as nursery:
        for _ in range(pool.capacity + 2):
            nursery.start_soon(use)
        await wait_until(lambda: pool.statistics().leased == pool.capacity and pool.statistics().waiting == 2)
        pool.stop()
    assert Counter(type(error).__name__ for error in errors) == {
        "LeaseEndedError": pool.capacity, "PoolUnavailableError": 2,
    }  # fmt: skip
    assert all("the pool was stopped" in str(error) for error in errors)


async def test_end_of_block_ends_jobs_of_other_tasks(
    members: LaunchedBrowsers | RemoteBrowsers,
) -> None:
    errors: list[BaseException] = []

    async def use(pool: BrowserPool, *, task_status: trio.TaskStatus[None]) -> None:
        try:
            async with pool.page() as page:
                task_status.started()
                await page.evaluate("new Promise(() => {})", timeout=60)
        except cdpengine.errors.EngineError as error:
            errors.append(error)

    async with trio.open_nursery() as nursery, BrowserPool(members, pages=1) as pool:
        await nursery.start(use, pool)
    assert [str(error) for error in errors] == [
        "the lease of a page of browser 1.1 ended: the pool has ended. Lease another one to continue"
    ] or "browser 2.1" in str(errors[0])
    with pytest.raises(cdpengine.errors.PoolUnavailableError, match="has ended"):
        async with pool.page():
            pytest.fail("used a closed pool")
    with pytest.raises(cdpengine.errors.PoolUnavailableError, match="create a new one"):
        async with pool:
            pytest.fail("used a closed pool")


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", ["page", "block", "run", "map", "aclose", "drain", "close_context"])
@pytest.mark.parametrize("after", [0.0, 0.02, 0.2])
async def test_cancellation_leaves_nothing(pool: BrowserPool, way: str, after: float) -> None:
    async def hang(page: cdpengine.Page, number: int) -> None:
        await page.evaluate("while (true) {}", timeout=60)

    async def go() -> None:
        match way:
            case "page":
                for _ in range(20):
                    async with pool.page():
                        pass
            case "block":
                async with pool.page() as page:
                    await hang(page, 0)
            case "run":
                await pool.run(hang, 1)
            case "map":
                async for _ in pool.map(hang, range(5)):
                    pass
            case "aclose":
                results = pool.map(hang, range(5))
                await trio.lowlevel.checkpoint()
                await results.aclose()
                await trio.sleep_forever()
            case "drain":
                async with trio.open_nursery() as nursery:
                    nursery.start_soon(pool.run, hang, 1)
                    await trio.testing.wait_all_tasks_blocked()
                    await pool.drain()
            case "close_context":
                async with pool.page(context="one"):
                    pass
                await pool.close_context("one")
                await trio.sleep_forever()

    with trio.fail_after(20), trio.move_on_after(after) as scope:
        await go()
    assert scope.cancelled_caught or way == "page"
    await wait_until_idle(pool)
    assert pool.statistics().waiting == 0
    if way != "drain":
        async with pool.page() as page:
            assert await page.evaluate("1") == 1
            assert len([each for each in page.browser.pages if each.context_id == page.context_id]) == 1
