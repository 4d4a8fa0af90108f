"""Throughput: commands a second with 1 and 10 pages, and 1 and 5 calls in flight on each.

Rule: a turn has a fixed duration, in which every session keeps its number of calls in flight. A program and its
browser share the machine's processors: a side that needs less leaves more to Chrome.
"""

from __future__ import annotations

from functools import partial

from benchmarks.floor.stand import open_stand
from benchmarks.harness.bench import Bench, Case, Turn, calls_a_second

SESSIONS = (1, 10)
IN_FLIGHT = (1, 5)
PATIENCE = 60  # timeout of a peer's turn, which may include opening its pages, in seconds


async def run(bench: Bench) -> None:
    seconds = 0.12 if bench.quick else 0.25
    async with open_stand(bench) as stand:

        async def pipe(in_flight: int) -> float:
            return stand.pipe.throughput(stand.on_pipe, in_flight, seconds)

        for sessions in SESSIONS:
            # Many sessions have a promise.
            turns = bench.turn_count if bench.quick else min(bench.turn_count, 2 if sessions == 1 else 3)
            await stand.grow("/blank", sessions)
            for in_flight in IN_FLIGHT:
                order = {"sessions": sessions, "in_flight": in_flight, "seconds": seconds}
                sides: dict[str, Turn] = {
                    side: partial(calls_a_second, calls * in_flight, seconds)
                    for side, calls in stand.calls(expression="1").items()
                }
                sides["floor: pipe"] = partial(pipe, in_flight)
                sides |= await bench.peer_turns("throughput", patience=PATIENCE, **order)
                variant = f"{sessions} session{'s' * (sessions > 1)}, {in_flight} in flight each"
                await bench.turns(sides, variant, unit="calls/s", turns=turns)


CASE = Case(
    "throughput", "Commands a second: 1 and 10 sessions, 1 and 5 calls in flight on each", run, 50, 20
)
