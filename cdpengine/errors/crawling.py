"""Errors of crawling: what manners forbid."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import cut

_LONGEST_URL = 160


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DisallowedByRobotsError(EngineError):
    """A URL is not visited, because of the robots.txt of its origin.

    `reason` says whether a rule disallows it for `agent`, or robots.txt could not be read. In the latter case
    `retry_after` is the number of seconds after which it is asked for again; None: a rule disallows it.
    """

    url: str
    agent: str
    reason: str
    retry_after: float | None = None

    def _describe(self) -> str:
        again = "" if self.retry_after is None else f". It is asked for again in {self.retry_after:.0f} s"
        return f"{cut(self.url, _LONGEST_URL)} is not visited by {cut(self.agent, 60)}: {self.reason}{again}"
