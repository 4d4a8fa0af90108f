"""An agent's view: the first snapshot of a new document, and a step: a click and the snapshot after it.

Rule: each first snapshot has a new document. Its navigation is not counted, but everything that the snapshot needs
is. A click changes the button's row, and the page confirms it in its title, which is read afterwards. Every side
clicks like its users, with its default waits, and reads the whole page.

The floors are Chrome's times for a new document, measured by a bare loop: `an answer` answers nothing, but waits
until the loaded page is idle; `roles and names` returns Chrome's role and name of every element, as one string in
one call; `getFullAXTree` returns the whole tree.
"""

from __future__ import annotations

import time

import attrs

import cdpengine
from benchmarks.floor.websocket import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn

ROWS = (10, 100, 1_000, 5_000)
QUICK = (100, 1_000)
PATIENCE = 60.0
"""Timeout of one snapshot, in seconds."""

ROLES_AND_NAMES = """Array.from(document.querySelectorAll("*"),
  (at) => `${at.localName} ${at.computedRole} ${at.computedName}`).join("\\n")"""

Call = tuple[str, dict[str, object]]


def in_a_row(rows: int) -> int:
    """Return the number of documents, and of steps, in a turn."""
    return 4 if rows <= 100 else 2 if rows <= 1_000 else 1


async def first_looks(page: cdpengine.Page, url: str, times: int) -> list[float]:
    """Return the milliseconds of the first snapshot of each new document."""
    taken = []
    for _ in range(times):
        await page.goto(url)
        started = time.perf_counter()
        seen = await page.snapshot(timeout=PATIENCE)
        taken.append((time.perf_counter() - started) * 1000)
        assert "Buy 0" in seen.text
    return taken


@attrs.define
class Steps:
    """The engine's page, and the last clicked row."""

    page: cdpengine.Page
    rows: int
    clicked: int = 0

    async def take(self, times: int) -> dict[str, list[float]]:
        """Return the milliseconds of each step, and of the snapshot in it."""
        found: dict[str, list[float]] = {"values": [], "looks": []}
        for _ in range(times):
            number = self.clicked = (self.clicked + 1) % self.rows
            button = await self.page.find(css=f"li:nth-child({number + 1}) button")
            started = time.perf_counter()
            await self.page.click(button)
            clicked = time.perf_counter()
            seen = await self.page.snapshot(timeout=PATIENCE)
            looked = time.perf_counter()
            assert await self.page.title() == f"sold {number}"
            assert f"Sold {number}" in seen.text
            found["values"].append((looked - started) * 1000)
            found["looks"].append((looked - clicked) * 1000)
        return found


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
    """Return the floors' turns."""
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


async def by_rows(bench: Bench, page: cdpengine.Page, bare: Counting, rows: int) -> None:
    """Measure all sides on a page with that number of rows."""
    url, times = f"{bench.site}/shop/{rows}", in_a_row(rows)
    order = {"url": url, "times": times}
    large = rows > 1_000  # a round takes half a minute; the smaller pages were the warm-up
    turns, warm_up = (1, 0) if large else (min(bench.turn_count, 3 if rows == 1_000 else 4), 1)
    first: dict[str, Turn] = {"engine": lambda: first_looks(page, url, times), **floors_of(bare, url, rows)}
    first |= await bench.peer_turns("first_look", patience=PATIENCE * times, **order)
    await bench.turns(first, f"the first look, {rows:,} rows", unit="ms", turns=turns, warm_up=warm_up)
    engine = Steps(page, rows)
    steps: dict[str, Turn] = {"engine": lambda: engine.take(times)}
    steps |= await bench.peer_turns("step", patience=PATIENCE * times, **order)
    await bench.turns(
        steps,
        f"a step (click and look), {rows:,} rows",
        unit="ms",
        further={"looks": (f"the look after a click, {rows:,} rows", "ms")},
        turns=turns,
        warm_up=warm_up,
    )


async def run(bench: Bench) -> None:
    """Measure."""
    async with bench.launch() as browser, own_page(bench.executable, f"{bench.site}/blank") as bare:
        page = await browser.new_page()
        for rows in QUICK if bench.quick else ROWS:
            await by_rows(bench, page, bare, rows)


CASE = Case("looks", "What an agent sees: first looks, and steps", run, seconds=90, quick_seconds=30)
