"""Errors of files, replays, storages and measurements."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import cut, listed

_LONGEST_WHAT, _LONGEST_PATH, _LONGEST_REASON, _LONGEST_ADVICE = 40, 130, 110, 80
"""Maximum lengths in the messages of files, in characters."""


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FileUnreadableError(EngineError):
    """A file has no readable `what`: it is missing, damaged, of another kind, or lacks this part.

    `line` (from 1) has the fault, in a recording. Nothing of the file was applied.
    """

    what: str
    path: str
    reason: str
    advice: str = ""
    line: int | None = None

    def _describe(self) -> str:
        what, path = cut(self.what, _LONGEST_WHAT), cut(self.path, _LONGEST_PATH)
        at = "" if self.line is None else f", line {self.line}"
        advice = f". {cut(self.advice, _LONGEST_ADVICE)}" if self.advice else ""
        return f"cannot read {what} from {path}{at}: {cut(self.reason, _LONGEST_REASON)}{advice}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class FileNotWrittenError(EngineError):
    """A file was not written, or not completely. `what` is its content, `advice` the state of the earlier content.

    A recording and results keep their earlier lines. Any other file is replaced only by a complete one.
    """

    what: str
    path: str
    reason: str
    advice: str = ""

    def _describe(self) -> str:
        advice = f". {self.advice}" if self.advice else ""
        return f"{self.what} could not be written to {self.path}: {self.reason}{advice}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ReplayDivergedError(EngineError):
    """A program that runs against a recording sent another call than the recorded one.

    `got` is the program's call, `line` the number of the nearest recorded message (0: none), `expected` the calls
    that the recording has next at that place, `diff` the difference of the parameters ("- " recorded, "+ " sent).
    """

    path: str
    line: int
    got: str
    expected: Sequence[str]
    reason: str
    diff: Sequence[str] = ()

    def _describe(self) -> str:
        at = f", at line {self.line}" if self.line else ""
        lines = listed([cut(line, 50) for line in self.diff], ".diff", most=80)
        # A difference is more specific than the next recorded call.
        shows_next = self.expected and not self.diff
        following = f"\nRecorded next there: {cut(self.expected[0], 60)}" if shows_next else ""
        return (
            f"the program diverged from the recording {self.path}{at}: it sent {self.got}: {self.reason}"
            f"{lines}{following}\nRecord it again if the program is correct"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StorageUnavailableError(EngineError):
    """The storage of an origin, or of a frame's document, is not accessible."""

    origin: str
    reason: str

    def _describe(self) -> str:
        return f"the storage of {self.origin or 'the document'} is not accessible: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class MeasurementFailedError(EngineError):
    """A measurement failed; its file (`path`), if any, was not written."""

    what: str
    path: str
    reason: str

    def _describe(self) -> str:
        to = f" to {self.path}" if self.path else ""
        return f"{self.what}{to} failed: {self.reason}"
