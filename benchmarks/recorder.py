"""What recording costs: throughput of `session.call` with the recorder off, writing plain, and compressed.

Rule: one browser, one run, short turns of the modes (off, plain, off again, zst), whose order moves on from round to
round, so that what else the machine does hits all of them; the figure that counts is the ratio within a round, to
the mean of both turns without. "off again to off" is how far apart two equal things come out. The writing process
is up when a turn is measured (its start is a figure of its own), and what still waits to be written at the end of a
turn is told, so that nothing is put off unseen. Run: `python -m benchmarks.recorder`.
"""

from __future__ import annotations

import argparse
import json
import math
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
MODES = ("off", "plain", "off again", "zst")
MOST = 0.85
"""What is left of the throughput at least."""

MARKUP = "'<li class=\"item\"><a href=\"/list?page=' + i + '\">The words of an item, one of many</a></li>'"
CASES = {
    "small replies": "1",
    "2 kB of markup": f"Array.from({{length: 20}}, (_, i) => {MARKUP}).join('')",
    "20 kB of markup": f"Array.from({{length: 200}}, (_, i) => {MARKUP}).join('')",
    "secrets in texts": "'password=hunter2&token=abcdef'",
    "cookies and headers": "",
    "2 kB of markup, 3 s a turn": f"Array.from({{length: 20}}, (_, i) => {MARKUP}).join('')",
}
"""Each case's expression; "" asks for cookies."""

LONG = {"2 kB of markup, 3 s a turn": 3.0}
"""Seconds a turn of cases that tell whether what is put off catches up with the engine; half the rounds."""


@asynccontextmanager
async def recording(browser: cdpengine.Browser, mode: str, folder: Path) -> AsyncIterator[dict[str, float]]:
    """Record, or not; what is given holds figures of the recorder when the block is left."""
    seen: dict[str, float] = {}
    if mode.startswith("off"):
        yield seen
        return
    path = folder / ("recording.jsonl.zst" if mode == "zst" else "recording.jsonl")
    path.unlink(missing_ok=True)
    started = time.perf_counter()
    async with record(browser, path) as recorder:
        entered = time.perf_counter()
        while recorder.statistics().written == 0:  # noqa: ASYNC110 - a file's size tells nobody
            await trio.sleep(0.005)
        seen["entered_ms"] = (entered - started) * 1000
        seen["writing_after_ms"] = (time.perf_counter() - started) * 1000
        yield seen
        counts = recorder.statistics()
        seen |= {"waiting": counts.queued, "lost": counts.lost}


async def throughput(pages: list[cdpengine.Page], expression: str, seconds: float) -> tuple[float, float]:
    """Return calls a second, one in flight a session, and the engine's microseconds of CPU for each call."""
    made = 0

    async def one(page: cdpengine.Page) -> None:
        nonlocal made
        while time.perf_counter() < started + seconds:
            if expression:
                await page.session.call("Runtime.evaluate", expression=expression, returnByValue=True)
            else:
                await page.session.call("Network.getCookies", urls=["http://example.com/"])
            made += 1

    started, busy = time.perf_counter(), time.process_time()
    async with trio.open_nursery() as nursery:
        for page in pages:
            nursery.start_soon(one, page)
    return made / (time.perf_counter() - started), (time.process_time() - busy) / made * 1e6


async def measure(rounds: int, seconds: float) -> dict[str, object]:
    """Run all cases and return the figures."""
    figures: dict[str, object] = {}
    with tempfile.TemporaryDirectory() as folder:
        async with cdpengine.launch() as browser:
            pages = [await browser.new_page() for _ in range(SESSIONS)]
            for number in range(5):
                value = f"{number}-0123456789abcdef" * 3
                await pages[0].session.call(
                    "Network.setCookie", name=f"sid{number}", value=value, url="http://example.com/"
                )
            for case, expression in CASES.items():
                each = LONG.get(case, seconds)
                await throughput(pages, expression, seconds)  # warm-up
                rates: dict[str, list[float]] = {mode: [] for mode in MODES}
                busy: dict[str, list[float]] = {mode: [] for mode in MODES}
                counts: list[dict[str, float]] = []
                for number in range(max(2, rounds // 2) if case in LONG else rounds):
                    turn = number % len(MODES)
                    for mode in MODES[turn:] + MODES[:turn]:
                        async with recording(browser, mode, Path(folder)) as seen:
                            rate, cpu = await throughput(pages, expression, each)
                        rates[mode].append(rate)
                        busy[mode].append(cpu)
                        counts += [seen] if seen else []
                figures[case] = summary(rates, busy) | {
                    "most_bytes_waiting": max(seen["waiting"] for seen in counts),
                    "messages_lost": sum(seen["lost"] for seen in counts),
                    "entered_ms": round(statistics.median(seen["entered_ms"] for seen in counts), 2),
                    "writing_after_ms": round(statistics.median(seen["writing_after_ms"] for seen in counts)),
                }
    return figures


def summary(rates: dict[str, list[float]], busy: dict[str, list[float]]) -> dict[str, object]:
    """Reduce to medians, and to the ratio to "off" in the same round, with its quartiles."""
    without = [(one + other) / 2 for one, other in zip(rates["off"], rates["off again"], strict=True)]
    ratios = {
        mode: spread([rate / off for rate, off in zip(rates[mode], without, strict=True)])
        for mode in ("plain", "zst")
    }
    noise = spread([other / one for one, other in zip(rates["off"], rates["off again"], strict=True)])
    return {
        "calls_per_s": {mode: round(statistics.median(values)) for mode, values in rates.items()},
        "engine_cpu_us_per_call": {mode: round(statistics.median(values)) for mode, values in busy.items()},
        "ratio_to_off": ratios,
        "off_again_to_off": noise,
        "verdict": {mode: verdict(ratio) for mode, ratio in ratios.items()},
    }


def verdict(ratio: dict[str, float]) -> str:
    """Say whether what is left is enough, and whether this run can tell."""
    told = f"{ratio['median']} +- {ratio['error']}, {MOST} at least"
    if abs(ratio["median"] - MOST) < ratio["error"]:
        return f"cannot be told: {told}"
    return f"{'holds' if ratio['median'] > MOST else 'FAILS'}: {told}"


def spread(values: list[float]) -> dict[str, float]:
    """Return the median, the quartiles, and the standard error of the median as the quartiles give it."""
    low, middle, high = statistics.quantiles(values, n=4)
    error = 1.2533 * (high - low) / 1.349 / math.sqrt(len(values))
    return {"median": round(middle, 3), "q1": round(low, 3), "q3": round(high, 3), "error": round(error, 3)}


def main() -> None:
    """Parse, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=0.3, help="how long a turn is")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = {
        "machine": f"{platform.machine()}, Python {platform.python_version()}, {platform.system()}",
        **trio.run(measure, options.rounds, options.seconds),
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n")


if __name__ == "__main__":
    main()
