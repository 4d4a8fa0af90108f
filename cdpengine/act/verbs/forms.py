"""Verbs for form controls: fill, select, check and upload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.notations import TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import LOADING, LONGEST_TIMEOUT_MS, ActingRequest, ElementRequest, check_element

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class FormField:
    """One field of a form."""

    ref: str | None = field("The control, by its ref.", None)
    selector: str | None = field(
        "The control, by CSS, or a criterion such as text=Save. One must match.", None
    )
    value: str | float | bool | tuple[str, ...] = field(
        "Its value: text or a number; true or false to check or uncheck; a list for several options.",
        secret=True,
    )


@attrs.frozen(kw_only=True)
class Fill(ActingRequest):
    """Fill in the fields of a form, in order. Their previous values are replaced."""

    kind = "fill"
    timing = Timing(20_000, LONGEST_TIMEOUT_MS)
    tool = ToolForm(meaning="Fill in the fields of a form.", acts=True)
    commands = (
        CommandForm(
            meaning="Replace the values of one or several fields of a form.",
            places=(
                TARGET,
                Place("VALUE", "value", rest=True),
                Place("TARGET VALUE", "more", needed=False, many=True),
            ),
            example='fill e5 ada e6 "ada@example.com"',
        ),
    )

    fields: tuple[FormField, ...] = field("The fields, with their values.", least=1, most=500)

    def check(self) -> None:
        """Raise InvalidArgumentError unless each field names one element."""
        for number, each in enumerate(self.fields):
            check_element(each, f"fill.fields[{number}]")

    async def run(self, performance: Performance) -> None:
        from cdpengine._api.page.forms import Field, fill_fields

        find = performance.find
        fields = [Field(await find(each.ref, each.selector), _value(each.value)) for each in self.fields]
        # A string names no file here: the limits for files apply to requests that name files, such as upload.
        performance.report(
            await fill_fields(
                performance.page.internals,
                fields,
                refuse_renamed=True,
                names_files=False,
                timeout=performance.left,
            )
        )


def _value(value: str | float | bool | tuple[str, ...]) -> Any:
    if isinstance(value, tuple):
        return list(value)
    whole = isinstance(value, float) and value.is_integer()
    return int(value) if whole else value


@attrs.frozen(kw_only=True)
class Select(ElementRequest):
    """Choose options of a select, a listbox or a combobox, or a radio button of a group."""

    kind = "select"
    tool = ToolForm(meaning="Choose options of a list.", fields=("ref",), acts=True)
    commands = (
        CommandForm(
            meaning="Choose options of a select, a listbox or a combobox, by value or label.",
            places=(TARGET, Place("VALUE", "values", many=True)),
            example="select e7 Red",
        ),
    )

    values: tuple[str, ...] = field(
        "Values or labels of the options; a multiple list gets exactly these.", most=1000
    )

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        performance.report(
            await performance.page.select(
                target, *self.values, heal=self.heal, refuse_renamed=True, timeout=performance.left
            )
        )


@attrs.frozen(kw_only=True)
class Check(ElementRequest):
    """Check a checkbox, a switch or a radio button, or uncheck it."""

    kind = "check"
    tool = ToolForm(
        meaning="Check or uncheck a box.", fields=("ref", "checked"), capability="more", acts=True
    )
    commands = (
        CommandForm(meaning="Check a checkbox, a switch or a radio button.", places=(TARGET,)),
        CommandForm(
            name="uncheck",
            meaning="Uncheck a checkbox or a switch.",
            places=(TARGET,),
            preset={"checked": False},
        ),
    )

    checked: bool = field("False unchecks it.", True)

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        change = performance.page.check if self.checked else performance.page.uncheck
        performance.report(
            await change(target, heal=self.heal, refuse_renamed=True, timeout=performance.left)
        )


@attrs.frozen(kw_only=True)
class Upload(ElementRequest):
    """Choose files in a file input."""

    kind = "upload"
    timing = LOADING
    tool = ToolForm(meaning="Choose files in an input.", fields=("ref",), capability="files", acts=True)
    commands = (
        CommandForm(
            meaning="Choose files in a file input; without files, clear it.",
            places=(TARGET, Place("FILE", "paths", needed=False, many=True)),
            example="upload e4 photo.jpg",
        ),
    )

    paths: tuple[str, ...] = field(
        "Files of this machine; an empty list clears the input.", most=1000, file=True
    )

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        performance.report(
            await performance.page.upload(
                target, *self.paths, heal=self.heal, refuse_renamed=True, timeout=performance.left
            )
        )
