"""Variants of a page: the page decides which one is used, none counts against another, and actor limits
apply.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, dispatch
from cdpengine.cache import ActionCache, CacheRequests
from cdpengine.errors import CacheMissError, InvalidArgumentError

pytestmark = pytest.mark.chrome

NAMES = {"a": ("City", "Save"), "b": ("Place", "Continue"), "c": ("Quarter", "Go on")}
VALUES = {"city": "Rome"}


def form(variant: str) -> str:
    field, button = NAMES[variant]
    return f"""<title>S</title><form aria-label=Settings onsubmit="return false"><label>{field} <input name=x></label>
<button type=button onclick="out.textContent = 'Saved ' + this.form.x.value">{button}</button></form>
<p id=out role=status></p>"""


async def show(page: Page, serve: Callable[..., str], variant: str) -> None:
    await page.goto(serve(form(variant), "/settings"))


async def written(page: Page) -> Any:
    return await page.evaluate("out.textContent")


async def learn(page: Page, serve: Callable[..., str], cache: ActionCache) -> None:
    for variant in "ab":
        await show(page, serve, variant)
        field, button = NAMES[variant]
        async with cache.learn(page, scenario="settings", variant=variant, variables={"city": "Bonn"}):
            await page.fill(page.locate(role="textbox", name=field), "Bonn")
            await page.click(page.locate(role="button", name=button))


async def test_the_variant_that_the_page_shows_is_replayed(
    page: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    await learn(page, serve, cache)
    for variant in "bbbba":
        await show(page, serve, variant)
        report = await cache.execute(page, "settings", variables=VALUES)
        assert report.ok, report.reason
        assert await written(page) == "Saved Rome"
    await show(page, serve, "a")
    done = await cache.perform(page, "open the settings", variables=VALUES, variant="a")
    assert (done.outcome, done.entry is not None and done.entry.key.variant) == ("replayed", "a")
    actor = Actor(page.browser, page.browser.context_of(page), cache=CacheRequests(cache))
    request = {
        "kind": "executeCached",
        "scenario": "settings",
        "variables": VALUES,
        "targetId": page.target_id,
    }
    for variant, ok in (("a", True), ("b", False)):
        await show(page, serve, "a")
        response = await dispatch(actor, {**request, "variant": variant})
        assert response.error is None
        assert response.result["ok"] is ok
    runs = {entry.key.variant: entry.statistics for entry in await cache.list()}
    figures = {name: (each.successes, each.failures) for name, each in runs.items()}
    assert figures == {"a": (3, 0), "b": (4, 0)}
    found = await cache.statistics()
    assert (found.hits, found.misses, found.stopped) == ({"L3": 7}, 1, 0)
    with pytest.raises(CacheMissError, match="variant 'z'"):
        await cache.execute(page, "settings", variables=VALUES, variant="z")
    with pytest.raises(InvalidArgumentError, match="variant"):
        await cache.execute(page, (await cache.list())[0].key, variables=VALUES, variant="z")


@pytest.mark.slow
async def test_unlearned_variant_counts_against_no_entry(
    page: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    await learn(page, serve, cache)
    await show(page, serve, "c")
    report = await cache.execute(page, "settings", variables=VALUES, patience=0.1)
    assert not report.ok
    assert report.misfits
    assert await written(page) == ""
    assert [entry.statistics.failures for entry in await cache.list()] == [0, 0]


async def test_planner_has_the_limits_of_the_actor(
    page: Page, serve: Callable[..., str], cache: ActionCache
) -> None:
    async def planner(_goal: str, _snapshot: Snapshot) -> Any:
        return [{"kind": "evaluate", "expression": "document.title = 'changed'"}]

    await show(page, serve, "a")
    actor = Actor(page.browser, page.browser.context_of(page), evaluate_enabled=False)
    done = await cache.perform(page, "rename the page", planner=planner, actor=actor)
    assert done.outcome == "failed"
    assert await page.evaluate("document.title") == "S"
