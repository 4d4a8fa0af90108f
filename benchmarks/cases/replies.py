"""Large replies: strings of 1, 10 and 100 MB from a page.

Rule: the timing ends when the whole string is in this program as a string. Most of the time is Chrome's generation
of the JSON. The floors show the minimum. The largest replies have fewer turns.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

from benchmarks.floor.stand import Stand, open_stand
from benchmarks.harness.bench import Bench, Case, Turn

MEGABYTES = (1, 10, 100)
TURNS = {1: 4, 10: 3, 100: 2}
"""Rounds at most."""

NOT_OF_THE_LARGEST = frozenset({"selenium", "nodriver"})
"""Sides without a turn at 100 MB, because they take twice as long as all others."""

PATIENCE = 25
"""Timeout of a peer's reply, in seconds."""


def sides_of(stand: Stand, size: int) -> dict[str, Turn]:
    expression = f"reply({size})"  # the page /burst creates such a string
    params = {"expression": expression, "returnByValue": True}
    session = stand.pages[0].session

    async def engine() -> str:
        result = await session.call("Runtime.evaluate", expression=expression, returnByValue=True)
        return str(result["result"]["value"])

    async def websocket() -> str:
        result = await stand.websocket.call("Runtime.evaluate", params, stand.on_websocket[0])
        return str(result["result"]["value"])

    async def pipe() -> str:
        return str(stand.pipe.evaluate(stand.on_pipe[0], expression))

    def turn_of(read: Callable[[], Awaitable[str]]) -> Turn:
        async def turn() -> float:
            started = time.perf_counter()
            value = await read()
            taken = (time.perf_counter() - started) * 1000
            assert len(value) == size
            return taken

        return turn

    return {"engine": turn_of(engine), "floor: websocket": turn_of(websocket), "floor: pipe": turn_of(pipe)}


async def run(bench: Bench) -> None:
    async with open_stand(bench) as stand:
        await stand.grow("/burst", 1)
        for megabytes in MEGABYTES[:2] if bench.quick else MEGABYTES:
            size, large = megabytes * 1_000_000, megabytes == MEGABYTES[-1]
            peers = await bench.peer_turns("reply", patience=PATIENCE, bytes=size)
            if large:
                peers = {name: turn for name, turn in peers.items() if name not in NOT_OF_THE_LARGEST}
            turns = min(bench.turn_count, TURNS[megabytes])
            sides = {**sides_of(stand, size), **peers}
            await bench.turns(sides, f"{megabytes} MB", unit="ms", turns=turns, warm_up=0 if large else 1)


CASE = Case("replies", "Replies of 1, 10 and 100 MB: a string out of a page", run, 45, 15)
