"""The proxy's cost for a round trip: a browser reached directly, through the proxy, and through it while
recording.

Rule: all three use the same page of the same browser over the engine. The proxies are the command, in separate
processes. The relevant figures are the differences within a round.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn, each_timed
from benchmarks.harness.figures import Measurement, SideFigures

NAME = "proxy"
DIRECT, THROUGH, RECORDING = "engine", "engine: through the proxy", "engine: through it, recording"


@asynccontextmanager
async def proxy_process(upstream: str, *more: str) -> AsyncIterator[str]:
    """Run the command while the block runs. Yield the endpoint that it prints."""
    command = [sys.executable, "-m", "cdpengine", "proxy", "--listen", "0", "--upstream", upstream, "--quiet"]
    process = await trio.lowlevel.open_process([*command, *more], stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        said = b""
        while b"\n" not in said:
            chunk = await process.stdout.receive_some()
            if not chunk:
                raise RuntimeError("the proxy did not start")
            said += chunk
        yield said.decode().split()[0]
    finally:
        process.terminate()
        with trio.CancelScope(shield=True):
            await process.wait()


def turn_on(page: cdpengine.Page, calls: int) -> Turn:
    """Return a turn of round trips to a page."""
    return lambda: each_timed(lambda: page.session.call("Runtime.evaluate", expression="1"), calls)


def added(measurement: Measurement) -> Measurement:
    """Return the additional time of each side over the direct one, by rounds. Pure."""
    direct = measurement.side(DIRECT)
    assert direct is not None
    sides = [
        SideFigures(side.side, tuple((a - b,) for a, b in zip(side.medians, direct.medians, strict=True)))
        for side in measurement.sides
        if side.side != DIRECT
    ]
    return Measurement(NAME, "added to a round trip", unit="ms", sides=tuple(sides))


async def run(bench: Bench) -> None:
    """Measure."""
    calls = 150 if bench.quick else 300
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="proxy-"))
        browser = await stack.enter_async_context(bench.launch(transport="websocket"))
        upstream = "http://" + browser.connections[0].name.partition("://")[2]
        target_id = (await browser.new_page(f"{bench.site}/blank")).target_id
        record = ("--record", str(Path(folder) / "a.jsonl"))
        endpoints = {
            DIRECT: upstream,
            THROUGH: await stack.enter_async_context(proxy_process(upstream)),
            RECORDING: await stack.enter_async_context(proxy_process(upstream, *record)),
        }
        sides = {}
        for name, endpoint in endpoints.items():
            side = await stack.enter_async_context(cdpengine.connect(endpoint))
            sides[name] = turn_on(next(page for page in side.pages if page.target_id == target_id), calls)
        bench.record(added(await bench.turns(NAME, sides, unit="ms", variant="round trip")))


CASE = Case(NAME, "What the proxy adds to a command's round trip", run, 15, 8)
