"""Actions: click, hover, 500 typed characters, fill of 500, and a click in the twentieth tab. Beside four others.

Rule: only the engine and Playwright check that a click can land; the others point and shoot. All drive the same
Chromium build with the same scene, in turns in one run. Each other library lives in the peers' own
virtual environment (`benchmarks/.peers`, at the versions of `peers.txt`), in a process of its own, and
says what it measured as JSON; what it cannot do is said in words, not as a zero. Every side checks with the page's
own count that what it timed has happened.

Run: `python -m benchmarks.actions [--rounds N] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import trio

import cdpengine
from benchmarks.peers import peers_python

HERE = Path(__file__).parent
PEERS = ("playwright", "pydoll", "nodriver", "zendriver")
SCRIPTS = {"nodriver": "drivers", "zendriver": "drivers"}
CASES = ("click", "hover", "type", "fill", "click_first_tab", "click_twentieth_tab")
REPEATS = {"click": 40, "hover": 40, "type": 5, "fill": 10, "click_first_tab": 15, "click_twentieth_tab": 15}
WARM_UP = 3
REST = 1.0
"""Seconds, on every side, until what a browser does at its start is over."""

TABS = 20
TEXT = ("the quick brown fox jumps over the lazy dog " * 12)[:500]

SCENE = (
    "<!doctype html><title>scene</title><button id=go onclick='clicks++'>Go</button>"
    "<button id=other onmouseover='overs++'>Over</button><textarea id=field></textarea>"
    "<script>clicks = 0; overs = 0</script>"
)


async def timed(repeats: int, action: Callable[[], Awaitable[object]]) -> list[float]:
    """Return the milliseconds of each run, after a few that are not counted."""
    taken = []
    for number in range(WARM_UP + repeats):
        started = time.perf_counter()
        await action()
        if number >= WARM_UP:
            taken.append((time.perf_counter() - started) * 1000)
        await trio.sleep(0.004)  # as a program does that looks at something between two actions
    return taken


async def prepared(browser: cdpengine.Browser) -> tuple[cdpengine.Page, dict[str, Any]]:
    """Open a tab with the scene; return it with its nodes by role or name."""
    page = await browser.new_page()
    await page.set_content(SCENE)
    snapshot = await page.snapshot()
    nodes = {
        "go": snapshot.find(role="button", name="Go"),
        "other": snapshot.find(role="button", name="Over"),
        "field": snapshot.find(role="textbox"),
    }
    return page, nodes


async def engine_round() -> dict[str, list[float]]:
    """Run all cases here."""
    said: dict[str, list[float]] = {}
    async with cdpengine.launch() as browser:
        page, nodes = await prepared(browser)
        await trio.sleep(REST)
        said["click"] = await timed(REPEATS["click"], lambda: page.click(nodes["go"]))
        assert await page.evaluate("clicks") == REPEATS["click"] + WARM_UP

        over = [nodes["go"], nodes["other"]]

        async def hover() -> None:
            over.reverse()
            await page.hover(over[0])

        said["hover"] = await timed(REPEATS["hover"], hover)
        assert await page.evaluate("overs") >= REPEATS["hover"] // 2

        async def clear() -> None:
            await page.evaluate("void (field.value = '')")

        said["type"] = []
        for _ in range(REPEATS["type"]):
            await clear()
            started = time.perf_counter()
            await page.type(nodes["field"], TEXT)
            said["type"].append((time.perf_counter() - started) * 1000)
            assert await page.evaluate("field.value") == TEXT
        said["fill"] = []
        for _ in range(REPEATS["fill"]):
            await clear()
            started = time.perf_counter()
            await page.fill(nodes["field"], TEXT)
            said["fill"].append((time.perf_counter() - started) * 1000)
            assert await page.evaluate("field.value") == TEXT

        tabs = [(page, nodes), *[await prepared(browser) for _ in range(TABS - 1)]]
        for name, (tab, found) in (("click_first_tab", tabs[0]), ("click_twentieth_tab", tabs[-1])):
            said[name] = await timed(REPEATS[name], lambda tab=tab, found=found: tab.click(found["go"]))  # type: ignore[misc]
    return said


def peer_round(python: Path, peer: str, executable: str) -> dict[str, Any]:
    """Run the same cases under another library, in its own process."""
    order = {
        "executable": executable,
        "scene": SCENE,
        "text": TEXT,
        "repeats": REPEATS,
        "tabs": TABS,
        "warm": WARM_UP,
        "rest": REST,
    }
    script = HERE / f"peer_actions_{SCRIPTS.get(peer, peer)}.py"
    try:
        done = subprocess.run(
            [python, script, json.dumps(order), peer],
            capture_output=True,
            text=True,
            timeout=150,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return {"error": "did not end within 150 s"}
    if done.returncode and not done.stdout.strip():
        return {"error": done.stderr.strip()[-400:]}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return answer


def summarize(rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the median of each case over all rounds, or why there is none."""
    said: dict[str, Any] = {}
    for case in CASES:
        values = [value for found in rounds for value in found.get(case, []) if isinstance(value, float)]
        reasons = [
            found[key] for found in rounds for key in (case, "error") if isinstance(found.get(key), str)
        ]
        if values:
            said[case] = round(statistics.median(values), 2)
        else:
            said[case] = reasons[0] if reasons else "cannot"
    return said


def main() -> None:
    """Parse, measure in turns, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", nargs="*", default=list(PEERS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    executable = str(cdpengine.find_browser().path)
    python = peers_python()
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in ("engine", *options.peers)}
    for _ in range(options.rounds):
        rounds["engine"].append(trio.run(engine_round))
        for peer in options.peers:
            rounds[peer].append(peer_round(python, peer, executable))
            print(f"{peer} done", file=sys.stderr)
    medians = {name: summarize(found) for name, found in rounds.items()}
    ours = medians["engine"]
    ratios = {
        peer: {case: round(theirs[case] / ours[case], 2) for case in CASES if isinstance(theirs[case], float)}
        for peer, theirs in medians.items()
        if peer != "engine"
    }
    figures = {
        "milliseconds": medians,
        "times_slower_than_engine": ratios,
        "twentieth_tab_to_first": round(ours["click_twentieth_tab"] / ours["click_first_tab"], 2),
        "repeats": REPEATS,
        "rounds": options.rounds,
    }
    text = json.dumps(figures, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
