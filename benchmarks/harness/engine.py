"""The engine as a side in this process: the verbs of the peers, on trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import trio

import cdpengine
from benchmarks.peers.verbs import Verbs

PATIENCE = 60.0  # timeout of a snapshot or of a new page, in seconds
Part = tuple[cdpengine.Page, cdpengine.FoundNode]


class Engine(Verbs):
    """A browser of the engine, with the measuring code of the peers."""

    def __init__(self, browser: cdpengine.Browser, site: str) -> None:
        super().__init__(site)
        self.browser = browser

    async def pause(self, seconds: float) -> None:
        await trio.sleep(seconds)

    async def together(self, works: Sequence[Callable[[], Awaitable[None]]]) -> None:
        async with trio.open_nursery() as nursery:
            for work in works:
                nursery.start_soon(work)

    async def tell(self, do: str, **order: object) -> dict[str, Any]:
        """Perform a task, like `Peer.tell`. An error is one of the engine."""
        answer: dict[str, Any] = await getattr(self, f"do_{do}")(**order)
        return answer

    async def new_tab(self) -> cdpengine.Page:
        return await self.browser.new_page(timeout=PATIENCE)

    async def front(self, tab: cdpengine.Page) -> None:
        """Do nothing: the engine acts in background tabs too."""

    async def visit(self, tab: cdpengine.Page) -> None:
        await tab.goto(f"{self.site}/scene", timeout=PATIENCE)
        assert await tab.title() == "scene"

    @asynccontextmanager
    async def own_context(self) -> AsyncIterator[cdpengine.Page]:
        async with self.browser.new_context() as context:
            yield await context.new_page()

    async def value(self, tab: cdpengine.Page, expression: str) -> object:
        return await tab.evaluate(expression)

    async def part(self, tab: cdpengine.Page, name: str) -> Part:
        return tab, await tab.find(css=f"#{name}")

    async def row_button(self, tab: cdpengine.Page, number: int) -> Part:
        return tab, await tab.find(css=f"li:nth-child({number + 1}) button")

    async def click(self, part: Part) -> None:
        await part[0].click(part[1])

    async def do_click_by(self, way: str, repeats: int) -> dict[str, Any]:
        """Click on the scene's button by a locator ("css", "role") or by its "ref"."""
        tab: cdpengine.Page = await self.tab_at("/scene")  # type: ignore[no-untyped-call]
        by_css = tab.locate("#go")
        ref = await by_css.ref()
        target = {
            "css": by_css,
            "role": tab.locate(role=ref.role, name=ref.name),
            "ref": tab.locate(ref=ref),
        }[way]
        clicked = await self.clicked(tab, repeats, lambda _tab, _go: target.click())  # type: ignore[no-untyped-call]
        return {"values": clicked}

    async def hover(self, part: Part) -> None:
        await part[0].hover(part[1])

    async def type(self, part: Part, text: str) -> None:
        await part[0].type(part[1], text)

    async def fill(self, part: Part, text: str) -> None:
        await part[0].fill(part[1], text)

    async def tree(self, tab: cdpengine.Page) -> str:
        return (await tab.snapshot(timeout=PATIENCE)).text
