"""Python's cost of a round trip and of imports in instructions, which is independent of the machine's load.

Rule: two programs make N and 2 N calls to a scripted browser in another process. The difference is the cost of N
calls, without start and end. Its ratio to the bare loop is a figure without noise, which grows when a call becomes
more expensive. Instructions of the kernel and the browser are not included.

The cost of an import is the difference between an interpreter with and without it.
"""

from __future__ import annotations

import sys
import tempfile

import trio

from benchmarks.floor.instructions import Counter, find_counter
from benchmarks.floor.scripted_browser import ROOT, scripted_browser
from benchmarks.harness.bench import Bench, Cannot, Case
from benchmarks.harness.figures import Measurement, SideFigures

NAME = "instructions"
ROUND_TRIP = "round trip"
IMPORT = "import, ready to start a browser"
CALLS = 400
AT_ONCE = 2
"""Number of programs counted concurrently. It does not change the counts."""

WAYS = {
    "engine": "engine",
    "floor: websocket": "websocket",
    "floor: socket": "socket",
}
QUICK = ("engine", "floor: websocket")
IMPORTS = {"engine": "from cdpengine import launch", "floor: trio_websocket": "import trio_websocket"}


def python(cache: str) -> list[str]:
    """Return the command of the interpreter, with its compiled modules in `cache`."""
    return [sys.executable, "-X", f"pycache_prefix={cache}"]


async def all_counted(counter: Counter, programs: dict[str, list[str]]) -> dict[str, int]:
    """Return the instructions of each program, by name."""
    counts: dict[str, int] = {}
    limiter = trio.CapacityLimiter(AT_ONCE)

    async def one(name: str, program: list[str]) -> None:
        async with limiter:
            counts[name] = await counter.count(program, ROOT)

    async with trio.open_nursery() as nursery:
        for name, program in programs.items():
            nursery.start_soon(one, name, program)
    return counts


async def calls_counted(counter: Counter, names: list[str], url: str, cache: str) -> dict[str, float]:
    """Return the instructions of one call, by side."""

    def program(name: str, calls: int) -> list[str]:
        return [*python(cache), "-m", "benchmarks.floor.calls", WAYS[name], url, str(calls)]

    for name in names:  # compiles the modules, which would otherwise be counted in some runs
        await trio.run_process(program(name, 1), cwd=ROOT, env=counter.environment())
    programs = {f"{calls} {name}": program(name, calls) for name in names for calls in (CALLS, 2 * CALLS)}
    counts = await all_counted(counter, programs)
    return {name: (counts[f"{2 * CALLS} {name}"] - counts[f"{CALLS} {name}"]) / CALLS for name in names}


async def imports_counted(counter: Counter, cache: str) -> dict[str, float]:
    """Return the instructions of each import, by side."""
    programs = {name: [*python(cache), "-c", statement] for name, statement in IMPORTS.items()}
    programs["nothing"] = [*python(cache), "-c", "pass"]
    for program in programs.values():
        await trio.run_process(program, cwd=ROOT, env=counter.environment())
    counts = await all_counted(counter, programs)
    return {name: float(counts[name] - counts["nothing"]) for name in IMPORTS}


async def run(bench: Bench) -> None:
    """Measure, or report why instructions cannot be counted."""
    names = list(QUICK if bench.quick else WAYS)
    try:
        counter = await find_counter()
    except Cannot as reason:
        cannot = tuple(SideFigures(name, cannot=str(reason)) for name in names)
        bench.record(Measurement(NAME, ROUND_TRIP, unit="instructions", sides=cannot))
        return
    with tempfile.TemporaryDirectory(prefix="compiled-") as cache:
        with scripted_browser() as url:
            record(bench, ROUND_TRIP, await calls_counted(counter, names, url, cache), counter)
        if not bench.quick:
            record(bench, IMPORT, await imports_counted(counter, cache), counter)


def record(bench: Bench, variant: str, costs: dict[str, float], counter: Counter) -> None:
    """Record the counts."""
    sides = tuple(SideFigures(name, ((cost,),), note=counter.by) for name, cost in costs.items())
    bench.record(Measurement(NAME, variant, unit="instructions", sides=sides))


CASE = Case(NAME, "Python's own cost of a round trip and of imports, in instructions", run, 50, 30)
