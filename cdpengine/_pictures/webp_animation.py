"""WebPAnimation: an animated WebP file that is written picture by picture.

Rule: only the present and the last picture are in memory. A picture is compressed when the next one is added, and
contains only the part that differs from the one before. Pillow compresses each part. This module writes the
container around them, because Pillow needs all pictures of an animation together.

The container is described at https://developers.google.com/speed/webp/docs/riff_container.
"""

from __future__ import annotations

import io
import struct
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from cdpengine._checks import check_count
from cdpengine._pictures.editing import no_picture_error
from cdpengine.errors import exhausted, shortages_named

if TYPE_CHECKING:
    from PIL.Image import Image

_shortages_named = shortages_named(partial(exhausted, "write an animation"))

_LONGEST = (1 << 24) - 1
"""Maximum duration of one picture, in milliseconds."""

_ANIMATED, _WITHOUT_BLENDING = 0x02, 0x02
_HEADER = 12
"""Length of the file's header, in bytes: "RIFF", a size, and "WEBP"."""


@_shortages_named
def check_pillow() -> None:
    """Raise PackageMissingError without Pillow."""
    import PIL.Image  # noqa: F401


class WebPAnimation:
    """An animation that is written to `file`, from its beginning. All methods block.

    The first picture's size is the size of the animation. Other pictures are scaled to fit in it.
    """

    def __init__(self, file: BinaryIO, quality: int) -> None:
        self._file = file
        self._quality = check_count("quality", quality, least=0, most=100)
        self._canvas: Image | None = None
        self._pending: tuple[Image, int, int] | None = None
        self._pending_for = 0

    @_shortages_named
    def add(self, picture: bytes, duration: int) -> None:
        """Add a picture, displayed for `duration` milliseconds. Raises ProtocolError if it is no picture."""
        shown = self._fit(picture)
        if self._canvas is None:
            self._write_start(shown)
            box: tuple[int, int, int, int] | None = (0, 0, *shown.size)
        else:
            box = _difference(self._canvas, shown)
        self._canvas = shown
        if box is None:
            self._pending_for += duration
            return
        self._write_pending()
        left, top = box[0] // 2 * 2, box[1] // 2 * 2  # the container only has even offsets
        self._pending = shown.crop((left, top, *box[2:])), left, top
        self._pending_for = duration

    def finish(self) -> None:
        """Write the rest of the file."""
        self._write_pending()
        size = self._file.tell()
        self._file.seek(4)
        self._file.write(struct.pack("<I", size - 8))
        self._file.seek(size)

    def _fit(self, picture: bytes) -> Image:
        from PIL import Image, UnidentifiedImageError

        try:
            with Image.open(io.BytesIO(picture)) as opened:
                shown = opened.convert("RGB")
        except UnidentifiedImageError as error:
            raise no_picture_error(picture) from error
        if self._canvas is None or shown.size == self._canvas.size:
            return shown
        whole = Image.new("RGB", self._canvas.size)
        scale = min(whole.width / shown.width, whole.height / shown.height)
        whole.paste(shown.resize((max(1, int(shown.width * scale)), max(1, int(shown.height * scale)))))
        return whole

    def _write_start(self, first: Image) -> None:
        size = _three_bytes(first.width - 1) + _three_bytes(first.height - 1)
        self._file.write(b"RIFF\0\0\0\0WEBP")
        self._file.write(_chunk(b"VP8X", bytes([_ANIMATED, 0, 0, 0]) + size))
        self._file.write(_chunk(b"ANIM", bytes(6)))  # a clear background, repeated forever

    def _write_pending(self) -> None:
        if self._pending is None:
            return
        part, left, top = self._pending
        compressed = io.BytesIO()
        part.save(compressed, "WEBP", quality=self._quality, method=0)
        numbers = (left // 2, top // 2, part.width - 1, part.height - 1, min(self._pending_for, _LONGEST))
        head = b"".join(map(_three_bytes, numbers)) + bytes([_WITHOUT_BLENDING])
        self._file.write(_chunk(b"ANMF", head + compressed.getvalue()[_HEADER:]))
        self._pending = None


def _difference(one: Image, other: Image) -> tuple[int, int, int, int] | None:
    """Return the box (left, top, right, bottom) of the pixels that differ, or None."""
    from PIL import ImageChops

    return ImageChops.difference(one, other).getbbox()


def _three_bytes(number: int) -> bytes:
    return number.to_bytes(3, "little")


def _chunk(name: bytes, content: bytes) -> bytes:
    return name + struct.pack("<I", len(content)) + content + bytes(len(content) % 2)
