"""Evaluation sessions that are lost, refused and replaced, with a scripted browser and a clock that jumps."""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import trio
from scripted_browser import NUMBER, Door, ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._api.attach import open_engine
from cdpengine._page.frames import Frame
from cdpengine._page.scripts.evaluation_sessions import ANSWER_TIMEOUT, PROOF_TIMEOUT
from cdpengine._protocol.instruments import Instruments
from cdpengine.testing import SILENCE, Refusal, Request
from cdpengine.testing.peer import Answer


@pytest.fixture
async def door(scripted: ScriptedBrowser) -> Door:
    return Door(scripted)


@asynccontextmanager
async def engine(scripted: ScriptedBrowser, door: Door) -> AsyncIterator[cdpengine.Browser]:
    instruments = Instruments()
    async with (
        scripted.connect(instruments=instruments) as main,
        open_engine(main, door.open, instruments, "scripted") as browser,
    ):
        yield browser


def evaluation_session_set_ups(scripted: ScriptedBrowser, target_id: str) -> int:
    return sum(
        request.method == "Target.attachToTarget" and request.params["targetId"] == target_id
        for request in scripted.received
    )


async def inside(page: cdpengine.Page, scripted: ScriptedBrowser) -> Frame:
    """Add a frame within the page's process: evaluating there needs the evaluation session."""
    scripted.page_event(
        "Page.frameAttached", {"frameId": "F9", "parentFrameId": page.target_id}, page.target_id
    )
    await quiet()
    return page.frames[1].internals


async def test_a_lost_connection_is_replaced_without_disturbing_evaluations(
    browser: cdpengine.Browser,
    scripted: ScriptedBrowser,
    autojump_clock: MockClock,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "cdpengine.browser")
    pages = [await browser.new_page() for _ in range(3)]
    evaluating = scripted.hold("Runtime.evaluate", nth=scripted.count("Runtime.evaluate") + 1)
    started = trio.current_time()
    async with trio.open_nursery() as nursery:

        async def evaluate() -> None:
            assert await pages[0].evaluate("while (true) {}") == 1

        nursery.start_soon(evaluate)
        await evaluating.wait()
        scripted.links[1].drop()
        await quiet()
        evaluating.release(NUMBER)
    assert scripted.count("Runtime.terminateExecution") == 0
    for page in pages:
        assert await page.evaluate("1") == 1
        assert page.internals.target.evaluation_session_rebuilds == {"connection lost": 1}
        assert not page.session.ended
    assert trio.current_time() == started
    expressions = [r.params.get("expression") for r in scripted.received if r.method == "Runtime.evaluate"]
    assert expressions.count("while (true) {}") == 1, "it was sent once"
    assert "the evaluation session connection ended and was opened again" in caplog.text


async def test_attempts_are_spaced_and_waiting_tasks_get_the_error(
    scripted: ScriptedBrowser, door: Door, autojump_clock: MockClock
) -> None:
    async with engine(scripted, door) as browser:
        page = await browser.new_page()
        door.refuses = True
        cut = trio.current_time()
        scripted.links[1].drop()
        await quiet()
        frame = await inside(page, scripted)
        for _ in range(2):
            with pytest.raises(cdpengine.errors.ConnectionLostError, match="the test refuses it"):
                await page.evaluate("1", frame=frame, timeout=30)
            assert trio.current_time() - cut < 1
        assert await page.evaluate("1") == 1
        await page.goto("https://a.example/")
        opened = await browser.new_page()
        await trio.sleep(20)
        pauses = [round(b - a, 1) for a, b in zip(door.tried[1:], door.tried[2:], strict=False)]
        assert pauses[:6] == [0.1, 0.2, 0.4, 0.8, 1.6, 2.0]
        assert set(pauses[6:]) == {2.0}
        door.refuses = False
        await trio.sleep(2)
        assert (
            await page.internals.target.evaluation_session_of("T1")
            is page.internals.target.evaluation_session
        )
        assert (
            await opened.internals.target.evaluation_session_of("T2")
            is opened.internals.target.evaluation_session
        )
        assert page.internals.target.evaluation_session_rebuilds == {"connection lost": 1}


async def test_a_silent_server_is_abandoned_and_tried_again(
    scripted: ScriptedBrowser, door: Door, autojump_clock: MockClock
) -> None:
    async with engine(scripted, door) as browser:
        page = await browser.new_page()
        frame = await inside(page, scripted)
        door.silent = True
        scripted.links[1].drop()
        await quiet()
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match="never sent"):
            await page.evaluate("1", frame=frame, timeout=1)
        door.silent = False
        with trio.fail_after(10):
            await page.internals.target.evaluation_session_of("T1")


class SilentOnSecond(ScriptedBrowser):
    """Answers on the first connection, and on others if `answers`."""

    answers = False

    def _answer(self, request: Request, answer: Any) -> None:
        super()._answer(request, answer if self.answers or request.link is self.links[0] else SILENCE)


async def test_a_silent_second_connection_is_abandoned(
    guard: None, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "cdpengine.browser")
    async with SilentOnSecond() as scripted:
        started = trio.current_time()
        async with scripted.engine() as browser:
            assert trio.current_time() == started
            page = await browser.new_page()
            assert trio.current_time() - started == ANSWER_TIMEOUT
            assert await page.evaluate("1") == 1
            await browser.new_page()
            assert trio.current_time() - started == ANSWER_TIMEOUT, "it is found out once"
            assert (
                await page.internals.target.evaluation_session_of("T1")
            ).connection is browser.session.connection
            left = trio.current_time()
        assert trio.current_time() - left <= 0.5
    assert "the browser does not answer on a second one" in caplog.text


async def test_a_second_connection_that_falls_silent_is_abandoned_at_the_next_page(
    guard: None, autojump_clock: MockClock
) -> None:
    async with SilentOnSecond() as scripted:
        scripted.answers = True
        async with scripted.engine() as browser:
            first = await browser.new_page()
            assert (
                await first.internals.target.evaluation_session_of("T1")
            ).connection is not browser.session.connection
            scripted.answers = False
            await browser.new_page()
            assert (
                await first.internals.target.evaluation_session_of("T1")
            ).connection is browser.session.connection
            assert await first.evaluate("1") == 1


async def test_a_second_connection_that_falls_silent_costs_one_recover(
    guard: None, autojump_clock: MockClock
) -> None:
    """A page whose script was ended answers, but its evaluation session cannot report that.

    The first connection takes over.
    """
    autojump_clock.rate = 20  # the clock does not jump while a task polls the page
    async with SilentOnSecond() as scripted:
        scripted.answers = True
        async with scripted.engine() as browser:
            page = await browser.new_page()
            await page.internals.target.evaluation_session_of("T1")
            scripted.answers = False
            hanging: list[Request] = []

            def evaluate(request: Request) -> Answer:
                if request.params.get("expression") == "while (true) {}":
                    hanging.append(request)
                return SILENCE if hanging else NUMBER

            def end(_request: Request) -> Answer:
                hanging.clear()
                return {}

            scripted.on("Runtime.evaluate", evaluate)
            scripted.on("Runtime.terminateExecution", end)
            with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
                await page.evaluate("while (true) {}", timeout=1)
            assert await page.evaluate("1", timeout=5) == 1
            assert (
                await page.internals.target.evaluation_session_of("T1")
            ).connection is browser.session.connection


async def test_a_failure_of_the_first_connection_propagates_unchanged(
    scripted: ScriptedBrowser, door: Door, autojump_clock: MockClock
) -> None:
    door.refuses = True
    with pytest.raises(cdpengine.errors.ConnectFailedError, match="the test refuses it"):
        async with engine(scripted, door):
            raise AssertionError("no engine")


async def test_no_connection_opens_after_the_main_connection_is_lost(
    scripted: ScriptedBrowser, door: Door, autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    async with engine(scripted, door) as browser:
        page = await browser.new_page()
        door.refuses = True
        scripted.links[1].drop()
        await quiet()
        assert "evaluation session" not in caplog.text, "where the browser ends, this is how it begins"
        await trio.sleep(1)
        scripted.links[0].drop()
        await quiet()
        tried = len(door.tried)
        await trio.sleep(30)
        assert len(door.tried) == tried
        with pytest.raises(cdpengine.errors.ConnectionLostError, match="memory 1"):
            await page.evaluate("1")


async def test_a_detached_evaluation_session_is_attached_again_with_pauses(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    started = trio.current_time()
    for number in range(1, 5):
        scripted.tell("Target.detachedFromTarget", {"sessionId": "L-T1"}, evaluation_session=True)
        await quiet()
        await page.internals.target.evaluation_session_of("T1")
        assert page.internals.target.evaluation_session_rebuilds == {"detached": number}
    assert trio.current_time() - started == pytest.approx(0.1 + 0.2 + 0.4)


async def test_a_permanent_refusal_is_not_retried_forever(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Target.attachToTarget", Refusal(-32000, "Not allowed"))
    page = await browser.new_page()
    await trio.sleep(30)
    asked = evaluation_session_set_ups(scripted, "T1")
    assert 1 < asked < 10
    with pytest.raises(cdpengine.errors.SessionGoneError, match="Not allowed"):
        await page.internals.target.evaluation_session_of("T1")
    scripted.on("Target.attachToTarget", scripted.attach)
    scripted.links[1].drop()  # a new connection is a new chance
    await quiet()
    assert await page.internals.target.evaluation_session_of("T1") is page.internals.target.evaluation_session
    assert page.internals.target.evaluation_session_rebuilds == {"refused": 1}


def frame_attached(scripted: ScriptedBrowser) -> None:
    scripted.documents["F1"] = 1
    scripted.alive.add("F1")
    attached = {
        "sessionId": "S-F1",
        "targetInfo": {"targetId": "F1", "type": "iframe", "url": ""},
        "waitingForDebugger": True,
    }
    scripted.tell("Target.attachedToTarget", attached, "S-T1")


def runs(scripted: ScriptedBrowser, session_id: str) -> bool:
    return any(
        request.method == "Runtime.runIfWaitingForDebugger" and request.session_id == session_id
        for request in scripted.received
    )


async def test_a_frame_runs_only_after_its_evaluation_session_answered(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    held = scripted.hold("Runtime.evaluate", nth=scripted.count("Runtime.evaluate") + 1)
    frame_attached(scripted)
    await held.wait()
    await quiet()
    assert not runs(scripted, "S-F1")
    held.release(NUMBER)
    await quiet()
    assert runs(scripted, "S-F1")
    evaluation_session = await page.internals.target.evaluation_session_of("F1")
    assert (evaluation_session.id, evaluation_session.target_id) == ("L-F1", "F1")
    scripted.links[1].drop()
    await quiet()
    again = await page.internals.target.evaluation_session_of("F1")
    assert again is not evaluation_session
    assert again is page.internals.target.evaluation_sessions["F1"]
    scripted.tell("Target.detachedFromTarget", {"sessionId": "S-F1"}, "S-T1")
    await quiet()
    assert set(page.internals.target.evaluation_sessions) == {"T1"}
    detached = [r.params for r in scripted.received if r.method == "Target.detachFromTarget"]
    assert detached == [{"sessionId": "L-F1"}], "the evaluation session does not stay behind"
    with pytest.raises(cdpengine.errors.SessionGoneError, match="no longer in the page"):
        await page.internals.target.evaluation_session_of("F1")


@pytest.mark.parametrize("silent", [True, False])
async def test_a_frame_whose_process_is_still_starting_runs_soon(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, silent: bool, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    no_document = Refusal(-32000, "Cannot find default execution context")
    scripted.on(
        "Runtime.evaluate", SILENCE if silent else no_document, nth=scripted.count("Runtime.evaluate") + 1
    )
    started = trio.current_time()
    frame_attached(scripted)
    await page.internals.target.wait_for(lambda: len(page.internals.target.frame_sessions) == 2)
    evaluation_session = await page.internals.target.evaluation_session_of("F1")
    await quiet()
    assert trio.current_time() - started == (PROOF_TIMEOUT if silent else 0)
    assert runs(scripted, "S-F1")
    assert evaluation_session.id == "L-F1"


async def test_a_page_that_moved_in_the_meantime_is_asked_again(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    moved = Refusal(-32000, "Inspected target navigated or closed")
    for nth in (1, 2):
        scripted.on("Runtime.evaluate", moved, nth=nth)
    page = await browser.new_page()
    assert await page.evaluate("1") == 1
    assert page.internals.target.evaluation_session_rebuilds == {}


async def test_an_evaluation_session_that_disappears_during_its_creation_is_created_again(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def vanish(request: Request) -> Answer:
        detached = {"method": "Target.detachedFromTarget", "params": {"sessionId": request.session_id}}
        request.link.send(json.dumps(detached))
        return SILENCE

    scripted.on("Runtime.evaluate", vanish, nth=1)
    page = await browser.new_page()
    await trio.sleep(1)
    assert await page.internals.target.evaluation_session_of("T1") is page.internals.target.evaluation_session
