"""ImageOptions: in which format a picture is to be, and how fine. Pure."""

from __future__ import annotations

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
