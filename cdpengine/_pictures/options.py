"""ImageOptions, and the tiles in which a large area is taken. Pure.

Rule: a graphics processor draws up to the size of its largest texture, and silently repeats or leaves out what is
beyond it (measured: 8,192 pixels with SwiftShader; 16,384 is usual). So a larger area is taken in pieces, cut
where CSS pixels and the picture's pixels meet.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Literal

import attrs

from cdpengine.errors import InvalidArgumentError, PictureTooLargeError

ImageFormat = Literal["png", "jpeg", "webp"]

_SUFFIXES: dict[str, ImageFormat] = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}

_LONGEST_SIDE = {"png": 2**31 - 1, "jpeg": 65_535, "webp": 16_383}
"""Pixels of a side that the formats can say. Of a picture beyond it, Chrome answers with no bytes (measured)."""

DEFAULT_QUALITY = 80
"""Chrome's own."""


@attrs.frozen
class ImageOptions:
    """`scale` is pixels of the picture per CSS pixel; None: as many as the page's screen has."""

    format: ImageFormat = "png"
    quality: int | None = None
    scale: float | None = None
    omit_background: bool = False

    def __attrs_post_init__(self) -> None:
        check_image_options(self.format, self.quality)
        scale = self.scale
        number = isinstance(scale, int | float) and not isinstance(scale, bool)
        if scale is not None and not (number and 0.01 <= scale <= 10):
            raise InvalidArgumentError(what="scale", given=repr(scale)[:80], expected="0.01 to 10, or None")
        if self.omit_background and self.format == "jpeg":
            raise InvalidArgumentError(
                what="omit_background",
                given="True, with jpeg",
                expected="png or webp: jpeg is never transparent",
            )

    def check_size(self, width: int, height: int) -> None:
        """Raise PictureTooLargeError for a picture that the format cannot hold. In pixels."""
        longest = _LONGEST_SIDE[self.format]
        if max(width, height) > longest:
            raise PictureTooLargeError(self.format, width, height, f"at most {longest} a side")


def check_image_options(image_format: ImageFormat, quality: int | None) -> None:
    """Raise InvalidArgumentError for a format that there is none of, or a quality that it does not have."""
    if image_format not in _LONGEST_SIDE:
        raise InvalidArgumentError(
            what="format", given=repr(image_format)[:80], expected='"png", "jpeg" or "webp"'
        )
    if quality is None:
        return
    number = isinstance(quality, int) and not isinstance(quality, bool)
    if image_format == "png" or not (number and 0 <= quality <= 100):
        raise InvalidArgumentError(
            what="quality", given=repr(quality)[:80], expected="0 to 100, for jpeg and webp only"
        )


def format_of(path: Path | None, given: ImageFormat | None) -> ImageFormat:
    """Return the format that was given, or else the one that the file's name says; "png" without either.

    Raises InvalidArgumentError for a name that says another one, or none that there is.
    """
    if path is None:
        return given or "png"
    named = _SUFFIXES.get(path.suffix.lower())
    if given is None and named is None:
        raise InvalidArgumentError(
            what="path",
            given=f"a name that ends in {path.suffix!r}",
            expected=f"one of {', '.join(_SUFFIXES)}",
        )
    if given is not None and named is not None and given != named:
        raise InvalidArgumentError(what="format", given=f"{given}, for {path.name}", expected=named)
    return given or named or "png"


LARGEST = 8192
"""Pixels of a side of one piece."""

_CUT = 100
"""CSS pixels that a cut is a multiple of: whole pixels of the picture for every scale of two decimals."""


def whole_pixels(length: float) -> int:
    """Round to the nearest, halves upwards: pieces that are cut at whole pixels add up to the whole then."""
    return math.floor(length + 0.5)


@attrs.frozen
class Area:
    """A rectangle of the document, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float

    def pixels(self, scale: float) -> tuple[int, int]:
        """Return its size in pixels of a picture."""
        return max(1, whole_pixels(self.width * scale)), max(1, whole_pixels(self.height * scale))


def rows_of_tiles(area: Area, scale: float, largest: int = LARGEST) -> tuple[tuple[Area, ...], ...]:
    """Return the pieces of an area, row by row; one where that is enough. `scale` is pixels per CSS pixel."""
    across, down = _cuts(area.width, scale, largest), _cuts(area.height, scale, largest)
    return tuple(
        tuple(Area(area.x + left, area.y + top, width, height) for left, width in across)
        for top, height in down
    )


def _cuts(length: float, scale: float, largest: int) -> list[tuple[float, float]]:
    if whole_pixels(length * scale) <= largest:
        return [(0, length)]
    step = max(1.0, math.floor(largest / scale / _CUT) * _CUT or math.floor(largest / scale))
    count = math.ceil(length / step)
    return [(index * step, min(step, length - index * step)) for index in range(count)]
