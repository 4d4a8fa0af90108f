"""A hung evaluate: the delay of the timeout, the time until the page is free, and the next click.

Rule: the side's `evaluate` runs an endless loop with a timeout. Then the same page has to accept a click, which
the page counts. A side without a timeout is cancelled from outside at the same deadline, and its click has a few
seconds. A side that cannot click reports the reason. Whole runs also measure all sides below their `evaluate`: by
a bare Runtime.evaluate with Chrome's timeout.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import attrs
import trio

import cdpengine
from benchmarks.cases.actions import Scene
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.peers import Peer

BUDGET = 0.3
"""Timeout of the script, in seconds."""

HANG = "while (true) {}"
HANGS = 5
"""Of a turn."""


@attrs.frozen
class Way:
    """A way to run the script: `by` is the name for peers, `hang` the engine's function."""

    by: str
    words: str
    hang: Callable[[cdpengine.Page], Awaitable[None]]


async def by_evaluate(page: cdpengine.Page) -> None:
    """Raise EvaluationTimeoutError."""
    await page.evaluate(HANG, timeout=BUDGET)


async def by_protocol(page: cdpengine.Page) -> None:
    """Raise RemoteError."""
    await page.session.call("Runtime.evaluate", expression=HANG, timeout=BUDGET * 1000)


EVALUATE = Way("evaluate", "", by_evaluate)
PROTOCOL = Way("cdp", ", by a bare Runtime.evaluate", by_protocol)


@attrs.frozen
class Hanging:
    """One page of the engine, hung repeatedly. `late` and `free` are further figures of the clicks."""

    scene: Scene
    way: Way
    late: FurtherFigure
    free: FurtherFigure

    async def turn(self, hangs: int) -> list[float]:
        """Return the milliseconds of the click after each hang."""
        clicks, lates, frees = [], [], []
        for _ in range(hangs):
            before = await self.scene.record("clicks")
            deadline = trio.current_time() + BUDGET
            with suppress(cdpengine.errors.EvaluationTimeoutError, cdpengine.errors.RemoteError):
                await self.way.hang(self.scene.page)
                raise AssertionError("an endless loop came to its end")
            lates.append((trio.current_time() - deadline) * 1000)
            await self.scene.page.session.call("Runtime.evaluate", expression="1")
            frees.append((trio.current_time() - deadline) * 1000)
            started = time.perf_counter()
            await self.scene.page.click(self.scene.go)
            clicks.append((time.perf_counter() - started) * 1000)
            assert await self.scene.record("clicks") == before + 1
        self.late.add("engine", lates)
        self.free.add("engine", frees)
        return clicks


async def measure(bench: Bench, scene: Scene, way: Way, turns: int) -> None:
    """Hang the pages of all sides in this way, and record the figures."""
    hangs = 2 if bench.quick else HANGS
    late, free = FurtherFigure("does not report when it timed out"), FurtherFigure()
    hanging = Hanging(scene, way, late, free)

    def of_peer(name: str, peer: Peer) -> Turn:
        async def turn() -> list[float]:
            try:
                said = await peer.tell("hung", hangs=hangs, budget=BUDGET, by=way.by)
            except Cannot:
                await peer.close()  # its script continues, and would take a core from the others
                raise
            late.add(name, said.get("late_ms", ()))
            values: list[float] = said["values"]
            return values

        return turn

    sides: dict[str, Turn] = {"engine": lambda: hanging.turn(hangs)}
    for name, peer in (await bench.peers("hung")).items():
        sides[name] = of_peer(name, peer)
    clicked = await bench.turns(
        "hung_evaluate", sides, unit="ms", variant=f"the click after it{way.words}", turns=turns, warm_up=0
    )
    late.record(bench, clicked, variant=f"given up on, after the deadline{way.words}", unit="ms")
    free.record(bench, clicked, variant=f"the page free again, after the deadline{way.words}", unit="ms")
    await bench.close_peers()  # some have lost their page


async def run(bench: Bench) -> None:
    async with bench.launch() as browser:
        scene = await Scene.opened(browser, bench.site)
        await scene.click(3)
        await measure(bench, scene, EVALUATE, 1)
        if not bench.quick:
            await measure(bench, scene, PROTOCOL, 1)


CASE = Case(name="hung_evaluate", title="A script that does not end", run=run, seconds=40, quick_seconds=20)
