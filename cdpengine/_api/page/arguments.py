"""Arguments of page methods: normalized form fields, and names of keys for logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

import attrs

from cdpengine._api.page.core import ElementTarget, InputAction, describe_target
from cdpengine._input.forms.form import FieldValue, FieldWork
from cdpengine._page.search.locator import Locator
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


def work_of(act: InputAction, number: int, field: Field, names_files: bool) -> FieldWork:
    """Return the work for the form field with this number. `names_files`: a string may name a file."""
    return FieldWork(
        describe_target(field.target),
        partial(act.resolve_field, number, field.target),
        field.value,
        act.renaming.settle,
        sought=isinstance(field.target, Locator),
        names_files=names_files,
    )


def check_fields(fields: object) -> list[Field]:
    """Return the fields as a list of Field. Raises InvalidArgumentError."""
    if isinstance(fields, Mapping):
        return [Field(target, value) for target, value in fields.items()]
    if not isinstance(fields, Iterable) or isinstance(fields, (str, bytes)):
        raise InvalidArgumentError(
            what="fields",
            given=f"a {type(fields).__name__}",
            expected="a dict of targets and values, or Fields",
        )
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


_COMMANDING = {"Alt", "Control", "ControlOrMeta", "Meta"}


def name_key(key: object) -> str:
    """Return a loggable name for the key; never the character that it types."""
    modifiers, _, last = str(key).rpartition("+")
    types = len(last) <= 1 and not _COMMANDING & set(modifiers.split("+"))
    return "a character" if types else str(key)[:40]
