"""PngColumn: pictures one below the other as one PNG, without ever unpacking them whole. Pure.

Rule: the lines of the pictures are taken as they are filtered; only the first of each, which may lean on a line
above it, is made to stand by itself. What is in memory is one piece of a picture and the compressed result.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_CHANNELS = {2: 3, 6: 4}  # colour types: RGB, RGBA
_NONE, _SUB, _UP, _AVERAGE, _PAETH = range(5)
_PIECE = 1 << 18
_LEVEL = 6


class OtherKind(ValueError):
    """A picture has another width or other colours than those above it, or is none that can be joined."""


class PngColumn:
    """Joins pictures of one width and one kind. `add` each, from the top; then `finish`."""

    def __init__(self) -> None:
        self._header: bytes | None = None
        self._height = 0
        self._compressor = zlib.compressobj(_LEVEL, zlib.DEFLATED, 15, 9)
        self._data: list[bytes] = []

    @property
    def colour_type(self) -> int | None:
        """The kind of the pictures so far: 2 for RGB, 6 for RGBA."""
        return None if self._header is None else self._header[9]

    def add(self, picture: bytes) -> None:
        """Put a picture below the others. Raises OtherKind, before anything was added."""
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
                    lines = _standing_alone(first[:line], _CHANNELS[colour]) + first[line:]
                    done = True
                self._write(lines)
        self._write(inflater.flush())

    def finish(self) -> bytes:
        """Return the whole."""
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


def _standing_alone(line: bytes, channels: int) -> bytes:
    """Return a filtered line that has nothing above it as one that says the same whatever is above it."""
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
