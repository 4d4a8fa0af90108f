"""Recording: the format of recorded traffic, and the one way to read it.

Rule: one JSON object a line, a header first; zstandard when the file begins with its magic number, whatever the
name. Reading takes memory for one line only, and gives all that can be read: a line that is damaged is passed
over and named in `damage`, with its number; where the file breaks off, all lines before that place are given,
compressed or not. A field or a kind of line that a newer version adds is no damage.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal, cast, get_args

import attrs
import msgspec

from cdpengine.debug.decompression import ZSTANDARD, CompressedLines, CutOff, Unreadable
from cdpengine.errors import InvalidArgumentError, RecordingDamagedError

VERSION = 1

CUT = "cdpengine.cut"
"""The key of the marker that stands for a payload above the limit; its value is the payload's size in bytes."""

Kind = Literal[
    "call", "reply", "error", "event", "stray", "target", "span", "span-end", "http", "entered", "lost", "end"
]
_KINDS = frozenset(get_args(Kind))


class Header(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The first line.

    `started` is the wall clock, ISO 8601 in UTC; `monotonic` the engine's clock then, in seconds;
    `limit` is the size in bytes above which payloads are cut, 0 for none; `salt` that of the fingerprints of
    entered texts, in hexadecimal, "" where there are none.
    """

    cdpengine: str = "recording"
    version: int = VERSION
    started: str = ""
    monotonic: float = 0.0
    product: str = ""
    redacted: bool = True
    limit: int = 0
    pid: int = 0
    salt: str = ""

    def encoded(self) -> bytes:
        """Return the line."""
        # Its first fields tell a recording from other files, so they are written although they are defaults.
        fields = {"cdpengine": self.cdpengine, "version": self.version, **msgspec.to_builtins(self)}
        return msgspec.json.encode(fields) + b"\n"


class Line(msgspec.Struct, omit_defaults=True, kw_only=True):
    """One thing that happened, in the order of the wire. What does not apply is left out of the file.

    t       seconds since the recording began
    n       sequence number, from 1; a gap is where lines were lost
    k       call, reply, error (a reply that refuses), event, stray (a message that is none of these);
            target (a session and what it belongs to), span and span-end (one action of the program's own),
            http (something that a client asked over HTTP, and the answer), entered (the fingerprints of what was
            entered by the call on line `of`: `entered_texts.py`),
            lost (`count` messages came faster than they could be written), end (the recorder was closed in order)
    c       the connection's name
    d       ">" sent, "<" received
    s       session id, absent for the browser's own session
    T       target id of the session, where it is known
    id, m   id and method of a call; of its reply too; of http the method, such as PUT
    z       size of the message on the wire, in bytes
    ms      of replies: milliseconds since the call; of span-ends: how long the action took
    span    the action that a call, and so its reply, belongs to; of spans their own number
    name    of spans and their ends: the action, such as "page.click e7"
    failed  of span-ends: the name of the exception that ended the action; absent where it succeeded
    type    of targets: page, iframe, worker, ...
    url     of targets; of http what was asked, such as "/json/new?about:blank"
    count   of lost
    status  of http: the status of the answer
    of      of entered: the number n of the call's line
    h       of entered: the fingerprints of the call's redacted texts in their order, "" for one without
    typed   of entered: the fingerprint of what was typed in the call's session since the last one
    withheld  of replies: whether something in what a script returned was withheld, as nobody knows what is secret
            in it (`keep_arguments` keeps it)
    msg     the message: as it was, or redacted; where its payload is above the limit, {"cdpengine.cut": bytes,
            "head": "..."} stands in the payload's place; of http the body of the answer, a text unless it is JSON
    """

    t: float = 0.0
    n: int = 0
    k: str
    c: str = ""
    d: str = ""
    s: str = ""
    T: str = ""
    id: int | None = None
    m: str = ""
    z: int = 0
    ms: float | None = None
    span: int = 0
    name: str = ""
    failed: str = ""
    type: str = ""
    url: str = ""
    count: int = 0
    status: int = 0
    of: int = 0
    h: tuple[str, ...] = ()
    typed: str = ""
    withheld: bool = False
    msg: msgspec.Raw = msgspec.Raw(b"")


class Message(msgspec.Struct):
    """The message of a line, its payloads left raw."""

    id: int | None = None
    method: str = ""
    params: msgspec.Raw = msgspec.Raw(b"")
    result: msgspec.Raw = msgspec.Raw(b"")
    error: msgspec.Raw = msgspec.Raw(b"")


@attrs.frozen
class Damage:
    """A line that could not be read, and why."""

    line: int
    reason: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.reason}"


_DAMAGE_KEPT = 100
_NOT_DECODED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_BREAKS_OFF = "the line breaks off"
_NO_END = "the recording ends without its last line: its program was killed, or still writes"
_HEADER_BEGINS = b'{"cdpengine"'

_decode_header = msgspec.json.Decoder(Header).decode
_decode_line = msgspec.json.Decoder(Line).decode
_decode_message = msgspec.json.Decoder(Message).decode


class Recording:
    """A recording that is being read. Iterate over it for its lines; once."""

    def __init__(self, path: Path, size: int, raw: IO[bytes], text: IO[bytes]) -> None:
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
            except _NOT_DECODED as error:
                self._damaged(number, str(error) if raw.endswith(b"\n") else _BREAKS_OFF)
                continue
            self.closed_in_order = line.k == "end"
            if line.k in _KINDS:
                yield line

    def message(self, line: Line) -> Message:
        """Return the message of a line. Raises RecordingDamagedError when it is none."""
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
        self._damaged(self._number, reason)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        number = 1
        while True:
            try:
                raw = self._text.readline()
            except CutOff as cut:
                if not self._line_breaks_off(number):  # else the same was said of it
                    self._damaged(number + 1, str(cut))
                return
            except (Unreadable, OSError) as error:
                self._damaged(number + 1, str(error))
                return
            if not raw:
                return
            number += 1
            yield number, raw

    def _line_breaks_off(self, number: int) -> bool:
        return bool(self.damage) and self.damage[-1] == Damage(number, _BREAKS_OFF)

    def _damaged(self, number: int, reason: str) -> None:
        self.damaged_lines += 1
        if len(self.damage) < _DAMAGE_KEPT:
            self.damage.append(Damage(number, reason))

    def _read_header(self) -> Header:
        raw = b""
        try:
            raw = self._text.readline(1 << 20)
            header = _decode_header(raw)
        except (Unreadable, OSError, *_NOT_DECODED) as error:
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


def _begins_a_header(raw: bytes) -> bool:
    begins = raw[: len(_HEADER_BEGINS)]
    return bool(raw) and not raw.endswith(b"\n") and _HEADER_BEGINS.startswith(begins)


@contextmanager
def open_recording(path: str | Path) -> Iterator[Recording]:
    """Open a recording for reading; close it when the block ends.

    Raises InvalidArgumentError when there is no such file, RecordingDamagedError when it is no recording, or
    breaks off before its first line is whole. Whatever else is wrong with it is in its `damage`, once it was read.
    """
    path = Path(path)
    try:
        raw = path.open("rb")
    except OSError as error:
        raise InvalidArgumentError(
            what="recording", given=str(path), expected=f"a file ({error.strerror})"
        ) from None
    with raw:
        size = path.stat().st_size
        compressed = raw.peek(4)[:4] == ZSTANDARD if isinstance(raw, io.BufferedReader) else False
        yield Recording(path, size, raw, cast("IO[bytes]", CompressedLines(raw)) if compressed else raw)
