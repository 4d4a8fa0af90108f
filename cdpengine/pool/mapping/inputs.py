"""The inputs of a run: lines of a file or of standard input, read as a stream, with their identity.

Rule: an input is identified by its line number and a digest of the line without its end. A line that begins with
"{" or a quotation mark is JSON: an object or a string. Any other line is a URL. Empty lines are not inputs, but
they count as lines. An invalid line is an input that fails; the run continues.
"""

from __future__ import annotations

import hashlib
import re
from array import array
from collections.abc import Callable, Iterator

import attrs

from cdpengine import _json
from cdpengine.errors import InvalidArgumentError
from cdpengine.errors.texts import cut

LONGEST = 16 * 2**20
"""Maximum length of a line, in bytes, so that a file without line breaks is not loaded into memory."""

BLOCK = 2**18
"""Size of one read, in bytes."""

DEEPEST = 100
"""Maximum nesting of an input, so that it can be written at any depth of the stack."""

_LIKE_A_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_LONGEST_EXCERPT = 200


@attrs.frozen
class MapInput:
    """An input: its line number (from 1), digest (16 hexadecimal digits), and value for the function.

    For an invalid line, `problem` is the reason and `value` the beginning of the line. Otherwise `problem` is "".
    """

    line: int
    digest: str
    value: object
    problem: str = ""


def digest_of(text: bytes) -> str:
    """Return the digest that identifies a line."""
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def read_input(line: int, raw: bytes) -> MapInput:
    """Parse a non-empty line to an input."""
    text = raw.strip()
    digest = digest_of(text)
    if len(raw) > LONGEST:
        beginning = text[:_LONGEST_EXCERPT].decode("utf-8", "replace")
        return MapInput(line, digest, beginning, f"the line has more than {LONGEST} bytes")
    try:
        decoded = text.decode("utf-8")
    except UnicodeDecodeError as error:
        return MapInput(
            line, digest, cut(text.decode("utf-8", "replace"), _LONGEST_EXCERPT), f"not UTF-8: {error.reason}"
        )
    if decoded[0] not in '{"':
        if _LIKE_A_URL.match(decoded):
            return MapInput(line, digest, decoded)
        problem = "expected a JSON object, a JSON string, or a URL with its scheme (https://...)"
        return MapInput(line, digest, cut(decoded, _LONGEST_EXCERPT), problem)
    try:
        value = _json.decode_leniently(decoded)
    except ValueError as error:
        return MapInput(line, digest, cut(decoded, _LONGEST_EXCERPT), f"expected JSON, got {error}")
    if not _is_shallow(value):
        return MapInput(line, digest, cut(decoded, _LONGEST_EXCERPT), f"nested deeper than {DEEPEST} levels")
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
    """Splitter of byte blocks into lines without their ends. Lines that are too long are truncated."""

    def __init__(self) -> None:
        self._rest = b""
        self._first = True

    def feed(self, block: bytes) -> list[bytes]:
        """Return the lines that the block completes."""
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
        """Return the last line if it has no end."""
        return [self._rest] if self._rest else []


class Recorded:
    """The line numbers of inputs with an outcome, each with a part of its digest: 4 bytes a line."""

    def __init__(self) -> None:
        self._marks = array("I")
        self.count = 0

    @property
    def highest(self) -> int:
        """The highest line number with an outcome, or 0."""
        return len(self._marks)

    def add(self, line: int, digest: str) -> bool:
        """Add a line. Return whether it is new."""
        if line > len(self._marks):
            self._marks.frombytes(bytes(4 * (line - len(self._marks))))
        is_new = not self._marks[line - 1]
        self._marks[line - 1] = _mark(digest)
        self.count += is_new
        return is_new

    def add_all(self, other: Recorded) -> None:
        """Add all lines of another object."""
        for place, mark in enumerate(other._marks):
            if mark:
                self.add(place + 1, f"{mark:08x}")

    def has(self, line: int) -> bool:
        """Return whether the line has an outcome."""
        return line <= len(self._marks) and self._marks[line - 1] != 0

    def matches(self, line: int, digest: str) -> bool:
        """Return whether the line has an outcome for the same content."""
        return self.has(line) and self._marks[line - 1] == _mark(digest)


def _mark(digest: str) -> int:
    return int(digest[:8], 16) or 1


class InputReader:
    """Reader of the inputs without an outcome. `read` returns the next bytes, b"" at the end; it may block."""

    def __init__(self, name: str, read: Callable[[int], bytes], recorded: Recorded) -> None:
        self._name = name
        self._read = read
        self._recorded = recorded
        self._lines = Lines()
        self._number = 0
        self._ended = False
        self.count = 0
        """Number of inputs so far, including those with an outcome."""

    def read_some(self) -> list[MapInput] | None:
        """Read a block and return its inputs, or None at the end.

        Raises InvalidArgumentError if a line differs from the one with an outcome, and OSError.
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
    """Read all lines once and return the number of inputs. `tick` is called regularly.

    Raises InvalidArgumentError if a line differs from the one with an outcome, and OSError.
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
    """Return the error for inputs that differ from those of the run."""
    return InvalidArgumentError(
        what="inputs",
        given=f"{name}, whose line {line} differs from the one of the earlier run",
        expected="the same lines as before, with new ones at the end only; or another output for other inputs",
    )
