"""Navigations to a document that Chrome prerendered before the engine connected."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
import trio
from bare_protocol import Bare, bare_connection
from pytest_httpserver import HTTPServer
from werkzeug import Response

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


# Its frame of another site loads at the activation, so Chrome reports no end of that load.
SETTLED = SECOND + '<iframe src="http://127.0.0.1:PORT/c"></iframe>'

STATE = """(async () => ({
    born, width: innerWidth, language: navigator.language, zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
    dark: matchMedia("(prefers-color-scheme: dark)").matches, touch: navigator.maxTouchPoints,
    focus: document.hasFocus(), runs, inner: [frames[0].runs, typeof frames[0].double], doubled: await double(21),
    routed: await (await fetch("/routed")).text(),
    sent: await (await fetch("/headers")).text(),
}))()"""


FETCH = "fetch('/c').then(() => 'answered', () => 'failed').then((it) => [navigator.onLine, it])"


@asynccontextmanager
async def prerendered(
    httpserver: HTTPServer,
) -> AsyncIterator[tuple[Bare, str, cdpengine.Browser, cdpengine.Page]]:
    """Yield a bare connection, the id of the page's target, and the engine's browser and page for the same
    browser.
    """
    bodies = {"/a": FIRST, "/b": SETTLED.replace("PORT", str(httpserver.port)), "/c": INNER, "/d": "<p>d"}
    for path, body in bodies.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/html")
    httpserver.expect_request("/headers").respond_with_handler(
        lambda request: Response(f"{request.headers.get('X-Own')} {request.headers.get('Accept-Language')}")
    )
    options = LaunchOptions(executable=cdpengine.find_browser().path, transport="websocket")
    async with start_browser(options) as process:
        assert process.endpoint is not None
        async with bare_connection(process.endpoint) as bare:
            made = await bare.call("Target.createTarget", url=httpserver.url_for("/a"))
            with trio.fail_after(10):
                while not any(request.path == "/c" for request, _ in httpserver.log):  # noqa: ASYNC110
                    await trio.sleep(0.05)
            async with cdpengine.connect(process.endpoint) as browser:
                page = next(each for each in browser.pages if each.url == httpserver.url_for("/a"))
                yield bare, made["targetId"], browser, page


@pytest.mark.parametrize("scope", ["page", pytest.param("context", marks=pytest.mark.slow)])
async def test_an_activated_document_has_all_settings(httpserver: HTTPServer, scope: str) -> None:
    calls: list[object] = []

    async def double(number: int) -> int:
        calls.append(number)
        return 2 * number

    async def answer(route: cdpengine.Route) -> None:
        await route.fulfill(body="by the route")

    async with prerendered(httpserver) as (_bare, _target_id, _browser, page):
        owner = page if scope == "page" else page.context
        await owner.emulation.set(
            viewport=(555, 444), locale="de-DE", timezone="Asia/Tokyo", color_scheme="dark", touch=True
        )
        await owner.scripts.add_init_script("window.runs = (window.runs ?? 0) + 1")
        await owner.scripts.expose("double", double)
        await owner.route("**/routed", answer)
        await owner.network.extra_headers({"X-Own": "1"})
        await page.activity.start()
        outcome = await page.click((await page.snapshot()).find("link", "go"))
        assert outcome.navigation is not None
        assert (outcome.navigation.url, outcome.navigation.state) == (httpserver.url_for("/b"), "arrived")
        expected = {
            "born": True, "width": 555, "language": "de-DE", "zone": "Asia/Tokyo", "dark": True, "touch": 5,
            "focus": True, "runs": 1, "inner": [1, "function"], "doubled": 42, "routed": "by the route",
            "sent": "1 de-DE,de;q=0.9",
        }  # fmt: skip
        assert await page.evaluate(STATE) == expected
        assert calls == [21]
        with trio.fail_after(10):
            while not any(frame.url.startswith("http://127.0.0.1") for frame in page.frames):  # noqa: ASYNC110
                await trio.sleep(0.02)
        other = next(frame for frame in page.frames if frame.url.startswith("http://127.0.0.1"))
        assert await page.evaluate("[runs, typeof double].join()", frame=other) == "1,function"
        async with owner.network.offline():
            assert await page.evaluate(FETCH) == [False, "failed"]
        assert await page.evaluate(FETCH) == [True, "answered"]
        await page.evaluate("console.log('from the activated document')")
        assert page.activity.console[-1].text == "from the activated document"
        assert any(each.url == httpserver.url_for("/headers") for each in page.activity.requests)
        await page.goto(httpserver.url_for("/d"))
        assert await page.evaluate("[runs, typeof double].join()") == "1,function"
        assert await page.evaluate("fetch('/routed').then((it) => it.text())") == "by the route"


async def test_another_client_activates_a_document(httpserver: HTTPServer) -> None:
    async with prerendered(httpserver) as (bare, target_id, _browser, page):
        await page.scripts.add_init_script("window.runs = (window.runs ?? 0) + 1")
        async with bare.session(target_id) as session:
            await bare.call("Runtime.evaluate", session, expression="document.querySelector('a').click()")
        await page.wait_for(url=httpserver.url_for("/b"))
        assert await page.evaluate("[born, runs, frames[0].runs].join()") == "true,1,1"


async def test_user_agent_setting_reloads_prerendered_document(httpserver: HTTPServer) -> None:
    async with prerendered(httpserver) as (_bare, _target_id, _browser, page):
        await page.emulation.set(user_agent="Own/1.0")
        await page.scripts.add_init_script("window.early ??= window.born === undefined")
        await page.click((await page.snapshot()).find("link", "go"))
        assert await page.evaluate("[born, early, navigator.userAgent].join()") == "false,true,Own/1.0"
