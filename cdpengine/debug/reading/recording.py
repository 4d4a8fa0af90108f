"""Reading of recordings that are whole, damaged, or still being written.

Rule: the magic number of zstandard marks a compressed file, whatever its name. Reading needs memory for one line.
A damaged line is skipped and added to `damage` with its number. If the file is cut off, all lines before that
position are read, compressed or not. A followed recording yields a line only when the line is complete. At the end
of the file it polls, because nothing reports that a file has grown, until the last line of the recording arrives.

Compressed data is decompressed block by block, so that each intact block is read whatever follows it. If zstandard
gets more than one block and finds an error, it discards the decoded part. RFC 8878 defines the format: frames of
blocks, each with its size in its first three bytes.
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
from cdpengine.errors import FileUnreadableError, InvalidArgumentError, packages_named


@attrs.frozen
class Damage:
    """An unreadable line and the reason."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


_CHUNK = 1 << 18
_PATIENCE = 0.1
"""Polling interval of a file that has not grown, in seconds."""

_MOST_DAMAGE = 100
_BREAKS_OFF = "the line breaks off"
_NO_END = "the recording ends without its last line: its program was killed or is still writing"
_HEADER_BEGINS = b'{"cdpengine"'

_decode_header = _json.Decoder(Header).decode
_decode_line = _json.Decoder(Line).decode
_decode_message = _json.Decoder(Message).decode


class LineReader(Protocol):
    """A source of lines: a file, possibly compressed or growing."""

    def readline(self, limit: int = -1, /) -> bytes:
        """Return the next line with its line break, or its first `limit` bytes, or b"" at the end."""


class Recording:
    """An open recording. Iterate over it once to read its lines.

    `path` is its file, of `size` bytes, and `header` its first line. `damage` lists at most the first 100 problems
    so far; `damaged_lines` counts all. `closed_in_order`: the last line read is the regular end line of a
    recording.
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
        """Bytes of the file read so far, for a progress bar (the total is `size`)."""
        return self._raw.tell()

    @property
    def line_number(self) -> int:
        """Number of the last line read. The header is line 1."""
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
        """Return the message of a line. Raises FileUnreadableError if the line has no valid message."""
        try:
            return _decode_message(line.msg)
        except msgspec.DecodeError as error:
            raise FileUnreadableError(
                "the recording", str(self.path), str(error), line=self._number
            ) from None

    @property
    def all_damage(self) -> list[Damage]:
        """The problems of a recording that was read to its end, including a missing last line."""
        if self.closed_in_order or (self.damage and self.damage[-1].line >= self._number):
            return list(self.damage)
        return [*self.damage, Damage(self._number, _NO_END)]

    def report(self, reason: str) -> None:
        """Add a problem of the last line to `damage`."""
        self._note_damage(self._number, reason)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 1
        while True:
            try:
                raw = self._text.readline()
            except CutOff as cut:
                if not self._line_breaks_off(number):  # a broken-off line is already in `damage`
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
        if len(self.damage) < _MOST_DAMAGE:
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
                what = f"its first line is not a header ({error})"
            raise self._no_recording(what) from None
        if header.cdpengine != "recording" or b'"cdpengine"' not in raw:
            raise self._no_recording("its first line is not a header")
        if header.version > VERSION:
            raise self._no_recording(
                f"its format version is {header.version}; this program reads versions up to {VERSION}"
            )
        self._number = 1
        return header

    def _no_recording(self, reason: str) -> FileUnreadableError:
        return FileUnreadableError("a recording", str(self.path), reason, line=1)


@contextmanager
def open_recording(path: str | Path) -> Iterator[Recording]:
    """Open a recording for reading, and close it after the block.

    Raises InvalidArgumentError for a missing file. Raises FileUnreadableError if the file is no recording or
    breaks off in its first line. Other problems are added to `damage` during reading.
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
    """Open a recording that is still being written. `wait` is called while no more data is available.

    Iteration ends with the recording's last line, or with an exception of `wait`. Raises the errors of
    `open_recording`. A file that becomes shorter counts as damage.
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
    """No more lines can be read before the regular end of the file."""


class FileShrank(Unreadable):
    """The file became shorter than the part already read."""


class GrowingLines:
    """The lines of a growing file. `readline` calls `wait` until a line is complete."""

    def __init__(self, raw: IO[bytes], size: Callable[[], int], wait: Callable[[], None]) -> None:
        self._raw = raw
        self._size = size
        self._wait = wait
        self._ready: list[bytes] = []  # complete lines in reverse order
        self._begun = bytearray()
        self._looked = 0
        self._decompressor = BlockDecompressor()
        self._compressed: bool | None = None

    def readline(self, _limit: int = -1, /) -> bytes:
        """Return the next line with its line break. Raises FileShrank, or Damaged for undecodable data."""
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
"""First bytes of a frame, and therefore of a compressed file."""

_SKIPPED = b"\x2a\x4d\x18"
"""Bytes 2 to 4 of a frame without content. Its first byte is 0x50 to 0x5f."""


# Field sizes in a frame's header, by the flags of its descriptor.
_DICTIONARY_SIZES = (0, 1, 2, 4)
_CONTENT_SIZES = (0, 2, 4, 8)
_ONE_BYTE_BLOCK = 1
_RESERVED_BLOCK = 3


class _Decompressor(Protocol):
    def decompress(self, data: bytes, /) -> bytes: ...


class CutOff(Unreadable):
    """The compressed data ends within a frame."""


class Damaged(Unreadable):
    """The rest of the compressed data cannot be decoded."""


class BlockDecompressor:
    """A decompressor for data that is fed in pieces of any size.

    `damage` is the reason why no more data can be decoded, or None. `whole`: the data fed so far ends with a
    complete frame.
    """

    def __init__(self) -> None:
        with packages_named():
            import zstandard  # noqa: F401 - report a missing package before reading
        self.damage: str | None = None
        self._buffered = b""
        self._frame: _Decompressor | None = None
        self._checksum = 0

    @property
    def whole(self) -> bool:
        """Whether the data fed so far ends with a complete frame."""
        return self._frame is None and not self._buffered and self.damage is None

    def feed(self, data: bytes) -> bytes:
        """Add compressed data. Return the content of newly completed blocks."""
        import zstandard

        buffered = memoryview(self._buffered + data)
        text = []
        try:
            while buffered and (size := self._size_of_next(buffered)) is not None and len(buffered) >= size:
                text.append(self._decode(bytes(buffered[:size])))
                buffered = buffered[size:]
        except (zstandard.ZstdError, Damaged) as error:
            self.damage = str(error)
        self._buffered = b"" if self.damage else bytes(buffered)
        return b"".join(text)

    def _size_of_next(self, buffered: memoryview) -> int | None:
        """Return the size of the next header or block, or None if too few bytes are available."""
        if self._frame is not None:
            return None if len(buffered) < 3 else self._block_size(buffered)
        begin = bytes(buffered[:4])
        if begin[1:] == _SKIPPED[: len(begin) - 1] and begin[0] & 0xF0 == 0x50:
            return None if len(buffered) < 8 else 8 + int.from_bytes(buffered[4:8], "little")
        if begin != ZSTANDARD[: len(begin)]:
            raise Damaged("the next bytes are no zstandard frame")
        if len(buffered) < 5:
            return None
        descriptor = buffered[4]
        one_segment = descriptor >> 5 & 1
        content_size = _CONTENT_SIZES[descriptor >> 6] or one_segment
        return 5 + (1 - one_segment) + _DICTIONARY_SIZES[descriptor & 3] + content_size

    def _block_size(self, buffered: memoryview) -> int:
        begin = int.from_bytes(buffered[:3], "little")
        kind = begin >> 1 & 3
        if kind == _RESERVED_BLOCK:
            raise Damaged("a block has an invalid type")
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
    """The lines of a compressed file. At the end or at damage, the last line may be incomplete."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._raw = raw
        self._decompressor = BlockDecompressor()
        self._ready: list[bytes] = []  # in reverse order
        self._begun = bytearray()
        self._over = False

    def readline(self, limit: int = -1, /) -> bytes:
        """Return the next line with its line break, or b"" at the end of the file.

        A line with more than `limit` bytes may be returned in parts. Raises CutOff or Damaged after the last
        decodable data.
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
