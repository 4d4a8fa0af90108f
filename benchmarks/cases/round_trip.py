"""Command round trip: one bare command to a page and its reply, sequentially.

Rule: all sides evaluate "1" with `Runtime.evaluate`, the peers by their cheapest interface (named in their note).
"""

from __future__ import annotations

from functools import partial

from benchmarks.floor.stand import open_stand
from benchmarks.harness.bench import Bench, Case, Turn, each_timed


async def run(bench: Bench) -> None:
    calls = 100 if bench.quick else 200
    async with open_stand(bench) as stand:
        await stand.grow("/blank", 1)
        [page] = stand.pages

        async def pipe() -> list[float]:
            return stand.pipe.round_trips(stand.on_pipe[0], calls)

        sides: dict[str, Turn] = {
            side: partial(each_timed, call, calls) for side, [call] in stand.calls(expression="1").items()
        }
        sides["engine: page.evaluate"] = partial(each_timed, partial(page.evaluate, "1"), calls)
        sides["floor: pipe"] = pipe
        await bench.turns({**sides, **await bench.peer_turns("round_trip", calls=calls)}, unit="ms")


CASE = Case("round_trip", "A command's round trip: Runtime.evaluate of 1, one after the other", run, 30, 12)
