"""Undo commands are sent even when the program wakes late: on a busy machine, long after its deadline."""

from __future__ import annotations

import time

import pytest
import trio
from scripted_browser import ScriptedBrowser

import cdpengine
from cdpengine._budget import UNDOING, undoing, within
from cdpengine.testing import SILENCE


@pytest.mark.parametrize("late", [0, UNDOING + 0.05])
async def test_it_is_sent_after_its_deadline(
    browser: cdpengine.Browser, scripted: ScriptedBrowser, late: float
) -> None:
    scripted.on("A.undo", SILENCE)
    with pytest.raises(cdpengine.errors.DeadlineExceededError), within("wait", 0.02):
        try:
            await trio.sleep_forever()
        finally:
            time.sleep(late)  # noqa: ASYNC251 - the whole program gets no time
            with undoing(1.0):
                await browser.session.call("A.undo")
    await browser.session.call("Browser.getVersion")
    assert scripted.count("A.undo") == 1
