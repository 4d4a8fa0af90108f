"""Errors of time: a deadline that passed, and a page that does not answer."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.words import tried


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DeadlineExceededError(EngineError):
    """The method's own `timeout` (seconds) ran out. `steps` tells what was tried, in order."""

    action: str
    timeout: float
    steps: Sequence[str] = ()

    def _describe(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PageUnresponsiveError(DeadlineExceededError):
    """The time ran out, and the page does not answer: its script keeps it busy, or waits and lets nothing run.

    `unresponsive_for` is for how many seconds at least, 0.5 or more: since the page was asked whether it is there,
    which it has not answered yet. Where less is known, as with a first `timeout` below 0.5 s, the error is
    DeadlineExceededError.
    """

    unresponsive_for: float = 0.0

    def _describe(self) -> str:
        return (
            f"{self.action} did not finish within {self.timeout:g} s: the page has not answered for at least "
            f'{self.unresponsive_for:.2f} s. page.recover() stops its script, page.recover(allow="reload") also '
            f'reloads it, page.recover(allow="close") closes it{tried(self.steps)}'
        )
