"""What a page has under way is known from the moment that Chrome tells of it, and nothing of an earlier time is."""

from __future__ import annotations

from typing import Any

import pytest
from scripted_browser import ScriptedBrowser

import cdpengine
from cdpengine._page.navigation.settling import watch_requests
from cdpengine.testing import Request


def request_event(name: str, request_id: str) -> tuple[str, dict[str, Any]]:
    of = {"requestId": request_id, "loaderId": "T1.1", "frameId": "T1", "type": "Fetch"}
    return f"Network.{name}", of | {"request": {"url": f"https://a.example/{request_id}"}}


@pytest.mark.parametrize("name", ["responseReceived", "requestWillBeSent"])
async def test_what_an_earlier_watch_was_still_told_does_not_count(
    scripted: ScriptedBrowser, page: cdpengine.Page, name: str
) -> None:
    """One watch ends and the next one begins at once: what ended between them nobody tells."""
    target = page._core.target

    def enable(_request: Request) -> dict[str, Any]:
        scripted.page_event(*request_event(name, "old"))
        return {}

    scripted.on("Network.enable", enable)
    async with watch_requests(target) as requests:
        await page.session.call(
            "Network.setCacheDisabled", {"cacheDisabled": False}
        )  # answered after all that
        assert requests.under_way(target.frames) == []
        scripted.page_event(*request_event(name, "new"))
        await target.wait_for(lambda: bool(requests.under_way(target.frames)))
        async with watch_requests(
            target
        ) as others:  # the domain is on: nothing is sent, and all counts at once
            scripted.page_event(*request_event("responseReceived", "newer"))
            await target.wait_for(lambda: bool(others.under_way(target.frames)))
        scripted.page_event("Network.loadingFinished", {"requestId": "new"})
        scripted.page_event("Network.loadingFinished", {"requestId": "newer"})
        await target.wait_for(lambda: not requests.under_way(target.frames))
