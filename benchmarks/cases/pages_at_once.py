"""Pages at once: so many are opened, read, clicked and closed, all at the same time.

Rule: a page counts when its title was read and the page itself has counted one click; the clock runs from the first
page's opening to the last one's closing. Nobody opens fewer at a time than it was told.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import trio

import cdpengine
from benchmarks.cases.warming import few_first
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

PAGES = (1, 50)
"""The sizes of the curve."""

QUICK = (1, 20)
TURNS = {1: 4, 50: 1}
"""So few: with fifty a turn of all sides takes most of a minute."""

WARM_UP = 2
PATIENCE = 60.0
"""Seconds that a peer may take over a turn."""


async def one(browser: cdpengine.Browser, url: str) -> None:
    """Open a page, read it, click once, close it."""
    page = await browser.new_page(url, timeout=PATIENCE)
    title = await page.title()
    await page.click(await page.find(css="#go"))
    clicks = await page.evaluate("clicks")
    assert (title, clicks) == ("scene", 1), (title, clicks)
    await page.close()


async def at_once(browser: cdpengine.Browser, url: str, count: int) -> float:
    """Return how many pages a second came through."""
    started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(one, browser, url)
    return count / (time.perf_counter() - started)


def by_peer(peer: Peer) -> Callable[[int], Awaitable[float]]:
    async def turn(count: int) -> float:
        (milliseconds,) = await peer.ask("pages_at_once", pages=count, patience=PATIENCE)
        return count / (milliseconds / 1000)

    return turn


async def run(bench: Bench) -> None:
    sizes = QUICK if bench.quick else PAGES
    url = f"{bench.site}/scene"
    async with bench.launch() as browser:
        peers = await bench.peers("pages_at_once")
        for count in sizes:
            turns = min(bench.turn_count, TURNS.get(count, 1))
            few = min(count, WARM_UP)

            async def engine(count: int) -> float:
                return await at_once(browser, url, count)

            sides: dict[str, Turn] = {"engine": few_first(engine, few, count)}
            for name, peer in peers.items():
                sides[name] = few_first(by_peer(peer), few, count)
            await bench.turns(
                "pages_at_once",
                sides,
                unit="pages/s",
                variant=f"{count} page{'s' if count > 1 else ''}",
                size=count,
                curve="pages at once",
                turns=turns,
            )


CASE = Case(
    name="pages_at_once",
    title="Pages opened, read, clicked and closed at once",
    run=run,
    seconds=50,
    quick_seconds=20,
)
