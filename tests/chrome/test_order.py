"""Order: the page's events before a response are known when the response arrives, over a websocket and over a
pipe.

Two rounds switch each setting in both directions. `--run-slow` runs more.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Literal

import attrs
import pytest
from pytest_httpserver import HTTPServer
from rounds import rounds

import cdpengine

ROUNDS = rounds(2, 20)

DOCUMENT = """<!doctype html><title>t</title>
<button onclick="act()" ondblclick="0">Go</button> <input type=checkbox onchange="act()" aria-label=Check>
<select onchange="act()" aria-label=Choice><option>a<option>b</select>
<input onkeydown="act()" aria-label=Key> <input oninput="act()" aria-label=Text>
<div onmouseenter="act()" style="width: 50px; height: 20px" role=img aria-label=Area></div>
<script>
self.acted = 0;
function act() {
    acted += 1;
    for (let number = 0; number < 20; number += 1) console.log(acted, number);
    document.querySelector("iframe")?.remove();
    const frame = document.createElement("iframe");
    frame.name = `frame ${acted}`;
    document.body.append(frame);
    history.pushState(null, "", `?acted=${acted}`);
    new Image().src = `/seen?${acted}`;
    reportError(new Error(`thrown ${acted}`));
    return acted;
}
const later = () => new Promise((resolve) => setTimeout(() => resolve(act()), 1));
</script>"""


@attrs.define
class Stage:
    """A page that counts its events, and the nodes to act on."""

    page: cdpengine.Page
    nodes: dict[str, cdpengine.Ref]
    done: int = 0
    odd: bool = False

    def known(self) -> None:
        """Assert that all events of the page so far are known."""
        self.done += 1
        page, activity = self.page, self.page.activity
        assert [message.args for message in activity.console[-20:]] == [(self.done, n) for n in range(20)]
        assert len(activity.console) == self.done * 20
        assert [frame.name for frame in page.frames if frame.parent_id is not None] == [f"frame {self.done}"]
        assert page.url.partition("?")[2] == f"acted={self.done}"
        assert activity.errors[-1].message == f"thrown {self.done}"
        assert len(activity.errors) == self.done
        assert [request.url for request in activity.requests if request.url.endswith(f"/seen?{self.done}")]


async def evaluate_handle(stage: Stage) -> None:
    async with stage.page.evaluate_handle("[act()]"):
        stage.known()
    stage.done -= 1


WAYS: dict[str, Callable[[Stage], Awaitable[object]]] = {
    "evaluate": lambda stage: stage.page.evaluate("act()"),
    "evaluate a promise": lambda stage: stage.page.evaluate("later()"),
    "evaluate, its value read by another call": lambda stage: stage.page.evaluate("[{a: act()}]"),
    "evaluate in the isolated world": lambda stage: stage.page.evaluate(
        "() => { document.querySelector('button').click(); return 1 }", world="isolated"
    ),
    "evaluate with a node": lambda stage: stage.page.evaluate(
        "(button) => button.click()", target=stage.nodes["Go"]
    ),
    "evaluate_handle": evaluate_handle,
    "wait_for": lambda stage: stage.page.wait_for(expression="act()"),
    "fill": lambda stage: stage.page.fill(stage.nodes["Text"], f"text {stage.done}"),
    "check": lambda stage: (
        stage.page.uncheck(stage.nodes["Check"]) if stage.odd else stage.page.check(stage.nodes["Check"])
    ),
    "select": lambda stage: stage.page.select(stage.nodes["Choice"], "a" if stage.odd else "b"),
}


@pytest.fixture(params=["websocket", pytest.param("pipe", marks=pytest.mark.slow)])
async def stage(
    request: pytest.FixtureRequest, shared_endpoint: str, httpserver: HTTPServer
) -> AsyncIterator[Stage]:
    httpserver.expect_request("/").respond_with_data(DOCUMENT, content_type="text/html")
    httpserver.expect_request("/seen").respond_with_data(
        '<svg xmlns="http://www.w3.org/2000/svg"/>', content_type="image/svg+xml"
    )
    httpserver.expect_request("/favicon.ico").respond_with_data("")
    async with opened(request.param, shared_endpoint) as browser:
        page = await browser.new_page(httpserver.url_for("/"))
        await page.activity.start(console=10_000, errors=1_000, requests=1_000)
        snapshot = await page.snapshot()
        nodes = {ref.name: ref for ref in snapshot.refs.values() if ref.name}
        yield Stage(page, nodes)
        await page.close()


@asynccontextmanager
async def opened(transport: Literal["websocket", "pipe"], endpoint: str) -> AsyncIterator[cdpengine.Browser]:
    if transport == "pipe":
        async with cdpengine.launch(transport="pipe") as browser:
            yield browser
    else:
        async with cdpengine.connect(endpoint) as browser:
            yield browser


async def test_page_events_are_known_when_the_response_arrives(stage: Stage) -> None:
    missing: list[str] = []
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            await way(stage)
            try:
                stage.known()
            except AssertionError as error:
                missing.append(f"{name}: {str(error).splitlines()[0]}")
                await stage.page.session.call("Page.getFrameTree")
                stage.done = await stage.page.evaluate("acted")
        stage.odd = not stage.odd
    assert not missing
