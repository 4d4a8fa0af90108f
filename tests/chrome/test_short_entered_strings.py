"""Entered strings that are too short for a search are redacted in the messages that enter or read them."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest

import cdpengine
from cdpengine import debug
from cdpengine.debug.recording.recorder import log_traffic
from cdpengine.debug.recording.traffic_recorder import LIMIT

pytestmark = pytest.mark.chrome

FORM = """<form onsubmit="return false"><label>User <input></label><label>Password <input type=password></label>
<label>Code <input name=otp></label><label>Pin <input type=password maxlength=4></label>
<label>Masked <input oninput="this.value = this.value.replace(/[^A-Z0-9-]/gi, '')"></label>
<label>Note <textarea></textarea></label><div contenteditable role=textbox aria-label=Text></div>
<label>Date <input type=date></label></form>"""

FILLED = {
    "User": "Qz7",
    "Password": "Wk8v",
    "Code": "Jx9pq",
    "Masked": "V-w3",
    "Note": 'k"\\é',
}
EDITED = "Hy4h"


@pytest.mark.parametrize("limit", [LIMIT, 300])
async def test_short_strings_are_in_no_message(
    browser: cdpengine.Browser, tmp_path: Path, caplog: pytest.LogCaptureFixture, limit: int
) -> None:
    caplog.set_level(logging.DEBUG, "cdpengine.wire")
    everything, recording = tmp_path / "everything.jsonl", tmp_path / "redacted.jsonl"
    page = await browser.new_page()
    async with (
        debug.record(browser, everything, unredacted=True, limit=0),
        debug.record(browser, recording, limit=limit),
    ):
        with log_traffic(browser.instruments):
            await page.set_content(FORM)
            for name, value in FILLED.items():
                await page.fill(page.locate(role="textbox", name=name), value)
            await page.type(page.locate(role="textbox", name="Pin"), "T2x")
            await page.fill(await page.find(role="date", name="Date"), "")
            snapshot = await page.snapshot()
            # A snapshot reports the values of fields that are not secret.
            assert '[value="Qz7"]' in snapshot.text
            await page.fill(page.locate(role="textbox", name="User"), "oTh9")
            assert '[value="oTh9"]' in (await page.snapshot()).text
            # The content of an editable element is text of the page, which a snapshot reports.
            await page.fill(page.locate(role="textbox", name="Text"), EDITED)
    await page.close()
    entered = [json.dumps(value)[1:-1] for value in (*FILLED.values(), EDITED, "oTh9")]
    for value in entered:
        assert f'"{value}"' in everything.read_text("utf-8")
        for text in (recording.read_text("utf-8"), caplog.text):
            assert value not in text
            assert json.dumps(value)[1:-1] not in text
    assert "Input.insertText" in caplog.text
    assert "[redacted]" in caplog.text


async def test_equal_words_of_the_page_stay(browser: cdpengine.Browser, tmp_path: Path) -> None:
    recording = tmp_path / "redacted.jsonl"
    page = await browser.new_page()
    async with debug.record(browser, recording):
        await page.set_content("<input aria-label=Word><button>Save</button>")
        await page.fill(page.locate(role="textbox", name="Word"), "Save")
        await page.snapshot()
    await page.close()
    assert '\\"Save\\"' in recording.read_text("utf-8")
    assert '\\"value\\",\\"[redacted]\\"' in recording.read_text("utf-8")
