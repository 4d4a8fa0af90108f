"""Tabs opened by a modified or middle click: Chrome reports no opener for them, and the engine does."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

import cdpengine
from cdpengine.act import dispatch

PAGE = """<!doctype html><title>list</title><a id=link href=/item#part>Item</a> <a id=blank href=/item target=_blank>New</a>
<form action=/item><button id=send name=a value=1>Send</button></form>
<iframe src=/inner></iframe> <iframe src=http://localhost:{port}/inner></iframe>"""

CLICKS: dict[str, tuple[str, dict[str, Any], str]] = {
    "Control": ("#link", {"modifiers": ["Control"]}, "/item#part"),
    "Shift": ("#link", {"modifiers": ["Shift"]}, "/item#part"),
    "middle button": ("#link", {"button": "middle"}, "/item#part"),
    "Control on a link to a new tab": ("#blank", {"modifiers": ["Control"]}, "/item"),
    "Control on a submit button": ("#send", {"modifiers": ["Control"]}, "/item?a=1"),
    "a link to a new tab": ("#blank", {}, "/item"),
}


@pytest.fixture
async def site(used_page: cdpengine.Page, httpserver: HTTPServer) -> cdpengine.Page:
    bodies = {
        "/": PAGE.replace("{port}", str(httpserver.port)),
        "/inner": "<a id=inner href=/item>In</a>",
        "/item": "item",
    }
    for path, body in bodies.items():
        httpserver.expect_request(path).respond_with_data(body, content_type="text/html")
    await used_page.goto(httpserver.url_for("/"))
    return used_page


@pytest.mark.sample(3)
@pytest.mark.parametrize("way", CLICKS)
async def test_a_tab_is_reported_with_its_opener(
    site: cdpengine.Page, httpserver: HTTPServer, way: str
) -> None:
    css, how, path = CLICKS[way]
    url = httpserver.url_for("/") + path.lstrip("/")
    async with site.expect_popup(timeout=10) as expected:
        outcome = await site.click(await site.find(css=css), **how)
    opened = expected.value
    assert outcome.popup == cdpengine.actions.PopupOpened(opened.target_id, url)
    assert outcome.navigation is None
    assert opened.opener is site
    assert site.popups == [opened]
    await opened.wait_for(url=url)
    assert await site.title() == "list"
    await opened.close()


async def test_a_tab_of_a_link_in_a_frame_and_by_a_key(site: cdpengine.Page, httpserver: HTTPServer) -> None:
    for frame in site.frames[1:]:
        async with site.expect_popup(timeout=10) as expected:
            outcome = await site.click(await site.find(css="#inner", frame=frame, timeout=5), button="middle")
        assert outcome.popup is not None
        assert outcome.popup.target_id == expected.value.target_id
        await expected.value.close()
    async with site.expect_popup(timeout=10) as expected:
        outcome = await site.press("Control+Enter", await site.find(css="#link"))
    assert outcome.popup is not None
    await expected.value.close()


async def test_tabs_of_two_pages_are_distinguished(site: cdpengine.Page, httpserver: HTTPServer) -> None:
    """Both pages open the same address, and so does a tab without a click."""
    other = await site.browser.new_page(httpserver.url_for("/"))
    alone = await site.browser.new_page(httpserver.url_for("/item"))
    opened = []
    for page in (site, other, site):
        outcome = await page.click(page.locate(css="#link"), modifiers=["Control"])
        assert outcome.popup is not None
        popup = site.browser.page(outcome.popup.target_id)
        assert popup is not None
        assert popup.opener is page
        opened.append(popup)
    assert alone.opener is None
    assert site.popups == [opened[0], opened[2]]
    for page in (*opened, other, alone):
        await page.close()


READY = "<title>{}</title><script>seen = [navigator.userAgent, innerWidth, window.early]</script>"
OPENINGS = [way for way in CLICKS if way != "a link to a new tab"]


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", OPENINGS)
async def test_the_first_document_of_a_tab_has_the_settings_of_its_context(
    browser: cdpengine.Browser, httpserver: HTTPServer, way: str
) -> None:
    css, how, _path = CLICKS[way]
    sent: list[tuple[str, str]] = []

    def item(request: Request) -> Response:
        sent.append((request.headers["User-Agent"], request.headers.get("X-Own", "")))
        return Response(READY.format("server"), content_type="text/html")

    async def answer(route: cdpengine.Route) -> None:
        body = await (await route.fetch()).text()
        await route.fulfill(body=body.replace("server", "route"), content_type="text/html")

    page_html = PAGE.replace("<iframe src=/inner></iframe>", "").partition("<iframe")[0]
    httpserver.expect_request("/").respond_with_data(page_html, content_type="text/html")
    httpserver.expect_request("/item").respond_with_handler(item)
    async with browser.new_context(user_agent="Own/1", viewport=(640, 480)) as context:
        await context.scripts.add_init_script("window.early = 'init'")
        await context.network.extra_headers({"X-Own": "yes"})
        page = await context.new_page(httpserver.url_for("/"))
        for title in ("server", "route"):
            async with page.expect_popup(timeout=20) as expected:
                await page.click(await page.find(css=css), timeout=20, **how)
            await expected.value.wait_for(load_state="load", timeout=20)
            assert await expected.value.evaluate("seen") == ["Own/1", 640, "init"]
            assert await expected.value.title() == title
            await context.route("*/item*", answer)
    assert sent == [("Own/1", "yes")] * 2


async def test_a_tab_without_scripts_runs_none_in_its_first_document(
    browser: cdpengine.Browser, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/").respond_with_data("<a href=/item>Item</a>", content_type="text/html")
    body = "<p>static</p><script>document.querySelector('p').textContent = 'ran'</script>"
    httpserver.expect_request("/item").respond_with_data(body, content_type="text/html")
    async with browser.new_context(java_script_enabled=False) as context:
        page = await context.new_page(httpserver.url_for("/"))
        async with page.expect_popup(timeout=20) as expected:
            await page.click(await page.find(css="a"), modifiers=["Control"])
        await expected.value.wait_for(text="static", timeout=20)


async def test_a_request_names_the_tab(site: cdpengine.Page, httpserver: HTTPServer) -> None:
    request = {"kind": "click", "selector": "#link", "button": "middle", "targetId": site.target_id}
    answer = (await dispatch(site.browser, request)).to_json()
    (popup,) = site.popups
    assert answer["effects"]["popup"] == {
        "targetId": popup.target_id,
        "url": httpserver.url_for("/item") + "#part",
    }
    await popup.close()
