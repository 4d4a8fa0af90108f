"""goto, snapshot and evaluate against a browser that is slow, silent, or disappears; on a clock that jumps.

All times are virtual, so the assertions about time are exact.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import pytest
import trio
from rounds import rounds
from scripted_browser import NUMBER, ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, Refusal, Request, walk_cancellations
from cdpengine.testing.peer import Answer

LATE = 0.15
"""Maximum delay after a deadline, in seconds (the promise is budget + 150 ms)."""

BACKEND = cdpengine.BackendNode(5)


def sent_on(scripted: ScriptedBrowser, session_id: str) -> list[str]:
    return [request.method for request in scripted.received if request.session_id == session_id]


# --- evaluate: the report is true --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terminates", "answers", "report", "words"),
    [
        (True, True, {"sent": True, "terminated": True, "responsive": True}, "the page answers again"),
        (True, False, {"sent": True, "terminated": True, "responsive": False}, "does not answer yet"),
        (False, False, {"sent": True, "terminated": False, "responsive": False}, "has not confirmed"),
    ],
)
async def test_the_report_matches_the_facts(
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    terminates: bool,
    answers: bool,
    report: dict[str, bool],
    words: str,
    autojump_clock: MockClock,
) -> None:
    scripted.on("Runtime.evaluate", SILENCE)
    scripted.on("Runtime.terminateExecution", None if terminates else SILENCE)
    if answers:
        sent = scripted.count("Runtime.evaluate")
        for probe in (2, 3):  # twice, because due timers run between the two
            scripted.on("Runtime.evaluate", NUMBER, nth=sent + probe)
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match=words) as caught:
        await page.evaluate("while (true) {}", timeout=0.5)
    found = caught.value.report
    assert {name: getattr(found, name) for name in report} == report
    assert 0.5 <= trio.current_time() - started <= 0.5 + LATE
    assert "Runtime.terminateExecution" in sent_on(scripted, "L-T1")
    assert "Runtime.terminateExecution" in sent_on(scripted, "S-T1")


async def test_chrome_has_one_evaluation_even_if_many_hang(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def freed(_request: Request) -> Answer:
        scripted.on("Runtime.evaluate", NUMBER)
        return None

    sent = scripted.count("Runtime.evaluate")
    scripted.on("Runtime.evaluate", SILENCE)
    scripted.on("Runtime.terminateExecution", freed)
    started = trio.current_time()
    reports: list[cdpengine.errors.RecoveryReport] = []

    async def hang() -> None:
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
            await page.evaluate("for (;;);", timeout=0.5)
        reports.append(caught.value.report)

    async with trio.open_nursery() as nursery:
        for _ in range(10):
            nursery.start_soon(hang)
    assert trio.current_time() - started <= 0.5 + LATE
    assert sum(report.sent for report in reports) == 1
    scripts = [each.params["expression"] for each in scripted.received if each.method == "Runtime.evaluate"]
    assert scripts[sent:].count("for (;;);") == 1
    assert await page.evaluate("1", timeout=0.25) == 1


async def test_an_evaluation_does_not_wait_for_the_promise_of_another(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.evaluate", SILENCE, nth=scripted.count("Runtime.evaluate") + 1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.evaluate, "new Promise(() => {})")
        await quiet()
        with trio.fail_after(0.1):
            assert await page.evaluate("1") == 1
            assert await page.evaluate("1") == 1
        nursery.cancel_scope.cancel()


async def test_the_next_action_waits_for_running_work(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.evaluate", SILENCE)
    held = scripted.hold("Runtime.terminateExecution")
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match="the recovery continues") as caught:
        await page.evaluate("for (;;);", timeout=0.5)
    assert (caught.value.report.under_way, caught.value.report.responsive) == (True, False)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.evaluate, "'next'")
        await quiet()
        assert "'next'" not in [each.params.get("expression") for each in scripted.received]
        scripted.on("Runtime.evaluate", NUMBER)
        held.release()
    assert scripted.received[-1].params["expression"] == "'next'"


async def test_a_refused_termination_is_not_a_confirmation(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.evaluate", SILENCE)
    scripted.on("Runtime.terminateExecution", Refusal(-32000, "Not now"))
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError) as caught:
        await page.evaluate("1", timeout=0.5)
    report = caught.value.report
    assert (report.sent, report.terminated, report.responsive) == (True, False, False)


@pytest.mark.parametrize("silent", ["Page.createIsolatedWorld", "DOM.resolveNode"])
async def test_an_unsent_script_terminates_no_other_script(
    page: cdpengine.Page, scripted: ScriptedBrowser, silent: str, autojump_clock: MockClock
) -> None:
    scripted.on(silent, SILENCE)
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError, match="never sent") as caught:
        if silent == "DOM.resolveNode":
            await page.evaluate("el => 1", target=BACKEND, timeout=0.5)
        else:
            await page.evaluate("1", world="isolated", timeout=0.5)
    assert not caught.value.report.sent
    assert scripted.count("Runtime.terminateExecution") == 0


async def test_chrome_gets_its_own_script_timeout(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    await page.evaluate("f()", timeout=2)
    assert scripted.received[-1].params["timeout"] == pytest.approx(2500)
    with trio.fail_after(1):
        await page.evaluate("f()", timeout=30)
    assert scripted.received[-1].params["timeout"] == pytest.approx(1500)
    for long in (float("inf"), 1e308):
        await page.evaluate("f()", timeout=long)
        assert "timeout" not in scripted.received[-1].params


async def test_objects_of_an_evaluation_are_released(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async def released() -> None:
        await quiet()
        made = scripted.received[-2].params["objectGroup"]
        assert scripted.received[-1].method == "Runtime.releaseObjectGroup"
        assert scripted.received[-1].params == {"objectGroup": made}

    await page.evaluate("el => 1", target=BACKEND)
    await released()
    thrown = {
        "text": "Uncaught",
        "exception": {"type": "object", "objectId": "E1", "description": "Error: x"},
    }
    scripted.on("Runtime.evaluate", {"result": {"type": "object"}, "exceptionDetails": thrown})
    with pytest.raises(cdpengine.errors.EvaluationFailedError):
        await page.evaluate("1")
    await released()
    scripted.on("DOM.resolveNode", SILENCE)
    with trio.move_on_after(0.1):
        await page.evaluate("el => 1", target=BACKEND)
    await released()


@pytest.mark.parametrize("message", ["Cannot find object with given id", "Something new"])
async def test_a_refusal_of_the_call_is_not_blamed_on_the_node(
    page: cdpengine.Page, scripted: ScriptedBrowser, message: str, autojump_clock: MockClock
) -> None:
    scripted.on("Runtime.callFunctionOn", Refusal(-32000, message))
    with pytest.raises(cdpengine.errors.RemoteError, match=message):
        await page.evaluate("el => 1", target=BACKEND)


async def test_evaluate_cancelled_at_each_moment(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async def operation() -> None:
        await page.evaluate("() => 1")
        await page.evaluate("el => 1", target=BACKEND, world="isolated")

    async def check() -> None:
        await quiet()
        assert all(connection.statistics().in_flight == 0 for connection in browser.connections)
        assert await page.evaluate("1") == 1

    assert await walk_cancellations(operation, check) > 10


# --- goto --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "silent",
    [
        ("Page.navigate",),
        ("Page.navigate", "Page.stopLoading"),
        ("Page.navigate", "Page.stopLoading", "Network.enable", "Network.disable"),
        (
            "Runtime.evaluate",
            "Runtime.terminateExecution",
            "Page.navigate",
            "Page.stopLoading",
            "Network.disable",
        ),
    ],
)
@pytest.mark.parametrize("timeout", [0.01, 0.5, 5.0])
async def test_goto_ends_at_its_deadline_with_any_part_silent(
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    silent: tuple[str, ...],
    timeout: float,
    autojump_clock: MockClock,
) -> None:
    for method in silent:
        scripted.on(method, SILENCE)
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="asking Chrome to navigate"):
        await page.goto("https://a.example/", timeout=timeout)
    assert timeout <= trio.current_time() - started <= timeout + LATE
    await quiet()
    assert "Page.stopLoading" in sent_on(scripted, "S-T1")
    for method in silent:
        scripted.on(method, None)
    scripted.on("Runtime.evaluate", NUMBER)
    scripted.on("Page.navigate", scripted.navigate)
    assert (await page.goto("https://b.example/")).url == "https://b.example/"


async def test_a_hung_script_is_stopped_before_the_navigation(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    held = scripted.hold("Runtime.evaluate")
    scripted.on("Runtime.terminateExecution", lambda _request: held.release(NUMBER))
    assert (await page.goto("https://a.example/", timeout=10)).url == "https://a.example/"
    sent = sent_on(scripted, "S-T1")
    assert sent.index("Runtime.terminateExecution") < sent.index("Page.navigate")


async def test_a_page_that_answers_is_not_disturbed(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    await page.goto("https://a.example/")
    assert scripted.count("Runtime.terminateExecution") == 0


async def test_a_page_with_many_redirects_is_followed(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def navigate(request: Request) -> Answer:
        loader_id = scripted.commit("T1", request.params["url"], loaded=False)
        request.reply({"frameId": "T1", "loaderId": loader_id})
        scripted._running().start_soon(hop)
        return SILENCE

    async def hop() -> None:
        for n in range(8):
            await trio.sleep(0.1)
            scripted.commit("T1", f"https://a.example/{n}", loaded=n == 7)

    scripted.on("Page.navigate", navigate)
    assert (await page.goto("https://a.example/", timeout=5)).url == "https://a.example/7"


@pytest.mark.parametrize(
    "method",
    ["Runtime.evaluate", "Network.enable", "Page.navigate", "committed", "Accessibility.getFullAXTree"],
)
@pytest.mark.parametrize("way", ["vanish", "crash", "drop"])
async def test_a_page_that_closes_during_goto(
    page: cdpengine.Page, scripted: ScriptedBrowser, method: str, way: str, autojump_clock: MockClock
) -> None:
    def end(_request: Request) -> Answer:
        if way == "vanish":
            scripted.vanish("T1")
        elif way == "crash":
            scripted.page_event("Inspector.targetCrashed", {})
            scripted.tell("Inspector.targetCrashed", {}, "L-T1", evaluation_session=True)
        else:
            for link in scripted.links:
                link.drop()
        return SILENCE

    def commit_and_end(request: Request) -> Answer:
        request.reply(
            {"frameId": "T1", "loaderId": scripted.commit("T1", "https://a.example/", loaded=False)}
        )
        return end(request)

    actions: list[Callable[[], Awaitable[object]]] = [lambda: page.goto("https://a.example/")]
    if method == "committed":
        scripted.on("Page.navigate", commit_and_end)
    else:
        scripted.on(method, end)
    if method == "Runtime.evaluate":
        actions = [lambda: page.evaluate("1"), page.title]
    if method == "Accessibility.getFullAXTree":
        actions = [page.snapshot]
    expected = {
        "vanish": cdpengine.errors.SessionGoneError,
        "crash": cdpengine.errors.TargetCrashedError,
        "drop": cdpengine.errors.ConnectionLostError,
    }[way]
    started = trio.current_time()
    for action in actions:
        with pytest.raises(expected):
            await action()
    assert trio.current_time() - started <= LATE


async def test_goto_cancelled_at_each_moment(
    page: cdpengine.Page, browser: cdpengine.Browser, autojump_clock: MockClock
) -> None:
    async def check() -> None:
        await quiet()
        assert all(connection.statistics().in_flight == 0 for connection in browser.connections)
        assert not page.session.domains.users.get("Network")
        assert not any(
            page.session.feed._listeners.get(f"Network.{name}")
            for name in ("responseReceived", "loadingFailed")
        )
        assert (await page.goto("https://b.example/")).url == "https://b.example/"

    assert await walk_cancellations(lambda: page.goto("https://a.example/"), check) > 5


async def test_many_navigations_leave_no_trace(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    def sizes() -> tuple[int, ...]:
        main = page.internals.target.frames.main
        return (
            len(page.session.feed._listeners),
            sum(map(len, page.session.feed._listeners.values())),
            len(page.session.feed._end_listeners),
            len(page.session.domains.users),
            len(page.session.domains._enabling),
            len(page.frames),
            len(main.lifecycle),
            len(page.internals.refs),
            trio.lowlevel.current_statistics().tasks_living,
            *(connection.statistics().in_flight for connection in browser.connections),
        )

    for _ in range(10):
        await page.goto("https://a.example/")
    await page.snapshot()  # Chrome maintains accessibility trees after the first snapshot
    await quiet()
    before = sizes()
    for n in range(rounds(200, 1000)):
        await page.goto(f"https://a.example/{n}")
        if n % 100 == 0:
            await page.snapshot()
            await page.title()
    await quiet()
    assert sizes() == before


# --- contents of errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("comes", [False, True])
async def test_a_navigation_that_chrome_abandons_after_its_answer_ends_immediately(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock, comes: bool
) -> None:
    url = "https://a.example/given-up"

    def navigate(_request: Request) -> Answer:
        sent = {
            "requestId": "T1.2",
            "loaderId": "T1.2",
            "frameId": "T1",
            "request": {"url": url},
            "type": "Document",
        }
        scripted.page_event("Network.requestWillBeSent", sent)
        failed = {"requestId": "T1.2", "type": "Document", "errorText": "net::ERR_ABORTED", "canceled": True}
        scripted.page_event("Network.loadingFailed", failed)
        return {"frameId": "T1", "loaderId": "T1.2"}

    scripted.on("Page.navigate", navigate)
    began = trio.current_time()
    async with trio.open_nursery() as nursery:

        @nursery.start_soon
        async def _come() -> None:
            await trio.sleep(0.5)
            if comes:
                assert scripted.commit("T1", url) == "T1.2"

        if comes:
            assert (await page.goto(url)).url == url
        else:
            with pytest.raises(cdpengine.errors.NavigationFailedError, match="gave it up"):
                await page.goto(url)
    assert trio.current_time() - began < 1.5


async def test_errors_contain_no_passwords_and_no_documents(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    secret = "https://user:canary@a.example/path"
    scripted.on("Page.navigate", SILENCE)
    for url in (secret, "data:text/html," + "x" * 10_000 + "canary"):
        with pytest.raises(cdpengine.errors.DeadlineExceededError) as late:
            await page.goto(url, timeout=0.1)
        assert "canary" not in str(late.value)
        assert len(str(late.value)) < 1000
    scripted.on("Page.navigate", {"errorText": "net::ERR_FAILED"})
    with pytest.raises(
        cdpengine.errors.NavigationFailedError, match=r"https://\*\*\*@a.example/path"
    ) as failed:
        await page.goto(secret)
    assert "canary" not in str(failed.value)
    assert failed.value.url == secret
    thrown = {"text": "Uncaught", "exception": {"type": "object", "description": "Error: " + "x" * 100_000}}
    scripted.on("Runtime.evaluate", {"result": {"type": "object"}, "exceptionDetails": thrown})
    with pytest.raises(cdpengine.errors.EvaluationFailedError) as threw:
        await page.evaluate("1")
    assert len(str(threw.value)) < 2000
    assert len(threw.value.text) > 100_000


@pytest.mark.parametrize("url", [None, 5, b"https://a.example/", "a.example"])
async def test_an_invalid_url_is_refused_before_a_page_is_created(
    browser: cdpengine.Browser,
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    url: object,
    autojump_clock: MockClock,
) -> None:
    sent = len(scripted.received)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="url"):
        await page.goto(url)  # type: ignore[arg-type]
    if url is not None:
        with pytest.raises(cdpengine.errors.InvalidArgumentError, match="url"):
            await browser.new_page(url)  # type: ignore[arg-type]
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="url"):
        await browser.wait_for_page(url=5, timeout=1)  # type: ignore[arg-type]
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="key"):
        await page.press(5)  # type: ignore[arg-type]
    assert len(scripted.received) == sent


async def test_a_plain_expression_is_sent_without_a_user_gesture(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """It only reads, but a getter of the page may hang: Chrome's own timeout stays."""
    page = await browser.new_page()
    sent: dict[str, Mapping[str, object]] = {}
    for source in ("document.title", "run()"):
        assert await page.evaluate(source) == 1
        sent[source] = scripted.received[-1].params
    assert "userGesture" not in sent["document.title"]
    assert sent["document.title"]["timeout"] == pytest.approx(30_500)
    assert sent["document.title"]["awaitPromise"] is True
    assert sent["run()"]["userGesture"] is True
    assert sent["run()"]["timeout"] == pytest.approx(30_500)
