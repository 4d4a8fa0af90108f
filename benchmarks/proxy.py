"""What the proxy adds to a command's round trip: a browser asked directly, and through proxies, in one run.

Rule: all sides talk to the same Chromium over the engine, in turns, so that what else the machine does hits all of
them; the figures that count are the difference and the ratio of each turn. The proxies are the command itself, in
processes of their own: one that only passes on, one that records too.
Run: `python -m benchmarks.proxy [--rounds N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import trio

import cdpengine

CALLS = 300
"""Calls a turn, one after the other."""


@asynccontextmanager
async def proxy_process(upstream: str, *more: str) -> AsyncIterator[str]:
    """Run the command while the block runs; give the endpoint that it prints."""
    command = [
        sys.executable,
        "-m",
        "cdpengine",
        "proxy",
        "--listen",
        "0",
        "--upstream",
        upstream,
        "--quiet",
        *more,
    ]
    process = await trio.lowlevel.open_process(command, stdout=subprocess.PIPE)
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


async def round_trips(page: cdpengine.Page) -> list[float]:
    """Return the milliseconds of each of CALLS calls."""
    taken = []
    for _ in range(CALLS):
        started = time.perf_counter()
        await page.session.call("Runtime.evaluate", expression="1")
        taken.append((time.perf_counter() - started) * 1000)
    return taken


async def measure(rounds: int) -> dict[str, object]:
    """Run all sides and return the figures."""
    turns: dict[str, list[float]] = {"direct": [], "proxy": [], "recording proxy": []}
    async with AsyncExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        browser = await stack.enter_async_context(cdpengine.launch())
        upstream = "http://" + browser.connections[0].name.partition("://")[2]
        target = (await browser.new_page()).target_id
        passing = await stack.enter_async_context(proxy_process(upstream))
        recording = await stack.enter_async_context(
            proxy_process(upstream, "--record", str(Path(folder) / "a.jsonl"))
        )
        pages = {}
        for name, endpoint in (("direct", upstream), ("proxy", passing), ("recording proxy", recording)):
            side = await stack.enter_async_context(cdpengine.connect(endpoint))
            pages[name] = next(page for page in side.pages if page.target_id == target)
        for page in pages.values():
            await round_trips(page)  # warm-up
        for _ in range(rounds):
            for name, page in pages.items():
                turns[name].append(statistics.median(await round_trips(page)))
    direct = turns["direct"]
    return {
        "round_trip_ms": {name: statistics.median(taken) for name, taken in turns.items()},
        "added_ms": {
            name: spread([a - b for a, b in zip(turns[name], direct, strict=True)]) for name in turns
        },
        "ratio": {name: spread([a / b for a, b in zip(turns[name], direct, strict=True)]) for name in turns},
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the median and the extremes."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}",
        **trio.run(measure, options.rounds),
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
