"""Retries: the pauses between the probes of an action, and the log line that says what it waits for.

Rule: an action is tried until its budget ends, because another task, or the page, may still clear the way. What
will not pass by itself is logged within the first second (logger `cdpengine.action`), and the error says it again.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._logs import get_logger

logger = get_logger("cdpengine.action")

_AFTER = 0.4
"""Seconds after which a hindrance is logged: longer than most pages take to close what they opened."""


@attrs.define
class Hindrance:
    """What one action waits for. It is logged once."""

    action: str
    target: str
    budget: Budget
    logged: bool = False
    _since: float = attrs.field(factory=trio.current_time, init=False)

    def note(self, reason: str) -> None:
        """Log the reason, if it has been in the way for long enough; the budget's steps say so too."""
        if self.logged or trio.current_time() - self._since < _AFTER:
            return
        self.logged = True
        left = self.budget.remaining
        logger.info("cannot %s %s yet: %s (tried for %.1f s more)", self.action, self.target, reason, left)
        self.budget.step(f"logged after {trio.current_time() - self._since:.1f} s: {reason}")


_PAUSES = (0.0, 0.016, 0.033, 0.05)
_LONGEST_PAUSE = 0.1
"""Seconds between probes: a frame or two at first, then ten probes a second."""


def retry_pauses() -> Iterator[float]:
    """Return the seconds to wait after each probe that failed, without end."""
    return itertools.chain(_PAUSES, itertools.repeat(_LONGEST_PAUSE))
