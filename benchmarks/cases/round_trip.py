"""Command round trip: one bare command to a page and its reply, sequentially.

Rule: the engine's `session.call`, the floors and the peers evaluate "1" with `Runtime.evaluate`, the peers by
their cheapest interface (named in their note). `page.evaluate` is listed too: it adds a deadline, a separate
session and typed values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from benchmarks.floor.stand import Stand, open_stand
from benchmarks.harness.bench import Bench, Case, Turn, each_timed

PARAMS = {"expression": "1"}


def sides_of(stand: Stand, calls: int) -> dict[str, Turn]:
    page, on_websocket = stand.pages[0], stand.pages_on_websocket[0]
    loop, session = stand.websocket, stand.on_websocket[0]

    def each(step: Callable[[], Awaitable[object]]) -> Turn:
        return lambda: each_timed(step, calls)

    async def pipe() -> list[float]:
        return stand.pipe.round_trips(stand.on_pipe[0], calls)

    return {
        "engine": each(lambda: page.session.call("Runtime.evaluate", expression="1")),
        "engine: websocket": each(lambda: on_websocket.session.call("Runtime.evaluate", expression="1")),
        "engine: page.evaluate": each(lambda: page.evaluate("1")),
        "floor: websocket": each(lambda: loop.call("Runtime.evaluate", PARAMS, session)),
        "floor: pipe": pipe,
    }


async def run(bench: Bench) -> None:
    calls = 100 if bench.quick else 200
    async with open_stand(bench) as stand:
        await stand.grow("/blank", 1)
        sides = {**sides_of(stand, calls), **await bench.peer_turns("round_trip", calls=calls)}
        await bench.turns(sides, unit="ms")


CASE = Case("round_trip", "A command's round trip: Runtime.evaluate of 1, one after the other", run, 30, 12)
