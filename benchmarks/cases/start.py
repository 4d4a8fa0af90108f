"""From nothing to the first page: the start of a browser with a loaded page, and one whole command.

The command is `cdpengine evaluate about:blank 1+1`. Its floor is the browser's part: a bare pipe that does the same.

Rule: closing is not counted, but is complete before the next turn. Imports are excluded.
"""

from __future__ import annotations

import os
import time

import trio

from benchmarks.cases.shell import OUR_PROGRAM
from benchmarks.floor.pipe import browser_on_pipe
from benchmarks.harness.bench import Bench, Case


async def first_page(bench: Bench) -> float:
    started = time.perf_counter()
    async with bench.launch() as browser:
        page = await browser.new_page(f"{bench.site}/blank")
        taken = (time.perf_counter() - started) * 1000
        assert await page.title() == "blank"
    return taken


async def bare_first_page(bench: Bench) -> float:
    await trio.lowlevel.checkpoint()
    started = time.perf_counter()
    with browser_on_pipe(bench.executable, bench.flags) as pipe:
        pipe.open_loaded_page(f"{bench.site}/blank")
        return (time.perf_counter() - started) * 1000


async def command(bench: Bench) -> float:
    environment = {**os.environ, "CDPENGINE_BROWSER": bench.executable}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed modules are compiled
    words = [*OUR_PROGRAM, "evaluate", "about:blank", "1+1"]
    started = time.perf_counter()
    done = await trio.run_process(words, env=environment, capture_stdout=True)
    assert done.stdout.strip() == b"2", done.stdout
    return (time.perf_counter() - started) * 1000


async def bare_command(bench: Bench) -> float:
    await trio.lowlevel.checkpoint()
    started = time.perf_counter()
    with browser_on_pipe(bench.executable, bench.flags) as pipe:
        assert pipe.holds(pipe.open_page("about:blank"), "1+1 == 2")
    return (time.perf_counter() - started) * 1000


async def run(bench: Bench) -> None:
    turns = min(bench.turn_count, 3 if bench.quick else 5)
    sides = {"engine": lambda: first_page(bench), "floor: pipe": lambda: bare_first_page(bench)}
    await bench.turns({**sides, **await bench.peer_turns("start")}, unit="ms", turns=turns)
    sides = {"engine": lambda: command(bench), "floor: pipe": lambda: bare_command(bench)}
    await bench.turns(sides, "a whole command", unit="ms", turns=turns)


CASE = Case("start", "From nothing to the first page loaded", run, 45, 20)
