"""The lines in a run's files: their format, their reading and writing.

Rule: a line counts if it is complete: JSON with its line end. An incomplete last line was cut by the end of the
program or machine; its input counts as not done. A line that lacks only its end is complete. Any other content was
not written by a run, and is refused instead of removed. Pure, except for reading the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import BinaryIO

import attrs
import msgspec

from cdpengine import _json
from cdpengine._json_values import to_plain
from cdpengine.errors.texts import escape_json
from cdpengine.pool.mapping.inputs import MapInput

HIGHEST = 10**9
"""Highest line number. Each line takes 4 bytes, so a damaged number could exhaust the memory."""

_BEGINNING = b'{"line":'


class _Head(msgspec.Struct):
    """The common header of all lines. Decoding it validates the line as JSON."""

    line: int
    digest: str


_heads = _json.Decoder(_Head)


# --- reading -------------------------------------------------------------------------------------------------


@attrs.frozen
class Damaged(Exception):
    """A file contains other content from line `line` on."""

    line: int


@attrs.frozen
class Scanned:
    """The contents of a file: `whole` bytes of complete lines, followed by `torn` bytes of an incomplete one.

    `unended`: the last complete line lacks its end. `lines` is the number of complete lines.
    """

    whole: int
    torn: int
    unended: bool
    lines: int


def scan_lines(stream: BinaryIO, take: Callable[[int, str], object]) -> Scanned:
    """Read a file of lines. `take` is called with the line number and digest of each complete line's input.

    Raises Damaged for content that no run writes, and OSError.
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
    """Return the header of a line, or None if the line is incomplete."""
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
    """Return whether the bytes can start a line. After a power failure the file can end in zero bytes."""
    text = rest.rstrip(b"\0")
    return b"\n" not in text and (text.startswith(_BEGINNING) or _BEGINNING.startswith(text))


def copy_lines(source: BinaryIO, target: BinaryIO, choose: Callable[[int, int], bool]) -> None:
    """Copy the complete lines selected by `choose`, which gets their index (from 0) and input number."""
    for place, raw in enumerate(source):
        head = _head_of(raw)
        if head is not None and choose(place, head.line):
            target.write(raw)


# --- writing -------------------------------------------------------------------------------------------------


def encode_begun(entry: MapInput) -> bytes:
    """Return the line that marks an input as begun."""
    return _encode({"line": entry.line, "digest": entry.digest})


def encode_value(entry: MapInput, value: object, *, attempts: int, seconds: float) -> bytes:
    """Return the line of a completed input."""
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
    """Return the line of a failed input."""
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
