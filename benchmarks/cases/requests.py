"""A page with 2,000 requests, each of which must be reported at its end.

Rule: a turn lasts from the call that starts the requests until the side's consumer has received the end of each.
The page keeps 20 in flight; Chrome sends 6 at a time to one server. The floor, which counts websocket messages
without decoding, shows the possible speed. The engine's stream must not drop any, and its buffers must be exact to
their bounds. A peer must report exactly the number sent. The peers get 1,000 requests, which already take seconds;
the figure is a rate. All pages are in an isolated context, like Playwright's, because the default context writes
its cache to the disk.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import trio

import cdpengine
from benchmarks.cases.warming import few_first
from benchmarks.floor.counting import own_page
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

REQUESTS = 2_000
PEERS_REQUESTS = 1_000
QUICK = 1_000
WARM_UP = 200
KEPT = 500
PATIENCE = 100.0
"""Timeout of a burst, in seconds."""


async def count_ends(page: cdpengine.Page, count: int) -> float:
    """Return the number of request ends a second that a stream reported."""
    activity = page.activity
    activity.clear()
    async with activity.stream("finished") as stream:
        started = time.perf_counter()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: page.evaluate(f"requests({count})", timeout=PATIENCE))
            seen: set[str] = set()
            while len(seen) < count:
                ended = await stream.receive()
                assert isinstance(ended, cdpengine.network.RequestEnded)
                if "/n?" in ended.request.url:
                    assert ended.request.response is not None
                    assert ended.request.url not in seen
                    seen.add(ended.request.url)
        taken = time.perf_counter() - started
        assert stream.dropped == 0
    assert len(activity.requests) == min(KEPT, count)
    assert activity.requests.dropped == count - len(activity.requests)
    return count / taken


def by_peer(peer: Peer) -> Callable[[int], Awaitable[float]]:
    async def turn(count: int) -> float:
        (rate,) = await peer.ask("requests", count=count, patience=PATIENCE)
        return rate

    return turn


async def run(bench: Bench) -> None:
    count = QUICK if bench.quick else REQUESTS
    url = f"{bench.site}/burst"
    async with (
        bench.launch() as browser,
        browser.new_context() as context,
        own_page(bench.executable, url) as bare,
    ):
        page = await context.new_page(url)
        await page.activity.start(requests=KEPT)
        await bare.call("Network.enable")

        async def engine(count: int) -> float:
            return await count_ends(page, count)

        async def floor(count: int) -> float:
            return await bare.burst(f"requests({count})", "Network.loadingFinished", count)

        sides: dict[str, Turn] = {
            "engine": few_first(engine, WARM_UP, count),
            "floor: websocket": few_first(floor, WARM_UP, count),
        }
        for name, peer in (await bench.peers("requests")).items():
            sides[name] = few_first(by_peer(peer), WARM_UP, min(count, PEERS_REQUESTS))
        # One turn: it takes most of a minute over all sides.
        await bench.turns("requests", sides, unit="events/s", variant=f"{count:,} requests", turns=1)


CASE = Case(name="requests", title="A page with 2,000 requests", run=run, seconds=50, quick_seconds=25)
