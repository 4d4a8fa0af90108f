"""Pages, popups and contexts: their identity and their content."""

from __future__ import annotations

import re

import cdp
import pytest
import trio
from pytest_httpserver import HTTPServer

import cdpengine
from cdpengine._protocol.streams import Event
from cdpengine.errors import InvalidArgumentError


async def test_a_page_is_one_object_for_its_life(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    assert browser.page(page.target_id) is page
    assert page in browser.pages
    other = await browser.new_page("data:text/html,<title>other</title>")
    assert await other.title() == "other"
    await other.close()
    assert other.closed
    assert browser.page(other.target_id) is None
    with pytest.raises(cdpengine.errors.SessionGoneError, match="closed"):
        await other.snapshot()
    await other.close()  # closing twice is no error


async def test_content_in_and_out(page: cdpengine.Page) -> None:
    await page.set_content("<!doctype html><title>t</title><p>text</p><script>window.ran = 1</script>")
    assert await page.content() == (
        "<!DOCTYPE html>\n"
        "<html><head><title>t</title></head><body><p>text</p><script>window.ran = 1</script></body></html>"
    )
    assert await page.evaluate("window.ran") == 1
    assert await page.evaluate("document.readyState") == "complete"


async def test_setting_content_leaves_no_trace(page: cdpengine.Page) -> None:
    before = await page.evaluate("Object.keys(window).length")
    await page.set_content("<p>x</p>")
    await page.snapshot()
    assert await page.evaluate("Object.keys(window).length") == before
    assert await page.evaluate("document.querySelectorAll('script, style').length") == 0


async def test_popup_closed_before_it_was_resumed_does_not_block_its_opener(
    browser: cdpengine.Browser, page: cdpengine.Page
) -> None:
    """Chrome keeps the opener inside `window.open` until the popup is resumed."""

    def close(event: Event) -> None:
        target = event.params["targetInfo"]
        if target.get("openerId") == page.target_id:
            browser.session.post("Target.closeTarget", targetId=target["targetId"])

    browser.session.on_event("Target.attachedToTarget", close)
    for script in ("void open('')", "void open('').name"):
        await page.evaluate(script, timeout=20)
        assert await page.evaluate("Promise.resolve(5)", timeout=20) == 5


async def test_a_popup_is_set_up_before_its_script_runs(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/").respond_with_data("<p>opener</p>", content_type="text/html")
    httpserver.expect_request("/popup").respond_with_data(
        "<button>In the popup</button><script>for (;;);</script>", content_type="text/html"
    )
    await page.goto(httpserver.url_for("/"))
    await page.evaluate("void window.open('/popup')", timeout=20)
    popup = await browser.wait_for_page(opener=page, timeout=20)
    assert popup.opener is page
    # Its script never ends. The successful termination shows that the evaluation session existed before it.
    with pytest.raises(cdpengine.errors.EvaluationTimeoutError):
        while True:  # until the popup has left its first, empty document
            await popup.evaluate("1", timeout=0.3)
    assert await popup.evaluate("document.title", timeout=20) == ""
    snapshot = await popup.snapshot(timeout=20)
    assert snapshot.find(role="button").name == "In the popup"
    await popup.close()


async def test_waiting_for_a_page(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    await page.goto("data:text/html,<title>findme</title>")
    assert await browser.wait_for_page(url="data:*findme*") is page
    assert await browser.wait_for_page(url=re.compile("findme")) is page
    with pytest.raises(cdpengine.errors.DeadlineExceededError):
        await browser.wait_for_page(url="*nowhere*", timeout=0.1)


async def test_contexts_are_apart_and_end_with_their_block(
    browser: cdpengine.Browser, page: cdpengine.Page, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/").respond_with_data("<p>x</p>", content_type="text/html")
    url = httpserver.url_for("/")
    await page.goto(url)
    await page.evaluate("document.cookie = 'who=me'")
    mine = await page.evaluate("document.cookie")  # cookies ignore ports, so other cookies may be there too
    assert "who=me" in mine
    async with browser.new_context() as context:
        inside = await context.new_page(url)
        assert context.pages == [inside]
        assert await inside.evaluate("document.cookie") == ""
        assert inside.context_id == context.id
    with trio.fail_after(20):
        while not inside.closed:
            await browser.session.call("Browser.getVersion")
    assert await page.evaluate("document.cookie") == mine


async def test_a_picture_is_a_picture(page: cdpengine.Page) -> None:
    await page.emulation.set_viewport(300, 200)
    await page.set_content("<body style='margin:0; background:#0a0'><div style='height:900px'></div>")
    png = await page.screenshot()
    assert png.startswith(b"\x89PNG")
    assert (int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")) == (300, 200)
    whole = await page.screenshot(full_page=True)
    assert int.from_bytes(whole[20:24], "big") >= 900
    assert (await page.screenshot(format="jpeg", quality=50)).startswith(b"\xff\xd8")
    assert (await page.pdf()).startswith(b"%PDF")
    with pytest.raises(InvalidArgumentError, match="quality"):
        await page.screenshot(quality=50)
    with pytest.raises(InvalidArgumentError, match="format"):
        await page.screenshot(format="gif")  # type: ignore[arg-type]


async def test_snapshot_options_and_old_refs(page: cdpengine.Page) -> None:
    await page.set_content("<main><h1>Shop</h1><button>Buy</button><p>Some text</p></main>")
    snapshot = await page.snapshot()
    button = snapshot.find(role="button", name="Buy")
    assert "Some text" in snapshot.text
    small = await page.snapshot(interactive=True)
    assert "Some text" not in small.text
    assert small.find(role="button") == button, "the same element keeps its ref"
    assert len((await page.snapshot(max_chars=40)).text) <= 200
    with pytest.raises(InvalidArgumentError):
        await page.snapshot(mode="other")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgumentError):
        await page.snapshot(max_depth=-1)
    await page.evaluate("document.querySelector('button').remove()")
    with pytest.raises(cdpengine.errors.StaleRefError):
        await page.click(button, timeout=20)
    await page.goto("data:text/html,<button>Buy</button>")
    with pytest.raises(cdpengine.errors.StaleRefError, match="replaced"):
        await page.click(button, timeout=20)
    new = (await page.snapshot()).find(role="button", name="Buy")
    assert new.id != button.id, "numbers are not used again"


@pytest.mark.sample(4)
@pytest.mark.parametrize("target", ["e999", "@e999", "nonsense", "", "button", "e0", "é3"])
async def test_a_wrong_ref_is_named(page: cdpengine.Page, target: str) -> None:
    await page.set_content("<button onclick='n = (self.n || 0) + 1'>Go</button>")
    await page.snapshot()
    for action in (page.click, page.hover, page.focus, page.scroll_into_view):
        with pytest.raises((cdpengine.errors.NodeNotFoundError, InvalidArgumentError)):
            await action(target, timeout=20)
    assert await page.evaluate("typeof n") == "undefined", "nothing was clicked"


async def test_a_ref_of_another_page_is_refused(browser: cdpengine.Browser, page: cdpengine.Page) -> None:
    other = await browser.new_page("data:text/html,<button>Theirs</button>")
    theirs = (await other.snapshot()).find(role="button")
    await page.goto("data:text/html,<button>Mine</button>")
    await page.snapshot()
    with pytest.raises(cdpengine.errors.NodeError):
        await page.click(theirs, timeout=20)
    await other.close()


# --- the session itself --------------------------------------------------------------------------------------


async def test_pycdp_commands_and_events(page: cdpengine.Page) -> None:
    frame_tree = await page.session.execute(cdp.page.get_frame_tree())
    assert frame_tree.frame.id_ == page.target_id
    async with page.session.subscribe("Page.loadEventFired") as events:
        await page.session.execute(cdp.page.navigate("about:blank"))
        event = await events.receive()
    assert isinstance(event.typed(), cdp.page.LoadEventFired)


async def test_undecodable_event_is_delivered_raw(page: cdpengine.Page) -> None:
    await page.set_content("<a href='#x'>link</a>")
    with pytest.raises(cdpengine.errors.ProtocolError) as caught:
        await page.session.execute(cdp.accessibility.get_full_ax_tree())
    assert len(caught.value.result()["nodes"]) > 2
    assert (await page.session.call("Runtime.evaluate", expression="1"))["result"]["value"] == 1


async def test_traffic_of_a_page_load(page: cdpengine.Page, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/").respond_with_data("<script src=/a.js></script>", content_type="text/html")
    httpserver.expect_request("/a.js").respond_with_data("", content_type="text/javascript")
    async with page.session.subscribe("Network.requestWillBeSent") as requests:
        await page.goto(httpserver.url_for("/"))
        seen = {(await requests.receive()).params["request"]["url"] for _ in range(2)}
    assert seen == {httpserver.url_for("/"), httpserver.url_for("/a.js")}


async def test_refusal_has_chromes_message(page: cdpengine.Page) -> None:
    with pytest.raises(cdpengine.errors.RemoteError) as caught:
        await page.session.call("Page.noSuchCommand")
    assert caught.value.code == -32601
    assert caught.value.method == "Page.noSuchCommand"
