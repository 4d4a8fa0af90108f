"""Tabs without a renderer: discarded by Chrome before the engine connected, or crashed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from bare_protocol import Bare, bare_connection
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine.errors import TargetCrashedError

CLICK = """(() => {
    const found = [], roots = [document];
    for (const root of roots) for (const each of root.querySelectorAll("*")) {
        if (each.shadowRoot) roots.push(each.shadowRoot);
        if (!each.querySelector("div") && each.textContent.trim().includes(WORDS)
            && (WITHIN === "" || each.closest("tr")?.textContent.includes(WITHIN))) found.push(each);
    }
    found.at(-1)?.click();
    return found.length;
})()"""


async def click(bare: Bare, session: str, words: str, within: str = "") -> None:
    """Click the element with this label on one of Chrome's pages, once it appears."""
    source = CLICK.replace("WORDS", repr(words)).replace("WITHIN", repr(within))
    with trio.fail_after(10):
        while not (await bare.call("Runtime.evaluate", session, expression=source))["result"].get("value"):  # noqa: ASYNC110
            await trio.sleep(0.05)


DOCUMENT = """<title>t</title><script>window.seen = [window.runs, typeof double, innerWidth, navigator.userAgent].join();
</script><button onclick="clicked = true">b</button>"""


@asynccontextmanager
async def discarded(httpserver: HTTPServer) -> AsyncIterator[cdpengine.Page]:
    """Connect to a browser with a discarded tab, and yield that tab's page."""
    url = httpserver.url_for("/")
    httpserver.expect_request("/").respond_with_data(DOCUMENT, content_type="text/html")
    options = LaunchOptions(executable=cdpengine.find_browser().path, transport="websocket")
    async with start_browser(options) as process:
        assert process.endpoint is not None
        async with bare_connection(process.endpoint) as bare:
            made = await bare.call("Target.createTarget", url=url)
            own = await bare.call("Target.createTarget", url="chrome://chrome-urls")
            async with bare.session(own["targetId"]) as session:
                await click(bare, session, "Enable internal debugging pages")
                await bare.call("Page.navigate", session, url="chrome://discards")
                await click(bare, session, "[Urgent Discard]", url)
                with trio.fail_after(10):
                    while made["targetId"] in await bare.pages():  # noqa: ASYNC110
                        await trio.sleep(0.05)
        async with cdpengine.connect(process.endpoint) as browser:
            yield next(each for each in browser.pages if each.url == url)


@pytest.mark.slow
async def test_a_discarded_tab_is_used_after_a_reload(httpserver: HTTPServer) -> None:
    async with discarded(httpserver) as page:
        with pytest.raises(TargetCrashedError, match="Reload it"):
            await page.title()
        await page.reload()
        assert await page.title() == "t"
        await page.click((await page.snapshot()).find("button", "b"))
        assert await page.evaluate("clicked") is True


@pytest.mark.parametrize(
    ("way", "of_page"),
    [
        ("reload", False),
        pytest.param("bring_to_front", False, marks=pytest.mark.slow),
        ("goto", True),
        pytest.param("reload", True, marks=pytest.mark.slow),
    ],
)
async def test_settings_hold_from_the_first_script_of_a_discarded_tab(
    httpserver: HTTPServer, way: str, of_page: bool
) -> None:
    async def double(number: int) -> int:
        return 2 * number

    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body="by the route")

    async with discarded(httpserver) as page:
        context = page if of_page else page.context  # they have the same methods
        await context.scripts.add_init_script("window.runs = (window.runs ?? 0) + 1")
        await context.emulation.set(user_agent="Own/1.0", viewport=(555, 444), timezone="Asia/Tokyo")
        await context.scripts.expose("double", double)
        await context.route("**/routed", answer)
        await (page.goto(page.url) if way == "goto" else getattr(page, way)())
        assert await page.evaluate("seen") == "1,function,555,Own/1.0"
        assert await page.evaluate("double(21)") == 42
        assert await page.evaluate("fetch('/routed').then((it) => it.text())") == "by the route"
        assert await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone") == "Asia/Tokyo"
        await page.click((await page.snapshot()).find("button", "b"))
        assert await page.evaluate("clicked") is True
        await context.scripts.unexpose("double")
        await page.reload()
        assert await page.evaluate("seen") == "1,undefined,555,Own/1.0"


async def test_settings_of_a_crashed_page_hold_after_the_reload(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    async def double(number: int) -> int:
        return 2 * number

    httpserver.expect_request("/").respond_with_data(DOCUMENT, content_type="text/html")
    async with browser.new_context() as context:
        page = await context.new_page()
        await page.goto(httpserver.url_for("/"))
        with pytest.raises(TargetCrashedError):
            await page.session.call("Page.crash")
        await context.scripts.expose("double", double)
        await context.emulation.set(user_agent="Own/1.0", viewport=(555, 444))
        await page.reload()
        assert await page.evaluate("[innerWidth, navigator.userAgent].join()") == "555,Own/1.0"
        assert await page.evaluate("double(21)") == 42
