"""Pending requests of a page, counted from the moment that Chrome reports them, without leftovers of an
earlier watch.
"""

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
async def test_late_reports_of_an_earlier_watch_do_not_count(
    scripted: ScriptedBrowser, page: cdpengine.Page, name: str
) -> None:
    """One watch ends and the next begins immediately. Nothing reports the requests that ended in between."""
    target = page.internals.target

    def enable(_request: Request) -> dict[str, Any]:
        scripted.page_event(*request_event(name, "old"))
        return {}

    scripted.on("Network.enable", enable)
    async with watch_requests(target) as requests:
        await page.session.call(
            "Network.setCacheDisabled", {"cacheDisabled": False}
        )  # answered after all of that
        assert requests.under_way(target.frames) == []
        scripted.page_event(*request_event(name, "new"))
        await target.wait_for(lambda: bool(requests.under_way(target.frames)))
        async with watch_requests(
            target
        ) as others:  # the domain is enabled: no command is sent, and everything counts immediately
            scripted.page_event(*request_event("responseReceived", "newer"))
            await target.wait_for(lambda: bool(others.under_way(target.frames)))
        scripted.page_event("Network.loadingFinished", {"requestId": "new"})
        scripted.page_event("Network.loadingFinished", {"requestId": "newer"})
        await target.wait_for(lambda: not requests.under_way(target.frames))
