"""Concurrent pages: opened, read, clicked and closed at the same time.

Rule: a page counts when its title was read and the page counted one click. The clock runs from the start of the
first page to the end of the last. Every side opens as many at a time as requested. A further figure ends with the
last click: the engine, Playwright and Puppeteer wait until a page is gone, which takes Chrome about 12 ms; the
others only request it. Selenium, which handles one page after the other, opens one only.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import trio

import cdpengine
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.cases.warming import few_first
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

PAGES = (1, 50)
"""Sizes of the curve."""

QUICK = (1, 20)
TURNS = {1: 4, 50: 1}
"""Few turns: with fifty pages, a turn of all sides takes most of a minute."""

WARM_UP = 2
ONE_AFTER_THE_OTHER = ("selenium",)
PATIENCE = 60.0
"""Timeout of a peer's turn, in seconds."""


async def one(browser: cdpengine.Browser, url: str) -> float:
    """Open a page, read it, click once, and close it. Return the time of the counted click."""
    page = await browser.new_page(url, timeout=PATIENCE)
    title = await page.title()
    await page.click(await page.find(css="#go"))
    clicks = await page.evaluate("clicks")
    assert (title, clicks) == ("scene", 1), (title, clicks)
    clicked = time.perf_counter()
    await page.close()
    return clicked


async def at_once(browser: cdpengine.Browser, url: str, count: int) -> tuple[float, float]:
    """Return pages a second in total, and until the last click."""
    clicked: list[float] = []

    async def through() -> None:
        clicked.append(await one(browser, url))

    started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(through)
    return count / (time.perf_counter() - started), count / (max(clicked) - started)


def by_peer(name: str, peer: Peer, until_clicked: FurtherFigure) -> Callable[[int], Awaitable[float]]:
    async def turn(count: int) -> float:
        said = await peer.tell("pages_at_once", pages=count, patience=PATIENCE)
        until_clicked.add(name, [count / (milliseconds / 1000) for milliseconds in said["clicked"]])
        (milliseconds,) = said["values"]
        return float(count / (milliseconds / 1000))

    return turn


async def run(bench: Bench) -> None:
    sizes = QUICK if bench.quick else PAGES
    url = f"{bench.site}/scene"
    async with bench.launch() as browser:
        peers = await bench.peers("pages_at_once")
        for count in sizes:
            turns = min(bench.turn_count, TURNS.get(count, 1))
            few = min(count, WARM_UP)
            until_clicked = FurtherFigure()

            async def engine(count: int, until_clicked: FurtherFigure = until_clicked) -> float:
                rate, clicked = await at_once(browser, url, count)
                until_clicked.add("engine", clicked)
                return rate

            sides: dict[str, Turn] = {"engine": few_first(engine, few, count)}
            for name, peer in peers.items():
                if count == 1 or name not in ONE_AFTER_THE_OTHER:
                    sides[name] = few_first(by_peer(name, peer, until_clicked), few, count)
            words = f"{count} page{'s' if count > 1 else ''}"
            measured = await bench.turns(
                "pages_at_once",
                sides,
                unit="pages/s",
                variant=words,
                size=count,
                curve="pages at once",
                turns=turns,
            )
            until_clicked.record(bench, measured, variant=f"{words}, until the last click", unit="pages/s")


CASE = Case(
    name="pages_at_once",
    title="Pages opened, read, clicked and closed at once",
    run=run,
    seconds=50,
    quick_seconds=20,
)
