"""What an action of the pointer reports, beside what the page recorded of it."""

from __future__ import annotations

import pytest
import trio
from pointer_page import at, node, record, show
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import (
    NotDelivered,
    StaleRef,
)

pytestmark = pytest.mark.chrome

# --- delivery -------------------------------------------------------------------------------------------------


async def test_a_cover_that_comes_with_the_pointer_is_not_clicked(page: cdpengine.Page) -> None:
    """What comes in the way between the check and the press gets none of it."""
    await show(
        page,
        f"<button id=go>Go</button><div id=veil hidden style='{at(0, 0, 900, 900)}'></div>"
        "<script>go.onmousemove = () => { veil.hidden = false }</script>",
    )
    with pytest.raises(NotDelivered) as caught:
        await page.click(await node(page, "go"), timeout=20)
    assert caught.value.held_back
    assert caught.value.received_by == "div#veil"
    # The recorder listens in the window too, and longer: it sees the press before it is held back, the veil does not.
    assert await page.evaluate("veil.matches(':active')") is False
    assert await page.evaluate("document.activeElement === document.body") is True


@pytest.mark.parametrize(
    ("handler", "events"),
    [
        ("go.onmousedown = () => go.remove()", ("pointerdown", "mousedown")),
        ("go.onpointerdown = () => go.remove()", ("pointerdown",)),
        ("go.onmousedown = (event) => { event.stopPropagation(); go.hidden = true }", ("pointerdown", "mousedown")),
        ("go.onmousedown = (event) => event.preventDefault()", ("pointerdown", "mousedown", "pointerup", "mouseup", "click")),
    ],
)  # fmt: skip
async def test_a_press_that_the_page_acts_on_is_delivered(
    page: cdpengine.Page, handler: str, events: tuple[str, ...]
) -> None:
    await show(page, f"<button id=go>Go</button><div id=under>under</div><script>{handler}</script>")
    outcome = await page.click(await node(page, "go"), timeout=20)
    assert outcome.delivered is True
    assert outcome.events == events


async def test_two_clicks_at_once_are_told_apart(page: cdpengine.Page) -> None:
    await show(
        page, f"<button id=a style='{at(0, 0)}'>A</button><button id=b style='{at(200, 0)}'>B</button>"
    )
    a, b = await node(page, "a"), await node(page, "b")
    for _ in range(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.click, a)
            nursery.start_soon(page.click, b)
    assert sorted(entry["target"] for entry in await record(page, "click")) == ["a"] * 5 + ["b"] * 5


async def test_a_waiting_click_holds_nothing_back_from_others(page: cdpengine.Page) -> None:
    """The cover is clicked away by another task, at the very point that the first one waits for."""
    await show(
        page,
        "<button id=go>Go</button><button id=veil style='position:fixed;inset:0' onclick='this.remove()'>x</button>",
    )
    go, veil = await node(page, "go"), await node(page, "veil")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.click, go)
        await trio.sleep(0.05)
        box = await page.bounding_box(go)
        assert box is not None
        await page.click(veil, position=(box.x + box.width / 2, box.y + box.height / 2))
    assert [entry["target"] for entry in await record(page, "click")] == ["veil", "go"]


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_inside_a_shadow_root_held_back_and_received(page: cdpengine.Page, mode: str) -> None:
    await show(page, "<div id=host></div><p id=other>Other</p>")
    await page.evaluate(
        "(mode) => { root = host.attachShadow({ mode }); root.innerHTML = '<button id=go>Go</button>'; }",
        mode,
    )
    outcome = await page.click(await node(page, "root.firstChild"), timeout=20)
    assert outcome.delivered
    assert outcome.events[-1] == "click"


async def test_the_page_closes_at_the_click(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    await show(page, "<button id=go onclick='window.open(\"about:blank\")'>Go</button>")
    outcome = await page.click(await node(page, "go"), timeout=20)
    assert outcome.popup is not None
    popup = await browser.wait_for_page(opener=page)
    assert popup.target_id == outcome.popup.target_id
    await popup.set_content("<button id=go onclick='window.close()'>Close</button>")
    target = await node(popup, "go")
    outcome = await popup.click(
        target, timeout=5
    )  # that the page closed is the click's own doing, and no error
    assert outcome.delivered
    with trio.fail_after(10):
        while popup in browser.pages:  # Chrome tells of it in its own time
            await browser.session.call("Browser.getVersion")


async def test_navigation_and_download_are_told(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data(
        "<a id=far href='/next'>far</a> <a id=near href='#x'>near</a> <a id=file href='/file'>file</a>",
        content_type="text/html",
    )
    httpserver.expect_request("/next").respond_with_data("<p>Next", content_type="text/html")
    httpserver.expect_request("/file").respond_with_data(
        "abc", headers={"Content-Disposition": "attachment; filename=x.txt"}
    )
    await page.goto(httpserver.url_for("/"))
    near = await page.click(await node(page, "near"), timeout=20)
    assert near.navigation is not None
    assert near.navigation.within_document
    far = await page.click(await node(page, "far"), timeout=20)
    assert far.delivered
    assert far.navigation is not None
    assert far.navigation.url == httpserver.url_for("/next")
    assert not far.navigation.within_document


async def test_replaced_is_stale(page: cdpengine.Page) -> None:
    await show(page, "<button id=go>Go</button>")
    target = await node(page, "go")
    await page.evaluate("void go.replaceWith(go.cloneNode(true))")
    with pytest.raises(StaleRef):
        await page.click(target, timeout=20)
    assert await record(page, "click") == []
