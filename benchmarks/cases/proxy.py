"""The proxy's cost for a round trip: a page reached directly, and through the proxy in a separate process."""

from __future__ import annotations

import sys

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn, each_timed
from benchmarks.harness.figures import differences
from benchmarks.harness.programs import open_program

PROXY = [sys.executable, "-m", "cdpengine", "proxy", "--listen", "0", "--quiet", "--upstream"]


def turn_on(browser: cdpengine.Browser, target_id: str, calls: int) -> Turn:
    page = next(page for page in browser.pages if page.target_id == target_id)
    return lambda: each_timed(lambda: page.session.call("Runtime.evaluate", expression="1"), calls)


async def run(bench: Bench) -> None:
    calls = 150 if bench.quick else 300
    async with bench.launch(transport="websocket") as browser:
        upstream = "http://" + browser.connections[0].name.partition("://")[2]
        target_id = (await browser.new_page(f"{bench.site}/blank")).target_id
        async with open_program([*PROXY, upstream]) as proxy:
            endpoint = (await proxy.line()).decode().split()[0]
            async with cdpengine.connect(upstream) as direct, cdpengine.connect(endpoint) as through:
                sides = {
                    "engine": turn_on(direct, target_id, calls),
                    "engine: through the proxy": turn_on(through, target_id, calls),
                }
                measured = await bench.turns(sides, "round trip", unit="ms")
    bench.record("added to a round trip", differences(measured, "engine"), unit="ms")


CASE = Case("proxy", "What the proxy adds to a command's round trip", run, 15, 8)
