"""The pool: the cost of a job on a leased page, compared with a page opened by hand.

Rule: a job is a page in a separate context: opened, navigated, its title read, closed. "By hand" is the same engine
with ten tasks that create contexts. The overhead of a pool, and of Dask, is the difference in each round.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.engine import Engine
from benchmarks.harness.figures import differences
from cdpengine.cluster import BrowserCluster
from cdpengine.pool import BrowserPool, LaunchedBrowsers
from cdpengine.pool.process_memory import tree_memory

HAND, WORKER = "engine: by hand", "engine: a worker of Dask"

JOBS, QUICK_JOBS = 12, 24
AT_ONCE = 10
TURNS = 4
MB = 1 << 20
PATIENCE = 120.0  # timeout of a peer's turn, in seconds


async def job(page: cdpengine.Page, url: str) -> str:
    await page.goto(url)
    title = await page.title()
    assert title == "scene", title
    return title


async def by_pool(pool: BrowserPool | BrowserCluster, url: str, jobs: int, at_once: int) -> float:
    """Return the milliseconds of a job in a pool, or in the pools of workers."""
    started = time.perf_counter()
    async for result in pool.map(job, [url] * jobs, ahead=1 if at_once == 1 else 2 * at_once):
        result.unwrap()
    return (time.perf_counter() - started) * 1000 / jobs


@asynccontextmanager
async def open_pool(bench: Bench, pages: int) -> AsyncIterator[BrowserPool]:
    browsers = LaunchedBrowsers(1, pages=pages, options={"executable": bench.executable})
    async with BrowserPool(browsers) as pool:
        yield pool


async def memory_of_browser(page: cdpengine.Page) -> float:
    """Return the memory of the page's browser in megabytes, for all its processes."""
    answer = await page.browser.session.call("SystemInfo.getProcessInfo")
    pid = next(each["id"] for each in answer["processInfo"] if each["type"] == "browser")
    return await trio.to_thread.run_sync(tree_memory, pid) / MB


async def run(bench: Bench) -> None:
    url = f"{bench.site}/scene"
    async with (
        bench.launch() as browser,
        open_pool(bench, AT_ONCE) as pool,
        BrowserCluster(workers=1, pages=AT_ONCE, launch={"executable": bench.executable}) as worker,
    ):
        engine = Engine(browser, bench.site)
        for at_once in (1, AT_ONCE):
            jobs = QUICK_JOBS if bench.quick else JOBS
            count = jobs if at_once > 1 else max(3, jobs // 4)
            peers = await bench.peer_turns("jobs", count=count, at_once=at_once, patience=PATIENCE)
            sides: dict[str, Turn] = {
                "engine": partial(by_pool, pool, url, count, at_once),
                HAND: partial(engine.tell, "jobs", count=count, at_once=at_once),
                WORKER: partial(by_pool, worker, url, count, at_once),
                **peers,
            }
            variant = f"a job, {at_once} at once" if at_once > 1 else "a job, one after another"
            warm_up = 1 if at_once == 1 else 0  # the earlier jobs were the warm-up
            turns = min(TURNS, bench.turn_count)
            measured = await bench.turns(sides, variant, unit="ms", turns=turns, warm_up=warm_up)
            added = [side for side in differences(measured, HAND) if side.side in ("engine", WORKER)]
            bench.record(f"what is added to {variant}", added, unit="ms", compared=False)
    await memory(bench, url, 5 if bench.quick else 30)


async def memory(bench: Bench, url: str, pages: int) -> None:
    async with open_pool(bench, pages + 1) as pool:

        async def of_one() -> float:
            async with pool.page(url) as page:
                return await memory_of_browser(page)

        async def of_each() -> float:
            async with pool.page(url) as first, AsyncExitStack() as held:
                before = await memory_of_browser(first)
                for _ in range(pages):
                    await held.enter_async_context(pool.page(url))
                return (await memory_of_browser(first) - before) / pages

        await bench.turns({"engine": of_one}, "a browser with one page", unit="MB", turns=3)
        await bench.turns({"engine": of_each}, f"each of {pages} open pages", unit="MB", turns=1, warm_up=0)


CASE = Case("pool", "Jobs on pages of their own contexts: a pool, and by hand", run, 110, 60)
