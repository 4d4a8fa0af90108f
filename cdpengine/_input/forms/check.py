"""Check and uncheck: checkboxes, radio buttons, and elements with such a role.

Rule: the engine clicks where a user would click: on the box or, if the box is hidden, on its label or the
element drawn for it. If links, buttons and fields occupy the whole label, it presses the space bar instead. A
box with pointer-events: none is clicked on the element around it. A box that already has the wanted state is not
clicked. The state is read back after the click. A box that is neither checked nor unchecked may get a second
click, depending on the state after the first. A custom element may set its role and state through
ElementInternals, which Chrome's accessibility tree reports.
"""

from __future__ import annotations

import attrs
import msgspec
import trio

from cdpengine._checks import check_flag
from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.actionability.measuring import TAKEN
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.text_entry import press
from cdpengine._input.node_states import read_internals
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    NotInteractableError,
    StaleRefError,
    ValueRefusedError,
)

_CHECK = "_input/forms/check"

_STATE_TIMEOUT = 1.0
"""Maximum time for a custom control to show its new state, in seconds."""

_INTERNALS_PAUSE = 0.02
"""Interval between two reads of a state in ElementInternals, in seconds. No event reports its changes."""


class _State(msgspec.Struct):
    """The result of check.js."""

    kind: str
    checked: bool | None = None
    attribute: bool | None = None
    custom: bool = False
    offset: tuple[float, float] | None = None


async def set_checked(
    node: Node, checked: bool, *, context: ActionContext, force: bool = False
) -> ActionOutcome:
    """Bring a checkbox, switch or radio button, or the control of a label, into the wanted state.

    Raises InvalidArgumentError. Raises StaleRefError if the node left its document. Raises NotInteractableError
    immediately for a node that cannot be checked, and for unchecking a radio button. Raises ValueRefusedError if
    the page prevents the change. Raises the errors of `click`.
    """
    check_flag("checked", checked)
    action = "check" if checked else "uncheck"
    probed = await _probe(node, action, context)
    if probed.kind == "none":
        raise _cannot(node, action, "it is not a checkbox or radio button, and has no such role")
    if probed.checked is checked:
        return ActionOutcome(action, node.description)
    if not checked and probed.kind in ("radio", "menuitemradio"):
        raise _cannot(node, action, "a radio button is unchecked by checking another one of its group")
    mixed = probed.checked is None
    outcome = await _click(node, action, context, force, probed.offset)
    try:
        probed = await _wait_until_settled(node, action, checked, probed, context)
        if mixed and probed.checked is (not checked):
            outcome = await _click(node, action, context, force, probed.offset)
            probed = await _wait_until_settled(node, action, checked, probed, context)
    except StaleRefError:
        return outcome  # the click removed the node, or navigated
    if probed.checked is not checked:
        state = "indeterminate" if probed.checked is None else "checked" if probed.checked else "unchecked"
        raise ValueRefusedError(
            action=action,
            target=node.description,
            reason=f"the click did not change it: it is {state}",
            took=state,
        )
    return outcome


async def _wait_until_settled(
    node: Node, action: str, checked: bool, before: _State, context: ActionContext
) -> _State:
    # Native controls have changed when the click is acknowledged. Controls of the page may change later.
    if before.kind in ("checkbox", "radio"):
        state = await _probe(node, action, context, before=before)
        if state.checked is not before.checked:
            return state
    seconds = min(_STATE_TIMEOUT, context.budget.remaining / 2)
    return await _probe(node, action, context, checked=checked, seconds=seconds, before=before)


async def _click(
    node: Node, action: str, context: ActionContext, force: bool, offset: tuple[float, float] | None
) -> ActionOutcome:
    """Click the node, at `offset` in the element that receives its presses."""
    if offset is not None and not force:
        behind = await related_node(node, _CHECK, {"behind": True}, node.description, worlds=context.worlds)
        if behind is not None:
            outcome = await click(behind, position=offset, context=context)
            return attrs.evolve(outcome, action=action, target=node.description)
    try:
        outcome = await click(node, force=force, context=context)
    except NotInteractableError as refused:
        # Links, buttons or fields occupy the whole label. A control that is rendered but invisible accepts the
        # space bar.
        if refused.reason != TAKEN or not await _takes_focus(node, action, context):
            raise
        outcome = await press("Space", context=context, node=node)
    return attrs.evolve(outcome, action=action, target=node.description)


async def _takes_focus(node: Node, action: str, context: ActionContext) -> bool:
    async with context.inspect(node, action) as inspection:
        return await inspection.focus_when_usable(visible=False)


async def _probe(
    node: Node,
    action: str,
    context: ActionContext,
    *,
    checked: bool = False,
    seconds: float = 0,
    before: _State | None = None,
) -> _State:
    request = {
        "wanted": checked,
        "wait": round(seconds * 1000),
        "before": None if before is None else {"checked": before.checked, "attribute": before.attribute},
    }
    async with context.inspect(node, action) as inspection:
        state = await inspection.run(script(_CHECK), request, _State)
    if state.kind == "none" and state.custom:
        return await _probe_internals(node, state, checked=checked, seconds=seconds)
    return state


async def _probe_internals(node: Node, state: _State, *, checked: bool, seconds: float) -> _State:
    """Return the role and state that the accessibility tree reports for a custom element."""
    deadline = trio.current_time() + seconds
    while True:
        found = await read_internals(node)
        if found is None:
            return state  # the following click reports a node that is gone
        state = msgspec.structs.replace(state, kind=found[0], checked=found[1])
        if state.checked is checked or trio.current_time() >= deadline:
            return state
        await trio.sleep(_INTERNALS_PAUSE)


def _cannot(node: Node, action: str, reason: str) -> NotInteractableError:
    return NotInteractableError(action=action, target=node.description, reason=reason)
