"""Pictures and paper: screenshots and PDF of a page.

Rule: bytes as Chrome made them, of the page as it is; nothing is added to the page for it.
"""

from __future__ import annotations

import base64
from typing import Literal

import msgspec

from cdpengine.errors import InvalidArgument
from cdpengine.session.session import Session

ImageFormat = Literal["png", "jpeg", "webp"]


class _Data(msgspec.Struct):
    data: str


class _Rect(msgspec.Struct):
    width: float
    height: float


class _LayoutMetrics(msgspec.Struct, rename="camel"):
    css_content_size: _Rect


async def take_screenshot(
    session: Session, *, image_format: ImageFormat, quality: int | None, full_page: bool
) -> bytes:
    """Return an image of the viewport, or of the whole document. Raises InvalidArgument for odd options."""
    if image_format not in ("png", "jpeg", "webp"):
        raise InvalidArgument(what="format", given=repr(image_format), expected='"png", "jpeg" or "webp"')
    if quality is not None and (image_format == "png" or not 0 <= quality <= 100):
        raise InvalidArgument(
            what="quality", given=repr(quality), expected="0 to 100, for jpeg and webp only"
        )
    params: dict[str, object] = {"format": image_format}
    if quality is not None:
        params["quality"] = quality
    if full_page:
        metrics = await session.request("Page.getLayoutMetrics", {}, _LayoutMetrics)
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
