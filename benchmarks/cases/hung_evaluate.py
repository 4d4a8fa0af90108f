"""A hung evaluate: the delay of the timeout, the time until the page is free, and the next click.

Rule: the side's `evaluate` runs an endless loop with a timeout. Then the page has to count a click. A side without a
timeout is cancelled from outside at the same deadline, and its click has a few seconds. Whole runs also measure a bare
Runtime.evaluate with Chrome's timeout on all sides.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Further, Turn, timed
from benchmarks.harness.engine import Engine, Part
from benchmarks.harness.peers import Peer
from benchmarks.harness.programs import Cannot
from benchmarks.peers.verbs import HANG
from cdpengine.errors import EvaluationTimeoutError, RemoteError

BUDGET = 0.3  # timeout of the script, in seconds
HANGS = 5  # of a turn
WAYS = {"evaluate": "", "cdp": ", by a bare Runtime.evaluate"}
"""Ways to run the script, and their words in the name of a figure."""


async def hang(page: cdpengine.Page, by: str) -> None:
    with suppress(EvaluationTimeoutError, RemoteError):
        if by == "evaluate":
            await page.evaluate(HANG, timeout=BUDGET)
        else:
            await page.session.call("Runtime.evaluate", expression=HANG, timeout=BUDGET * 1000)
        raise AssertionError("an endless loop came to its end")


async def hung(part: Part, by: str, hangs: int) -> dict[str, list[float]]:
    """Return the milliseconds of the click after each hang, and of the further figures."""
    found: dict[str, list[float]] = {"values": [], "late_ms": [], "free_ms": []}
    page, go = part
    for _ in range(hangs):
        before = await page.evaluate("clicks")
        deadline = trio.current_time() + BUDGET
        await hang(page, by)
        found["late_ms"].append((trio.current_time() - deadline) * 1000)
        await page.session.call("Runtime.evaluate", expression="1")
        found["free_ms"].append((trio.current_time() - deadline) * 1000)
        found["values"].append(await timed(lambda: page.click(go)))
        assert await page.evaluate("clicks") == before + 1
    return found


async def measure(bench: Bench, part: Part, by: str) -> None:
    hangs = 2 if bench.quick else HANGS

    def of_peer(peer: Peer) -> Turn:
        async def turn() -> dict[str, Any]:
            try:
                return await peer.tell("hung", hangs=hangs, budget=BUDGET, by=by)
            except Cannot:
                await peer.end(patience=0)  # its script continues, and would take a core from the others
                raise

        return turn

    sides: dict[str, Turn] = {"engine": lambda: hung(part, by, hangs)}
    sides |= {name: of_peer(peer) for name, peer in (await bench.peers.ready()).items()}
    further: Further = {
        "late_ms": (f"given up on, after the deadline{WAYS[by]}", "ms"),
        "free_ms": (f"the page free again, after the deadline{WAYS[by]}", "ms"),
    }
    await bench.turns(sides, f"the click after it{WAYS[by]}", unit="ms", further=further, turns=1, warm_up=0)
    await bench.peers.close()  # some have lost their page


async def run(bench: Bench) -> None:
    async with bench.launch() as browser:
        engine = Engine(browser, bench.site)
        await engine.tell("click", repeats=3)
        part = await engine.part(browser.pages[-1], "go")
        await measure(bench, part, "evaluate")
        if not bench.quick:
            await measure(bench, part, "cdp")


CASE = Case(name="hung_evaluate", title="A script that does not end", run=run, seconds=40, quick_seconds=20)
