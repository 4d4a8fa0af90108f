"""Throughput: commands a second with 1 and 10 pages, and 1 and 5 calls in flight on each.

Rule: a turn has a fixed duration, in which every session keeps its number of calls in flight; the replies are
counted. The calls are those of the round trip. A program and its browser share the machine's processors. On two
processors, a side that needs less leaves more to Chrome.
"""

from __future__ import annotations

from functools import partial

import cdpengine
from benchmarks.floor.stand import Stand, open_stand
from benchmarks.harness.bench import Bench, Case, Turn, calls_a_second

SESSIONS = (1, 10)
IN_FLIGHT = (1, 5)
PATIENCE = 60
"""Timeout of a peer's turn, which may include opening its pages, in seconds."""


def sides_of(stand: Stand, sessions: int, in_flight: int, seconds: float) -> dict[str, Turn]:
    def of_engine(pages: list[cdpengine.Page]) -> Turn:
        calls = [partial(page.session.call, "Runtime.evaluate", expression="1") for page in pages[:sessions]]
        return partial(calls_a_second, calls * in_flight, seconds)

    bare = [
        partial(stand.websocket.call, "Runtime.evaluate", {"expression": "1"}, session)
        for session in stand.on_websocket[:sessions]
    ]

    async def pipe() -> float:
        return stand.pipe.throughput(stand.on_pipe[:sessions], in_flight, seconds)

    return {
        "engine": of_engine(stand.pages),
        "engine: websocket": of_engine(stand.pages_on_websocket),
        "floor: websocket": partial(calls_a_second, bare * in_flight, seconds),
        "floor: pipe": pipe,
    }


async def run(bench: Bench) -> None:
    seconds = 0.12 if bench.quick else 0.25
    async with open_stand(bench) as stand:
        for sessions in SESSIONS:
            # Many sessions have a promise.
            turns = bench.turn_count if bench.quick else min(bench.turn_count, 2 if sessions == 1 else 3)
            await stand.grow("/blank", sessions)
            for in_flight in IN_FLIGHT:
                order = {"sessions": sessions, "in_flight": in_flight, "seconds": seconds}
                sides = sides_of(stand, sessions, in_flight, seconds)
                sides |= await bench.peer_turns("throughput", patience=PATIENCE, **order)
                variant = f"{sessions} session{'s' * (sessions > 1)}, {in_flight} in flight each"
                await bench.turns(sides, variant, unit="calls/s", turns=turns)


CASE = Case(
    "throughput", "Commands a second: 1 and 10 sessions, 1 and 5 calls in flight on each", run, 50, 20
)
