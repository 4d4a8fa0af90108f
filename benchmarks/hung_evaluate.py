"""A hung evaluate: how late it is given up on, how soon the page is free, and the click after it. Beside Playwright.

Rule: both drive the same Chromium with the same scene, in turns A B A B in one run. Playwright lives in a virtual
environment of its own (`benchmarks/.peers`, made here at the versions of `peers.txt`), in a process of its own, and
says what it saw as JSON; what it cannot do is said in words, not as a zero.

Run: `python -m benchmarks.hung_evaluate [--rounds N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
from pathlib import Path

import trio

import cdpengine
from benchmarks.peers import HERE, peers_python

BUDGET = 0.5
"""Seconds that the script may run."""

HANGS_A_ROUND = 10
HANG = "while (true) {}"
SCENE = "<button onclick='window.clicks = (window.clicks || 0) + 1'>Go</button>"


async def engine_round() -> dict[str, list[float]]:
    """Return milliseconds: past the deadline until told, until the page answered, and of the click after it."""
    late, free, click = [], [], []
    async with cdpengine.launch() as browser:
        page = await browser.new_page()
        await page.set_content(SCENE)
        button = (await page.snapshot()).find(role="button")
        await page.click(button)
        for number in range(HANGS_A_ROUND):
            deadline = trio.current_time() + BUDGET
            try:
                await page.evaluate(HANG, timeout=BUDGET)
            except cdpengine.EvaluationTimeout:
                late.append((trio.current_time() - deadline) * 1000)
            await page.session.call("Runtime.evaluate", expression="1")
            free.append((trio.current_time() - deadline) * 1000)
            started = trio.current_time()
            await page.click(button)
            click.append((trio.current_time() - started) * 1000)
            assert await page.evaluate("window.clicks") == number + 2
    return {"late_ms": late, "free_ms": free, "click_ms": click}


def playwright_round(python: Path, executable: str) -> dict[str, object]:
    """Run the same scene under Playwright, in its own process."""
    done = subprocess.run(
        [python, HERE / "peer_playwright.py", executable, SCENE, HANG, str(BUDGET)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answer: dict[str, object] = json.loads(done.stdout)
    return answer


def summarize(values: list[float]) -> dict[str, float]:
    """Return median, 95th percentile and maximum."""
    return {
        "median": statistics.median(values),
        "p95": statistics.quantiles(values, n=20)[-1],
        "max": max(values),
    }


def main() -> None:
    """Parse, measure in turns, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    executable = str(cdpengine.find_browser().path)
    python = peers_python()
    ours: dict[str, list[float]] = {"late_ms": [], "free_ms": [], "click_ms": []}
    theirs: list[dict[str, object]] = []
    for _ in range(options.rounds):
        for name, values in trio.run(engine_round).items():
            ours[name] += values
        theirs.append(playwright_round(python, executable))
    figures = {
        "budget_s": BUDGET,
        "hangs": len(ours["late_ms"]),
        "engine": {name: summarize(values) for name, values in ours.items()},
        "playwright": theirs,
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
