"""Options, tiles and editing of pictures; joining of PNGs (PngColumn); other formats with Pillow.

Rule: PngColumn never unpacks a whole picture. It copies the filtered lines; only the first line of each picture,
whose filter may depend on the line above, is changed to be independent. Memory holds one piece of a picture and
the compressed result. Pillow, which is imported on first use, unpacks whole pictures, so their number of pixels is
bounded.

A graphics processor draws up to its maximum texture size, and silently repeats or omits the rest (measured: 8,192
pixels with SwiftShader; 16,384 is usual). So a larger area is captured in tiles, which are cut where CSS pixels
and the picture's pixels align.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import attrs

from cdpengine._checks import check_choice, check_count, check_number, invalid
from cdpengine.errors import (
    InvalidArgumentError,
    ProtocolError,
    exhausted,
    shortages_named,
)

if TYPE_CHECKING:
    from PIL.Image import Image


# Pillow imports its plugins on first use.
_shortages_named = shortages_named(partial(exhausted, "work on a picture"))

MOST_PIXELS = 1 << 28
"""Maximum number of pixels of an unpacked picture: a gigabyte of memory."""


def check_pixels(image_format: ImageFormat, width: int, height: int) -> None:
    """Raise InvalidArgumentError for a picture that needs too much memory to unpack."""
    if width * height > MOST_PIXELS:
        raise _too_large(image_format, width, height, f"at most {MOST_PIXELS} pixels, for lack of memory")


def _too_large(image_format: ImageFormat, width: int, height: int, limit: str) -> InvalidArgumentError:
    advice = 'use "png", a smaller `scale`, or a smaller `clip`'
    return InvalidArgumentError(
        f"a {image_format} picture", f"{width} x {height} pixels", f"{limit}: {advice}"
    )


def check_colour(colour: str) -> None:
    """Raise InvalidArgumentError unless it is a color such as "#rrggbb"."""
    if not isinstance(colour, str) or re.fullmatch("#[0-9a-fA-F]{6}", colour) is None:
        raise invalid("mask_color", colour, '"#rrggbb"')


def no_picture_error(picture: bytes) -> ProtocolError:
    """Return the error for a picture from Chrome that Pillow cannot identify."""
    return ProtocolError(method="Page.captureScreenshot", reason="it contains no picture", raw=picture)


@_shortages_named
def to_rgba(picture: bytes) -> bytes:
    """Convert a PNG to a PNG with an alpha channel."""
    return _encode(_open(picture).convert("RGBA"), "png", None)


@_shortages_named
def join_pictures(rows: Sequence[Sequence[bytes]], image_format: ImageFormat, quality: int | None) -> bytes:
    """Join PNGs, given as rows of adjacent pictures, into one picture."""
    from PIL import Image

    opened = [[_open(picture) for picture in row] for row in rows]
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
    return _encode(whole, image_format, quality)


@_shortages_named
def paint_boxes(
    picture: bytes,
    boxes: Iterable[tuple[float, float, float, float]],
    colour: str,
    image_format: ImageFormat,
    quality: int | None,
) -> bytes:
    """Return a picture with painted boxes (left, top, right, bottom, in its pixels)."""
    from PIL import ImageDraw

    image = _open(picture)
    draw = ImageDraw.Draw(image)
    for left, top, right, bottom in boxes:
        draw.rectangle((round(left), round(top), round(right) - 1, round(bottom) - 1), fill=colour)
    return _encode(image, image_format, quality)


@_shortages_named
def size_of(picture: bytes) -> tuple[int, int]:
    """Return the width and height of a picture in pixels."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(picture)) as image:
            return image.size
    except UnidentifiedImageError as error:
        raise no_picture_error(picture) from error


# --- joining PNGs --------------------------------------------------------------------------------------------

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # colour types: RGB, RGBA
_NONE, _SUB, _UP, _AVERAGE, _PAETH = range(5)
_PIECE = 1 << 18
_LEVEL = 6


class OtherKind(ValueError):
    """A picture whose width or colors differ from those above it, or whose kind cannot be joined."""


class PngColumn:
    """Joins pictures of one width and one kind. Call `add` for each, from the top; then `finish`."""

    def __init__(self) -> None:
        self._header: bytes | None = None
        self._height = 0
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, 15, 9)
        self._data: list[bytes] = []

    @property
    def colour_type(self) -> int | None:
        """The color type of the pictures so far: 2 for RGB, 6 for RGBA."""
        return None if self._header is None else self._header[9]

    def add(self, picture: bytes) -> None:
        """Append a picture at the bottom. Raises OtherKind, and then adds no part of it."""
        chunks = _chunks(picture)
        kind, header = next(chunks, (b"", b""))
        if kind != b"IHDR" or len(header) != 13:
            raise OtherKind("no PNG")
        width, height, depth, colour, _method, _filter, interlaced = struct.unpack(">IIBBBBB", header)
        if depth != 8 or colour not in _CHANNELS or interlaced:
            raise OtherKind(f"{depth} bits, colour type {colour}, interlaced {interlaced}")
        same = self._header is None or (self._header[:4], self._header[8:]) == (header[:4], header[8:])
        if not same:
            raise OtherKind("another width or colour type")
        self._header = bytes(header)
        self._height += height
        inflater = zlib.decompressobj()
        line = 1 + width * _CHANNELS[colour]
        first = b""
        done = False
        for name, content in chunks:
            if name != b"IDAT":
                continue
            rest = content
            while rest:
                lines = inflater.decompress(rest, _PIECE)
                rest = inflater.unconsumed_tail
                if not done:
                    first += lines
                    if len(first) < line:
                        continue
                    lines = _unfilter_first_line(first[:line], _CHANNELS[colour]) + first[line:]
                    done = True
                self._write(lines)
        self._write(inflater.flush())

    def finish(self) -> bytes:
        """Return the joined picture."""
        assert self._header is not None, "nothing was added"
        self._data.append(self._compressor.flush())
        header = self._header[:4] + struct.pack(">I", self._height) + self._header[8:]
        parts = [SIGNATURE, _chunk(b"IHDR", header)]
        parts += [_chunk(b"IDAT", data) for data in self._data if data]
        parts.append(_chunk(b"IEND", b""))
        return b"".join(parts)

    def _write(self, lines: bytes) -> None:
        if lines and (data := self._compressor.compress(lines)):
            self._data.append(data)


def _open(picture: bytes) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        image = Image.open(io.BytesIO(picture))
        image.load()
    except UnidentifiedImageError as error:
        raise no_picture_error(picture) from error
    return image


def _encode(image: Image, image_format: ImageFormat, quality: int | None) -> bytes:
    to = io.BytesIO()
    if image_format == "png":
        image.save(to, "PNG")
    elif image_format == "jpeg":
        image.convert("RGB").save(to, "JPEG", quality=DEFAULT_QUALITY if quality is None else quality)
    else:
        image.save(to, "WEBP", quality=DEFAULT_QUALITY if quality is None else quality)
    return to.getvalue()


def _chunks(picture: bytes) -> Iterator[tuple[bytes, memoryview | bytes]]:
    view = memoryview(picture)
    if bytes(view[:8]) != SIGNATURE:
        return
    at = 8
    while at + 8 <= len(view):
        length, name = struct.unpack_from(">I4s", view, at)
        content = view[at + 8 : at + 8 + length]
        yield name, bytes(content) if name == b"IHDR" else content
        at += 12 + length


def _chunk(name: bytes, content: bytes) -> bytes:
    return (
        struct.pack(">I", len(content))
        + name
        + content
        + struct.pack(">I", zlib.crc32(content, zlib.crc32(name)))
    )


def _unfilter_first_line(line: bytes, channels: int) -> bytes:
    """Return a filtered first line as one that decodes to the same pixels below any line."""
    kind, values = line[0], line[1:]
    if kind in (_NONE, _SUB):
        return line
    if kind == _UP:
        return bytes([_NONE]) + values
    if kind == _PAETH:
        return bytes([_SUB]) + values  # with nothing above, the predictor is the value to the left
    plain = bytearray(values)
    for at in range(channels, len(plain)):
        plain[at] = (plain[at] + plain[at - channels] // 2) & 0xFF
    return bytes([_NONE]) + bytes(plain)


# --- options, and the tiles of a large area ------------------------------------------------------------------

ImageFormat = Literal["png", "jpeg", "webp"]

_SUFFIXES: dict[str, ImageFormat] = {".png": "png", ".jpg": "jpeg", ".jpeg": "jpeg", ".webp": "webp"}

_LONGEST_SIDE = {"png": 2**31 - 1, "jpeg": 65_535, "webp": 16_383}
"""Maximum side in each format, in pixels. Beyond it, Chrome answers with no bytes (measured)."""

DEFAULT_QUALITY = 80
"""Chrome's default."""


@attrs.frozen
class ImageOptions:
    """Options of a picture. `scale` is pixels of the picture per CSS pixel; None: the scale of the page's screen.

    `max_side` shrinks the picture in proportion, until its longer side has at most that number of pixels.
    """

    format: ImageFormat = "png"
    quality: int | None = None
    scale: float | None = None
    omit_background: bool = False
    max_side: int | None = None

    def __attrs_post_init__(self) -> None:
        check_image_options(self.format, self.quality)
        if self.scale is not None:
            check_number("scale", self.scale, least=0.01, most=10)
        if self.max_side is not None:
            check_count("max_side", self.max_side, least=1, unit="pixels")
        if self.omit_background and self.format == "jpeg":
            raise InvalidArgumentError(
                what="omit_background",
                given="True, with jpeg",
                expected="png or webp: jpeg is never transparent",
            )

    def scale_for(self, area: Area, screen: float) -> float:
        """Return the pixels per CSS pixel of a picture of an area. `screen` is the scale of the page's screen."""
        scale = self.scale or screen
        if self.max_side is None or max(area.pixels(scale)) <= self.max_side:
            return scale
        return self.max_side / max(area.width, area.height)

    def check_size(self, width: int, height: int) -> None:
        """Raise InvalidArgumentError for a size, in pixels, that the format cannot represent."""
        longest = _LONGEST_SIDE[self.format]
        if max(width, height) > longest:
            raise _too_large(self.format, width, height, f"at most {longest} a side")


def check_image_options(image_format: ImageFormat, quality: int | None) -> None:
    """Raise InvalidArgumentError for an unknown format, or a quality that the format does not support."""
    check_choice("format", image_format, _LONGEST_SIDE)
    if quality is None:
        return
    expected = "0 to 100, for jpeg and webp only"
    if image_format == "png":
        raise invalid("quality", quality, expected)
    check_count("quality", quality, most=100, expected=expected)


def format_of(path: Path | None, given: ImageFormat | None) -> ImageFormat:
    """Return the given format, or the format of the file's name; "png" without either.

    Raises InvalidArgumentError if the name's format is unknown or differs from the given one.
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
"""Maximum side of one piece, in pixels."""

_CUT = 100
"""Cuts are multiples of this many CSS pixels, which are whole pixels for every scale of two decimals."""


def whole_pixels(length: float) -> int:
    """Round to the nearest integer, halves upwards, so that pieces cut at whole pixels add up to the whole."""
    return math.floor(length + 0.5)


@attrs.frozen
class Area:
    """A rectangle of the document, in CSS pixels."""

    x: float
    y: float
    width: float
    height: float

    def pixels(self, scale: float) -> tuple[int, int]:
        """Return the area's width and height in pixels of a picture with that scale."""
        return max(1, whole_pixels(self.width * scale)), max(1, whole_pixels(self.height * scale))


def rows_of_tiles(area: Area, scale: float, largest: int = LARGEST) -> tuple[tuple[Area, ...], ...]:
    """Return the tiles of an area, row by row; a single tile if that suffices. `scale` is pixels per CSS pixel."""
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
