"""A tab that Chrome discarded, to save memory, before the engine connected."""

from __future__ import annotations

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
    """Click the element with these words on one of Chrome's own pages, once it is there."""
    source = CLICK.replace("WORDS", repr(words)).replace("WITHIN", repr(within))
    with trio.fail_after(10):
        while not (await bare.call("Runtime.evaluate", session, expression=source))["result"].get("value"):  # noqa: ASYNC110
            await trio.sleep(0.05)


@pytest.mark.slow
async def test_a_discarded_tab_is_used_after_a_reload(httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(
        "<title>t</title><button>b</button>", content_type="text/html"
    )
    options = LaunchOptions(executable=cdpengine.find_browser().path, transport="websocket")
    async with start_browser(options) as process:
        assert process.endpoint is not None
        async with bare_connection(process.endpoint) as bare:
            made = await bare.call("Target.createTarget", url=httpserver.url_for("/"))
            own = await bare.call("Target.createTarget", url="chrome://chrome-urls")
            async with bare.session(own["targetId"]) as session:
                await click(bare, session, "Enable internal debugging pages")
                await bare.call("Page.navigate", session, url="chrome://discards")
                await click(bare, session, "[Urgent Discard]", httpserver.url_for("/"))
                with trio.fail_after(10):
                    while made["targetId"] in await bare.pages():  # noqa: ASYNC110
                        await trio.sleep(0.05)
        async with cdpengine.connect(process.endpoint) as browser:
            page = next(each for each in browser.pages if each.url == httpserver.url_for("/"))
            with pytest.raises(TargetCrashedError, match="Reload it"):
                await page.title()
            await page.reload()
            assert await page.title() == "t"
            await page.bring_to_front()  # a discarded tab has no size before
            await page.click((await page.snapshot()).find("button", "b"))
