"""Screenshots: unmodified bytes from Chrome. Nothing is added to the page.

Rule: an area that is too large for Chrome to draw is captured in pieces and joined; an area that the format cannot
represent is refused before drawing. If more than the viewport is captured, the page gets `resize` events, because
Chrome resizes it for that.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import attrs
import trio

from cdpengine._javascript import own
from cdpengine._nursery import open_body_nursery
from cdpengine._page.navigation.active_document import request_of_active
from cdpengine._page.scripts.page_functions import Command, ExecutionContext
from cdpengine._pictures.editing import (
    Area,
    ImageOptions,
    OtherKind,
    PngColumn,
    check_pixels,
    join_pictures,
    rows_of_tiles,
    to_rgba,
)
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.page import FrameNavigated, LayoutMetricsReply, ScreenshotReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, MeasurementFailedError, RemoteError, SessionGoneError

_RGBA = 6

_NOT_DRAWN = "Unable to capture screenshot"
"""Chrome's error if it has no picture, such as while it replaces the document, as of Chromium 156."""

_LATE = 0.5
"""Time in seconds after a navigation in which Chrome may still send the picture of the earlier document."""

_PAUSES = (0.05, 0.1, 0.2, 0.4, 0.8)
"""Pauses in seconds before the capture is repeated after that error."""


@attrs.frozen
class View:
    """The scroll position of the page, and the sizes of its viewport and document; CSS pixels."""

    x: float
    y: float
    width: float
    height: float
    content_width: float
    content_height: float

    @property
    def document(self) -> Area:
        """The whole document."""
        return Area(0, 0, self.content_width, self.content_height)

    @property
    def viewport(self) -> Area:
        """The visible part of the document."""
        return Area(self.x, self.y, self.width, self.height)

    def holds(self, area: Area) -> bool:
        """Return whether a whole area is visible."""
        inside = area.x >= self.x and area.x + area.width <= self.x + self.width
        return inside and area.y >= self.y and area.y + area.height <= self.y + self.height


@attrs.frozen
class Picture:
    """A picture, its area of the document, and its pixels per CSS pixel."""

    data: bytes = attrs.field(repr=False)
    area: Area
    scale: float


async def current_view(session: Session) -> View:
    """Return the current view of the page. Raises the errors of `Session.request`."""
    metrics = await session.request("Page.getLayoutMetrics", {}, LayoutMetricsReply)
    viewport, content = metrics.css_visual_viewport, metrics.css_content_size
    return View(
        viewport.page_x,
        viewport.page_y,
        viewport.client_width,
        viewport.client_height,
        content.width,
        content.height,
    )


_SCALE = own("devicePixelRatio")


async def screen_scale(context: ExecutionContext) -> float:
    """Return the number of screen pixels per CSS pixel. `context` is an isolated world of the page.

    The protocol has no other way that includes the emulated scale. Raises the errors of `Session.request`.
    """
    return await context.evaluate(_SCALE, returns=float) or 1.0


async def take_screenshot(
    session: Session,
    options: ImageOptions,
    *,
    screen: float,
    full_page: bool = False,
    area: Area | None = None,
) -> Picture:
    """Return a picture of the viewport, of the whole document, or of an area, visible or not.

    `screen` is the scale of the page's screen, from `screen_scale`.

    Raises InvalidArgumentError, MeasurementFailedError if Chrome returns no picture, and the errors of
    `Session.request`.
    """
    view = await current_view(session)
    region = area or (view.document if full_page else view.viewport)
    scale = options.scale_for(region, screen)
    width, height = region.pixels(scale)
    options.check_size(width, height)
    async with _background(session, omitted=options.omit_background):
        if area is None and not full_page and scale == screen:
            return Picture(await _capture(session, options, None, 1, width, height), region, scale)
        rows = rows_of_tiles(region, scale)
        ratio = scale / screen
        if len(rows) == len(rows[0]) == 1:
            beyond = not view.holds(region)
            data = await _capture(session, options, region, ratio, width, height, beyond=beyond)
            return Picture(data, region, scale)
        png = attrs.evolve(options, format="png", quality=None)
        if options.format == "png" and len(rows[0]) == 1:
            return Picture(await _column(session, png, [row[0] for row in rows], ratio), region, scale)
        check_pixels(options.format, width, height)
        tiles = [
            [await _capture(session, png, tile, ratio, width, height, beyond=True) for tile in row]
            for row in rows
        ]
        data = await trio.to_thread.run_sync(join_pictures, tiles, options.format, options.quality)
        return Picture(data, region, scale)


async def _column(session: Session, options: ImageOptions, tiles: list[Area], ratio: float) -> bytes:
    column = PngColumn()
    for tile in tiles:
        data = await _capture(session, options, tile, ratio, *tile.pixels(1), beyond=True)
        try:
            await trio.to_thread.run_sync(column.add, data)
        except OtherKind:
            # Chrome omits the alpha channel if no pixel is transparent.
            if column.colour_type != _RGBA:
                return await _column_with_alpha(session, options, tiles, ratio)
            await trio.to_thread.run_sync(column.add, await trio.to_thread.run_sync(to_rgba, data))
    return await trio.to_thread.run_sync(column.finish)


async def _column_with_alpha(
    session: Session, options: ImageOptions, tiles: list[Area], ratio: float
) -> bytes:
    column = PngColumn()
    for tile in tiles:
        data = await _capture(session, options, tile, ratio, *tile.pixels(1), beyond=True)
        await trio.to_thread.run_sync(column.add, await trio.to_thread.run_sync(to_rgba, data))
    return await trio.to_thread.run_sync(column.finish)


async def _capture(
    session: Session,
    options: ImageOptions,
    clip: Area | None,
    ratio: float,
    width: int,
    height: int,
    *,
    beyond: bool = False,
) -> bytes:
    params: dict[str, object] = {"format": options.format}
    if options.quality is not None:
        params["quality"] = options.quality
    if clip is not None:
        params["captureBeyondViewport"] = beyond
        size = {"width": max(clip.width, 1), "height": max(clip.height, 1)}
        params["clip"] = {"x": clip.x, "y": clip.y, **size, "scale": ratio}
    command = Command("Page.captureScreenshot", params)
    for pause in (*_PAUSES, None):
        try:
            reply = await _request(session, command)
        except RemoteError as error:
            if not error.message.startswith(_NOT_DRAWN):
                raise
        else:
            if reply.data:
                return decode_bytes(command.method, reply.data)
            break
        if pause is not None:
            await trio.sleep(pause)
    raise MeasurementFailedError(
        "the screenshot", "", f"Chrome returned no picture of {width} x {height} pixels"
    )


async def _request(session: Session, command: Command) -> ScreenshotReply:
    """Send the command, and again if the page navigates and no reply follows: Chrome then lost the picture.

    Chrome draws the document of the moment of the command, and answers nothing if a navigation replaces it.
    """
    replies: list[ScreenshotReply] = []
    while not replies:
        left = trio.Event()

        def note(event: Event, left: trio.Event = left) -> None:
            if event.decode(FrameNavigated).frame.parent_id is None:
                left.set()

        async def ask(scope: trio.CancelScope) -> None:
            replies.append(await request_of_active(session, command, ScreenshotReply))
            scope.cancel()

        with session.listening({"Page.frameNavigated": note}):
            async with open_body_nursery() as nursery:
                nursery.start_soon(ask, nursery.cancel_scope, name="capture a screenshot")
                await left.wait()
                await trio.sleep(_LATE)
                nursery.cancel_scope.cancel()
    return replies[0]


@asynccontextmanager
async def _background(session: Session, *, omitted: bool) -> AsyncIterator[None]:
    """Remove the page's white background while the body runs, if `omitted`."""
    if not omitted:
        yield
        return
    clear = {"r": 0, "g": 0, "b": 0, "a": 0}
    try:
        await session.call("Emulation.setDefaultBackgroundColorOverride", color=clear)
        yield
    finally:
        # Sent in order, without waiting: the next command finds the background restored.
        with suppress(SessionGoneError, ConnectionLostError):
            session.post("Emulation.setDefaultBackgroundColorOverride")
