"""Moves through the history, with a browser that moves a frame first and the page's document afterwards."""

from __future__ import annotations

import pytest
from scripted_browser import NUMBER, ScriptedBrowser
from trio.testing import MockClock

import cdpengine
from cdpengine.testing import Refusal, Request
from cdpengine.testing.peer import Answer

ENTRIES = [{"id": 1, "url": "https://a.example/"}, {"id": 2, "url": "https://b.example/"}]


@pytest.mark.parametrize(
    ("index", "way", "told"),
    [
        (
            0,
            "go_back",
            "to the previous entry of the history failed: no such entry: about:blank is the first one of 2",
        ),
        (
            1,
            "go_forward",
            "to the next entry of the history failed: no such entry: about:blank is the last one of 2",
        ),
    ],
)
async def test_a_missing_entry_is_named(
    page: cdpengine.Page, scripted: ScriptedBrowser, index: int, way: str, told: str
) -> None:
    scripted.on("Page.getNavigationHistory", result={"currentIndex": index, "entries": ENTRIES})
    with pytest.raises(cdpengine.errors.NavigationFailedError) as caught:
        await getattr(page, way)()
    assert told in str(caught.value)
    assert caught.value.url == "about:blank"


@pytest.mark.parametrize("words", ["Not attached to an active page", "Something else"])
async def test_the_history_is_read_during_the_replacement_of_the_document(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock, words: str
) -> None:
    inner = {"id": "F1", "parentId": "T1", "url": "https://a.example/x"}
    scripted.page_event("Page.frameAttached", {"frameId": "F1", "parentFrameId": "T1"})
    scripted.page_event("Page.frameNavigated", {"frame": inner | {"loaderId": "F1.1"}})
    asked = 0

    def history(_request: Request) -> Answer:
        nonlocal asked
        asked += 1
        if asked == 2:  # the frame has moved, the page follows
            return Refusal(-32000, words)
        if asked == 3:
            scripted.commit("T1", "https://a.example/")
        return {"currentIndex": 1, "entries": ENTRIES}

    def go(_request: Request) -> Answer:
        scripted.page_event("Page.frameNavigated", {"frame": inner | {"loaderId": "F1.2"}})
        return {}

    scripted.on("Page.getNavigationHistory", history)
    scripted.on("Page.navigateToHistoryEntry", go)
    if words == "Something else":
        with pytest.raises(cdpengine.errors.RemoteError, match=words):
            await page.go_back()
        return
    navigation = await page.go_back()
    assert navigation is not None
    assert (navigation.url, navigation.same_document) == ("https://a.example/", False)
    assert asked == 3


async def test_the_history_is_ahead_of_the_document(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """The browser process already has the page at the entry. The page's process reports it a moment later."""
    scripted.page_event("Page.frameAttached", {"frameId": "F1", "parentFrameId": "T1"})
    frame = {"id": "F1", "parentId": "T1", "url": "https://a.example/x"}
    scripted.page_event("Page.frameNavigated", {"frame": frame | {"loaderId": "F1.1"}})
    there = committed = False

    def history(_request: Request) -> Answer:
        return {"currentIndex": 0 if there else 1, "entries": ENTRIES}

    def go(_request: Request) -> Answer:
        nonlocal there
        there = True
        scripted.page_event("Page.frameNavigated", {"frame": frame | {"loaderId": "F1.2"}})
        return {}

    def evaluate(_request: Request) -> Answer:
        nonlocal committed
        if there and not committed:
            committed = True
            scripted.commit("T1", "https://a.example/")
        return NUMBER

    scripted.on("Page.getNavigationHistory", history)
    scripted.on("Page.navigateToHistoryEntry", go)
    scripted.on("Runtime.evaluate", evaluate)
    navigation = await page.go_back()
    assert navigation is not None
    assert (navigation.url, navigation.same_document) == ("https://a.example/", False)


@pytest.mark.parametrize("brought", [True, False])
async def test_a_page_from_the_back_forward_cache_is_marked(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock, brought: bool
) -> None:
    """The response has the status of the original navigation if the engine made it:

    Chrome asks no server again.
    """
    first = "T1.9"
    if brought:

        def navigate(request: Request) -> Answer:
            answer = scripted.navigate(request)
            assert isinstance(answer, dict)
            nonlocal first
            first = answer["loaderId"]
            ids = {"requestId": first, "loaderId": first, "frameId": "T1"}
            scripted.page_event("Network.requestWillBeSent", ids | {"request": {"url": "https://a.example/"}})
            response = {"status": 203, "mimeType": "text/html"}
            scripted.page_event("Network.responseReceived", ids | {"response": response})
            return answer

        scripted.on("Page.navigate", navigate)
        assert not (await page.goto("https://a.example/")).from_cache
        scripted.on("Page.navigate", scripted.navigate)
    await page.goto("https://b.example/")

    def go(_request: Request) -> Answer:
        frame = {"id": "T1", "loaderId": first, "url": "https://a.example/"}
        scripted.page_event("Page.frameNavigated", {"frame": frame, "type": "BackForwardCacheRestore"})
        return {}

    scripted.on("Page.getNavigationHistory", {"currentIndex": 1, "entries": ENTRIES})
    scripted.on("Page.navigateToHistoryEntry", go)
    navigation = await page.go_back()
    assert navigation is not None
    expected = (203, "text/html") if brought else (None, "")
    assert (navigation.status, navigation.mime_type, navigation.from_cache) == (*expected, True)
