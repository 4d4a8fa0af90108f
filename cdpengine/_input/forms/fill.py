"""Fill: give a form control its value, and read back what it took.

Rule: text goes in as a person replaces it: the field gets the focus, its content is selected, and one input
replaces it. The page sees trusted beforeinput and input events, and change when the field is left. Dates and times
are written segment by segment, ranges moved by the arrow keys. Where keys did not work, and for colours (Chrome
has only its picker for them), the value is set by script; the page's input and change events are not trusted ones
then, and the outcome says so. A value that the control cannot take is refused before anything is changed, where
that is known. Otherwise the control is read back, and the error says what it holds instead, unless that is secret.

Python's own values become what HTML's inputs hold: a date for each type of input that can hold one, numbers in
their shortest form.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from functools import partial
from typing import TypeAlias

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.devices.keyboard import check_text
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.filling import EVERY_TYPE, Filling, refusal
from cdpengine._input.forms.listbox import Option
from cdpengine._input.forms.radios import choose_radio, fill_toggle
from cdpengine._input.forms.sections import fill_sections
from cdpengine._input.forms.select import select
from cdpengine._input.forms.slider import set_slider
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import InvalidArgumentError, NotInteractableError

TextValue: TypeAlias = str | int | float | dt.date | dt.time
"""What a text field, or one of dates, times and numbers, can be filled with. A datetime is a date."""


def texts_of(value: TextValue) -> Mapping[str, str]:
    """Return the text for each type of input that needs its own, and for all others under `EVERY_TYPE`.

    Raises InvalidArgumentError for what has no text; a text itself is never shown.
    """
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            raise InvalidArgumentError(
                what="value", given="a datetime with a time zone", expected="one without: inputs have none"
            )
        whole = value.isoformat(timespec=_precision(value.time()))
        return _texts_of_date(value.date()) | {
            EVERY_TYPE: whole,
            "date": whole[:10],
            "datetime-local": whole,
            "time": whole[11:],
        }
    if isinstance(value, dt.date):
        return _texts_of_date(value)
    if isinstance(value, dt.time):
        return {EVERY_TYPE: value.replace(tzinfo=None).isoformat(timespec=_precision(value))}
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if not math.isfinite(value):
            raise InvalidArgumentError(
                what="value", given=repr(value), expected="a number that can be written"
            )
        return {EVERY_TYPE: f"{value:d}" if isinstance(value, int) else _shortest(value)}
    if not isinstance(value, str):
        raise InvalidArgumentError(
            what="value",
            given=f"a {type(value).__name__}",
            expected="a string, a number, a date, a time, or a bool for what can be checked",
        )
    check_text(value)
    return {EVERY_TYPE: value}


def _texts_of_date(value: dt.date) -> dict[str, str]:
    year, week, _day = value.isocalendar()
    day = value.isoformat()
    return {
        EVERY_TYPE: day,
        "month": day[:7],
        "week": f"{year:04d}-W{week:02d}",
        "datetime-local": f"{day}T00:00",
    }


def _precision(value: dt.time) -> str:
    return "milliseconds" if value.microsecond else "seconds" if value.second else "minutes"


def _shortest(value: float) -> str:
    return f"{value:.0f}" if value == int(value) and abs(value) < 1e15 else repr(value)


FillValue = TextValue | bool | Option


def check_fill_value(value: FillValue) -> None:
    """Raise InvalidArgumentError for what no control can hold. Sends nothing, and never shows a text."""
    if not isinstance(value, (bool, Option)):
        texts_of(value)


async def fill(node: Node, value: FillValue, *, context: ActionContext) -> ActionOutcome:
    """Put `value` in the place of what the control holds.

    Inputs of every type but files, textareas, contenteditable elements, a label of one of them; a bool, or a text
    such as "true", for what can be checked; a text or an Option for selects, listboxes and radio buttons.

    Raises InvalidArgumentError; StaleRefError when the node left its document; NotInteractableError at once for
    what cannot be filled in; ValueRefusedError when the control does not take the value; FocusMovedError when
    the page moves the focus before it has it; InvisibleError or DisabledError (read-only too) when the budget ends
    first.
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
        made = await Filling(node, texts, inspection, context).run()
        if not isinstance(made, ActionOutcome) and made.kind == "slider":
            return await set_slider(node, texts[EVERY_TYPE], inspection, context=context)
    if isinstance(made, ActionOutcome):
        return made
    match made.kind:
        case "set":
            if made.reason:
                raise refusal(node, made.reason, made.holds)
            return ActionOutcome("fill", node.description, set_by_script=made.scripted)
        case "select" | "listbox":
            return await select(node, texts[EVERY_TYPE], context=context)
        case "toggle":
            return await fill_toggle(node, texts[EVERY_TYPE], context=context)
        case "file":
            raise _never(node, "it takes files; use upload()")
        case _:
            text = texts[EVERY_TYPE]
            filled = await fill_sections(node, text, partial(_fill_section, context=context), context=context)
            if filled is None:
                filled = await choose_radio(node, (text,), "fill", context=context)
    if filled is None:
        raise _never(node, made.reason)
    return filled


async def _fill_section(section: Node, text: str, *, context: ActionContext) -> ActionOutcome:
    return await fill(section, text, context=context)


def _never(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(
        action="fill", target=node.description, reason=reason or "it cannot be filled in"
    )
