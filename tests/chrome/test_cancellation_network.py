"""Block-scoped settings cancelled at each step of entering, of the body and of leaving: nothing is left."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
from network_site import ASK, Site
from pytest_httpserver import HTTPServer
from rounds import one_in

import cdpengine
from cdpengine import Route
from cdpengine.testing import walk_cancellations


async def answer(route: Route) -> None:
    response = await route.fetch()
    await route.fulfill(body=b"made of " + await response.body())


async def route(page: cdpengine.Page) -> None:
    async with page.route("*/echo/*", answer):
        assert (await page.evaluate(ASK, "/echo/a"))[1].startswith("made of")


async def credentials(page: cdpengine.Page) -> None:
    async with page.network.http_credentials("ada", "s3cret"):
        assert (await page.evaluate(ASK, "/secret/a"))[0] == 200


async def headers(page: cdpengine.Page) -> None:
    async with page.network.extra_headers({"X-Extra": "x"}):
        assert "x" in (await page.evaluate(ASK, "/echo/a"))[1]


async def conditions(page: cdpengine.Page) -> None:
    async with page.network.offline(), page.network.throttle_cpu(2):
        assert await page.evaluate("navigator.onLine") is False


async def init_script(page: cdpengine.Page) -> None:
    async with page.scripts.add_init_script("self.early = 1"):
        await page.session.call("Page.getFrameTree")


async def expose(page: cdpengine.Page) -> None:
    async def tell(value: object) -> object:
        return value

    async with page.scripts.expose("tell", tell):
        assert await page.evaluate("tell({a: 1})") == {"a": 1}


OPERATIONS: dict[str, Callable[[cdpengine.Page], Awaitable[None]]] = {
    "route": route,
    "http_credentials": credentials,
    "extra_headers": headers,
    "network_conditions": conditions,
    "add_init_script": init_script,
    "expose": expose,
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", OPERATIONS)
async def test_cancelled_at_each_step(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer, name: str
) -> None:
    site = Site(httpserver)
    await page.goto(site.url)
    tasks = trio.lowlevel.current_statistics().tasks_living

    async def check() -> None:
        assert page.network.routes.active == []
        assert page.scripts.bindings.active == []
        with trio.fail_after(20):
            said = await page.evaluate(ASK, "/echo/a")
            assert said == [200, '["GET", "/echo/a", "", null]', None]
            assert await page.evaluate("navigator.onLine") is True
            assert await page.evaluate("typeof tell") == "undefined"
            assert (
                await page.evaluate("Object.getOwnPropertyNames(self).filter((n) => /cdpengine/.test(n))")
                == []
            )
            while (
                trio.lowlevel.current_statistics().tasks_living > tasks
                or any(connection.statistics().in_flight for connection in browser.connections)
                or page.session.domains.users.keys() - {"Page"}
            ):
                await browser.session.call("Browser.getVersion")

    with trio.fail_after(80):
        assert (
            await walk_cancellations(
                lambda: OPERATIONS[name](page), check, own_steps_only=True, every=one_in(8)
            )
            >= 3
        )
    await page.reload()
    assert await page.evaluate("own") == "undefined"
    if name == "http_credentials":
        assert page.session.feed._listeners.get("Fetch.authRequired", []) == []
