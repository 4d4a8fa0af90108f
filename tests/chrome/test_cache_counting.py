"""A cache's figures equal those of an independent count, over random uses by all ways in."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import attrs
import pytest
import trio
from cache_executions import targets_of
from cache_login import CONFIG
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from cdpengine import Page, Snapshot
from cdpengine.act import Actor, Click, Fill, FormField, dispatch
from cdpengine.cache import (
    ActionCache,
    CacheEntry,
    CacheRequests,
    ExecutionReport,
    LearningCost,
    PostCondition,
    Step,
    Viewport,
    make_entry,
    make_key,
)
from cdpengine.errors import CacheMissError, UndefinedVariablesError

pytestmark = pytest.mark.chrome

GOAL = "change the settings"
CITY = {"city": "Rome"}
TOKENS = 10
NAMES = ("Save", "Save changes")


def form(button: str, script: str = "out.textContent = 'Saved it'") -> str:
    return f"""<!doctype html><title>S</title><h1>Settings</h1><form aria-label=Settings onsubmit="return false">
<label>City <input></label><button type=button onclick="{script}">{button}</button></form><p id=out role=status></p>"""


@attrs.define(eq=False)
class Uses:
    """Uses a cache in random ways and counts the expected figures independently. `button` is the entry's
    button.
    """

    page: Page
    cache: ActionCache
    url: str
    other: str
    random: random.Random
    html: str = ""
    button: str = NAMES[0]
    identity: str = ""
    count: Counter[str] = attrs.field(factory=Counter)

    async def show(self, html: str) -> None:
        self.html = html
        await self.page.goto(self.url)

    async def learn(self, button: str) -> None:
        """Keep a new entry, or a new version of it."""
        await self.show(form(button))
        found = await targets_of(self.page, t1="textbox City", t2=f"button {button}")
        fill = Fill(fields=(FormField(ref="t1", value="${city}"),))
        steps = [
            Step(request=fill, targets={"t1": found["t1"]}),
            Step(request=Click(ref="t1"), targets={"t1": found["t2"]}, after=PostCondition(text="Saved it")),
        ]
        key = make_key("settings", self.url, Viewport(width=780, height=493), CITY)
        cost = LearningCost(tokens=TOKENS, milliseconds=1)
        await self.cache.store.put(make_entry(key, steps, now=1.0, expires_at=1e12, cost=cost))
        self.button, self.identity = button, key.id

    async def entry(self) -> CacheEntry:
        found = await self.cache.get(self.identity)
        assert found is not None
        return found

    async def replay(self, **options: Any) -> ExecutionReport | dict[str, Any]:
        """Replay by one of the ways in."""
        way = self.random.choice(["scenario", "id", "goal", "request"])
        options = {"variables": CITY} | options
        if way == "goal" and "patience" not in options:
            done = await self.cache.perform(self.page, GOAL, **options)
            assert done.replay is not None
            return done.replay
        if way == "request" and "patience" not in options:
            actor = Actor(self.page.browser, cache=CacheRequests(self.cache))
            actor.focus(self.page)
            response = await dispatch(actor, {"kind": "executeCached", "scenario": "settings", **options})
            assert response.error is None, response.error
            assert isinstance(response.result, dict)
            return response.result
        wanted = self.identity if way == "id" else "settings"
        return await self.cache.execute(self.page, wanted, **options)

    async def succeed(self) -> None:
        shown = self.random.choice(NAMES)
        await self.show(form(shown))
        report = await self.replay()
        assert report["ok"] if isinstance(report, dict) else report.ok, report
        self.count.update(hits=1, successes=1, tokens_saved=TOKENS, healed=shown != self.button)
        if shown != self.button:
            kept = list((await self.entry()).all_steps())[-1]
            assert kept.targets["t1"].name == shown
        self.button = shown

    async def fail(self) -> None:
        await self.show(form("Delete"))
        report = await self.replay(patience=0.01)
        assert isinstance(report, ExecutionReport)
        assert report.fault == "changed", report.reason
        self.count.update(hits=1, failures=1, stopped=1)

    async def be_wrong(self) -> None:
        await self.page.goto(self.other)
        report = await self.cache.execute(self.page, self.identity, variables=CITY)
        assert report.fault == "address", report.reason
        self.count.update(hits=1, mistakes=1, stopped=1)

    async def leave_out(self) -> None:
        await self.show(form(self.button))
        with pytest.raises(UndefinedVariablesError):
            await self.cache.execute(self.page, "settings")
        self.count.update(refused=1)

    async def miss(self) -> None:
        await self.page.goto(self.other)
        with pytest.raises(CacheMissError):
            if self.random.random() < 0.5:
                await self.cache.execute(self.page, "settings", variables=CITY)
            else:
                await self.cache.perform(self.page, "log out")
        self.count.update(misses=1)

    async def cancel(self) -> None:
        await self.show(form(self.button, "out.textContent = 'pressed'"))
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def stop() -> None:
                    await self.page.wait_for(text="pressed")
                    scope.cancel()

                nursery.start_soon(stop)
                await self.replay()
        assert scope.cancelled_caught
        self.count.update(hits=1, cancelled=1)

    async def repair(self) -> None:
        await self.show(form("Go on"))

        async def plan(_goal: str, snapshot: Snapshot) -> list[Click]:
            return [Click(ref=snapshot.find("button", "Go on").id)]

        done = await self.cache.perform(self.page, GOAL, variables=CITY, planner=plan)
        assert done.outcome == "repaired", done.reason
        self.count.update(hits=1, failures=1, stopped=1, repaired=1)
        await self.learn(self.button)

    async def look_only(self) -> None:
        await self.show(form(self.button))
        await self.cache.execute(self.page, "settings", variables=CITY, dry_run=True)
        await self.cache.look_up(self.page, GOAL)

    async def report(self) -> None:
        await self.cache.report_error(self.identity)
        self.count.update(reported=1)

    async def learn_again(self) -> None:
        await self.learn(self.random.choice(NAMES))

    async def use(self) -> None:
        chosen = self.random.choices(
            [
                self.succeed, self.fail, self.be_wrong, self.leave_out, self.miss, self.cancel, self.repair,
                self.look_only, self.report, self.learn_again,
            ],
            [10, 3, 2, 2, 3, 2, 1, 1, 1, 1],
        )[0]  # fmt: skip
        await chosen()


@pytest.mark.parametrize("uses", [40, pytest.param(300, marks=pytest.mark.slow)])
async def test_figures_equal_an_independent_count(
    uses: int, page: Page, httpserver: HTTPServer, tmp_path: Any
) -> None:
    config = attrs.evolve(CONFIG, failures=1_000)
    async with ActionCache.open(tmp_path / "cache.sqlite3", config=config) as cache:
        made = Uses(
            page, cache, httpserver.url_for("/form"), httpserver.url_for("/other"), random.Random(uses)
        )

        def answer(_request: Request) -> Response:
            return Response(made.html, content_type="text/html")

        httpserver.expect_request("/form").respond_with_handler(answer)
        httpserver.expect_request("/other").respond_with_data("<h1>Other</h1>", content_type="text/html")
        await made.learn(NAMES[0])
        for _ in range(uses):
            await made.use()
        found, count = await cache.statistics(), made.count
        figures = {
            name: getattr(found, name)
            for name in (
                "misses", "refused", "successes", "failures", "mistakes", "cancelled", "reported", "repaired", "healed",
                "stopped", "tokens_saved",
            )
        }  # fmt: skip
        assert figures | {"hits": sum(found.hits.values())} == {
            name: count[name] for name in [*figures, "hits"]
        }
        assert found.runs == count["hits"]
        kept = (await made.entry()).statistics
        assert (kept.successes, kept.failures) == (count["successes"], count["failures"] + count["reported"])
        assert (kept.mistakes, kept.cancelled) == (count["mistakes"], count["cancelled"])
        assert (found.store.successes, found.store.failures) == (kept.successes, kept.failures)
