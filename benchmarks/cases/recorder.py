"""The cost of recording: commands a second without the recorder, with plain and with compressed recording.

Rule: ten sessions have one call in flight each. Turns are short and many, because the machine's speed varies. No two
markup pages are equal. A message lost by the recorder is an error.
"""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn, calls_a_second
from benchmarks.site import WORDS
from cdpengine.debug import record

SESSIONS = 10
SECONDS = 0.15
ROUNDS = 10

FILES = {"engine: recording, plain": "recording.jsonl", "engine: recording, zst": "recording.jsonl.zst"}

ROW = "'<li class=\"item\"><a href=\"/list?page=' + one() % 1e6 + '\">The ' + word() + ' ' + word() + '</a> of many</li>'"
MARKUP = f"""self.markup = (count) => {{
  const words = {list(WORDS)!r};
  self.seed ??= Math.floor(Math.random() * 1e9);
  const one = () => (self.seed = (self.seed * 48271) % 2147483647);
  const word = () => words[one() % words.length];
  return Array.from({{length: count}}, () => {ROW}).join("");
}};"""
"""Script that generates rows, different each time."""

TRAFFIC: dict[str, tuple[str, dict[str, object]]] = {
    "small replies": ("Runtime.evaluate", {"expression": "1", "returnByValue": True}),
    "20 kB of markup": ("Runtime.evaluate", {"expression": "markup(250)", "returnByValue": True}),
    "cookies and headers": ("Network.getCookies", {"urls": ["http://example.com/"]}),
}
"""The call of each kind of traffic."""


async def recorded(browser: cdpengine.Browser, path: Path, traffic: Callable[[], Awaitable[float]]) -> float:
    """Return calls a second while everything is recorded."""
    await trio.Path(path).unlink(missing_ok=True)
    async with record(browser, path) as recorder:
        while recorder.statistics().written == 0:  # noqa: ASYNC110 - a file's size has no event
            await trio.sleep(0.005)
        rate = await traffic()
        lost = recorder.statistics().lost
    assert lost == 0, f"the recorder lost {lost} messages"
    return rate


async def set_cookies(page: cdpengine.Page) -> None:
    for number in range(5):
        value = f"{number}-0123456789abcdef" * 3
        await page.session.call(
            "Network.setCookie", name=f"sid{number}", value=value, url="http://example.com/"
        )


async def run(bench: Bench) -> None:
    with tempfile.TemporaryDirectory(prefix="recorder-") as folder:
        async with bench.launch() as browser:
            pages = [await browser.new_page(f"{bench.site}/blank") for _ in range(SESSIONS)]
            for page in pages:
                await page.session.call("Runtime.evaluate", expression=MARKUP)
            await set_cookies(pages[0])
            for kind, (method, params) in TRAFFIC.items():
                calls = [partial(page.session.call, method, **params) for page in pages]
                traffic = partial(calls_a_second, calls, SECONDS)
                sides: dict[str, Turn] = {"engine": traffic}
                for side, name in FILES.items():
                    sides[side] = partial(recorded, browser, Path(folder) / name, traffic)
                await bench.turns(sides, kind, unit="calls/s", turns=ROUNDS)


CASE = Case("recorder", "What recording costs of the commands a second", run, 60, 45)
