"""The lines that a run leaves in its files: how they are written, and what a file of them says of inputs done.

Rule: a line counts when it is whole: JSON, with its line end. What stands behind the last one that is whole is a
line that was being written when the program or the machine ended; its input counts as not done. A line that lacks
its end alone is whole. Anything else in such a file was not written by a run, and is refused, not removed. Pure,
but for the stream that is read.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from typing import BinaryIO

import attrs
import msgspec

from cdpengine import _json
from cdpengine._plain import to_plain
from cdpengine.errors.texts import escape_json
from cdpengine.pool.mapping.inputs import MapInput

HIGHEST = 10**9
"""The highest number of a line. Each takes 4 bytes: a damaged number could ask for all memory."""

_BEGINNING = b'{"line":'


class _Head(msgspec.Struct):
    """What every line of the files begins with. Decoding it checks all of the line as JSON."""

    line: int
    digest: str


_heads = _json.Decoder(_Head)


class Recorded:
    """The lines of the inputs that have an outcome, each with a part of its digest: 4 bytes for each line."""

    def __init__(self) -> None:
        self._marks = array("I")
        self.count = 0

    @property
    def highest(self) -> int:
        """The highest line that has an outcome, 0 where there is none."""
        return len(self._marks)

    def add(self, line: int, digest: str) -> bool:
        """Note a line; return whether it is new."""
        if line > len(self._marks):
            self._marks.frombytes(bytes(4 * (line - len(self._marks))))
        is_new = not self._marks[line - 1]
        self._marks[line - 1] = _mark(digest)
        self.count += is_new
        return is_new

    def add_all(self, other: Recorded) -> None:
        """Note all lines of another one."""
        for place, mark in enumerate(other._marks):
            if mark:
                self.add(place + 1, f"{mark:08x}")

    def has(self, line: int) -> bool:
        """Say whether the line has an outcome."""
        return line <= len(self._marks) and self._marks[line - 1] != 0

    def matches(self, line: int, digest: str) -> bool:
        """Say whether the line has an outcome that was one of the same text."""
        return self.has(line) and self._marks[line - 1] == _mark(digest)


def _mark(digest: str) -> int:
    return int(digest[:8], 16) or 1


# --- reading -------------------------------------------------------------------------------------------------


@attrs.frozen
class Damaged(Exception):
    """A file is not one of a run's lines, from its line `line` on."""

    line: int


@attrs.frozen
class Scanned:
    """What a file holds: `whole` bytes of whole lines, and behind them `torn` bytes of one that was not.

    `unended`: the last whole line lacks its end. `lines`: how many are whole.
    """

    whole: int
    torn: int
    unended: bool
    lines: int


def scan_lines(stream: BinaryIO, take: Callable[[int, str], object]) -> Scanned:
    """Read a file of lines; `take` is called with the line and the digest that each whole one is about.

    Raises Damaged where something stands in it that no run leaves, OSError.
    """
    whole = lines = 0
    ended = True
    for raw in stream:
        head = _head_of(raw)
        if head is None:
            rest = raw + stream.read()
            if not _is_torn(rest):
                raise Damaged(lines + 1)
            return Scanned(whole, len(rest), unended=False, lines=lines)
        take(head.line, head.digest)
        whole += len(raw)
        lines += 1
        ended = raw.endswith(b"\n")
    return Scanned(whole, 0, unended=not ended, lines=lines)


def _head_of(raw: bytes) -> _Head | None:
    """Return what a line is about; None where it is not whole."""
    if not raw.startswith(_BEGINNING):
        return None
    try:
        head = _heads.decode(raw)
        int(head.digest, 16)
    except (msgspec.DecodeError, ValueError, UnicodeDecodeError):
        return None
    return head if 0 < head.line <= HIGHEST and len(head.digest) == _DIGITS else None


_DIGITS = 16


def _is_torn(rest: bytes) -> bool:
    """Say whether bytes are the beginning of a line; a machine that lost its power may leave zeros there."""
    text = rest.rstrip(b"\0")
    return b"\n" not in text and (text.startswith(_BEGINNING) or _BEGINNING.startswith(text))


def copy_lines(source: BinaryIO, target: BinaryIO, choose: Callable[[int, int], bool]) -> None:
    """Copy the whole lines of which `choose` says so, by their place (from 0) and the number of their input."""
    for place, raw in enumerate(source):
        head = _head_of(raw)
        if head is not None and choose(place, head.line):
            target.write(raw)


# --- writing -------------------------------------------------------------------------------------------------


def encode_begun(entry: MapInput) -> bytes:
    """Return the line that says that an input was begun."""
    return _encode({"line": entry.line, "digest": entry.digest})


def encode_value(entry: MapInput, value: object, *, attempts: int, seconds: float) -> bytes:
    """Return the line of an input that is done."""
    return _encode(
        {
            "line": entry.line,
            "digest": entry.digest,
            "input": entry.value,
            "value": to_plain(value),
            "attempts": attempts,
            "seconds": round(seconds, 3),
        }
    )


def encode_failure(entry: MapInput, error: Mapping[str, str], *, attempts: int, seconds: float) -> bytes:
    """Return the line of an input that failed."""
    return _encode(
        {
            "line": entry.line,
            "digest": entry.digest,
            "input": entry.value,
            "error": {**error},
            "attempts": attempts,
            "seconds": round(seconds, 3),
        }
    )


def _encode(document: dict[str, object]) -> bytes:
    text = _json.encode_text(document, compact=True)
    return escape_json(text).encode("utf-8") + b"\n"
