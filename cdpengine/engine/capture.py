"""Pictures and paper: screenshots and PDF of a page.

Rule: bytes as Chrome made them, of the page as it is; nothing is added to the page for it.
"""

from __future__ import annotations

import base64
from typing import Literal

import attrs
import msgspec

from cdpengine.action.boxes import BoundingBox
from cdpengine.errors import InvalidArgument
from cdpengine.session.session import Session

ImageFormat = Literal["png", "jpeg", "webp"]


class _Data(msgspec.Struct):
    data: str


class _Rect(msgspec.Struct):
    width: float = 0
    height: float = 0


class _Viewport(msgspec.Struct, rename="camel"):
    page_x: float = 0
    page_y: float = 0
    client_width: float = 0
    client_height: float = 0


class _LayoutMetrics(msgspec.Struct, rename="camel"):
    css_content_size: _Rect = msgspec.field(default_factory=_Rect)
    css_visual_viewport: _Viewport = msgspec.field(default_factory=_Viewport)


@attrs.frozen
class View:
    """Where the page is scrolled to, how large its viewport is, and how wide its document; CSS pixels."""

    x: float
    y: float
    width: float
    height: float
    content_width: float


async def current_view(session: Session) -> View:
    """Return what of the page is in view. Raises as `Session.request`."""
    metrics = await session.request("Page.getLayoutMetrics", {}, _LayoutMetrics)
    seen = metrics.css_visual_viewport
    return View(
        seen.page_x, seen.page_y, seen.client_width, seen.client_height, metrics.css_content_size.width
    )


def check_image_options(image_format: ImageFormat, quality: int | None) -> None:
    """Raise InvalidArgument for a format that there is none of, or a quality that it does not have."""
    if image_format not in ("png", "jpeg", "webp"):
        raise InvalidArgument(what="format", given=repr(image_format), expected='"png", "jpeg" or "webp"')
    if quality is not None and (image_format == "png" or not 0 <= quality <= 100):
        raise InvalidArgument(
            what="quality", given=repr(quality), expected="0 to 100, for jpeg and webp only"
        )


async def take_screenshot(
    session: Session,
    *,
    image_format: ImageFormat,
    quality: int | None,
    full_page: bool,
    box: BoundingBox | None = None,
) -> bytes:
    """Return an image of the viewport, of the whole document, or of `box`, a part of the viewport or beyond it.

    Raises InvalidArgument for odd options.
    """
    check_image_options(image_format, quality)
    params: dict[str, object] = {"format": image_format}
    if quality is not None:
        params["quality"] = quality
    metrics = _LayoutMetrics()
    if full_page or box is not None:
        metrics = await session.request("Page.getLayoutMetrics", {}, _LayoutMetrics)
    if box is not None:
        seen = metrics.css_visual_viewport
        inside = box.x >= 0 and box.x + box.width <= seen.client_width
        inside = inside and box.y >= 0 and box.y + box.height <= seen.client_height
        params["captureBeyondViewport"] = not inside
        # A clip counts from the document's corner, a box from that of what is seen of it.
        at = {"x": box.x + seen.page_x, "y": box.y + seen.page_y}
        params["clip"] = {**at, "width": max(box.width, 1), "height": max(box.height, 1), "scale": 1}
    elif full_page:
        size = metrics.css_content_size
        params["captureBeyondViewport"] = True
        params["clip"] = {"x": 0, "y": 0, "width": size.width, "height": size.height, "scale": 1}
    reply = await session.request("Page.captureScreenshot", params, _Data)
    return base64.b64decode(reply.data)


async def print_to_pdf(session: Session, *, landscape: bool, background: bool) -> bytes:
    """Return the page as PDF, as Chrome would print it."""
    params = {"landscape": landscape, "printBackground": background}
    reply = await session.request("Page.printToPDF", params, _Data)
    return base64.b64decode(reply.data)
