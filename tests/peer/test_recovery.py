"""The recovery steps against a scripted browser, on a clock that jumps, so times are exact."""

from __future__ import annotations

import logging
import pickle

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, hang, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Refusal, Request
from cdpengine.testing.peer import Answer

QUICK = 0.1
"""Maximum time of dialog, termination and probe together, in seconds."""

PATIENCE = 0.5
"""Additional time for the first probe and the other steps of an explicit recovery, in seconds."""


def crash(scripted: ScriptedBrowser) -> None:
    scripted.page_event("Inspector.targetCrashed", {})
    scripted.tell("Inspector.targetCrashed", {}, "L-T1", evaluation_session=True)


def revive(scripted: ScriptedBrowser, request: Request) -> Answer:
    scripted.on("Runtime.evaluate", NUMBER)
    scripted.page_event("Inspector.targetReloadedAfterCrash", {})
    scripted.tell("Inspector.targetReloadedAfterCrash", {}, "L-T1", evaluation_session=True)
    scripted.commit("T1", "https://a.example/")
    request.reply({})
    return SILENCE


def crashes_and_comes_back(scripted: ScriptedBrowser) -> None:
    def end(_request: Request) -> Answer:
        crash(scripted)
        return SILENCE

    scripted.on("Page.crash", end)
    scripted.on("Page.reload", lambda request: revive(scripted, request))


# --- the quick steps -----------------------------------------------------------------------------------------------


async def test_a_page_that_answers_is_left_alone(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    report = await page.recover(allow="close")
    assert report == cdpengine.errors.RecoveryReport(sent=False, responsive=True)
    assert str(report) == "the page answers"
    for method in ("Runtime.terminateExecution", "Page.crash", "Target.closeTarget"):
        assert scripted.count(method) == 0


async def test_a_crashed_page_says_how_to_go_on(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    crash(scripted)
    await quiet()
    report = await page.recover()
    assert not report.responsive
    assert str(report).startswith('the page has crashed: reload it, or use recover(allow="reload")')


async def test_a_page_that_answers_late_on_a_busy_machine_is_left_alone(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    held = scripted.hold("Runtime.evaluate")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def late() -> None:
            await held.wait()
            await trio.sleep(PATIENCE * 0.9)
            held.release(NUMBER)

        report = await page.recover(allow="close")
    assert report == cdpengine.errors.RecoveryReport(sent=False, responsive=True)
    assert scripted.count("Runtime.terminateExecution") == scripted.count("Target.closeTarget") == 0


async def test_a_late_confirmation_of_a_termination_counts(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    held = scripted.hold("Runtime.terminateExecution")
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def late() -> None:
            await held.wait()
            await trio.sleep(PATIENCE * 0.9)
            scripted.on("Runtime.evaluate", NUMBER)
            held.release()

        report = await page.recover(allow="close")
    assert (report.terminated, report.responsive, report.closed) == (True, True, False)


async def test_the_patience_is_a_part_of_the_callers_time(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    started = trio.current_time()
    assert not (await page.recover(timeout=1)).responsive
    assert trio.current_time() - started <= QUICK + 0.1 + 0.05


async def test_a_hung_page_is_terminated_on_both_its_sessions(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)

    def freed(request: Request) -> Answer:
        if request.session_id == "L-T1":
            return SILENCE  # this one gets no answer
        scripted.on("Runtime.evaluate", NUMBER)
        return None

    scripted.on("Runtime.terminateExecution", freed)
    report = await page.recover()
    assert (report.terminated, report.responsive, report.under_way) == (True, True, False)
    sessions = {
        request.session_id for request in scripted.received if request.method == "Runtime.terminateExecution"
    }
    assert sessions == {"L-T1", "S-T1"}


async def test_a_termination_that_is_under_way_counts(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """Chrome refuses a termination while it has not confirmed that of another page of the process."""
    hang(scripted)

    def refuse(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", NUMBER)
        return Refusal(-32000, "There is current termination request in progress")

    scripted.on("Runtime.terminateExecution", refuse)
    report = await page.recover()
    assert (report.terminated, report.responsive, report.under_way) == (True, True, False)


async def test_an_unconfirmed_termination_is_not_claimed(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    started = trio.current_time()
    report = await page.recover()
    assert (report.terminated, report.responsive) == (False, False)
    assert "not confirmed" in str(report)
    assert "does not answer" in str(report)
    assert 0 < report.steps[0].milliseconds <= (QUICK + PATIENCE) * 1000
    assert trio.current_time() - started <= QUICK + 2 * PATIENCE + 0.05
    assert pickle.loads(pickle.dumps(report)) == report


@pytest.mark.parametrize(
    "words", ["Inspected target navigated or closed", "Execution was terminated", "Internal error"]
)
async def test_a_probe_hit_by_the_termination_is_not_an_answer(
    page: cdpengine.Page, scripted: ScriptedBrowser, words: str, autojump_clock: MockClock
) -> None:
    hang(scripted)

    def terminated(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", SILENCE)
        scripted.on("Runtime.evaluate", Refusal(-32000, words), nth=scripted.count("Runtime.evaluate") + 1)
        return None

    scripted.on("Runtime.terminateExecution", terminated)
    report = await page.recover()
    assert (report.terminated, report.responsive) == (True, False)


async def test_an_open_dialog_is_dismissed_first(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    scripted.on("Page.handleJavaScriptDialog", SILENCE)
    scripted.page_event("Page.javascriptDialogOpening", {"type": "confirm", "message": "Sure?"})
    await quiet()

    def closed(_request: Request) -> Answer:
        scripted.page_event("Page.javascriptDialogClosed", {"result": False})
        scripted.on("Runtime.evaluate", NUMBER)
        return None

    scripted.on("Page.handleJavaScriptDialog", closed)
    scripted.on("Runtime.terminateExecution", None)
    report = await page.recover()
    assert [(step.name, step.done) for step in report.steps] == [("dialog", True), ("terminate", True)]
    assert report.responsive


# --- reload and close ----------------------------------------------------------------------------------------------


async def test_reload_is_only_done_where_it_is_allowed(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    crashes_and_comes_back(scripted)
    assert not (await page.recover()).responsive
    assert scripted.count("Page.crash") == 0
    report = await page.recover(allow="reload")
    assert [(step.name, step.done) for step in report.steps] == [("terminate", False), ("reload", True)]
    assert (report.responsive, report.under_way) == (True, False)
    assert scripted.count("Page.crash") == scripted.count("Page.reload") == 1
    assert await page.evaluate("1") == 1


async def test_a_slow_reload_is_reported_as_pending_and_awaited(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    crashes_and_comes_back(scripted)
    held = scripted.hold("Page.reload")
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await page.recover(allow="reload", timeout=0.5)
    assert trio.current_time() - started <= 0.5 + 0.15
    async with trio.open_nursery() as nursery:

        async def act() -> None:
            await page.snapshot(timeout=3)

        nursery.start_soon(act)
        await quiet()
        assert scripted.count("Accessibility.getFullAXTree") == 0
        again = await _reports(page)
        assert again.under_way
        (request,) = await held.wait()
        revive(scripted, request)
    assert scripted.count("Page.crash") == 1
    assert scripted.count("Accessibility.getFullAXTree") == 1


async def _reports(page: cdpengine.Page) -> cdpengine.errors.RecoveryReport:
    """The report of a recovery that does not wait for pending work, such as that of `evaluate`."""
    from cdpengine._evaluate.recovery import recover

    started = trio.current_time()
    report = await recover(page.internals.target, None, allow="reload", sent=True)
    assert trio.current_time() - started <= 0.13
    return report


async def test_a_reload_that_never_ends_is_abandoned(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    crashes_and_comes_back(scripted)
    scripted.on("Page.reload", SILENCE)
    started = trio.current_time()
    report = await page.recover(allow="reload")
    assert trio.current_time() - started <= 6.5
    assert (report.steps[-1].name, report.steps[-1].done) == ("reload", False)
    assert not report.responsive
    assert not page.internals.target.running.recovery_under_way


async def test_the_recovery_navigates_to_another_site_if_chrome_refuses_the_crash(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    await page.goto("https://a.example/")
    hang(scripted)
    scripted.on("Page.crash", Refusal(-32000, "Page has pending navigations, not killing"))

    def navigate(request: Request) -> Answer:
        scripted.on("Runtime.evaluate", NUMBER)
        return scripted.navigate(request)

    scripted.on("Page.navigate", navigate)
    report = await page.recover(allow="reload")
    assert report.responsive
    assert report.did("reload")
    urls = [request.params["url"] for request in scripted.received if request.method == "Page.navigate"]
    assert urls[-2:] == ["data:text/html,", "https://a.example/"]


async def test_close_is_repeated_once_a_second(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    scripted.on("Target.closeTarget", {"success": True}, nth=1)
    started = trio.current_time()
    report = await page.recover(allow="close")
    assert (report.closed, report.responsive) == (True, False)
    assert str(report).startswith("the page was closed")
    assert scripted.count("Target.closeTarget") == 2
    assert 1 <= trio.current_time() - started <= 1.5 + 2 * PATIENCE
    assert page.closed
    assert scripted.count("Page.crash") == 0


async def test_a_page_that_closes_during_recovery(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)

    def end(_request: Request) -> Answer:
        scripted.vanish("T1")
        return SILENCE

    scripted.on("Page.crash", end)
    report = await page.recover(allow="reload")
    assert (report.responsive, report.did("reload")) == (False, False)


# --- the watchdog --------------------------------------------------------------------------------------------------


async def test_the_watchdog_recovers_a_silent_page(
    browser: cdpengine.Browser,
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: MockClock,
) -> None:
    caplog.set_level(logging.INFO, "cdpengine.recovery")
    async with browser.internals.watch_pages(4):
        await trio.sleep(20)
        assert scripted.count("Runtime.terminateExecution") == 0
        held = scripted.hold("Runtime.evaluate")
        hung = trio.current_time()

        def freed(_request: Request) -> Answer:
            scripted.on("Runtime.evaluate", NUMBER)
            held.release(NUMBER)
            return None

        scripted.on("Runtime.terminateExecution", freed)
        await scripted.wait_for("Runtime.terminateExecution")
        assert 4 <= trio.current_time() - hung <= 6
        await trio.sleep(20)
    assert scripted.count("Runtime.terminateExecution") == 2  # once on each of two sessions
    assert len([record for record in caplog.records if record.name == "cdpengine.recovery"]) == 1


async def test_the_watchdog_spaces_its_recoveries_and_ends_with_its_page(
    browser: cdpengine.Browser, page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    hang(scripted)
    async with browser.internals.watch_pages(4):
        await trio.sleep(30)
        assert 4 <= scripted.count("Runtime.terminateExecution") <= 2 * 8
        scripted.vanish("T1")
        await trio.sleep(5)
        before = scripted.count("Runtime.terminateExecution")
        await trio.sleep(15)
        assert scripted.count("Runtime.terminateExecution") == before


async def test_a_late_termination_does_not_hit_the_next_action(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """If no script runs, V8 keeps a termination for the next script. A call of the engine absorbs it."""
    held: list[Request] = []
    asked: list[str] = []

    def terminated(request: Request) -> Answer:
        if request.session_id == "L-T1":
            return None
        held.append(request)  # this one waits in V8
        return SILENCE

    def evaluated(request: Request) -> Answer:
        expression = str(request.params["expression"])
        if not held and "never" in expression:
            return SILENCE
        asked.append(expression)
        if held and len(asked) > 3:
            held.pop().reply({})
            return Refusal(-32000, "Execution was terminated")
        return NUMBER

    scripted.on("Runtime.terminateExecution", terminated)
    scripted.on("Runtime.evaluate", evaluated)
    with trio.move_on_after(1):
        await page.evaluate("never")
    assert held
    assert await page.evaluate("mine") is not None
    assert not held
    assert "mine" in asked[-1]
    assert not any("mine" in each for each in asked[:-1])
