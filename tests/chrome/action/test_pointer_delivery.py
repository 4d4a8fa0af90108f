"""Outcomes of pointer actions compared with the page's record."""

from __future__ import annotations

from contextlib import suppress

import pytest
import trio
from pointer_page import at, node, record, show
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine.errors import CoveredError, NotDeliveredError

pytestmark = pytest.mark.chrome

# --- delivery -------------------------------------------------------------------------------------------------


async def test_cover_that_appears_with_the_pointer_is_not_clicked(page: cdpengine.Page) -> None:
    """A cover that appears between the check and the press receives nothing."""
    await show(
        page,
        f"<button id=go>Go</button><div id=veil hidden style='{at(0, 0, 900, 900)}'></div>"
        "<script>go.onmousemove = () => { veil.hidden = false }</script>",
    )
    with pytest.raises(CoveredError) as caught:
        await page.click(await node(page, "go"), timeout=0.6)
    assert caught.value.covered_by == "div#veil"
    assert "div#veil was in the way, and the press was held back" in caught.value.steps
    # The window's recorder sees the press before the engine blocks it. The veil does not.
    assert await page.evaluate("veil.matches(':active')") is False
    assert await page.evaluate("document.activeElement === document.body") is True


async def test_cover_that_appears_and_disappears_with_the_pointer(page: cdpengine.Page) -> None:
    """The cover is present at every press and absent at every check. The press is blocked each time."""
    await show(
        page,
        "<button id=go>Go</button><div id=veil hidden style='position:fixed;inset:0'></div><script>"
        "go.onmousemove = () => { veil.hidden = false; setTimeout(() => { veil.hidden = true }, 20) }</script>",
    )
    with pytest.raises(NotDeliveredError) as caught:
        await page.click(await node(page, "go"), timeout=1)
    assert caught.value.held_back
    assert caught.value.received_by == "div#veil"
    assert caught.value.events == ()
    assert caught.value.elsewhere == ()
    assert await page.evaluate("veil.matches(':active')") is False
    assert await page.evaluate("document.activeElement === document.body") is True


async def test_two_concurrent_clicks_are_distinguished(page: cdpengine.Page) -> None:
    await show(
        page, f"<button id=a style='{at(0, 0)}'>A</button><button id=b style='{at(200, 0)}'>B</button>"
    )
    a, b = await node(page, "a"), await node(page, "b")
    for _ in range(5):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(page.click, a)
            nursery.start_soon(page.click, b)
    assert sorted(entry["target"] for entry in await record(page, "click")) == ["a"] * 5 + ["b"] * 5


async def other_page(other: cdpengine.Browser, page: cdpengine.Page) -> cdpengine.Page:
    return await other.wait_for_page(where=lambda each: each.target_id == page.target_id)


async def test_the_click_of_another_client_is_not_claimed(page: cdpengine.Page, shared_endpoint: str) -> None:
    """Of two overlapping presses, Chrome makes one click, at the first release."""
    await show(page, "<button id=go>Go</button>")
    go = await node(page, "go")
    await page.click(go, timeout=20)
    async with cdpengine.connect(shared_endpoint) as other:
        session = (await other_page(other, page)).session
        box = await page.elements.bounding_box(go)
        assert box is not None
        place = {"x": box.x + box.width // 2, "y": box.y + box.height // 2, "button": "left", "clickCount": 1}

        async def press_meanwhile() -> None:
            await page.wait_for(expression="record.filter(({ type }) => type === 'mousedown').length === 2")
            for kind in ("mousePressed", "mouseReleased"):
                await session.call("Input.dispatchMouseEvent", type=kind, **place)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(press_meanwhile)
            with pytest.raises(NotDeliveredError) as caught:
                await page.click(go, delay=0.4, timeout=20)
    assert len(await record(page, "click")) == 2  # this client's and the other client's
    assert caught.value.events == ("pointerdown", "mousedown", "pointerup", "mouseup")


@pytest.mark.sample(3)
@pytest.mark.parametrize("targets", ["aa", "ab"])
async def test_two_engines_click_concurrently(
    page: cdpengine.Page, shared_endpoint: str, targets: str
) -> None:
    await show(
        page, f"<button id=a style='{at(0, 0)}'>A</button><button id=b style='{at(200, 0)}'>B</button>"
    )
    claims = dict.fromkeys("ab", 0)

    async def click_often(page: cdpengine.Page, name: str) -> None:
        target = await node(page, name)
        for _ in range(30):
            with suppress(NotDeliveredError):
                outcome = await page.click(target, timeout=20)
                claims[name] += outcome.delivered is True

    async with cdpengine.connect(shared_endpoint) as other:
        pages = page, await other_page(other, page)
        async with trio.open_nursery() as nursery:
            for one, name in zip(pages, targets, strict=True):
                nursery.start_soon(click_often, one, name)
    clicks = [entry["target"] for entry in await record(page, "click")]
    assert {name: clicks.count(name) for name in "ab"} == claims
    assert sum(claims.values()) > 30


async def test_waiting_click_blocks_no_other_input(page: cdpengine.Page) -> None:
    """Another task clicks the cover away, at exactly the point that the first click waits for."""
    await show(
        page,
        "<button id=go>Go</button><button id=veil style='position:fixed;inset:0' onclick='this.remove()'>x</button>",
    )
    go, veil = await node(page, "go"), await node(page, "veil")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(page.click, go)
        await trio.sleep(0.05)
        box = await page.elements.bounding_box(go)
        assert box is not None
        await page.click(veil, position=(box.x + box.width / 2, box.y + box.height / 2))
    assert [entry["target"] for entry in await record(page, "click")] == ["veil", "go"]


@pytest.mark.parametrize("mode", ["open", "closed"])
async def test_blocked_and_received_press_in_shadow_root(page: cdpengine.Page, mode: str) -> None:
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
    outcome = await popup.click(target, timeout=5)  # the click itself closed the page, so this is no error
    assert outcome.delivered
    with trio.fail_after(10):
        while popup in browser.pages:  # Chrome reports it with a delay
            await browser.session.call("Browser.getVersion")


async def test_outcome_reports_navigation_and_download(page: cdpengine.Page, httpserver: HTTPServer) -> None:
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
