"""A snapshot right after a navigation has content, or its first line says that content is still to come."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from operator import attrgetter
from typing import Any

import pytest
import trio
import trio.testing
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine._snapshot.first_content import BOUND

HEAD = "<!doctype html><title>New</title>"
FILL = "<!-- " + "x" * 2000 + " -->"
NEWS = "<h1>Arrived</h1><button>Go on</button>"
LOADING = "# the document is still loading"

START = """<!doctype html><title>Start</title><a href=/next>Next</a>
<form method=post action=/next><button>Post</button></form>
<button onclick="location = '/next'">Script</button>
<a href=/next target=inner>In the frame</a><iframe name=inner srcdoc="<p>old"></iframe>"""


class Site:
    """Serves /next in the parts that a test sets. At each `...` it waits for the test's signal."""

    def __init__(self, server: HTTPServer) -> None:
        self.parts: list[str] = []
        self.go = threading.Event()
        server.expect_request("/").respond_with_data(START, content_type="text/html")
        server.expect_request("/next").respond_with_handler(self.answer)
        server.expect_request("/data").respond_with_handler(self.data)

    def answer(self, _request: Request) -> Response:
        if self.parts[0] == "...":
            self.go.wait(20)
        return Response(self.body(), content_type="text/html", direct_passthrough=True)

    def body(self) -> Iterator[bytes]:
        for part in self.parts:
            if part == "...":
                self.go.wait(20)
            yield (part if part != "..." else "").encode()

    def data(self, _request: Request) -> Response:
        self.go.wait(20)
        return Response(NEWS)


@pytest.fixture
async def site(page: cdpengine.Page, httpserver: HTTPServer) -> AsyncIterator[Site]:
    made = Site(httpserver)
    await page.goto(httpserver.url_for("/"))
    yield made
    made.go.set()


async def looked(
    page: cdpengine.Page, site: Site, name: str, look: Callable[[], Awaitable[Any]] | None = None
) -> Any:
    """Click, look immediately, and let the server continue while one of the two waits."""
    seen: list[Any] = []
    ref = (await page.snapshot()).find(name=name)

    async def run() -> None:
        await page.click(ref)
        seen.append(await (look or page.snapshot)())

    async with trio.open_nursery() as nursery:
        nursery.start_soon(run)
        await trio.testing.wait_all_tasks_blocked(0.05)
        site.go.set()
    return seen[0]


CSR = (
    HEAD
    + "<div id=root></div><script>fetch('/data').then(r => r.text()).then(t => root.innerHTML = t)</script>"
)

RESPONSES = {
    "at once": [HEAD + NEWS],
    "slow to start": ["...", HEAD + NEWS],
    "slow in the middle": [HEAD + FILL, "...", NEWS],
    "by script": [CSR],
    "behind a script": [HEAD + "<script src=/data></script>" + NEWS],
}


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("response", "name"),
    [
        *((response, "Next") for response in RESPONSES),
        ("slow to start", "Post"),
        ("slow in the middle", "Script"),
    ],
)
async def test_the_next_snapshot_has_the_content(
    page: cdpengine.Page, site: Site, response: str, name: str
) -> None:
    site.parts = RESPONSES[response]
    snapshot = await looked(page, site, name)
    assert snapshot.title == "New"
    assert "Arrived" in snapshot.text, snapshot.text
    assert "Go on" in snapshot.text or snapshot.text.startswith(LOADING)


LOOKS: dict[str, dict[str, Any]] = {
    **{f"mode {mode}": {"mode": mode} for mode in ("role", "ai", "aria", "numbered", "webarena")},
    **{f"source {source}": {"source": source} for source in ("computed", "ax", "hybrid", "dom")},
    "interactive": {"interactive": True},
    "fresh": {"fresh": True},
}


@pytest.mark.sample(4, start=1)
@pytest.mark.parametrize("options", LOOKS.values(), ids=LOOKS.keys())
async def test_every_kind_of_snapshot_waits(
    page: cdpengine.Page, site: Site, options: dict[str, Any]
) -> None:
    site.parts = RESPONSES["slow in the middle"]
    snapshot = await looked(page, site, "Next", lambda: page.snapshot(**options))
    assert "Go on" in snapshot.text, snapshot.text
    site.go.clear()
    site.parts = [HEAD + "<p>First</p>" + FILL, "...", NEWS]
    await page.goto(page.url, wait_until="commit")
    text = (await page.snapshot(**options, max_chars=2000)).text
    assert text.startswith(LOADING), text


@pytest.mark.sample(4)
@pytest.mark.parametrize("way", ["extract_text", "extract_markdown", "pictures.labelled_screenshot"])
async def test_other_readers_wait_too(page: cdpengine.Page, site: Site, way: str) -> None:
    site.parts = RESPONSES["slow in the middle"]
    seen = await looked(page, site, "Next", attrgetter(way)(page))
    assert "Go on" in (seen.snapshot.text if way == "pictures.labelled_screenshot" else seen)


async def test_snapshot_waits_for_frame_that_an_action_navigated(page: cdpengine.Page, site: Site) -> None:
    for parts in (["...", HEAD + NEWS], RESPONSES["slow in the middle"], [CSR]):
        site.go.clear()
        site.parts = parts
        await page.reload()
        text = (await looked(page, site, "In the frame")).text
        assert "Arrived" in text, text
        assert "old" not in text


async def test_partially_streamed_page_is_returned_and_marked(page: cdpengine.Page, site: Site) -> None:
    site.parts = [HEAD + "<p>First</p>" + FILL, "...", NEWS]
    await page.click((await page.snapshot()).find(name="Next"))
    snapshot = await page.snapshot()
    assert snapshot.text.startswith(LOADING)
    assert "First" in snapshot.text
    assert any("loading" in gap for gap in snapshot.gaps)
    site.go.set()
    await page.wait_for(load_state="load")
    after = await page.snapshot()
    assert "loading" not in after.text
    assert "Go on" in after.text
    assert not after.gaps


async def test_empty_loading_page_is_marked(page: cdpengine.Page, site: Site) -> None:
    site.parts = [HEAD + FILL, "...", NEWS]
    ref = (await page.snapshot()).find(name="Next")
    started = trio.current_time()
    await page.click(ref)
    assert (await page.snapshot()).text.startswith(LOADING)
    assert trio.current_time() - started >= BOUND / 2
    started = trio.current_time()
    assert (await page.snapshot()).text.startswith(LOADING), (
        "a second look does not wait for the same content again"
    )
    assert trio.current_time() - started < BOUND / 2


@pytest.mark.sample(2)
@pytest.mark.parametrize("html", [HEAD, HEAD + "<body>", HEAD + "<div></div>"])
async def test_empty_page_is_returned_immediately(page: cdpengine.Page, site: Site, html: str) -> None:
    site.parts = [html]
    await page.click((await page.snapshot()).find(name="Next"))
    started = trio.current_time()
    text = (await page.snapshot()).text
    assert text.startswith("# nothing to show")
    assert trio.current_time() - started < BOUND / 2


async def test_failed_navigation_delays_nothing(
    page: cdpengine.Page, site: Site, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/none").respond_with_data("", status=204)
    for href in ("/none", "mailto:a@b.example", "#here", "javascript:void 0"):
        await page.evaluate("href => { document.links[0].href = href }", href)
        await page.click((await page.snapshot()).find(name="Next"))
        started = trio.current_time()
        snapshot = await page.snapshot()
        assert trio.current_time() - started < BOUND / 2, href
        assert snapshot.find(name="Next")
        assert not snapshot.gaps
