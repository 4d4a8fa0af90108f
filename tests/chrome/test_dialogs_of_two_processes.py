"""A page and an iframe in another process open dialogs at the same moment. No dialog blocks the page forever."""

from __future__ import annotations

import json
from urllib.parse import urlsplit

import pytest
import trio
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.act import Actor, dispatch

pytestmark = pytest.mark.chrome

SCRIPT = """<script>
const log = (entry) => {
  const request = new XMLHttpRequest();
  request.open("POST", "/log", false);
  request.send(JSON.stringify(entry));
};
const show = ([at, type, place]) => setTimeout(() => {
  log([place, "opens"]);
  log([place, window[type](place) ?? null]);
}, at - Date.now());
onmessage = (event) => show(event.data);
</script>"""
PAGE = f"""<link rel=icon href="data:,"><button onclick="go('alert')">Go</button>{SCRIPT}
<iframe src="/frame"></iframe><iframe src="http://localhost:PORT/frame"></iframe>
<script>
const events = [];
for (const type of ["pagehide", "hashchange", "popstate"])
  addEventListener(type, () => events.push(type));
const go = (type) => {{
  const at = Date.now() + 150;
  frames[0].postMessage([at, type, "same"], "*");
  frames[1].postMessage([at, type, "cross"], "*");
  show([at, type, "page"]);
}};
</script>"""


class Site:
    """The server's log of the dialogs' return values, by place."""

    def __init__(self, server: HTTPServer) -> None:
        self.entries: list[tuple[str, object]] = []
        server.clear()
        self.url = server.url_for("/").replace("localhost", "127.0.0.1")
        page = PAGE.replace("PORT", str(server.port))
        server.expect_request("/").respond_with_data(page, content_type="text/html")
        server.expect_request("/frame").respond_with_data(SCRIPT, content_type="text/html")
        server.expect_request("/log").respond_with_handler(self._log)

    def _log(self, request: Request) -> Response:
        self.entries.append(tuple(json.loads(request.data)))
        return Response("")

    async def returned(self, count: int) -> dict[str, object]:
        """Wait until this many dialogs have returned."""
        with trio.fail_after(15):
            while len(done := [each for each in self.entries if each[1] != "opens"]) < count:  # noqa: ASYNC110
                await trio.sleep(0.02)
        return dict(done)


async def late(_dialog: cdpengine.Dialog) -> bool:
    """Answer so late that the other process opens its dialog first."""
    await trio.sleep(0.3)
    return True


@pytest.mark.parametrize(
    ("kind", "policy"),
    [
        ("alert", "default"),
        ("confirm", late),
        pytest.param("prompt", "accept", marks=pytest.mark.slow),
        pytest.param("confirm", "dismiss", marks=pytest.mark.slow),
        pytest.param("alert", late, marks=pytest.mark.slow),
        pytest.param("prompt", late, marks=pytest.mark.slow),
    ],
)
async def test_all_dialogs_return(
    browser: cdpengine.Browser, httpserver: HTTPServer, kind: str, policy: object
) -> None:
    site = Site(httpserver)
    page = await browser.new_page(activity=True)
    page.dialogs.set_policy(policy)  # type: ignore[arg-type]
    await page.goto(site.url, wait_until="load")
    for number in range(1, 4):
        await page.evaluate(f"go('{kind}')")
        await site.returned(3 * number)
        with trio.fail_after(10):
            await page.internals.target.wait_for(lambda: not page.internals.target.dialogs.is_open)
        records = page.dialogs.records[-3:]
        assert sorted(each.message for each in records) == ["cross", "page", "same"]
        results = dict(each for each in site.entries[6 * (number - 1) :] if each[1] != "opens")
        if kind != "alert":  # the record shows the answer that the page received
            answered = {place: bool(value) or value == "" for place, value in results.items()}
            assert {each.message: each.accepted for each in records} == answered
    assert await page.evaluate("events") == []
    assert page.url == site.url
    assert {urlsplit(each.url).hostname for each in page.activity.requests} <= {"127.0.0.1", "localhost"}
    await page.close()


async def test_they_are_reported_and_no_navigation_is(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    site = Site(httpserver)
    actor = Actor(browser)
    assert (await dispatch(actor, {"kind": "newTab", "url": site.url})).ok
    page = actor.current
    assert page is not None
    page.dialogs.set_policy(late)
    async with page.expect_dialog():
        clicked = await dispatch(actor, {"kind": "click", "selector": "button"})
    assert clicked.ok
    await site.returned(3)
    with trio.fail_after(10):
        await page.internals.target.wait_for(lambda: not page.internals.target.dialogs.is_open)
    after = await dispatch(actor, {"kind": "snapshot"})
    assert after.ok
    shown = [*clicked.effects.dialogs, *after.effects.dialogs]
    assert sorted(each.message for each in shown) == ["cross", "page", "same"]
    assert clicked.effects.navigation is None
    assert after.effects.navigation is None
    await page.close()


KEEPING = """<link rel=icon href="data:,"><script>
onbeforeunload = (event) => event.preventDefault();
onmessage = () => setTimeout(() => confirm("cross"), 250);
</script><p>again</p>"""
AROUND = """<link rel=icon href="data:,"><p>page</p><iframe src="http://localhost:PORT/keeping"></iframe>
<script>const go = () => { frames[0].postMessage(1, "*"); setTimeout(() => confirm("page"), 150) };</script>"""


async def test_a_stopped_frame_with_a_beforeunload_listener_is_loaded_again(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    loads: list[str] = []

    def keeping(request: Request) -> Response:
        loads.append(request.path)
        return Response(KEEPING, content_type="text/html")

    url = httpserver.url_for("/around").replace("localhost", "127.0.0.1")
    around = AROUND.replace("PORT", str(httpserver.port))
    httpserver.expect_request("/around").respond_with_data(around, content_type="text/html")
    httpserver.expect_request("/keeping").respond_with_handler(keeping)
    page = await browser.new_page()
    page.dialogs.set_policy(late)
    await page.goto(url, wait_until="load")
    await page.evaluate("go()")
    with trio.fail_after(15):
        while len(loads) < 2 or page.internals.target.dialogs.is_open:  # noqa: ASYNC110
            await trio.sleep(0.05)
    assert [(each.message, each.accepted) for each in page.dialogs.records] == [
        ("page", False),
        ("cross", False),
    ]
    await page.wait_for(text="again")
    await page.goto("data:text/html,elsewhere")
    await page.close()
    after = await browser.new_page()  # the browser has not crashed
    await after.close()
