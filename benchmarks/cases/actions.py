"""Actions: click, hover, typing 500 characters, filling in 500 characters, and a click on the twentieth tab.

Rule: every side acts on the same scene, one second after its browser's start, with 4 ms between two actions (like
a program that checks something in between). Every side verifies with the page's record that the timed action
happened. Only the engine, Playwright and Puppeteer check whether a click can land.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import trio

import cdpengine
from benchmarks.harness.bench import Bench, Case, Turn, timed

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

    async def click(self, repeats: int) -> list[float]:
        before = await self.record("clicks")
        taken = []
        for _ in range(repeats):
            taken.append(await timed(lambda: self.page.click(self.go)))
            await trio.sleep(BETWEEN)
        assert await self.record("clicks") == before + repeats
        return taken

    async def hover(self, repeats: int) -> list[float]:
        over = [self.go, self.other]
        await self.page.hover(self.go)
        before = await self.record("overs")
        taken = []
        for _ in range(repeats):
            over.reverse()
            taken.append(await timed(lambda: self.page.hover(over[0])))
            await trio.sleep(BETWEEN)
        assert await self.record("overs") == before + (repeats + 1) // 2
        return taken

    async def type(self, repeats: int) -> list[float]:
        return await self._write(lambda: self.page.type(self.field, TEXT), repeats)

    async def fill(self, repeats: int) -> list[float]:
        return await self._write(lambda: self.page.fill(self.field, TEXT), repeats)

    async def _write(self, write: Callable[[], Awaitable[object]], repeats: int) -> list[float]:
        taken = []
        for _ in range(repeats):
            await self.page.evaluate("void (field.value = '')")
            taken.append(await timed(write))
            assert await self.record("field.value") == TEXT
            await trio.sleep(BETWEEN)
        return taken


def turns_of(bench: Bench, verb: str) -> int:
    """Return the number of turns."""
    return min(bench.turn_count, (QUICK_TURNS if bench.quick else TURNS)[verb])


async def run(bench: Bench) -> None:
    """Measure."""
    async with bench.launch() as browser:
        scene = await Scene.opened(browser, bench.site)
        await trio.sleep(REST)
        for verb in ("click", "hover", "type", "fill"):
            await one_verb(bench, scene, verb)
        await tabs(bench, browser, scene)


async def one_verb(bench: Bench, scene: Scene, verb: str) -> None:
    """Measure an action."""
    repeats = (QUICK if bench.quick else REPEATS)[verb]
    order: dict[str, Any] = {"repeats": repeats}
    if verb in {"type", "fill"}:
        order["text"] = TEXT
    sides: dict[str, Turn] = {"engine": lambda: getattr(scene, verb)(repeats)}
    sides |= await bench.peer_turns(verb, **order)
    await bench.turns(sides, verb, unit="ms", turns=turns_of(bench, verb))


async def tabs(bench: Bench, browser: cdpengine.Browser, first: Scene) -> None:
    """Measure clicks on the last of many tabs, and also on the first."""
    opened = [first, *[await Scene.opened(browser, bench.site) for _ in range(TABS - 1)]]
    repeats = (QUICK if bench.quick else REPEATS)["click_tab"]

    async def engine() -> dict[str, list[float]]:
        on_first = await opened[0].click(repeats)
        return {"first": on_first, "values": await opened[-1].click(repeats)}

    await bench.turns(
        {"engine": engine, **await bench.peer_turns("click_tab", tabs=TABS, repeats=repeats)},
        f"click on tab {TABS} of {TABS}",
        unit="ms",
        further={"first": (f"click on tab 1 of {TABS}", "ms")},
        turns=turns_of(bench, "click_tab"),
    )


CASE = Case(name="actions", title="Actions on a page", run=run, seconds=65, quick_seconds=35)
