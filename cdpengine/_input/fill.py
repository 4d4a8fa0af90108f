"""Fill: give a form control its value, and read back whether it took it.

Rule: text goes in as a person replaces it: the field gets the focus, what it holds is selected, one input
takes its place; so the page sees trusted beforeinput and input events, and change when the field is left.
Dates and times are written segment by segment, ranges moved by the arrow keys. What keys did not bring about,
and colours, for which there is only Chrome's picker, are set, and the page is told by input and change events that
are not trusted; the outcome says so. What cannot be taken is refused before
anything is changed, where that can be known; else the control is read back in the page, and the error says what it
holds instead, unless that is secret.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from cdpengine._input.actionability import Inspection
from cdpengine._input.check import set_checked
from cdpengine._input.context import ActionContext
from cdpengine._input.field_values import EVERY_TYPE, TextValue, texts_of
from cdpengine._input.outcome import ActionOutcome
from cdpengine._input.related import related_node
from cdpengine._input.segments import segment_keys, segments_in
from cdpengine._input.select import Option, select
from cdpengine._page.node import Node
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine.errors import InvalidArgumentError, NotInteractableError, StaleRefError, ValueRefusedError
from cdpengine.js import script_with

FillValue = TextValue | bool | Option


_FILL = ("fill", "secret_field", "field_values")
_HELD = ("held", "secret_field", "field_values")


class _Made(msgspec.Struct):
    """What fill.js answers."""

    kind: str
    type: str = ""
    reason: str = ""
    holds: str | None = None
    keys: list[str] = []
    range: bool = False
    focused: bool = False
    labelled: bool = False
    scripted: bool = False


class _Held(msgspec.Struct):
    """What held.js answers."""

    taken: bool
    holds: str | None


def check_fill_value(value: FillValue) -> None:
    """Raise InvalidArgumentError for what no control can hold. Sends nothing, and never shows a text."""
    if not isinstance(value, (bool, Option)):
        texts_of(value)


async def fill(node: Node, value: FillValue, *, context: ActionContext) -> ActionOutcome:
    """Put `value` in the place of what the control holds.

    Inputs of every type but files, textareas, contenteditable elements, a label of one of them; a bool for
    what can be checked; a text or an Option for selects and listboxes.

    Raises InvalidArgumentError; StaleRefError when the node left its document; NotInteractableError at once for
    what cannot be filled in; ValueRefusedError when the control does not take the value; InvisibleError or
    DisabledError (read-only too) when the budget ends first.
    """
    check_fill_value(value)
    if isinstance(value, bool):
        return await set_checked(node, value, context=context)
    if isinstance(value, Option):
        return await select(node, value, context=context)
    texts = texts_of(value)
    for text in texts.values():  # known to be secret before the first script of this action is given them
        node.session.connection.instruments.add_secret(text)
    async with context.inspect(node, "fill") as inspection:
        await inspection.wait_until_usable(writable=True)
        made = await inspection.run(script_with(*_FILL), {"texts": texts, "script": False}, _Made)
        if made.kind == "text":
            return await _replace(node, made, texts, inspection, context)
        if made.kind == "keys":
            by_keys = await _by_keys(node, made, texts, inspection, context)
            if by_keys is not None:
                return by_keys
            made = await inspection.run(script_with(*_FILL), {"texts": texts, "script": True}, _Made)
    match made.kind:
        case "set":
            if made.reason:
                raise _refused(node, made.reason, made.holds)
            return ActionOutcome("fill", node.description, set_by_script=made.scripted)
        case "select" | "listbox":
            return await select(node, texts[EVERY_TYPE], context=context)
        case "toggle":
            raise InvalidArgumentError(
                what="value",
                given=f"a {type(value).__name__}",
                expected="True or False for what can be checked",
            )
        case "file":
            raise _never(node, "it takes files; use upload()")
        case _:
            raise _never(node, made.reason)


async def _replace(
    node: Node, made: _Made, texts: Mapping[str, str], inspection: Inspection, context: ActionContext
) -> ActionOutcome:
    if made.reason:
        raise _refused(node, made.reason, made.holds)
    text = texts.get(made.type, texts[EVERY_TYPE])
    keyboard = context.keyboard.on(node.session)
    if text:
        dialog = await keyboard.insert_text(text)
    else:
        dialog = await keyboard.press("Delete")
    outcome = ActionOutcome("fill", node.description, dialog_opened=dialog)
    held = await _held(inspection, text, made)
    if held is not None and not held.taken:
        raise _refused(node, "the control, or the page's script, made something else of it", held.holds)
    return outcome


async def _by_keys(
    node: Node, made: _Made, texts: Mapping[str, str], inspection: Inspection, context: ActionContext
) -> ActionOutcome | None:
    """Give a date, time or range its value by keys; None where they do not do it."""
    text = texts.get(made.type, texts[EVERY_TYPE])
    keys = made.keys if made.range else await _keys_for_segments(node, made, text, context)
    if not keys:
        return None
    dialog = await context.keyboard.on(node.session).press_each(*keys)
    outcome = ActionOutcome("fill", node.description, dialog_opened=dialog)
    held = await _held(inspection, text, made)
    if held is None or held.taken:
        return outcome
    if dialog:
        raise _refused(node, "a dialog opened while it was being filled in", held.holds)
    return None


async def _held(inspection: Inspection, text: str, made: _Made) -> _Held | None:
    """Ask whether the control took the text; None when the input made the page show another document."""
    try:
        return await inspection.run(script_with(*_HELD), {"wanted": text, "type": made.type}, _Held)
    except StaleRefError:
        return None


async def _keys_for_segments(node: Node, made: _Made, text: str, context: ActionContext) -> list[str]:
    control = node
    if made.labelled:
        found = await related_node(node, "control", None, node.description, context=context)
        if found is None:
            return []
        control = found
    described = await node.session.request(
        "DOM.describeNode",
        {"backendNodeId": control.backend_node_id, "depth": -1, "pierce": True},
        DescribeNodeReply,
    )
    return segment_keys(segments_in(described.node), text.replace(" ", "T"), anywhere=made.focused)


def _refused(node: Node, reason: str, holds: str | None) -> ValueRefusedError:
    return ValueRefusedError(action="fill", target=node.description, reason=reason, took=holds)


def _never(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(
        action="fill", target=node.description, reason=reason or "it cannot be filled in"
    )
