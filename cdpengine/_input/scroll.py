"""Scrolling: by the wheel as a person does, and a node into view.

Rule: a wheel's turn is a real event and is verified like any other; then the end of the scrolling that it set off
is waited for, so what comes next finds the page at rest.
"""

from __future__ import annotations

from functools import cache

import trio

from cdpengine._budget import Budget
from cdpengine._input.actionability import inspect
from cdpengine._input.delivery import Interruptions
from cdpengine._input.geometry import Point
from cdpengine._input.input_observer import DepartureWatch, InputObserver
from cdpengine._input.look import Requirements
from cdpengine._input.mouse import Mouse, checked_point
from cdpengine._input.outcome import ActionOutcome
from cdpengine._input.pointer import TO_HOVER, perform
from cdpengine._page.node import Node
from cdpengine._page.scripts.page_functions import SETTLED
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session
from cdpengine.errors import RemoteError
from cdpengine.js import own, script

_IN_VIEW = Requirements(visible=False, enabled=False, receives_events=False, area=False)

_RECEIPT = 1.0
"""Seconds in which a page hears of the wheel; it comes with the next frame."""

_REST = 2.0
"""Seconds after which a page that goes on scrolling is left to itself."""


async def scroll_at(
    node: Node,
    dx: float,
    dy: float,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
) -> ActionOutcome:
    """Turn the wheel over the node, by CSS pixels: positive is right and down. Raises as `hover` does."""
    delta = checked_point(dx, dy, what="dx, dy")
    device = mouse.on(node.session)

    witness = InputObserver(("wheel",), "wheel", guard=False, on_disabled=True)

    async def gesture(point: Point) -> bool:
        dialog = await device.wheel_at(point, delta)
        if not dialog:
            await witness.linger(_RECEIPT)  # Chrome scrolls, and answers, before it tells the page
        return dialog

    outcome = await perform(
        node,
        "scroll",
        gesture,
        witness,
        TO_HOVER,
        worlds=worlds,
        budget=budget,
        interruptions=interruptions,
        departure=departure,
    )
    if not outcome.dialog_opened and not (departure and departure.leaving):
        await rest(node.session, worlds, node.frame_id)
    return outcome


@cache
def _rest_source() -> str:
    return own(f"({script('rest')})()")


async def rest(session: Session, worlds: IsolatedWorlds, frame_id: str) -> None:
    """Return when nothing in the frame's document has scrolled for three animation frames, after 2 s at most."""
    with trio.move_on_after(_REST):
        try:
            context = await worlds.context(session, frame_id)
            await context.post_expression(_rest_source(), how=SETTLED).raw()
        except RemoteError:
            return  # the document was replaced: nothing of it scrolls any more


async def scroll_into_view(
    node: Node, *, worlds: IsolatedWorlds, budget: Budget, interruptions: Interruptions
) -> Point:
    """Scroll all that is around the node, as little as needed, until it is in view and still; return a point.

    What cannot be seen, or has no size, has a place all the same; the point is its corner then. Raises
    StaleRefError; InvisibleError when it has no place (display: none), or is clipped away for good, at the end of
    the budget.
    """
    async with inspect(
        node, "scroll to", worlds=worlds, budget=budget, interruptions=interruptions
    ) as inspection:
        return await inspection.wait_for_point(_IN_VIEW)
