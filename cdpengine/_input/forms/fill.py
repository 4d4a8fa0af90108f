"""Fill: set the value of a form control, and read it back.

Rule: text is entered as a user replaces it: focus the field, select its content, and replace it in one input.
The page receives trusted beforeinput and input events, and a change event when the field is left. Dates and
times are written segment by segment, ranges are moved by the arrow keys. If keys do not work, and for colours
(which Chrome only offers a picker for), a script sets the value. The page's input and change events are then
untrusted, and the outcome reports that. A value that the control is known not to accept is refused before any
change. Otherwise the control is read back, and the error contains its actual value unless that is secret.

Python values are converted to the values of HTML inputs: a date to the format of each input type, a number to its
shortest form.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeAlias

from cdpengine._checks import check_number, check_string
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
"""A value for a field of text, or for an input of dates, times or numbers. A datetime is a date."""


def texts_of(value: TextValue) -> Mapping[str, str]:
    """Return the string for each input type with a special format, and for all others under `EVERY_TYPE`.

    Raises InvalidArgumentError for an unsupported value. The error never contains a string.
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
        check_number("value", value, unit="a finite number")
        return {EVERY_TYPE: f"{value:d}" if isinstance(value, int) else _shortest(value)}
    expected = "a string, a number, a date, a time, or a bool for a checkbox or radio button"
    text = check_string("value", value, expected)
    check_text(text)
    return {EVERY_TYPE: text}


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
    """Raise InvalidArgumentError for a value that no control accepts. Sends nothing."""
    if not isinstance(value, (bool, Option)):
        texts_of(value)


async def fill(
    node: Node,
    value: FillValue,
    *,
    context: ActionContext,
    fill_files: Callable[[str], Awaitable[ActionOutcome]] | None = None,
) -> ActionOutcome:
    """Replace the control's value by `value`. `fill_files` is called for a file input and a string.

    Works for inputs of every type except file inputs, for textareas and contenteditable elements, and for the
    label of any of these. A bool, or a string such as "true", sets a control that can be checked. A string or an
    Option selects in selects, listboxes and groups of radio buttons.

    Raises InvalidArgumentError. Raises StaleRefError if the node left its document. Raises NotInteractableError
    immediately if the node cannot be filled. Raises ValueRefusedError if the control does not accept the value.
    Raises FocusMovedError if the page moves the focus before the value is complete. Raises NotInteractableError
    with the node's state (read-only ones are "disabled") if the budget ends first.
    """
    check_fill_value(value)
    if isinstance(value, bool):
        return await set_checked(node, value, context=context)
    if isinstance(value, Option):
        return await select(node, value, context=context)
    texts = texts_of(value)
    for text in texts.values():  # registered as secrets before a script of this action receives them
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
        case "file" if fill_files is not None and isinstance(value, str):
            return await fill_files(value)
        case "file":
            raise takes_only_files(node)
        case _:
            text = texts[EVERY_TYPE]
            filled = await fill_sections(node, text, partial(_fill_section, context=context), context=context)
            if filled is None:
                filled = await choose_radio(node, (text,), "fill", context=context)
    if filled is None:
        raise _cannot(node, made.reason)
    return filled


def takes_only_files(node: Node) -> NotInteractableError:
    """Return the error for a file input and a value that is no file."""
    return _cannot(node, "it takes files; use upload()")


async def _fill_section(section: Node, text: str, *, context: ActionContext) -> ActionOutcome:
    return await fill(section, text, context=context)


def _cannot(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(
        action="fill", target=node.description, reason=reason or "it cannot be filled in"
    )
