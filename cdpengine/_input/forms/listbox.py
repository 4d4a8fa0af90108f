"""Options, by label, value or place, and listboxes that a page made itself (roles listbox, combobox and option).

Rule: what a person does: the list is opened by a click on what opens it, each option chosen by a click on it;
only those whose state has to change are clicked. The option's own word (aria-selected, aria-checked), or,
where the list is gone after the choice, what its opener shows then, says whether it was taken.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import msgspec

from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.forms.related import related_node
from cdpengine._input.hindrance import Hindrance
from cdpengine._javascript import script
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    DisabledError,
    InvalidArgumentError,
    InvisibleError,
    NotInteractableError,
    OptionNotFoundError,
    StaleRefError,
    ValueRefusedError,
)


@attrs.frozen
class Option:
    """The option that has all that is given: `label` (white space joined), `value`, `index` (from 0)."""

    label: str | None = None
    value: str | None = None
    index: int | None = None

    def __attrs_post_init__(self) -> None:
        texts = (self.label, self.value)
        wrong_text = any(text is not None and not isinstance(text, str) for text in texts)
        wrong_index = self.index is not None and (
            isinstance(self.index, bool) or not isinstance(self.index, int) or self.index < 0
        )
        if wrong_text or wrong_index or (self.index is None and texts == (None, None)):
            given = [
                f"index {part!r}"
                if name == "index" and isinstance(part, int)
                else f"a {name} of type {type(part).__name__}"
                for name, part in self.parts
            ]
            raise InvalidArgumentError(
                what="Option",
                given=" and ".join(given) or "nothing",
                expected="a label, a value or an index (0 or more)",
            )

    @property
    def parts(self) -> list[tuple[str, str | int]]:
        """What is given, by name."""
        parts = (("label", self.label), ("value", self.value), ("index", self.index))
        return [(name, part) for name, part in parts if part is not None]

    def __str__(self) -> str:
        return "the option with " + " and ".join(f"{name} {part!r}" for name, part in self.parts)


def request_for(wanted: str | Option) -> dict[str, object]:
    """Return what is wanted as the page's helpers understand it. Raises InvalidArgumentError.

    A text is an option's value where one has it, else its label.
    """
    if isinstance(wanted, str):
        return {"text": wanted}
    if not isinstance(wanted, Option):
        raise InvalidArgumentError(
            what="option",
            given=f"a {type(wanted).__name__}",
            expected="a string (a value or a label) or an Option",
        )
    named = (("label", wanted.label), ("value", wanted.value), ("index", wanted.index))
    return {name: part for name, part in named if part is not None}


def kind_of(wanted: str | Option) -> str:
    """Return in words how an option was asked for, without the text that it was asked for by."""
    if isinstance(wanted, str):
        return f"an option with this value or label ({len(wanted)} characters)"
    words = [
        f"this {name} ({len(part)} characters)" if isinstance(part, str) else f"{name} {part}"
        for name, part in wanted.parts
    ]
    return f"an option with {' and '.join(words)}"


_OPTION_TIMEOUT = 0.25
"""Seconds of one probe for an option that is not there yet; a change in the document ends it at once."""

_CHOICE_TIMEOUT = 1.0
"""Seconds at most that a page gets to show that it took the choice."""


_FIRST: dict[str, object] = {"index": 0}


class _Seen(msgspec.Struct):
    """What listbox.js answers."""

    open: bool
    multiple: bool
    found: bool
    shown: bool
    label: str
    disabled: bool
    chosen: bool
    taken: bool
    labels: list[str]
    others: list[int]
    place: int


async def choose_from_listbox(
    node: Node, values: Sequence[str | Option], *, context: ActionContext
) -> ActionOutcome:
    """Choose these options of the listbox; in one that takes several, exactly these.

    Raises as `select` does.
    """
    outcome = ActionOutcome("select", node.description)
    wanted = [request_for(value) for value in values]
    seen = await _probe(node, wanted[0] if wanted else _FIRST, context)
    if not seen.open:
        outcome = await click(node, context=context)
        seen = await _probe(
            node, wanted[0] if wanted else _FIRST, context, until="there", seconds=_OPTION_TIMEOUT
        )
    if len(wanted) != 1 and not seen.multiple:
        raise _cannot(node, f"it takes one option, and {len(wanted)} were given")
    places = []
    for value, request in zip(values, wanted, strict=True):
        place, last = await _choose(node, value, request, context)
        places.append(place)
        outcome = last or outcome
    if seen.multiple:
        first = wanted[0] if wanted else _FIRST
        for place in await _chosen_places(node, first, context):
            if place not in places:
                outcome = await _click_option(node, {"index": place}, f"option {place}", context)
    return ActionOutcome("select", node.description, dialog_opened=outcome.dialog_opened)


async def choose_custom_option(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Choose the option of a listbox that the node is. Raises as `select` does."""
    seen = await _probe(node, None, context)
    if seen.chosen:
        return ActionOutcome("select", node.description)
    outcome = await click(node, context=context)
    await _confirm(node, None, seen, context)
    return ActionOutcome("select", node.description, dialog_opened=outcome.dialog_opened)


async def _choose(
    node: Node, value: str | Option, request: dict[str, object], context: ActionContext
) -> tuple[int, ActionOutcome | None]:
    hindrance = Hindrance("select from", node, context.budget)
    while True:
        seen = await _probe(node, request, context, until="there", seconds=_OPTION_TIMEOUT)
        if seen.shown and not seen.disabled:
            break
        hindrance.note(_not_to_be_had(node, value, seen).reason)
        if context.budget.remaining <= 2 * _OPTION_TIMEOUT:
            raise _not_to_be_had(node, value, seen)
    if seen.chosen:
        return seen.place, None
    outcome = await _click_option(node, request, f"option {seen.label!r} of {node.description}", context)
    await _confirm(node, request, seen, context)
    return seen.place, outcome


async def _click_option(
    node: Node, request: dict[str, object], description: str, context: ActionContext
) -> ActionOutcome:
    asked = {"wanted": request, "node": True}
    option = await related_node(node, "_input/forms/listbox", asked, description, worlds=context.worlds)
    if option is None:
        raise _cannot(node, f"{description} went away before it could be clicked")
    return await click(option, context=context)


async def _confirm(
    node: Node, request: dict[str, object] | None, before: _Seen, context: ActionContext
) -> None:
    seconds = min(_CHOICE_TIMEOUT, context.budget.remaining / 2)
    try:
        seen = await _probe(node, request, context, until="chosen", seconds=seconds, label=before.label)
    except StaleRefError:
        return  # the list, or the whole document, went away with the choice
    if not seen.taken:
        raise ValueRefusedError(
            action="select from",
            target=node.description,
            reason=f"the option {before.label!r} was clicked, and nothing shows that it is selected",
            took="",
        )


async def _chosen_places(node: Node, request: dict[str, object], context: ActionContext) -> list[int]:
    seen = await _probe(node, request, context)
    return [*seen.others, *([seen.place] if seen.chosen else [])]


async def _probe(
    node: Node,
    request: dict[str, object] | None,
    context: ActionContext,
    *,
    until: str = "",
    seconds: float = 0,
    label: str = "",
) -> _Seen:
    asked = {"wanted": request, "until": until, "wait": round(seconds * 1000), "label": label}
    async with context.inspect(node, "select from") as inspection:
        return await inspection.run(script("_input/forms/listbox"), asked, _Seen)


def _not_to_be_had(node: Node, value: str | Option, seen: _Seen) -> NotInteractableError:
    if not seen.found:
        return OptionNotFoundError(
            action="select from",
            target=node.description,
            reason=f"{kind_of(value)} is not there",
            options=seen.labels,
            wanted=(value if isinstance(value, str) else str(value),),
        )
    if seen.disabled:
        return DisabledError(
            action="select from", target=node.description, reason=f"the option {seen.label!r} is disabled"
        )
    return InvisibleError(
        action="select from", target=node.description, reason=f"the option {seen.label!r} is not shown"
    )


def _cannot(node: Node, reason: str) -> NotInteractableError:
    return NotInteractableError(action="select from", target=node.description, reason=reason)
