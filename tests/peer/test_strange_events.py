"""Events that are odd, unknown or late: they do no harm."""

from __future__ import annotations

import json
import logging

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import Request
from cdpengine.testing.peer import Answer

STRANGE: list[object] = [
    {},
    {"type": 5},
    {"frameId": None, "frame": [], "requestId": {}},
    {"frame": {"id": 1}},
]


@pytest.mark.parametrize(
    "method",
    [
        "Page.javascriptDialogOpening",
        "Page.javascriptDialogClosed",
        "Page.frameAttached",
        "Page.frameNavigated",
        "Page.navigatedWithinDocument",
        "Page.frameDetached",
        "Page.lifecycleEvent",
        "Network.requestWillBeSent",
        "Network.responseReceived",
        "Network.loadingFailed",
        "Inspector.targetReloadedAfterCrash",
        "Target.attachedToTarget",
        "Target.detachedFromTarget",
        "Target.targetCreated",
        "Target.targetInfoChanged",
        "Target.targetDestroyed",
        "Target.targetCrashed",
    ],
)
async def test_strange_events_are_passed_over(
    browser: cdpengine.Browser,
    scripted: ScriptedBrowser,
    caplog: pytest.LogCaptureFixture,
    method: str,
    autojump_clock: MockClock,
) -> None:
    caplog.set_level(logging.CRITICAL)
    page = await browser.new_page()

    def navigate(request: Request) -> Answer:
        for strange in STRANGE:
            scripted.page_event(method, strange)  # type: ignore[arg-type]
            scripted.tell(method, strange)  # type: ignore[arg-type]
            scripted.tell(method, strange, "L-T1", evaluation_session=True)  # type: ignore[arg-type]
        scripted.links[0].send(json.dumps({"method": method, "sessionId": "S-T1", "params": "text"}))
        scripted.links[0].send(json.dumps({"method": method, "sessionId": "S-T1"}))
        return scripted.navigate(request)

    scripted.on("Page.navigate", navigate)
    assert (await page.goto("https://a.example/", timeout=5)).url == "https://a.example/"
    assert await page.evaluate("1", timeout=5) == 1
    assert (await browser.new_page(timeout=5)).target_id == "T2"


async def test_an_unknown_dialog_is_dismissed(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.page_event("Page.javascriptDialogOpening", {"type": ["new"]})
    request = await scripted.wait_for("Page.handleJavaScriptDialog")
    assert request.params == {"accept": False}
    assert [dialog.type for dialog in page.dialogs.records] == ["unknown"]


async def test_a_dialog_ends_with_a_crash(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page = await browser.new_page()
    scripted.page_event("Page.javascriptDialogOpening", {"type": "alert"})
    scripted.page_event("Inspector.targetCrashed", {})
    scripted.page_event("Inspector.targetReloadedAfterCrash", {})
    await quiet()
    with trio.move_on_after(1) as waited:
        await page.internals.target.running.dialog_opened()
    assert waited.cancelled_caught


async def test_a_dialog_at_the_very_end_does_no_harm(
    scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async with scripted.engine() as browser:
        await browser.new_page()
        for _ in range(3):
            scripted.page_event("Page.javascriptDialogOpening", {"type": "alert"})
