"""Concurrent pages: opened, read, clicked and closed at the same time.

Rule: a page counts when its title was read and the page counted one click. The clock runs from the start of the
first page to the end of the last. Every side opens as many at a time as requested. A further figure ends with the
last click: the engine, Playwright and Puppeteer wait until a page is gone, which takes Chrome about 12 ms; the
others only request it. Selenium, which handles one page after the other, opens one only.
"""

from __future__ import annotations

import time
from functools import partial

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn

PAGES = (1, 50)
QUICK = (1, 20)
TURNS = {1: 4, 50: 1}
"""Few turns: with fifty pages, a turn of all sides takes most of a minute."""

WARM_UP = 2
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


async def at_once(browser: cdpengine.Browser, url: str, count: int) -> dict[str, float]:
    """Return pages a second in total, and until the last click."""
    clicked: list[float] = []

    async def through() -> None:
        clicked.append(await one(browser, url))

    started = time.perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(count):
            nursery.start_soon(through)
    rate = count / (time.perf_counter() - started)
    return {"values": rate, "clicked": count / (max(clicked) - started)}


async def run(bench: Bench) -> None:
    """Measure."""
    async with bench.launch() as browser:

        async def sides(count: int) -> dict[str, Turn]:
            peers = await bench.peer_turns("pages_at_once", count=count, at_once=count, patience=PATIENCE)
            return {"engine": partial(at_once, browser, f"{bench.site}/scene", count), **peers}

        for count in QUICK if bench.quick else PAGES:
            taken, variant = await sides(count), f"{count} page{'s' * (count > 1)}"
            if count > 1:
                taken.pop("selenium", None)
            await bench.turns(
                taken,
                variant,
                unit="pages/s",
                further={"clicked": (f"{variant}, until the last click", "pages/s")},
                turns=min(bench.turn_count, TURNS.get(count, 1)),
                warm=await sides(min(count, WARM_UP)),
            )


CASE = Case("pages_at_once", "Pages opened, read, clicked and closed at once", run, 50, 20)
