"""Forms: fill in many fields within one budget, and report all failures in one error.

Rule: the fields share one budget, in the given order. A failing field uses at most its share of the remaining
time, and the other fields are still filled in. One error contains all failures. Only the loss of the page or the
connection ends the work early.
"""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import attrs
import trio

from cdpengine._budget import Budget
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.actionability.library_calls import NameChanged, run_with_renaming
from cdpengine._input.forms.fill import FillValue, check_fill_value, fill, takes_only_files
from cdpengine._input.forms.listbox import Option
from cdpengine._input.forms.select import select
from cdpengine._input.forms.upload import FileContent, UploadFile, takes_files, upload
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    FailedField,
    FormError,
    InvalidArgumentError,
    NotInteractableError,
    SessionGoneError,
    StaleRefError,
)

FieldValue = (
    FillValue
    | os.PathLike[str]
    | FileContent
    | Sequence[str | Option]
    | Sequence[os.PathLike[str]]
    | Sequence[FileContent]
    | Sequence[os.PathLike[str] | FileContent]
)
"""A value for `fill`, one or more paths for a file input, or strings or Options for a multiple selection.

A string for a file input is a path.
"""

_MARGIN = 0.3
"""Reserve at the end of the whole budget to raise the errors in, in seconds. At most a tenth of the budget."""


@attrs.frozen
class FieldWork:
    """One field to fill in: its name in errors, a function that finds its node, and its value.

    `settle` returns the node to fill in if the node's name has changed, or raises.
    `sought`: `find` searches the page, so it can be called again after the node was replaced.
    `names_files`: a string may name a file, for a file input.
    """

    target: str
    find: Callable[[Budget], Awaitable[Node]]
    value: FieldValue
    settle: Callable[[NameChanged], Awaitable[Node]]
    sought: bool = False
    names_files: bool = True


def check_field_value(value: FieldValue) -> None:
    """Raise InvalidArgumentError for a value that no field accepts. Sends nothing."""
    if isinstance(value, (os.PathLike, FileContent)):
        return
    if isinstance(value, (list, tuple)):
        if not all(isinstance(each, (str, Option, os.PathLike, FileContent)) for each in value):
            raise InvalidArgumentError(
                what="value", given="a list with other types", expected="a list of options or of files"
            )
        return
    check_fill_value(value)  # type: ignore[arg-type]  # a FillValue, or refused by the function


async def fill_form(fields: Sequence[FieldWork], *, context: ActionContext) -> ActionOutcome:
    """Fill in all fields and raise one error with all failures.

    Raises FormError if a field failed. SessionGoneError or ConnectionLostError is raised directly if it is the
    only failure.
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
                outcome = await _fill_found(field, context.within(own))
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


async def _fill_found(field: FieldWork, context: ActionContext) -> ActionOutcome:
    while True:
        node = await field.find(context.budget)
        try:
            do = partial(fill_field, value=field.value, context=context, names_files=field.names_files)
            return await run_with_renaming(node, do, field.settle)
        except StaleRefError:
            if not field.sought:
                raise
            context.budget.step("it was replaced, so it is looked up again")
            await trio.lowlevel.checkpoint()


async def fill_field(
    node: Node, value: FieldValue, *, context: ActionContext, names_files: bool = True
) -> ActionOutcome:
    """Fill in one field: its files, options or value. Raises the errors of `upload`, `select` and `fill`."""
    if isinstance(value, (os.PathLike, FileContent)):
        return await upload(node, value, context=context)
    if isinstance(value, (list, tuple)):
        files: list[UploadFile] = [each for each in value if isinstance(each, (os.PathLike, FileContent))]
        if files or (not value and await takes_files(node, context)):
            return await upload(node, *value, context=context)
        return await _select(node, value, context, names_files)
    fill_files = partial(upload, node, context=context) if names_files else None
    return await fill(node, value, context=context, fill_files=fill_files)  # type: ignore[arg-type]  # checked


async def _select(
    node: Node, values: Sequence[str | Option], context: ActionContext, names_files: bool
) -> ActionOutcome:
    """Choose these options, or upload the files that these strings name if the node is a file input."""
    try:
        return await select(node, *values, context=context)
    except NotInteractableError:
        paths = [each for each in values if isinstance(each, str)]
        if len(paths) < len(values) or not await takes_files(node, context):
            raise
        if not names_files:
            raise takes_only_files(node) from None
    return await upload(node, *paths, context=context)
