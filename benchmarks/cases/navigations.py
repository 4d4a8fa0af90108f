"""Navigations in one tab: the time of each, and the memory left afterwards.

Rule: every side waits for the load event, in a separate process. The resident memory of that process (for a peer,
including its driver) is measured after each turn. The difference between the first and the last turn shows a leak.
"""

from __future__ import annotations

import attrs

from benchmarks.floor.websocket import own_page
from benchmarks.harness.bench import Bench, Case, Further, Turn, each_timed
from benchmarks.harness.figures import Measurement
from benchmarks.harness.peers import engine_peer

TURNS, A_TURN = 3, 30
QUICK_TURNS, QUICK_TURN = 2, 25
PATIENCE = 60.0  # timeout of a turn, in seconds


async def run(bench: Bench) -> None:
    count, turns = (QUICK_TURN, QUICK_TURNS) if bench.quick else (A_TURN, TURNS)
    async with (
        engine_peer(bench.executable, bench.site) as engine,
        own_page(bench.executable, f"{bench.site}/blank") as bare,
    ):

        async def floor() -> list[float]:
            numbers = iter(range(count))
            return await each_timed(lambda: bare.navigate(f"{bench.site}/nav/{next(numbers)}"), count)

        sides: dict[str, Turn] = {
            "engine": lambda: engine.tell("navigations", count=count, patience=PATIENCE),
            "floor: websocket": floor,
            **await bench.peer_turns("navigations", count=count, patience=PATIENCE),
        }
        # Without a warm-up: a process's first work belongs to its cost, and the median ignores it.
        further: Further = {"mb": ("memory", "MB")}
        await bench.turns(sides, "each", unit="ms", further=further, turns=turns, warm_up=0)
        record_memory(bench, bench.measurements.pop(), count, turns * count)


def record_memory(bench: Bench, measured: Measurement, first: int, last: int) -> None:
    """Record the memory after the first turn, and its growth to the last."""
    after = [attrs.evolve(side, turns=side.turns[:1]) for side in measured.sides]
    bench.record(f"resident memory after {first:,}", after, unit="MB")
    grown = [
        attrs.evolve(side, turns=((side.turns[-1][0] - side.turns[0][0],),) if side.measured else ())
        for side in measured.sides
    ]
    bench.record(f"memory grown from {first:,} to {last:,}", grown, unit="MB", compared=False)


CASE = Case(name="navigations", title="90 navigations", run=run, seconds=75, quick_seconds=25)
