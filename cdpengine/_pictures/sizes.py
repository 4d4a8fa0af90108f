"""The size of a picture, from its header. Pure."""

from __future__ import annotations

import struct

from cdpengine.errors import ProtocolError

_JPEG_SIZES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""JPEG markers of segments with the size: the frame headers (ITU T.81, table B.1)."""


def size_of(picture: bytes) -> tuple[int, int]:
    """Return the width and height in pixels of a PNG, a JPEG or a WebP. Raises ProtocolError."""
    try:
        if picture.startswith(b"\x89PNG"):
            width, height = struct.unpack_from(">II", picture, 16)  # PNG specification, 11.2.2
            return width, height
        if picture.startswith(b"\xff\xd8"):
            return _size_of_jpeg(picture)
        if picture[:4] == b"RIFF" and picture[8:12] == b"WEBP":
            return _size_of_webp(picture)
    except (struct.error, IndexError):
        pass
    reason = "its picture is not a PNG, JPEG or WebP"
    raise ProtocolError(method="Page.captureScreenshot", reason=reason, raw=picture)


def _size_of_jpeg(picture: bytes) -> tuple[int, int]:
    place = 2
    while True:
        if picture[place] != 0xFF:
            raise IndexError
        marker = picture[place + 1]
        if marker == 0xFF:  # padding
            place += 1
            continue
        if marker in _JPEG_SIZES:
            height, width = struct.unpack_from(">HH", picture, place + 5)
            return width, height
        (length,) = struct.unpack_from(">H", picture, place + 2)
        place += 2 + length


def _size_of_webp(picture: bytes) -> tuple[int, int]:
    """Return the size in the first chunk (RFC 9649): extended, lossless or lossy."""
    match picture[12:16]:
        case b"VP8X":
            low_width, high_width, low_height, high_height = struct.unpack_from("<HBHB", picture, 24)
            return (high_width << 16 | low_width) + 1, (high_height << 16 | low_height) + 1
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", picture, 21)
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", picture, 26)
            return width & 0x3FFF, height & 0x3FFF
        case _:
            raise IndexError
