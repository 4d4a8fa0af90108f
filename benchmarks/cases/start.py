"""From nothing to the first page: a browser is started, and a page of the site is loaded.

Rule: a turn ends when the page has loaded; closing is not counted, but nothing of it is left when the turn is over. Each
side starts the same binary with the same flags and a fresh profile. Importing is not in it: the case `imports` has that.
"""

from __future__ import annotations

import time

from benchmarks.floor.blocking import Caller
from benchmarks.floor.pipe import browser_on_pipe
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

NAME = "start"
LOADED = "document.readyState == 'complete' && location.pathname == '/blank'"


def engine_turn(bench: Bench, transport: str) -> Turn:
    """Return a turn of the engine."""

    async def turn() -> float:
        started = time.perf_counter()
        async with bench.launch(transport=transport) as browser:
            page = await browser.new_page(f"{bench.site}/blank")
            taken = (time.perf_counter() - started) * 1000
            assert await page.title() == "blank"
        return taken

    return turn


def floor_turn(bench: Bench) -> Turn:
    """Return a turn of the bare pipe: it starts a browser, opens a page, and asks until it is loaded."""

    async def turn() -> float:
        started = time.perf_counter()
        with browser_on_pipe(bench.executable, bench.flags) as pipe:
            browser = Caller(pipe)
            target_id = browser.call("Target.createTarget", {"url": f"{bench.site}/blank"})["targetId"]
            session = browser.attach(target_id)
            while not browser.holds(session, LOADED):
                time.sleep(0.0005)  # noqa: ASYNC251 - a floor waits for its answers, and for nothing else
            return (time.perf_counter() - started) * 1000

    return turn


def peer_turn(peer: Peer) -> Turn:
    """Return the turn of a peer."""
    return lambda: peer.ask("start")


async def run(bench: Bench) -> None:
    """Measure."""
    sides = {
        "engine": engine_turn(bench, "pipe"),
        "engine: websocket": engine_turn(bench, "websocket"),
        "floor: pipe": floor_turn(bench),
    }
    for name, peer in (await bench.peers(NAME)).items():
        sides[name] = peer_turn(peer)
    await bench.turns(NAME, sides, unit="ms", turns=min(bench.turn_count, 2 if bench.quick else 5))


CASE = Case(NAME, "From nothing to the first page loaded", run, 45, 20)
