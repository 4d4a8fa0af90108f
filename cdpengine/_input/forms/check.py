"""Check and uncheck: checkboxes, radio buttons, and what has the role of one.

Rule: a click where a person would click: on the box, or on its label where the box is hidden. Where links, buttons
and fields take all of that label, the space bar does it. What is in the wanted state already is left alone;
afterwards the state is read back. A box that is neither checked nor
unchecked may take a second click, once the first one has said what it became.
"""

from __future__ import annotations

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.actionability.measuring import TAKEN
from cdpengine._input.forms.text_entry import press
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import InvalidArgumentError, NotInteractableError, StaleRefError, ValueRefusedError

_STATE_TIMEOUT = 1.0
"""Seconds at most that a page gets to show the new state of what it made itself."""


class _Seen(msgspec.Struct):
    """What check.js answers."""

    kind: str
    checked: bool | None = None


async def set_checked(
    node: Node, checked: bool, *, context: ActionContext, force: bool = False
) -> ActionOutcome:
    """Bring a checkbox, switch or radio button, or the one of a label, into the wanted state.

    Raises InvalidArgumentError; StaleRefError when the node left its document; NotInteractableError at once for
    what cannot be checked, and for a radio button that is to be unchecked; ValueRefusedError when the page does
    not let it change; and as `click` does.
    """
    if not isinstance(checked, bool):
        raise InvalidArgumentError(what="checked", given=repr(checked)[:60], expected="True or False")
    action = "check" if checked else "uncheck"
    seen = await _probe(node, action, context)
    if seen.kind == "none":
        raise _cannot(node, action, "it is neither a checkbox nor a radio button, nor has it the role of one")
    if seen.checked is checked:
        return ActionOutcome(action, node.description)
    if not checked and seen.kind in ("radio", "menuitemradio"):
        raise _cannot(node, action, "a radio button is unchecked by checking another one of its group")
    mixed = seen.checked is None
    outcome = await _click(node, action, context, force)
    try:
        seen = await _wait_until_settled(node, action, checked, seen, context)
        if mixed and seen.checked is (not checked):
            outcome = await _click(node, action, context, force)
            seen = await _wait_until_settled(node, action, checked, seen, context)
    except StaleRefError:
        return outcome  # the page took the click as a reason to take the node away, or the whole document
    if seen.checked is not checked:
        state = "indeterminate" if seen.checked is None else "checked" if seen.checked else "unchecked"
        raise ValueRefusedError(
            action=action,
            target=node.description,
            reason=f"it was clicked, and did not change: it is {state}",
            took=state,
        )
    return outcome


async def _wait_until_settled(
    node: Node, action: str, wanted: bool, before: _Seen, context: ActionContext
) -> _Seen:
    # What the browser draws has changed once the click is answered; what the page draws may come later.
    if before.kind in ("checkbox", "radio"):
        seen = await _probe(node, action, context)
        if seen.checked is not before.checked:
            return seen
    seconds = min(_STATE_TIMEOUT, context.budget.remaining / 2)
    return await _probe(node, action, context, wanted=wanted, seconds=seconds)


async def _click(node: Node, action: str, context: ActionContext, force: bool) -> ActionOutcome:
    try:
        outcome = await click(node, force=force, context=context)
    except NotInteractableError as refused:
        # All of its label is taken. A control that is drawn, though nobody sees it, takes the space bar.
        if refused.reason != TAKEN or not await _takes_focus(node, action, context):
            raise
        outcome = await press("Space", context=context, node=node)
    return attrs.evolve(outcome, action=action, target=node.description)


async def _takes_focus(node: Node, action: str, context: ActionContext) -> bool:
    async with context.inspect(node, action) as inspection:
        return await inspection.focus_when_usable(visible=False)


async def _probe(
    node: Node, action: str, context: ActionContext, *, wanted: bool = False, seconds: float = 0
) -> _Seen:
    request = {"wanted": wanted, "wait": round(seconds * 1000)}
    async with context.inspect(node, action) as inspection:
        return await inspection.run(script("_input/forms/check"), request, _Seen)


def _cannot(node: Node, action: str, reason: str) -> NotInteractableError:
    return NotInteractableError(action=action, target=node.description, reason=reason)
