"""Python's cost of a round trip and of imports in instructions, which is independent of the machine's load.

Rule: valgrind counts the instructions of two programs with N and 2 N calls to the same page. The difference is the
cost of N calls. The cost of an import is the difference between an interpreter with and without it.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import trio

from benchmarks.floor.stand import browser_url
from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.figures import SideFigures
from benchmarks.site import ROOT

CALLS = 400
AT_ONCE = 2  # programs counted concurrently, which does not change the counts
WAYS = {"engine": "engine", "floor: websocket": "websocket"}
IMPORTS = {"engine": "from cdpengine import launch", "floor: trio_websocket": "import trio_websocket"}


def count_of(text: str) -> int:
    """Return the count of all instructions in a callgrind file. Pure."""
    found = re.findall(r"^(?:totals|summary):\s*(\d+)", text, re.MULTILINE)
    return int(found[-1])


async def counted(programs: dict[str, list[str]], cache: str) -> dict[str, int]:
    """Return the instructions of each program of this interpreter, by name."""
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    counts: dict[str, int] = {}
    limiter = trio.CapacityLimiter(AT_ONCE)

    async def one(name: str, program: list[str]) -> None:
        python = [sys.executable, "-X", f"pycache_prefix={cache}", *program]
        async with limiter:
            # The first run compiles the modules, which would otherwise be counted in some runs.
            await trio.run_process(python, cwd=ROOT, env=environment)
            out = Path(cache) / f"{name}.count"
            command = ["valgrind", "--quiet", "--tool=callgrind", f"--callgrind-out-file={out}", *python]
            await trio.run_process(command, cwd=ROOT, env=environment, capture_stderr=True)
            counts[name] = count_of(out.read_text("utf-8", "replace"))

    async with trio.open_nursery() as nursery:
        for name, program in programs.items():
            nursery.start_soon(one, name, program)
    return counts


async def round_trips(bench: Bench, cache: str) -> dict[str, float]:
    """Return the instructions of one call, by side."""
    async with bench.launch(transport="websocket") as browser:
        url = await browser_url(browser)
        page = await browser.new_page(f"{bench.site}/blank")
        programs = {
            f"{times} {name}": ["-m", "benchmarks.floor.calls", way, url, page.target_id, str(times * CALLS)]
            for name, way in WAYS.items()
            for times in (1, 2)
        }
        counts = await counted(programs, cache)
    return {name: (counts[f"2 {name}"] - counts[f"1 {name}"]) / CALLS for name in WAYS}


async def imports(cache: str) -> dict[str, float]:
    programs = {name: ["-c", statement] for name, statement in IMPORTS.items()}
    counts = await counted({**programs, "nothing": ["-c", "pass"]}, cache)
    return {name: float(counts[name] - counts["nothing"]) for name in IMPORTS}


async def run(bench: Bench) -> None:
    """Measure, or report why instructions cannot be counted."""
    if shutil.which("valgrind") is None:
        missing = [SideFigures(name, cannot="valgrind is not installed") for name in WAYS]
        bench.record("round trip", missing, unit="instructions")
        return
    with tempfile.TemporaryDirectory(prefix="compiled-") as cache:
        record(bench, "round trip", await round_trips(bench, cache))
        if not bench.quick:
            record(bench, "import, ready to start a browser", await imports(cache))


def record(bench: Bench, variant: str, costs: dict[str, float]) -> None:
    sides = [SideFigures(name, ((cost,),), note="valgrind --tool=callgrind") for name, cost in costs.items()]
    bench.record(variant, sides, unit="instructions")


CASE = Case("instructions", "Python's own cost of a round trip and of imports, in instructions", run, 50, 30)
