"""Recorded steps: actions on the pages of one context, as data, and the merging of steps. Pure.

Rule: strings that a program enters are templates (`cache.templates`): `${password}` is a variable, whose value is
in no recording. Pages have numbers in the order of their opening, from 1. A step describes its element by the
arguments of `page.locate`, and contains no refs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias

import attrs

from cdpengine.cache.templates import find_variables


@attrs.frozen(kw_only=True)
class ElementQuery:
    """The arguments of `page.locate` that match one element. "" is a missing argument.

    `name` is a template. With `exact` and a role, a name "" is that of elements without a name. `frame` is the
    name or the URL of the only frame to search.
    """

    role: str = ""
    name: str = ""
    label: str = ""
    placeholder: str = ""
    test_id: str = ""
    text: str = ""
    css: str = ""
    exact: bool = False
    nth: int | None = None
    frame: str = ""


# --- actions -------------------------------------------------------------------------------------------------


@attrs.frozen
class Goto:
    """Navigate to a URL, a template."""

    url: str


@attrs.frozen
class Move:
    """Go through the page's history, or load the document again."""

    where: Literal["back", "forward", "reload"]


@attrs.frozen
class Click:
    """Click an element. `count` is 2 for a double click."""

    target: ElementQuery
    button: str = "left"
    count: int = 1
    modifiers: tuple[str, ...] = ()

    @property
    def is_plain(self) -> bool:
        """Whether it is one click with the left button, without modifiers."""
        return (self.button, self.count, self.modifiers) == ("left", 1, ())


@attrs.frozen
class Fill:
    """Replace the value of a field by `value`, a template."""

    target: ElementQuery
    value: str


@attrs.frozen
class TypeText:
    """Type `text`, a template, after the value of a field."""

    target: ElementQuery
    text: str


@attrs.frozen
class Press:
    """Press a key or a chord, on an element or on the focused one."""

    key: str
    target: ElementQuery | None = None


@attrs.frozen
class Check:
    """Check or uncheck a checkbox, a switch or a radio button."""

    target: ElementQuery
    checked: bool = True


@attrs.frozen
class Select:
    """Choose options of a list by their labels or values, templates."""

    target: ElementQuery
    values: tuple[str, ...]


@attrs.frozen
class Upload:
    """Choose files in a file input. The paths are templates."""

    target: ElementQuery
    paths: tuple[str, ...]


@attrs.frozen
class Hover:
    """Move the mouse onto an element."""

    target: ElementQuery


@attrs.frozen
class Drag:
    """Drag an element onto another one."""

    target: ElementQuery
    destination: ElementQuery


@attrs.frozen
class Assertion:
    """Assert a state of an element, or the URL of the page ("url", without a target).

    `expected` is the text, the value or the URL.
    """

    state: Literal["visible", "text", "value", "checked", "unchecked", "url"]
    target: ElementQuery | None = None
    expected: str = ""


@attrs.frozen
class OpenPage:
    """Open a blank page, the page of the step."""


@attrs.frozen
class ClosePage:
    """Close the page of the step."""


Action: TypeAlias = (
    Goto
    | Move
    | Click
    | Fill
    | TypeText
    | Press
    | Check
    | Select
    | Upload
    | Hover
    | Drag
    | Assertion
    | OpenPage
    | ClosePage
)


@attrs.frozen
class DialogAnswer:
    """The answer to a JavaScript dialog. `text` is the answer to a prompt, a template."""

    accept: bool
    text: str | None = None


@attrs.frozen
class RecordedStep:
    """One action on a page.

    `opens` is the number of the page that the action opened, and `dialog` the answer to the dialog that it opened.
    """

    action: Action
    page: int = 1
    opens: int | None = None
    dialog: DialogAnswer | None = None

    @property
    def target(self) -> ElementQuery | None:
        """The element of the action, or None."""
        return getattr(self.action, "target", None)


# --- merging -------------------------------------------------------------------------------------------------


def merge_steps(steps: Iterable[RecordedStep]) -> list[RecordedStep]:
    """Return the steps without those that a later step includes.

    A later value of a field replaces an earlier one. A click on a field goes if the field is filled next, and the
    single clicks of a double click go too. A step with an effect of its own, such as a popup, stays.
    """
    merged: list[RecordedStep] = []
    for step in steps:
        while merged and _includes(step, merged[-1]):
            merged.pop()
        merged.append(step)
    return merged


def _includes(step: RecordedStep, earlier: RecordedStep) -> bool:
    """Return whether a step has the effect of the step before it, too."""
    if earlier.opens is not None or earlier.dialog is not None:
        return False
    if step.page != earlier.page or step.target is None or step.target != earlier.target:
        return False
    match earlier.action, step.action:
        case (Fill() | TypeText(), Fill()) | (Select(), Select()) | (Check(), Check()):
            return True
        case Click(), Fill() | Select() | Check() | Upload():
            return earlier.action.is_plain
        case Click(), Click(count=count, button="left"):
            return count > 1 and earlier.action.button == "left" and earlier.action.count < count
    return False


def variables_of(steps: Iterable[RecordedStep]) -> list[str]:
    """Return the distinct names of the variables in the steps, in order of their first use."""
    return list(
        dict.fromkeys(name for step in steps for text in _templates(step) for name in find_variables(text))
    )


def _templates(step: RecordedStep) -> Iterator[str]:
    match step.action:
        case Goto(url=text) | Fill(value=text) | TypeText(text=text):
            yield text
        case Select(values=values):
            yield from values
        case Upload(paths=paths):
            yield from paths
    for query in (step.target, getattr(step.action, "destination", None)):
        if query is not None:
            yield query.name
    if step.dialog is not None and step.dialog.text is not None:
        yield step.dialog.text
