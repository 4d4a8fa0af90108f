"""The same element never has two refs, and two elements never share one, whatever happens to the page."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from ref_oracle import Record, frame_with, serve
from rounds import rounds

import cdpengine
from cdpengine._snapshot.node import Source

SOURCES: tuple[Source, ...] = get_args(Source)
COMPUTED = "--enable-blink-features=ComputedAccessibilityInfo"

NUMBERS = st.integers(0, 11)
CHANGES = st.tuples(
    st.sampled_from(["move", "move", "take", "give", "give", "write", "copy", "rename"]), NUMBERS, NUMBERS
)
JOURNEYS = st.tuples(
    st.sampled_from(["frame", "frame reload", "frame swap", "frame gone", "reload", "swap", "back"]),
    NUMBERS,
    NUMBERS,
)
# Pages become interesting after a few changes, so most steps are changes.
STEPS = st.lists(st.lists(CHANGES, min_size=1, max_size=4).map(tuple) | JOURNEYS, min_size=8, max_size=14)


class Journey:
    """Performs a step on a page."""

    def __init__(self, page: cdpengine.Page, own: str, other: str) -> None:
        self.page = page
        self.sites = [own, other]
        self.number = 0

    async def start(self) -> None:
        await self.page.goto(f"{self.sites[0]}/")
        await frame_with(self.page, "?C")

    async def change(self, steps: tuple[tuple[str, int, int], ...]) -> None:
        for name, first, second in steps:
            await self.page.evaluate("(name, i, j) => changes[name](i, j)", name, first, second)

    async def frame(self, index: int, host: str = "") -> None:
        self.number += 1
        end = f"?{self.number}"
        # Without a history entry, so that going back affects the page.
        source = "(i, url) => { if (length) { window[i % length].location.replace(url); return true } }"
        if await self.page.evaluate(source, index, f"{host or self.sites[0]}/inner{end}"):
            await frame_with(self.page, end)

    async def reload_frame(self, index: int) -> None:
        inner = self.page.frames[1:]
        if inner:
            frame = inner[index % len(inner)]
            before = frame.loader_id
            await self.page.evaluate("() => { location.reload() }", frame=frame)
            await self.page.internals.target.changes.wait_for(lambda: frame.loader_id != before)
            await frame_with(self.page, frame.url)

    async def travel(self, where: str, first: int, second: int) -> None:
        match where:
            case "frame":
                await self.frame(first)
            case "frame swap":
                await self.frame(first, self.sites[second % 2])
            case "frame reload":
                await self.reload_frame(first)
            case "frame gone":
                await self.page.evaluate("document.querySelector('iframe:nth-of-type(2)')?.remove()")
            case "reload":
                await self.page.reload()
            case "swap":
                self.sites.reverse()
                await self.start()
            case "back":
                try:
                    await self.page.go_back()
                except cdpengine.errors.NavigationFailedError:
                    return  # the history has no such entry
                if self.page.url == "about:blank":
                    await self.start()


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("source", SOURCES)
@settings(
    max_examples=rounds(1, 10),
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
@given(steps=STEPS)
async def test_each_element_has_exactly_one_ref(
    shared_endpoint: str, httpserver: HTTPServer, source: Source, steps: list[tuple[object, ...]]
) -> None:
    # Only browsers launched with it have the third source.
    opened = cdpengine.launch(args=[COMPUTED]) if source == "computed" else cdpengine.connect(shared_endpoint)
    async with opened as browser, browser.new_context() as context:
        page = await context.new_page()
        journey = Journey(page, *serve(httpserver))
        await journey.start()
        record = Record()
        await record.check(page, (await page.snapshot(source=source)).refs)
        for step in steps:
            if isinstance(step[0], str):
                await journey.travel(*step)  # type: ignore[arg-type]
            else:
                await journey.change(step)  # type: ignore[arg-type]
            await record.check(page, (await page.snapshot(source=source)).refs)
