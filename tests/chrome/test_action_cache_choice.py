"""Choice of the entry to replay: one that uses all given variables, or none. The server's record is the
oracle.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from cache_flows import LOGIN, run_flow
from cache_login import CONFIG, VALUES, begin, is_logged_in, requests_of
from cache_site.server import CacheSite

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, dispatch
from cdpengine.cache import ActionCache, CacheEntry, CacheRequests
from cdpengine.errors import VariablesError

pytestmark = pytest.mark.chrome

GRACE = {"username": "grace", "password": "pw-2"}
SAID = "log in as grace with password pw-2"


@pytest.fixture
async def keyed(file: Path) -> AsyncIterator[ActionCache]:
    """A cache with a key, which may keep typed strings."""
    async with ActionCache.open(file, config=CONFIG, key=bytes(32)) as opened:
        yield opened


async def learn(page: Page, site: CacheSite, cache: ActionCache, variables: Mapping[str, str]) -> CacheEntry:
    await begin(page, site)
    async with cache.learn(page, scenario="login", variables=variables) as learning:
        await run_flow(page, LOGIN, VALUES)
    assert learning.entry is not None
    await begin(page, site)
    return learning.entry


async def test_an_entry_that_does_not_use_a_given_variable_is_not_replayed(
    page: Page, site: CacheSite, keyed: ActionCache
) -> None:
    entry = await learn(page, site, keyed, {"password": VALUES["password"]})
    actor = Actor(page.browser, cache=CacheRequests(keyed))
    actor.focus(page)
    for wanted in ("login", entry.key, entry.key.id):
        with pytest.raises(VariablesError) as caught:
            await keyed.execute(page, wanted, variables={**GRACE, "code": "123456"})
        assert [*caught.value.unused, "|", *caught.value.used] == ["code", "username", "|", "password"]
    for goal, variables in ((SAID, None), ("登录,用户名 grace,密码 pw-2", None), ("log in", GRACE)):
        with pytest.raises(VariablesError, match="username"):
            await keyed.perform(page, goal, variables=variables)
    for named in ({"scenario": "login"}, {"entry": entry.key.id}):
        response = await dispatch(actor, {"kind": "executeCached", "variables": GRACE, **named})
        assert response.error is not None
        assert "username" in response.error.message
        assert "pw-2" not in response.error.message
    found = await keyed.look_up(page, SAID)
    assert (found.entry, found.unused, found.used) == (None, ("username",), ("password",))
    assert site.touched == []
    report = await keyed.execute(page, "login", variables={"password": VALUES["password"]})
    assert report.ok
    assert is_logged_in(site)


async def test_learning_a_flow_with_more_variables_makes_a_new_version(
    page: Page, site: CacheSite, keyed: ActionCache
) -> None:
    narrow = await learn(page, site, keyed, {"password": VALUES["password"]})
    assert (await keyed.execute(page, "login", variables={"password": VALUES["password"]})).ok
    wide = await learn(page, site, keyed, VALUES)
    assert [entry.key for entry in await keyed.list()] == [wide.key]
    assert (wide.version, wide.key.variables, wide.statistics.successes) == (2, ("password", "username"), 1)
    assert [each.steps for each in await keyed.versions(wide.key.id)] == [wide.steps, narrow.steps]
    for way in ("execute", "perform"):
        await begin(page, site)
        report = await (
            keyed.execute(page, "login", variables=VALUES)
            if way == "execute"
            else keyed.perform(page, "log in", variables=VALUES)
        )
        assert report.ok
        assert is_logged_in(site)
    old = await keyed.restore(wide.key.id, 1)
    assert old.steps == narrow.steps
    await begin(page, site)
    with pytest.raises(VariablesError, match="username"):
        await keyed.execute(page, "login", variables=VALUES)
    assert site.touched == []


async def test_planner_handles_goal_without_entry(page: Page, site: CacheSite, keyed: ActionCache) -> None:
    await learn(page, site, keyed, {"password": VALUES["password"]})

    async def plan(_goal: str, snapshot: Snapshot) -> list[Any]:
        return requests_of(snapshot, [0, 1, 2, 3])

    done = await keyed.perform(page, "log in", variables=VALUES, planner=plan)
    assert (done.outcome, done.replay) == ("planned", None)
    assert is_logged_in(site)
    await begin(page, site)
    assert (await keyed.perform(page, "log in", variables=VALUES)).outcome == "replayed"
    assert is_logged_in(site)


async def test_entry_with_fewest_missing_values_is_replayed(
    page: Page, site: CacheSite, keyed: ActionCache
) -> None:
    wide = await learn(page, site, keyed, VALUES)
    narrow = await learn(page, site, keyed, {"password": VALUES["password"]})
    password = {"password": VALUES["password"]}
    assert len(await keyed.list()) == 2
    for given, chosen in ((VALUES, wide), (password, narrow)):
        await begin(page, site)
        assert (await keyed.execute(page, "login", variables=given)).ok
        assert (await keyed.list())[0].key == chosen.key, "the latest used"
