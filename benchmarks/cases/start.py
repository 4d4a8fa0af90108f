"""From nothing to the first page: the start of a browser with a loaded page, and one whole command.

The command is `cdpengine evaluate about:blank 1+1`, from the start of its interpreter to its end. Its floor is the
browser's part: a bare pipe that starts the browser, opens a page, evaluates the same and ends the browser.

Rule: a turn ends when the page has loaded. Closing is not counted, but is complete before the next turn. Each side
starts the same binary with the same flags and a new profile. Imports are excluded; the case `imports` measures
them.
"""

from __future__ import annotations

import os
import time

import trio

from benchmarks.cases.shell import our_program
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
    """Return a turn of the bare pipe: start a browser, open a page, and poll until it is loaded."""

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


def command_turn(bench: Bench) -> Turn:
    """Return a turn of the whole command."""
    environment = {**os.environ, "CDPENGINE_BROWSER": bench.executable}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed modules are compiled

    async def turn() -> float:
        started = time.perf_counter()
        done = await trio.run_process(
            [*our_program(), "evaluate", "about:blank", "1+1"], env=environment, capture_stdout=True
        )
        assert done.stdout.strip() == b"2", done.stdout
        return (time.perf_counter() - started) * 1000

    return turn


def bare_command_turn(bench: Bench) -> Turn:
    """Return a turn of the browser's part of the command."""

    async def turn() -> float:
        await trio.lowlevel.checkpoint()
        started = time.perf_counter()
        with browser_on_pipe(bench.executable, bench.flags) as pipe:
            browser = Caller(pipe)
            session = browser.attach(browser.call("Target.createTarget", {"url": "about:blank"})["targetId"])
            assert browser.holds(session, "1+1 == 2")
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
    turns = min(bench.turn_count, 3 if bench.quick else 5)
    await bench.turns(NAME, sides, unit="ms", turns=turns)
    command = {"engine": command_turn(bench), "floor: pipe": bare_command_turn(bench)}
    await bench.turns(NAME, command, unit="ms", variant="a whole command", turns=turns)


CASE = Case(NAME, "From nothing to the first page loaded", run, 45, 20)
