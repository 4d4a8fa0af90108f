"""Errors of polite crawling."""

from __future__ import annotations

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.texts import cut

_LONGEST_URL = 160


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DisallowedByRobotsError(EngineError):
    """The robots.txt of a URL's origin forbids a visit.

    `reason` is a rule that disallows it for `agent`, or a failure to read robots.txt. After a failure,
    `retry_after` is the number of seconds until robots.txt is requested again; None: a rule disallows it.
    """

    url: str
    agent: str
    reason: str
    retry_after: float | None = None

    def _describe(self) -> str:
        again = (
            "" if self.retry_after is None else f". robots.txt is requested again in {self.retry_after:.0f} s"
        )
        return f"{cut(self.url, _LONGEST_URL)} is disallowed for {cut(self.agent, 60)}: {self.reason}{again}"
