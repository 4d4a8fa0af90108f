"""Fill: give form controls their values, one or all those of a form, and read back what they took.

Rule: text goes in as a person replaces it: the field gets the focus, its content is selected, and one input
replaces it. The page sees trusted beforeinput and input events, and change when the field is left. Dates and times
are written segment by segment, ranges moved by the arrow keys. Where keys did not work, and for colours (Chrome
has only its picker for them), the value is set by script; the page's input and change events are not trusted ones
then, and the outcome says so. A value that the control cannot take is refused before anything is changed, where
that is known. Otherwise the control is read back, and the error says what it holds instead, unless that is secret.

The fields of a form share one budget, in the order given. A field that fails takes no more than its share of the
time that is left, and the others are still filled in; one error holds all failures. Only the end of the page or of
the connection ends the work early.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.inspection import Inspection
from cdpengine._input.actionability.node_handle import related_node
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.field_values import EVERY_TYPE, TextValue, segment_keys, segments_in, texts_of
from cdpengine._input.forms.option import Option
from cdpengine._input.forms.select import select
from cdpengine._input.forms.upload import FileContent, UploadFile, takes_files, upload
from cdpengine._javascript import script_with
from cdpengine._page.node import Node
from cdpengine._protocol.domains.dom import DescribeNodeReply
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    FailedField,
    FormError,
    InvalidArgumentError,
    NotInteractableError,
    SessionGoneError,
    StaleRefError,
    ValueRefusedError,
)

FillValue = TextValue | bool | Option


_FILL = ("_input/forms/fill", "_page/scripts/secret_field", "_input/forms/field_values")
_HELD = ("_input/forms/held", "_page/scripts/secret_field", "_input/forms/field_values")


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


FieldValue = (
    FillValue
    | os.PathLike[str]
    | FileContent
    | Sequence[str | Option]
    | Sequence[os.PathLike[str]]
    | Sequence[FileContent]
    | Sequence[os.PathLike[str] | FileContent]
)
"""What `fill` takes; a path or several for an input of files; texts or Options for a list of several."""

_MARGIN = 0.3
"""Seconds before the end of the whole budget in which the errors are raised, at most a tenth of it."""


@attrs.frozen
class FieldWork:
    """One field to be filled in: what it is called in errors, how its node is found, its value."""

    target: str
    find: Callable[[], Node]
    value: FieldValue


def check_field_value(value: FieldValue) -> None:
    """Raise InvalidArgumentError for what no field can hold. Sends nothing."""
    if isinstance(value, (os.PathLike, FileContent)):
        return
    if isinstance(value, (list, tuple)):
        if not all(isinstance(each, (str, Option, os.PathLike, FileContent)) for each in value):
            raise InvalidArgumentError(
                what="value", given="a list of other things", expected="a list of options or of files"
            )
        return
    check_fill_value(value)  # type: ignore[arg-type]  # what is left is a FillValue, or is refused


async def fill_form(fields: Sequence[FieldWork], *, context: ActionContext) -> ActionOutcome:
    """Fill in all fields, and raise one error with all that failed.

    Raises FormError when any field failed; what ended the page (SessionGoneError, ConnectionLostError) as itself
    when it is the only error.
    """
    failed: list[FailedField] = []
    dialog = by_script = False
    filled = 0
    budget = context.budget
    margin = min(_MARGIN, budget.timeout / 10)
    for number, field in enumerate(fields):
        budget.step(f"filling in {field.target}")
        share = max(0.0, budget.remaining - margin) / (len(fields) - number)
        own = budget.child(f"fill {field.target}", at_most=share)
        try:
            with own.scope() as scope:
                outcome = await fill_field(field.find(), field.value, context=context.within(own))
                dialog = dialog or outcome.dialog_opened
                by_script = by_script or outcome.set_by_script
            if scope.cancelled_caught:
                raise own.exceeded()
            filled += 1
        except (SessionGoneError, ConnectionLostError) as error:
            failed.append(FailedField(field.target, error))
            if len(failed) == 1:
                raise
            break
        except EngineError as error:
            failed.append(FailedField(field.target, error))
    if failed:
        raise FormError(failed=tuple(failed), filled=filled)
    return ActionOutcome("fill form", f"{filled} fields", dialog_opened=dialog, set_by_script=by_script)


async def fill_field(node: Node, value: FieldValue, *, context: ActionContext) -> ActionOutcome:
    """Fill in one field: its files, its options, or its value. Raises as `upload`, `select` and `fill` do."""
    if isinstance(value, (os.PathLike, FileContent)):
        return await upload(node, value, context=context)
    if isinstance(value, (list, tuple)):
        files: list[UploadFile] = [each for each in value if isinstance(each, (os.PathLike, FileContent))]
        if files or (not value and await takes_files(node, context)):
            return await upload(node, *value, context=context)
        return await select(node, *value, context=context)
    return await fill(node, value, context=context)  # type: ignore[arg-type]  # checked before


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
        found = await related_node(
            node, "_input/forms/control", None, node.description, worlds=context.worlds
        )
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
