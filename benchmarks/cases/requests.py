"""A page with 2,000 requests, each of which must be reported at its end.

Rule: a turn lasts until the side's consumer has received the end of each request. The engine's stream must not drop
any. All pages are in an isolated context, because the default context writes its cache to the disk. The peers get
1,000 requests, which already take seconds; the figure is a rate.
"""

from __future__ import annotations

import time

import trio

import cdpengine
from benchmarks.floor.websocket import own_page
from benchmarks.harness.bench import Bench, Case, Turn

REQUESTS = 2_000
PEERS_REQUESTS = 1_000
QUICK = 1_000
WARM_UP = 200
KEPT = 500
PATIENCE = 100.0  # timeout of a burst, in seconds


async def count_ends(page: cdpengine.Page, count: int) -> float:
    """Return the number of request ends a second that a stream reported."""
    activity = page.activity
    activity.clear()
    async with activity.stream("finished") as stream, trio.open_nursery() as nursery:
        started = time.perf_counter()
        nursery.start_soon(lambda: page.evaluate(f"requests({count})", timeout=PATIENCE))
        seen: set[str] = set()
        while len(seen) < count:
            ended = await stream.receive()
            assert isinstance(ended, cdpengine.network.RequestEnded)
            if "/n?" in ended.request.url:
                assert ended.request.response is not None
                assert ended.request.url not in seen
                seen.add(ended.request.url)
        assert stream.dropped == 0
    taken = time.perf_counter() - started
    assert len(activity.requests) == min(KEPT, count)
    assert activity.requests.dropped == count - len(activity.requests)
    return count / taken


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

        async def sides(count: int) -> dict[str, Turn]:
            async def floor() -> float:
                return await bare.burst(f"requests({count})", "Network.loadingFinished", count)

            of_peers = min(count, PEERS_REQUESTS)
            peers = await bench.peer_turns("requests", count=of_peers, patience=PATIENCE)
            return {"engine": lambda: count_ends(page, count), "floor: websocket": floor, **peers}

        # One turn: it takes most of a minute over all sides.
        warm = await sides(WARM_UP)
        await bench.turns(await sides(count), f"{count:,} requests", unit="events/s", turns=1, warm=warm)


CASE = Case(name="requests", title="A page with 2,000 requests", run=run, seconds=50, quick_seconds=25)
