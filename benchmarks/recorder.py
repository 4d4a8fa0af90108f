"""What recording costs: throughput of `session.call` with the recorder off, writing plain, and compressed.

Rule: one browser, one run, the modes in turns whose order changes from round to round, so that what else the
machine does hits all of them; the figure that counts is the ratio within a round. "off again" is off a second time:
how far it is from off is how far apart two equal things come out. Run: `python -m benchmarks.recorder`.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

import cdpengine
from cdpengine.debug import record

SESSIONS = 10
MODES = ("off", "plain", "zst", "off again")

CASES = {
    "calls": ("1", 100),
    "payloads of 20 kB": ("'x{\"y\":1}'.repeat(2500)", 20),
    "with secrets": ("'password=hunter2&token=abcdef'", 60),
}
"""Each case's expression, and how many calls each session makes, one after the other, in a turn."""


@asynccontextmanager
async def recording(browser: cdpengine.Browser, mode: str, folder: Path) -> AsyncIterator[list[int]]:
    """Record, or not; the list holds the bytes that waited to be written, and messages lost, when it was left."""
    seen: list[int] = []
    if mode.startswith("off"):
        yield seen
        return
    name = "recording.jsonl.zst" if mode == "zst" else "recording.jsonl"
    async with record(browser, folder / name) as recorder:
        yield seen
        counts = recorder.statistics()
        seen += [counts.queued, counts.lost]


async def throughput(pages: list[cdpengine.Page], expression: str, calls: int) -> tuple[float, float]:
    """Return calls a second, one in flight a session, and the engine's microseconds of CPU for each call."""

    async def one(page: cdpengine.Page) -> None:
        for _ in range(calls):
            await page.session.call("Runtime.evaluate", expression=expression, returnByValue=True)

    started, busy = time.perf_counter(), time.process_time()
    async with trio.open_nursery() as nursery:
        for page in pages:
            nursery.start_soon(one, page)
    made = len(pages) * calls
    return made / (time.perf_counter() - started), (time.process_time() - busy) / made * 1e6


async def measure(rounds: int) -> dict[str, object]:
    """Run all cases and return the figures."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with cdpengine.launch() as browser:
            pages = [await browser.new_page() for _ in range(SESSIONS)]
            for case, (expression, calls) in CASES.items():
                await throughput(pages, expression, calls)  # warm-up
                rates: dict[str, list[float]] = {mode: [] for mode in MODES}
                busy: dict[str, list[float]] = {mode: [] for mode in MODES}
                waiting = lost = 0
                for number in range(rounds):
                    turn = number % len(MODES)
                    for mode in MODES[turn:] + MODES[:turn]:
                        async with recording(browser, mode, Path(folder)) as seen:
                            rate, cpu = await throughput(pages, expression, calls)
                        rates[mode].append(rate)
                        busy[mode].append(cpu)
                        waiting, lost = max(waiting, *seen[:1], 0), lost + sum(seen[1:])
                figures[case] = summary(rates, busy) | {"most_bytes_waiting": waiting, "messages_lost": lost}
    return figures


def summary(rates: dict[str, list[float]], busy: dict[str, list[float]]) -> dict[str, object]:
    """Reduce to medians, and to the ratio to "off" in the same round, with its quartiles."""
    ratios = {
        mode: [rate / off for rate, off in zip(values, rates["off"], strict=True)]
        for mode, values in rates.items()
        if mode != "off"
    }
    return {
        "calls_per_s": {mode: round(statistics.median(values)) for mode, values in rates.items()},
        "cpu_us_per_call": {mode: round(statistics.median(values)) for mode, values in busy.items()},
        "ratio_to_off": {mode: spread(values) for mode, values in ratios.items()},
    }


def spread(values: list[float]) -> dict[str, float]:
    """Return the median and the quartiles."""
    low, middle, high = statistics.quantiles(values, n=4)
    return {"median": round(middle, 3), "q1": round(low, 3), "q3": round(high, 3)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=12)
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
