"""Performance: the context of one running request: the actor, the page, and the rest of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.act.actor import Actor
from cdpengine.act.response import Effects, effects_of

if TYPE_CHECKING:
    from cdpengine import ActionOutcome, Page
    from cdpengine.actions import ElementTarget


@attrs.define(eq=False)
class Performance:
    """A running request. `deadline` is on trio's clock; `effects` are the effects of its action."""

    actor: Actor
    page_or_none: Page | None
    deadline: float
    effects: Effects = attrs.field(factory=Effects)

    @property
    def page(self) -> Page:
        """The page of the request."""
        assert self.page_or_none is not None, "requests without a page do not use one"
        return self.page_or_none

    @property
    def left(self) -> float:
        """The remaining time in seconds, rounded to milliseconds for errors."""
        return max(round(self.deadline - trio.current_time(), 3), 0)

    def report(self, outcome: ActionOutcome) -> None:
        """Store the effects of the action, for the response."""
        self.effects = effects_of(outcome)

    async def find(self, ref: str | None, selector: str | None) -> ElementTarget:
        """Return the element of a request. Waits for an element that matches a selector."""
        if ref is not None:
            return ref
        assert selector is not None, "the parser refuses a request without an element"
        return await self.page.find(selector, timeout=self.left)

    async def find_if_given(self, ref: str | None, selector: str | None) -> ElementTarget | None:
        """Return the element of a request, or None if it has none."""
        return None if ref is None and selector is None else await self.find(ref, selector)
