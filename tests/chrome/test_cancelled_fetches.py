"""`route.fetch()` for requests that the page cancels ends quietly, without a record or a log message."""

from __future__ import annotations

import pytest
import trio
from network_site import Site
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine import Route


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


CANCELS = {
    "abort": (
        "(self.stop = new AbortController(), fetch('/slow/a', {signal: stop.signal}).catch(() => 0), 0)",
        "stop.abort()",
    ),
    "frame removed": (
        "(self.framed = document.body.appendChild(document.createElement('iframe')), framed.src = '/slow/a', 0)",
        "framed.remove()",
    ),
}


@pytest.mark.parametrize("name", CANCELS)
async def test_a_cancelled_request_that_is_fetched_ends_quietly(
    page: cdpengine.Page, site: Site, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """The page cancels before `fetch`, or while the server has the request: a response with a failure, and no
    record.
    """
    begin, cancel = CANCELS[name]
    await page.goto(site.url)
    for early in (True, False):
        begun, cancelled, done = trio.Event(), trio.Event(), trio.Event()
        seen: list[object] = []

        async def handle(
            route: Route,
            early: bool = early,
            begun: trio.Event = begun,
            cancelled: trio.Event = cancelled,
            done: trio.Event = done,
            seen: list[object] = seen,
        ) -> None:
            begun.set()
            if early:
                await cancelled.wait()
            response = await route.fetch()
            seen.append((response.status, response.failure))
            await route.continue_(headers={"X-Made": "late"})
            done.set()
            await response.json()

        async with page.route("*/slow/*", handle):
            await page.evaluate(begin)
            await begun.wait()
            if not early:
                await site.slow_requested()
            await page.evaluate(cancel)
            cancelled.set()
            with trio.fail_after(10):
                await done.wait()
            assert seen == [(0, "Aborted")]
        site.let_slow_go()
    assert not page.network.routes.failures
    assert not [record for record in caplog.records if record.name == "cdpengine.network"]
