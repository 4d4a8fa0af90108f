"""ActionContext: what an action on a form works with: the devices of its page, its worlds, its budget."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

import attrs

from cdpengine._budget import Budget
from cdpengine._input.actionability import Inspection, inspect
from cdpengine._input.delivery import Interruptions
from cdpengine._input.input_observer import DepartureWatch
from cdpengine._input.keyboard import Keyboard
from cdpengine._input.mouse import Mouse
from cdpengine._input.outcome import ActionOutcome
from cdpengine._input.pointer import click
from cdpengine._page.node import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds


@attrs.frozen(eq=False)
class ActionContext:
    """The means of one action.

    `interruptions` says when a dialog holds replies back, `departure` when the page is on its way to another
    document.
    """

    keyboard: Keyboard
    mouse: Mouse
    worlds: IsolatedWorlds
    budget: Budget
    interruptions: Interruptions
    departure: DepartureWatch | None = None

    def inspect(self, node: Node, action: str) -> AbstractAsyncContextManager[Inspection]:
        """Open an inspection of the node; `action` is what errors call the attempt."""
        return inspect(node, action, worlds=self.worlds, budget=self.budget, interruptions=self.interruptions)

    def within(self, budget: Budget) -> ActionContext:
        """Return the same with another budget: that of one step of the action."""
        return attrs.evolve(self, budget=budget)

    async def click(self, node: Node, *, force: bool = False) -> ActionOutcome:
        """Click the node, with all checks unless `force`."""
        return await click(
            node,
            mouse=self.mouse,
            worlds=self.worlds,
            budget=self.budget,
            interruptions=self.interruptions,
            departure=self.departure,
            force=force,
        )
