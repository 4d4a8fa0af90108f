"""A polite pool limits hosts, pauses them and obeys robots.txt, as their server's log shows."""

from __future__ import annotations

import time
from collections import defaultdict
from itertools import pairwise
from threading import Lock

import attrs
import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.pool import BrowserPool
from cdpengine.pool.manners import Manners

HERE = "127.0.0.1"
"""The server's host. For limits, "localhost" is another host."""

pytestmark = [pytest.mark.chrome, pytest.mark.timeout(60)]


@attrs.define
class Visits:
    """The server's log: the start of each visit of a host, and its number of parallel visits."""

    begun: defaultdict[str, list[float]] = attrs.field(factory=lambda: defaultdict(list))
    most: defaultdict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    _now: defaultdict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    _lock: Lock = attrs.field(factory=Lock)
    refuse: int = 0

    def visit(self, request: Request) -> Response:
        host = request.host.partition(":")[0]
        with self._lock:
            self.begun[host].append(time.monotonic())
            self._now[host] += 1
            self.most[host] = max(self.most[host], self._now[host])
            refused = self.refuse > 0
            self.refuse -= refused
        time.sleep(0.05)
        with self._lock:
            self._now[host] -= 1
        if refused:
            return Response("later", status=429, headers={"Retry-After": "1"})
        return Response(f"<title>{request.path}</title>", content_type="text/html")


@pytest.fixture
def visits(httpserver: HTTPServer) -> Visits:
    visits = Visits()
    httpserver.expect_request("/robots.txt").respond_with_data("User-agent: *\nDisallow: /private\n")
    httpserver.expect_request("/private").respond_with_handler(visits.visit)
    httpserver.expect_request("/page").respond_with_handler(visits.visit)
    return visits


async def title(page: cdpengine.Page, url: str) -> str:
    await page.goto(url)
    return await page.title()


async def test_hosts_are_limited_and_robots_obeyed(httpserver: HTTPServer, visits: Visits) -> None:
    manners = Manners(at_once=1, delay=0.3, foreign_only=False)
    slow = httpserver.url_for("/page")
    quick = slow.replace(HERE, "localhost")
    assert slow != quick
    private = httpserver.url_for("/private")
    async with BrowserPool(pages=4, manners=manners) as pool:
        results = [result async for result in pool.map(title, [slow, slow, slow, private, quick], retries=1)]
        async with pool.page(slow) as page:
            assert await page.title() == "/page"
    assert [result.index for result in results if not result.ok] == [3]
    [refused] = [result for result in results if not result.ok]
    assert isinstance(refused.error, cdpengine.errors.DisallowedByRobotsError)
    assert len(refused.attempts) == 1
    ours = visits.begun[HERE]
    assert len(ours) == 4
    assert visits.most == {HERE: 1, "localhost": 1}
    assert all(later - sooner > 0.2 for sooner, later in pairwise(ours))
    assert visits.begun["localhost"][0] < ours[2]  # it did not wait for the other host


async def test_host_that_requests_a_pause_is_paused(httpserver: HTTPServer, visits: Visits) -> None:
    visits.refuse = 1
    url = httpserver.url_for("/page")
    async with BrowserPool(pages=1, manners=Manners(delay=0, foreign_only=False)) as pool:
        first = await pool.run(title, url)
        assert first.ok  # a response of any status, which the function may inspect
        await pool.run(title, url)
    begun = visits.begun[HERE]
    assert begun[1] - begun[0] > 0.9


async def test_lease_that_waits_for_its_host_can_be_cancelled(httpserver: HTTPServer, visits: Visits) -> None:
    url = httpserver.url_for("/page")
    async with BrowserPool(pages=2, manners=Manners(at_once=1, delay=0, foreign_only=False)) as pool:
        async with pool.page(url):
            with pytest.raises(cdpengine.errors.DeadlineExceededError, match="lease a page"):
                async with pool.page(url, timeout=0.2):
                    pytest.fail("got a second page of a busy host")
            async with pool.page() as page:  # no host, no limits
                assert page.url == "about:blank"
        async with pool.page(url) as page:  # its visit was returned
            assert await page.title() == "/page"
    assert visits.most == {HERE: 1}


async def test_manners_are_off_at_home(httpserver: HTTPServer, visits: Visits) -> None:
    manners = Manners(at_once=1, delay=60)
    async with BrowserPool(pages=3, manners=manners) as pool:
        results = [result async for result in pool.map(title, [httpserver.url_for("/private")] * 3)]
    assert [result.unwrap() for result in results] == ["/private"] * 3
