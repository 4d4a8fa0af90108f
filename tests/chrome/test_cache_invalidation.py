"""Changes of a page. Each threshold decides between keeping, a new version next to the old one, and a stop."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from cache_executions import LOG, log_of

from cdpengine import Page
from cdpengine.cache import ActionCache, CacheConfig
from cdpengine.errors import CacheMissError

pytestmark = pytest.mark.chrome

SAVE = f"""<form aria-label=Language onsubmit="return false"><button id=cancel>Cancel</button>
<button id=save>Save</button></form>{LOG}"""
BEFORE = f"<!doctype html><h1>Settings</h1><p>Old words</p>{SAVE}"
WORDS = f"<!doctype html><h1>Settings</h1><p>New words</p>{SAVE}"
PARTS = f"<!doctype html><h1>Settings</h1><p>Old words</p><h2>More</h2><a href='#'>Help</a>{SAVE}"

CONFIG = CacheConfig(keyring=False)


async def learn(cache: ActionCache, page: Page, url: str, page_type: Any) -> str:
    await page.goto(url)
    async with cache.learn(page, scenario="settings", page_type=page_type) as learning:
        await page.click(page.locate(role="button", name="Save"))
    assert learning.entry is not None
    assert learning.entry.features is not None
    return learning.entry.key.id


@pytest.mark.parametrize("page_type", ["static", "form", "dynamic"])
async def test_each_threshold_makes_the_difference(
    page_type: str, page: Page, serve: Callable[..., str], file: Path
) -> None:
    async with ActionCache.open(file, config=CONFIG) as cache:
        identity = await learn(cache, page, serve(BEFORE), page_type)
        await page.goto(serve(PARTS))
        seen = await cache.execute(page, "settings", dry_run=True)
        assert seen.change is not None
        confidence = seen.change.confidence
        assert 50 < confidence < 100
        first = await cache.get(identity)
        assert first is not None
    # Above the soft threshold nothing changes. At it there is a new version, and at the hard threshold the
    # replay stops.
    outcomes = []
    for soft, hard in ((confidence + 1, 100), (confidence, confidence + 1), (confidence - 1, confidence)):
        limits: dict[str, Any] = {f"{page_type}_soft": soft, f"{page_type}_hard": hard}
        async with ActionCache.open(file, config=attrs.evolve(CONFIG, **limits)) as cache:
            await cache.clear()
            await cache.store.put(first)
            await page.reload()
            report = await cache.execute(page, "settings")
            versions = await cache.versions(identity)
            outcomes.append((report.ok, [each.version for each in versions], await log_of(page)))
    assert outcomes == [
        (True, [1], ["click save"]),
        (True, [2, 1], ["click save"]),
        (False, [1], []),
    ]


async def test_words_count_on_static_pages_only(page: Page, serve: Callable[..., str], file: Path) -> None:
    found = {}
    async with ActionCache.open(file, config=CONFIG) as cache:
        for page_type in ("static", "form", "dynamic"):
            identity = await learn(cache, page, serve(BEFORE, f"/{page_type}"), page_type)
            await page.goto(serve(WORDS, f"/{page_type}"))
            assert (await cache.execute(page, identity)).ok
            found[page_type] = [each.version for each in await cache.versions(identity)]
            await page.reload()
            assert (await cache.execute(page, identity)).ok  # it remembers the current page
            assert len(await cache.versions(identity)) == len(found[page_type])
    assert found == {"static": [2, 1], "form": [1], "dynamic": [1]}


async def test_after_hard_changes_in_a_row_the_entry_is_learned_again_beside_its_versions(
    page: Page, serve: Callable[..., str], file: Path
) -> None:
    config = attrs.evolve(CONFIG, static_hard=21, failures=2)
    async with ActionCache.open(file, config=config) as cache:
        identity = await learn(cache, page, serve(BEFORE), "static")
        await page.goto(serve(PARTS))
        for _ in range(2):
            report = await cache.execute(page, "settings")
            assert "the page is another one than it was" in report.reason
        with pytest.raises(CacheMissError, match="last 2 runs failed"):
            await cache.execute(page, "settings")
        assert await learn(cache, page, page.url, "static") == identity
        assert (await cache.execute(page, "settings")).ok
        assert [each.version for each in await cache.versions(identity)] == [2, 1]
        assert await cache.refresh(identity)
        assert [each.version for each in await cache.versions(identity)] == [2, 1]
        assert (await cache.restore(identity, 1)).version == 3
