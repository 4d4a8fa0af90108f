"""The cost of recording: commands a second without the recorder, with plain and with compressed recording.

Rule: one browser and ten sessions, with one call in flight on each. "engine: again" equals "engine" and shows the
noise. Turns are short and many, because the machine's speed varies. No two markup pages are equal. A message lost
by the recorder is an error. The data not yet written at the end of a turn is a separate figure, so that no delay
stays hidden; one kind of traffic has long turns, in which the recorder must keep up. The processor time of this
process for a call is another figure.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import trio

import cdpengine
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.figures import Measurement
from cdpengine.debug import record

NAME = "recorder"
SESSIONS = 10

OFF, AGAIN, PLAIN, ZST = "engine", "engine: again", "engine: recording, plain", "engine: recording, zst"
FILES = {PLAIN: "recording.jsonl", ZST: "recording.jsonl.zst"}

WORDS = [
    "of",
    "the",
    "item",
    "list",
    "page",
    "blue",
    "large",
    "first",
    "wooden",
    "paper",
    "kettle",
    "garden",
    "river",
    "monday",
    "kitchen",
    "window",
]
ROW = "'<li class=\"item\"><a href=\"/list?page=' + one() % 1e6 + '\">The ' + word() + ' ' + word() + '</a> of many</li>'"
MARKUP = f"""self.markup = (count) => {{
  const words = {WORDS!r};
  self.seed ??= Math.floor(Math.random() * 1e9);
  const one = () => (self.seed = (self.seed * 48271) % 2147483647);
  const word = () => words[one() % words.length];
  return Array.from({{length: count}}, () => {ROW}).join("");
}};"""
"""Script that generates rows, different each time."""

SMALL = "small replies"
LARGE = "20 kB of markup"
COOKIES = "cookies and headers"
SUSTAINED = "2 kB of markup, for longer"
TRAFFIC = {
    SMALL: "1",
    LARGE: "markup(250)",
    "secrets in texts": "'password=hunter2&token=abcdef'",
    COOKIES: "",
    SUSTAINED: "markup(25)",
}
"""The evaluated expression of each kind of traffic. COOKIES requests cookies; SUSTAINED lasts longer."""

PROMISED = {SMALL, LARGE, COOKIES}
"""Kinds with a promise, which get ten rounds."""


async def throughput(pages: list[cdpengine.Page], expression: str, seconds: float) -> tuple[float, float]:
    """Return calls a second, with one in flight on each session, and this process's milliseconds for each."""
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
    return made / (time.perf_counter() - started), (time.process_time() - busy) / made * 1000


@asynccontextmanager
async def recording(browser: cdpengine.Browser, path: Path, waiting: list[float]) -> AsyncIterator[None]:
    """Record during the block. At its end, add the unwritten megabytes to `waiting`."""
    async with record(browser, path) as recorder:
        while recorder.statistics().written == 0:  # noqa: ASYNC110 - a file's size has no event
            await trio.sleep(0.005)
        yield
        counts = recorder.statistics()
        assert counts.lost == 0, f"the recorder lost {counts.lost} messages"
        waiting.append(counts.queued / 1e6)


async def cookies_set(page: cdpengine.Page) -> None:
    """Set the cookies that COOKIES requests."""
    for number in range(5):
        value = f"{number}-0123456789abcdef" * 3
        await page.session.call(
            "Network.setCookie", name=f"sid{number}", value=value, url="http://example.com/"
        )


async def run(bench: Bench) -> None:
    """Measure."""
    seconds = 0.15
    kinds = {kind: asked for kind, asked in TRAFFIC.items() if kind in PROMISED or not bench.quick}
    with tempfile.TemporaryDirectory(prefix="recorder-") as folder:
        async with bench.launch() as browser:
            pages = [await browser.new_page(f"{bench.site}/blank") for _ in range(SESSIONS)]
            for page in pages:
                await page.session.call("Runtime.evaluate", expression=MARKUP)
            await cookies_set(pages[0])
            for kind, expression in kinds.items():
                lasting, rounds = (1.0, 2) if kind == SUSTAINED else (seconds, 10 if kind in PROMISED else 3)
                traffic = partial(throughput, pages, expression, lasting)
                await measured(bench, kind, traffic, rounds, browser, Path(folder))


async def measured(
    bench: Bench,
    kind: str,
    traffic: Callable[[], Awaitable[tuple[float, float]]],
    rounds: int,
    browser: cdpengine.Browser,
    folder: Path,
) -> None:
    """Run the turns of all modes with one kind of traffic, and record the three figures."""
    waiting, own_time = FurtherFigure(), FurtherFigure()

    def turn_of(side: str) -> Turn:
        async def turn() -> float:
            if side not in FILES:
                rate, busy = await traffic()
            else:
                path, left = folder / FILES[side], list[float]()
                path.unlink(missing_ok=True)
                async with recording(browser, path, left):
                    rate, busy = await traffic()
                waiting.add(side, left)
            own_time.add(side, busy)
            return rate

        return turn

    sides = {side: turn_of(side) for side in (OFF, PLAIN, AGAIN, ZST)}
    taken = await bench.turns(NAME, sides, unit="calls/s", variant=kind, turns=rounds)
    own_time.record(bench, taken, variant=f"{kind}: the engine's own processor time for a call", unit="ms")
    left_over = tuple(side for side in waiting.of(taken) if side.side in FILES)
    variant = f"{kind}: still to be written after a turn"
    bench.record(Measurement(NAME, variant, unit="MB", sides=left_over, compared=False))


CASE = Case(NAME, "What recording costs of the commands a second", run, 60, 45)
