"""Evaluation sessions that are cut, detached or left behind, in a real Chromium."""

from __future__ import annotations

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.session import Session

pytestmark = pytest.mark.transport("websocket")  # over a pipe they share the connection

HANG = "while (true) {}"

BUTTON = "<button onclick='n = (self.n || 0) + 1'>Go</button>"


def cut(browser: cdpengine.Browser) -> None:
    """Close the socket of the evaluation sessions, like a network failure."""
    websocket = browser.internals.tabs.evaluation_sessions.connection.wire._transport._websocket  # type: ignore[attr-defined]
    websocket._stream._stream.socket.shutdown(trio.socket.SHUT_RDWR)


def target(page: cdpengine.Page) -> PageTarget:
    return page.internals.target


async def rebuilt(page: cdpengine.Page, count: int) -> Session:
    """Wait until the page's evaluation session has been rebuilt this many times, and return it."""
    model = target(page)
    with trio.fail_after(20):
        await model.wait_for(lambda: model.evaluation_session_rebuilds.total() == count)
        return await model.evaluation_session_of(page.target_id)


async def test_cut_affects_no_evaluation(page: cdpengine.Page) -> None:
    await page.set_content(BUTTON)
    button = (await page.snapshot()).find(role="button")
    session = page.session
    async with session.subscribe("Page.*") as events, trio.open_nursery() as nursery:

        async def evaluate() -> None:
            assert await page.evaluate("new Promise((resolve) => { done = resolve })", timeout=20) == 3

        nursery.start_soon(evaluate)
        while await page.evaluate("typeof done", timeout=20) != "function":
            pass
        cut(page.browser)
        assert await page.evaluate("1 + 1", timeout=20) == 2
        await page.click(button, timeout=20)
        assert await page.evaluate("n", timeout=20) == 1
        await page.evaluate("location.hash = 'x'", timeout=20)
        assert "Page." in (await events.receive()).method
        await rebuilt(page, 1)
        await page.evaluate("done(3)")
    assert page.session is session
    assert not session.ended
    assert target(page).evaluation_session_rebuilds == {"connection lost": 1}
    assert page.browser.statistics().evaluation_connections == 2
    assert page.browser.statistics().evaluation.evaluation_session_rebuilds["connection lost"] >= 1


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("when", ["before", "meanwhile"])
async def test_script_is_stopped_in_any_state_of_the_evaluation_session(
    page: cdpengine.Page, when: str
) -> None:
    for count in (1, 2):
        if when == "before":
            cut(page.browser)
        async with trio.open_nursery() as nursery:

            async def evaluate() -> None:
                with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
                    await page.evaluate(HANG, timeout=1)

            nursery.start_soon(evaluate)
            if when == "meanwhile":
                await trio.sleep(0.2)  # the script must be running by then
                cut(page.browser)
        assert await page.evaluate("1", timeout=20) == 1
        await rebuilt(page, count)


async def test_five_cuts_in_a_row(page: cdpengine.Page) -> None:
    await page.set_content(BUTTON)
    button = (await page.snapshot()).find(role="button")
    for number in range(1, 6):
        cut(page.browser)
        await page.click(button, timeout=20)
        assert await page.evaluate("n", timeout=20) == number
        await rebuilt(page, number)
    assert target(page).evaluation_session_rebuilds.total() == 5


async def test_cut_while_page_script_hangs(page: cdpengine.Page) -> None:
    """An evaluation session attached to a hung page receives nothing until the page is free. The page's own
    session does.
    """
    await page.evaluate("setTimeout(() => { for (;;); }, 0), 1")
    await trio.sleep(0.1)
    cut(page.browser)
    await page.session.call("Browser.getVersion")
    # On a busy machine the confirmation can come after the error. The next evaluation shows that it came.
    with pytest.raises(
        cdpengine.errors.EvaluationTimeoutError, match="the script was (terminated|asked to stop)"
    ):
        await page.evaluate("1", timeout=0.5)
    assert await page.evaluate("1 + 1", timeout=20) == 2
    await rebuilt(page, 1)


async def test_detached_evaluation_session_is_attached_again(page: cdpengine.Page) -> None:
    for number in range(1, 4):
        evaluation_session = target(page).evaluation_session
        assert evaluation_session is not None
        await evaluation_session.connection.root.call(
            "Target.detachFromTarget", sessionId=evaluation_session.id
        )
        assert await page.evaluate("1 + 1", timeout=20) == 2
        assert await rebuilt(page, number) is not evaluation_session
        assert target(page).evaluation_session_rebuilds == {"detached": number}


async def test_cross_process_frame_has_evaluation_session_before_its_script_runs(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    inner_url = f"http://localhost:{httpserver.port}/inner"
    httpserver.expect_request("/").respond_with_data(
        f"<iframe src='{inner_url}'></iframe>", content_type="text/html"
    )
    httpserver.expect_request("/inner").respond_with_data(
        "<script>for (;;);</script>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"), wait_until="commit")
    model = target(page)
    with trio.fail_after(20):
        await model.wait_for(lambda: len(model.frame_sessions) == 2)
        frame = next(session for session in model.frame_sessions.values() if session is not page.session)
        assert frame.target_id is not None
        evaluation_session = await model.evaluation_session_of(frame.target_id)
        assert evaluation_session.target_id == frame.target_id
        assert set(model.evaluation_sessions) == {page.target_id, frame.target_id}
        await trio.sleep(0.3)  # its script hangs by now
        await evaluation_session.call("Runtime.terminateExecution")
        reply = await evaluation_session.call("Runtime.evaluate", expression="location.hostname")
        assert reply["result"]["value"] == "localhost"
        cut(page.browser)
        await model.wait_for(
            lambda: model.evaluation_sessions.get(frame.target_id or "") not in (None, evaluation_session)
        )
        again = await model.evaluation_session_of(frame.target_id)
        await again.call("Runtime.evaluate", expression="1")
        await page.evaluate("document.querySelector('iframe').remove()")
        await model.wait_for(lambda: set(model.evaluation_sessions) == {page.target_id})
        with pytest.raises(cdpengine.errors.SessionGoneError, match="no longer in the page"):
            await model.evaluation_session_of(frame.target_id)
        await page.evaluate("1")
    assert browser_sessions(page) == {page.target_id}


def browser_sessions(page: cdpengine.Page) -> set[str | None]:
    """Return the page's targets to which the evaluation connection has sessions."""
    others = {other.target_id for other in page.browser.pages if other is not page}
    sessions = page.browser.internals.tabs.evaluation_sessions.connection.targets.sessions.values()
    return {session.target_id for session in sessions} - others


async def test_immediately_hung_popup_is_stopped_on_its_evaluation_session(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/").respond_with_data(BUTTON, content_type="text/html")
    httpserver.expect_request("/popup").respond_with_data(
        "<script>for (;;);</script>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    await page.evaluate("window.open('/popup', '', 'noopener'), 1")
    with trio.fail_after(10):
        popup = await opened(browser, "popup")
        evaluation_session = await target(popup).evaluation_session_of(popup.target_id)
        await trio.sleep(0.2)
        await evaluation_session.call("Runtime.terminateExecution")
        assert (await evaluation_session.call("Runtime.evaluate", expression="6 * 7"))["result"][
            "value"
        ] == 42
        await popup.close()


async def opened(browser: cdpengine.Browser, word: str) -> cdpengine.Page:
    """Wait for a page by its URL, without waiting for a response, because it may hang."""

    def found() -> cdpengine.Page | None:
        return next((page for page in browser.pages if word in page.url), None)

    return await browser.internals.tabs.changes.wait_for(found)


async def test_a_crash_then_a_reload_then_a_hang(page: cdpengine.Page) -> None:
    for _ in range(3):
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await page.session.call("Page.crash")
        with pytest.raises(cdpengine.errors.TargetCrashedError):
            await page.evaluate("1", timeout=20)
        await page.reload(timeout=20)
        with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
            await page.evaluate(HANG, timeout=0.1)
        assert await page.evaluate("1", timeout=20) == 1


async def test_a_cut_between_crash_and_reload(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await page.session.call("Page.crash")
    cut(page.browser)
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await page.evaluate("1", timeout=20)
    await page.reload(timeout=20)
    assert await page.evaluate("1 + 1", timeout=20) == 2
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        await page.evaluate(HANG, timeout=0.2)
    assert await page.evaluate("1 + 1", timeout=20) == 2
