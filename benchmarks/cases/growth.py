"""Growth of cost: first snapshots with rows and frames, memory with pages, events with their number.

Rule: each curve has the curve of a floor. "Steepness" is the exponent between a side's two largest sizes: 1 means
that twice the size costs twice as much. Large sizes have one round.
"""

from __future__ import annotations

import json
import math
import time
from functools import partial

import cdpengine
from benchmarks.floor.event_source import read_bare, read_by_engine
from benchmarks.floor.websocket import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn, timed
from benchmarks.harness.figures import Measurement, SideFigures, Unit
from benchmarks.harness.peers import engine_peer

ROWS = (10, 100, 1_000, 5_000, 20_000)
MOST_IN_A_TREE = 5_000
FRAMES = (1, 10, 50, 200)
PAGES = (1, 10, 50, 200)
EVENTS = (10_000, 100_000, 1_000_000)
PATIENCE = 120.0  # timeout of one snapshot, or of a process that opens pages, in seconds
TREE, PIPE, DECODED = "floor: getFullAXTree", "floor: pipe", "floor: decoded"

Curve = dict[int, Measurement]  # a measurement for each size


def steepness(curve: Curve, side: str) -> list[float]:
    """Return the exponents of a side's cost between its two largest sizes, one for each common round. Pure."""
    found = [(size, each.side(side)) for size, each in sorted(curve.items())]
    costs = [(size, figures.medians) for size, figures in found if figures is not None and figures.measured]
    (small, before), (large, after) = costs[-2:]
    times = math.log(large / small)
    return [math.log(much / little) / times for little, much in zip(before, after, strict=False)]


def record_steepness(bench: Bench, what: str, curve: Curve, floor: str) -> None:
    sides = [SideFigures(side, [(each,) for each in steepness(curve, side)]) for side in ("engine", floor)]
    bench.record(f"steepness of {what}", sides, unit="power")


async def first_look(page: cdpengine.Page, url: str) -> float:
    """Return the milliseconds of the engine's first snapshot of a new document."""
    await page.goto(url, timeout=PATIENCE)
    return await timed(partial(page.snapshot, timeout=PATIENCE))


async def first_tree(bare: Counting, url: str) -> float:
    """Return the milliseconds of Chrome's tree of a new document, including all frames."""
    await bare.navigate(url)
    frames = json.loads(await bare.call("Page.getFrameTree"))["result"]["frameTree"]
    started = time.perf_counter()
    for frame in [frames, *frames.get("childFrames", ())]:
        await bare.call("Accessibility.getFullAXTree", frameId=frame["frame"]["id"])
    return (time.perf_counter() - started) * 1000


async def looks(bench: Bench, kind: str, sizes: tuple[int, ...]) -> None:
    curve: Curve = {}
    async with bench.launch() as browser, own_page(bench.executable, f"{bench.site}/blank") as bare:
        page = await browser.new_page()
        for size in sizes:
            url = f"{bench.site}/{kind}/{size}"
            sides: dict[str, Turn] = {"engine": partial(first_look, page, url)}
            if size <= MOST_IN_A_TREE:
                sides[TREE] = partial(first_tree, bare, url)
            turns, warm_up = (3, 1) if size in sizes[:2] else (1, 0)
            variant = f"the first look, {size:,} {kind}"
            curve[size] = await bench.turns(sides, variant, unit="ms", turns=turns, warm_up=warm_up)
    record_steepness(bench, f"the first look by {kind}", curve, TREE)


async def opened_pages(bench: Bench, side: str, sizes: tuple[int, ...]) -> list[dict[str, float]]:
    async with engine_peer(bench.executable, bench.site, side) as peer:
        return [await peer.tell("pages", count=size, patience=PATIENCE) for size in sizes]


async def pages(bench: Bench, sizes: tuple[int, ...]) -> None:
    rounds = range(bench.least_rounds)
    said = {side: [await opened_pages(bench, side, sizes) for _ in rounds] for side in ("engine", PIPE)}
    figures: dict[str, tuple[str, Unit]] = {
        "mb": ("memory of the program", "MB"),
        "browser_mb": ("memory of the browser", "MB"),
        "ms": ("time to open them, each", "ms"),
    }
    for key, (name, unit) in figures.items():
        curve: Curve = {}
        for number, size in enumerate(sizes):
            sides = [
                SideFigures(side, [(each[number][key],) for each in rounds]) for side, rounds in said.items()
            ]
            curve[size] = bench.record(f"{size:,} open pages: {name}", sides, unit=unit)
        if key == "browser_mb":
            record_steepness(bench, "the browser's memory by pages", curve, PIPE)


async def events(bench: Bench, sizes: tuple[int, ...]) -> None:
    curve: Curve = {}
    for size in sizes:
        sides: dict[str, Turn] = {"engine": partial(read_by_engine, size), DECODED: partial(read_bare, size)}
        turns, warm_up = 2 if size < EVENTS[-1] else 1, 1 if size == sizes[0] else 0
        curve[size] = await bench.turns(sides, f"{size:,} events", unit="ms", turns=turns, warm_up=warm_up)
    record_steepness(bench, "the time by events", curve, DECODED)


async def run(bench: Bench) -> None:
    await looks(bench, "rows", ROWS[:4] if bench.quick else ROWS)
    await looks(bench, "frames", FRAMES[:3] if bench.quick else FRAMES)
    await pages(bench, PAGES[:2] if bench.quick else PAGES)
    await events(bench, EVENTS[:2] if bench.quick else EVENTS)


CASE = Case(
    "growth", "How cost grows with rows, frames, pages and events", run, seconds=120, quick_seconds=50
)
