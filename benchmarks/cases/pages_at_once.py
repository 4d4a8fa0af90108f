"""Concurrent pages: opened, read, clicked and closed at the same time.

Rule: a page counts when its title was read and it counted one click. A further figure ends with the last click: the
engine, Playwright and Puppeteer wait until a page is gone; the others only request it.
"""

from __future__ import annotations

from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.engine import PATIENCE, Engine

PAGES = (1, 50)
QUICK = (1, 20)
TURNS = {1: 4, 50: 1}  # few turns: with fifty pages, a turn of all sides takes most of a minute
WARM_UP = 2


async def run(bench: Bench) -> None:
    async with bench.launch() as browser:
        engine = Engine(browser, bench.site)

        async def sides(count: int) -> dict[str, Turn]:
            return await bench.sides(engine, "pages_at_once", count=count, at_once=count, patience=PATIENCE)

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
