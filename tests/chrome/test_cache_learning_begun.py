"""Learned steps are kept even without a key, or if the tab was blank at the start."""

from __future__ import annotations

from pathlib import Path

import pytest
from cache_flows import LOGIN, run_flow
from cache_login import CONFIG, VALUES, begin
from cache_site.server import CacheSite

from cdpengine import Page
from cdpengine.act import Resize, dispatch
from cdpengine.cache import ActionCache
from cdpengine.cache.learning import learned_steps
from cdpengine.errors import InvalidArgumentError

pytestmark = pytest.mark.chrome


async def test_without_a_key_typed_texts_become_variables(
    page: Page, site: CacheSite, cache: ActionCache, file: Path
) -> None:
    await begin(page, site)
    async with cache.learn(page, scenario="login") as learning:
        await run_flow(page, LOGIN, VALUES)
    entry = learning.entry
    assert entry is not None
    assert not entry.holds_typed_text
    assert len(entry.key.variables) == 2
    plain = next(name for name in entry.key.variables if name not in entry.sensitive)
    assert learning.learned.notes[-1].endswith(
        f"typed strings are not stored; they became the variables {plain}"
    )
    other = LOGIN.examples[1]
    await begin(page, site)
    given = {plain: other["username"], **dict.fromkeys(entry.sensitive, other["password"])}
    report = await cache.execute(page, "login", variables=given)
    assert report.ok, report.reason
    assert site.submitted == LOGIN.submitted(other)
    assert VALUES["username"].encode() not in b"".join(each.read_bytes() for each in file.parent.iterdir())


async def test_with_a_key_typed_texts_are_kept(page: Page, site: CacheSite, file: Path) -> None:
    async with ActionCache.open(file, config=CONFIG, key=b"k" * 32) as cache:
        await begin(page, site)
        async with cache.learn(page, scenario="login") as learning:
            await run_flow(page, LOGIN, VALUES)
    assert learning.entry is not None
    assert learning.entry.holds_typed_text
    assert learning.entry.key.variables == learning.entry.sensitive == ("password",)


@pytest.mark.parametrize("first", ["goto", "resize", "script"])
async def test_learning_that_began_in_a_blank_tab_is_kept(
    first: str, new_tab: Page, site: CacheSite, cache: ActionCache
) -> None:
    page = new_tab
    LOGIN.reset(site, "a")
    async with cache.learn(page, scenario="login", variables=VALUES) as learning:
        if first == "script":
            await page.evaluate(f"location.href = {site.url + LOGIN.start!r}")
            await page.wait_for(url=site.url + LOGIN.start)
        elif first == "resize":
            resized = await dispatch(page.browser, Resize(width=700, height=500, target_id=page.target_id))
            assert resized.ok
        if first != "script":
            await page.goto(site.url + LOGIN.start)
        await run_flow(page, LOGIN, VALUES)
    entry = learning.entry
    assert entry is not None
    assert entry.key.address == site.url + LOGIN.start
    other = LOGIN.examples[1]
    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start if first == "script" else "about:blank")
    report = await cache.execute(page, "login", variables=other)
    assert report.ok, report.reason
    assert site.submitted == LOGIN.submitted(other)


async def test_a_first_page_that_is_read_late_is_compared_all_the_same(
    page: Page, site: CacheSite, cache: ActionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await begin(page, site)
    monkeypatch.setattr(learned_steps, "_STARTING", 0)
    async with cache.learn(page, scenario="login", variables=VALUES) as learning:
        await run_flow(page, LOGIN, VALUES)
    assert learning.learned.features is not None
    assert learning.learned.notes == ()


async def test_a_page_without_an_address_is_refused_and_its_steps_are_there(
    new_tab: Page, cache: ActionCache
) -> None:
    page = new_tab
    await page.set_content("<button>Go</button>")
    with pytest.raises(InvalidArgumentError, match="a blank tab or a document of a program"):
        async with cache.learn(page, scenario="login") as learning:
            await page.click(page.locate(role="button", name="Go"))
    assert [step.label for step in learning.learned.steps] == ['click button "Go"']
