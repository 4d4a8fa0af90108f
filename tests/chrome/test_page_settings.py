"""Headers, conditions and throttling of real pages: in effect for the block, complete, and gone after it."""

from __future__ import annotations

import json

import pytest
import trio
from network_site import ASK, ASK_IN_WORKER, REFUSED, Site
from pytest_httpserver import HTTPServer

import cdpengine


@pytest.fixture
def site(httpserver: HTTPServer) -> Site:
    return Site(httpserver)


FRAME = """(url) => new Promise((resolve) => {
    const frame = document.createElement("iframe");
    frame.onload = resolve;
    frame.src = url;
    document.body.append(frame);
})"""


async def extra(page: cdpengine.Page, frame: cdpengine.Frame | None = None) -> object:
    """Return the header X-Extra of a request of the page."""
    said = await page.evaluate(ASK, "/echo/a", frame=frame)
    return json.loads(said[1])[3]


async def test_headers_of_all_scopes_are_merged(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site
) -> None:
    await page.goto(site.url)
    await page.evaluate(FRAME, f"{site.elsewhere}early")
    async with page.network.extra_headers({"X-Extra": "one", "X-Other": "other"}):
        assert await extra(page) == "one"
        async with page.network.extra_headers({"x-extra": "two"}):
            assert await extra(page) == "two"
            await page.evaluate(FRAME, f"{site.elsewhere}late")
            early, late = page.frames[1:]
            assert [await extra(page, frame) for frame in (early, late)] == ["two", "two"]
            assert json.loads(str(await page.evaluate(ASK_IN_WORKER, "/echo/w")))[3] == "two"
            async with browser.expect_page(opener=page) as opened:
                await page.evaluate("void open('/page')")
            assert await extra(opened.value) == "two"
        assert await extra(page) == "one"
        assert await extra(opened.value) == "one"
    for each in (page, opened.value):
        assert await extra(each) is None
        assert each.session.domains.users.keys() <= {"Page"}
    assert [await extra(page, frame) for frame in page.frames[1:]] == [None, None]
    await opened.value.close()


async def test_conditions_apply_in_frames_and_workers_and_end(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    await page.evaluate(FRAME, f"{site.elsewhere}early")
    await page.evaluate("window.worker = new Worker('/worker.js'); void 0")
    ask_worker = """(path) => new Promise((resolve) => {
        worker.onmessage = (event) => resolve("reached");
        worker.onerror = null;
        worker.postMessage(path);
        setTimeout(() => resolve("cut off"), 300);
    })"""
    usual = await page.evaluate("navigator.connection.rtt")
    async with page.network.conditions(cdpengine.network.NetworkConditions(latency=0.05)):
        async with page.network.offline():
            for frame in page.frames:
                assert await page.evaluate(ASK, "/echo/a", frame=frame) == REFUSED
                assert await page.evaluate("navigator.onLine", frame=frame) is False
            assert await page.evaluate(ask_worker, "/echo/w") == "cut off"
            with pytest.raises(cdpengine.errors.NavigationFailedError, match="INTERNET_DISCONNECTED"):
                await page.goto(f"{site.url}page")
        await page.goto(site.url)
        assert await page.evaluate("navigator.onLine") is True
        took = "(async () => { const start = performance.now(); await fetch('/echo/a'); return performance.now() - start })()"
        assert await page.evaluate(took) >= 49
    assert await page.evaluate("navigator.connection.rtt") == usual
    assert (await page.evaluate(ASK, "/echo/a"))[0] == 200
    assert page.session.domains.users.keys() <= {"Page"}


async def test_named_network_sets_its_conditions(page: cdpengine.Page, site: Site) -> None:
    await page.goto(site.url)
    async with page.network.conditions("Fast 3G"):
        assert await page.evaluate("navigator.connection.rtt") > 400
        assert await page.evaluate("navigator.connection.downlink") < 2
    assert set(cdpengine.NETWORKS) == {"offline", "slow 3g", "fast 3g", "slow 4g", "wifi"}


async def test_awaited_setting_lasts_until_reset(
    browser: cdpengine.Browser, page: cdpengine.Page, site: Site
) -> None:
    async def made(route: cdpengine.Route) -> None:
        await route.fulfill(body="made")

    async def tell(value: object) -> object:
        return value

    await page.goto(site.url)
    tasks = trio.lowlevel.current_statistics().tasks_living
    route = await page.route("*/echo/r*", made)
    await page.route("*/echo/q", made)
    await page.network.extra_headers({"X-Extra": "lasting"})
    await page.network.conditions("wifi")
    await page.scripts.add_init_script("self.early = true")
    await page.scripts.expose("tell", tell)
    await page.reload()
    assert await page.evaluate("[own, typeof tell]") == ["boolean", "function"]
    assert await page.evaluate("tell('me')") == "me"
    assert (await page.evaluate(ASK, "/echo/r"))[1] == "made"
    assert await extra(page) == "lasting"
    assert await page.network.unroute("*/echo/r*") == 1
    assert (route.seen, await page.network.unroute("*/echo/r*")) == (1, 0)
    assert json.loads((await page.evaluate(ASK, "/echo/r"))[1])[3] == "lasting"
    assert (await page.evaluate(ASK, "/echo/q"))[1] == "made"
    assert await page.network.unroute() == 1
    await page.network.reset()
    assert await extra(page) is None
    assert (await page.scripts.unexpose("other"), await page.scripts.unexpose("tell")) == (0, 1)
    assert await page.scripts.remove_init_scripts() == 1
    await page.reload()
    assert await page.evaluate("[own, typeof tell]") == ["undefined", "undefined"]
    assert page.session.domains.users.keys() <= {"Page"}
    with pytest.raises(cdpengine.errors.InvalidArgumentError):
        await page.network.extra_headers({"a b": "c"})
    with trio.move_on_after(0):
        await page.route("*", made)
    assert page.network.routes.active == []
    with trio.fail_after(20):
        while trio.lowlevel.current_statistics().tasks_living > tasks:
            await browser.session.call("Browser.getVersion")


async def test_lasting_setting_ends_with_page_and_context(browser: cdpengine.Browser, site: Site) -> None:
    async def made(route: cdpengine.Route) -> None:
        await route.fulfill(body="made")

    tasks = trio.lowlevel.current_statistics().tasks_living
    set_ups = len(browser.internals.tabs._set_ups)
    async with browser.new_context() as context:
        await context.route("*/echo/*", made)
        page = await context.new_page(site.url)
        await page.network.extra_headers({"X-Extra": "page"})
        assert (await page.evaluate(ASK, "/echo/r"))[1] == "made"
        await page.close()
        page = await context.new_page(site.url)
        assert (await page.evaluate(ASK, "/echo/r"))[1] == "made"
    with trio.fail_after(20):
        while trio.lowlevel.current_statistics().tasks_living > tasks:
            await browser.session.call("Browser.getVersion")
    assert len(browser.internals.tabs._set_ups) == set_ups


async def test_past_a_service_worker(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    """Routes do not see responses of a service worker. With the bypass, they do."""
    worker = """
        self.onactivate = (event) => event.waitUntil(clients.claim());
        self.onfetch = (event) => {
            if (event.request.url.endsWith("/echo/sw")) event.respondWith(new Response("worker"));
        };"""
    httpserver.expect_request("/sw.js").respond_with_data(worker, content_type="text/javascript")
    site = Site(httpserver)

    async def made(route: cdpengine.Route) -> None:
        await route.fulfill(body="made")

    await page.goto(site.url)
    await page.evaluate(
        "navigator.serviceWorker.register('/sw.js').then(() => navigator.serviceWorker.ready).then(() => 0)"
    )
    try:
        await page.wait_for(expression="navigator.serviceWorker.controller")
        # A document that a worker takes over can stay without it for long. One that starts with it, only for
        # a moment.
        await page.reload()
        async with page.route("*/echo/*", made):
            with trio.fail_after(20):
                while (await page.evaluate(ASK, "/echo/sw"))[1] != "worker":
                    pass
            async with page.network.bypass_service_workers():
                assert (await page.evaluate(ASK, "/echo/sw"))[1] == "made"
            assert (await page.evaluate(ASK, "/echo/sw"))[1] == "worker"
    finally:
        await page.evaluate(
            "navigator.serviceWorker.getRegistration().then((registration) => registration.unregister())"
        )
