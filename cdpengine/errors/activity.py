"""Errors of what a page does: bodies of responses that cannot be had, and what nobody collects."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.words import shown_url


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BodyUnavailableError(EngineError):
    """The body of a response cannot be had (any more). `reason` says why."""

    url: str
    reason: str

    def _describe(self) -> str:
        return (
            f"the body of {shown_url(self.url)} is not available: {self.reason}. "
            "To have bodies whatever becomes of their page, collect with bodies=KeepBodies(...)"
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class BodyUndecodableError(EngineError, ValueError):
    """The body of a response is not what it was read as. `reason` says where it is not."""

    url: str
    read_as: str
    reason: str

    def _describe(self) -> str:
        return f"the body of {shown_url(self.url)} is no {self.read_as}: {self.reason}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class ActivityOffError(EngineError):
    """What a page did was asked for, and nothing collects it. `what` is "console", "errors" or "requests"."""

    what: str

    def _describe(self) -> str:
        return (
            f"page.activity.{self.what}: it is not collected. Call `await page.activity.start()` before what is "
            "to be seen happens, or open the page with `activity=True`"
        )
