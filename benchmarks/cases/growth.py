"""Growth of cost: first snapshots with rows and frames, memory with pages, events with their number.

Rule: each curve has the curve of a floor: Chrome's accessibility tree of the same new document, pages opened over
a bare pipe, events that are only read and decoded. "Steepness" is the exponent between a side's two largest sizes:
1 means that twice the size costs twice as much. Large sizes have one round. Chrome's tree of 20,000 rows takes a
minute and grows superlinearly, so the tree is limited to 5,000 rows.
"""

from __future__ import annotations

import json
import math
import sys
import time

import trio

import cdpengine
from benchmarks.floor.counting import Counting, own_page
from benchmarks.floor.event_source import read_bare, read_by_engine
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.site import ROOT

NAME = "growth"
ROWS = (10, 100, 1_000, 5_000, 20_000)
MOST_IN_A_TREE = 5_000
FRAMES = (1, 10, 50, 200)
PAGES = (1, 10, 50, 200)
EVENTS = (10_000, 100_000, 1_000_000)
PATIENCE = 120.0
"""Timeout of one snapshot, or of a process that opens pages, in seconds."""


def steepness(measured: tuple[Measurement, ...], side: str) -> float:
    """Return the exponent of a side's cost between its two largest sizes. Pure."""
    (size, small), (last, large) = [
        (each.size, taken) for each in measured if (taken := each.side(side)) is not None and each.size
    ][-2:]
    return math.log(large.median / small.median) / math.log(last / size)


def record_steepness(
    bench: Bench, what: str, measured: tuple[Measurement, ...], sides: tuple[str, str]
) -> None:
    """Record the two exponents of a curve."""
    bench.record(
        Measurement(
            NAME,
            f"steepness of {what}",
            unit="power",
            sides=tuple(SideFigures(side, ((steepness(measured, side),),)) for side in sides),
        )
    )


async def first_look(page: cdpengine.Page, url: str) -> float:
    """Return the milliseconds of the engine's first snapshot of a new document."""
    await page.goto(url, timeout=PATIENCE)
    started = time.perf_counter()
    await page.snapshot(timeout=PATIENCE)
    return (time.perf_counter() - started) * 1000


async def first_tree(bare: Counting, url: str) -> float:
    """Return the milliseconds of Chrome's tree of a new document, including all frames."""
    await bare.navigate(url)
    frames = json.loads(await bare.call("Page.getFrameTree"))["result"]["frameTree"]
    started = time.perf_counter()
    for frame in [frames, *frames.get("childFrames", ())]:
        await bare.call("Accessibility.getFullAXTree", frameId=frame["frame"]["id"])
    return (time.perf_counter() - started) * 1000


async def looks(bench: Bench, kind: str, sizes: tuple[int, ...]) -> None:
    """Measure first snapshots of pages with these numbers of rows or frames."""
    tree = "floor: getFullAXTree"
    async with bench.launch() as browser, own_page(bench.executable, f"{bench.site}/blank") as bare:
        page = await browser.new_page()

        def sides(size: int) -> dict[str, Turn]:
            url = f"{bench.site}/{kind}/{size}"
            engine: dict[str, Turn] = {"engine": lambda: first_look(page, url)}
            return engine if size > MOST_IN_A_TREE else {**engine, tree: lambda: first_tree(bare, url)}

        measured = [
            await bench.turns(
                NAME,
                sides(size),
                unit="ms",
                variant=f"the first look, {size:,} {kind}",
                size=size,
                curve=f"the first look by {kind}",
                turns=3 if size in sizes[:2] else 1,
                warm_up=1 if size in sizes[:2] else 0,
            )
            for size in sizes
        ]
        record_steepness(bench, f"the first look by {kind}", tuple(measured), ("engine", tree))


async def opened_pages(bench: Bench, side: str, sizes: tuple[int, ...]) -> list[dict[str, float]]:
    """Open pages in a separate process, and return its figures for each size."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.opening",
        side,
        bench.executable,
        bench.site,
        *map(str, sizes),
    ]
    with trio.fail_after(PATIENCE):
        done = await trio.run_process(command, capture_stdout=True, cwd=ROOT)
    said: list[dict[str, float]] = json.loads(done.stdout)
    return said


async def pages(bench: Bench, sizes: tuple[int, ...]) -> None:
    """Measure the cost of open pages: the program's memory, the browser's memory, and time."""
    said = {side: await opened_pages(bench, side, sizes) for side in ("engine", "floor")}
    for field, variant, unit in (
        ("own", "memory of the program", "MB"),
        ("browser", "memory of the browser", "MB"),
        ("ms", "time to open them, each", "ms"),
    ):
        measured = []
        for number, size in enumerate(sizes):
            sides = tuple(
                SideFigures("engine" if side == "engine" else "floor: pipe", ((each[number][field],),))
                for side, each in said.items()
            )
            measurement = Measurement(
                NAME,
                f"{size:,} open pages: {variant}",
                unit=unit,  # type: ignore[arg-type]
                sides=sides,
                size=size,
                curve=f"{variant} by pages",
            )
            bench.record(measurement)
            measured.append(measurement)
        if field == "browser":
            record_steepness(
                bench, "the browser's memory by pages", tuple(measured), ("engine", "floor: pipe")
            )


async def events(bench: Bench, sizes: tuple[int, ...]) -> None:
    """Measure reading events from a pipe that is always full."""
    decoded = "floor: decoded"

    def sides(size: int) -> dict[str, Turn]:
        return {"engine": lambda: read_by_engine(size), decoded: lambda: read_bare(size)}

    measured = [
        await bench.turns(
            NAME,
            sides(size),
            unit="ms",
            variant=f"{size:,} events",
            size=size,
            curve="time by events",
            turns=2 if size < EVENTS[-1] else 1,
            warm_up=1 if size == sizes[0] else 0,
        )
        for size in sizes
    ]
    record_steepness(bench, "the time by events", tuple(measured), ("engine", decoded))


async def run(bench: Bench) -> None:
    """Measure."""
    await looks(bench, "rows", ROWS[:4] if bench.quick else ROWS)
    await looks(bench, "frames", FRAMES[:3] if bench.quick else FRAMES)
    await pages(bench, PAGES[:2] if bench.quick else PAGES)
    await events(bench, EVENTS[:2] if bench.quick else EVENTS)


CASE = Case(NAME, "How cost grows with rows, frames, pages and events", run, seconds=120, quick_seconds=50)
