"""Pointer actions on nodes: click, double click, hover.

Rule: look, then act, and nothing in between; a witness in the page sees what received it. Nothing is sent twice
but a press that was held back, and received by nothing.
Arguments are checked before anything is sent. `budget` bounds the wait; the input itself is never cut in half.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Iterable

import trio

from cdpengine._budget import Budget
from cdpengine._input.actionability import Inspection, inspect, pauses_between_looks
from cdpengine._input.delivery import Interruptions
from cdpengine._input.geometry import Point
from cdpengine._input.input_observer import (
    MOVE_EVENTS,
    PRESS_EVENTS,
    DepartureWatch,
    InputObserver,
    Record,
    judge,
)
from cdpengine._input.keyboard import check_delay
from cdpengine._input.look import NO_REQUIREMENTS, Requirements
from cdpengine._input.mouse import Mouse
from cdpengine._input.outcome import ActionOutcome
from cdpengine._page.node import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine.errors import DeadlineExceededError, InvalidArgumentError

TO_CLICK = Requirements()
TO_HOVER = Requirements(enabled=False)

_NAMES = {1: "click", 2: "double-click", 3: "triple-click"}


async def click(
    node: Node,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
    button: str = "left",
    count: int = 1,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    delay: float = 0,
    force: bool = False,
) -> ActionOutcome:
    """Click the node once it is visible, enabled, still, and receives events at the point.

    `position` is an offset in CSS pixels from the top left corner of its border box; else a point in its
    visible part is found. `delay` is how long the button stays down each time, in seconds. `force` takes the first
    such point without these checks. `departure` tells when the page is on its way to another document.

    Raises InvalidArgumentError; StaleRefError when the node left its document; InvisibleError, DisabledError,
    UnstableError or CoveredError when the budget ends first; NotDeliveredError when the click was sent and the
    node did not receive it.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse.check_click(button=button, count=count, modifiers=modifiers)
    check_delay(delay)
    device = mouse.on(node.session)

    def gesture(point: Point) -> Awaitable[bool]:
        return device.click(
            point.x,
            point.y,
            button=button,
            count=count,
            modifiers=modifiers,
            delay=delay,
            interruptions=interruptions,
            mark=witness.mark,
        )

    witness = InputObserver(
        PRESS_EVENTS,
        "click" if button == "left" else "auxclick",
        count,
        settled_by="contextmenu" if button == "right" and count == 1 else "",
        marked=True,
    )
    return await perform(
        node,
        _NAMES[count],
        gesture,
        witness,
        NO_REQUIREMENTS if force else TO_CLICK,
        worlds=worlds,
        budget=budget,
        interruptions=interruptions,
        departure=departure,
        position=position,
    )


async def double_click(
    node: Node,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
    button: str = "left",
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Click twice at the speed of a double click: the second one has `detail` 2, then comes dblclick."""
    return await click(
        node,
        mouse=mouse,
        worlds=worlds,
        budget=budget,
        interruptions=interruptions,
        departure=departure,
        button=button,
        count=2,
        modifiers=modifiers,
        position=position,
        force=force,
    )


async def hover(
    node: Node,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Move the mouse over the node once it is visible, still, and receives events there; disabled is fine.

    Raises as `click` does.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse.check_click(button="left", count=1, modifiers=modifiers)
    device = mouse.on(node.session)

    def gesture(point: Point) -> Awaitable[bool]:
        return device.hover(
            point.x, point.y, modifiers=modifiers, interruptions=interruptions, mark=witness.mark
        )

    witness = InputObserver(MOVE_EVENTS, "mousemove", guard=False, on_disabled=True, marked=True)

    return await perform(
        node,
        "hover over",
        gesture,
        witness,
        NO_REQUIREMENTS if force else TO_HOVER,
        worlds=worlds,
        budget=budget,
        interruptions=interruptions,
        departure=departure,
        position=position,
    )


async def perform(
    node: Node,
    action: str,
    gesture: Callable[[Point], Awaitable[bool]],
    witness: InputObserver,
    required: Requirements,
    *,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
    position: tuple[float, float] | None = None,
) -> ActionOutcome:
    """Wait until the node meets `required`, run the gesture at its point, and say what `witness` saw of it."""
    check_position(position)
    async with inspect(node, action, worlds=worlds, budget=budget, interruptions=interruptions) as inspection:
        point, record, dialog = await deliver(
            inspection, gesture, witness, required, departure=departure, position=position
        )
    forced = required is NO_REQUIREMENTS
    verdict = judge(node, action, record, forced=forced, dialog=dialog)
    return ActionOutcome(
        action,
        node.description,
        point,
        dialog_opened=dialog,
        delivered=verdict.delivered,
        received_by=verdict.received_by,
        events=verdict.events,
        elsewhere=verdict.elsewhere,
    )


async def deliver(
    inspection: Inspection,
    gesture: Callable[[Point], Awaitable[bool]],
    witness: InputObserver,
    required: Requirements,
    *,
    departure: DepartureWatch | None = None,
    position: tuple[float, float] | None = None,
    undo: Callable[[], Awaitable[object]] | None = None,
) -> tuple[Point, Record | None, bool]:
    """Run the gesture at a point of the node; return that, what the witness saw, and whether a dialog opened.

    A press that was held back, and received by nobody, is tried again once the node can be acted on, while there
    is time. `undo` ends the gesture that it belongs to while it is still held back.
    """
    budget, interruptions = inspection.budget, inspection.interruptions
    pauses = pauses_between_looks()
    tried: tuple[Point, Record | None, bool] | None = None
    while True:
        try:
            try:
                point = await inspection.wait_for_point(required, position, witness)
            except DeadlineExceededError:
                if tried is None:
                    raise
                return tried
            budget.step("the input was sent")
            record, dialog = await witness.watch_over(lambda: gesture(point), interruptions, departure)  # noqa: B023
            again = record is not None and record.kept_back and not dialog
            if again and undo is not None:
                await undo()
        finally:
            witness.end()
        pause = next(pauses)
        tried = point, record, dialog
        if not again or budget.remaining <= pause + inspection.margin:
            return tried
        assert record is not None
        budget.step(f"{record.held} came in the way, and the press was held back")
        witness.renew()
        await trio.sleep(pause)


def check_position(position: tuple[float, float] | None) -> None:
    """Raise InvalidArgumentError unless `position` is None or two finite numbers."""
    good = position is None or (
        isinstance(position, (tuple, list))
        and len(position) == 2
        and all(isinstance(part, (int, float)) and math.isfinite(part) for part in position)
    )
    if not good:
        raise InvalidArgumentError(
            what="position", given=repr(position), expected="(x, y) in CSS pixels from the node's top left"
        )
