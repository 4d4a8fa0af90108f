"""Screenshots of a page, with and without refs, PDF export and screencasts: `page.pictures`.

Rule: only one picture of a page is taken at a time, because Chrome changes the viewport for some. All changes are
reverted.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Unpack

import attrs
import trio

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._api.page.screencasts import (
    Screencast,
    animation_path,
    check_fps,
    open_frames,
    record_screencast,
)
from cdpengine._api.page.snapshots import capture_loaded, make_snapshot
from cdpengine._budget import Budget
from cdpengine._checks import check_count, invalid
from cdpengine._input.view import BoundingBox, present_box, scroll_into_view
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._page.scripts.page_functions import Node, context_gone
from cdpengine._pickling import not_picklable
from cdpengine._pictures.editing import (
    Area,
    ImageFormat,
    ImageOptions,
    check_colour,
    check_pixels,
    format_of,
    paint_boxes,
)
from cdpengine._pictures.pdf import PdfOptions, print_params, print_pdf
from cdpengine._pictures.screencast import FrameFormat, ScreencastFrames, screencast_params
from cdpengine._pictures.screenshot import Picture, current_view, screen_scale, take_screenshot
from cdpengine._protocol.domains.dom import BoxModelReply
from cdpengine._snapshot.capture import Capture, Scope
from cdpengine._snapshot.first_content import has_nothing
from cdpengine._snapshot.labels import boxes_of, draw_labels
from cdpengine._snapshot.node import walk
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    NotInteractableError,
    RemoteError,
    SessionGoneError,
)
from cdpengine.errors.misuse import block

_DRAWN_WITHIN = 0.25
"""Time in seconds after which a tab that Chrome has not drawn is brought to the front."""

_WAITING = "waiting for Chrome to draw the page"

_TRIES = 2
"""Maximum number of pictures of a page that scrolls meanwhile. The last one is returned."""


@attrs.frozen
class LabelledScreenshot:
    """A picture with refs drawn on it, and the snapshot that contains the refs."""

    image: bytes = attrs.field(repr=False)
    snapshot: Snapshot


@not_picklable("the bytes of a picture")
class PagePictures:
    """Labelled screenshots, PDF export and screencasts of a page: `page.pictures`."""

    def __init__(self, core: PageCore) -> None:
        self._core = core

    async def labelled_screenshot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        format: ImageFormat | None = None,  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        full_page: bool = False,
        interactive: bool = True,
        max_side: int | None = None,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> LabelledScreenshot:
        """Return a picture with frames and refs drawn on the elements, and the snapshot of these refs.

        With `interactive`, only interactive elements are labelled. The labels are drawn on the picture, not on the
        page. Picture and refs belong to one document, and to one scroll position if the page does not keep
        scrolling. `path`, `overwrite` and `max_side` work as in `Page.screenshot`. Needs Pillow. Raises
        InvalidArgumentError for invalid options, DeadlineExceededError, and FileNotWrittenError if the file
        cannot be written.
        """
        place = None if path is None else checked_path("the screenshot", path, overwrite=overwrite)
        image = ImageOptions(format_of(place, format), quality, max_side=max_side)
        labelled = await _label(
            self._core, image, full_page=full_page, interactive=interactive, timeout=timeout
        )
        if place is not None:
            await _write(place, labelled.image, overwrite=overwrite)
        return labelled

    async def save_pdf(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = True,
        timeout: float = 30,
        **options: Unpack[PdfOptions],
    ) -> int:
        """Write the page as PDF to `path` in chunks, and return the file's size in bytes.

        Only its owner can read the file. An existing file is replaced once the new one is complete, or refused if
        `overwrite` is False. Raises the errors of `pdf`, and FileNotWrittenError if the file cannot be written;
        no file remains then.
        """
        place = checked_path("the PDF", path, overwrite=overwrite)
        params = print_params(options)
        async with (
            self._core.action("pdf", timeout),
            output_file("the PDF", place, overwrite=overwrite) as file,
            print_pdf(self._core.session, params) as pieces,
        ):
            async for piece in pieces:
                await file.write(piece)
        return file.size

    @block("page.pictures.frames() as frames")
    async def frames(
        self,
        *,
        format: FrameFormat = "jpeg",  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        max_width: int | None = None,
        max_height: int | None = None,
        every_nth: int = 1,
        buffer: int = 30,
        timeout: float = 30,
    ) -> AsyncIterator[ScreencastFrames]:
        """Receive a picture of the viewport for each change that Chrome draws, from the start of the block on.

            async with page.pictures.frames() as frames:
                async for frame in frames:
                    print(frame.time, len(frame.image))

        `format` is "jpeg" with a `quality` from 0 to 100, or "png". `max_width` and `max_height` limit the size of
        the pictures, in pixels. `every_nth` omits drawn frames. The engine confirms each frame when it arrives. At
        most `buffer` frames wait. Further ones replace the oldest ones, and are counted. The frames continue after
        navigations. Chrome sends nothing for a page that it does not draw. A page has one screencast at a time.

        Raises InvalidArgumentError, InvalidStateError, DeadlineExceededError, and the error of a page that is
        gone.
        """
        params = screencast_params(format, quality, max_width, max_height, every_nth)
        async with open_frames(self._core, params, buffer, timeout) as frames:
            yield frames

    @block("page.pictures.screencast(path)")
    async def screencast(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float = 10,
        quality: int = 75,
        max_width: int | None = None,
        max_height: int | None = None,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> AsyncIterator[Screencast]:
        """Record the viewport during the block as an animated WebP file (".webp").

        The file has at most `fps` pictures in a second, at the times of Chrome's frames. A picture contains only
        the part that changed. The first picture's size is that of the file. `quality` is from 0 to 100.
        `overwrite` works as in `save_pdf`. After an error in the block, the file is written within 1 s if
        possible. `timeout` limits the start, and the writing at the end. Needs Pillow.

        Raises the errors of `frames`, FileNotWrittenError, PackageMissingError, and InvalidStateError if Chrome
        drew nothing.
        """
        place = animation_path(checked_path("the screencast", path, overwrite=overwrite))
        check_count("quality", quality, least=0, most=100)
        params = screencast_params("jpeg", _SOURCE_QUALITY, max_width, max_height, 1)
        async with record_screencast(
            self._core,
            place,
            params,
            fps=check_fps(fps),
            quality=quality,
            overwrite=overwrite,
            timeout=timeout,
        ) as screencast:
            yield screencast


_SOURCE_QUALITY = 90
"""JPEG quality of the frames of a recording, which are compressed again."""


@attrs.frozen
class PictureRequest:
    """The validated arguments of `Page.screenshot`. Raises InvalidArgumentError."""

    options: ImageOptions
    target: ElementTarget | None = attrs.field(default=None, kw_only=True)
    clip: BoundingBox | None = attrs.field(default=None, kw_only=True)
    full_page: bool = attrs.field(default=False, kw_only=True)
    refs: bool = attrs.field(default=False, kw_only=True)
    mask: Sequence[ElementTarget] = attrs.field(default=(), kw_only=True)
    mask_color: str = attrs.field(default="#ff00ff", kw_only=True)

    def __attrs_post_init__(self) -> None:
        if self.clip is not None:
            _check_clip(self.clip)
        _check_choice(target=self.target is not None, clip=self.clip is not None, full_page=self.full_page)
        check_colour(self.mask_color)
        if self.refs and not self._is_plain:
            raise InvalidArgumentError(
                what="refs",
                given="True, with other options",
                expected="full_page, format, quality and max_side",
            )

    @property
    def area(self) -> Area | None:
        """The clip rectangle in viewport coordinates, or None."""
        clip = self.clip
        return None if clip is None else Area(clip.x, clip.y, clip.width, clip.height)

    @property
    def _is_plain(self) -> bool:
        options = self.options
        others = (self.target, self.clip, options.scale)
        return all(other is None for other in others) and not (options.omit_background or self.mask)


async def take_picture(
    core: PageCore, request: PictureRequest, place: Path | None, *, overwrite: bool, timeout: float
) -> bytes:
    """Take the picture, and write it to `place` if given: `Page.screenshot`."""
    if request.refs:
        labelled = await _label(
            core, request.options, full_page=request.full_page, interactive=True, timeout=timeout
        )
        if place is not None:
            await _write(place, labelled.image, overwrite=overwrite)
        return labelled.image
    over = "" if request.target is None else f" of {describe_target(request.target)}"
    options = request.options
    async with core.action(f"screenshot{over}", timeout) as budget, _drawing(core):
        area = request.area
        if request.target is not None:
            box = await _box_in_view(core, request.target, budget)
            area = Area(box.x, box.y, box.width, box.height)
        view = await current_view(core.session)
        screen = await _screen_scale(core)
        if area is not None:
            # Boxes are relative to the viewport, pictures to the document.
            area = Area(area.x + view.x, area.y + view.y, max(area.width, 1), max(area.height, 1))
        measure = partial(present_box, worlds=core.worlds)
        boxes = [await core.on_node(each, budget, measure) for each in request.mask]
        masked = [box for box in boxes if box is not None]
        plain = attrs.evolve(options, format="png", quality=None) if masked else options
        if masked:
            region = area or (view.document if request.full_page else view.viewport)
            pixels = region.pixels(options.scale_for(region, screen))
            check_pixels(options.format, *pixels)
            options.check_size(*pixels)
        budget.step(_WAITING)
        picture = await take_screenshot(
            core.session, plain, screen=screen, full_page=request.full_page, area=area
        )
        data = picture.data
        if masked:
            painted = [_on_picture(box, view.x, view.y, picture) for box in masked]
            data = await trio.to_thread.run_sync(
                paint_boxes, data, painted, request.mask_color, options.format, options.quality
            )
        if place is not None:
            await _write(place, data, overwrite=overwrite)
        return data


@asynccontextmanager
async def _drawing(core: PageCore) -> AsyncIterator[None]:
    """Hold the page's picture lock for one picture.

    A browser that the engine started draws pages behind others. Another browser often does not: 68 of 100 pictures
    of 12 tabs were never drawn. There, the page is brought to the front if it is not drawn soon.
    """
    async with core.target.pictures:
        if core.target.is_drawn_behind:
            yield
            return
        async with open_body_nursery() as nursery:
            nursery.start_soon(_bring_to_front_later, core)
            yield


async def _bring_to_front_later(core: PageCore) -> None:
    await trio.sleep(_DRAWN_WITHIN)
    with suppress(RemoteError, SessionGoneError, ConnectionLostError):  # the picture reports these errors
        await core.session.call("Page.bringToFront")


async def _label(
    core: PageCore, image: ImageOptions, *, full_page: bool, interactive: bool, timeout: float
) -> LabelledScreenshot:
    options = SnapshotOptions(interactive=interactive)
    started = time.perf_counter()
    async with core.action("labelled screenshot", timeout) as budget:
        tries = 0
        while True:
            before = await current_view(core.session)
            scope = Scope(frame=core.target.frames.main, boxes=True)
            captured = await _capture(core, scope, budget)
            origins = await _origins(core, captured)
            budget.step(_WAITING)
            async with _drawing(core):
                picture = await take_screenshot(
                    core.session,
                    ImageOptions(max_side=image.max_side),
                    screen=await _screen_scale(core),
                    full_page=full_page,
                )
            after = await current_view(core.session)
            if core.target.frames.main.loader_id != captured.document.loader_id:
                budget.step("the document was replaced during the capture; reading the new one")
                continue
            tries += 1
            if after == before or tries == _TRIES:
                break
            budget.step("the page scrolled or was resized during the capture; trying again")
        snapshot = make_snapshot(captured, core.refs, options, started, partial=False, since=None)
        refs = {(ref.frame_id, ref.backend_node_id): ref for ref in snapshot.refs.values()}
        boxes = boxes_of(captured.document, refs, origins)
        viewport = captured.document.viewport
        width = before.width if viewport is None else viewport[0]  # with its scroll bar
        if full_page:
            boxes = [(ref, (x + before.x, y + before.y, w, h)) for ref, (x, y, w, h) in boxes]
            width = before.content_width
        drawn = draw_labels(
            picture.data, boxes, width=width, image_format=image.format, quality=image.quality
        )
        core.give(snapshot.refs)
        return LabelledScreenshot(drawn, snapshot)


async def _screen_scale(core: PageCore) -> float:
    """Return the number of screen pixels in one CSS pixel of the page."""
    while True:
        context = await core.worlds.context(core.session, core.target.frames.main.id)
        try:
            return await screen_scale(context)
        except RemoteError as error:
            if not context_gone(error):
                raise


async def _box_in_view(core: PageCore, target: ElementTarget, budget: Budget) -> BoundingBox:
    async def scroll_and_measure(node: Node) -> BoundingBox:
        await scroll_into_view(node, worlds=core.worlds, budget=budget, interruptions=core.target.running)
        box = await present_box(node, worlds=core.worlds)
        if box is None:
            raise NotInteractableError(
                "take a screenshot of", node.description, "it has no box", state="invisible"
            )
        return box

    return await core.on_node(target, budget, scroll_and_measure)


async def _capture(core: PageCore, scope: Scope, budget: Budget) -> Capture:
    async def choose() -> Scope:
        return attrs.evolve(scope, frame=core.target.frames.main)

    return await capture_loaded(core, choose, has_nothing, budget)


async def _origins(core: PageCore, captured: Capture) -> dict[str, tuple[float, float]]:
    """Return the offset of each frame's viewport from the corner of its element's box."""
    origins = {}
    for document in captured.documents:
        frame = None if document.frame_id is None else core.target.frames.get(document.frame_id)
        if frame is None:
            continue
        for node in walk(document.roots):
            child = node.document
            if child is None or child.frame_id is None or node.frame_id != document.frame_id:
                continue
            try:
                reply = await frame.session.request(
                    "DOM.getBoxModel", {"backendNodeId": node.backend_node_id}, BoxModelReply
                )
            except RemoteError:
                continue  # its box is gone
            content, border = reply.model.content, reply.model.border
            origins[child.frame_id] = content[0] - border[0], content[1] - border[1]
    return origins


def _check_choice(*, target: bool, clip: bool, full_page: bool) -> None:
    choices = {"target": target, "clip": clip, "full_page": full_page}
    if sum(choices.values()) > 1:
        names = " and ".join(name for name, there in choices.items() if there)
        raise InvalidArgumentError(what=names, given="together", expected="one of them")


def _check_clip(clip: object) -> None:
    if not isinstance(clip, BoundingBox) or not (clip.width > 0 and clip.height > 0):
        raise invalid("clip", clip, "a BoundingBox with a width and a height above 0")


def _on_picture(
    box: BoundingBox, view_x: float, view_y: float, picture: Picture
) -> tuple[float, float, float, float]:
    left = (box.x + view_x - picture.area.x) * picture.scale
    top = (box.y + view_y - picture.area.y) * picture.scale
    return left, top, left + box.width * picture.scale, top + box.height * picture.scale


async def _write(path: Path, data: bytes, *, overwrite: bool) -> None:
    async with output_file("the screenshot", path, overwrite=overwrite) as file:
        await file.write(data)
