"""A flood of 4,000 console messages, until a consumer has received all.

Rule: a turn lasts from the call that starts the flood until the side's consumer has received the last message. The
engine is read in two ways: as messages (`page.activity`), and as session events of which only the name is decoded.
Its messages must arrive completely and in order. Further figures are the cost of an unread stream for the page,
for a consumer and for another tab, and the memory of each side after each turn.
"""

from __future__ import annotations

import logging
import statistics
import time
from collections.abc import Awaitable, Callable

import trio

import cdpengine
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.cases.warming import few_first
from benchmarks.floor.counting import own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer
from benchmarks.memory import resident

logger = logging.getLogger("cdpengine.session")

MESSAGES = 4_000
WARM_UP = 500
KEPT = 500
UNREAD_BUFFER = 1_000
PATIENCE = 60.0
"""Timeout of a flood, in seconds."""


async def flood(nursery: trio.Nursery, page: cdpengine.Page, count: int) -> None:
    """Begin it."""
    nursery.start_soon(lambda: page.evaluate(f"messages({count})", timeout=PATIENCE))


async def read(page: cdpengine.Page, count: int) -> float:
    """Return the messages a second of a stream, which must be complete and in order."""
    async with page.activity.stream("console") as stream:
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            await flood(nursery, page, count)
            for number in range(count):
                message = await stream.receive()
                assert isinstance(message, cdpengine.ConsoleMessage)
                assert message.args[1] == number
        assert stream.dropped == 0
        return count / (time.perf_counter() - started)


async def read_events(page: cdpengine.Page, count: int) -> float:
    """Return the events a second of a subscription."""
    async with page.session.subscribe("Runtime.consoleAPICalled") as events:
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            await flood(nursery, page, count)
            for _ in range(count):
                await events.receive()
        assert events.dropped == 0
        return count / (time.perf_counter() - started)


async def latency(page: cdpengine.Page, until: trio.Event) -> float:
    """Return the median milliseconds of an evaluate in a tab until the event is set."""
    taken: list[float] = []
    while not until.is_set() or not taken:
        started = time.perf_counter()
        await page.evaluate("1")
        taken.append((time.perf_counter() - started) * 1000)
        await trio.sleep(0.005)
    return statistics.median(taken)


async def with_other_tab(page: cdpengine.Page, other: cdpengine.Page, count: int) -> tuple[float, float]:
    """Return messages a second, and the milliseconds of an evaluate in another tab meanwhile."""
    done = trio.Event()
    found: list[float] = []

    async def watch() -> None:
        found.append(await latency(other, done))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(watch)
        rate = await read(page, count)
        done.set()
    return rate, found[0]


async def beside_unread(page: cdpengine.Page, other: cdpengine.Page, count: int) -> tuple[float, float]:
    """Measure like `with_other_tab`, with an additional unread stream."""
    async with page.activity.stream("console", buffer=UNREAD_BUFFER) as never:
        logger.setLevel(logging.ERROR)  # hides the warning about the unread stream
        found = await with_other_tab(page, other, count)
        assert never.statistics().waiting == min(count, UNREAD_BUFFER)
        assert never.dropped == max(0, count - UNREAD_BUFFER)
        logger.setLevel(logging.NOTSET)
        return found


def by_peer(peer: Peer, name: str, memory: FurtherFigure) -> Callable[[int], Awaitable[float]]:
    async def turn(count: int) -> float:
        (rate,) = await peer.ask("flood", count=count, patience=PATIENCE)
        memory.add(name, await peer.ask("memory"))
        return rate

    return turn


async def run(bench: Bench) -> None:
    count = MESSAGES
    turns = min(bench.turn_count, 3)
    url = f"{bench.site}/burst"
    memory = FurtherFigure()
    async with (
        bench.launch() as browser,
        browser.new_context() as context,
        own_page(bench.executable, url) as bare,
    ):
        page = await context.new_page(url)
        plain = await context.new_page(url)
        await page.activity.start(console=KEPT)
        await bare.call("Runtime.enable")

        async def engine(count: int) -> float:
            rate = await read(page, count)
            assert len(page.activity.console) == KEPT
            memory.add("engine", resident())
            return rate

        async def events(count: int) -> float:
            return await read_events(plain, count)

        async def floor(count: int) -> float:
            return await bare.burst(f"messages({count})", "Runtime.consoleAPICalled", count)

        sides: dict[str, Turn] = {
            "engine": few_first(engine, WARM_UP, count),
            "engine: events": few_first(events, WARM_UP, count),
            "floor: websocket": few_first(floor, WARM_UP, count),
        }
        for name, peer in (await bench.peers("flood")).items():
            sides[name] = few_first(by_peer(peer, name, memory), WARM_UP, count)
        variant = f"{count:,} console messages"
        taken = await bench.turns("events", sides, unit="events/s", variant=variant, turns=turns)
        memory.record(bench, taken, variant="resident memory after each turn", unit="MB")
        await bench.close_peers()
        await unread(bench, page, plain, count)


async def unread(bench: Bench, page: cdpengine.Page, other: cdpengine.Page, count: int) -> None:
    """Measure a consumer, and another tab, with and without an unread stream."""
    other_tab = FurtherFigure()

    async def alone() -> float:
        rate, milliseconds = await with_other_tab(page, other, count)
        other_tab.add("engine", milliseconds)
        return rate

    async def beside() -> float:
        rate, milliseconds = await beside_unread(page, other, count)
        other_tab.add("engine: beside an unread stream", milliseconds)
        return rate

    sides = {"engine": alone, "engine: beside an unread stream": beside}
    taken = await bench.turns(
        "events", sides, unit="events/s", variant="a consumer beside another tab", turns=3
    )
    other_tab.record(bench, taken, variant="an evaluate in another tab meanwhile", unit="ms")


CASE = Case(name="events", title="A flood of events", run=run, seconds=40, quick_seconds=15)
