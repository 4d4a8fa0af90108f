"""Frames of a screencast: Chrome sends a picture for each drawn change of a page.

Rule: each frame is confirmed when it arrives, because Chrome stops after a few unconfirmed ones. At most `buffer`
frames wait for the consumer. Beyond that, the oldest ones are dropped and counted. The picture of a frame is
decoded when it is received.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, Self

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._checks import check_choice, check_count
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.page import ScreencastFrameEvent
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import EventStream
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError, TargetCrashedError

FrameFormat = Literal["jpeg", "png"]

_STOPPING = 0.5
"""Maximum time in seconds for Chrome to confirm the end of a screencast."""


@attrs.frozen
class ScreencastFrame:
    """A picture of the viewport.

    `time` is the time of the drawing in seconds since 1970. `width` and `height` are those of the viewport in CSS
    pixels, and `scroll_x` and `scroll_y` its position in the page. `page_scale` is the pinch zoom.
    """

    image: bytes = attrs.field(repr=False)
    time: float
    width: float
    height: float
    scroll_x: float
    scroll_y: float
    page_scale: float


class FrameQueue:
    """A bounded queue of frames, from the engine to the consumer."""

    def __init__(self, buffer: int) -> None:
        self.buffer = check_count("buffer", buffer, least=1, unit="frames")
        self.dropped = 0
        self._waiting: deque[ScreencastFrameEvent] = deque()
        self._arrived = trio.lowlevel.ParkingLot()
        self._end: Exception | None = None

    def put(self, event: ScreencastFrameEvent) -> None:
        """Add a frame, and drop the oldest one if the queue is full."""
        self._waiting.append(event)
        if len(self._waiting) > self.buffer:
            self._waiting.popleft()
            self.dropped += 1
        self._arrived.unpark()

    def end(self, error: Exception) -> None:
        """Set the error that follows the last frame."""
        self._end = self._end or error
        self._arrived.unpark_all()

    async def take(self) -> ScreencastFrame:
        """Wait for the next frame and remove it. Raises the error that ended the queue."""
        await trio.lowlevel.checkpoint()
        while not self._waiting:
            if self._end is not None:
                raise self._end
            await self._arrived.park()
        return _decode(self._waiting.popleft())


@not_picklable("the frames")
class ScreencastFrames:
    """The frames of a page, from the start of the block on. Iterate over it, or call `receive()`.

    If more than `buffer` frames wait, the oldest ones are dropped. The iteration ends with the page. A crash does
    not end it: frames follow after `page.reload()`.
    """

    def __init__(self, queue: FrameQueue) -> None:
        self._queue = queue

    @property
    def dropped(self) -> int:
        """Number of frames dropped so far because the buffer was full."""
        return self._queue.dropped

    async def receive(self) -> ScreencastFrame:
        """Wait for the next frame and return it.

        Raises SessionGoneError or ConnectionLostError after the last frame of a page that is gone, and
        trio.ClosedResourceError after the block.
        """
        return await self._queue.take()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ScreencastFrame:
        try:
            return await self.receive()
        except SessionGoneError:
            raise StopAsyncIteration from None


def screencast_params(
    image_format: FrameFormat,
    quality: int | None,
    max_width: int | None,
    max_height: int | None,
    every_nth: int,
) -> dict[str, Any]:
    """Return the parameters of Page.startScreencast. Raises InvalidArgumentError."""
    check_choice("format", image_format, ("jpeg", "png"))
    params: dict[str, Any] = {
        "format": image_format,
        "everyNthFrame": check_count("every_nth", every_nth, least=1),
    }
    if quality is not None:
        params["quality"] = check_count("quality", quality, least=0, most=100)
    if max_width is not None:
        params["maxWidth"] = check_count("max_width", max_width, least=1, unit="pixels")
    if max_height is not None:
        params["maxHeight"] = check_count("max_height", max_height, least=1, unit="pixels")
    return params


@asynccontextmanager
async def receive_frames(session: Session, queue: FrameQueue) -> AsyncIterator[None]:
    """Put the frames of a session into a queue while the body runs. At its end, the screencast stops.

    The queue then has all frames that Chrome sent before.
    """
    async with (
        session.subscribe("Page.screencastFrame", buffer=_UNCONFIRMED, enable=False) as events,
        open_body_nursery() as nursery,
    ):
        nursery.start_soon(_receive, session, events, queue)
        try:
            yield
        finally:
            await _stop(session)
            with suppress(trio.WouldBlock, SessionGoneError, ConnectionLostError):
                while True:
                    queue.put(events.receive_nowait().decode(ScreencastFrameEvent))
            queue.end(trio.ClosedResourceError("the screencast has ended"))


_UNCONFIRMED = 100
"""Buffer for frames that the engine has not confirmed. Chrome sends at most a few."""


async def _receive(session: Session, events: EventStream, queue: FrameQueue) -> None:
    while True:
        try:
            event = (await events.receive()).decode(ScreencastFrameEvent)
        except TargetCrashedError:
            continue
        except (SessionGoneError, ConnectionLostError) as error:
            queue.end(error)
            return
        queue.put(event)
        with suppress(SessionGoneError, ConnectionLostError):
            session.post("Page.screencastFrameAck", sessionId=event.session_id)


async def _stop(session: Session) -> None:
    with (
        undoing(_STOPPING),
        suppress(RemoteError, SessionGoneError, ConnectionLostError),
    ):
        await session.call("Page.stopScreencast")


def _decode(event: ScreencastFrameEvent) -> ScreencastFrame:
    seen = event.metadata
    return ScreencastFrame(
        decode_bytes("Page.screencastFrame", event.data),
        seen.timestamp,
        seen.device_width,
        seen.device_height,
        seen.scroll_offset_x,
        seen.scroll_offset_y,
        seen.page_scale_factor,
    )
