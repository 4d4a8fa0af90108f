"""ActionCache on a site that keeps its own record: learning, replay and cancellation, in code and by
requests.
"""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from cache_flows import LOGIN, run_flow
from cache_login import CONFIG, GOAL, PASSWORD, VALUES, begin, is_logged_in, make_login, requests_of, single
from cache_site.server import CacheSite

from cdpengine import Page
from cdpengine.act import Actor, ActResponse, dispatch
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    CacheKey,
    CacheRequests,
    PostCondition,
)
from cdpengine.errors import (
    CacheMissError,
    InvalidArgumentError,
    VariablesError,
)

pytestmark = pytest.mark.chrome


# --- in code -------------------------------------------------------------------------------------------------


async def test_learned_scenario_is_replayed_with_other_values(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    async with cache.learn(page, scenario="login", variables=VALUES, tags=["shop"]) as learning:
        await run_flow(page, LOGIN, VALUES)
    entry = learning.entry
    assert entry is not None
    assert (entry.key.variables, entry.sensitive, entry.tags) == (
        ("password", "username"),
        ("password",),
        ("shop",),
    )
    assert entry.cost.tokens > 0
    assert entry.cost.milliseconds > 0
    assert await cache.list() == (entry,)
    other = LOGIN.examples[1]
    await begin(page, site)
    report = await cache.execute(page, "login", variables=other)
    assert report.ok, report.reason
    assert site.submitted == LOGIN.submitted(other)
    assert site.touched == LOGIN.keys(other)
    found = await cache.statistics()
    assert (found.hits, found.misses, found.stopped) == ({"L3": 1}, 0, 0)
    assert found.tokens_saved == entry.cost.tokens
    assert 0 <= found.seconds_saved < entry.cost.milliseconds / 1_000


async def test_discarded_or_empty_learning_is_not_kept(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    async with cache.learn(page, scenario="login") as learning:
        pass
    assert learning.entry is None
    async with cache.learn(page, scenario="login") as learning:
        await page.check(page.locate(role="checkbox", name="Remember me"))
        learning.keep = False
    assert len(learning.learned.steps) == 1
    with pytest.raises(KeyError):
        async with cache.learn(page, scenario="login"):
            await page.uncheck(page.locate(role="checkbox", name="Remember me"))
            raise KeyError
    assert await cache.list() == ()
    with pytest.raises(InvalidArgumentError):
        async with cache.learn(page, scenario="Log in!"):
            pytest.fail("learning started with an invalid name")


@pytest.mark.parametrize("way", ["scenario", "key", "id"])
async def test_entry_is_selected_by_scenario_key_or_id(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry, way: str
) -> None:
    meant: dict[str, str | CacheKey] = {"scenario": "login", "key": known.key, "id": known.key.id}
    wanted = meant[way]
    assert (await cache.execute(page, wanted, variables=VALUES)).ok
    assert is_logged_in(site)
    entry = await cache.get(known.key.id)
    assert entry is not None
    assert (entry.statistics.successes, entry.statistics.failures) == (1, 0)


async def test_unreplayable_request_is_named_and_does_nothing(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    for wanted in ("logout", "0" * 32, attrs.evolve(known.key, variant="b")):
        with pytest.raises(CacheMissError):
            await cache.execute(page, wanted, variables=VALUES)
    with pytest.raises(VariablesError, match="password"):
        await cache.execute(page, "login", variables={"username": "ada"})
    with pytest.raises(InvalidArgumentError):
        await cache.execute(page, "login", variables=VALUES, from_index=9)
    planned = await cache.execute(page, "login", variables=VALUES, dry_run=True)
    assert planned.ok
    assert site.touched == []
    await page.goto(site.url + "/shop")
    with pytest.raises(CacheMissError, match="no entry for this address"):
        await cache.execute(page, "login", variables=VALUES)
    assert await cache.refresh(known.key.id)
    await page.goto(site.url + LOGIN.start)
    for wanted in ("login", known.key, known.key.id):
        with pytest.raises(CacheMissError, match="expired"):
            await cache.execute(page, wanted, variables=VALUES)
    assert not await cache.refresh(known.key.id)


async def test_values_come_from_environment_and_callback(
    page: Page, site: CacheSite, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def ask(name: str) -> str | None:
        asked.append(name)
        return PASSWORD

    monkeypatch.setenv("CDPENGINE_VAR_USERNAME", VALUES["username"])
    async with ActionCache.open(file, config=CONFIG) as cache:
        await begin(page, site)
        await cache.store.put(await make_login(page, site))
        with pytest.raises(VariablesError, match="CDPENGINE_ORIGINS_USERNAME") as raised:
            await cache.execute(page, "login", variables={"password": PASSWORD})
        assert raised.value.withheld == ["username"]
        assert site.submitted is None or not is_logged_in(site)
    monkeypatch.setenv("CDPENGINE_ORIGINS_USERNAME", f"https://shop.example {site.url}")
    async with ActionCache.open(file, config=CONFIG, ask=ask) as cache:
        assert (await cache.execute(page, "login")).ok
    assert asked == ["password"]
    assert is_logged_in(site)


async def test_environment_value_is_only_for_the_origin_where_it_was_learned(
    page: Page, site: CacheSite, cache: ActionCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDPENGINE_VAR_PASSWORD", PASSWORD)
    await begin(page, site)
    async with cache.learn(page, scenario="login", variables=VALUES) as learning:
        await run_flow(page, LOGIN, VALUES)
    assert learning.entry is not None
    assert learning.entry.environment == ("password",)
    await begin(page, site)
    assert (await cache.execute(page, "login", variables={"username": VALUES["username"]})).ok
    assert is_logged_in(site)
    await page.goto("about:blank")
    given = {"username": VALUES["username"]}
    with pytest.raises(VariablesError, match="CDPENGINE_ORIGINS_PASSWORD"):
        await cache.execute(page, learning.entry.key, variables=given, force=True)
    await cache.import_((await cache.export()).text, replace=True)
    assert [entry.environment for entry in await cache.list()] == [()]
    monkeypatch.setenv("CDPENGINE_VAR_PASSWORD", "of-another-site")
    async with cache.learn(page, scenario="gift", variables=VALUES) as learning:
        await begin(page, site)
        await run_flow(page, LOGIN, VALUES)
    assert learning.entry is not None
    assert learning.entry.environment == ()


async def test_entry_is_disabled_after_consecutive_failures(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    assert await cache.report_error(known.key.id)
    assert (await cache.execute(page, "login", variables=VALUES)).ok  # and the count starts again
    for still_used in (True, True, False):
        assert await cache.report_error(known.key.id) is still_used
    await begin(page, site)
    with pytest.raises(CacheMissError, match="last 3 runs failed"):
        await cache.execute(page, "login", variables=VALUES)
    assert await cache.known_for(page.url) == ()
    assert (await cache.look_up(page, GOAL)).reason == "its last 3 runs failed"
    with pytest.raises(CacheMissError):
        await cache.report_error("0" * 32)


# --- requests ------------------------------------------------------------------------------------------------


@pytest.fixture
def actor(page: Page, cache: ActionCache) -> Actor:
    requests = CacheRequests(cache)
    made = Actor(page.browser, cache=requests, hooks=(requests.hook,))
    made.focus(page)
    return made


async def ask(actor: Actor, kind: str, **fields: Any) -> Any:
    response = await dispatch(actor, {"kind": kind, **fields})
    assert response.error is None, response.error
    json.dumps(response.to_json())
    return response.result


async def test_responses_with_a_page_list_known_scenarios(
    page: Page, site: CacheSite, known: CacheEntry, actor: Actor
) -> None:
    for request in ({"kind": "snapshot"}, {"kind": "reload"}, {"kind": "navigate", "url": page.url}):
        response = await dispatch(actor, request)
        assert [each.entry for each in response.cached] == [known.key.id]
        assert response.to_json()["cached"][0]["variables"] == ["password", "username"]
    assert (await dispatch(actor, {"kind": "console"})).cached == ()
    assert (await dispatch(actor, {"kind": "navigate", "url": site.url + "/shop"})).cached == ()


async def test_a_scenario_is_learned_and_replayed_by_requests(
    page: Page, site: CacheSite, cache: ActionCache, actor: Actor
) -> None:
    await begin(page, site)
    await ask(actor, "startLearning", scenario="login", variables=VALUES)
    refused = await dispatch(actor, {"kind": "startLearning", "scenario": "login"})
    assert refused.error is not None
    seen = await page.snapshot()
    for request in requests_of(seen, [2, 3]):
        assert (await dispatch(actor, request)).ok
    kept = await ask(actor, "stopLearning")
    assert kept["entry"]["scenario"] == "login"
    assert (await dispatch(actor, {"kind": "stopLearning"})).error is not None
    entry = kept["entry"]["entry"]
    await begin(page, site)
    found = await ask(actor, "cacheLookup", goal="log in")
    assert (found["scenario"], found["entry"]["entry"]) == ("login", entry)
    found = await ask(actor, "cacheLookup", goal=GOAL)
    assert found["reason"] == "no entry uses these variables: username", "it would log in as another user"
    planned = await ask(actor, "executeCached", entry=entry, dryRun=True)
    assert planned["ok"]
    site.record.clear()
    done = await ask(actor, "executeCached", scenario="login", toIndex=1)
    assert (done["ok"], len(done["steps"])) == (True, 1)
    assert site.touched == ["login.remember"]
    listed = await ask(actor, "cacheList")
    assert (listed["count"], listed["entries"][0]["entry"]) == (1, entry)
    assert [each["scenario"] for each in (await ask(actor, "scenarioList"))["scenarios"]] == ["login"]
    assert (await ask(actor, "cacheStats"))["hits"] == {"L3": 1}
    assert await ask(actor, "reportError", entry=entry) == {"stillUsed": True, "failedInRow": 1, "limit": 3}
    assert await ask(actor, "forceRefresh", entry=entry) == {"refreshed": True}
    for wrong in ({}, {"scenario": "login", "entry": entry}, {"scenario": "login"}):
        response: ActResponse = await dispatch(actor, {"kind": "executeCached", **wrong})
        assert response.error is not None
    assert await ask(actor, "cacheClear", scenario="logout") == {"deleted": 0}
    assert await ask(actor, "cacheClear") == {"deleted": 1}


async def test_request_discards_learned_steps(
    page: Page, site: CacheSite, cache: ActionCache, actor: Actor
) -> None:
    await begin(page, site)
    await ask(actor, "startLearning", scenario="login")
    await page.check(page.locate(role="checkbox", name="Remember me"))
    assert "entry" not in await ask(actor, "stopLearning", keep=False)
    assert await cache.list() == ()


# --- all operations ------------------------------------------------------------------------------------------


CALLS: dict[str, Any] = {
    "execute": lambda cache, page: cache.execute(page, "login", variables=VALUES),
    "perform": lambda cache, page: cache.perform(page, GOAL, variables=VALUES),
    "look_up": lambda cache, page: cache.look_up(page, GOAL),
    "look_up_address": lambda cache, page: cache.look_up_address(GOAL, page.url),
    "get": lambda cache, _page: cache.get("0" * 32),
    "known_for": lambda cache, page: cache.known_for(page.url),
    "guide": lambda cache, _page: cache.guide(),
    "list": lambda cache, _page: cache.list(),
    "size": lambda cache, _page: cache.size(),
    "versions": lambda cache, _page: cache.versions("0" * 32),
    "restore": lambda cache, _page: cache.restore("0" * 32, 1),
    "delete": lambda cache, _page: cache.delete("0" * 32),
    "scenarios": lambda cache, _page: cache.scenarios(),
    "statistics": lambda cache, _page: cache.statistics(),
    "refresh": lambda cache, _page: cache.refresh("0" * 32),
    "report_error": lambda cache, _page: cache.report_error("0" * 32),
    "clear": lambda cache, _page: cache.clear("other"),
    "export": lambda cache, _page: cache.export(),
    "import_": lambda cache, _page: cache.import_(
        '{"format": "cdpengine cache", "version": 1, "entries": []}'
    ),
}


async def test_every_cancelled_coroutine_leaves_the_cache_unchanged(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    import inspect

    public = {name for name, each in vars(ActionCache).items() if inspect.iscoroutinefunction(each)}
    assert CALLS.keys() == {name for name in public if not name.startswith("_")}
    for name, call in CALLS.items():
        with trio.move_on_after(0) as scope:
            await call(cache, page)
        assert scope.cancelled_caught, name
    assert site.touched == []
    assert [entry.key for entry in await cache.list()] == [known.key]


async def test_run_respects_its_timeout(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    never = attrs.evolve(single(known, 0), after=PostCondition(text="never there"))
    await cache.store.put(attrs.evolve(known, steps=(never,)))
    name = {"username": VALUES["username"]}
    report = await cache.execute(page, "login", variables=name, timeout=0.5)
    assert not report.ok
    assert "within" in report.reason


async def test_no_password_is_anywhere(
    page: Page,
    site: CacheSite,
    file: Path,
    actor: Actor,
    cache: ActionCache,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    await begin(page, site)
    said: list[str] = []
    goal = f"log in as ada with password {PASSWORD.replace(' ', '')}"
    async with cache.learn(page, scenario="login", variables=VALUES) as learning:
        await run_flow(page, LOGIN, VALUES)
    said += [repr(learning), repr(learning.entry), *learning.learned.notes]
    await begin(page, site, "c")
    report = await cache.execute(page, "login", variables=VALUES)
    assert not report.ok
    said += [repr(report), json.dumps(report.to_json()), report.to_table()]
    await begin(page, site)
    response = await dispatch(actor, {"kind": "executeCached", "scenario": "login", "variables": VALUES})
    assert response.ok
    said += [repr(response), json.dumps(response.to_json())]
    found = await cache.look_up(page, goal)
    said += [
        repr(found),
        repr(await cache.statistics()),
        await cache.guide(),
        (await cache.export(typed=True)).text,
    ]
    said += [record.getMessage() for record in caplog.records]
    await begin(page, site)
    with pytest.raises(VariablesError) as caught:
        await cache.execute(page, "login", variables={"password": PASSWORD})
    said.append(str(caught.value))
    assert PASSWORD not in "\n".join(said)
    on_disk = b"".join(each.read_bytes() for each in file.parent.iterdir())
    assert PASSWORD.encode() not in on_disk
    assert b"login" in on_disk
