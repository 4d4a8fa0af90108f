"""A page that goes to a document which Chrome had prerendered before the engine connected."""

from __future__ import annotations

import pytest
import trio
from bare_protocol import bare_connection
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._launch.process import LaunchOptions, start_browser

FIRST = """<title>A</title><script type="speculationrules">
{"prerender": [{"source": "list", "urls": ["/b"], "eagerness": "immediate"}]}</script><a href="/b">go</a>"""

SECOND = """<title>B</title><script>window.log = []; window.born = document.prerendering;
addEventListener("click", event => log.push(event.target.id), true);</script>
<button id="p">Press</button><input aria-label="Name" id="n"><iframe src="/c"></iframe>"""

INNER = '<button onclick="parent.log.push(this.id)" id="q">Inside</button>'


@pytest.mark.parametrize("activated", ["before connecting", "by a click"])
async def test_a_page_that_shows_a_prerendered_document_is_used(
    httpserver: HTTPServer, activated: str
) -> None:
    for path, body in {"/a": FIRST, "/b": SECOND, "/c": INNER, "/d": "<title>D</title>"}.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/html")
    first, second = httpserver.url_for("/a"), httpserver.url_for("/b")
    options = LaunchOptions(executable=cdpengine.find_browser().path, transport="websocket")
    async with start_browser(options) as process:
        assert process.endpoint is not None
        async with bare_connection(process.endpoint) as bare:
            made = await bare.call("Target.createTarget", url=first)
            with trio.fail_after(10):
                while not any(request.path == "/c" for request, _ in httpserver.log):  # noqa: ASYNC110
                    await trio.sleep(0.05)
            if activated == "before connecting":
                async with bare.session(made["targetId"]) as session:
                    await bare.call("Runtime.evaluate", session, expression="location.href = '/b'")
                    with trio.fail_after(10):
                        while (await bare.call("Page.getFrameTree", session))["frameTree"]["frame"][  # noqa: ASYNC110
                            "url"
                        ] != second:
                            await trio.sleep(0.05)
        async with cdpengine.connect(process.endpoint) as browser:
            page = next(each for each in browser.pages if each.url in (first, second))
            if activated == "by a click":
                await page.click((await page.snapshot()).find("link", "go"))
            assert page.url == second
            assert await page.title() == "B"
            assert await page.evaluate("born") is True
            assert {frame.url for frame in page.frames} == {second, httpserver.url_for("/c")}
            snapshot = await page.snapshot()
            await page.click(snapshot.find("button", "Press"))
            await page.click(snapshot.find("button", "Inside"))
            await page.fill(snapshot.find("textbox", "Name"), "x")
            assert await page.evaluate("[log.join(), n.value].join()") == "p,q,x"
            async with page.evaluate_handle("log") as handle:
                assert await page.evaluate("it => it.length", handle) == 2
            await page.settled(timeout=10)
            await page.goto(httpserver.url_for("/d"))
            await page.go_back()
            assert (await page.title(), page.url) == ("B", second)
            await page.go_back()
            assert (await page.title(), page.url) == ("A", first)
            await page.go_forward()
            assert (await page.title(), page.url) == ("B", second)
            await page.reload()
            assert await page.evaluate("[born, log.length].join()") == "false,0"
