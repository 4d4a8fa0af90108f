"""Screencasts of a real Chromium: changes, navigations, a page behind another one, and a recording."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio
from PIL import Image

import cdpengine
from cdpengine.pages import ScreencastFrame, ScreencastFrames

pytestmark = pytest.mark.chrome

MOVING = "data:text/html,<body><script>setInterval(() => document.body.textContent = Date.now(), 50)</script>"


async def received(frames: ScreencastFrames, count: int) -> list[ScreencastFrame]:
    with trio.fail_after(30):
        return [await frames.receive() for _ in range(count)]


async def test_frames_follow_changes_and_navigations(new_tab: cdpengine.Page) -> None:
    await new_tab.goto(MOVING)
    async with new_tab.pictures.frames() as frames:
        before = await received(frames, 12)  # more than Chrome sends without confirmations
        await new_tab.goto(MOVING.replace("<body>", "<title>next</title><body>"))
        after = await received(frames, 12)
    times = [frame.time for frame in before + after]
    assert times == sorted(times)
    assert all(frame.image.startswith(b"\xff\xd8") for frame in before + after)
    assert before[-1].width > before[-1].height > 0


async def test_a_page_behind_another_one_sends_frames(
    browser: cdpengine.Browser, new_tab: cdpengine.Page
) -> None:
    await new_tab.goto(MOVING)
    other = await browser.new_page()
    await other.bring_to_front()
    async with new_tab.pictures.frames(format="png", max_width=320) as frames:
        for frame in await received(frames, 3):
            assert frame.image.startswith(b"\x89PNG")
    await other.close()


async def test_a_recording_shows_the_change(new_tab: cdpengine.Page, tmp_path: Path) -> None:
    await new_tab.set_content("<body style='background: white'>")
    path = tmp_path / "change.webp"
    async with new_tab.pictures.frames() as frames:
        await received(frames, 1)
    async with new_tab.pictures.screencast(path) as recording:
        with trio.fail_after(30):
            while not recording.pictures:
                await new_tab.evaluate(
                    "document.body.style.background = 'rgb(0, 0, ' + Math.random() * 200 + ')'"
                )
                await trio.sleep(0.05)
            await new_tab.evaluate(
                "document.body.style.background = 'black'; new Promise(requestAnimationFrame)"
            )
    with Image.open(path) as image:
        assert image.width > image.height > 0
        assert image.n_frames >= 2  # type: ignore[attr-defined]
