"""Throughput: commands a second with 1 and 10 pages, and 1 and 5 calls in flight on each.

Rule: a turn has a fixed duration, in which every session keeps its number of calls in flight; the replies are
counted. The calls are those of the round trip. A program and its browser share the machine's processors. On two
processors, a side that needs less leaves more to Chrome.
"""

from __future__ import annotations

import time

import trio

import cdpengine
from benchmarks.floor.stand import Stand, open_stand
from benchmarks.harness.bench import Bench, Case, Turn

SESSIONS = (1, 10)
IN_FLIGHT = (1, 5)
PATIENCE = 60
"""Timeout of a peer's turn, which may include opening its pages, in seconds."""


async def engine_throughput(pages: list[cdpengine.Page], in_flight: int, seconds: float) -> float:
    """Return calls a second with that number in flight on each page's session."""
    made = 0
    started = time.perf_counter()
    end = started + seconds

    async def one(session: cdpengine.Session) -> None:
        nonlocal made
        while time.perf_counter() < end:
            await session.call("Runtime.evaluate", expression="1")
            made += 1

    async with trio.open_nursery() as nursery:
        for page in pages:
            for _ in range(in_flight):
                nursery.start_soon(one, page.session)
    return made / (time.perf_counter() - started)


def sides_of(stand: Stand, sessions: int, in_flight: int, seconds: float) -> dict[str, Turn]:
    """Return the turns of the engine and the floors."""
    pages, on_websocket = stand.pages[:sessions], stand.pages_on_websocket[:sessions]

    async def pipe() -> float:
        return stand.pipe.throughput(stand.on_pipe[:sessions], in_flight, seconds)

    async def websocket() -> float:
        return await stand.websocket.throughput(stand.on_websocket[:sessions], in_flight, seconds)

    return {
        "engine": lambda: engine_throughput(pages, in_flight, seconds),
        "engine: websocket": lambda: engine_throughput(on_websocket, in_flight, seconds),
        "floor: websocket": websocket,
        "floor: pipe": pipe,
    }


async def run(bench: Bench) -> None:
    """Measure."""
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
