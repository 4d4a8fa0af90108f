"""Errors of files, of a browser's state and of what is measured: damaged, not written, not whole, refused."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import cut, listed

# --- recordings ----------------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class RecordingDamagedError(EngineError):
    """A file is not a recording of traffic, or cannot be read from `line` (from 1) on."""

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


# --- a browser's state ---------------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class CookieRefusedError(EngineError):
    """Chrome did not take a cookie. What was to be set together with it is as it was before."""

    name: str
    domain: str
    reason: str

    def _describe(self) -> str:
        return f"the cookie {self.name[:80]!r} of {self.domain or 'no domain'} was not taken: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StateFileInvalidError(EngineError):
    """A file holds no storage state that can be read; `reason` says where it is wrong. Nothing was applied."""

    path: str
    reason: str

    def _describe(self) -> str:
        return f"{self.path} is not a storage state: {self.reason}; nothing of it was applied"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StateFileNotWrittenError(EngineError):
    """A storage state could not be written to its file. What the file held before, it still holds."""

    path: str
    reason: str

    def _describe(self) -> str:
        return f"the storage state could not be written to {self.path}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class StorageUnavailableError(EngineError):
    """An origin, or a frame's document, whose storage cannot be reached."""

    origin: str
    reason: str

    def _describe(self) -> str:
        return f"the storage of {self.origin or 'the document'} cannot be reached: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EmulationRefusedError(EngineError):
    """Chrome does not emulate `what` here. What was asked for together with it is not in effect either."""

    what: str
    given: str
    reason: str

    def _describe(self) -> str:
        return f"{self.what} = {self.given} is not emulated: {self.reason}; what was before is in effect"


# --- measuring and pictures ----------------------------------------------------------------------------------


@attrs.define(eq=False, slots=False, str=False, repr=False)
class MeasurementBusyError(EngineError):
    """Chrome does this for one at a time: `what` is being done already, `hint` says by whom or where."""

    what: str
    hint: str

    def _describe(self) -> str:
        return f"{self.what} is under way already: {self.hint}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class MeasurementFailedError(EngineError):
    """A measurement came to nothing; its file, if it was to have one (`path`), is not there."""

    what: str
    path: str
    reason: str

    def _describe(self) -> str:
        to = f" to {self.path}" if self.path else ""
        return f"{self.what}{to} failed: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PictureTooLargeError(EngineError):
    """The format cannot hold a picture of that size; `width`, `height` and `limit` are pixels of the picture."""

    format: str
    width: int
    height: int
    limit: str

    def _describe(self) -> str:
        return (
            f"a picture of {self.width} x {self.height} pixels is too large for {self.format} ({self.limit}): "
            'take "png", a smaller `scale`, or a part of it by `clip`'
        )
