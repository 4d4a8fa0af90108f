"""Tabs opened by a modified or middle click: Chrome reports no opener for them, and the engine does."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

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


async def test_a_request_names_the_tab(site: cdpengine.Page, httpserver: HTTPServer) -> None:
    request = {"kind": "click", "selector": "#link", "button": "middle", "targetId": site.target_id}
    answer = (await dispatch(site.browser, request)).to_json()
    (popup,) = site.popups
    assert answer["effects"]["popup"] == {
        "targetId": popup.target_id,
        "url": httpserver.url_for("/item") + "#part",
    }
    await popup.close()
