"""Pointer actions on nodes: click, double click, hover.

Rule: look, then act, and nothing in between; nothing is sent twice. Arguments are checked before anything is
sent. `budget` bounds the wait; the input itself is never cut in half.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from cdpengine.action.actionability import NO_REQUIREMENTS, Requirements, inspect
from cdpengine.action.delivery import Interruptions
from cdpengine.action.geometry import Point
from cdpengine.action.mouse import Mouse
from cdpengine.action.outcome import ActionOutcome
from cdpengine.browser.node import Node
from cdpengine.browser.worlds import IsolatedWorlds
from cdpengine.budget import Budget
from cdpengine.errors import InvalidArgument

_TO_CLICK = Requirements()
_TO_HOVER = Requirements(enabled=False)


async def click(
    node: Node,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    button: str = "left",
    count: int = 1,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Click the node once it is visible, enabled, still, and receives events at the point.

    `position` is an offset in CSS pixels from the top left corner of its border box; else a point in its
    visible part is found. `force` takes the first such point without these checks.

    Raises InvalidArgument; StaleRef when the node left its document; Invisible, Disabled, Unstable or Covered
    when the budget ends first.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse.check_click(button=button, count=count, modifiers=modifiers)
    action = "double-click" if count == 2 else "click"
    required = NO_REQUIREMENTS if force else _TO_CLICK
    point = await _find_point(node, action, required, worlds, budget, interruptions, position)
    dialog = await mouse.on(node.session).click(
        point.x, point.y, button=button, count=count, modifiers=modifiers, interruptions=interruptions
    )
    return ActionOutcome(action, node.description, point, dialog_opened=dialog)


async def double_click(
    node: Node,
    *,
    mouse: Mouse,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
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
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Move the mouse over the node once it is visible, still, and receives events there; disabled is fine.

    Raises as `click` does.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    mouse.check_click(button="left", count=1, modifiers=modifiers)
    required = NO_REQUIREMENTS if force else _TO_HOVER
    point = await _find_point(node, "hover over", required, worlds, budget, interruptions, position)
    dialog = await mouse.on(node.session).hover(
        point.x, point.y, modifiers=modifiers, interruptions=interruptions
    )
    return ActionOutcome("hover over", node.description, point, dialog_opened=dialog)


async def _find_point(
    node: Node,
    action: str,
    required: Requirements,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    position: tuple[float, float] | None,
) -> Point:
    if position is not None:
        _check_position(position)
    async with inspect(node, action, worlds=worlds, budget=budget, interruptions=interruptions) as inspection:
        return await inspection.wait_for_point(required, position)


def _check_position(position: tuple[float, float]) -> None:
    good = (
        isinstance(position, (tuple, list))
        and len(position) == 2
        and all(isinstance(part, (int, float)) and math.isfinite(part) for part in position)
    )
    if not good:
        raise InvalidArgument(
            what="position", given=repr(position), expected="(x, y) in CSS pixels from the node's top left"
        )
