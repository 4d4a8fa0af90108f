"""The pool: the cost of a job on a leased page, compared with a page opened by hand.

Rule: a job is a page in a separate context: opened, navigated, its title read, closed. A turn is 12 jobs, ten
concurrently; 24 in quick runs with fewer sides, because the promised difference is small. The clock runs from the
first job to the end of the last. "By hand" is the same engine with ten tasks that create contexts. The overhead of
a pool, and of Dask, is the difference in each round. Dask's workers are processes of this machine.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.peers import Peer
from cdpengine.cluster import BrowserCluster
from cdpengine.pool import BrowserPool, LaunchedBrowsers, LaunchOptions
from cdpengine.pool.process_memory import tree_memory

HAND, WORKER = "engine: by hand", "engine: a worker of Dask"

JOBS = 12
AT_ONCE = 10
TURNS = 4
MB = 1 << 20
QUICK_JOBS, QUICK_TURNS = 24, 4
PATIENCE = 120.0
"""Timeout of a peer's turn, in seconds."""


async def job(page: cdpengine.Page, url: str) -> str:
    """Perform the job of every side on a page."""
    await page.goto(url)
    title = await page.title()
    assert title == "scene", title
    return title


async def by_hand(browser: cdpengine.Browser, url: str, jobs: int, at_once: int) -> float:
    """Return the milliseconds of a job without a pool."""
    left = iter(range(jobs))

    async def work() -> None:
        for _ in left:
            async with browser.new_context() as context:
                await job(await context.new_page(), url)

    started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(work)
    return (time.perf_counter() - started) * 1000 / jobs


async def by_pool(pool: BrowserPool | BrowserCluster, url: str, jobs: int, ahead: int) -> float:
    """Return the milliseconds of a job in a pool, or in the pools of workers."""
    started = time.perf_counter()
    async for result in pool.map(job, [url] * jobs, ahead=ahead):
        result.unwrap()
    return (time.perf_counter() - started) * 1000 / jobs


def by_peer(peer: Peer, jobs: int, at_once: int) -> Turn:
    async def turn() -> float:
        (milliseconds,) = await peer.ask("jobs", jobs=jobs, at_once=at_once, patience=PATIENCE)
        return milliseconds / jobs

    return turn


@asynccontextmanager
async def open_pool(bench: Bench, browsers: int, pages: int) -> AsyncIterator[BrowserPool]:
    """Open a pool with the browser of all sides."""
    async with BrowserPool(
        LaunchedBrowsers(browsers, pages=pages, options={"executable": bench.executable})
    ) as pool:
        yield pool


def difference(measured: Measurement, sides: Sequence[str], variant: str) -> Measurement:
    """Return how much slower each side is than by hand, in each round; negative if faster."""
    taken = {side.side: side.turns for side in measured.sides}
    by_side = [
        SideFigures(side, [(each[0] - hand[0],) for each, hand in zip(taken[side], taken[HAND], strict=True)])
        for side in sides
    ]
    return Measurement(
        "pool", variant, unit="ms", sides=tuple(by_side), reference=measured.reference, compared=False
    )


async def memory_of_browser(page: cdpengine.Page) -> float:
    """Return the memory of the page's browser in megabytes, for all its processes."""
    answer = await page.browser.session.call("SystemInfo.getProcessInfo")
    pid = next(each["id"] for each in answer["processInfo"] if each["type"] == "browser")
    return await trio.to_thread.run_sync(tree_memory, pid) / MB


async def memory_of_pages(pool: BrowserPool, url: str, pages: int) -> float:
    """Return the memory that each page adds to its browser in megabytes, for all its processes."""
    async with pool.page(url) as first:
        before = await memory_of_browser(first)
        async with AsyncExitStack() as held:
            for _ in range(pages):
                await held.enter_async_context(pool.page(url))
            return (await memory_of_browser(first) - before) / pages


async def run(bench: Bench) -> None:
    url = f"{bench.site}/scene"
    jobs, turns = (QUICK_JOBS, QUICK_TURNS) if bench.quick else (JOBS, TURNS)
    launch: LaunchOptions = {"executable": bench.executable}
    async with (
        bench.launch() as browser,
        open_pool(bench, 1, AT_ONCE) as pool,
        BrowserCluster(workers=1, pages=AT_ONCE, launch=launch) as worker,
    ):
        peers = await bench.peers("jobs")
        for at_once in (1, AT_ONCE):
            count = jobs if at_once > 1 else max(3, jobs // 4)

            async def hand(count: int = count, at_once: int = at_once) -> float:
                return await by_hand(browser, url, count, at_once)

            async def pooled(count: int = count, at_once: int = at_once) -> float:
                return await by_pool(pool, url, count, 1 if at_once == 1 else 2 * at_once)

            async def by_worker(count: int = count, at_once: int = at_once) -> float:
                return await by_pool(worker, url, count, 1 if at_once == 1 else 2 * at_once)

            sides: dict[str, Turn] = {"engine": pooled, HAND: hand, WORKER: by_worker}
            for name, peer in peers.items():
                sides[name] = by_peer(peer, count, at_once)
            variant = f"a job, {at_once} at once" if at_once > 1 else "a job, one after another"
            measured = await bench.turns(
                "pool",
                sides,
                unit="ms",
                variant=variant,
                turns=min(turns, bench.turn_count),
                warm_up=1 if at_once == 1 else 0,  # the earlier jobs were the warm-up
            )
            bench.record(difference(measured, ("engine", WORKER), f"what is added to {variant}"))

    pages = 5 if bench.quick else 30
    async with open_pool(bench, 1, pages + 1) as pool:

        async def memory() -> float:
            return await memory_of_pages(pool, url, pages)

        async def memory_of_one() -> float:
            async with pool.page(url) as page:
                return await memory_of_browser(page)

        await bench.turns(
            "pool", {"engine": memory_of_one}, unit="MB", variant="a browser with one page", turns=3
        )
        await bench.turns(
            "pool",
            {"engine": memory},
            unit="MB",
            variant=f"each of {pages} open pages",
            turns=1,
            warm_up=0,
        )


CASE = Case(
    name="pool",
    title="Jobs on pages of their own contexts: a pool, and by hand",
    run=run,
    seconds=110,
    quick_seconds=60,
)
