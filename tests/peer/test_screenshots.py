"""A screenshot that Chrome cannot make while it replaces the document is made again, five times at most."""

from __future__ import annotations

import pytest
from page_calls import ANSWERS
from scripted_browser import ScriptedBrowser
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import Refusal, Request
from cdpengine.testing.peer import Answer

NOT_DRAWN = Refusal(-32000, "Unable to capture screenshot")


@pytest.mark.parametrize("refusals", [0, 1, 5, 6])
async def test_a_capture_without_a_picture_is_repeated(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock, refusals: int
) -> None:
    sent = 0

    def capture(_request: Request) -> Answer:
        nonlocal sent
        sent += 1
        return NOT_DRAWN if sent <= refusals else {"data": "iVBORw0KGgo="}

    scripted.on("Page.getLayoutMetrics", ANSWERS["Page.getLayoutMetrics"])
    scripted.on("Page.captureScreenshot", capture)
    page = await browser.new_page()
    if refusals < 6:
        assert await page.screenshot() == b"\x89PNG\r\n\x1a\n"
        assert sent == refusals + 1
    else:
        with pytest.raises(cdpengine.errors.MeasurementFailedError, match="no picture of 800 x 600 pixels"):
            await page.screenshot()
        assert sent == 6


async def test_other_errors_are_not_repeated(browser: cdpengine.Browser, scripted: ScriptedBrowser) -> None:
    scripted.on("Page.getLayoutMetrics", ANSWERS["Page.getLayoutMetrics"])
    scripted.on("Page.captureScreenshot", Refusal(-32000, "Something else"))
    page = await browser.new_page()
    with pytest.raises(cdpengine.errors.RemoteError, match="Something else"):
        await page.screenshot()
    assert len([each for each in scripted.received if each.method == "Page.captureScreenshot"]) == 1
