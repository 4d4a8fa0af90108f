"""Assertions about the elements of a locator."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import partial

import attrs

from cdpengine import _json
from cdpengine._api.assertions.elements import AccessibilityData, ElementLook, Verdict
from cdpengine._api.assertions.matching import (
    ExpectedTexts,
    all_match,
    check_expected,
    check_strings,
    check_texts,
    contains,
    describe_expected,
    equals,
    has_classes,
    in_order,
    is_same,
    show,
    show_all,
)
from cdpengine._api.assertions.properties import PropertyLook, PropertyReading
from cdpengine._api.assertions.snapshots import check_snapshot
from cdpengine._api.assertions.waiting import Assertion, Look, name_negations
from cdpengine._api.page.finding import similar_to
from cdpengine._api.page.locators import Locator
from cdpengine._checks import check_count, check_flag, check_number, check_string
from cdpengine._page.patterns import Words
from cdpengine._page.search.readings import Reading, ReadingRequest, What
from cdpengine._pickling import not_picklable
from cdpengine._snapshot.roles import check_role
from cdpengine._snapshot.text import shorten
from cdpengine.errors import EvaluationDisabledError

_LONGEST_SHOWN = 120

_TOLERANCE = 1e-9
"""Tolerance of the part of an element that is in the viewport."""


@name_negations
@not_picklable("values that you read")
@attrs.frozen
class LocatorAssertions:
    """Assertions about the elements of a locator: `expect(page.locate(...))`.

    Each waits until it holds, and raises AssertionFailedError at the end of its timeout. `not_` negates them.
    `timeout` is in seconds; None means the timeout of `expect`, and 0 looks only once. Most need exactly one
    element: while several match, they do not hold, and the error lists the matches with their refs.
    """

    _locator: Locator
    _timeout: float
    _negated: bool = False

    @property
    def not_(self) -> LocatorAssertions:
        """The same assertions, negated: each waits until it does not hold."""
        return attrs.evolve(self, negated=not self._negated)

    # --- states --------------------------------------------------------------------------------------------

    async def to_be_attached(self, *, timeout: float | None = None) -> None:
        """Expect an element of the document, visible or not."""
        await self._check_state("attached", "in the document", timeout, absent=False)

    async def to_be_visible(self, *, timeout: float | None = None) -> None:
        """Expect a visible element: one with an area, and without `display: none` or `visibility: hidden`."""
        await self._check_state("visible", "visible", timeout, absent=False)

    async def to_be_hidden(self, *, timeout: float | None = None) -> None:
        """Expect no visible element: a hidden one, or none at all."""
        await self._check_state("visible", "visible", timeout, absent=False, wanted=False, words="hidden")

    async def to_be_enabled(self, *, timeout: float | None = None) -> None:
        """Expect an element that is not disabled, also not by a fieldset, `inert` or `aria-disabled`."""
        await self._check_state("enabled", "enabled", timeout)

    async def to_be_disabled(self, *, timeout: float | None = None) -> None:
        """Expect a disabled element."""
        await self._check_state("enabled", "enabled", timeout, wanted=False, words="disabled")

    async def to_be_editable(self, *, timeout: float | None = None) -> None:
        """Expect an element that accepts typed text: neither disabled nor read-only."""
        await self._check_state("editable", "editable", timeout)

    async def to_be_focused(self, *, timeout: float | None = None) -> None:
        """Expect the element to have the keyboard focus."""
        await self._check_state("focused", "focused", timeout)

    async def to_be_empty(self, *, timeout: float | None = None) -> None:
        """Expect an input without a value, or another element without text."""
        await self._check_state("empty", "empty", timeout)

    async def to_be_checked(
        self, *, checked: bool = True, indeterminate: bool = False, timeout: float | None = None
    ) -> None:
        """Expect a checkbox, radio button or switch to be checked; with `checked=False`, to be unchecked.

        With `indeterminate`, expect neither. Roles with `aria-checked` count too.
        """
        wanted = None if check_flag("indeterminate", indeterminate) else check_flag("checked", checked)
        names: dict[bool | None, str] = {True: "checked", False: "unchecked", None: "indeterminate"}

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            if reading.why:
                return Verdict(self._negated, reading.why)  # holds in no case
            state = reading.value if isinstance(reading.value, bool) else None
            return Verdict(state is wanted, f"it was {names[state]}")

        await self._check_readings(f"be {names[wanted]}", ReadingRequest("checked"), judge, timeout)

    async def to_be_in_viewport(self, *, ratio: float = 0, timeout: float | None = None) -> None:
        """Expect a part of the element to be in the viewport: at least `ratio` (0 to 1) of its area."""
        check_number("ratio", ratio, least=0, most=1)

        def judge(readings: Sequence[Reading]) -> Verdict:
            part = readings[0].value
            shown = float(part) if isinstance(part, int | float) else 0.0
            return Verdict(shown > 0 and shown > ratio - _TOLERANCE, f"{shown:.0%} of it was in the viewport")

        words = f"be in the viewport with {ratio:.0%} of its area" if ratio else "be in the viewport"
        await self._check_readings(words, ReadingRequest("view"), judge, timeout)

    # --- texts ---------------------------------------------------------------------------------------------

    async def to_have_text(
        self,
        text: ExpectedTexts,
        *,
        ignore_case: bool = False,
        inner_text: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Expect the text of the element to equal a string, or to match a compiled pattern.

        With a list, expect as many elements, with these texts in order. White space is collapsed. Hidden text
        counts, unless `inner_text` chooses the text as displayed.
        """
        await self._check_texts("have the text", text, equals, all_match, ignore_case, inner_text, timeout)

    async def to_contain_text(
        self,
        text: ExpectedTexts,
        *,
        ignore_case: bool = False,
        inner_text: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Expect the text of the element to contain a string, or a match of a compiled pattern.

        With a list, expect elements with these texts in this order, among others. See `to_have_text`.
        """
        await self._check_texts(
            "contain the text", text, contains, in_order, ignore_case, inner_text, timeout
        )

    async def _check_texts(
        self,
        words: str,
        expected: ExpectedTexts,
        match: Callable[[Words, str, bool], bool],
        match_all: Callable[[Sequence[Words], Sequence[str], Callable[[Words, str], bool]], bool],
        ignore_case: bool,
        inner_text: bool,
        timeout: float | None,
    ) -> None:
        check_texts("text", expected)
        match_one = partial(_with_case, match, check_flag("ignore_case", ignore_case))
        what: What = "inner_text" if check_flag("inner_text", inner_text) else "text"
        await self._check_strings(words, ReadingRequest(what), expected, match_one, match_all, timeout)

    # --- values and attributes -----------------------------------------------------------------------------

    async def to_have_value(self, value: Words, *, timeout: float | None = None) -> None:
        """Expect the value of an input, textarea or select to equal a string, or to match a pattern.

        The error does not show the value of a secret field, such as a password.
        """
        check_expected("value", value)
        await self._check_string(
            f"have the value {describe_expected(value)}",
            ReadingRequest("value"),
            lambda actual: _is_value(value, actual),
            timeout,
            veiled="have the expected value",
        )

    async def to_have_values(self, values: Sequence[Words], *, timeout: float | None = None) -> None:
        """Expect the chosen options of a select to have these values, in order."""
        check_texts("values", list(values))

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            if not isinstance(reading.value, list):
                return Verdict(self._negated, reading.why)
            return Verdict(all_match(values, reading.value, _is_value), f"it had {show_all(reading.value)}")

        words = f"have the values {describe_expected(values)}"
        await self._check_readings(words, ReadingRequest("values"), judge, timeout)

    async def to_have_attribute(
        self,
        name: str,
        value: Words | None = None,
        *,
        ignore_case: bool = False,
        timeout: float | None = None,
    ) -> None:
        """Expect an attribute with a value, or without `value` any value. A pattern is searched for."""
        check_string("name", name, empty=False)
        if value is not None:
            check_expected("value", value)
        check_flag("ignore_case", ignore_case)

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            if not isinstance(reading.value, str):
                return Verdict(False, "it had no such attribute")
            holds = value is None or _is_value(value, reading.value, ignore_case)
            seen = f"it was {show(reading.value, reading.secret)}"
            return Verdict(holds, seen, reading.value, reading.secret)

        veiled = f"have the attribute {name}"
        words = veiled if value is None else f"{veiled} = {describe_expected(value)}"
        await self._check_readings(words, ReadingRequest("attribute", name), judge, timeout, veiled=veiled)

    async def to_have_id(self, value: Words, *, timeout: float | None = None) -> None:
        """Expect the element to have this id."""
        check_expected("value", value)
        request = ReadingRequest("attribute", "id")
        words = f"have the id {describe_expected(value)}"
        await self._check_string(words, request, lambda actual: _is_value(value, actual), timeout)

    async def to_have_class(self, classes: ExpectedTexts, *, timeout: float | None = None) -> None:
        """Expect the class attribute to equal a string, or to match a pattern; with a list, of each element."""
        check_texts("classes", classes)
        request = ReadingRequest("attribute", "class")
        await self._check_strings("have the class", request, classes, equals, all_match, timeout)

    async def to_contain_class(self, classes: str | Sequence[str], *, timeout: float | None = None) -> None:
        """Expect the element to have all classes of a string, among others; with a list, each element."""
        check_strings("classes", classes)
        request = ReadingRequest("attribute", "class")

        def match(expected: Words, actual: str) -> bool:
            return has_classes(str(expected), actual)

        await self._check_strings("contain the class", request, classes, match, all_match, timeout)

    async def to_have_css(self, name: str, value: Words, *, timeout: float | None = None) -> None:
        """Expect a computed style property, such as "display", to equal a string or to match a pattern."""
        check_string("name", name, empty=False)
        check_expected("value", value)
        words = f"have the style {name}: {describe_expected(value)}"
        request = ReadingRequest("style", name)
        await self._check_string(words, request, lambda actual: equals(value, actual), timeout)

    async def to_have_js_property(self, name: str, value: object, *, timeout: float | None = None) -> None:
        """Expect a property that the page's own scripts see, such as "checked" or "dataset.state".

        `value` is compared with the property's JSON; a pattern searches a string. Dots lead to inner properties.
        Raises EvaluationDisabledError if the browser refuses scripts.
        """
        check_string("name", name, empty=False)
        core = self._locator.page.internals
        if not core.evaluator.enabled:
            raise EvaluationDisabledError(action="expect a JavaScript property")

        def judge(reading: PropertyReading) -> Verdict:
            if not reading.found:
                return Verdict(value is None, "it was undefined, or has no JSON")
            actual = _json.decode_leniently(reading.json)
            seen = "it was secret" if reading.secret else f"it was {shorten(reading.json, _LONGEST_SHOWN)}"
            return Verdict(is_same(value, actual), seen, reading.json, reading.secret)

        look = PropertyLook(self._look(), name.split("."), judge)
        subject = f"{self._locator} not to" if self._negated else f"{self._locator} to"
        veiled = f"{subject} have the JavaScript property {name}"
        expected = describe_expected(value) if isinstance(value, str | re.Pattern) else f"{value!r:.80}"
        await Assertion(
            core,
            f"{veiled} = {expected}",
            look.look,
            veiled=veiled,
            follow=look.follow,
            count=lambda: look.changes,
            similar=similar_to(self._locator),
        ).check(self._seconds(timeout))

    async def to_have_count(self, count: int, *, timeout: float | None = None) -> None:
        """Expect this number of matching elements."""
        check_count("count", count)
        look = self._look(several=True).at_number(
            lambda number: Verdict(number == count, f"{number} {'was' if number == 1 else 'were'} found")
        )
        await self._check(f"match {count} {'element' if count == 1 else 'elements'}", look, timeout)

    # --- accessibility -------------------------------------------------------------------------------------

    async def to_have_role(self, role: str, *, timeout: float | None = None) -> None:
        """Expect the element to have this role, named as in snapshots or by Chrome."""
        known = check_role(role)

        def judge(data: AccessibilityData) -> Verdict:
            return Verdict(
                data.role == known, f"it was {data.role}" if data.role else "it had none", data.role
            )

        await self._check(f"have the role {known}", self._look().at_accessibility(judge), timeout)

    async def to_have_accessible_name(
        self, name: Words, *, ignore_case: bool = False, timeout: float | None = None
    ) -> None:
        """Expect the accessible name to equal a string, white space collapsed, or to match a pattern."""
        await self._check_accessible("name", name, lambda data: data.name, ignore_case, timeout)

    async def to_have_accessible_description(
        self, description: Words, *, ignore_case: bool = False, timeout: float | None = None
    ) -> None:
        """Expect the accessible description to equal a string, or to match a pattern."""
        await self._check_accessible(
            "description", description, lambda data: data.description, ignore_case, timeout
        )

    async def to_have_accessible_error_message(
        self, message: Words, *, ignore_case: bool = False, timeout: float | None = None
    ) -> None:
        """Expect the text of the elements in `aria-errormessage` to equal a string, or to match a pattern.

        Only an invalid element has an error message: one with `aria-invalid`, which is not "false".
        """
        check_expected("message", message)
        check_flag("ignore_case", ignore_case)

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            actual = str(reading.value or "")
            seen = reading.why or f"it was {show(actual)}"
            return Verdict(equals(message, actual, ignore_case), seen, actual)

        words = f"have the accessible error message {describe_expected(message)}"
        await self._check_readings(words, ReadingRequest("error_message"), judge, timeout)

    async def _check_accessible(
        self,
        what: str,
        expected: Words,
        read: Callable[[AccessibilityData], str],
        ignore_case: bool,
        timeout: float | None,
    ) -> None:
        check_expected(what, expected)
        check_flag("ignore_case", ignore_case)

        def judge(data: AccessibilityData) -> Verdict:
            actual = read(data)
            return Verdict(equals(expected, actual, ignore_case), f"it was {show(actual)}", actual)

        words = f"have the accessible {what} {describe_expected(expected)}"
        await self._check(words, self._look().at_accessibility(judge), timeout)

    async def to_match_snapshot(
        self, template: str | os.PathLike[str], *, timeout: float | None = None
    ) -> None:
        """Expect the element's accessibility snapshot to match a template. Works like `PageAssertions`."""
        await check_snapshot(
            self._locator.page.internals,
            str(self._locator),
            template,
            self._look(),
            self._seconds(timeout),
            negated=self._negated,
        )

    # --- the check -----------------------------------------------------------------------------------------

    def _seconds(self, timeout: float | None) -> float:
        return self._timeout if timeout is None else timeout

    def _look(self, *, several: bool = False, absent: bool | None = None) -> ElementLook:
        return ElementLook(self._locator.page.internals, self._locator, self._negated, several, absent)

    async def _check(self, words: str, look: Look, timeout: float | None, veiled: str = "") -> None:
        subject = f"{self._locator} not to" if self._negated else f"{self._locator} to"
        core = self._locator.page.internals
        hidden = f"{subject} {veiled}" if veiled else ""
        similar = similar_to(self._locator)
        assertion = Assertion(core, f"{subject} {words}", look, veiled=hidden, similar=similar)
        await assertion.check(self._seconds(timeout))

    async def _check_readings(
        self,
        words: str,
        request: ReadingRequest,
        judge: Callable[[Sequence[Reading]], Verdict],
        timeout: float | None,
        *,
        several: bool = False,
        absent: bool | None = None,
        veiled: str = "",
    ) -> None:
        look = self._look(several=several, absent=absent).at_readings(request, judge)
        await self._check(words, look, timeout, veiled)

    async def _check_state(
        self,
        what: What,
        state: str,
        timeout: float | None,
        *,
        absent: bool | None = None,
        wanted: bool = True,
        words: str = "",
    ) -> None:
        """Check a property that is true or false. `absent` is its value without a match."""

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            holds = reading.value is True
            because = f": {reading.why}" if reading.why and not holds else ""
            return Verdict(holds is wanted, f"it was {'' if holds else 'not '}{state}{because}")

        without = None if absent is None else absent is wanted
        await self._check_readings(
            f"be {words or state}", ReadingRequest(what), judge, timeout, absent=without
        )

    async def _check_string(
        self,
        words: str,
        request: ReadingRequest,
        match: Callable[[str], bool],
        timeout: float | None,
        *,
        veiled: str = "",
    ) -> None:
        """Check a property that is a string. An element without the property never has the expected one."""

        def judge(readings: Sequence[Reading]) -> Verdict:
            (reading,) = readings
            if not isinstance(reading.value, str):
                return Verdict(self._negated if reading.why else False, reading.why or "it had none")
            seen = f"it was {show(reading.value, reading.secret)}"
            return Verdict(match(reading.value), seen, reading.value, reading.secret)

        await self._check_readings(words, request, judge, timeout, veiled=veiled)

    async def _check_strings(
        self,
        words: str,
        request: ReadingRequest,
        expected: ExpectedTexts,
        match: Callable[[Words, str], bool],
        match_all: Callable[[Sequence[Words], Sequence[str], Callable[[Words, str], bool]], bool],
        timeout: float | None,
    ) -> None:
        """Check a string of one element, or of each of several elements if a list is expected."""
        single = not isinstance(expected, list | tuple)
        wanted: Sequence[Words] = [expected] if single else list(expected)  # type: ignore[list-item, arg-type]

        def judge(readings: Sequence[Reading]) -> Verdict:
            actual = [reading.value if isinstance(reading.value, str) else "" for reading in readings]
            seen = f"it was {show(actual[0])}" if single else f"there were {show_all(actual)}"
            return Verdict(match_all(wanted, actual, match), seen, "\n".join(actual))

        text = f"{words} {describe_expected(expected)}"
        await self._check_readings(text, request, judge, timeout, several=not single)


def _with_case(
    match: Callable[[Words, str, bool], bool], ignore_case: bool, expected: Words, actual: str
) -> bool:
    return match(expected, actual, ignore_case)


def _is_value(expected: Words, actual: str, ignore_case: bool = False) -> bool:
    """Return whether a value or attribute equals the expected string exactly, or contains a match."""
    if isinstance(expected, str):
        return actual.casefold() == expected.casefold() if ignore_case else actual == expected
    return equals(expected, actual, ignore_case)
