"""A person confirms steps that send, pay or delete. Without a yes the run ends, which does not count as a
failure.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from cache_login import CONFIG
from pytest_httpserver import HTTPServer

from cdpengine import Page, Snapshot
from cdpengine.act.confirming import Confirmation
from cdpengine.cache import ActionCache, CacheEntry, Step, StepGroup
from cdpengine.cache.replaying import confirming

pytestmark = pytest.mark.chrome

SHOP = (
    "<title>Shop</title><h1>Shop</h1><label>Card <input id=card></label><button onclick='done.push(1)'>Show total</button>"
    "<button onclick='done.push(2)'>Pay now</button><a href='#o'>My orders</a><script>var done = []</script>"
)
CARD = {"card": "4111-1111"}


@pytest.fixture
async def paying(page: Page, cache: ActionCache, httpserver: HTTPServer) -> CacheEntry:
    httpserver.clear()
    httpserver.expect_request("/shop").respond_with_data(SHOP, content_type="text/html")
    await page.goto(httpserver.url_for("/shop"))
    async with cache.learn(page, scenario="checkout", variables=CARD) as learning:
        await page.fill(page.locate(role="textbox", name="Card"), CARD["card"])
        await page.click(page.locate(role="button", name="Show total"))
        await page.click(page.locate(role="button", name="Pay now"))
    assert learning.entry is not None
    await page.goto(httpserver.url_for("/shop"))
    return learning.entry


class Person:
    """Answers and keeps the questions."""

    def __init__(self, answer: Any = True) -> None:
        self.answer = answer
        self.asked: list[Confirmation] = []

    async def __call__(self, asked: Confirmation) -> bool:
        await trio.lowlevel.checkpoint()
        self.asked.append(asked)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer  # type: ignore[no-any-return]


async def test_yes_continues_and_no_ends_the_run(page: Page, cache: ActionCache, paying: CacheEntry) -> None:
    yes = Person()
    report = await cache.execute(page, "checkout", variables=CARD, confirm=yes)
    assert report.ok, report.reason
    assert [each.what for each in yes.asked] == ['click button "Pay now"']
    assert CARD["card"] not in str(yes.asked)
    assert await page.evaluate("done") == [1, 2]
    for answer, reason in (
        (False, "it was not confirmed"),
        ("yes", "it was not confirmed"),
        (OSError("no terminal"), "asking for a confirmation raised OSError"),
    ):
        await page.evaluate("done = []")
        report = await cache.execute(page, "checkout", variables=CARD, confirm=Person(answer))
        assert (report.ok, report.refused, report.stopped_at) == (False, True, 2)
        assert report.reason == f"step 2: {reason}"
        assert [step.status for step in report.steps] == ["done", "done", "refused"]
        assert report.to_json()["refused"] is True
        assert await page.evaluate("done") == [1]
    entry = await cache.get(paying.key.id)
    assert entry is not None
    assert (entry.statistics.successes, entry.statistics.failures, entry.statistics.failed_in_row) == (
        1,
        0,
        0,
    )


async def test_a_program_that_waits_in_a_thread_is_asked_too(
    page: Page, cache: ActionCache, paying: CacheEntry
) -> None:
    report = await cache.execute(page, "checkout", variables=CARD, confirm=lambda _asked: True)
    assert report.ok
    assert paying.key.scenario == "checkout"


async def test_the_caller_chooses_the_steps(page: Page, cache: ActionCache, paying: CacheEntry) -> None:
    def fills(step: Step) -> bool:
        return step.request.kind == "fill"

    no = Person(False)
    report = await cache.execute(page, "checkout", variables=CARD, confirm=no, confirm_if=fills)
    assert (report.refused, report.stopped_at, len(no.asked)) == (True, 0, 1)
    assert await page.evaluate("document.querySelector('#card').value") == ""
    assert paying.level == "L3"


async def test_wait_for_a_person_is_bounded(
    page: Page, cache: ActionCache, paying: CacheEntry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confirming, "ANSWERING", 0.1)

    async def never(_asked: Confirmation) -> bool:
        await trio.sleep_forever()

    def sleeps(_asked: Confirmation) -> bool:
        time.sleep(1)
        return True

    for silent in (never, sleeps):
        await page.evaluate("done = []")
        report = await cache.execute(page, "checkout", variables=CARD, confirm=silent)
        assert report.reason == "step 2: no confirmation arrived within 0.1 s"
        assert report.refused
        assert await page.evaluate("done") == [1]
    assert paying.version == 1


async def test_cancelled_confirmation_does_nothing_and_rolls_back_atomic_group(
    page: Page, cache: ActionCache, paying: CacheEntry
) -> None:
    asked = trio.Event()

    async def never(_asked: Confirmation) -> bool:
        asked.set()
        await trio.sleep_forever()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: cache.execute(page, "checkout", variables=CARD, confirm=never))
        await asked.wait()
        nursery.cancel_scope.cancel()
    assert await page.evaluate("done") == [1]
    entry = await cache.get(paying.key.id)
    assert entry is not None
    assert entry.statistics.failed_in_row == 0
    total, pay = paying.steps[1], paying.steps[2]
    assert isinstance(total, Step)
    assert isinstance(pay, Step)
    group = StepGroup(steps=(total, pay), atomic=True, rollback=(total,))
    await cache.store.put(attrs.evolve(paying, steps=(paying.steps[0], group)))
    await page.evaluate("done = []")
    report = await cache.execute(page, "checkout", variables=CARD, confirm=Person(False))
    assert report.refused
    assert await page.evaluate("done") == [1, 1]


async def test_a_goal_is_refused_in_a_replay_and_for_a_planner(
    page: Page, file: Path, httpserver: HTTPServer
) -> None:
    httpserver.clear()
    httpserver.expect_request("/shop").respond_with_data(SHOP, content_type="text/html")
    await page.goto(httpserver.url_for("/shop"))

    async def planner(_goal: str, snapshot: Snapshot) -> Any:
        await trio.lowlevel.checkpoint()
        return [{"kind": "click", "ref": snapshot.find("button", "Pay now").id}]

    async def selects(_goal: str, _snapshot: Snapshot) -> Any:
        await trio.lowlevel.checkpoint()
        return [{"kind": "click", "selector": "button:nth-of-type(2)"}]

    async with ActionCache.open(file, config=CONFIG) as cache:
        for plan in (planner, selects):
            no = Person(False)
            done = await cache.perform(page, "check out", planner=plan, confirm=no)
            assert (done.outcome, done.ok, done.reason) == ("refused", False, "it was not confirmed")
            assert len(no.asked) == 1
            assert await page.evaluate("done") == []
        done = await cache.perform(page, "check out", planner=planner, confirm=Person())
        assert done.outcome == "planned", done.reason
        done = await cache.perform(page, "check out", planner=planner, confirm=Person(False))
        assert done.outcome == "refused"
        assert done.replay is not None
        assert await page.evaluate("done") == [2]
