"""Dialog handlers that answer, fail, hang or come too late, and the answer that counts."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
import trio
from scripted_browser import NUMBER, ScriptedBrowser, quiet
from trio.testing import MockClock

import cdpengine
from cdpengine._page.dialogs import HANDLER_LIMIT
from cdpengine.testing import Request
from cdpengine.testing.peer import SILENCE, Answer

CONFIRM = {"type": "confirm", "message": "Sure?", "url": "https://a.example/"}


@pytest.fixture
async def scripted(guard: None) -> AsyncIterator[ScriptedBrowser]:
    async with ScriptedBrowser() as peer:

        def handled(request: Request) -> Answer:
            request.reply({})
            peer.page_event("Page.javascriptDialogClosed", {"result": request.params["accept"]})
            return SILENCE

        peer.on("Page.handleJavaScriptDialog", handled)
        yield peer


@pytest.fixture
async def page(scripted: ScriptedBrowser) -> AsyncIterator[cdpengine.Page]:
    async with scripted.engine() as browser:
        yield await browser.new_page()


def answers(scripted: ScriptedBrowser) -> list[object]:
    return [each.params for each in scripted.received if each.method == "Page.handleJavaScriptDialog"]


async def _later(_dialog: cdpengine.Dialog) -> bool:
    await trio.sleep(1)
    return True


async def test_handlers_are_sync_or_async(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    handlers: list[Callable[[cdpengine.Dialog], bool | Awaitable[bool]]] = [lambda _dialog: True, _later]
    for handler in handlers:
        page.dialogs.set_policy(handler)
        scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
        await trio.sleep(2)
        dialog = page.dialogs.records[-1]
        assert (dialog.accepted, dialog.answered_by, dialog.failure) == (True, "handler", "")
    assert answers(scripted) == [{"accept": True}] * 2


async def test_a_handler_that_raises_leaves_no_dialog_open(
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: MockClock,
) -> None:
    caplog.set_level(logging.ERROR, logger="cdpengine")

    def handler(dialog: cdpengine.Dialog) -> bool:
        assert dialog.accepted is None
        raise KeyError("no such answer")

    page.dialogs.set_policy(handler)
    scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
    await quiet()
    (dialog,) = page.dialogs.records
    assert (dialog.accepted, dialog.answered_by) == (False, "default")
    assert dialog.failure == "KeyError: 'no such answer'"
    assert [record.levelname for record in caplog.records if "handler" in record.message] == ["ERROR"]
    assert await page.evaluate("1", timeout=1) == 1, "the engine still works"


async def test_a_hanging_handler_is_abandoned(
    page: cdpengine.Page,
    scripted: ScriptedBrowser,
    caplog: pytest.LogCaptureFixture,
    autojump_clock: MockClock,
) -> None:
    async def handler(_dialog: cdpengine.Dialog) -> bool:
        while True:
            await trio.sleep_forever()

    page.dialogs.set_policy(handler)
    scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
    await quiet()
    started = trio.current_time()
    assert [dialog.accepted for dialog in page.dialogs.records] == [None]
    await page.internals.target.dialogs.wait_for_answer()
    assert trio.current_time() - started == HANDLER_LIMIT
    assert (page.dialogs.records[-1].accepted, page.dialogs.records[-1].answered_by) == (False, "default")
    assert "5 s" in page.dialogs.records[-1].failure


async def test_the_faster_answer_wins(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page.dialogs.set_policy(_later)
    scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
    scripted.page_event("Page.javascriptDialogClosed", {"result": True})
    await trio.sleep(5)
    assert [(d.accepted, d.answered_by) for d in page.dialogs.records] == [(True, "elsewhere")]
    assert answers(scripted) == [], "its handler was stopped"


async def test_closing_the_engine_ends_its_handlers(
    scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    ended = trio.Event()

    async def handler(_dialog: cdpengine.Dialog) -> bool:
        try:
            while True:
                await trio.sleep_forever()
        finally:
            ended.set()

    async with scripted.engine() as browser:
        page = await browser.new_page()
        page.dialogs.set_policy(handler)
        scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
        await quiet()
    assert ended.is_set()


async def test_raise_belongs_to_the_action_it_opened_in(
    page: cdpengine.Page, scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    page.dialogs.set_policy("raise")
    scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
    await quiet()
    assert await page.evaluate("1", timeout=1) == 1, "it opened before"

    def asks(_request: Request) -> Answer:
        scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
        scripted.on("Runtime.evaluate", result=NUMBER)
        return NUMBER

    scripted.on("Runtime.evaluate", asks)
    with pytest.raises(cdpengine.errors.DialogOpenedError, match="Sure") as caught:
        await page.evaluate("1", timeout=5)
    assert isinstance(caught.value.dialog, cdpengine.Dialog)


async def test_one_handler_knows_the_page_of_each_dialog(
    scripted: ScriptedBrowser, autojump_clock: MockClock
) -> None:
    """Covers pages that no caller has seen yet: a popup can show a dialog before the engine yields the popup."""
    asked: list[cdpengine.Page] = []

    def answer(dialog: cdpengine.Dialog) -> bool:
        asked.append(dialog.page)
        return True

    async with scripted.engine() as browser:
        browser.set_dialog_policy(answer)
        first, second = [await browser.new_page() for _ in range(2)]
        scripted.open("T9", opener=first.target_id)
        await quiet()
        for target_id in ("T2", "T1", "T9"):
            scripted.tell("Page.javascriptDialogOpening", CONFIRM, f"S-{target_id}")
            scripted.tell("Page.javascriptDialogClosed", {"result": True}, f"S-{target_id}")
            await quiet()
        assert asked == [second, first, browser.page("T9")]
        assert [dialog.page for dialog in second.dialogs.records] == [second]
        with trio.move_on_after(1):
            async with first.expect_dialog() as expected:
                scripted.page_event("Page.javascriptDialogOpening", CONFIRM)
                scripted.page_event("Page.javascriptDialogClosed", {"result": True})
        assert expected.value.page is first
        assert "Page" not in repr(expected.value)
