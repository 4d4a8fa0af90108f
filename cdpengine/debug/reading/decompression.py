"""Decompression: the text of a compressed recording, block by block, up to where the file ends or is damaged.

Rule: a block that is whole is given, whatever comes after it. zstandard itself is asked for one block at a time:
given more at once, it keeps what it could decode of that to itself when it finds an error. The format is that of
RFC 8878: frames of blocks, each block with its size in its first three bytes.
"""

from __future__ import annotations

from typing import IO, Protocol, cast

from cdpengine.errors import packages_named

ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""What a frame, and so a file that is compressed, begins with."""

_SKIPPED = b"\x2a\x4d\x18"
"""What a frame that holds no text has after its first byte, which is 0x50 to 0x5f."""

_CHUNK = 1 << 18

# The sizes of fields of a frame's header, by the flags in its descriptor.
_DICTIONARY_SIZES = (0, 1, 2, 4)
_CONTENT_SIZES = (0, 2, 4, 8)
_ONE_BYTE_BLOCK = 1
_RESERVED_BLOCK = 3


class _Decompressor(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


class Unreadable(Exception):
    """There are no more lines that can be read, although the file is not over, or not as it should be."""


class CutOff(Unreadable):
    """The compressed data ends before its frame does."""


class Damaged(Unreadable):
    """The compressed data cannot be decoded any further."""


class BlockDecompressor:
    """Turns compressed data, fed in any pieces, into text.

    `damage` says why nothing more can be decoded, None while it can. `whole` says whether what was fed ended with
    the end of a frame.
    """

    def __init__(self) -> None:
        with packages_named():
            import zstandard  # noqa: F401 - what lacks it says so before anything is read
        self.damage: str | None = None
        self._held = b""
        self._frame: _Decompressor | None = None
        self._checksum = 0

    @property
    def whole(self) -> bool:
        """Whether what was fed so far ended with the end of a frame."""
        return self._frame is None and not self._held and self.damage is None

    def feed(self, data: bytes) -> bytes:
        """Return the text of all blocks that are whole now and were not given yet."""
        import zstandard

        held = memoryview(self._held + data)
        text = []
        try:
            while held and (size := self._size_of_next(held)) is not None and len(held) >= size:
                text.append(self._decode(bytes(held[:size])))
                held = held[size:]
        except (zstandard.ZstdError, Damaged) as error:
            self.damage = str(error)
        self._held = b"" if self.damage else bytes(held)
        return b"".join(text)

    def _size_of_next(self, held: memoryview) -> int | None:
        """Return the size of the header, or of the block, that comes next; None where that is not there yet."""
        if self._frame is not None:
            return None if len(held) < 3 else self._block_size(held)
        begin = bytes(held[:4])
        if begin[1:] == _SKIPPED[: len(begin) - 1] and begin[0] & 0xF0 == 0x50:
            return None if len(held) < 8 else 8 + int.from_bytes(held[4:8], "little")
        if begin != ZSTANDARD[: len(begin)]:
            raise Damaged("what follows is no frame of zstandard")
        if len(held) < 5:
            return None
        descriptor = held[4]
        one_segment = descriptor >> 5 & 1
        content_size = _CONTENT_SIZES[descriptor >> 6] or one_segment
        return 5 + (1 - one_segment) + _DICTIONARY_SIZES[descriptor & 3] + content_size

    def _block_size(self, held: memoryview) -> int:
        begin = int.from_bytes(held[:3], "little")
        kind = begin >> 1 & 3
        if kind == _RESERVED_BLOCK:
            raise Damaged("a block is of a kind that there is not")
        return 3 + (1 if kind == _ONE_BYTE_BLOCK else begin >> 3) + (self._checksum if begin & 1 else 0)

    def _decode(self, piece: bytes) -> bytes:
        if self._frame is not None:
            is_last = piece[0] & 1
            text = self._frame.decompress(piece)
            if is_last:
                self._frame = None
            return text
        if piece[:4] != ZSTANDARD:
            return b""
        import zstandard

        self._checksum = 4 if piece[4] >> 2 & 1 else 0
        self._frame = cast("_Decompressor", zstandard.ZstdDecompressor().decompressobj())
        return self._frame.decompress(piece)


class CompressedLines:
    """The lines of a compressed file. What the end of the file, or damage, leaves of a line is the last one."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decompressor = BlockDecompressor()
        self._ready: list[bytes] = []  # the next one last
        self._begun = bytearray()
        self._over = False

    def readline(self, limit: int = -1) -> bytes:
        """Return the next line with its end, b"" at the end of the file.

        A line that has more than `limit` bytes may be given in several parts. Raises CutOff and Damaged, once all
        that can be decoded was given.
        """
        while not self._ready and not self._over:
            self._read(limit)
        if self._ready:
            return self._ready.pop()
        if self._decompressor.damage is not None:
            raise Damaged(f"the compressed data is damaged here ({self._decompressor.damage})")
        if not self._decompressor.whole:
            raise CutOff("the compressed data breaks off here")
        return b""

    def _read(self, limit: int) -> None:
        data = self._raw.read(_CHUNK)
        text = self._decompressor.feed(data) if data else b""
        self._over = not data or self._decompressor.damage is not None
        end = text.rfind(b"\n") + 1
        if end:
            *lines, _ = (bytes(self._begun) + text[:end]).split(b"\n")
            self._ready = [line + b"\n" for line in reversed(lines)]
            self._begun.clear()
        self._begun += text[end:]
        if self._begun and (self._over or 0 <= limit < len(self._begun)):
            self._ready.insert(0, bytes(self._begun))
            self._begun.clear()
