"""Hindrance: a condition that blocks an action until another action removes it.

Rule: it is logged once, within the first second of the action (logger `cdpengine.action`).
"""

from __future__ import annotations

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._logs import get_logger
from cdpengine._page.scripts.page_functions import Node

logger = get_logger("cdpengine.action")

_AFTER = 0.4
"""Delay before a hindrance is logged, in seconds. Most pages close temporary overlays earlier."""


@attrs.define
class Hindrance:
    """A condition that has blocked an action since `since` (trio's clock)."""

    action: str
    node: Node
    budget: Budget
    since: float = attrs.field(factory=trio.current_time)
    logged: bool = attrs.field(default=False, init=False)

    def note(self, reason: str) -> None:
        """Log the reason if the action has been blocked long enough, and add it to the budget's steps."""
        if self.logged or trio.current_time() - self.since < _AFTER:
            return
        self.logged = True
        left = self.budget.remaining
        logger.info(
            "cannot %s %s yet: %s (tried for %.1f s more)", self.action, self.node.description, reason, left
        )
        self.budget.step(f"logged after {trio.current_time() - self.since:.1f} s: {reason}")
