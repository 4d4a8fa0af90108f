"""Screencasts from a scripted browser: confirmations, dropped frames, recordings, and the end."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import pytest
import trio
from PIL import Image
from scripted_browser import ScriptedBrowser, quiet

import cdpengine
from cdpengine.errors import InvalidStateError, SessionGoneError


def jpeg(colour: str) -> bytes:
    encoded = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(encoded, "JPEG")
    return encoded.getvalue()


def send(scripted: ScriptedBrowser, number: int, colour: str = "red", time: float | None = None) -> None:
    metadata = {
        "offsetTop": 0, "pageScaleFactor": 1, "deviceWidth": 640, "deviceHeight": 480, "scrollOffsetX": 0,
        "scrollOffsetY": 7, "timestamp": 1000.0 + number if time is None else time,
    }  # fmt: skip
    frame = {"data": base64.b64encode(jpeg(colour)).decode(), "sessionId": number, "metadata": metadata}
    scripted.page_event("Page.screencastFrame", frame)


def confirmed(scripted: ScriptedBrowser) -> list[int]:
    return [
        each.params["sessionId"] for each in scripted.received if each.method == "Page.screencastFrameAck"
    ]


def sent(scripted: ScriptedBrowser, method: str) -> int:
    return sum(each.method == method for each in scripted.received)


async def test_each_frame_is_confirmed_and_the_oldest_are_dropped(
    scripted: ScriptedBrowser, page: cdpengine.Page
) -> None:
    async with page.pictures.frames(buffer=2) as frames:
        for number in range(5):
            send(scripted, number)
            await quiet()
        assert confirmed(scripted) == [0, 1, 2, 3, 4]
        received = [await frames.receive(), await frames.receive()]
        assert [frame.time for frame in received] == [1003.0, 1004.0]
        assert (received[0].width, received[0].scroll_y, received[0].image[:2]) == (640, 7, b"\xff\xd8")
        assert frames.dropped == 3
    assert sent(scripted, "Page.stopScreencast") == 1
    with pytest.raises(trio.ClosedResourceError):
        await frames.receive()


async def test_a_page_has_one_screencast_at_a_time(page: cdpengine.Page) -> None:
    async with page.pictures.frames():
        with pytest.raises(InvalidStateError, match="has one already"):
            async with page.pictures.frames():
                pass
    async with page.pictures.frames():
        pass


async def test_the_iteration_ends_with_the_page(scripted: ScriptedBrowser, page: cdpengine.Page) -> None:
    async with page.pictures.frames() as frames:
        send(scripted, 1)
        await quiet()
        scripted.vanish(page.target_id)
        assert [frame.time async for frame in frames] == [1001.0]
        with pytest.raises(SessionGoneError):
            await frames.receive()


async def test_a_recording_has_the_times_of_the_frames(
    scripted: ScriptedBrowser, page: cdpengine.Page, tmp_path: Path
) -> None:
    path = tmp_path / "a.webp"
    async with page.pictures.screencast(path, fps=10) as recording:
        send(scripted, 1, "red", 1000.0)
        send(scripted, 2, "green", 1000.02)  # of the same moment: it replaces the first
        send(scripted, 3, "blue", 1000.5)
        await quiet()
    assert recording.pictures == 2
    with Image.open(path) as image:
        assert image.n_frames == 2  # type: ignore[attr-defined]
        image.load()
        assert image.info["duration"] == 500


async def test_a_recording_is_written_after_an_error_in_the_block(
    scripted: ScriptedBrowser, page: cdpengine.Page, tmp_path: Path
) -> None:
    path = tmp_path / "a.webp"
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as raised:
        async with page.pictures.screencast(path):
            send(scripted, 1)
            await quiet()
            raise error
    assert raised.value is error
    with Image.open(path) as image:
        assert image.size == (64, 48)


async def test_a_cancelled_recording_stops_and_leaves_its_file(
    scripted: ScriptedBrowser, page: cdpengine.Page, tmp_path: Path
) -> None:
    with trio.move_on_after(5) as scope:
        async with page.pictures.screencast(tmp_path / "a.webp"):
            send(scripted, 1)
            await quiet()
            scope.cancel()
            await trio.sleep_forever()
    assert sent(scripted, "Page.stopScreencast") == 1
    assert [each.name for each in tmp_path.iterdir()] == ["a.webp"]


async def test_a_recording_without_frames_raises_and_leaves_no_file(
    page: cdpengine.Page, tmp_path: Path
) -> None:
    with pytest.raises(InvalidStateError, match="drew no frame"):
        async with page.pictures.screencast(tmp_path / "a.webp"):
            pass
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="webp"):
        async with page.pictures.screencast(tmp_path / "a.webm"):
            pass
