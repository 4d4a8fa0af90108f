"""Planners and classifiers get no variable's value: not in the goal, the address or the snapshot."""

from __future__ import annotations

import logging
from typing import Any

import pytest
import trio
from cache_login import CONFIG, begin
from cache_site.server import CacheSite

from cdpengine import Page, Snapshot
from cdpengine.act import Actor
from cdpengine.cache import ActionCache, Plan, ScenarioMatch

pytestmark = pytest.mark.chrome

USER, PASSWORD = "grace-hopper-7", "hunter2-hunter2"


async def test_models_get_no_value(
    page: Page, site: CacheSite, file: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    received: list[str] = []

    async def classifier(sentence: str, url: str | None, _scenarios: tuple[str, ...]) -> ScenarioMatch | None:
        await trio.lowlevel.checkpoint()
        received.append(f"{sentence} {url}")
        return ScenarioMatch(scenario="login", confidence=95, method="classifier")

    async def planner(goal: str, snapshot: Snapshot) -> Plan:
        await trio.lowlevel.checkpoint()
        seen = [snapshot.text, str(snapshot.to_json()), repr(snapshot), repr(snapshot.nodes), snapshot.url]
        received.extend([goal, *seen, repr(snapshot.refs), str(snapshot.stats)])
        if "${username}" not in snapshot.text:
            fields = [
                {"ref": snapshot.find("textbox", "User name").id, "value": "${username}"},
                {"ref": snapshot.find("textbox", "Password").id, "value": "${password}"},
            ]
            return Plan(({"kind": "fill", "fields": fields},), done=False)
        return Plan(({"kind": "click", "ref": snapshot.find("button", "Sign in").id},))

    await begin(page, site)
    await page.goto(f"{page.url}{'&' if '?' in page.url else '?'}from={USER}")
    async with ActionCache.open(file, config=CONFIG, classifier=classifier) as cache:
        done = await cache.perform(
            page,
            f"let me in as {USER} with password {PASSWORD}",
            variables={"username": USER},
            planner=planner,
        )
    assert done.outcome == "planned", done.reason
    assert len(received) > 10
    assert "let me in as ${username} with password ${password}" in received
    for text in received:
        assert USER not in text
        assert PASSWORD not in text
    assert site.submitted is not None
    assert USER in str(site.submitted)
    assert USER not in caplog.text
    assert PASSWORD not in caplog.text


async def test_a_planner_is_limited_as_its_actor_is(page: Page, site: CacheSite, cache: ActionCache) -> None:
    async def planner(_goal: str, _snapshot: Snapshot) -> Any:
        await trio.lowlevel.checkpoint()
        return [{"kind": "evaluate", "function": "() => { window.ran = 1 }"}]

    await begin(page, site)
    actor = Actor(page.browser, page.browser.context_of(page), evaluate_enabled=False)
    done = await cache.perform(page, "do something special here", planner=planner, actor=actor)
    assert done.outcome == "failed"
    assert "evaluate failed" in done.reason
    assert await page.evaluate("window.ran") is None
