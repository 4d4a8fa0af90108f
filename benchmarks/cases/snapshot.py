"""Snapshots by page size and source, compared with the bare protocol and with peers.

Rule: the first snapshot, for which Chrome builds its accessibility tree, is not counted. The page is unchanged between
the turns, so `computed` may reuse its parts; "scratch" uses `fresh=True`. The floors are a call without work, and
Chrome's time to send its accessibility tree to a client that does not decode it.
"""

from __future__ import annotations

import gc
import tracemalloc
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import attrs
import msgspec

import cdpengine
from benchmarks.floor.websocket import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn, each_timed, timed
from benchmarks.harness.engine import PATIENCE
from benchmarks.harness.figures import SideFigures, is_engine
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import ax_nodes

ROWS = (10, 100, 1_000, 5_000)
FRAGMENTS = 10_000
FRAMES = 30
CHANGE_ONE_ROW = """n => {
    const row = document.querySelectorAll("li")[n % document.querySelectorAll("li").length];
    row.querySelector("button").textContent = "Sold " + n;
    row.querySelector("input").checked = true;
}"""


@attrs.frozen
class Looker:
    """The engine's page and the floor's, which show the same page of the site."""

    bench: Bench
    page: cdpengine.Page
    bare: Counting

    async def load(self, path: str) -> None:
        await self.page.goto(f"{self.bench.site}/{path}")
        await self.bare.navigate(f"{self.bench.site}/{path}")

    def snapshots(self, times: int = 1, **options: Any) -> Turn:
        return partial(each_timed, partial(self.page.snapshot, timeout=PATIENCE, **options), times)

    def floor(self, times: int, method: str, **params: str) -> Turn:
        return partial(each_timed, partial(self.bare.call, method, **params), times)

    async def sides(self, times: int = 1) -> dict[str, Turn]:
        """Return the turns of the engine, without its snapshots by the accessibility tree, and of the peers."""
        patience = PATIENCE * times
        return {
            "engine": self.snapshots(times),
            "engine: computed": self.snapshots(times, source="computed"),
            **await self.bench.peer_turns("snapshot", url=self.page.url, times=times, patience=patience),
        }


async def by_rows(looker: Looker, rows: int) -> None:
    """Measure all sides on a page with that number of rows, and a further snapshot after one has changed."""
    await looker.load(f"rows/{rows}")
    times = 8 if rows <= 100 else 2 if rows <= 1_000 else 1
    sides = await looker.sides(times)
    sides["engine: ax"] = looker.snapshots(times, source="ax")
    sides["floor: round trip"] = looker.floor(times, "Runtime.evaluate", expression="0")
    sides["floor: getFullAXTree"] = looker.floor(times, "Accessibility.getFullAXTree")
    turns, warm_up = min(looker.bench.turn_count, 4 if rows <= 100 else 3), 1
    if rows > 1_000:
        # Only the engine reuses an earlier snapshot; the smaller pages were the warm-up of the others.
        turns, warm_up = 1, 0
        for name, turn in sides.items():
            if is_engine(name):
                await turn()
    await looker.bench.turns(sides, f"{rows:,} rows", unit="ms", turns=turns, warm_up=warm_up)
    if rows > ROWS[0]:
        await one_row_changed(looker, rows, times)


async def one_row_changed(looker: Looker, rows: int, times: int) -> None:
    """Measure a further snapshot after one row changed, and one from scratch on the same page.

    Both follow a change immediately, because Chrome has work then.
    """
    page, changes = looker.page, 0

    async def after_a_change(fresh: bool) -> list[float]:
        nonlocal changes
        taken = []
        for _ in range(times):
            changes += 1
            await page.evaluate(CHANGE_ONE_ROW, changes)
            taken.append(await timed(partial(page.snapshot, fresh=fresh, timeout=PATIENCE)))
            if fresh:
                await page.snapshot(timeout=PATIENCE)  # so that the next one can reuse parts
        return taken

    sides = {
        "engine: further": partial(after_a_change, fresh=False),
        "engine: scratch": partial(after_a_change, fresh=True),
    }
    turns = min(looker.bench.turn_count, 5)
    await looker.bench.turns(sides, f"{rows:,} rows, one changed", unit="ms", turns=turns)


async def of_frames(looker: Looker) -> None:
    """Measure a page of frames. The bare tree excludes its frames, so it is no floor here."""
    await looker.load(f"frames/{FRAMES}")
    sides = {**await looker.sides(), "engine: ax": looker.snapshots(source="ax")}
    turns = min(looker.bench.turn_count, 3)
    await looker.bench.turns(sides, f"{FRAMES} frames of ten rows", unit="ms", turns=turns)


async def of_fragments(looker: Looker) -> None:
    """Measure the page that makes Chrome's accessibility tree quadratic, once for each side.

    Puppeteer, which reads that tree, is left out.
    """
    await looker.load(f"fragments/{FRAGMENTS}")
    variant = f"{FRAGMENTS:,} fragment links"
    sides = await looker.sides()
    sides.pop("puppeteer", None)
    await looker.bench.turns(sides, variant, unit="ms", turns=1)
    # Twenty seconds each: once, and without a warm-up.
    tree = {
        "engine: ax": looker.snapshots(source="ax"),
        "floor: getFullAXTree": looker.floor(1, "Accessibility.getFullAXTree"),
    }
    await looker.bench.turns(tree, f"{variant}, by the accessibility tree", unit="ms", turns=1, warm_up=0)


async def memory(bench: Bench, bare: Counting, rows: int) -> None:
    """Measure the size of a tree's message, and Python's additional peak memory until the text, in MB."""
    await bare.navigate(f"{bench.site}/rows/{rows}")
    message = await bare.call("Accessibility.getFullAXTree")
    raw = bytes(msgspec.json.decode(message, type=dict[str, msgspec.Raw])["result"])
    del message
    peaks = [peak_memory(raw, rows) for _ in range(bench.least_rounds)]
    sides = [
        SideFigures(
            "engine: ax", [(peak,) for peak in peaks], note="Python's peak in addition to the message"
        ),
        SideFigures("floor: the message", [(len(raw) / 1e6,) for _ in peaks]),
    ]
    bench.record(f"memory over a tree of {16 * rows:,} nodes", sides, unit="MB")


def peak_memory(raw: bytes, rows: int) -> float:
    gc.collect()
    tracemalloc.start()
    try:
        document = fold(ax_nodes(raw), frame_id="frame")
        text = render(document, RefTable().assign([document]), SnapshotOptions()).text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert f"Item {rows - 1}" in text
    return peak / 1e6


async def run(bench: Bench) -> None:
    sizes = ROWS[1:3] if bench.quick else ROWS
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        page = await browser.new_page()
        bare = await stack.enter_async_context(own_page(bench.executable, f"{bench.site}/blank"))
        await bare.call("Accessibility.enable")  # like the engine, so that Chrome keeps its tree
        looker = Looker(bench, page, bare)
        for rows in sizes:
            await by_rows(looker, rows)
        await of_frames(looker)
        if not bench.quick:
            await of_fragments(looker)
        await bench.peers.close()
        await memory(bench, bare, sizes[-1])


CASE = Case(name="snapshot", title="Snapshots of pages", run=run, seconds=80, quick_seconds=35)
