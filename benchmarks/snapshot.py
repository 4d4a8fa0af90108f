"""Snapshots by page size and source, beside Playwright's `aria_snapshot(mode="ai")` and a bare `getFullAXTree`.

Rule: everything drives the same Chromium binary on the same pages, in turns A B A B in one run; the figures that count
are the ratios; beside them stands what one round trip takes in the same turns. A turn takes several snapshots of a
small page, one of a large one, and counts their median: a program that looks at a page looks more than once. The first
look at a page, when Chrome builds its accessibility tree, is not counted: the warm page is. The page stands still
between the turns, so `computed` may use its parts again; "scratch" is the same with `fresh=True`.

Run: `python -m benchmarks.snapshot [--turns N] [--quick] [--memory] [--json FILE]`.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path

import attrs
import msgspec
import trio

import cdpengine
from benchmarks.pages import serve
from benchmarks.peers import Peer, peer
from cdpengine.snapshot.axtree import ax_nodes
from cdpengine.snapshot.refs import RefTable
from cdpengine.snapshot.render import SnapshotOptions, render
from cdpengine.snapshot.tree import fold

ROWS = (10, 100, 1_000, 5_000)
FRAGMENTS = 20_000
FRAMES = 30

CHANGE_ONE_ROW = """n => {
    const row = document.querySelectorAll("li")[n % document.querySelectorAll("li").length];
    row.querySelector("button").textContent = "Sold " + n;
    row.querySelector("input").checked = true;
}"""


@attrs.frozen
class Figures:
    """Milliseconds of each way, by turn."""

    page: str
    milliseconds: dict[str, list[float]]

    def median(self, way: str) -> float:
        return statistics.median(self.milliseconds[way])

    def ratio(self, slow: str, fast: str) -> dict[str, float]:
        """Return how many times longer `slow` takes: of the medians, and the quartiles over the turns."""
        each = sorted(a / b for a, b in zip(self.milliseconds[slow], self.milliseconds[fast], strict=True))
        low, _, high = statistics.quantiles(each, n=4) if len(each) > 1 else (each[0], each[0], each[0])
        return {
            "median": round(self.median(slow) / self.median(fast), 2),
            "low": round(low, 2),
            "high": round(high, 2),
        }


def in_a_row(rows: int) -> int:
    """Return how many snapshots a turn takes of a page of so many rows."""
    return 10 if rows <= 100 else 3 if rows <= 1_000 else 1


async def timed(step: Callable[[], Awaitable[object]], times: int = 1) -> float:
    """Return the median of so many in a row, in milliseconds."""
    gc.collect()
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        await step()
        taken.append((time.perf_counter() - started) * 1000)
    return statistics.median(taken)


async def measure(
    playwright: Peer | None,
    ways: dict[str, Callable[[], Awaitable[object]]],
    turns: int,
    times: int,
) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in ways}
    if playwright is not None:
        taken["playwright"] = []
    for turn in range(turns + 1):
        for name, step in ways.items():
            milliseconds = await timed(step, times)
            if turn:
                taken[name].append(milliseconds)
        if playwright is not None:
            said = await trio.to_thread.run_sync(lambda: playwright.ask(do="snapshot", times=times))
            if turn:
                taken["playwright"].append(said["ms"])
    return taken


async def one_page(
    browser: cdpengine.Browser,
    playwright: Peer | None,
    url: str,
    name: str,
    sources: tuple[str, ...],
    turns: int,
    times: int,
) -> Figures:
    """Measure each source, the bare wire and Playwright on one page."""
    page = await browser.new_page(url)
    if playwright is not None:
        await trio.to_thread.run_sync(lambda: playwright.ask(do="open", url=url))

    def by(source: str | None) -> Callable[[], Awaitable[object]]:
        return lambda: page.snapshot(source=source, timeout=120)  # type: ignore[arg-type]

    ways = {source: by(None if source == "default" else source) for source in sources}
    if "computed" in sources:
        ways["scratch"] = lambda: page.snapshot(source="computed", fresh=True, timeout=120)
    # What nothing can be faster than: one question that means no work at all.
    ways["round trip"] = lambda: page.session.call("Runtime.evaluate", expression="0")
    if "ax" in sources:
        ways["wire"] = lambda: page.session.request("Accessibility.getFullAXTree", {}, msgspec.Raw)
    taken = await measure(playwright, ways, turns, times)
    await page.close()
    return Figures(name, taken)


async def changed_row(browser: cdpengine.Browser, url: str, name: str, turns: int, times: int) -> Figures:
    """Measure a further snapshot after one row changed, and one from scratch on the same warm page.

    Both come right after a change, since Chrome has work of its own then.
    """
    taken: dict[str, list[float]] = {"further": [], "scratch": []}
    page = await browser.new_page(url)
    await page.snapshot(timeout=120)
    change = 0
    for turn in range(turns + 1):
        for way, fresh in (("further", False), ("scratch", True)):
            gc.collect()
            each = []
            for _ in range(times):
                change += 1
                await page.evaluate(CHANGE_ONE_ROW, change)
                started = time.perf_counter()
                await page.snapshot(fresh=fresh, timeout=120)
                each.append((time.perf_counter() - started) * 1000)
                if fresh:
                    await page.snapshot(timeout=120)  # so that the next one has parts to go on from
            if turn:
                taken[way].append(statistics.median(each))
    await page.close()
    return Figures(name, taken)


async def memory(browser: cdpengine.Browser, url: str) -> dict[str, float]:
    """Return the size of a reply, and Python's peak on top of it from the message to the text, in MB."""
    page = await browser.new_page(url)
    raw = bytes(
        await page.session.request(
            "Accessibility.getFullAXTree",
            {},
            msgspec.Raw,
        )
    )
    await page.close()
    gc.collect()
    tracemalloc.start()
    document = fold(ax_nodes(raw), frame_id="frame")
    text = render(document, RefTable().assign([document]), SnapshotOptions()).text
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "message_mb": round(len(raw) / 1e6, 1),
        "peak_mb": round(peak / 1e6, 1),
        "ratio": round(peak / len(raw), 2),
        "text_mb": round(len(text) / 1e6, 1),
    }


async def run(options: argparse.Namespace) -> dict[str, object]:
    executable = str(cdpengine.find_browser().path)
    report: dict[str, object] = {"pages": []}
    figures: list[Figures] = []
    sizes = ROWS[:3] if options.quick else ROWS
    with serve() as site, peer("peer_snapshot.py", executable) as playwright:
        async with cdpengine.launch(executable=executable) as browser:
            for count in sizes:
                turns = options.turns if count <= 1_000 else max(3, options.turns // 2)
                figures.append(
                    await one_page(
                        browser,
                        playwright,
                        f"{site}/rows/{count}",
                        f"{count} rows",
                        ("computed", "dom", "ax"),
                        turns,
                        in_a_row(count),
                    )
                )
            figures.append(
                await one_page(
                    browser,
                    playwright,
                    f"{site}/frames/{FRAMES}",
                    f"{FRAMES} frames",
                    ("computed", "ax"),
                    options.turns,
                    1,
                )
            )
            for count in sizes[1:]:
                name = f"{count} rows, one changed"
                changed = await changed_row(browser, f"{site}/rows/{count}", name, 5, in_a_row(count))
                figures.append(changed)
            if not options.quick:
                figures.append(
                    await one_page(
                        browser,
                        playwright,
                        f"{site}/fragments/{FRAGMENTS}",
                        f"{FRAGMENTS} fragment links",
                        ("default", "computed", "dom", "ax"),
                        1,
                        1,
                    )
                )
            if options.memory:
                report["memory"] = await memory(browser, f"{site}/rows/5000")
    for each in figures:
        line: dict[str, object] = {
            "page": each.page,
            "median_ms": {way: round(each.median(way), 2) for way in each.milliseconds},
        }
        for slow, fast in (
            ("playwright", "computed"),
            ("playwright", "scratch"),
            ("playwright", "dom"),
            ("ax", "computed"),
            ("ax", "wire"),
            ("scratch", "further"),
        ):
            if slow in each.milliseconds and fast in each.milliseconds:
                line[f"{slow} / {fast}"] = each.ratio(slow, fast)
        assert isinstance(report["pages"], list)
        report["pages"].append(line)
    return report


def main() -> None:
    """Parse, measure in turns, print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--quick", action="store_true", help="without the largest pages")
    parser.add_argument("--memory", action="store_true", help="also Python's peak memory at 5,000 rows")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    text = json.dumps(trio.run(run, options), indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
