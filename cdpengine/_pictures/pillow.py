"""What Pillow does to pictures: joins those that PngColumn cannot, changes formats, paints over. Loaded late.

Rule: pictures are unpacked whole here, so how many pixels they have is bounded.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from cdpengine._pictures.options import DEFAULT_QUALITY, ImageFormat
from cdpengine.errors import (
    InvalidArgumentError,
    PictureTooLargeError,
    UndecodableReplyError,
    exhausted,
    shortages_named,
)

if TYPE_CHECKING:
    from PIL.Image import Image

# Pillow reads parts of itself when they are first needed.
_shortages_named = shortages_named(partial(exhausted, "work on a picture"))

MOST_PIXELS = 1 << 28
"""Pixels of a picture that is unpacked: a gigabyte of memory."""


def check_pixels(image_format: ImageFormat, width: int, height: int) -> None:
    """Raise PictureTooLargeError for what would take too much memory to unpack."""
    if width * height > MOST_PIXELS:
        raise PictureTooLargeError(image_format, width, height, f"at most {MOST_PIXELS} pixels are unpacked")


def checked_colour(colour: str) -> None:
    """Raise InvalidArgumentError for what is no colour of the form "#rrggbb"."""
    if not isinstance(colour, str) or re.fullmatch("#[0-9a-fA-F]{6}", colour) is None:
        raise InvalidArgumentError(what="mask_color", given=repr(colour)[:80], expected='"#rrggbb"')


def no_picture(picture: bytes) -> UndecodableReplyError:
    """Return the error for what Chrome gave as a picture, and Pillow does not know as one."""
    return UndecodableReplyError(method="Page.captureScreenshot", reason="it holds no picture", raw=picture)


@_shortages_named
def as_rgba(picture: bytes) -> bytes:
    """Return a PNG with an alpha channel."""
    return _written(_opened(picture).convert("RGBA"), "png", None)


@_shortages_named
def joined(rows: Sequence[Sequence[bytes]], image_format: ImageFormat, quality: int | None) -> bytes:
    """Return PNGs that lie side by side and row below row as one picture."""
    from PIL import Image

    opened = [[_opened(picture) for picture in row] for row in rows]
    width = sum(tile.width for tile in opened[0])
    height = sum(row[0].height for row in opened)
    clear = any(tile.mode == "RGBA" for row in opened for tile in row) and image_format != "jpeg"
    whole = Image.new("RGBA" if clear else "RGB", (width, height))
    top = 0
    for row in opened:
        left = 0
        for tile in row:
            whole.paste(tile, (left, top))
            left += tile.width
        top += row[0].height
        row.clear()
    return _written(whole, image_format, quality)


@_shortages_named
def covered(
    picture: bytes,
    boxes: Iterable[tuple[float, float, float, float]],
    colour: str,
    image_format: ImageFormat,
    quality: int | None,
) -> bytes:
    """Return a picture on which boxes (left, top, right, bottom, in its pixels) are painted over."""
    from PIL import ImageDraw

    image = _opened(picture)
    draw = ImageDraw.Draw(image)
    for left, top, right, bottom in boxes:
        draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=colour)
    return _written(image, image_format, quality)


@_shortages_named
def size_of(picture: bytes) -> tuple[int, int]:
    """Return the width and height of a picture in pixels."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(picture)) as image:
            return image.size
    except UnidentifiedImageError as error:
        raise no_picture(picture) from error


def _opened(picture: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(picture))
        image.load()
    except UnidentifiedImageError as error:
        raise no_picture(picture) from error
    return image


def _written(image: Image, image_format: ImageFormat, quality: int | None) -> bytes:
    to = io.BytesIO()
    if image_format == "png":
        image.save(to, "PNG")
    elif image_format == "jpeg":
        image.convert("RGB").save(to, "JPEG", quality=DEFAULT_QUALITY if quality is None else quality)
    else:
        image.save(to, "WEBP", quality=DEFAULT_QUALITY if quality is None else quality)
    return to.getvalue()
