"""Select: choose options of a <select>, or of a page's listbox.

Rule: a single option of a closed list is chosen by keyboard: open the list, move to the option with the arrow
keys, press Enter. The page receives one trusted input and one trusted change event. In a multiple selection,
Control with arrow keys moves to each option whose state must change, and Control+Space toggles it, with one
trusted input and change event each. If keys do not work, and in browsers that show lists in system windows
(macOS), a script sets the options. The events are then untrusted, and the outcome reports that. The selection is
read back. An option that is already selected is not changed.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from cdpengine._budget import undoing
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.forms.listbox import (
    Option,
    choose_custom_option,
    choose_from_listbox,
    kind_of,
    request_for,
)
from cdpengine._input.forms.radios import choose_radio
from cdpengine._input.forms.related import related_node
from cdpengine._input.hindrance import Hindrance
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    NotInteractableError,
    OptionNotFoundError,
    StaleRefError,
    ValueRefusedError,
)

_OPTION_TIMEOUT = 0.2
"""Maximum time of one probe for a missing option, in seconds. A change of the options ends the probe."""

_STEADY_PROBES = 2
"""Consecutive unchanged probes (0.4 s) of a static list after which a missing option is not expected any more."""

_OPEN_LIST_KEY = "F4"
"""The key that opens the list on all systems where the browser draws it."""

_CLOSE_LIST_TIMEOUT = 0.5
"""Maximum time to close an open list when the action is cancelled, in seconds."""


class _State(msgspec.Struct):
    """The result of select.js."""

    kind: str
    index: int = -1
    connected: bool = True
    multiple: bool = False
    found: list[int] = []
    values: list[str] = []
    disabled: str | None = None
    taken: bool = False
    labels: list[str] = []
    held: list[str] = []
    steps: int = -1
    toggles: list[int] | None = None
    open: bool = False
    options: int = 0
    static: bool = False


async def select(node: Node, *values: str | Option, context: ActionContext) -> ActionOutcome:
    """Select exactly these options. A string matches a value, or a label if no option has that value.

    The node is a <select>, a label of one, a listbox or the control that opens it, a radio button or a group of
    radio buttons. Without values, it is an option or a radio button itself. Waits for disabled options, and for
    missing ones if the list may still be filled.

    Raises InvalidArgumentError. Raises StaleRefError if the node left its document. Raises NotInteractableError
    immediately if the node has no options, or accepts only one. Raises OptionNotFoundError immediately for an
    option that a static <select> lacks. At the end of the budget raises OptionNotFoundError, or
    NotInteractableError with the state of the option. Raises ValueRefusedError if the page does not keep the
    selection.
    """
    requests = [request_for(value) for value in values]
    async with context.inspect(node, "select from") as inspection:
        state = await _probe(inspection, requests)
        if state.kind == "select":
            _check_count(node, state, values)
            return await _select(node, inspection, values, requests, context)
    if state.kind == "option":
        _check_no_values(values)
        owner = await related_node(
            node, "_input/forms/owner_select", None, node.description, worlds=context.worlds
        )
        if owner is None:
            raise _cannot(node, "the option no longer belongs to a select")
        return await select(owner, Option(index=state.index), context=context)
    if state.kind == "custom option":
        _check_no_values(values)
        return await choose_custom_option(node, context=context)
    if state.kind == "listbox":
        return await choose_from_listbox(node, values, context=context)
    chosen = await choose_radio(node, values, "select from", context=context)
    if chosen is None:
        raise _cannot(
            node, "it has no options: it is no select, listbox or radio button. A checkbox takes check()"
        )
    return chosen


async def choose_clicked_option(node: Node, *, context: ActionContext) -> ActionOutcome | None:
    """Select the <select> option that the node is. Return None for other nodes, which can be clicked.

    These options have no position on the page for a click. Raises the errors of `select`.
    """
    async with context.inspect(node, "click") as inspection:
        if (await _probe(inspection, [])).kind != "option":
            return None
    return await select(node, context=context)


async def _select(
    node: Node,
    inspection: Inspection,
    values: Sequence[str | Option],
    requests: Sequence[dict[str, object]],
    context: ActionContext,
) -> ActionOutcome:
    focused = await inspection.focus_when_usable()
    state = await _wait_for_options(node, inspection, values, requests, context)
    _check_count(node, state, values)
    chosen = tuple(state.values)
    if state.taken:
        return ActionOutcome("select", node.description, chosen=chosen)
    dialog = by_script = False
    try:
        if context.keyboard.mac or not focused:
            pass  # keys would not reach the list
        elif state.toggles:
            dialog = await _toggle_by_keys(node, state.toggles, context)
            state = await _probe(inspection, requests)
        elif state.steps >= 0:
            dialog, state = await _choose_by_keys(node, inspection, state.steps, requests, context)
        if not state.taken and not dialog:
            by_script = True
            state = await _probe(inspection, requests, set_them=True)
    except StaleRefError:
        # The page navigated in response to the choice, as navigation menus do.
        return ActionOutcome("select", node.description, dialog_opened=dialog, chosen=chosen)
    if not state.taken:
        raise ValueRefusedError(
            action="select from",
            target=node.description,
            reason="the page did not keep the selection",
            took=", ".join(state.held),
        )
    return ActionOutcome(
        "select", node.description, dialog_opened=dialog, set_by_script=by_script, chosen=chosen
    )


def _check_count(node: Node, state: _State, values: Sequence[str | Option]) -> None:
    """Raise NotInteractableError if the list accepts only one option and `values` does not have exactly one."""
    if not state.multiple and (len(set(state.found)) != 1 or (len(values) > 1 and -1 in state.found)):
        raise _cannot(node, f"it takes one option, and {len(values)} were given; pass the one to choose")


async def _wait_for_options(
    node: Node,
    inspection: Inspection,
    values: Sequence[str | Option],
    requests: Sequence[dict[str, object]],
    context: ActionContext,
) -> _State:
    """Probe until all wanted options exist and are enabled. On failure raise the reason of the last probe.

    A list that may still be filled is observed until the budget ends, and a missing option is logged within the
    first second. A static list may be filled when it gets the focus, so a few probes must find it unchanged.
    """
    hindrance = Hindrance("select from", node, context.budget)
    steady, known = 0, None
    for seconds in itertools.chain([0.0], itertools.repeat(_OPTION_TIMEOUT)):
        state = await _probe(inspection, requests, seconds=seconds)
        if -1 not in state.found and state.disabled is None:
            return state
        steady = steady + 1 if state.static and state.options == known else 0
        known = state.options
        if -1 in state.found and steady == _STEADY_PROBES:
            break
        hindrance.note(str(_missing_option_error(node, values, state, ()).reason))
        if context.budget.remaining <= 2 * _OPTION_TIMEOUT:
            break
    raise _missing_option_error(node, values, state, context.budget.steps)


def _missing_option_error(
    node: Node, values: Sequence[str | Option], state: _State, steps: Sequence[str]
) -> NotInteractableError:
    """Return the error for a missing or disabled option."""
    if -1 in state.found:
        missing = values[state.found.index(-1)]
        return OptionNotFoundError(
            action="select from",
            target=node.description,
            reason=f"{kind_of(missing)} does not exist",
            steps=tuple(steps),
            options=state.labels,
            wanted=(missing if isinstance(missing, str) else str(missing),),
        )
    return NotInteractableError(
        action="select from",
        target=node.description,
        reason=f"the option {state.disabled!r} is disabled",
        steps=tuple(steps),
        state="disabled",
    )


async def _choose_by_keys(
    node: Node,
    inspection: Inspection,
    steps: int,
    requests: Sequence[dict[str, object]],
    context: ActionContext,
) -> tuple[bool, _State]:
    keyboard = context.keyboard.on(node.session)
    try:
        # The key is released last: the open list receives all keys, so the page would miss the release.
        dialog = await keyboard.down(_OPEN_LIST_KEY)
        if not (await _probe(inspection, requests)).open:
            # The page or the browser handles this key differently. No open list can receive the keys.
            dialog = await keyboard.up(_OPEN_LIST_KEY) or dialog
            return dialog, await _probe(inspection, requests)
        dialog = await keyboard.press_each("Home", *["ArrowDown"] * steps, "Enter") or dialog
        dialog = await keyboard.up(_OPEN_LIST_KEY) or dialog
        return dialog, await _probe(inspection, requests)
    except BaseException:
        with undoing(_CLOSE_LIST_TIMEOUT), suppress(EngineError):
            if (await _probe(inspection, requests)).open:  # otherwise the page would receive Escape
                await keyboard.press("Escape")
            await keyboard.up(_OPEN_LIST_KEY)
        raise


async def _toggle_by_keys(node: Node, toggles: Sequence[int], context: ActionContext) -> bool:
    keys = ["Control+Home"]
    for passed in toggles:
        keys += [*["Control+ArrowDown"] * passed, "Control+Space"]
    return await context.keyboard.on(node.session).press_each(*keys)


async def _probe(
    inspection: Inspection,
    requests: Sequence[dict[str, object]],
    *,
    set_them: bool = False,
    seconds: float = 0,
) -> _State:
    request = {"wanted": requests, "set": set_them, "wait": round(seconds * 1000)}
    return await inspection.run(
        script_with("_input/forms/select", "_page/scripts/secret_field"), request, _State
    )


def _check_no_values(values: Sequence[str | Option]) -> None:
    if values:
        raise InvalidArgumentError(
            what="values", given=f"{len(values)} for an option", expected="none: the target is the option"
        )


def _cannot(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(action="select from", target=node.description, reason=reason)
