"""The fields of a form, as arguments of page methods and as the work of one action.

Rule: all fields are checked before anything is sent, and filled in order within one budget.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter

import attrs

from cdpengine._api.page.core import ElementTarget, InputAction, PageCore, describe_target
from cdpengine._checks import wrong_type
from cdpengine._input.action import ActionOutcome
from cdpengine._input.forms.form import FieldValue, FieldWork, fill_form
from cdpengine._page.running_actions import announced
from cdpengine._page.search.locator import BaseLocator
from cdpengine.errors import InvalidArgumentError


@attrs.frozen
class Field:
    """One field of a form: the control and its new value.

    `value` is any value that `fill` accepts, with a bool for controls that can be checked. For a multiple select
    it is a list of strings or Options. For a file input it is a path (a str or Path), a FileContent, or a
    list of these ([] empties it).
    """

    target: ElementTarget
    value: FieldValue


def check_fields(fields: object) -> list[Field]:
    """Return the fields as a list of Field. Raises InvalidArgumentError."""
    if isinstance(fields, Mapping):
        return [Field(target, value) for target, value in fields.items()]
    if not isinstance(fields, Iterable) or isinstance(fields, (str, bytes)):
        raise wrong_type("fields", fields, "a dict of targets and values, or Fields")
    known = []
    for field in fields:
        if isinstance(field, Field):
            known.append(field)
        elif isinstance(field, (tuple, list)) and len(field) == 2:
            known.append(Field(*field))
        else:
            raise InvalidArgumentError(
                what="fields",
                given=f"a {type(field).__name__} in it",
                expected="Fields, or pairs of target and value",
            )
    return known


@announced("fill_form", attrgetter("target.running"))
async def fill_fields(
    core: PageCore,
    fields: Sequence[Field],
    *,
    refuse_renamed: bool,
    names_files: bool = True,
    timeout: float,
) -> ActionOutcome:
    """Fill the fields of a page within one budget: `Page.fill_form`. `names_files`: a string may name a file."""
    async with core.input("fill the form", timeout, refuse_renamed=refuse_renamed) as act:
        work = [_work_of(act, number, field, names_files) for number, field in enumerate(fields, 1)]
        return await act.with_effects(await fill_form(work, context=act.context))


def _work_of(act: InputAction, number: int, field: Field, names_files: bool) -> FieldWork:
    """Return the work for the form field with this number."""
    return FieldWork(
        describe_target(field.target),
        partial(act.resolve_field, number, field.target),
        field.value,
        act.renaming.settle,
        sought=isinstance(field.target, BaseLocator),
        names_files=names_files,
    )
