"""Pages that do not answer: when the engine knows it and how it reports it; on a clock that jumps, so times
are exact.
"""

from __future__ import annotations

import math

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, hang, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Request
from cdpengine.testing.peer import Answer


async def test_how_long_a_page_has_been_silent(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    assert await page.measure.unresponsive_for() == 0.0
    held = scripted.hold("Runtime.evaluate")
    assert await page.measure.unresponsive_for() == pytest.approx(0.05)
    await trio.sleep(3)
    assert await page.measure.unresponsive_for() == pytest.approx(3.1)
    count = scripted.count("Runtime.evaluate")
    held.release(NUMBER)
    await quiet()
    scripted.on("Runtime.evaluate", SILENCE)
    # The old answer proves nothing about now: the engine asks again, and counts from there.
    assert await page.measure.unresponsive_for() == pytest.approx(0.05)
    assert scripted.count("Runtime.evaluate") == count + 1


async def test_an_action_at_its_deadline_names_the_page(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    scripted.on("Accessibility.getFullAXTree", SILENCE)
    started = trio.current_time()
    with pytest.raises(
        cdpengine.errors.PageUnresponsiveError, match=r"snapshot did not finish.*page\.recover\(\)"
    ) as caught:
        await page.snapshot(timeout=1)
    assert trio.current_time() - started == pytest.approx(1.05)
    assert caught.value.unresponsive_for == pytest.approx(0.55)
    assert scripted.count("Runtime.terminateExecution") == 0
    scripted.on("Runtime.evaluate", NUMBER)
    await page.internals.target.ping.unresponsive_time(0)
    sent = len(scripted.received)
    with pytest.raises(cdpengine.errors.DeadlineExceededError) as spent:
        await page.snapshot(timeout=0)
    assert type(spent.value) is cdpengine.errors.DeadlineExceededError
    assert len(scripted.received) == sent


@pytest.mark.parametrize(
    ("silent", "known"), [(0.1, 0.0), (0.3, 0.0), (0.45, 0.0), (0.55, 0.5), (0.9, 0.5), (3, 0.5)]
)
async def test_only_a_page_that_was_asked_long_before_is_called_unresponsive(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock, silent: float, known: float
) -> None:
    """The page falls silent this many seconds before a deadline at 4 s. It answers earlier calls."""
    scripted.on("Page.printToPDF", SILENCE)

    async def stop_to_answer() -> None:
        await trio.sleep(4 - silent)
        hang(scripted)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop_to_answer)
        with pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
            await page.pdf(timeout=4)
    if known:
        assert isinstance(caught.value, cdpengine.errors.PageUnresponsiveError)
        assert known <= caught.value.unresponsive_for <= silent + 0.05
    else:
        assert type(caught.value) is cdpengine.errors.DeadlineExceededError
        assert "not answered" not in str(caught.value)
        assert "page.recover" not in str(caught.value)


@pytest.mark.parametrize("seconds", [0.06, 0.2, 0.4])
async def test_a_slow_page_on_a_busy_machine_is_not_called_unresponsive(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock, seconds: float
) -> None:
    scripted.on("Page.printToPDF", SILENCE)

    async def reply_late(request: Request) -> None:
        await trio.sleep(seconds)
        request.reply(NUMBER)

    def answer(request: Request) -> Answer:
        nursery.start_soon(reply_late, request)
        return SILENCE

    async with trio.open_nursery() as nursery:
        scripted.on("Runtime.evaluate", answer)
        for _ in range(3):
            with pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
                await page.pdf(timeout=2)
            assert type(caught.value) is cdpengine.errors.DeadlineExceededError
        scripted.on("Runtime.evaluate", NUMBER)


async def test_a_short_timeout_names_a_page_that_is_known_to_be_unresponsive(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    kinds = []
    started = trio.current_time()
    for _ in range(4):
        with pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
            await page.snapshot(timeout=0.2)
        kinds.append(type(caught.value))
    # The page was asked at the first deadline.
    assert kinds == [cdpengine.errors.DeadlineExceededError] * 3 + [cdpengine.errors.PageUnresponsiveError]
    assert isinstance(caught.value, cdpengine.errors.PageUnresponsiveError)
    assert caught.value.unresponsive_for == pytest.approx(trio.current_time() - started - 0.2)


async def test_the_page_is_asked_before_the_nearest_deadline_of_any_action(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    known = {}

    async def look(timeout: float) -> None:
        with pytest.raises(cdpengine.errors.PageUnresponsiveError) as caught:
            await page.snapshot(timeout=timeout)
        known[timeout] = caught.value.unresponsive_for

    async with trio.open_nursery() as nursery:
        for timeout in (20, 2, 5):
            nursery.start_soon(look, timeout)
            await quiet()
    assert known == {2: pytest.approx(0.55), 5: pytest.approx(3.55), 20: pytest.approx(18.55)}


async def test_actions_that_end_in_time_ask_nothing_before_their_deadline(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    await page.emulation.set_viewport(300, 300, timeout=5)
    await page.emulation.set_viewport(300, 300, timeout=1)
    await page.emulation.set_viewport(300, 300, timeout=math.inf)
    asked = scripted.count("Runtime.evaluate")
    await trio.sleep(20)
    assert scripted.count("Runtime.evaluate") == asked


async def test_questions_before_deadlines_end_with_the_page(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async def look() -> None:
        with pytest.raises(cdpengine.errors.SessionGoneError):
            await page.snapshot(timeout=3600)

    hang(scripted)
    tasks = len(page.internals.target.nursery.child_tasks)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        await quiet()
        assert len(page.internals.target.nursery.child_tasks) == tasks + 1
        scripted.vanish("T1")
    await quiet()
    assert not any(
        task.name == "questions before deadlines" for task in page.internals.target.nursery.child_tasks
    )
