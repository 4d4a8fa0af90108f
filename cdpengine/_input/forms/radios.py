"""Radio buttons: select one directly or within its group, and parse strings that name a state.

Rule: a radio button is selected as in `check`: by a click on it, or on its label if it is hidden. A string
selects the radio button of the group with that value or label. Language models write the state of a checkbox as
a string: "true", "on" and "checked" check it; "false", "off" and "unchecked" uncheck it.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.listbox import Option, kind_of, request_for
from cdpengine._input.forms.related import related_node
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import InvalidArgumentError, NotInteractableError, OptionNotFoundError

_RADIOS = "_input/forms/radios"

_STATES = {"true": True, "on": True, "checked": True, "false": False, "off": False, "unchecked": False}


class _Radios(msgspec.Struct):
    """The result of radios.js."""

    kind: str
    found: int = -1
    labels: list[str] = []
    own: bool = False


async def choose_radio(
    node: Node, values: Sequence[str | Option], action: str, *, context: ActionContext
) -> ActionOutcome | None:
    """Select the node if `values` is empty, or the radio button of its group with that value or label.

    A string such as "true" selects the node. Returns None if the node is neither a radio button nor a group of
    them.

    Raises OptionNotFoundError with the available labels. Raises NotInteractableError for several values, and for a
    group without a value. Raises the errors of `set_checked`.
    """
    request = request_for(values[0]) if values else None
    group = await _look(node, action, request, context)
    if group.kind == "none":
        return None
    if len(set(values)) > 1:
        raise NotInteractableError(
            action=action,
            target=node.description,
            reason=f"a group has one selected radio button, and {len(values)} were given; pass one",
        )
    if group.own or (group.kind == "radio" and group.found < 0 and values and _state_of(values[0])):
        return await _check(node, node, action, context)
    if request is None:
        raise NotInteractableError(
            action=action,
            target=node.description,
            reason="it is a group of radio buttons; pass the value or label of the one to choose",
        )
    chosen = await related_node(
        node, _RADIOS, {"wanted": request, "take": True}, node.description, worlds=context.worlds
    )
    if chosen is None:
        raise OptionNotFoundError(
            action=action,
            target=node.description,
            reason=f"{kind_of(values[0])} does not exist",
            steps=(),
            options=group.labels,
            wanted=tuple(each if isinstance(each, str) else str(each) for each in values[:1]),
        )
    return await _check(chosen, node, action, context)


async def fill_toggle(node: Node, text: str, *, context: ActionContext) -> ActionOutcome:
    """Set the state of a checkbox, switch or radio button from a string.

    For a radio button, selects the button of its group with that value or label. Raises InvalidArgumentError for
    other strings, and the errors of `set_checked` and `choose_radio`.
    """
    state = _state_of(text)
    if state is False and not (await _look(node, "fill", request_for(text), context)).own:
        return attrs.evolve(await set_checked(node, False, context=context), action="fill")
    outcome = await choose_radio(node, (text,), "fill", context=context)
    if outcome is not None:
        return outcome
    if state is None:
        raise InvalidArgumentError(
            what="value",
            given=f"a string of {len(text)} characters",
            expected='True or False, or "true" or "false", for a checkbox, switch or radio button',
        )
    return attrs.evolve(await set_checked(node, state, context=context), action="fill")


async def _look(
    node: Node, action: str, request: dict[str, object] | None, context: ActionContext
) -> _Radios:
    async with context.inspect(node, action) as inspection:
        return await inspection.run(script(_RADIOS), {"wanted": request, "take": False}, _Radios)


async def _check(radio: Node, target: Node, action: str, context: ActionContext) -> ActionOutcome:
    outcome = await set_checked(radio, True, context=context)
    return attrs.evolve(outcome, action=action.removesuffix(" from"), target=target.description)


def _state_of(value: str | Option) -> bool | None:
    return _STATES.get(value.strip().lower()) if isinstance(value, str) else None
