"""Check and uncheck: checkboxes, radio buttons, and what has the role of one.

Rule: a click where a person would click: on the box, or on its label or what is drawn for it where the box is
hidden. Where links, buttons and fields take all of that label, the space bar does it. A box that lets presses
through (pointer-events: none) is pressed on the element around it. A box that is in the wanted state already is
left alone; afterwards the state is read back. A box that is neither checked nor unchecked may take a second
click, once the first one has said what it became. A custom element may set its role and state through
ElementInternals: Chrome's accessibility tree has them.
"""

from __future__ import annotations

import attrs
import msgspec
import trio

from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.actionability.measuring import TAKEN
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.text_entry import press
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine._protocol.domains.accessibility import AXTree
from cdpengine.errors import (
    InvalidArgumentError,
    NotInteractableError,
    RemoteError,
    StaleRefError,
    ValueRefusedError,
)

_CHECK = "_input/forms/check"

_STATE_TIMEOUT = 1.0
"""Seconds at most that a page gets to show the new state of what it made itself."""

_INTERNALS_PAUSE = 0.02
"""Seconds between two looks at a state in ElementInternals: no event reports that it changed."""

_ROLES = frozenset({"checkbox", "switch", "radio", "menuitemcheckbox", "menuitemradio"})
_AX_STATES = {"true": True, "false": False, "mixed": None}


class _Seen(msgspec.Struct):
    """What check.js answers."""

    kind: str
    checked: bool | None = None
    said: bool | None = None
    custom: bool = False
    offset: tuple[float, float] | None = None


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
    outcome = await _click(node, action, context, force, seen.offset)
    try:
        seen = await _wait_until_settled(node, action, checked, seen, context)
        if mixed and seen.checked is (not checked):
            outcome = await _click(node, action, context, force, seen.offset)
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
        seen = await _probe(node, action, context, before=before)
        if seen.checked is not before.checked:
            return seen
    seconds = min(_STATE_TIMEOUT, context.budget.remaining / 2)
    return await _probe(node, action, context, wanted=wanted, seconds=seconds, before=before)


async def _click(
    node: Node, action: str, context: ActionContext, force: bool, offset: tuple[float, float] | None
) -> ActionOutcome:
    """Click the node, at `offset` of the element that receives its presses."""
    if offset is not None and not force:
        behind = await related_node(node, _CHECK, {"behind": True}, node.description, worlds=context.worlds)
        if behind is not None:
            outcome = await click(behind, position=offset, context=context)
            return attrs.evolve(outcome, action=action, target=node.description)
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
    node: Node,
    action: str,
    context: ActionContext,
    *,
    wanted: bool = False,
    seconds: float = 0,
    before: _Seen | None = None,
) -> _Seen:
    request = {
        "wanted": wanted,
        "wait": round(seconds * 1000),
        "before": None if before is None else {"checked": before.checked, "said": before.said},
    }
    async with context.inspect(node, action) as inspection:
        seen = await inspection.run(script(_CHECK), request, _Seen)
    if seen.kind == "none" and seen.custom:
        return await _probe_internals(node, seen, wanted=wanted, seconds=seconds)
    return seen


async def _probe_internals(node: Node, seen: _Seen, *, wanted: bool, seconds: float) -> _Seen:
    """Return the role and state that a custom element has in the accessibility tree."""
    deadline = trio.current_time() + seconds
    while True:
        try:
            tree = await node.session.request(
                "Accessibility.getPartialAXTree",
                {"backendNodeId": node.backend_node_id, "fetchRelatives": False},
                AXTree,
            )
        except RemoteError:
            return seen  # it is gone: the click that follows says so
        for found in tree.nodes[:1]:
            role = found.role.value if found.role is not None else ""
            if found.ignored or role not in _ROLES:
                return seen
            states = [each.value.value for each in found.properties if each.name == "checked" and each.value]
            seen = msgspec.structs.replace(
                seen, kind=role, checked=_AX_STATES.get(states[0]) if states else False
            )
        if seen.checked is wanted or trio.current_time() >= deadline:
            return seen
        await trio.sleep(_INTERNALS_PAUSE)


def _cannot(node: Node, action: str, reason: str) -> NotInteractableError:
    return NotInteractableError(action=action, target=node.description, reason=reason)
