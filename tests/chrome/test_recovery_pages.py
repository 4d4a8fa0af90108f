"""Hung pages, and the ways to recover them."""

from __future__ import annotations

import contextlib
from contextlib import suppress

import pytest
import trio
import trio.testing
from busy_machine import slack
from pytest_httpserver import HTTPServer

import cdpengine

PAGE = "<button onclick='this.textContent = \"clicked\"'>Go</button>"
pytestmark = [pytest.mark.chrome, pytest.mark.transport("pipe", "websocket")]

LATE = 2.0
"""Seconds of slack on a busy machine. The tests only distinguish this from forever."""


@pytest.fixture
async def site(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    """A page of a site, so that a reload has something to load."""
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    await used_page.goto(httpserver.url_for("/"))
    return used_page


async def hang(page: cdpengine.Page, script: str = "for (;;) {}") -> None:
    """Make the page hang by itself, and wait until it does."""
    await page.evaluate(f"setTimeout(() => {{ {script} }}, 0); 0")
    with trio.fail_after(10):
        while not await page.measure.unresponsive_for():
            pass


async def works(page: cdpengine.Page) -> None:
    snapshot = await page.snapshot(timeout=10)
    await page.click(snapshot.find(role="button"), timeout=10)
    assert (await page.snapshot(timeout=10)).find(role="button").name == "clicked"
    assert await page.evaluate("1 + 1", timeout=10) == 2


def synchronous_request(port: int) -> str:
    return f"const r = new XMLHttpRequest(); r.open('GET', 'http://127.0.0.1:{port}/', false); r.send()"


async def test_responsive_page_is_left_alone(site: cdpengine.Page) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_for_ever, site)
        await trio.testing.wait_all_tasks_blocked()
        with trio.fail_after(20):  # a response can take a moment on a busy machine
            while await site.measure.unresponsive_for():
                pass
        report = await site.recover(allow="close")
        assert (report.responsive, report.steps, report.sent) == (True, (), False)
        nursery.cancel_scope.cancel()
    assert not site.closed


async def wait_for_ever(page: cdpengine.Page) -> None:
    await page.evaluate("new Promise(() => {})", timeout=60)


async def test_a_timer_that_hangs_is_terminated(site: cdpengine.Page) -> None:
    await hang(site)
    report = await site.recover()
    assert [step.name for step in report.steps] == ["terminate"]
    assert report.terminated
    await works(site)
    with trio.fail_after(20):
        while await site.measure.unresponsive_for():
            pass


@pytest.mark.sample(6, start=1)
@pytest.mark.parametrize("action", ["snapshot", "screenshot", "title", "content", "click", "set_content"])
async def test_action_on_stuck_page_reports_it(site: cdpengine.Page, action: str) -> None:
    button = (await site.snapshot()).find(role="button")
    await hang(site)
    calls = {
        "snapshot": lambda: site.snapshot(timeout=0.6),
        "screenshot": lambda: site.screenshot(timeout=0.6),
        "title": lambda: site.title(timeout=0.6),
        "content": lambda: site.content(timeout=0.6),
        "click": lambda: site.click(button, timeout=0.6),
        "set_content": lambda: site.set_content("<p>", timeout=0.6),
    }
    with (
        trio.fail_after(0.6 + slack(LATE)),
        pytest.raises(cdpengine.errors.PageUnresponsiveError, match="recover") as caught,
    ):
        await calls[action]()  # type: ignore[no-untyped-call]
    assert caught.value.unresponsive_for >= 0.5
    assert caught.value.timeout == 0.6
    assert (await site.recover()).terminated
    await works(site)


async def test_responsive_page_is_not_reported_as_unresponsive(
    site: cdpengine.Page, silent_port: int
) -> None:
    with pytest.raises(cdpengine.errors.DeadlineExceededError) as caught:
        await site.goto(f"http://127.0.0.1:{silent_port}/", timeout=0.3)
    assert type(caught.value) is cdpengine.errors.DeadlineExceededError


async def test_a_synchronous_request_needs_a_reload(site: cdpengine.Page, silent_port: int) -> None:
    await hang(site, synchronous_request(silent_port))
    report = await site.recover()
    assert not report.responsive
    assert [step.name for step in report.steps] == ["terminate"]
    report = await site.recover(allow="reload")
    assert [step.name for step in report.steps] == ["terminate", "reload"]
    assert (report.steps[-1].done, report.responsive, report.under_way) == (True, True, False)
    await works(site)


async def test_next_action_waits_for_running_reload(site: cdpengine.Page, silent_port: int) -> None:
    await hang(site, synchronous_request(silent_port))
    with contextlib.suppress(cdpengine.errors.DeadlineExceededError):
        await site.recover(allow="reload", timeout=0.11)
    await works(site)


async def test_a_navigation_that_replaces_another_one_does_not_wait_for_it(
    site: cdpengine.Page, httpserver: HTTPServer, silent_port: int
) -> None:
    await site.evaluate("window.n = 0; setInterval(() => { n++ }, 1); 0")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(navigate, site, f"http://127.0.0.1:{silent_port}/")
        with trio.fail_after(10):
            while not site.internals.target.navigation.under_way:
                await trio.testing.wait_all_tasks_blocked(0.01)
        sent: list[str] = []
        with site.browser.instruments.attached(
            lambda t: sent.append(str(t.message)) if t.direction == "sent" else None
        ):
            await site.goto(httpserver.url_for("/"), timeout=10)
        nursery.cancel_scope.cancel()
    assert not any("terminateExecution" in message for message in sent), "nothing hung"
    await works(site)


async def test_navigating_page_does_not_count_as_hung(
    shared_endpoint: str, httpserver: HTTPServer, silent_port: int
) -> None:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    async with cdpengine.connect(shared_endpoint, recover_after=0.5) as browser:
        page = await browser.new_page(httpserver.url_for("/"))
        sent: list[str] = []
        with (
            browser.instruments.attached(
                lambda t: sent.append(str(t.message)) if t.direction == "sent" else None
            ),
            pytest.raises(cdpengine.errors.DeadlineExceededError),
        ):
            await page.goto(f"http://127.0.0.1:{silent_port}/", timeout=3)
        assert not any("terminateExecution" in message for message in sent)
        await works(page)
        await page.close()


async def test_action_during_navigation_reports_the_wait(site: cdpengine.Page, silent_port: int) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(navigate, site, f"http://127.0.0.1:{silent_port}/")
        with trio.fail_after(10):
            while not site.internals.target.navigation.under_way:
                await trio.testing.wait_all_tasks_blocked(0.01)
        with pytest.raises(cdpengine.errors.PageUnresponsiveError, match="waits for another document"):
            await site.title(timeout=0.6)
        report = await site.recover(allow="reload")
        assert report.responsive, report
        assert "navigation" in report.steps[-1].detail
        nursery.cancel_scope.cancel()
    await works(site)


async def navigate(page: cdpengine.Page, url: str) -> None:
    with contextlib.suppress(cdpengine.errors.EngineError):
        await page.goto(url, timeout=60)


async def test_hung_page_is_closed_if_allowed(
    browser: cdpengine.Browser, httpserver: HTTPServer, silent_port: int
) -> None:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    page = await browser.new_page(httpserver.url_for("/"))
    await hang(page, synchronous_request(silent_port))
    report = await page.recover(allow="close")
    assert report.closed
    assert page.closed
    assert not report.responsive


@pytest.mark.slow
async def test_pages_that_crashed_together_are_named(
    browser: cdpengine.Browser, site: cdpengine.Page, silent_port: int
) -> None:
    async with trio.open_nursery() as nursery:
        nursery.start_soon(open_popup, site)
        popup = await browser.wait_for_page(opener=site, timeout=10)
    await hang(popup, synchronous_request(silent_port))
    with trio.fail_after(10):
        report = await popup.recover(allow="reload")
    assert report.did("reload"), report
    assert report.responsive
    assert site.session.describe() in report.steps[-1].detail
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await site.title(timeout=20)
    await site.reload(timeout=10)
    await works(site)
    await works(popup)
    await popup.close()


async def open_popup(page: cdpengine.Page) -> None:
    await page.evaluate("open(location.href); 0")


async def test_a_frame_of_another_process_is_recovered_too(
    page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    other = httpserver.url_for("/frame").replace("127.0.0.1", "localhost")
    assert "localhost" in other
    httpserver.expect_request("/frame").respond_with_data(
        "<p>frame</p><script>setTimeout(() => { for (;;) {} }, 200)</script>", content_type="text/html"
    )
    top = httpserver.url_for("/").replace("localhost", "127.0.0.1")
    httpserver.expect_request("/").respond_with_data(
        f"{PAGE}<iframe src='{other}'></iframe>", content_type="text/html"
    )
    await page.goto(top)
    with trio.fail_after(20):
        while not (report := await page.recover()).steps:
            assert report.responsive
    assert report.terminated
    assert report.responsive
    assert (await page.recover()).steps == ()
    await works(page)


async def test_watchdog_recovers_hung_page(shared_endpoint: str, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(PAGE, content_type="text/html")
    async with cdpengine.connect(shared_endpoint, recover_after=1) as browser:
        page = await browser.new_page(httpserver.url_for("/"))
        await page.evaluate("setTimeout(() => { for (;;) {} }, 0); 0")
        with trio.fail_after(20):
            await works(page)
        await page.close()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), "5", True])
async def test_watchdog_requires_seconds(shared_endpoint: str, seconds: object) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="recover_after"):
        async with cdpengine.connect(shared_endpoint, recover_after=seconds):  # type: ignore[arg-type]
            pass


async def test_find_searches_the_other_frames_when_one_has_crashed(
    new_tab: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/frame").respond_with_data("<button>Inner</button>", content_type="text/html")
    inner = httpserver.url_for("/frame").replace("127.0.0.1", "localhost")
    httpserver.expect_request("/").respond_with_data(
        f"<button>Outer</button><iframe src='{inner}'></iframe>", content_type="text/html"
    )
    await new_tab.goto(httpserver.url_for("/").replace("localhost", "127.0.0.1"))
    assert await new_tab.find(role="button", name="Inner")
    _, frame = new_tab.frames
    with trio.move_on_after(5), suppress(cdpengine.errors.EngineError):
        await frame.session.call("Page.crash")
    assert frame.session.crashed
    assert len(await new_tab.find_all(role="button")) == 1
    assert await new_tab.find("button")
    with pytest.raises(cdpengine.errors.TargetCrashedError):
        await new_tab.find("button", frame=frame)
