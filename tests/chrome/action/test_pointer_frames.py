"""Pointer actions in frames of both kinds, in hidden tabs and in many tabs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._budget import within
from cdpengine._input.action import ActionOutcome, click, hover
from cdpengine._input.view import bounding_box
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.instruments import Traffic
from cdpengine.errors import CoveredError

pytestmark = pytest.mark.chrome

INNER = """<!doctype html><body style='margin:0'><div style='height:900px'></div><button id=go>Go</button>
<div style='height:900px'></div><script>record = [];
addEventListener('click', (event) => record.push([event.target.id, event.isTrusted, event.clientX, event.clientY]), true)</script>"""


async def inner_node(page: cdpengine.Page, expression: str) -> Node:
    """Return a node of the page's only child frame, in whichever process."""
    frame = page.frames[1]
    session = frame.session
    world = await session.call("Page.createIsolatedWorld", frameId=frame.id, worldName="test")
    found = await session.call(
        "Runtime.evaluate", expression=expression, contextId=world["executionContextId"]
    )
    described = await session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    return Node(session, described["node"]["backendNodeId"], frame.id, "the inner node")


async def point_at(
    page: cdpengine.Page, action: Callable[..., Awaitable[ActionOutcome]], node: Node, timeout: float = 20
) -> ActionOutcome:
    with within("act", timeout) as budget:
        return await action(node, context=page.internals.context(budget))


@pytest.fixture
async def framed(
    page: cdpengine.Page, httpserver: HTTPServer, request: pytest.FixtureRequest
) -> cdpengine.Page:
    """A page with a frame far down: of the same origin, or of another site in its own process."""
    httpserver.expect_request("/inner").respond_with_data(INNER, content_type="text/html")
    inner = httpserver.url_for("/inner")
    if request.param == "process":
        inner = inner.replace("127.0.0.1", "localhost")
    httpserver.expect_request("/outer").respond_with_data(
        f"""<!doctype html><body style='margin:0'><div style='height:1500px'></div>
        <iframe src='{inner}' style='width:300px;height:120px;border:9px solid;padding:7px;margin:21px;
        transform:scale(.9)'></iframe><div style='height:1500px'></div>
        <div id=veil hidden style='position:fixed;inset:0;background:#0005'>Please wait</div>""",
        content_type="text/html",
    )
    await page.goto(httpserver.url_for("/outer"))
    with trio.fail_after(20):
        while len(page.frames) < 2 or "/inner" not in page.frames[1].url:
            await page.session.call("Runtime.evaluate", expression="1")
    own = page.frames[1].session is not page.session
    assert own == (request.param == "process"), "the frame is not in the expected process"
    return page


KINDS = pytest.mark.parametrize("framed", ["same", "process"], indirect=True)


async def clicks(page: cdpengine.Page) -> Any:
    return await page.evaluate("record", frame=page.frames[1])


@KINDS
async def test_click_in_a_frame(framed: cdpengine.Page) -> None:
    outcome = await point_at(framed, click, await inner_node(framed, "go"))
    assert outcome.delivered
    seen = await clicks(framed)
    assert [entry[:2] for entry in seen] == [["go", True]]
    assert await framed.evaluate("scrollY") > 0
    await point_at(framed, hover, await inner_node(framed, "go"))


@KINDS
async def test_each_object_group_is_released_in_each_session_that_it_was_used_in(
    framed: cdpengine.Page,
) -> None:
    used: set[tuple[str, str]] = set()
    released: set[tuple[str, str]] = set()
    ungrouped: list[object] = []

    def watch(traffic: Traffic) -> None:
        message = json.loads(traffic.message)
        params = message.get("params", {})
        by_reference = "executionContextId" in params and not params.get("returnByValue")
        if by_reference and traffic.direction == "sent" and "objectGroup" not in params:
            ungrouped.append(message)
        if traffic.direction == "sent" and "objectGroup" in params:
            group = message["sessionId"], params["objectGroup"]
            (released if message["method"] == "Runtime.releaseObjectGroup" else used).add(group)

    go = await inner_node(framed, "go")
    with framed.session.connection.instruments.attached(watch):
        assert (await point_at(framed, click, go)).delivered
        assert await bounding_box(go, framed.internals.worlds) is not None
        await framed.find(css="button")
        await framed.find(role="button", name="Go")
        assert await framed.evaluate("({ a: 1 })", frame=framed.frames[1]) == {"a": 1}
        for source in ("computed", "dom", "ax"):
            assert "Go" in (await framed.snapshot(source=source)).text
        assert "iframe" in (await framed.snapshot(root="iframe")).text
        assert "Go" in await framed.extract_text()
        await framed.wait_for(css="iframe")
        await framed.session.call("Runtime.evaluate", expression="1")
    assert ungrouped == []
    assert len(used) > 10
    assert released <= used
    # The engine's functions and a document's walk live as long as the document.
    assert {name for _, name in used - released} <= {"cdpengine-library", "cdpengine.walk"}


@KINDS
async def test_overlay_of_the_outer_page_covers_a_frame(framed: cdpengine.Page) -> None:
    await framed.evaluate("void (veil.hidden = false)")
    with pytest.raises(CoveredError, match="div#veil 'Please wait'"):
        await point_at(framed, click, await inner_node(framed, "go"), timeout=1)
    assert await clicks(framed) == []
    await framed.evaluate("void setTimeout(() => { veil.hidden = true }, 100)")
    assert (await point_at(framed, click, await inner_node(framed, "go"))).delivered
    assert len(await clicks(framed)) == 1


@KINDS
async def test_box_of_a_node_in_a_frame(framed: cdpengine.Page) -> None:
    await point_at(framed, click, await inner_node(framed, "go"))
    box = await bounding_box(await inner_node(framed, "go"), framed.internals.worlds)
    frame = await framed.evaluate(
        "(r => [r.x, r.y, r.right, r.bottom])(document.querySelector('iframe').getBoundingClientRect())"
    )
    inner = await framed.evaluate("(r => [r.x, r.y])(go.getBoundingClientRect())", frame=framed.frames[1])
    assert box is not None
    # Border 9 and padding 7, scaled by 0.9 with the content.
    assert box.x == pytest.approx(frame[0] + 0.9 * (16 + inner[0]), abs=1.1)
    assert box.y == pytest.approx(frame[1] + 0.9 * (16 + inner[1]), abs=1.1)


async def backend(page: cdpengine.Page, expression: str) -> cdpengine.BackendNode:
    found = await page.session.call("Runtime.evaluate", expression=expression)
    described = await page.session.call("DOM.describeNode", objectId=found["result"]["objectId"])
    return cdpengine.BackendNode(described["node"]["backendNodeId"])


@pytest.mark.slow
async def test_hidden_tabs_are_clicked_like_any_other(browser: cdpengine.Browser) -> None:
    """Seven tabs, six of them in the background. No click waits for the front."""
    pages = [await browser.new_page() for _ in range(7)]
    try:
        for page in pages:
            await page.set_content("<button id=go onclick='this.n = (this.n || 0) + 1'>Go</button>")
        with trio.fail_after(10):  # a throttled tab takes 5 s for each mouse move
            for page in pages:
                await page.hover(await backend(page, "go"), timeout=20)
                await page.click(await backend(page, "go"), timeout=20)
        assert [await page.evaluate("go.n") for page in pages] == [1] * 7
    finally:
        for page in pages:
            await page.close()
