"""Navigations in one tab: the time of each, and the memory left afterwards; 300 for the engine.

Rule: the sides take turns of 30 navigations, each until the page's load event, 90 for each side. Then the engine
continues alone up to 300. It runs in a separate process, like the peers, so that its memory excludes the benchmark
program. The resident memory of that process (for a peer, including its driver) is measured after each turn, after
a garbage collection. The difference between the first and the last turn shows a leak. Every side opens its tab
like its users (Playwright: in a separate context).
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import attrs
import trio

from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.floor.counting import own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.peers import Peer
from benchmarks.site import ROOT

TURNS = 3
A_TURN = 30
WHOLE = 300
QUICK_TURNS = 2
QUICK_TURN = 25
PATIENCE = 60.0
"""Timeout of a peer's turn, in seconds."""


class OwnProcess:
    """The engine in a separate process, which takes turns on command."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process

    async def navigations(self, count: int) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        await self._process.stdin.send_all(b"%d\n" % count)
        said = bytearray()
        while not said.endswith(b"\n"):
            piece = await self._process.stdout.receive_some()
            if not piece:
                raise RuntimeError(f"the engine's process ended with {await self._process.wait()}")
            said += piece
        answer: dict[str, Any] = json.loads(said)
        return answer


@asynccontextmanager
async def own_process(bench: Bench) -> AsyncIterator[OwnProcess]:
    """Start the process. Leaving the block ends it and its browser."""
    command = [sys.executable, "-m", "benchmarks.navigating", bench.executable, bench.site]
    process = await trio.lowlevel.open_process(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, start_new_session=True
    )
    try:
        yield OwnProcess(process)
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + 10):
            assert process.stdin is not None
            await process.stdin.aclose()  # it closes its browser, and ends
            await process.wait()
        process.kill()


async def run(bench: Bench) -> None:
    memory = FurtherFigure()
    count = QUICK_TURN if bench.quick else A_TURN
    turns = QUICK_TURNS if bench.quick else TURNS

    def of_peer(name: str, peer: Peer) -> Turn:
        async def turn() -> list[float]:
            said = await peer.tell("navigations", count=count, patience=PATIENCE)
            memory.add(name, said.get("mb", ()))
            values: list[float] = said["values"]
            return values

        return turn

    async with own_process(bench) as own, own_page(bench.executable, f"{bench.site}/blank") as bare:

        async def engine() -> list[float]:
            said = await own.navigations(count)
            memory.add("engine", said["mb"])
            values: list[float] = said["values"]
            return values

        async def floor() -> list[float]:
            taken = []
            for number in range(count):
                started = time.perf_counter()
                await bare.navigate(f"{bench.site}/nav/{number}")
                taken.append((time.perf_counter() - started) * 1000)
            return taken

        sides: dict[str, Turn] = {"engine": engine, "floor: websocket": floor}
        for name, peer in (await bench.peers("navigations")).items():
            sides[name] = of_peer(name, peer)
        # Without a warm-up: a process's first work belongs to its cost, and the median ignores it.
        taken = await bench.turns(
            "navigations", sides, unit="ms", variant="each", turns=turns, warm_up=0, all_turns=True
        )
        figures = memory.of(taken)
        record_memory_by_turn(bench, figures, count)
        if not bench.quick:
            await go_on(bench, own, figures, turns * count)


def record_memory_by_turn(bench: Bench, figures: Sequence[SideFigures], count: int) -> None:
    """Record the memory after each turn of `count` navigations, and its growth from the first to the last."""
    turns = max(len(side.turns) for side in figures)
    for number in range(turns):
        after = (number + 1) * count
        then = tuple(attrs.evolve(side, turns=side.turns[number : number + 1]) for side in figures)
        record_memory(bench, f"resident memory after {after:,}", then, after)
    grown = tuple(
        attrs.evolve(side, turns=((side.turns[-1][0] - side.turns[0][0],),) if side.measured else ())
        for side in figures
    )
    record_memory(bench, f"memory grown from {count:,} to {turns * count:,}", grown)


async def go_on(bench: Bench, own: OwnProcess, figures: Sequence[SideFigures], made: int) -> None:
    """Let the engine make the remaining navigations, and record its memory."""
    said = await own.navigations(WHOLE - made)
    before = next(side for side in figures if side.side == "engine").turns[-1][0]
    after = SideFigures("engine", ((said["mb"],),))
    record_memory(bench, f"resident memory after {WHOLE:,}", (after,), WHOLE)
    grown = SideFigures("engine", ((said["mb"] - before,),))
    record_memory(bench, f"memory grown from {made:,} to {WHOLE:,}", (grown,))


def record_memory(
    bench: Bench, variant: str, sides: tuple[SideFigures, ...], after: int | None = None
) -> None:
    """Record memory in MB, as a point of the curve (`after` navigations) or as growth (None)."""
    curve = "" if after is None else "resident memory by navigations"
    made = Measurement(
        "navigations",
        variant,
        unit="MB",
        sides=sides,
        size=after,
        curve=curve,
        compared=after is not None,
    )
    bench.record(made)


CASE = Case(name="navigations", title="300 navigations", run=run, seconds=75, quick_seconds=25)
