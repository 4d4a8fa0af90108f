"""An actor's limits also apply to replays that it requests, and no wait of the cache exceeds its timeout."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from cache_flows import LOGIN
from cache_site.server import CacheSite

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, Check, Navigate, Upload, dispatch
from cdpengine.act.requests import ActRequest
from cdpengine.cache import (
    ActionCache,
    CacheConfig,
    CacheEntry,
    CacheRequests,
    ScenarioMatch,
    Step,
    Target,
    Viewport,
    make_entry,
    make_key,
)
from cdpengine.errors import CacheMissError, DeadlineExceededError, VariablesError

pytestmark = pytest.mark.chrome

CONFIG = CacheConfig(keyring=False)
BOX = Target(role="checkbox", name="Remember me")


def entry_of(page: Page, scenario: str, step: Step, *variables: str) -> CacheEntry:
    key = make_key(scenario, page.url, Viewport(width=780, height=493), variables)
    return make_entry(key, [step], now=1.0, expires_at=1e12)


# A step, the variable that makes it a forbidden step for the actor, and a word of the refusal.
FORBIDDEN: dict[str, tuple[ActRequest, dict[str, Target], str, str]] = {
    "a script as a URL": (Navigate(url="${place}"), {}, "javascript:window.__ran = 1", "disabled"),
    "a document as a URL": (
        Navigate(url="${place}"),
        {},
        "data:text/html,<script>1</script>",
        "disabled",
    ),
    "a file as a URL": (Navigate(url="${place}"), {}, Path(__file__).as_uri(), "file"),
    "a file elsewhere": (
        Upload(ref="t1", paths=("${place}",)),
        {"t1": Target(role="button", name="File")},
        __file__,
        "file",
    ),
}


@pytest.mark.parametrize("what", FORBIDDEN)
async def test_replay_has_the_limits_of_its_caller(
    page: Page, site: CacheSite, tmp_path: Path, what: str
) -> None:
    request, targets, value, word = FORBIDDEN[what]
    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    await page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<label>File <input type=file></label>')"
    )
    before = page.url
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG) as cache:
        await cache.store.put(entry_of(page, "settings", Step(request=request, targets=targets), "place"))
        actor = Actor(page.browser, evaluate_enabled=False, files=None, cache=CacheRequests(cache))
        actor.focus(page)
        response = await dispatch(
            actor, {"kind": "executeCached", "scenario": "settings", "variables": {"place": value}}
        )
    assert response.ok
    assert response.result["ok"] is False
    assert word in response.result["reason"], response.result["reason"]
    assert page.url == before
    assert await page.evaluate("[window.__ran, document.querySelector('[type=file]').files.length]") == [
        None,
        0,
    ]


async def never(*_: Any) -> Any:
    await trio.sleep_forever()


async def test_unresponsive_planner_is_cancelled_in_time(page: Page, site: CacheSite, tmp_path: Path) -> None:
    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG) as cache:
        with trio.fail_after(20):
            done = await cache.perform(page, "log in", planner=never, timeout=1)
        assert (done.outcome, done.reason) == ("failed", "the planner did not answer in time")


async def fails(*_: Any) -> Any:
    await trio.lowlevel.checkpoint()
    raise ConnectionError("the model is down")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (fails, "raised ConnectionError"),
        (5, "not a plan"),
        ("click", "not a plan"),
        ([{"kind": "nonsense"}], "not a plan"),
    ],
)
async def test_planner_failure_is_in_the_report(
    page: Page, site: CacheSite, tmp_path: Path, answer: Any, reason: str
) -> None:
    async def plan(*_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return answer

    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG) as cache:
        done = await cache.perform(page, "log in", planner=answer if callable(answer) else plan)
        assert done.outcome == "failed"
        assert reason in done.reason
        assert await cache.list() == ()
    assert site.touched == []


@pytest.mark.parametrize("classify", [fails, never])
async def test_a_goal_is_reached_without_the_classifier(
    page: Page, site: CacheSite, tmp_path: Path, classify: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG, classifier=classify) as cache:
        await cache.store.put(entry_of(page, "login", Step(request=Check(ref="t1"), targets={"t1": BOX})))
        done = await cache.perform(page, "log in, then search for shoes", timeout=3)
        assert done.outcome == "replayed", done.reason
        assert len(done.remarks) == 1
        assert "the classifier" in done.remarks[0]
    assert site.touched == ["login.remember"]


async def test_goal_that_is_no_command_does_nothing(page: Page, site: CacheSite, tmp_path: Path) -> None:
    asked: list[str] = []

    async def plan(goal: str, _snapshot: Snapshot) -> list[ActRequest]:
        asked.append(goal)
        await trio.lowlevel.checkpoint()
        return []

    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG) as cache:
        entry = await cache.store.put(
            entry_of(page, "login", Step(request=Check(ref="t1"), targets={"t1": BOX}))
        )
        for goal in ("how do I log in?", "do not log in", "take a screenshot of the login page", "如何登录"):
            done = await cache.perform(page, goal, planner=plan)
            assert (done.outcome, done.ok, done.scenario, done.entry) == ("known", False, "login", entry)
            found = await cache.look_up(page, goal)
            assert (found.acts, found.entry) == (False, entry)
        assert (await cache.perform(page, "what is the weather?", planner=plan)).outcome == "known"
        assert (await cache.statistics()).misses == 0
    assert asked == site.touched == []


@pytest.mark.parametrize("call", ["perform", "execute"])
async def test_missing_values_are_not_awaited_past_the_timeout(
    page: Page, site: CacheSite, tmp_path: Path, call: str
) -> None:
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG, ask=never) as cache:
        step = Step(request=Navigate(url="https://a.example/${place}"))
        await cache.store.put(entry_of(page, "login", step, "place"))
        with trio.fail_after(20), pytest.raises(DeadlineExceededError):
            if call == "perform":
                await cache.perform(page, "log in", timeout=0.3)
            else:
                await cache.execute(page, "login", timeout=0.3)


async def test_error_of_ask_callback_fails_the_request(page: Page, site: CacheSite, tmp_path: Path) -> None:
    async def ask(name: str) -> str | None:
        raise KeyError("hunter2")

    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG, ask=ask) as cache:
        await cache.store.put(
            entry_of(page, "login", Step(request=Navigate(url="https://a.example/${place}")), "place")
        )
        actor = Actor(page.browser, page.browser.context_of(page), cache=CacheRequests(cache))
        asked = {"kind": "executeCached", "scenario": "login", "targetId": page.target_id}
        response = await dispatch(actor, asked)
        with pytest.raises(VariablesError, match="asking for place raised KeyError"):
            await cache.perform(page, "log in")
    assert response.error is not None
    assert response.error.kind == "variables"
    assert "hunter2" not in str(response)


async def test_unresponsive_classifier_is_abandoned(page: Page, site: CacheSite, tmp_path: Path) -> None:
    async def classify(*_: Any) -> ScenarioMatch | None:
        result: ScenarioMatch | None = await never()
        return result

    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG, classifier=classify) as cache:
        with trio.fail_after(20), pytest.raises(CacheMissError, match="classifier did not answer"):
            await cache.perform(page, "something else", timeout=2)


async def test_entry_learned_with_other_variables_replaces_failed_one(
    page: Page, site: CacheSite, tmp_path: Path
) -> None:
    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    gone = attrs.evolve(BOX, name="Vanished")

    async def plan(_goal: str, snapshot: Snapshot) -> list[ActRequest]:
        return [Check(ref=snapshot.find(role="checkbox", name="Remember me").id)]

    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG) as cache:
        size = await page.evaluate(
            "[document.documentElement.clientWidth, document.documentElement.clientHeight]"
        )
        viewport = Viewport(width=size[0], height=size[1])
        step = Step(request=Check(ref="t1"), targets={"t1": gone})
        key = make_key("login", page.url, viewport, ["user"])
        await cache.store.put(make_entry(key, [step], now=1.0, expires_at=1e12))
        done = await cache.perform(page, "log in", variables={"user": "ada"}, planner=plan)
        assert done.outcome == "planned", done.reason
        assert done.entry is not None
        assert done.entry.key.variables == ()
        await page.goto(site.url + LOGIN.start)
        site.record.clear()
        assert (await cache.perform(page, "log in")).outcome == "replayed"
        assert site.touched == ["login.remember"]


async def test_the_failure_of_a_classifier_is_completely_in_the_error(
    page: Page, site: CacheSite, tmp_path: Path
) -> None:
    async def classify(*_: Any) -> Any:
        await trio.lowlevel.checkpoint()
        return "login"

    LOGIN.reset(site, "a")
    await page.goto(site.url + LOGIN.start)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=CONFIG, classifier=classify) as cache:
        with pytest.raises(CacheMissError) as caught:
            await cache.perform(page, "fill in the form")
    remark = "the classifier's answer is not a ScenarioMatch with a confidence of 0 to 100"
    assert f"there is no entry for this address, or it has expired; {remark}. Learn it" in str(caught.value)
