"""Navigations that Chrome reports after it has confirmed the input that caused them."""

from __future__ import annotations

import trio
from object_calls import StagedBrowser
from page_calls import CALLS

import cdpengine
from cdpengine.testing import SILENCE, Request
from cdpengine.testing.peer import Answer

URL = "https://a.example/in"
VERSION = {"product": "Chrome/156.0.0.0", "protocolVersion": "1.3"}


class LateBrowser(StagedBrowser):
    """A browser in which each click navigates, and which reports that late."""

    def request_navigation(self, target_id: str) -> None:
        request = {"frameId": target_id, "url": URL, "reason": "anchorClick", "disposition": "currentTab"}
        self.page_event("Page.frameRequestedNavigation", request, target_id)
        begun = {"frameId": target_id, "url": URL, "loaderId": "x", "navigationType": "differentDocument"}
        self.page_event("Page.frameStartedNavigating", begun, target_id)
        self.commit(target_id, URL)


async def click(page: cdpengine.Page) -> cdpengine.ActionOutcome:
    return await page.click(*CALLS["click"].arguments, timeout=10)


async def test_an_action_waits_until_a_scheduled_navigation_is_requested() -> None:
    async with LateBrowser() as scripted, scripted.engine() as browser:
        page = await browser.new_page()
        released = False

        def schedule(request: Request) -> Answer:
            nonlocal released
            if request.params["type"] == "mouseReleased":
                released = True
                scheduled = {"frameId": page.target_id, "delay": 0, "reason": "anchorClick", "url": URL}
                scripted.page_event("Page.frameScheduledNavigation", scheduled, page.target_id)
            return {}

        async def navigate(request: Request) -> Answer:
            request.reply(VERSION)
            if released:
                await trio.sleep(0.02)
                scripted.request_navigation(page.target_id)
            return SILENCE

        scripted.on("Input.dispatchMouseEvent", schedule)
        scripted.on("Browser.getVersion", navigate)
        outcome = await click(page)
    assert outcome.navigation is not None
    assert outcome.navigation.url == URL


async def test_a_slow_action_waits_until_the_page_answers() -> None:
    async with LateBrowser() as scripted, scripted.engine() as browser:
        page = await browser.new_page()
        released = False

        async def release_slowly(request: Request) -> Answer:
            nonlocal released
            if request.params["type"] == "mouseReleased":
                await trio.sleep(0.05)
                released = True
            return {}

        def answer(_request: Request) -> Answer:
            nonlocal released
            if released:
                released = False
                scripted.request_navigation(page.target_id)
            return {"result": {"type": "undefined"}}

        scripted.on("Input.dispatchMouseEvent", release_slowly)
        scripted.on("Runtime.evaluate", answer)
        outcome = await click(page)
    assert outcome.navigation is not None
    assert outcome.navigation.url == URL
