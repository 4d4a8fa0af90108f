"""Fill: give a form control its value, and read back whether it took it.

Rule: text goes in as a person replaces it: the field gets the focus, what it holds is selected, one input
takes its place; so the page sees trusted beforeinput and input events, and change when the field is left.
Dates, times, colours and ranges, which have no text, are set, and the page is told by input and change events
(not trusted ones: Chrome makes those only for its own pickers). What cannot be taken is refused before
anything is changed, where that can be known; else the control is read back, and the error says what it holds
instead.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from cdpengine.action.actionability import Inspection
from cdpengine.action.check import set_checked
from cdpengine.action.context import ActionContext
from cdpengine.action.field_values import EVERY_TYPE, TextValue, texts_of, was_taken
from cdpengine.action.outcome import ActionOutcome
from cdpengine.action.select import Option, select
from cdpengine.browser.node import Node
from cdpengine.errors import InvalidArgument, NotInteractable, StaleRef, ValueRefused
from cdpengine.js import script

FillValue = TextValue | bool | Option


class _Made(msgspec.Struct):
    """What fill.js answers."""

    kind: str
    type: str = ""
    reason: str = ""
    holds: str | None = None
    multiline: bool = False


class _Held(msgspec.Struct):
    """What held.js answers."""

    connected: bool
    holds: str | None
    length: int
    bad: bool = False


def check_fill_value(value: FillValue) -> None:
    """Raise InvalidArgument for what no control can hold. Sends nothing, and never shows a text."""
    if not isinstance(value, (bool, Option)):
        texts_of(value)


async def fill(node: Node, value: FillValue, *, context: ActionContext) -> ActionOutcome:
    """Put `value` in the place of what the control holds.

    Inputs of every type but files, textareas, contenteditable elements, a label of one of them; a bool for
    what can be checked; a text or an Option for selects and listboxes.

    Raises InvalidArgument; StaleRef when the node left its document; NotInteractable at once for what cannot
    be filled in; ValueRefused when the control does not take the value; Invisible or Disabled (read-only too)
    when the budget ends first.
    """
    check_fill_value(value)
    if isinstance(value, bool):
        return await set_checked(node, value, context=context)
    if isinstance(value, Option):
        return await select(node, value, context=context)
    texts = texts_of(value)
    async with context.inspect(node, "fill") as inspection:
        await inspection.wait_until_usable(writable=True)
        made = await inspection.run(script("fill"), {"texts": texts}, _Made)
        if made.kind == "text":
            return await _replace(node, made, texts, inspection, context)
    match made.kind:
        case "set":
            if made.reason:
                raise _refused(node, made.reason, made.holds)
            return ActionOutcome("fill", node.description)
        case "select" | "listbox":
            return await select(node, texts[EVERY_TYPE], context=context)
        case "toggle":
            raise InvalidArgument(
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
    try:
        held = await inspection.run(script("held"), None, _Held)
    except StaleRef:
        return outcome  # the page took the input as a reason to show another document
    if held.holds is None:
        taken = held.length == len(text.encode("utf-16-le")) // 2
    else:
        taken = not held.bad and was_taken(text, held.holds, number=made.type == "number")
    if not taken:
        raise _refused(node, "the control, or the page's script, made something else of it", held.holds)
    return outcome


def _refused(node: Node, reason: str, holds: str | None) -> ValueRefused:
    return ValueRefused(action="fill", target=node.description, reason=reason, took=holds)


def _never(node: Node, reason: str) -> NotInteractable:
    return NotInteractable(action="fill", target=node.description, reason=reason)
