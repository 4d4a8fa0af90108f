"""Actions: click, hover, typing 500 characters, filling in 500 characters, and clicks by locator and on tab 20.

Rule: every side acts on the same scene, one second after its browser's start, with 4 ms between two actions (like
a program that checks something in between). Every side verifies with the page's record that the timed action
happened. Only the engine, Playwright and Puppeteer check whether a click can land.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import trio

from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.engine import Engine

REST = 1.0  # time for a browser to settle after its start, in seconds
TABS = 20
TEXT = ("the quick brown fox jumps over the lazy dog " * 12)[:500]
REPEATS = {"click": 10, "hover": 8, "type": 1, "fill": 8, "click_tab": 6}
QUICK = {"click": 10, "hover": 6, "type": 1, "fill": 4, "click_tab": 4}
"""Number of actions in a turn."""

TURNS = {"click": 5, "hover": 4, "type": 6, "fill": 4, "click_tab": 2}
QUICK_TURNS = {"click": 3, "hover": 2, "type": 6, "fill": 3, "click_tab": 1}
"""Maximum number of turns. Hovering and typing are slow on some sides."""


async def run(bench: Bench) -> None:
    async with bench.launch() as browser:
        engine = Engine(browser, bench.site)
        await engine.new_tab()
        await trio.sleep(REST)
        for verb in ("click", "hover"):
            await measure(bench, engine, verb)
        for verb in ("type", "fill"):
            await measure(bench, engine, verb, text=TEXT)
        await measure_locators(bench, engine)
        await measure(bench, engine, "click_tab", tabs=TABS)


async def measure_locators(bench: Bench, engine: Engine) -> None:
    """Measure clicks by locator beside clicks by ref, in turns on one page."""
    repeats, turns = (
        (QUICK["click"], QUICK_TURNS["click"]) if bench.quick else (REPEATS["click"], TURNS["click"])
    )
    sides = {"engine": "css", "engine: by role and name": "role", "engine: by ref": "ref"}
    ways = {name: partial(engine.tell, "click_by", way=way, repeats=repeats) for name, way in sides.items()}
    await bench.turns(ways, "click by locator", unit="ms", turns=min(bench.turn_count, turns))


async def measure(bench: Bench, engine: Engine, verb: str, **order: Any) -> None:
    """Measure an action. Clicks on the last of many tabs have a further figure: those on the first."""
    repeats, turns = (QUICK[verb], QUICK_TURNS[verb]) if bench.quick else (REPEATS[verb], TURNS[verb])
    sides = await bench.sides(engine, verb, repeats=repeats, **order)
    await bench.turns(
        sides,
        f"click on tab {TABS} of {TABS}" if verb == "click_tab" else verb,
        unit="ms",
        further={"first": (f"click on tab 1 of {TABS}", "ms")} if verb == "click_tab" else None,
        turns=min(bench.turn_count, turns),
    )


CASE = Case(name="actions", title="Actions on a page", run=run, seconds=65, quick_seconds=35)
