"""Errors of the network: requests answered already, bodies that cannot be had, activity that is not collected."""

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
class RouteAnsweredError(EngineError):
    """A route was asked for a second answer. The first one, `answer`, holds; nothing more was sent.

    `answer` is the name of the first ("continue_", "fulfill", ...), or says why the route is no longer the
    handler's: it was too slow, or its scope has ended.
    """

    url: str
    answer: str
    tried: str

    def _describe(self) -> str:
        return (
            f"{self.tried} of the route of {shown_url(self.url)}: it has been answered ({self.answer}); "
            "answer each route once"
        )


class InterceptedBodyUnavailableError(BodyUnavailableError):
    """The body of an intercepted response cannot be had: there is none, or the route was answered."""

    def _describe(self) -> str:
        return f"the body of the intercepted response of {shown_url(self.url)} cannot be had: {self.reason}"


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
