"""ActionCache and goals: planning once, replaying, continuing, repairing, and recognising a goal by its
words.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from cache_flows import LOGOUT, run_flow
from cache_login import CONFIG, GOAL, PASSWORD, VALUES, begin, is_logged_in, make_login, requests_of, single
from cache_site.server import CacheSite

from cdpengine import Page, Snapshot
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    Plan,
)
from cdpengine.errors import (
    CacheMissError,
    InvalidArgumentError,
    VariablesError,
)

pytestmark = pytest.mark.chrome


@attrs.define(eq=False)
class Scripted:
    """A scripted planner: each answer has the steps with these numbers, with templates for values."""

    answers: list[Sequence[int] | Plan | None]
    goals: list[str] = attrs.field(factory=list)

    async def __call__(self, goal: str, snapshot: Snapshot) -> Any:
        self.goals.append(goal)
        answer = self.answers.pop(0)
        return answer if answer is None or isinstance(answer, Plan) else requests_of(snapshot, answer)


async def test_a_goal_is_planned_once_and_replayed_after(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    planner = Scripted([[0, 1, 2, 3]])
    done = await cache.perform(page, GOAL, variables={"password": PASSWORD}, planner=planner)
    assert (done.outcome, done.scenario, len(done.responses)) == ("planned", "login", 4)
    assert is_logged_in(site)
    assert done.entry is not None
    assert (done.entry.source, done.entry.level, done.entry.sensitive) == ("planned", "L3", ("password",))
    await begin(page, site)
    again = await cache.perform(page, GOAL, variables={"password": PASSWORD}, planner=planner)
    assert (again.outcome, again.ok) == ("replayed", True)
    assert planner.goals == ["log in as ${username}"], "the planner was asked once, without the values"
    assert is_logged_in(site)
    found = await cache.statistics()
    assert (found.hits, found.misses, found.planned) == ({"L3": 1}, 1, 1)


async def test_unfinished_plan_continues_and_failed_action_is_no_step(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    snapshot = await page.snapshot()
    first = Plan(tuple(requests_of(snapshot, [0, 1])), done=False)
    planner = Scripted([first, [99], [2, 3]])
    done = await cache.perform(page, GOAL, variables=VALUES, planner=planner)
    assert done.outcome == "planned", done.reason
    assert [response.ok for response in done.responses] == [True, True, False, True, True]
    assert done.entry is not None
    assert len(done.entry.steps) == 4
    assert is_logged_in(site)


async def test_failed_plan_is_not_kept(page: Page, site: CacheSite, cache: ActionCache) -> None:
    await begin(page, site)
    done = await cache.perform(page, GOAL, variables=VALUES, planner=Scripted([[99]] * 9))
    assert (done.outcome, done.ok, len(done.responses)) == ("failed", False, 3)
    assert "click failed" in done.reason
    endless = Plan(done=False)
    async with ActionCache.open(cache.store.path, config=attrs.evolve(CONFIG, rounds=2)) as short:
        done = await short.perform(page, GOAL, variables=VALUES, planner=Scripted([endless] * 9))
        assert (done.outcome, done.reason) == ("planned", "") or done.outcome == "failed"
    with pytest.raises(VariablesError, match="password"):
        await cache.perform(page, GOAL, planner=Scripted([[0, 1]]))
    with pytest.raises(CacheMissError):
        await cache.perform(page, GOAL, variables=VALUES)
    assert await cache.list() == ()
    assert site.touched == []


async def test_planner_completes_partial_replay_and_both_become_next_version(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry
) -> None:
    button = single(known, 3)
    gone = attrs.evolve(button, targets={"t1": attrs.evolve(button.targets["t1"], name="Vanished")})
    broken = await cache.store.put(attrs.evolve(known, steps=(*known.steps[:3], gone)))
    done = await cache.perform(page, GOAL, variables=VALUES, planner=Scripted([[3]]))
    assert done.outcome == "repaired", done.reason
    assert done.replay is not None
    assert done.replay.stopped_at == 3
    assert is_logged_in(site)
    assert done.entry is not None
    assert (done.entry.key, done.entry.version) == (broken.key, broken.version + 1)
    assert len(done.entry.steps) == 4
    await begin(page, site)
    assert (await cache.perform(page, GOAL, variables=VALUES)).outcome == "replayed"
    assert is_logged_in(site)


async def test_unknown_goal_is_remembered_by_its_words(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    goal = "put a tick into the box"
    planner = Scripted([[2]])
    done = await cache.perform(page, goal, planner=planner)
    assert done.entry is not None
    assert done.entry.level == "L1"
    await begin(page, site)
    assert (await cache.perform(page, "  Put a TICK into the box")).outcome == "replayed"
    with pytest.raises(CacheMissError):
        await cache.perform(page, "put a tock into the box")


@pytest.mark.parametrize(
    ("change", "asked"), [({"auto_use": False}, 1), ({"enabled": False}, 1), ({"learn": False}, 0)]
)
async def test_options_control_use_and_storage(
    page: Page, site: CacheSite, cache: ActionCache, known: CacheEntry, change: dict[str, Any], asked: int
) -> None:
    async with ActionCache.open(cache.store.path, config=attrs.evolve(CONFIG, **change)) as other:
        planner = Scripted([[0, 1, 2, 3]])
        done = await other.perform(page, GOAL, variables=VALUES, planner=planner)
        assert (done.ok, len(planner.goals)) == (True, asked)
        assert is_logged_in(site)


async def test_guide_lists_known_scenarios(cache: ActionCache, known: CacheEntry) -> None:
    text = await cache.guide()
    assert "executeCached" in text
    assert "- login: variables password, username" in text


async def test_a_flow_of_two_pages(page: Page, site: CacheSite, cache: ActionCache) -> None:
    LOGOUT.reset(site, "a")
    await page.goto(site.url + LOGOUT.start)
    async with cache.learn(page, scenario="logout"):
        await run_flow(page, LOGOUT, {})
    LOGOUT.reset(site, "a")
    await page.goto(site.url + LOGOUT.start)
    assert (await cache.perform(page, "please log me out")).outcome == "replayed"
    assert site.submitted == LOGOUT.submitted({})


@pytest.mark.parametrize(
    "goal", ["log in ({}, {})", "log in: {}, {}", "登录: {} / {}", "log in: password {1}, {0}"]
)
async def test_values_without_names_are_assigned_in_the_order_of_the_steps(
    page: Page, site: CacheSite, cache: ActionCache, goal: str
) -> None:
    await begin(page, site)
    await cache.store.put(await make_login(page, site))
    done = await cache.perform(page, goal.format(VALUES["username"], PASSWORD))
    assert (done.outcome, done.reason) == ("replayed", "")
    assert is_logged_in(site)


@pytest.mark.parametrize(
    ("goal", "given"),
    [
        ("log in (grace)", {}),
        ("log in (grace, x9, 8)", {}),
        ("log in: grace, x9, remember me", {}),
        ("log in: username grace, x9, y8", {}),
        ("登录 (alice)", {}),
        ("log in (grace, x9)", {"username": "ada"}),
    ],
)
async def test_values_that_belong_to_no_variable_for_certain_are_not_used(
    page: Page,
    site: CacheSite,
    cache: ActionCache,
    goal: str,
    given: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in VALUES.items():  # values for which the goal does not ask
        monkeypatch.setenv(f"CDPENGINE_VAR_{name.upper()}", value)
        monkeypatch.setenv(f"CDPENGINE_ORIGINS_{name.upper()}", site.url)
    await begin(page, site)
    planner = Scripted([[0, 1, 2, 3]])
    entry = await make_login(page, site)
    for put in (False, True):
        if put:
            await cache.store.put(entry)
        if given and not put:
            continue
        with pytest.raises(InvalidArgumentError, match="cannot be assigned to .*username ada") as caught:
            await cache.perform(page, goal, variables=given, planner=planner)
        assert "grace" not in str(caught.value)
        assert "x9" not in str(caught.value)
        if not given:
            found = await cache.look_up(page, goal)
            assert (found.entry, found.to_json()["unassigned"]) == (None, found.unassigned)
            assert found.unassigned > 0
    assert (site.submitted, planner.goals) == ([], [])
    assert (await cache.statistics()).refused == (1 if given else 2)


async def test_a_planner_gets_no_value_without_a_name(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    planner = Scripted([[0, 1, 2, 3]])
    done = await cache.perform(page, f"log in ({VALUES['username']}, {PASSWORD})", planner=planner)
    assert done.outcome == "planned", done.reason
    assert is_logged_in(site)
    assert planner.goals == ["log in (${username}, ${password})"]


async def test_words_in_brackets_are_no_values_of_an_entry_without_variables(
    page: Page, site: CacheSite, cache: ActionCache
) -> None:
    await begin(page, site)
    planner = Scripted([[99], [99], [99]])
    done = await cache.perform(page, "open the settings (Notifications)", planner=planner)
    assert (done.outcome, planner.goals[0]) == ("failed", "open the settings (Notifications)")
