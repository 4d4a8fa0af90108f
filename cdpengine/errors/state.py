"""Errors of a browser's state: cookies that were not taken, state files not read or written, emulation refused."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError


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
        return f"{self.path} is no storage state: {self.reason}; nothing of it was applied"


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
