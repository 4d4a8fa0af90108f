"""PictureVerbs: a page as a picture, and on paper.

Rule: one picture of a page is taken at a time, since Chrome changes its viewport for some; nothing is left
changed.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

import attrs
import trio

from cdpengine._api.page_core import PageVerbs
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._api.verbs.reading import capture_arrived, make_snapshot
from cdpengine._budget import Budget
from cdpengine._input.view import BoundingBox, bounding_box, scroll_into_view
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._page.scripts.worlds import context_gone
from cdpengine._pictures.editing import (
    Area,
    ImageFormat,
    ImageOptions,
    check_colour,
    check_image_options,
    check_pixels,
    format_of,
    paint_boxes,
)
from cdpengine._pictures.pdf import PdfOptions, print_params, print_pdf
from cdpengine._pictures.screenshot import Picture, current_view, screen_scale, take_screenshot
from cdpengine._protocol.domains.dom import BoxModelReply
from cdpengine._snapshot.arrival import has_nothing
from cdpengine._snapshot.capture import Capture, Scope
from cdpengine._snapshot.labels import boxes_of, draw_labels
from cdpengine._snapshot.node import walk
from cdpengine._snapshot.render.lines import SnapshotOptions
from cdpengine._snapshot.snapshot import Snapshot
from cdpengine.errors import InvalidArgumentError, InvisibleError, RemoteError

_TRIES = 2
"""Pictures that are taken of a page that scrolls meanwhile, before the last one will do."""


@attrs.frozen
class LabelledScreenshot:
    """A picture with refs drawn on it, and the snapshot whose refs they are."""

    image: bytes = attrs.field(repr=False)
    snapshot: Snapshot


class PictureVerbs(PageVerbs):
    """The part of a Page that makes pictures and paper of it."""

    async def screenshot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        target: ElementTarget | None = None,
        clip: BoundingBox | None = None,
        full_page: bool = False,
        refs: bool = False,
        format: ImageFormat | None = None,  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        scale: float | None = None,
        omit_background: bool = False,
        mask: Sequence[ElementTarget] = (),
        mask_color: str = "#ff00ff",
        overwrite: bool = True,
        timeout: float = 30,
    ) -> bytes:
        """Return an image of the viewport, or of the whole page; "png", "jpeg" or "webp", quality 0 to 100.

        With `target`, of that node alone: scrolled into view, all of it even where it is larger than the
        viewport. With `clip`, of a rectangle, in CSS pixels of the viewport and beyond it. With `refs`, the
        elements that have refs are framed and labelled on it, as by `labelled_screenshot`. `scale` is pixels per
        CSS pixel, drawn anew and sharp; without it, those of the page's screen. `omit_background` leaves
        transparent what the page does not paint. Nodes in `mask` are painted over with `mask_color`. Written to
        `path` too, whose name says the format. Pages of any height are taken, in pieces that are joined; the
        page hears `resize` when more than its viewport is taken. The file is readable by its owner only; one that
        exists is replaced once the new one is whole, or refused where `overwrite` is False.

        Raises InvalidArgumentError for options that do not go together, PictureTooLargeError for what jpeg (65,535
        pixels a side) or webp (16,383) cannot hold, InvisibleError for a target that has no box,
        MeasurementFailedError when the file cannot be written, and as `scroll_into_view` does.
        """
        place = None if path is None else checked_path("the screenshot", path, overwrite=overwrite)
        options = ImageOptions(format_of(place, format), quality, scale, omit_background)
        area = None if clip is None else _checked_clip(clip)
        _check_choice(target=target is not None, clip=clip is not None, full_page=full_page)
        check_colour(mask_color)
        if refs:
            _check_refs(
                target is not None or clip is not None or scale is not None or omit_background or bool(mask)
            )
            labelled = await self.labelled_screenshot(
                format=options.format, quality=quality, full_page=full_page, timeout=timeout
            )
            if place is not None:
                await _write(place, labelled.image, overwrite=overwrite)
            return labelled.image
        over = "" if target is None else f" of {describe_target(target)}"
        async with self._core.action(f"screenshot{over}", timeout) as budget, self._core.target.pictures:
            if target is not None:
                box = await self._box_in_view(target, budget)
                area = Area(box.x, box.y, box.width, box.height)
            view = await current_view(self._core.session)
            screen = await self._screen_scale()
            if area is not None:
                # Boxes count from the corner of what is seen, pictures from that of the document.
                area = Area(area.x + view.x, area.y + view.y, max(area.width, 1), max(area.height, 1))
            masked = [
                at for node in mask if (at := await bounding_box(self._core.node(node), self._core.worlds))
            ]
            plain = ImageOptions("png", None, scale, omit_background) if masked else options
            if masked:
                shown = area or (view.document if full_page else view.viewport)
                check_pixels(options.format, *shown.pixels(scale or screen))
                options.check_size(*shown.pixels(scale or screen))
            picture = await take_screenshot(
                self._core.session, plain, screen=screen, full_page=full_page, area=area
            )
            data = picture.data
            if masked:
                boxes = [_on_picture(box, view.x, view.y, picture) for box in masked]
                data = await trio.to_thread.run_sync(
                    paint_boxes, data, boxes, mask_color, options.format, options.quality
                )
            if place is not None:
                await _write(place, data, overwrite=overwrite)
            return data

    async def labelled_screenshot(
        self,
        *,
        format: ImageFormat = "png",  # noqa: A002 - the protocol's own name for it
        quality: int | None = None,
        full_page: bool = False,
        interactive: bool = True,
        timeout: float = 30,
    ) -> LabelledScreenshot:
        """Return a picture on which elements are framed and labelled with their refs, and the snapshot of these.

        With `interactive`, only what can be acted on is framed. The labels are drawn on the picture; the page is
        not touched. Picture and refs are of one document, and of one scroll position where the page stands still
        long enough for that. Needs Pillow. Raises InvalidArgumentError for odd options, DeadlineExceededError.
        """
        check_image_options(format, quality)
        options = SnapshotOptions(interactive=interactive)
        started = time.perf_counter()
        async with self._core.action("labelled screenshot", timeout) as budget:
            tries = 0
            while True:
                before = await current_view(self._core.session)
                scope = Scope(frame=self._core.target.frames.main, boxes=True)
                captured = await self._captured(scope, budget)
                origins = await self._origins(captured)
                async with self._core.target.pictures:
                    picture = await take_screenshot(
                        self._core.session,
                        ImageOptions(),
                        screen=await self._screen_scale(),
                        full_page=full_page,
                    )
                after = await current_view(self._core.session)
                if self._core.target.frames.main.loader_id != captured.document.loader_id:
                    budget.step("the document was replaced meanwhile; reading the new one")
                    continue
                tries += 1
                if after == before or tries == _TRIES:
                    break
                budget.step("the page scrolled or changed its size meanwhile; once more")
            snapshot = make_snapshot(captured, self._core.refs, options, started, partial=False, since=None)
            refs = {(ref.frame_id, ref.backend_node_id): ref for ref in snapshot.refs.values()}
            boxes = boxes_of(captured.document, refs, origins)
            viewport = captured.document.viewport
            width = before.width if viewport is None else viewport[0]  # with its scroll bar
            if full_page:
                boxes = [(ref, (x + before.x, y + before.y, w, h)) for ref, (x, y, w, h) in boxes]
                width = before.content_width
            image = draw_labels(picture.data, boxes, width=width, image_format=format, quality=quality)
            return LabelledScreenshot(image, snapshot)

    async def _screen_scale(self) -> float:
        """Return how many pixels of the screen a CSS pixel of the page has."""
        while True:
            context = await self._core.worlds.context(self._core.session, self._core.target.frames.main.id)
            try:
                return await screen_scale(context)
            except RemoteError as error:
                if not context_gone(error):
                    raise

    async def pdf(self, *, timeout: float = 30, **options: Unpack[PdfOptions]) -> bytes:
        """Return the page as PDF, as Chrome would print it. `options` are those of PdfOptions.

        Raises InvalidArgumentError for options that cannot be, DeadlineExceededError.
        """
        params = print_params(options)
        parts = []
        async with self._core.action("pdf", timeout), print_pdf(self._core.session, params) as pieces:
            async for piece in pieces:
                parts.append(piece)  # noqa: PERF401 - one await a piece
        return b"".join(parts)

    async def save_pdf(
        self,
        path: str | os.PathLike[str],
        *,
        overwrite: bool = True,
        timeout: float = 30,
        **options: Unpack[PdfOptions],
    ) -> int:
        """Write the page as PDF to `path`, piece by piece, and return how many bytes it has.

        The file is readable by its owner only; one that exists is replaced once the new one is whole, or refused
        where `overwrite` is False. Raises as `pdf`, and MeasurementFailedError when the file cannot be written;
        there is none then.
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

    async def _box_in_view(self, target: ElementTarget, budget: Budget) -> BoundingBox:
        node = self._core.node(target)
        await scroll_into_view(node, worlds=self._core.worlds, budget=budget, interruptions=self._core.target)
        box = await bounding_box(node, self._core.worlds)
        if box is None:
            raise InvisibleError(
                action="take a screenshot of", target=node.description, reason="it has no box"
            )
        return box

    async def _captured(self, scope: Scope, budget: Budget) -> Capture:
        async def choose() -> Scope:
            return attrs.evolve(scope, frame=self._core.target.frames.main)

        return await capture_arrived(self._core, choose, has_nothing, budget)

    async def _origins(self, captured: Capture) -> dict[str, tuple[float, float]]:
        """Return for each frame how far its viewport is from the corner of its element's box."""
        origins = {}
        for document in captured.documents:
            frame = None if document.frame_id is None else self._core.target.frames.get(document.frame_id)
            if frame is None:
                continue
            for node in walk(document.roots):
                child = node.document
                if child is None or child.frame_id is None or node.frame_id != document.frame_id:
                    continue
                try:
                    reply = await self._core.target.session_of(frame).request(
                        "DOM.getBoxModel", {"backendNodeId": node.backend_node_id}, BoxModelReply
                    )
                except RemoteError:
                    continue  # it has no box any more
                content, border = reply.model.content, reply.model.border
                origins[child.frame_id] = content[0] - border[0], content[1] - border[1]
        return origins


def _check_choice(*, target: bool, clip: bool, full_page: bool) -> None:
    given = {"target": target, "clip": clip, "full_page": full_page}
    if sum(given.values()) > 1:
        names = " and ".join(name for name, there in given.items() if there)
        raise InvalidArgumentError(what=names, given="together", expected="one of them")


def _check_refs(others: bool) -> None:
    if others:
        raise InvalidArgumentError(
            what="refs", given="True, with other options", expected="full_page, format and quality"
        )


def _checked_clip(clip: BoundingBox) -> Area:
    if not isinstance(clip, BoundingBox) or not (clip.width > 0 and clip.height > 0):
        raise InvalidArgumentError(
            what="clip", given=repr(clip)[:80], expected="a BoundingBox with a width and a height above 0"
        )
    return Area(clip.x, clip.y, clip.width, clip.height)


def _on_picture(
    box: BoundingBox, view_x: float, view_y: float, picture: Picture
) -> tuple[float, float, float, float]:
    left = (box.x + view_x - picture.area.x) * picture.scale
    top = (box.y + view_y - picture.area.y) * picture.scale
    return left, top, left + box.width * picture.scale, top + box.height * picture.scale


async def _write(path: Path, data: bytes, *, overwrite: bool) -> None:
    async with output_file("the screenshot", path, overwrite=overwrite) as file:
        await file.write(data)
