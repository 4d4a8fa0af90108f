"""An agent's view: the first snapshot of a new document, and a step: a click and the snapshot after it.

Rule: navigations are not counted. A click changes the button's row, and the snapshot must show that. The floors are
Chrome's times for a new document: `an answer` waits until the loaded page is idle; `roles and names` returns Chrome's
role and name of every element in one call; `getFullAXTree` returns the whole tree.
"""

from __future__ import annotations

import time

from benchmarks.floor.websocket import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.engine import PATIENCE, Engine

ROWS = (10, 100, 1_000, 5_000)
QUICK = (100, 1_000)
ROLES_AND_NAMES = """Array.from(document.querySelectorAll("*"),
  (at) => `${at.localName} ${at.computedRole} ${at.computedName}`).join("\\n")"""

Call = tuple[str, dict[str, object]]


def in_a_row(rows: int) -> int:
    """Return the number of documents, and of steps, in a turn."""
    return 4 if rows <= 100 else 2 if rows <= 1_000 else 1


def floor_turn(bare: Counting, url: str, times: int, *calls: Call) -> Turn:
    """Return a turn of Chrome's time to answer these calls about a new document."""

    async def turn() -> list[float]:
        taken = []
        for _ in range(times):
            await bare.navigate(url)
            started = time.perf_counter()
            for method, params in calls:
                said = await bare.call(method, **params)
            taken.append((time.perf_counter() - started) * 1000)
            assert "error" not in said[:60], said[:200]
        await bare.call("Accessibility.disable")
        return taken

    return turn


def floors_of(bare: Counting, url: str, rows: int) -> dict[str, Turn]:
    times = in_a_row(rows)
    enable: Call = ("Accessibility.enable", {})
    root: Call = ("Accessibility.getRootAXNode", {})
    roles: Call = ("Runtime.evaluate", {"expression": ROLES_AND_NAMES, "returnByValue": True})
    floors = {
        "floor: an answer": floor_turn(bare, url, times, ("Runtime.evaluate", {"expression": "1"})),
        "floor: roles and names": floor_turn(bare, url, times, enable, root, roles),
    }
    if rows <= 1_000:  # above, it takes 5 s, and the case `growth` measures it
        tree: Call = ("Accessibility.getFullAXTree", {})
        floors["floor: getFullAXTree"] = floor_turn(bare, url, times, enable, tree)
    return floors


async def by_rows(bench: Bench, engine: Engine, bare: Counting, rows: int) -> None:
    url, times = f"{bench.site}/shop/{rows}", in_a_row(rows)
    large = rows > 1_000  # a round takes half a minute; the smaller pages were the warm-up
    turns, warm_up = (1, 0) if large else (min(bench.turn_count, 3 if rows == 1_000 else 4), 1)
    first = await bench.sides(engine, "first_look", patience=PATIENCE * times, url=url, times=times)
    first |= floors_of(bare, url, rows)
    await bench.turns(first, f"the first look, {rows:,} rows", unit="ms", turns=turns, warm_up=warm_up)
    await bench.turns(
        await bench.sides(engine, "step", patience=PATIENCE * times, url=url, times=times),
        f"a step (click and look), {rows:,} rows",
        unit="ms",
        further={"looks": (f"the look after a click, {rows:,} rows", "ms")},
        turns=turns,
        warm_up=warm_up,
    )


async def run(bench: Bench) -> None:
    async with bench.launch() as browser, own_page(bench.executable, f"{bench.site}/blank") as bare:
        engine = Engine(browser, bench.site)
        for rows in QUICK if bench.quick else ROWS:
            await by_rows(bench, engine, bare, rows)


CASE = Case("looks", "What an agent sees: first looks, and steps", run, seconds=90, quick_seconds=30)
