"""Errors of interception: a request that was answered already, a response without a body."""

from __future__ import annotations

import attrs

from cdpengine.errors.activity import BodyUnavailableError
from cdpengine.errors.root import EngineError
from cdpengine.errors.words import shown_url


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
