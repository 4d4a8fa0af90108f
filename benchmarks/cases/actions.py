"""Actions: click, hover, typing 500 characters, filling in 500 characters, and a click on the twentieth tab.

Rule: every side acts on the same scene, one second after its browser's start, with 4 ms between two actions (like
a program that checks something in between). Every side verifies with the page's record that the timed action
happened. Only the engine, Playwright and Puppeteer check whether a click can land.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio

import cdpengine
from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.harness.bench import Bench, Case, Turn
from benchmarks.harness.peers import Peer

REST = 1.0
"""Time for a browser to settle after its start, in seconds."""

BETWEEN = 0.004
"""Pause between two actions, in seconds."""

TABS = 20
TEXT = ("the quick brown fox jumps over the lazy dog " * 12)[:500]
REPEATS = {"click": 10, "hover": 8, "type": 1, "fill": 8, "click_tab": 6}
QUICK = {"click": 10, "hover": 6, "type": 1, "fill": 4, "click_tab": 4}
"""Number of actions in a turn."""

TURNS = {"click": 5, "hover": 4, "type": 2, "fill": 4, "click_tab": 2}
QUICK_TURNS = {"click": 3, "hover": 2, "type": 2, "fill": 3, "click_tab": 1}
"""Maximum number of turns. Hovering and typing are slow on some sides."""


async def timed(
    repeats: int,
    action: Callable[[], Awaitable[object]],
    before: Callable[[], Awaitable[object]] | None = None,
) -> list[float]:
    """Return the milliseconds of each run of `action`."""
    taken = []
    for _ in range(repeats):
        if before is not None:
            await before()
        started = time.perf_counter()
        await action()
        taken.append((time.perf_counter() - started) * 1000)
        await trio.sleep(BETWEEN)
    return taken


@attrs.frozen
class Scene:
    """A tab with the scene, and its nodes."""

    page: cdpengine.Page
    go: cdpengine.Ref
    other: cdpengine.Ref
    field: cdpengine.Ref

    @classmethod
    async def opened(cls, browser: cdpengine.Browser, site: str) -> Scene:
        page = await browser.new_page(f"{site}/scene")
        snapshot = await page.snapshot()
        return cls(
            page,
            snapshot.find(role="button", name="Go"),
            snapshot.find(role="button", name="Over"),
            snapshot.find(role="textbox"),
        )

    async def record(self, name: str) -> Any:
        """Return a counter or value of the page's record."""
        return await self.page.evaluate(name)

    async def clear(self) -> None:
        await self.page.evaluate("void (field.value = '')")

    async def click(self, repeats: int) -> list[float]:
        before = await self.record("clicks")
        taken = await timed(repeats, lambda: self.page.click(self.go))
        assert await self.record("clicks") == before + repeats
        return taken

    async def hover(self, repeats: int) -> list[float]:
        over = [self.go, self.other]

        async def hover() -> None:
            over.reverse()
            await self.page.hover(over[0])

        await self.page.hover(self.go)
        before = await self.record("overs")
        taken = await timed(repeats, hover)
        assert await self.record("overs") == before + (repeats + 1) // 2
        return taken

    async def type(self, repeats: int) -> list[float]:
        taken = await timed(repeats, lambda: self.page.type(self.field, TEXT), self.clear)
        assert await self.record("field.value") == TEXT
        return taken

    async def fill(self, repeats: int) -> list[float]:
        taken = await timed(repeats, lambda: self.page.fill(self.field, TEXT), self.clear)
        assert await self.record("field.value") == TEXT
        return taken


def turns_of(bench: Bench, verb: str) -> int:
    """Return the number of turns."""
    return min(bench.turn_count, (QUICK_TURNS if bench.quick else TURNS)[verb])


async def run(bench: Bench) -> None:
    async with bench.launch() as browser:
        scene = await Scene.opened(browser, bench.site)
        await trio.sleep(REST)
        ours = {"click": scene.click, "hover": scene.hover, "type": scene.type, "fill": scene.fill}
        for verb, action in ours.items():
            repeats = (QUICK if bench.quick else REPEATS)[verb]
            order: dict[str, object] = {"repeats": repeats}
            if verb in {"type", "fill"}:
                order["text"] = TEXT
            sides: dict[str, Turn] = {"engine": lambda action=action, repeats=repeats: action(repeats)}  # type: ignore[misc]
            for name, peer in (await bench.peers(verb)).items():
                sides[name] = lambda peer=peer, verb=verb, order=order: peer.ask(verb, **order)  # type: ignore[misc]
            await bench.turns("actions", sides, unit="ms", variant=verb, turns=turns_of(bench, verb))
        await tabs(bench, browser, scene)


async def tabs(bench: Bench, browser: cdpengine.Browser, first: Scene) -> None:
    """Measure clicks on the last of many tabs, and also on the first."""
    opened = [first, *[await Scene.opened(browser, bench.site) for _ in range(TABS - 1)]]
    repeats = (QUICK if bench.quick else REPEATS)["click_tab"]
    on_first = FurtherFigure()

    async def engine() -> list[float]:
        on_first.add("engine", await opened[0].click(repeats))
        return await opened[-1].click(repeats)

    def of_peer(name: str, peer: Peer) -> Turn:
        async def turn() -> list[float]:
            said = await peer.tell("click_tab", tabs=TABS, repeats=repeats)
            on_first.add(name, said["first"])
            values: list[float] = said["values"]
            return values

        return turn

    peers = await bench.peers("click_tab")
    sides = {"engine": engine, **{name: of_peer(name, peer) for name, peer in peers.items()}}
    variant = f"click on tab {TABS} of {TABS}"
    turns = turns_of(bench, "click_tab")
    on_last = await bench.turns("actions", sides, unit="ms", variant=variant, turns=turns)
    on_first.record(bench, on_last, variant=f"click on tab 1 of {TABS}", unit="ms")


CASE = Case(name="actions", title="Actions on a page", run=run, seconds=65, quick_seconds=35)
