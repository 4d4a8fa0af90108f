"""Screencasts of a page: frames as a stream, and an animated WebP file.

Rule: a page has one screencast at a time, because Chrome has one for each session. A recording keeps the order and
the times of the frames. Its last picture lasts until the end of the block.
"""

from __future__ import annotations

import math
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, BinaryIO

import attrs
import trio

from cdpengine._api.page.core import PageCore
from cdpengine._budget import within
from cdpengine._checks import check_number, invalid
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import OutputFile, output_file
from cdpengine._pictures.screencast import FrameQueue, ScreencastFrame, ScreencastFrames, receive_frames
from cdpengine._pictures.webp_animation import WebPAnimation, check_pillow
from cdpengine.errors import (
    ConnectionLostError,
    FileNotWrittenError,
    InvalidStateError,
    SessionGoneError,
    os_reason,
)

_WHAT = "the screencast"

_FAILED = 1.0
"""Time in seconds to write the file after an error in the block."""

_LAST_FRAME = 0.1
"""Time in seconds after the block in which a change of its last action is drawn."""

_FIRST_FRAME = 0.5
"""Time in seconds after the block in which the first frame of a short block arrives."""

_BUFFER = 100
"""Number of frames that wait for their compression."""

_MOST_FPS = 60

_OTHER_FORMATS = {".webm", ".mp4", ".mkv", ".mov", ".avi", ".gif", ".png", ".apng"}
"""Extensions of formats that a screencast is not written in."""

_PIECE = 1 << 20
"""Size of a written piece, in bytes."""


@attrs.define(eq=False)
class Screencast:
    """A recording. After the block, the file at `path` is complete.

    `pictures` is the number of pictures so far, `duration` their time in seconds, and `dropped` the number of
    frames that came too fast to be compressed.
    """

    path: Path
    pictures: int = 0
    duration: float = 0.0
    dropped: int = 0


@asynccontextmanager
async def open_frames(
    core: PageCore, params: Mapping[str, Any], buffer: int, timeout: float
) -> AsyncIterator[ScreencastFrames]:
    """Start a screencast for a block, and yield its frames."""
    queue = FrameQueue(buffer)
    if core.target.has_screencast:
        raise InvalidStateError("start a screencast", "this page has one already")
    core.target.has_screencast = True
    film = core.target.film
    try:
        if film is not None:
            film.pause()
            async with core.action("start a screencast", timeout):
                await core.session.call("Page.stopScreencast")  # its pictures have another size
        async with receive_frames(core.session, queue):
            async with core.action("start a screencast", timeout):
                await core.session.call("Page.startScreencast", params)
            yield ScreencastFrames(queue)
    finally:
        core.target.has_screencast = False
        if core.target.film is not None:
            core.target.film.resume()


def animation_path(path: Path) -> Path:
    """Return the path of an animated WebP. Raises InvalidArgumentError for the extension of another format."""
    if path.suffix.lower() in _OTHER_FORMATS:
        raise invalid("path of the screencast", str(path), 'a name that ends in ".webp"')
    return path


def check_fps(fps: float) -> float:
    """Return the number of pictures in a second. Raises InvalidArgumentError."""
    return check_number("fps", fps, above=0, most=_MOST_FPS)


@asynccontextmanager
async def record_screencast(
    core: PageCore,
    path: Path,
    params: Mapping[str, Any],
    *,
    fps: float,
    quality: int,
    overwrite: bool,
    timeout: float,
) -> AsyncIterator[Screencast]:
    """Record the block as an animated WebP. After an error in the block, the file is written if it is quick."""
    check_pillow()
    with _spool(path) as spool:
        recorder = _Recorder(WebPAnimation(spool, quality), Screencast(path), fps)
        async with output_file(_WHAT, path, overwrite=overwrite) as file:
            failed = True
            try:
                async with open_body_nursery() as nursery:
                    async with open_frames(core, params, _BUFFER, timeout) as frames:
                        nursery.start_soon(recorder.run, frames)
                        yield recorder.screencast
                        await recorder.wait_for_last_frame()
                    failed = False
                    with within("write the screencast", timeout):
                        await recorder.done.wait()
                        await _write(recorder, spool, file)
            except BaseException:
                if failed and recorder.started:
                    with trio.move_on_after(_FAILED, shield=True):
                        await _write(recorder, spool, file)
                        await file.keep()
                raise


async def _write(recorder: _Recorder, spool: BinaryIO, file: OutputFile) -> None:
    """Write the rest of the animation, and copy it to its file."""
    await recorder.finish()
    spool.seek(0)
    while piece := await trio.to_thread.run_sync(spool.read, _PIECE):
        await file.write(piece)


def _spool(path: Path) -> BinaryIO:
    try:
        return tempfile.TemporaryFile()
    except OSError as error:
        raise FileNotWrittenError(_WHAT, str(path), os_reason(error)) from error


class _Recorder:
    """Adds frames to an animation: at most `fps` pictures in a second. The last frame of each moment counts."""

    def __init__(self, animation: WebPAnimation, screencast: Screencast, fps: float) -> None:
        self.screencast = screencast
        self.done = trio.Event()
        self._animation = animation
        self._fps = fps
        self._first = 0.0
        self._pending: ScreencastFrame | None = None
        self._since = 0.0
        self._arrived = 0.0
        self._changed = trio.lowlevel.ParkingLot()

    @property
    def started(self) -> bool:
        """Whether a frame has arrived."""
        return self._pending is not None

    async def wait_for_last_frame(self) -> None:
        """Wait until Chrome has drawn the effect of the block's last action, or for a short time."""
        before = self._pending
        with trio.move_on_after(_LAST_FRAME if before is not None else _FIRST_FRAME):
            while self._pending is before:
                await self._changed.park()

    async def run(self, frames: ScreencastFrames) -> None:
        """Add frames until the end of the screencast."""
        while True:
            try:
                frame = await frames.receive()
            except (SessionGoneError, ConnectionLostError, trio.ClosedResourceError):
                break
            self.screencast.dropped = frames.dropped
            pending = self._pending
            if pending is None:
                self._first = self._since = frame.time
            elif self._slot(frame.time) > self._slot(self._since):
                await trio.to_thread.run_sync(self._add, pending.image, frame.time)
            self._pending, self._arrived = frame, trio.current_time()
            self._changed.unpark_all()
        self.done.set()

    async def finish(self) -> None:
        """Add the last picture, which lasts until now, and write the end of the file.

        Raises InvalidStateError if no frame arrived.
        """
        if self._pending is None:
            raise InvalidStateError(
                "record a screencast",
                "Chrome drew no frame. Bring the page to the front: page.bring_to_front()",
            )
        # The browser's clock can differ from this machine's.
        until = self._pending.time + trio.current_time() - self._arrived
        await trio.to_thread.run_sync(self._add, self._pending.image, until)
        try:
            await trio.to_thread.run_sync(self._animation.finish)
        except OSError as error:
            raise self._error(error) from error

    def _slot(self, when: float) -> int:
        return math.floor((when - self._first) * self._fps)

    def _add(self, image: bytes, until: float) -> None:
        # Durations are rounded so that their sum stays exact.
        begin, end = (round((each - self._first) * 1000) for each in (self._since, until))
        try:
            self._animation.add(image, max(end - begin, 0))
        except OSError as error:
            raise self._error(error) from error
        self._since = until
        self.screencast.pictures += 1
        self.screencast.duration = until - self._first

    def _error(self, error: OSError) -> FileNotWrittenError:
        return FileNotWrittenError(_WHAT, str(self.screencast.path), os_reason(error))
