"""Errors of measuring and of pictures: busy, not whole, too large."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError


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
