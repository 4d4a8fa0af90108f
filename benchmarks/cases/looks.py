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
from collections.abc import Sequence

import attrs

import cdpengine
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.floor.counting import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

NAME = "looks"
TREE = "floor: getFullAXTree"
ROWS = (10, 100, 1_000, 5_000)
QUICK = (100, 1_000)
PATIENCE = 60.0
"""Timeout of one snapshot, in seconds."""


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

    async def take(self, times: int) -> list[tuple[float, float]]:
        """Return the milliseconds of each step: the click, and the snapshot after it."""
        taken = []
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
            taken.append(((clicked - started) * 1000, (looked - clicked) * 1000))
        return taken


ROLES_AND_NAMES = """Array.from(document.querySelectorAll("*"),
  (at) => `${at.localName} ${at.computedRole} ${at.computedName}`).join("\\n")"""


def floor_first(bare: Counting, url: str, times: int, *asked: tuple[str, dict[str, object]]) -> Turn:
    """Return a turn of Chrome's time to answer these calls about a new document."""

    async def turn() -> list[float]:
        taken = []
        for _ in range(times):
            await bare.navigate(url)
            started = time.perf_counter()
            for method, params in asked:
                said = await bare.call(method, **params)
            taken.append((time.perf_counter() - started) * 1000)
            assert "error" not in said[:60], said[:200]
        return taken

    return turn


def floors_of(bare: Counting, url: str, times: int) -> dict[str, Turn]:
    """Return the floors' turns."""
    enable: tuple[str, dict[str, object]] = ("Accessibility.enable", {})
    root: tuple[str, dict[str, object]] = ("Accessibility.getRootAXNode", {})
    roles = ("Runtime.evaluate", {"expression": ROLES_AND_NAMES, "returnByValue": True})

    def with_end(turn: Turn) -> Turn:
        async def ended() -> list[float]:
            taken = await turn()
            await bare.call("Accessibility.disable")
            assert isinstance(taken, list)
            return taken

        return ended

    return {
        "floor: an answer": floor_first(bare, url, times, ("Runtime.evaluate", {"expression": "1"})),
        "floor: roles and names": with_end(floor_first(bare, url, times, enable, root, roles)),
        TREE: with_end(floor_first(bare, url, times, enable, ("Accessibility.getFullAXTree", {}))),
    }


def peer_first(peer: Peer, url: str, times: int) -> Turn:
    return lambda: peer.ask("first_look", url=url, times=times, patience=PATIENCE * times)


def peer_steps(name: str, peer: Peer, url: str, times: int, looks: FurtherFigure) -> Turn:
    async def turn() -> Sequence[float]:
        said = await peer.tell("step", url=url, times=times, patience=PATIENCE * times)
        looks.add(name, said["looks"])
        values: list[float] = said["values"]
        return values

    return turn


async def by_rows(
    bench: Bench, page: cdpengine.Page, bare: Counting, peers: dict[str, Peer], rows: int
) -> None:
    """Measure all sides on a page with that number of rows."""
    url = f"{bench.site}/shop/{rows}"
    times = in_a_row(rows)
    large = rows > 1_000  # a round takes half a minute; the smaller pages were the warm-up
    turns = min(bench.turn_count, 1 if large else 3 if rows == 1_000 else 4)
    first: dict[str, Turn] = {"engine": lambda: first_looks(page, url, times)}
    floors = floors_of(bare, url, times)
    if large:
        del floors[TREE]  # it takes 5 s, and the case `growth` measures it
    first |= floors
    first |= {name: peer_first(peer, url, times) for name, peer in peers.items()}
    await bench.turns(
        NAME,
        first,
        unit="ms",
        variant=f"the first look, {rows:,} rows",
        size=rows,
        curve="the first look by rows",
        turns=turns,
        warm_up=0 if large else 1,
    )
    steps, looks = Steps(page, rows), FurtherFigure()

    async def engine() -> list[float]:
        taken = await steps.take(times)
        looks.add("engine", [look for _, look in taken])
        return [click + look for click, look in taken]

    sides: dict[str, Turn] = {"engine": engine}
    sides |= {name: peer_steps(name, peer, url, times, looks) for name, peer in peers.items()}
    step = f"a step (click and look), {rows:,} rows"
    measured = await bench.turns(
        NAME,
        sides,
        unit="ms",
        variant=step,
        size=rows,
        curve="a step by rows",
        turns=turns,
        warm_up=0 if large else 1,
    )
    looks.record(bench, measured, variant=f"the look after a click, {rows:,} rows", unit="ms")


async def run(bench: Bench) -> None:
    """Measure."""
    async with bench.launch() as browser, own_page(bench.executable, f"{bench.site}/blank") as bare:
        peers = await bench.peers("step")
        page = await browser.new_page()
        for rows in QUICK if bench.quick else ROWS:
            await by_rows(bench, page, bare, peers, rows)


CASE = Case(NAME, "What an agent sees: first looks, and steps", run, seconds=90, quick_seconds=30)
