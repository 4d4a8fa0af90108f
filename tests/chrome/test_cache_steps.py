"""Steps of an entry: the engine waits for each effect, and runs an atomic group completely or rolls it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import pytest
import trio
from cache_executions import LOG, entry_of, execute, log_of, step, targets_of
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.act import Click, Press, Wait
from cdpengine.cache import CacheEntry, ExecutionReport, PostCondition, StepGroup, Target

pytestmark = pytest.mark.chrome

# --- post-conditions -----------------------------------------------------------------------------------------

LATER = f"""<!doctype html><title>Later</title>{LOG}<button id=go onclick="setTimeout(change, 150)">Go on</button>
<p id=out>Waiting</p><button id=old>Old one</button><script>
function change() {{ out.textContent = "Ready now"; old.remove(); history.pushState(0, "", "/login?page=2");
  document.body.insertAdjacentHTML("beforeend", "<button id=fresh>Fresh one</button>") }}</script>"""


@pytest.mark.parametrize(
    "after",
    [
        {"text": "ready NOW"}, {"text_gone": "Waiting"}, {"url": "http://127.0.0.1:*/login?page=2"},
        {"shown": Target(role="button", name="Fresh one")}, {"gone": Target(role="button", name="Old one")},
        {"load_state": "load", "text": "Ready now", "shown": Target(role="button", name="Fresh one"), "gone": Target(role="button", name="Old one")},
    ],
    ids="+".join,
)  # fmt: skip
async def test_replay_waits_for_effects_of_a_step(
    after: dict[str, Any], page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve(LATER)
    await page.goto(url)
    if "url" in after:
        after = {"url": url.partition("?")[0] + "?page=2"}
    targets = await targets_of(page, t1="button Go on")
    report = await execute(page, entry_of(url, step(Click(ref="t1"), targets, after=PostCondition(**after))))
    assert report.ok, report.reason
    assert await page.evaluate("out.textContent") == "Ready now"


@pytest.mark.parametrize(
    "after",
    [
        {"text": "Never"},
        {"shown": Target(role="button", name="Never")},
        {"gone": Target(role="button", name="Go on")},
    ],
    ids="+".join,
)
async def test_missing_effect_fails_the_step(
    after: dict[str, Any], page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    url = serve(LATER)
    await page.goto(url)
    targets = await targets_of(page, t1="button Go on")
    entry = entry_of(
        url, step(Click(ref="t1"), targets, after=PostCondition(**after)), step(Press(key="Tab"))
    )
    report = await execute(page, entry, timeout=1.0)
    assert [each.status for each in report.steps] == ["failed", "skipped"]
    assert report.healed is None
    assert await log_of(page) == ["click go"]


async def test_waits_for_element_that_appears_later(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    url = serve(LATER)
    await page.goto(url)
    targets = await targets_of(page, t1="button Go on")
    fresh = step(Click(ref="t1"), {"t1": Target(role="button", name="Fresh one")})
    report = await execute(page, entry_of(url, step(Click(ref="t1"), targets), fresh), patience=2.0)
    assert report.ok, report.reason
    assert await log_of(page) == ["click go", "click fresh"]


async def test_replay_waits_for_the_next_document(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    for number in (1, 2, 3):
        html = f"<!doctype html><title>{number}</title>{LOG}<h1>Page {number}</h1><a href='/wizard{number + 1}'>Next</a>"
        httpserver.expect_request(f"/wizard{number}").respond_with_data(html, content_type="text/html")
    url = httpserver.url_for("/wizard1")
    await page.goto(url)
    targets = await targets_of(page, t1="link Next")
    targets = {"t1": attrs.evolve(targets["t1"], before=None, after=None)}
    report = await execute(
        page, entry_of(url, step(Click(ref="t1"), targets), step(Click(ref="t1"), targets))
    )
    assert report.ok, report.reason
    assert page.url.endswith("/wizard3")


# --- groups --------------------------------------------------------------------------------------------------

GROUPED = f"""<!doctype html><title>Group</title>{LOG}<button id=one>First</button><button id=two>Second</button>
<button id=undo>Take back</button>"""


async def grouped(
    page: cdpengine.Page, url: str, *, atomic: bool = True, last: str = "Nowhere"
) -> CacheEntry:
    await page.goto(url)
    targets = await targets_of(page, t1="button First", t2="button Take back")
    steps = (
        step(Click(ref="t1"), {"t1": targets["t1"]}),
        step(Click(ref="t1"), {"t1": Target(role="button", name=last)}),
    )
    undo = step(Click(ref="t1"), {"t1": targets["t2"]})
    return entry_of(url, StepGroup(steps=steps, atomic=atomic, rollback=(undo,)), step(Press(key="Tab")))


@pytest.mark.parametrize("atomic", [True, False])
async def test_failed_atomic_group_is_rolled_back(
    atomic: bool, page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    report = await execute(page, await grouped(page, serve(GROUPED), atomic=atomic))
    assert not report.ok
    told = [(each.place, each.rollback, each.status) for each in report.steps]
    if atomic:
        assert told == [
            ("0.0", False, "rolled back"), ("0.1", False, "failed"), ("0.0", True, "done"), ("1", False, "skipped"),
        ]  # fmt: skip
        assert await log_of(page) == ["click one", "click undo"]
    else:
        assert told == [("0.0", False, "done"), ("0.1", False, "failed"), ("1", False, "skipped")]
        assert await log_of(page) == ["click one"]


async def test_a_rollback_that_fails_is_named_in_the_reason(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await grouped(page, serve(GROUPED))
    await page.evaluate("undo.remove()")
    report = await execute(page, entry)
    assert "step 0.1: missing" in report.reason
    assert "its rollback failed, so the group is done in part: step 0.0: missing" in report.reason
    assert report.reason in report.to_table()
    assert [each.status for each in report.steps] == ["done", "failed", "failed", "skipped"]
    assert await log_of(page) == ["click one"]


async def test_a_rollback_repeats_the_steps_whose_elements_come_back(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await grouped(page, serve(GROUPED))
    group = entry.steps[0]
    assert isinstance(group, StepGroup)
    targets = await targets_of(page, t1="button Second")
    show, fails = step(Click(ref="t1"), targets), step(Wait(text="Never", timeout_ms=100))
    entry = attrs.evolve(
        entry, steps=(attrs.evolve(group, rollback=(*group.rollback, show, fails)), *entry.steps[1:])
    )
    await page.evaluate("() => { const gone = undo; gone.remove(); two.onclick = () => two.after(gone); }")
    report = await execute(page, entry)
    assert await log_of(page) == ["click one", "click two", "click undo"]
    undone = [(each.number, each.status) for each in report.steps if each.rollback]
    assert undone == [(0, "done"), (1, "done"), (2, "failed")]
    assert "its rollback failed, so the group is done in part: step 0.2: " in report.reason


async def test_unstarted_group_is_not_rolled_back(page: cdpengine.Page, serve: Callable[..., str]) -> None:
    entry = await grouped(page, serve(GROUPED))
    await page.evaluate("one.remove()")
    report = await execute(page, entry)
    assert [each.status for each in report.steps] == ["failed", "skipped", "skipped"]
    assert await log_of(page) == []


async def test_a_cancelled_group_is_rolled_back_and_the_cancellation_leaves(
    page: cdpengine.Page, serve: Callable[..., str]
) -> None:
    entry = await grouped(page, serve(GROUPED))
    group = entry.steps[0]
    assert isinstance(group, StepGroup)
    held = attrs.evolve(group, steps=(group.steps[0], step(Wait(text="Never"))))
    entry = attrs.evolve(entry, steps=(held,))
    ended: list[ExecutionReport] = []
    async with trio.open_nursery() as nursery:

        async def cancel() -> None:
            await page.wait_for(expression="done.length === 1")
            nursery.cancel_scope.cancel()

        nursery.start_soon(cancel)
        ended.append(await execute(page, entry))
    assert nursery.cancel_scope.cancelled_caught
    assert ended == []
    assert await log_of(page) == ["click one", "click undo"]


async def test_a_rollback_that_fails_after_a_cancellation_is_logged(
    page: cdpengine.Page, serve: Callable[..., str], caplog: pytest.LogCaptureFixture
) -> None:
    entry = await grouped(page, serve(GROUPED))
    group = entry.steps[0]
    assert isinstance(group, StepGroup)
    entry = attrs.evolve(
        entry, steps=(attrs.evolve(group, steps=(group.steps[0], step(Wait(text="Never")))),)
    )
    await page.evaluate("undo.remove()")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(execute, page, entry)
        await page.wait_for(expression="done.length === 1")
        nursery.cancel_scope.cancel()
    assert "its rollback failed, so the group is done in part" in caplog.text
    assert await log_of(page) == ["click one"]
