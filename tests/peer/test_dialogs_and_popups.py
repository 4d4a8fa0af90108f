"""Dialogs and popups against a browser that reports events late, out of order, or not at all."""

from __future__ import annotations

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine


async def test_a_dialog_whose_end_is_not_reported(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    opening = {"type": "confirm", "message": "Sure?", "url": "https://a.example/"}
    with pytest.raises(
        cdpengine.errors.DeadlineExceededError, match="a confirm opened, but Chrome did not report its end"
    ):
        async with page.expect_dialog(timeout=2):
            scripted.page_event("Page.javascriptDialogOpening", opening)
    handled = [each.params for each in scripted.received if each.method == "Page.handleJavaScriptDialog"]
    assert handled == [{"accept": True}]
    async with page.expect_dialog(timeout=2) as expected:
        scripted.page_event("Page.javascriptDialogOpening", opening)
        await quiet()
        scripted.page_event("Page.javascriptDialogClosed", {"result": False, "userInput": ""})
    assert (expected.value.accepted, expected.value.answered_by) == (False, "elsewhere")


async def test_a_popup_that_closes_immediately_is_returned(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    started = trio.current_time()
    async with page.expect_popup(timeout=2) as expected:
        scripted.open("P1", opener="T1", url="https://a.example/gone")
        scripted.vanish("P1")
    assert (expected.value.target_id, expected.value.closed) == ("P1", True)
    assert expected.value.url == "https://a.example/gone"
    async with page.expect_popup(timeout=2) as expected:
        scripted.open("P2", opener="T1")
        scripted.vanish("P2")
        scripted.open("P3", opener="T1")
        await quiet()
    assert (expected.value.target_id, expected.value.closed) == ("P3", False)
    assert expected.value.url == "about:blank"
    assert trio.current_time() == started
    assert [each.target_id for each in browser.pages] == ["T1", "P3"]
    assert browser.internals.tabs._page_listeners == []
    scripted.vanish("P3")
    await quiet()


async def test_a_popup_is_returned_with_its_first_document(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """Chrome creates a popup without a URL and shows it before its document loads.

    The document may never load.
    """
    tree = {"id": "P1", "loaderId": "P1.1", "url": ""}
    scripted.on("Page.getFrameTree", lambda _request: {"frameTree": {"frame": tree}})
    started = trio.current_time()
    async with trio.open_nursery() as nursery:

        async def arrive() -> None:
            await trio.sleep(1)
            scripted.commit("P1", "https://a.example/there")

        async with page.expect_popup(timeout=10) as expected:
            scripted.open("P1", opener="T1")
            nursery.start_soon(arrive)
        assert (expected.value.url, trio.current_time() - started) == ("https://a.example/there", 1)
    tree["id"] = "P2"
    async with page.expect_popup(timeout=10) as expected:
        scripted.open("P2", opener="T1")
    assert (expected.value.url, trio.current_time() - started) == ("about:blank", 3)
    for popup in ("P1", "P2"):
        scripted.vanish(popup)
    await quiet()


async def test_popups_that_open_and_close(
    page: cdpengine.Page, browser: cdpengine.Browser, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    with pytest.raises(cdpengine.errors.DeadlineExceededError, match="no page opened, 1 were closed again"):
        async with browser.expect_page(opener=page, url="*never*", timeout=2):
            scripted.open("P1", opener="T1")
            await trio.sleep(1)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(vanish_later, scripted)
                with pytest.raises(cdpengine.errors.DeadlineExceededError):
                    async with browser.expect_page(timeout=0.5):
                        pass
    async with page.expect_popup(timeout=2) as expected:
        scripted.open("P2", opener="T77")
        scripted.open("P3", opener="T1")
    assert expected.value.target_id == "P3"
    for popup in ("P2", "P3"):
        scripted.vanish(popup)
    await quiet()


async def vanish_later(scripted: ScriptedBrowser) -> None:
    await trio.sleep(1)
    scripted.vanish("P1")
