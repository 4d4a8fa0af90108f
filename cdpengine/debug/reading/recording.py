"""Reading a recording: from its first line to its last, whole, damaged, or while it is still being written.

Rule: zstandard when the file begins with its magic number, whatever the name. Reading takes memory for one line
only, and gives all that can be read: a line that is damaged is passed over and named in `damage`, with its number;
where the file breaks off, all lines before that place are given, compressed or not. A recording that is followed
gives a line when it is whole, and never before; at the end of the file it looks again and again (nothing says
that a file has grown) until the recording's own last line came.

Compressed data is read block by block: a block that is whole is given, whatever comes after it. zstandard itself
is asked for one block at a time: given more at once, it keeps what it could decode of that to itself when it finds
an error. The format is that of RFC 8878: frames of blocks, each block with its size in its first three bytes.
"""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import attrs
import msgspec

from cdpengine import _json
from cdpengine._paths import to_path
from cdpengine.debug.recording_format import KINDS, VERSION, Header, Line, Message
from cdpengine.errors import InvalidArgumentError, RecordingDamagedError, packages_named


@attrs.frozen
class Damage:
    """A line that could not be read, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


_CHUNK = 1 << 18
_PATIENCE = 0.1
"""Seconds between two looks at a file that has not grown."""

_DAMAGE_KEPT = 100
_BREAKS_OFF = "the line breaks off"
_NO_END = "the recording ends without its last line: its program was killed, or still writes"
_HEADER_BEGINS = b'{"cdpengine"'

_decode_header = _json.Decoder(Header).decode
_decode_line = _json.Decoder(Line).decode
_decode_message = _json.Decoder(Message).decode


class LineReader(Protocol):
    """What lines are read from: a file, or one that is compressed or grows."""

    def readline(self, limit: int = -1, /) -> bytes:
        """Return the next line with its end, or its first `limit` bytes; b"" at the end."""


class Recording:
    """A recording that is being read. Iterate over it for its lines; once.

    `path` is its file, of `size` bytes, and `header` its first line. `damage` is what was found wrong so far, at
    most the first 100; `damaged_lines` counts all of it. `closed_in_order` says whether the line that was read
    last is the one that a recording ends with.
    """

    def __init__(self, path: Path, size: int, raw: IO[bytes], text: LineReader) -> None:
        self.path = path
        self.size = size
        self.damage: list[Damage] = []
        self.damaged_lines = 0
        self.closed_in_order = False
        self._raw = raw
        self._text = text
        self._number = 0
        self.header = self._read_header()

    @property
    def position(self) -> int:
        """How many bytes of the file were read; of `size`, for a progress bar."""
        return self._raw.tell()

    @property
    def line_number(self) -> int:
        """The number of the line that was given last; the header is line 1."""
        return self._number

    def __iter__(self) -> Iterator[Line]:
        for number, raw in self._lines():
            self._number = number
            if not raw.strip():
                continue
            try:
                line = _decode_line(raw)
            except msgspec.DecodeError as error:
                self._note_damage(number, str(error) if raw.endswith(b"\n") else _BREAKS_OFF)
                continue
            self.closed_in_order = line.k == "end"
            if line.k in KINDS:
                yield line

    def message(self, line: Line) -> Message:
        """Return the message of a line. Raises RecordingDamagedError when the line holds no message."""
        try:
            return _decode_message(line.msg)
        except msgspec.DecodeError as error:
            raise RecordingDamagedError(path=str(self.path), line=self._number, reason=str(error)) from None

    @property
    def all_damage(self) -> list[Damage]:
        """What is wrong with a recording that was read to its end, the lack of its last line included."""
        if self.closed_in_order or (self.damage and self.damage[-1].line >= self._number):
            return list(self.damage)
        return [*self.damage, Damage(self._number, _NO_END)]

    def report(self, reason: str) -> None:
        """Add to `damage` what a reader found wrong with the line that was given last."""
        self._note_damage(self._number, reason)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 1
        while True:
            try:
                raw = self._text.readline()
            except CutOff as cut:
                if not self._line_breaks_off(number):  # otherwise the line has its damage already
                    self._note_damage(number + 1, str(cut))
                return
            except (Unreadable, OSError) as error:
                self._note_damage(number + 1, str(error))
                return
            if not raw:
                return
            number += 1
            yield number, raw

    def _line_breaks_off(self, number: int) -> bool:
        return bool(self.damage) and self.damage[-1] == Damage(number, _BREAKS_OFF)

    def _note_damage(self, number: int, reason: str) -> None:
        self.damaged_lines += 1
        if len(self.damage) < _DAMAGE_KEPT:
            self.damage.append(Damage(number, reason))

    def _read_header(self) -> Header:
        raw = b""
        try:
            raw = self._text.readline(1 << 20)
            header = _decode_header(raw)
        except (Unreadable, OSError, msgspec.DecodeError) as error:
            if self.size == 0:
                what = "it is empty"
            elif _begins_a_header(raw):
                what = "it breaks off in its first line"
            else:
                what = f"its first line is no header of one ({error})"
            raise RecordingDamagedError(
                path=str(self.path), line=1, reason=f"this is no recording: {what}"
            ) from None
        if header.cdpengine != "recording" or b'"cdpengine"' not in raw:
            raise RecordingDamagedError(
                path=str(self.path), line=1, reason="this is no recording: its first line is no header of one"
            )
        if header.version > VERSION:
            raise RecordingDamagedError(
                path=str(self.path),
                line=1,
                reason=f"it is of version {header.version}; this program reads up to {VERSION}",
            )
        self._number = 1
        return header


@contextmanager
def open_recording(path: str | Path) -> Iterator[Recording]:
    """Open a recording for reading; close it when the block ends.

    Raises InvalidArgumentError when there is no such file, RecordingDamagedError when it is no recording, or
    breaks off before its first line is whole. Whatever else is wrong with it is in its `damage`, once it was read.
    """
    path = to_path("recording", path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InvalidArgumentError(
            what="recording", given=str(path), expected=f"a file ({error.strerror})"
        ) from None
    with raw:
        size = path.stat().st_size
        compressed = raw.peek(4)[:4] == ZSTANDARD if isinstance(raw, io.BufferedReader) else False
        yield Recording(path, size, raw, CompressedLines(raw) if compressed else raw)


@contextmanager
def follow_recording(
    path: str | Path, *, wait: Callable[[], None] = lambda: time.sleep(_PATIENCE)
) -> Iterator[Recording]:
    """Open a recording as `open_recording` does, to be read as it grows. `wait` is called while there is no more.

    Iterating ends with the recording's last line, or with what `wait` raises. Raises as `open_recording`; a file
    that gets shorter ends as damage.
    """
    path = to_path("recording", path)
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise InvalidArgumentError(
            what="recording", given=str(path), expected=f"a file ({error.strerror})"
        ) from None
    with raw:
        lines = GrowingLines(raw, lambda: path.stat().st_size, wait)
        yield Recording(path, path.stat().st_size, raw, lines)


def _begins_a_header(raw: bytes) -> bool:
    begins = raw[: len(_HEADER_BEGINS)]
    return bool(raw) and not raw.endswith(b"\n") and _HEADER_BEGINS.startswith(begins)


# --- a file that grows ---------------------------------------------------------------------------------------


class Unreadable(Exception):
    """No more lines can be read, though the file goes on or does not end as it should."""


class FileShrank(Unreadable):
    """The file is shorter than what was read of it."""


class GrowingLines:
    """The lines of a file that grows; `readline` waits for a whole one, by calling `wait` between two looks."""

    def __init__(self, raw: IO[bytes], size: Callable[[], int], wait: Callable[[], None]) -> None:
        self._raw = raw
        self._size = size
        self._wait = wait
        self._ready: list[bytes] = []  # whole lines, the next one last
        self._begun = bytearray()
        self._looked = 0
        self._decompressor = BlockDecompressor()
        self._compressed: bool | None = None

    def readline(self, _limit: int = -1, /) -> bytes:
        """Return the next line, with its end. Raises FileShrank, and Damaged for data that cannot be decoded."""
        while not self._ready:
            if self._decompressor.damage is not None:
                raise Damaged(f"the compressed data is damaged here ({self._decompressor.damage})")
            self._take(self._read())
        return self._ready.pop()

    def _read(self) -> bytes:
        while True:
            data = self._raw.read(_CHUNK)
            if data:
                return data
            if self._size() < self._raw.tell():
                raise FileShrank("the file was cut short, or replaced, while it was followed")
            self._wait()

    def _take(self, data: bytes) -> None:
        if self._compressed is None:
            while len(data) < len(ZSTANDARD) and ZSTANDARD.startswith(data):
                data += self._read()
            self._compressed = data.startswith(ZSTANDARD)
        text = self._decompressor.feed(data) if self._compressed else data
        end = text.rfind(b"\n")
        if end < 0:
            self._begun += text
            return
        whole = bytes(self._begun) + text[: end + 1]
        self._begun = bytearray(text[end + 1 :])
        self._ready = whole.splitlines(keepends=True) if b"\r" not in whole else _split(whole)
        self._ready.reverse()


def _split(whole: bytes) -> list[bytes]:
    return [line + b"\n" for line in whole[:-1].split(b"\n")]


# --- compressed data -----------------------------------------------------------------------------------------

ZSTANDARD = b"\x28\xb5\x2f\xfd"
"""What a frame, and so a file that is compressed, begins with."""

_SKIPPED = b"\x2a\x4d\x18"
"""What a frame that holds no text has after its first byte, which is 0x50 to 0x5f."""


# The sizes of fields of a frame's header, by the flags in its descriptor.
_DICTIONARY_SIZES = (0, 1, 2, 4)
_CONTENT_SIZES = (0, 2, 4, 8)
_ONE_BYTE_BLOCK = 1
_RESERVED_BLOCK = 3


class _Decompressor(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


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

    def readline(self, limit: int = -1, /) -> bytes:
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
