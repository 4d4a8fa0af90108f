"""Performance: what the doing of one request has: the actor, the page, and what is left of its time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine.act.actor import Actor
from cdpengine.act.response import Effects, effects_of

if TYPE_CHECKING:
    from cdpengine import ActionOutcome, ElementTarget, Page


@attrs.define(eq=False)
class Performance:
    """The doing of one request. `deadline` is on trio's clock; `effects` is what the action set off."""

    actor: Actor
    page_or_none: Page | None
    deadline: float
    effects: Effects = attrs.field(factory=Effects)

    @property
    def page(self) -> Page:
        """The page that the request is for."""
        assert self.page_or_none is not None, "requests without a page ask for none"
        return self.page_or_none

    @property
    def left(self) -> float:
        """The seconds that are left of its time, in whole milliseconds, as errors show them."""
        return max(round(self.deadline - trio.current_time(), 3), 0)

    def report(self, outcome: ActionOutcome) -> None:
        """Keep what the action set off, for the response."""
        self.effects = effects_of(outcome)

    async def find(self, ref: str | None, selector: str | None) -> ElementTarget:
        """Return the element that a request aims at. One for a selector is waited for, as for a ref's state."""
        if ref is not None:
            return ref
        assert selector is not None, "the parser lets no request without an element through"
        return await self.page.find(selector, timeout=self.left)

    async def find_if_given(self, ref: str | None, selector: str | None) -> ElementTarget | None:
        """Return the element that a request aims at; None where it aims at none."""
        return None if ref is None and selector is None else await self.find(ref, selector)
