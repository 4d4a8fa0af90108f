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
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Literal

import attrs
import msgspec

import cdpengine
from benchmarks.floor.counting import Counting, own_page
from benchmarks.harness.bench import Bench, Case, Turn, each_timed
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.peers import Peer
from cdpengine._snapshot.refs import RefTable
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.render.render import render
from cdpengine._snapshot.sources.ax_nodes import fold
from cdpengine._snapshot.sources.ax_tree import ax_nodes

Source = Literal["computed", "dom", "ax"]

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
    """Return the number of snapshots in a turn."""
    return 8 if rows <= 100 else 2 if rows <= 1_000 else 1


@attrs.frozen
class Looker:
    """One page of the site, open on every side."""

    bench: Bench
    page: cdpengine.Page
    bare: Counting
    peers: dict[str, Peer]
    url: str
    times: int

    def engine(self, source: Source | None = None, fresh: bool = False) -> Turn:
        return lambda: self._each(lambda: self.page.snapshot(source=source, fresh=fresh, timeout=PATIENCE))

    def round_trip(self) -> Turn:
        return lambda: self._each(lambda: self.bare.call("Runtime.evaluate", expression="0"))

    def wire(self) -> Turn:
        return lambda: self._each(lambda: self.bare.call("Accessibility.getFullAXTree"))

    def peer(self, name: str) -> Turn:
        peer = self.peers[name]
        order = {"url": self.url, "times": self.times, "patience": PATIENCE * self.times}
        return lambda: peer.ask("snapshot", **order)  # type: ignore[arg-type]

    async def _each(self, step: Callable[[], Awaitable[object]]) -> list[float]:
        return await each_timed(step, self.times)


async def opened(
    bench: Bench, browser: cdpengine.Browser, bare: Counting, path: str, times: int = 1
) -> Looker:
    """Open a page on every side that can read it."""
    url = f"{bench.site}/{path}"
    page = await browser.new_page(url)
    await bare.navigate(url)
    peers = await bench.peers("snapshot")
    for peer in peers.values():
        if not peer.refusal:
            await peer.tell("open", url=url)
    return Looker(bench, page, bare, peers, url, times)


async def by_rows(bench: Bench, browser: cdpengine.Browser, bare: Counting, rows: int) -> None:
    """Measure all sources on a page with that number of rows, and a further snapshot after one has changed."""
    looker = await opened(bench, browser, bare, f"rows/{rows}", in_a_row(rows))
    sides: dict[str, Turn] = {
        "engine": looker.engine(),
        "engine: computed": looker.engine("computed"),
        "engine: scratch": looker.engine("computed", fresh=True),
        "engine: dom": looker.engine("dom"),
        "engine: ax": looker.engine("ax"),
        "floor: round trip": looker.round_trip(),
        "floor: getFullAXTree": looker.wire(),
        **{name: looker.peer(name) for name in looker.peers},
    }
    turns = min(bench.turn_count, 4 if rows <= 100 else 3 if rows <= 1_000 else 1)
    large = rows > 1_000
    if large:  # only the engine reuses an earlier snapshot; the smaller pages were the warm-up of the others
        for side in ("engine", "engine: computed", "engine: dom", "engine: ax"):
            await sides[side]()
    await bench.turns(
        "snapshot",
        sides,
        unit="ms",
        variant=f"{rows:,} rows",
        size=rows,
        curve="snapshot by rows",
        turns=turns,
        warm_up=0 if large else 1,
    )
    if rows > ROWS[0]:
        await one_row_changed(bench, looker.page, rows)
    await looker.page.close()


async def one_row_changed(bench: Bench, page: cdpengine.Page, rows: int) -> None:
    """Measure a further snapshot after one row changed, and one from scratch on the same page.

    Both follow a change immediately, because Chrome has work then.
    """
    changes = 0
    times = in_a_row(rows)

    async def after_a_change(fresh: bool) -> list[float]:
        nonlocal changes
        taken = []
        for _ in range(times):
            changes += 1
            await page.evaluate(CHANGE_ONE_ROW, changes)
            started = time.perf_counter()
            await page.snapshot(fresh=fresh, timeout=PATIENCE)
            taken.append((time.perf_counter() - started) * 1000)
            if fresh:
                await page.snapshot(timeout=PATIENCE)  # so that the next one can reuse parts
        return taken

    sides: dict[str, Turn] = {
        "engine: further": lambda: after_a_change(False),
        "engine: scratch": lambda: after_a_change(True),
    }
    await bench.turns(
        "snapshot",
        sides,
        unit="ms",
        variant=f"{rows:,} rows, one changed",
        size=rows,
        curve="snapshot after one row changed",
        turns=min(bench.turn_count, 5),
    )


async def of_frames(bench: Bench, browser: cdpengine.Browser, bare: Counting) -> None:
    """Measure a page of frames. The bare tree excludes its frames, so it is no floor here."""
    looker = await opened(bench, browser, bare, f"frames/{FRAMES}")
    sides: dict[str, Turn] = {
        "engine": looker.engine(),
        "engine: computed": looker.engine("computed"),
        "engine: scratch": looker.engine("computed", fresh=True),
        "engine: dom": looker.engine("dom"),
        "engine: ax": looker.engine("ax"),
        **{name: looker.peer(name) for name in looker.peers},
    }
    turns = min(bench.turn_count, 3)
    await bench.turns("snapshot", sides, unit="ms", variant=f"{FRAMES} frames of ten rows", turns=turns)
    await looker.page.close()


async def of_fragments(bench: Bench, browser: cdpengine.Browser, bare: Counting) -> None:
    """Measure the page that makes Chrome's accessibility tree quadratic, once for each side.

    Puppeteer, which reads that tree, is left out.
    """
    looker = await opened(bench, browser, bare, f"fragments/{FRAGMENTS}")
    variant = f"{FRAGMENTS:,} fragment links"
    walking: dict[str, Turn] = {
        "engine": looker.engine(),
        "engine: computed": looker.engine("computed"),
        "engine: scratch": looker.engine("computed", fresh=True),
        "engine: dom": looker.engine("dom"),
    }
    by_tree: dict[str, Turn] = {
        "engine: ax": looker.engine("ax"),
        "floor: getFullAXTree": looker.wire(),
    }
    walking |= {name: looker.peer(name) for name in looker.peers if name != "puppeteer"}
    await bench.turns("snapshot", walking, unit="ms", variant=variant, turns=1)
    # Twenty seconds each: once, and without a warm-up.
    variant += ", by the accessibility tree"
    await bench.turns("snapshot", by_tree, unit="ms", variant=variant, turns=1, warm_up=0)
    await looker.page.close()


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
    sides = (
        SideFigures("engine: ax", turns=((peak / 1e6,),), note="Python's peak in addition to the message"),
        SideFigures("floor: the message", turns=((len(raw) / 1e6,),)),
    )
    variant = f"memory over a tree of {16 * rows:,} nodes"
    bench.record(Measurement("snapshot", variant, unit="MB", sides=sides))


async def run(bench: Bench) -> None:
    sizes = ROWS[1:3] if bench.quick else ROWS
    async with AsyncExitStack() as stack:
        browser = await stack.enter_async_context(bench.launch())
        bare = await stack.enter_async_context(own_page(bench.executable, f"{bench.site}/blank"))
        await bare.call("Accessibility.enable")  # like the engine, so that Chrome keeps its tree
        for rows in sizes:
            await by_rows(bench, browser, bare, rows)
        await of_frames(bench, browser, bare)
        if not bench.quick:
            await of_fragments(bench, browser, bare)
        await bench.close_peers()
        await memory(bench, bare, sizes[-1])


CASE = Case(name="snapshot", title="Snapshots of pages", run=run, seconds=80, quick_seconds=35)
