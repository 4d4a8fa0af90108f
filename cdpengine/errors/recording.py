"""Errors of recordings of traffic: damaged, lacking something, not written, not followed."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.words import cut, listed


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingDamagedError(EngineError):
    """A file is no recording of traffic, or cannot be read from `line` (from 1) on."""

    path: str
    line: int
    reason: str

    def _describe(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingIncompleteError(EngineError):
    """A recording does not hold `what` is wanted of it; `hint` says why, and what to do."""

    path: str
    what: str
    hint: str

    def _describe(self) -> str:
        return f"there are no {self.what} in {self.path}: {self.hint}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingFailedError(EngineError):
    """Traffic could not be recorded to the end. The file holds what was written before."""

    path: str
    reason: str

    def _describe(self) -> str:
        return f"the recording {self.path} is not whole: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ReplayDivergedError(EngineError):
    """A program that runs against a recording asked something else than what was recorded.

    `got` is what it asked, `line` the number of the recording's message that is nearest (0: none), `expected` the
    calls that were recorded next there, `diff` how the parameters differ ("- " recorded, "+ " asked).
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
        # A difference says more than what comes next.
        shows_next = self.expected and not self.diff
        following = f"\nRecorded next there: {cut(self.expected[0], 60)}" if shows_next else ""
        return (
            f"the program left the recording {self.path}{at}: it asked {self.got}: {self.reason}{lines}{following}"
            "\nRecord it anew if the program is right"
        )
