"""The inputs of a run: lines of a file or of standard input, read as a stream, each with what tells it apart.

Rule: an input is known by the number of its line and a digest of the line, without its end. A line that begins
with "{" or a quotation mark is JSON: an object or a string. Any other line is a URL as it stands. Empty lines are
no inputs, but they count. A line that is none of these is an input that fails; it ends nothing.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import attrs

from cdpengine import _json
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import cut

if TYPE_CHECKING:
    from cdpengine.pool.mapping.journal import Recorded

LONGEST = 16 * 2**20
"""Bytes of a line from which on it is no input: a file without line ends is not taken into memory."""

BLOCK = 2**18
"""Bytes that are read at once."""

DEEPEST = 100
"""Levels of an input from which on it is none: what is written down has to be so in any depth of the stack."""

_LIKE_A_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_SHOWN = 200


@attrs.frozen
class MapInput:
    """One input: its line (from 1), the digest of it (16 hexadecimal digits), and what a function is given.

    `problem` says why it cannot be given to any; `value` is the beginning of the line then.
    """

    line: int
    digest: str
    value: object
    problem: str = ""


def digest_of(text: bytes) -> str:
    """Return what tells a line from others."""
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def read_input(line: int, raw: bytes) -> MapInput:
    """Return the input of a line, which is not empty."""
    text = raw.strip()
    digest = digest_of(text)
    if len(raw) > LONGEST:
        beginning = text[:_SHOWN].decode("utf-8", "replace")
        return MapInput(line, digest, beginning, f"the line has more than {LONGEST} bytes")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return MapInput(
            line, digest, cut(text.decode("utf-8", "replace"), _SHOWN), f"not UTF-8: {error.reason}"
        )
    if decoded[0] not in '{"':
        if _LIKE_A_URL.match(decoded):
            return MapInput(line, digest, decoded)
        problem = "expected a JSON object, a JSON string, or a URL with its scheme (https://...)"
        return MapInput(line, digest, cut(decoded, _SHOWN), problem)
    try:
        value = _json.decode_leniently(decoded)
    except ValueError as error:
        return MapInput(line, digest, cut(decoded, _SHOWN), f"expected JSON, got {error}")
    if not _is_shallow(value):
        return MapInput(line, digest, cut(decoded, _SHOWN), f"nested deeper than {DEEPEST} levels")
    return MapInput(line, digest, value)


def _is_shallow(value: object) -> bool:
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for each in level
            if isinstance(each, dict | list)
            for inner in (each.values() if isinstance(each, dict) else each)
        ]
        if not level:
            return True
    return False


class Lines:
    """Cuts blocks of bytes into lines, without their ends. Of a line that is too long, the beginning is kept."""

    def __init__(self) -> None:
        self._rest = b""
        self._first = True

    def feed(self, block: bytes) -> list[bytes]:
        """Return the lines that a block ends."""
        if self._first and block:
            block = block.removeprefix(b"\xef\xbb\xbf")
            self._first = False
        *lines, rest = block.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
            self._rest = rest
        elif len(self._rest) <= LONGEST:
            self._rest += rest
        return lines

    def end(self) -> list[bytes]:
        """Return the last line where it has no end."""
        return [self._rest] if self._rest else []


class InputReader:
    """Reads the inputs that have no outcome yet. `read` gives the next bytes, b"" at the end; it may block."""

    def __init__(self, name: str, read: Callable[[int], bytes], recorded: Recorded) -> None:
        self._name = name
        self._read = read
        self._recorded = recorded
        self._lines = Lines()
        self._number = 0
        self._ended = False
        self.count = 0
        """Inputs so far, those with an outcome included."""

    def read_some(self) -> list[MapInput] | None:
        """Read a block and return its inputs; None at the end.

        Raises InvalidArgumentError where a line is not the one that has an outcome, OSError.
        """
        if self._ended:
            return None
        block = self._read(BLOCK)
        if block:
            return list(self._take(self._lines.feed(block)))
        self._ended = True
        last = list(self._take(self._lines.end()))
        if self._number < self._recorded.highest:
            raise changed(self._name, self._number + 1)
        return last

    def _take(self, lines: list[bytes]) -> Iterator[MapInput]:
        for raw in lines:
            self._number += 1
            text = raw.strip()
            if not text:
                if self._recorded.has(self._number):
                    raise changed(self._name, self._number)
                continue
            self.count += 1
            if not self._recorded.has(self._number):
                yield read_input(self._number, raw)
            elif not self._recorded.matches(self._number, digest_of(text)):
                raise changed(self._name, self._number)


def survey(
    name: str, read: Callable[[int], bytes], recorded: Recorded, tick: Callable[[], None] = lambda: None
) -> int:
    """Read all lines once, and return how many inputs they are. `tick` is called now and then.

    Raises InvalidArgumentError where a line is not the one that has an outcome, OSError.
    """
    lines, number, count, ended = Lines(), 0, 0, False
    while not ended:
        tick()
        block = read(BLOCK)
        ended = not block
        for raw in lines.end() if ended else lines.feed(block):
            number += 1
            text = raw.strip()
            count += bool(text)
            if recorded.has(number) and not (text and recorded.matches(number, digest_of(text))):
                raise changed(name, number)
    if number < recorded.highest:
        raise changed(name, number + 1)
    return count


def changed(name: str, line: int) -> InvalidArgumentError:
    """Return the error for inputs that are not those of the run."""
    return InvalidArgumentError(
        what="inputs",
        given=f"{name}, whose line {line} is not the one that was done before",
        expected="the same lines as before, with new ones at the end only; or another output for other inputs",
    )
