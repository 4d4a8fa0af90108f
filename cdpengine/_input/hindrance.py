"""Hindrance: what keeps an action waiting, and will not pass by itself, is logged while the action still waits.

Rule: an action is tried until its budget ends, because another task, or the page, may still clear the way. The log
(logger `cdpengine.action`, WARNING) says within the first second that this is needed; the error says it again.
"""

from __future__ import annotations

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
