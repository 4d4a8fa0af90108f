"""Snapshots by page size and source, compared with the bare protocol and with peers.

Rule: a turn takes several snapshots of a small page, one of a large one, because programs read a page repeatedly.
The first snapshot, for which Chrome builds its accessibility tree, is not counted. The page is unchanged between
the turns, so `computed` may reuse its parts; "scratch" uses `fresh=True`. Two floors are a call without work
("floor: round trip"), and Chrome's time to send its accessibility tree to a client that does not decode it
("floor: getFullAXTree").
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from contextlib import AsyncExitStack
from functools import partial

import attrs
import msgspec

import cdpengine
from benchmarks.floor.websocket import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn, each_timed
from benchmarks.harness.figures import SideFigures
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import ax_nodes

ROWS = (10, 100, 1_000, 5_000)
FRAGMENTS = 10_000
FRAMES = 30
PATIENCE = 60.0
"""Timeout of one snapshot, in seconds."""

CHANGE_ONE_ROW = """n => {
    const row = document.querySelectorAll("li")[n % document.querySelectorAll("li").length];
    row.querySelector("button").textContent = "Sold " + n;
    row.querySelector("input").checked = true;
}"""


def in_a_row(rows: int) -> int:
    return 8 if rows <= 100 else 2 if rows <= 1_000 else 1


@attrs.frozen
class Looker:
    """One page of the site, open on every side."""

    bench: Bench
    page: cdpengine.Page
    bare: Counting
    times: int

    @classmethod
    async def opened(
        cls, bench: Bench, page: cdpengine.Page, bare: Counting, path: str, times: int = 1
    ) -> Looker:
        await page.goto(f"{bench.site}/{path}")
        await bare.navigate(f"{bench.site}/{path}")
        return cls(bench, page, bare, times)

    def walking(self) -> dict[str, Turn]:
        take = self.page.snapshot
        computed = partial(take, source="computed", timeout=PATIENCE)
        return {
            "engine": lambda: each_timed(partial(take, timeout=PATIENCE), self.times),
            "engine: computed": lambda: each_timed(computed, self.times),
        }

    def by_tree(self) -> Turn:
        take = partial(self.page.snapshot, source="ax", timeout=PATIENCE)
        return lambda: each_timed(take, self.times)

    def floor(self, method: str, **params: str) -> Turn:
        return lambda: each_timed(lambda: self.bare.call(method, **params), self.times)

    async def peers(self) -> dict[str, Turn]:
        patience = PATIENCE * self.times
        return await self.bench.peer_turns("snapshot", url=self.page.url, times=self.times, patience=patience)


async def by_rows(bench: Bench, page: cdpengine.Page, bare: Counting, rows: int) -> None:
    """Measure all sides on a page with that number of rows, and a further snapshot after one has changed."""
    looker = await Looker.opened(bench, page, bare, f"rows/{rows}", in_a_row(rows))
    ours = {**looker.walking(), "engine: ax": looker.by_tree()}
    sides: dict[str, Turn] = {
        **ours,
        "floor: round trip": looker.floor("Runtime.evaluate", expression="0"),
        "floor: getFullAXTree": looker.floor("Accessibility.getFullAXTree"),
        **await looker.peers(),
    }
    turns, warm_up = min(bench.turn_count, 4 if rows <= 100 else 3), 1
    if (
        rows > 1_000
    ):  # only the engine reuses an earlier snapshot; the smaller pages were the warm-up of the others
        turns, warm_up = 1, 0
        for turn in ours.values():
            await turn()
    await bench.turns(sides, f"{rows:,} rows", unit="ms", turns=turns, warm_up=warm_up)
    if rows > ROWS[0]:
        await one_row_changed(bench, page, rows)


async def one_row_changed(bench: Bench, page: cdpengine.Page, rows: int) -> None:
    """Measure a further snapshot after one row changed, and one from scratch on the same page.

    Both follow a change immediately, because Chrome has work then.
    """
    changes = 0

    async def after_a_change(fresh: bool) -> list[float]:
        nonlocal changes
        taken = []
        for _ in range(in_a_row(rows)):
            changes += 1
            await page.evaluate(CHANGE_ONE_ROW, changes)
            started = time.perf_counter()
            await page.snapshot(fresh=fresh, timeout=PATIENCE)
            taken.append((time.perf_counter() - started) * 1000)
            if fresh:
                await page.snapshot(timeout=PATIENCE)  # so that the next one can reuse parts
        return taken

    sides = {
        "engine: further": partial(after_a_change, fresh=False),
        "engine: scratch": partial(after_a_change, fresh=True),
    }
    await bench.turns(sides, f"{rows:,} rows, one changed", unit="ms", turns=min(bench.turn_count, 5))


async def of_frames(bench: Bench, page: cdpengine.Page, bare: Counting) -> None:
    """Measure a page of frames. The bare tree excludes its frames, so it is no floor here."""
    looker = await Looker.opened(bench, page, bare, f"frames/{FRAMES}")
    sides = {**looker.walking(), "engine: ax": looker.by_tree(), **await looker.peers()}
    turns = min(bench.turn_count, 3)
    await bench.turns(sides, f"{FRAMES} frames of ten rows", unit="ms", turns=turns)


async def of_fragments(bench: Bench, page: cdpengine.Page, bare: Counting) -> None:
    """Measure the page that makes Chrome's accessibility tree quadratic, once for each side.

    Puppeteer, which reads that tree, is left out.
    """
    looker = await Looker.opened(bench, page, bare, f"fragments/{FRAGMENTS}")
    variant = f"{FRAGMENTS:,} fragment links"
    sides = {**looker.walking(), **await looker.peers()}
    sides.pop("puppeteer", None)
    await bench.turns(sides, variant, unit="ms", turns=1)
    # Twenty seconds each: once, and without a warm-up.
    by_tree = {
        "engine: ax": looker.by_tree(),
        "floor: getFullAXTree": looker.floor("Accessibility.getFullAXTree"),
    }
    await bench.turns(by_tree, f"{variant}, by the accessibility tree", unit="ms", turns=1, warm_up=0)


async def memory(bench: Bench, bare: Counting, rows: int) -> None:
    """Measure the size of a tree's message, and Python's additional peak memory until the text, in MB."""
    await bare.navigate(f"{bench.site}/rows/{rows}")
    message = await bare.call("Accessibility.getFullAXTree")
    raw = bytes(msgspec.json.decode(message, type=dict[str, msgspec.Raw])["result"])
    del message
    gc.collect()
    tracemalloc.start()
    try:
        document = fold(ax_nodes(raw), frame_id="frame")
        text = render(document, RefTable().assign([document]), SnapshotOptions()).text
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert f"Item {rows - 1}" in text
    sides = [
        SideFigures("engine: ax", ((peak / 1e6,),), note="Python's peak in addition to the message"),
        SideFigures("floor: the message", ((len(raw) / 1e6,),)),
    ]
    bench.record(f"memory over a tree of {16 * rows:,} nodes", sides, unit="MB")


async def run(bench: Bench) -> None:
    sizes = ROWS[1:3] if bench.quick else ROWS
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        page = await browser.new_page()
        bare = await stack.enter_async_context(own_page(bench.executable, f"{bench.site}/blank"))
        await bare.call("Accessibility.enable")  # like the engine, so that Chrome keeps its tree
        for rows in sizes:
            await by_rows(bench, page, bare, rows)
        await of_frames(bench, page, bare)
        if not bench.quick:
            await of_fragments(bench, page, bare)
        await bench.peers.close()
        await memory(bench, bare, sizes[-1])


CASE = Case(name="snapshot", title="Snapshots of pages", run=run, seconds=80, quick_seconds=35)
