"""Unwanted objects in the browser are removed again, even if the browser does not answer."""

from __future__ import annotations

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import SILENCE, walk_cancellations


async def test_an_abandoned_page_is_closed(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    held = scripted.hold("Target.createTarget")
    started = trio.current_time()
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="open a page"):
        await browser.new_page(timeout=1)
    assert trio.current_time() - started <= 1.1
    await trio.sleep(5)
    scripted.open("T7")
    held.requests[0].reply({"targetId": "T7"})
    assert (await scripted.wait_for("Target.closeTarget")).params == {"targetId": "T7"}
    await quiet()
    assert browser.pages == []


async def test_leaving_waits_a_moment_for_pending_removals(
    scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async with scripted.engine() as browser:
        held = scripted.hold("Target.createBrowserContext")
        with trio.move_on_after(1):
            async with browser.new_context():
                raise AssertionError("no such page")

        async def late() -> None:
            await trio.sleep(1)
            scripted.contexts["C9"] = []
            held.release({"browserContextId": "C9"})

        scripted._running().start_soon(late)
    assert [r.params for r in scripted.received if r.method == "Target.disposeBrowserContext"] == [
        {"browserContextId": "C9"}
    ]


async def test_leaving_does_not_wait_forever(scripted: ScriptedBrowser, autojump_clock: MockClock) -> None:
    async with scripted.engine() as browser:
        scripted.on("Target.createTarget", SILENCE)
        with trio.move_on_after(1):
            await browser.new_page()
        left = trio.current_time()
    assert trio.current_time() - left < 5


async def test_close_asks_again_when_chrome_forgot(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.on("Target.closeTarget", {"success": True}, nth=1)
    await page.close()
    assert page.closed
    assert scripted.count("Target.closeTarget") == 2
    await page.close()


async def test_new_page_and_new_context_cancelled_at_each_moment(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    made: list[cdpengine.Page] = []

    async def operation() -> None:
        async with browser.new_context() as context:
            made.append(await context.new_page("https://a.example/"))
            await made[-1].close()

    async def check() -> None:
        await trio.sleep(0.1)
        assert browser.pages == []
        assert not scripted.alive
        assert not scripted.contexts
        for connection in browser.connections:
            assert connection.statistics().in_flight == 0
            assert connection.statistics().sessions == 0

    assert await walk_cancellations(operation, check) > 10
