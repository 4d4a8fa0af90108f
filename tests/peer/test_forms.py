"""Forms and keyboard against a browser that refuses, is silent, or disappears; on a clock that jumps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio
from scripted_browser import ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._input.devices.keys import LAYOUTS, layout_named
from cdpengine.testing import SILENCE, Refusal, walk_cancellations

NODE = cdpengine.BackendNode(5)
INTERCEPT = "Page.setInterceptFileChooserDialog"
OPENED = {"frameId": "T1", "mode": "selectSingle", "backendNodeId": 9}


def sent(scripted: ScriptedBrowser, method: str) -> list[Mapping[str, Any]]:
    return [request.params for request in scripted.received if request.method == method]


# --- keyboard ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", [Refusal(-32000, "Not now"), SILENCE])
async def test_a_failed_chord_leaves_no_key_down(
    page: cdpengine.Page, scripted: ScriptedBrowser, fault: Any, autojump_clock: MockClock
) -> None:
    scripted.on("Input.dispatchKeyEvent", fault, nth=2)
    with pytest.raises((cdpengine.errors.RemoteError, cdpengine.errors.DeadlineExceededError)):
        await page.press("Control+Shift+K", timeout=1)
    assert page.keyboard.modifiers == 0
    kinds = [params["type"] for params in sent(scripted, "Input.dispatchKeyEvent")]
    assert len(kinds) == 6
    assert kinds.count("keyUp") == 3


async def test_typing_cancelled_at_each_moment_leaves_no_key_down(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page.keyboard.layout = "fr"

    async def check() -> None:
        await quiet()
        down: set[str] = set()
        for params in sent(scripted, "Input.dispatchKeyEvent"):
            (down.discard if params["type"] == "keyUp" else down.add)(params["code"])
        assert down == set()
        assert page.keyboard.modifiers == 0

    assert await walk_cancellations(lambda: page.keyboard.type("a\u00ea1\u4f60\nB", delay=0.01), check) > 5


@pytest.mark.parametrize("layout", LAYOUTS)
async def test_shifted_characters_are_sent_with_shift(
    page: cdpengine.Page, scripted: ScriptedBrowser, layout: str
) -> None:
    typed = layout_named(layout).typed
    characters = {
        character: keys[0].shifted
        for character, keys in typed.items()
        if len(keys) == 1 and character.isprintable()
    }
    assert sum(characters.values()) > 40
    await page.keyboard.type("".join(characters), layout=layout)
    for kind in ("keyUp", "keyDown"):
        events = [params for params in sent(scripted, "Input.dispatchKeyEvent") if params["type"] == kind]
        shifts = [params.get("modifiers", 0) for params in events]
        assert shifts == [8 * shifted for shifted in characters.values()]
    if layout != "fr":
        scripted.received.clear()
        await page.press("A", layout=layout)
        await page.press("!", layout=layout)
        assert [params["modifiers"] for params in sent(scripted, "Input.dispatchKeyEvent")] == [8, 8, 8, 8]


async def test_composition_counts_in_utf_16(page: cdpengine.Page, scripted: ScriptedBrowser) -> None:
    await page.keyboard.compose("\U0001f600", "\U0001f600a")
    (step,) = sent(scripted, "Input.imeSetComposition")
    assert (step["selectionStart"], step["selectionEnd"]) == (3, 3)
    assert sent(scripted, "Input.insertText") == [{"text": "\U0001f600"}]


# --- file choosers -----------------------------------------------------------------------------------------


async def test_choosers_are_intercepted_from_the_start(
    page: cdpengine.Page, scripted: ScriptedBrowser
) -> None:
    assert sent(scripted, INTERCEPT) == [{"enabled": True, "cancel": True}]
    scripted.page_event("Page.fileChooserOpened", OPENED)
    await quiet()
    (chooser,) = page.file_choosers
    assert (chooser.backend_node_id, chooser.expected, chooser.answer) == (9, False, "dismissed")


async def test_a_browser_without_chooser_interception_still_works(scripted: ScriptedBrowser) -> None:
    scripted.on(INTERCEPT, Refusal(-32601, "wasn't found"))
    async with scripted.engine() as browser:
        page = await browser.new_page()
        assert await page.evaluate("1") == 1
        with pytest.raises(cdpengine.errors.RemoteError):
            async with page.expect_file_chooser():
                raise AssertionError("the block must not be entered")


@pytest.mark.parametrize("events", [{}, {"frameId": 7}, {"mode": "selectSingle"}])
async def test_a_file_chooser_with_an_unknown_mode(
    page: cdpengine.Page, scripted: ScriptedBrowser, events: dict[str, Any]
) -> None:
    scripted.page_event("Page.fileChooserOpened", events)
    await quiet()
    assert page.file_choosers == []
    assert await page.evaluate("1") == 1


async def test_expectation_cancelled_at_each_moment(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    async def operation() -> None:
        async with page.expect_file_chooser(timeout=5) as chooser:
            scripted.page_event("Page.fileChooserOpened", OPENED)
        assert chooser.value.expected

    async def check() -> None:
        await quiet()
        assert sent(scripted, INTERCEPT)[-1] == {"enabled": True, "cancel": True}

    assert await walk_cancellations(operation, check) > 4


async def test_the_end_of_an_expectation_is_bounded(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    scripted.on(INTERCEPT, SILENCE, nth=3)
    started = trio.current_time()
    async with page.expect_file_chooser(timeout=5):
        scripted.page_event("Page.fileChooserOpened", OPENED)
    assert trio.current_time() - started <= 0.6
    assert sent(scripted, INTERCEPT)[-1]["cancel"] is True


async def test_the_page_closes_during_a_chooser_expectation(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    with pytest.raises(cdpengine.errors.SessionGoneError):
        async with page.expect_file_chooser(timeout=5):
            scripted.vanish("T1")


# --- upload ------------------------------------------------------------------------------------------------


async def test_missing_files_are_reported_before_anything_is_sent(
    page: cdpengine.Page, scripted: ScriptedBrowser, tmp_path: Path
) -> None:
    before = len(scripted.received)
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="nowhere.txt"):
        await page.upload(NODE, tmp_path / "nowhere.txt")
    assert len(scripted.received) == before
