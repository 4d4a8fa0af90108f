"""Verbs for form controls: fill, select, check and upload."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from cdpengine.act.fields import Timing, field
from cdpengine.act.requests import (
    LOADING,
    LONGEST_TIMEOUT_MS,
    ActingRequest,
    ElementRequest,
    check_element,
)

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance


@attrs.frozen(kw_only=True)
class FormField:
    """One field of a form."""

    ref: str | None = field("The control, by its ref.", None)
    selector: str | None = field("The control, by a CSS selector that matches one.", None)
    value: str | float | bool | tuple[str, ...] = field(
        "Its value: text or a number; true or false to check or uncheck; a list for several options.",
        secret=True,
    )


@attrs.frozen(kw_only=True)
class Fill(ActingRequest):
    """Fill in the fields of a form, in order. Their previous values are replaced."""

    kind: ClassVar[str] = "fill"
    timing: ClassVar[Timing] = Timing(20_000, LONGEST_TIMEOUT_MS)
    fields: tuple[FormField, ...] = field("The fields, with their values.", least=1, most=500)

    def check(self) -> None:
        """Raise InvalidArgumentError unless each field is one element."""
        for number, each in enumerate(self.fields):
            check_element(each, f"fill.fields[{number}]")

    async def run(self, performance: Performance) -> None:
        from cdpengine._api.page.arguments import Field

        find = performance.find
        fields = [Field(await find(each.ref, each.selector), _value(each.value)) for each in self.fields]
        # A string names no file here: the limits for files apply to requests that name files, such as upload.
        performance.report(
            await performance.page._fill_fields(fields, True, performance.left, names_files=False)  # noqa: SLF001
        )


def _value(given: str | float | bool | tuple[str, ...]) -> Any:
    if isinstance(given, tuple):
        return list(given)
    whole = isinstance(given, float) and given.is_integer()
    return int(given) if whole else given


@attrs.frozen(kw_only=True)
class Select(ElementRequest):
    """Choose options of a select, a listbox or a combobox, or a radio button of a group."""

    kind: ClassVar[str] = "select"
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

    kind: ClassVar[str] = "check"
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

    kind: ClassVar[str] = "upload"
    timing: ClassVar[Timing] = LOADING
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
