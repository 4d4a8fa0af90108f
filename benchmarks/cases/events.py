"""A flood of 4,000 console messages, until a consumer has received all, and the memory of each side after it.

Rule: the engine's messages (`page.activity`) must arrive completely and in order.
"""

from __future__ import annotations

import os
import time

import trio

import cdpengine
from benchmarks.floor.websocket import own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.peers.memory import resident

MESSAGES = 4_000
WARM_UP = 500
KEPT = 500
PATIENCE = 60.0  # timeout of a flood, in seconds


async def read(page: cdpengine.Page, count: int) -> float:
    """Return the messages a second of a stream, which must be complete and in order."""
    async with page.activity.stream("console") as stream, trio.open_nursery() as nursery:
        started = time.perf_counter()
        nursery.start_soon(lambda: page.evaluate(f"messages({count})", timeout=PATIENCE))
        for number in range(count):
            message = await stream.receive()
            assert isinstance(message, cdpengine.ConsoleMessage)
            assert message.args[1] == number
        assert stream.dropped == 0
    return count / (time.perf_counter() - started)


async def run(bench: Bench) -> None:
    url = f"{bench.site}/burst"
    async with (
        bench.launch() as browser,
        browser.new_context() as context,
        own_page(bench.executable, url) as bare,
    ):
        page = await context.new_page(url)
        await page.activity.start(console=KEPT)
        await bare.call("Runtime.enable")

        async def sides(count: int) -> dict[str, Turn]:
            async def engine() -> dict[str, float]:
                rate = await read(page, count)
                assert len(page.activity.console) == min(KEPT, MESSAGES)
                return {"values": rate, "mb": resident(os.getpid())}

            async def floor() -> float:
                return await bare.burst(f"messages({count})", "Runtime.consoleAPICalled", count)

            peers = await bench.peer_turns("flood", count=count, patience=PATIENCE)
            return {"engine": engine, "floor: websocket": floor, **peers}

        await bench.turns(
            await sides(MESSAGES),
            f"{MESSAGES:,} console messages",
            unit="events/s",
            further={"mb": ("resident memory after each turn", "MB")},
            turns=min(bench.turn_count, 3),
            warm=await sides(WARM_UP),
        )


CASE = Case(name="events", title="A flood of events", run=run, seconds=40, quick_seconds=15)
