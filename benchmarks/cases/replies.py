"""Large replies: strings of 1, 10 and 100 MB from a page, until the whole string is in this program."""

from __future__ import annotations

from functools import partial

from benchmarks.floor.stand import Call, Stand, open_stand
from benchmarks.harness.bench import Bench, Case, Turn, timed

MEGABYTES = (1, 10, 100)
TURNS = {1: 4, 10: 3, 100: 2}  # rounds at most
NOT_OF_THE_LARGEST = frozenset({"selenium", "nodriver"})
"""Sides without a turn at 100 MB, because they take twice as long as all others."""

PATIENCE = 25  # timeout of a peer's reply, in seconds


def sides_of(stand: Stand, size: int) -> dict[str, Turn]:
    expression = f"reply({size})"  # the page /burst creates such a string

    async def read(call: Call) -> None:
        assert len((await call())["result"]["value"]) == size

    async def pipe() -> None:
        assert len(stand.pipe.evaluate(stand.on_pipe[0], expression)) == size

    calls = stand.calls(expression=expression, returnByValue=True)
    return {
        "engine": partial(timed, partial(read, calls["engine"][0])),
        "floor: websocket": partial(timed, partial(read, calls["floor: websocket"][0])),
        "floor: pipe": partial(timed, pipe),
    }


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
