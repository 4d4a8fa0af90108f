"""Large replies: strings of 1, 10 and 100 MB from a page.

Rule: the timing ends when the whole string is in this program as a string. Most of the time is Chrome's generation
of the JSON. The floors show the minimum. The largest replies have fewer turns.
"""

from __future__ import annotations

import time

from benchmarks.floor.stand import Stand, open_stand
from benchmarks.harness.bench import Bench, Cannot, Case, Turn
from benchmarks.harness.peers import Peer
from cdpengine import Session
from cdpengine.errors import ValueTooLargeError

NAME = "replies"
MEGABYTES = (1, 10, 100)
TURNS = {1: 4, 10: 3, 100: 2}
"""Rounds at most."""

NOT_OF_THE_LARGEST = frozenset({"floor: socket", "selenium", "nodriver"})
"""Sides without a turn at 100 MB. Two of them take twice as long as all others; two other floors take part."""

PATIENCE = 25
"""Timeout of a peer's reply, in seconds."""


def expression_of(size: int) -> str:
    """Return the expression with which the page /burst creates such a string."""
    return f"reply({size})"


def sides_of(stand: Stand, size: int) -> dict[str, Turn]:
    """Return the turns of the engine and the floors."""
    page, expression = stand.pages[0], expression_of(size)
    params = {"expression": expression, "returnByValue": True}

    def call(session: Session) -> Turn:
        async def turn() -> float:
            started = time.perf_counter()
            result = await session.call("Runtime.evaluate", expression=expression, returnByValue=True)
            taken = (time.perf_counter() - started) * 1000
            assert len(result["result"]["value"]) == size
            return taken

        return turn

    async def evaluate() -> float:
        started = time.perf_counter()
        try:
            value = await page.evaluate(expression)
        except ValueTooLargeError:
            raise Cannot("returns values of 64 MB at most, and reports it") from None
        taken = (time.perf_counter() - started) * 1000
        assert len(value) == size
        return taken

    async def websocket() -> float:
        started = time.perf_counter()
        result = await stand.websocket.call("Runtime.evaluate", params, stand.on_websocket[0])
        taken = (time.perf_counter() - started) * 1000
        assert len(result["result"]["value"]) == size
        return taken

    async def socket() -> float:
        return stand.socket.reply(stand.on_socket[0], expression)

    async def pipe() -> float:
        return stand.pipe.reply(stand.on_pipe[0], expression)

    return {
        "engine": call(page.session),
        "engine: websocket": call(stand.pages_on_websocket[0].session),
        "engine: page.evaluate": evaluate,
        "floor: websocket": websocket,
        "floor: socket": socket,
        "floor: pipe": pipe,
    }


def peer_turn(peer: Peer, size: int) -> Turn:
    """Return the turn of a peer."""
    return lambda: peer.ask("reply", patience=PATIENCE, bytes=size)


async def run(bench: Bench) -> None:
    """Measure."""
    async with open_stand(bench) as stand:
        await stand.grow("/burst", 1)
        peers = await bench.peers("reply")
        for megabytes in MEGABYTES[:2] if bench.quick else MEGABYTES:
            size = megabytes * 1_000_000
            sides = sides_of(stand, size)
            for name, peer in peers.items():
                sides[name] = peer_turn(peer, size)
            if megabytes == MEGABYTES[-1]:
                sides = {name: turn for name, turn in sides.items() if name not in NOT_OF_THE_LARGEST}
            await bench.turns(
                NAME,
                sides,
                unit="ms",
                variant=f"{megabytes} MB",
                size=megabytes,
                curve="a reply by its size in MB",
                turns=min(bench.turn_count, TURNS[megabytes]),
                warm_up=0 if megabytes == 100 else 1,
            )


CASE = Case(NAME, "Replies of 1, 10 and 100 MB: a string out of a page", run, 45, 15)
