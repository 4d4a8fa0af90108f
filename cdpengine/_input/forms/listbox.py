"""Options by label, value or index, and listboxes of a page (roles listbox, combobox and option).

Rule: a click on the control opens the list, and a click on each option selects it. Only options whose state must
change are clicked. A missing option is searched for by typing its text into the field if that is possible, then
by scrolling the list. The selection is confirmed by the option's state, by the label or chip that the control
shows, or by the hidden field behind it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import attrs
import msgspec
import trio

from cdpengine._budget import undoing
from cdpengine._checks import check_count, check_type
from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.text_entry import focus
from cdpengine._input.hindrance import Hindrance
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    NotInteractableError,
    OptionNotFoundError,
    StaleRefError,
    UnreadyState,
    ValueRefusedError,
)


@attrs.frozen
class Option:
    """An option that matches all given criteria: `label` (white space collapsed), `value`, `index` (from 0)."""

    label: str | None = None
    value: str | None = None
    index: int | None = None

    def __attrs_post_init__(self) -> None:
        check_type("option.label", self.label, str | None, "a str")
        check_type("option.value", self.value, str | None, "a str")
        if self.index is not None:
            check_count("option.index", self.index)
        if not self.parts:
            raise InvalidArgumentError(
                what="Option", given="nothing", expected="a label, a value or an index"
            )

    @property
    def parts(self) -> list[tuple[str, str | int]]:
        """The given criteria by name."""
        parts = (("label", self.label), ("value", self.value), ("index", self.index))
        return [(name, part) for name, part in parts if part is not None]

    def __str__(self) -> str:
        return "the option with " + " and ".join(f"{name} {part!r}" for name, part in self.parts)


def request_for(option: str | Option) -> dict[str, object]:
    """Return the option as a request for the page's helpers. Raises InvalidArgumentError.

    A string matches an option's value, or its label if no option has that value.
    """
    if isinstance(option, str):
        return {"text": option}
    expected = 'a string (a value or a label) or an Option; several as arguments: select(target, "a", "b")'
    check_type("option", option, Option, expected)
    named = (("label", option.label), ("value", option.value), ("index", option.index))
    return {name: part for name, part in named if part is not None}


def kind_of(option: str | Option) -> str:
    """Describe the wanted option without its value or label, which may be secret."""
    if isinstance(option, str):
        return f"an option with this value or label ({len(option)} characters)"
    words = [
        f"this {name} ({len(part)} characters)" if isinstance(part, str) else f"{name} {part}"
        for name, part in option.parts
    ]
    return f"an option with {' and '.join(words)}"


_OPTION_TIMEOUT = 0.25
"""Maximum time of one probe for a missing option, in seconds. A change in the document ends the probe."""

_CHOICE_TIMEOUT = 1.0
"""Maximum time for a page to show that it accepted the choice, in seconds."""

_SEARCH_TIMEOUT = 2.0
"""Maximum time for a search by typed text, in seconds. After that, the whole list is scrolled."""

_SCAN_TIMEOUT = 0.5
"""Maximum time of one call that scrolls a list, in seconds."""

_CLOSE_TIMEOUT = 0.3
"""Maximum time for a list to close after Escape, in seconds."""

_MOST_CHIPS = 100
"""Maximum number of choices that are removed individually."""

_MOST_TRIES = 3
"""Maximum number of clicks on an option that the page replaces before the click."""

_FIRST: dict[str, object] = {"index": 0}

_LISTBOX = ("_input/forms/listbox", "_input/forms/option_lists", "_input/forms/displayed_choices")


class _Choices(msgspec.Struct):
    """The selection of a control, as hashes of the displayed labels and the values."""

    texts: list[int] = []
    values: list[int] = []


class _State(msgspec.Struct):
    """The result of listbox.js."""

    open: bool
    multiple: bool
    several: bool
    found: bool
    shown: bool
    label: str
    disabled: bool
    chosen: bool
    taken: bool
    labels: list[str]
    others: list[tuple[int, str]]
    place: int
    searchable: bool
    scrollable: bool
    closable: bool
    focused: bool
    shows: bool
    held: _Choices
    ended: bool = False


async def choose_from_listbox(
    node: Node, values: Sequence[str | Option], *, context: ActionContext
) -> ActionOutcome:
    """Select these options of the listbox. In a multiple selection, deselect all others.

    Raises the errors of `select`.
    """
    return await _Choosing(node, context).choose(values)


async def choose_custom_option(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Select the option of a listbox that the node is. Raises the errors of `select`."""
    choosing = _Choosing(node, context)
    state = await choosing.probe(None)
    if state.chosen:
        return ActionOutcome("select", node.description, chosen=(state.label,))
    outcome = await click(node, context=context)
    await choosing.confirm(None, state)
    return ActionOutcome(
        "select", node.description, dialog_opened=outcome.dialog_opened, chosen=(state.label,)
    )


@attrs.define(eq=False)
class _Choosing:
    """The selection of options in one list. `typed`: text that was typed to search is still in the field."""

    node: Node
    context: ActionContext
    dialog: bool = False
    typed: bool = False
    opened: bool = False

    async def choose(self, values: Sequence[str | Option]) -> ActionOutcome:
        requests = [request_for(value) for value in values]
        first = requests[0] if requests else _FIRST
        state = await self.open(first)
        if len(requests) != 1 and not state.several:
            raise _cannot(self.node, f"it takes one option, and {len(requests)} were given")
        labels, places = [], []
        for value, request in zip(values, requests, strict=True):
            chosen = await self._choose(value, request)
            labels.append(chosen.label)
            places.append(chosen.place)
        if state.several:
            await self._deselect_others(first, labels, places)
            if len(requests) > 1 and not state.multiple:
                await self._check_several(requests, labels)
        await self._close(first)
        return ActionOutcome("select", self.node.description, dialog_opened=self.dialog, chosen=tuple(labels))

    async def open(self, request: dict[str, object]) -> _State:
        """Open the list, if it is closed, by a click or, if that fails, by the arrow key."""
        state = await self.probe(request)
        if state.open:
            return state
        opener = await self._related("opener", request, self.node.description)
        await self._click(opener or self.node)
        self.opened = True
        state = await self.probe(request, until="open", seconds=_OPTION_TIMEOUT)
        if not state.open and await self._search(request):
            self.dialog = await self._keyboard.press("ArrowDown") or self.dialog
            state = await self.probe(request, until="open", seconds=_OPTION_TIMEOUT)
        return state

    async def _choose(self, value: str | Option, request: dict[str, object]) -> _State:
        for tried in range(_MOST_TRIES):
            state = await self._find(value, request)
            # An option may count as chosen because its text was typed. Only the click informs the page.
            if state.chosen and not (self.typed and state.shown and not state.multiple):
                return state
            try:
                await self._click_option(request, f"option {state.label!r} of {self.node.description}")
                break
            except StaleRefError:
                if tried == _MOST_TRIES - 1 or not self.node.valid():
                    raise
        self.typed = False  # the choice has replaced or removed the typed text
        await self.confirm(request, state)
        return state

    async def _find(self, value: str | Option, request: dict[str, object]) -> _State:
        """Wait until the option can be clicked: directly, after a search for its text, or after scrolling."""
        hindrance = Hindrance("select from", self.node, self.context.budget)
        budget, text = self.context.budget, _search_text(value)
        searched: float | None = None
        scanned = False
        labels: list[str] = []
        opened = (await self.open(request)).open
        while True:
            state = await self.probe(request, until="there", seconds=_OPTION_TIMEOUT)
            if state.chosen or (state.shown and not state.disabled):
                return state
            if opened and not state.open and searched is None and budget.remaining > 2 * _OPTION_TIMEOUT:
                # The list was still closing after an earlier choice.
                opened, scanned = (await self.open(request)).open, False
                continue
            labels = labels or state.labels
            # A combobox may hide its old options until text is typed again.
            hidden = not state.found or not (state.open or state.shown)
            if hidden and text and state.searchable and searched is None:
                searched = trio.current_time()
                await self._type(request, text)
            elif (
                not state.found
                and state.scrollable
                and not scanned
                and (searched is None or trio.current_time() - searched > _SEARCH_TIMEOUT)
            ):
                scanned = True
                await self._clear(request)
                state = await self._scan(request)
                if state.chosen or (state.shown and not state.disabled):
                    return state
            state.labels = labels or state.labels
            error = _missing_option_error(self.node, value, state)
            hindrance.note(error.reason)
            if budget.remaining <= 2 * _OPTION_TIMEOUT:
                with undoing(_OPTION_TIMEOUT), suppress(EngineError):
                    await self._clear(request)
                raise error

    async def _scan(self, request: dict[str, object]) -> _State:
        scan = "jump"
        while True:
            seconds = min(_SCAN_TIMEOUT, self.context.budget.remaining / 2)
            state = await self.probe(request, scan=scan, seconds=seconds)
            if state.shown or state.ended or self.context.budget.remaining <= 2 * _OPTION_TIMEOUT:
                return state
            scan = "start" if scan == "jump" else "on"

    async def _search(self, request: dict[str, object]) -> bool:
        """Focus the field in which options are searched by text. Return whether there is such a field."""
        async with self.context.inspect(self.node, "select from") as inspection:
            return await inspection.run(script_with(*_LISTBOX), {"wanted": request, "search": True}, bool)

    async def _type(self, request: dict[str, object], text: str) -> None:
        if await self._search(request):
            self.dialog = await self._keyboard.type(text) or self.dialog
            self.typed = True

    async def _clear(self, request: dict[str, object]) -> None:
        if self.typed and await self._search(request):
            await self._keyboard.press("Delete")
        self.typed = False

    async def _deselect_others(
        self, request: dict[str, object], labels: Sequence[str], places: Sequence[int]
    ) -> None:
        """Deselect all other options, by their chips or by a click on them in the list."""
        known = not all(label for label in labels)
        for _ in range(_MOST_CHIPS):
            if known:
                break
            chip = await self._related(
                "chip", request, f"the button that takes a choice of {self.node.description} away", labels
            )
            if chip is None:
                break
            before = await self.probe(request)
            await self._click(chip)
            after = await self.probe(request, until="changed", seconds=_CHOICE_TIMEOUT, before=before)
            if after.held == before.held:
                break
        state = await self.probe(request)
        if not state.multiple and not state.others:
            return
        if self.opened and not state.open:
            state = await self.open(request)
        chosen = [*state.others, *([(state.place, state.label)] if state.chosen and state.place >= 0 else [])]
        for place, label in chosen:
            if label not in labels and place not in places:
                await self._click_option({"index": place}, f"option {label!r} of {self.node.description}")

    async def _check_several(self, requests: Sequence[dict[str, object]], labels: Sequence[str]) -> None:
        """Raise NotInteractableError if the control kept only the last choice. It accepts only one option then."""
        for request, label in zip(requests[:-1], labels, strict=False):
            state = await self.probe(request, label=label)
            if not state.chosen and not state.shows:
                raise _cannot(self.node, f"it takes one option, and {len(requests)} were given")

    async def _close(self, request: dict[str, object]) -> None:
        """Close a list that this code opened and that is still open after a choice, as in multiple selections."""
        if not self.opened or self.dialog:
            return
        with suppress(StaleRefError, NotInteractableError):
            state = await self.probe(request)
            if state.open and state.several and state.closable:
                if not state.focused:  # the focused element was removed, such as the button of a chip
                    await focus(self.node, context=self.context)
                self.dialog = await self._keyboard.press("Escape")
                await self.probe(request, until="closed", seconds=_CLOSE_TIMEOUT)

    async def confirm(self, request: dict[str, object] | None, before: _State) -> None:
        """Wait until the page shows that it accepted the choice. Raises ValueRefusedError if it does not."""
        seconds = min(_CHOICE_TIMEOUT, self.context.budget.remaining / 2)
        try:
            state = await self.probe(request, until="chosen", seconds=seconds, before=before)
        except StaleRefError:
            return  # the choice removed the list, or navigated
        if not state.taken:
            raise ValueRefusedError(
                action="select from",
                target=self.node.description,
                reason=f"the option {before.label!r} was clicked, but the page does not show it as selected",
                took="",
            )

    async def _click_option(self, request: dict[str, object], description: str) -> None:
        option = await self._related("option", request, description)
        if option is None:
            raise _cannot(self.node, f"{description} disappeared before it could be clicked")
        await self._click(option)

    async def _click(self, node: Node) -> None:
        outcome = await click(node, context=self.context)
        self.dialog = self.dialog or outcome.dialog_opened

    async def _related(
        self, what: str, request: dict[str, object], description: str, keep: Sequence[str] = ()
    ) -> Node | None:
        params = {"wanted": request, "node": what, "keep": keep}
        return await related_node(
            self.node, _LISTBOX[0], params, description, worlds=self.context.worlds, parts=_LISTBOX[1:]
        )

    @property
    def _keyboard(self) -> KeyboardDevice:
        return self.context.keyboard.on(self.node.session)

    async def probe(
        self,
        request: dict[str, object] | None,
        *,
        until: str = "",
        scan: str = "",
        seconds: float = 0,
        before: _State | None = None,
        label: str = "",
    ) -> _State:
        params = {
            "wanted": request,
            "until": until,
            "scan": scan,
            "wait": round(seconds * 1000),
            "label": before.label if before else label,
            "labels": before.labels if before else [],
            "before": None if before is None else msgspec.to_builtins(before.held),
        }
        async with self.context.inspect(self.node, "select from") as inspection:
            return await inspection.run(script_with(*_LISTBOX), params, _State)


def _search_text(value: str | Option) -> str:
    """Return the string to type in a search for the option, or "" if only its index is known."""
    return value if isinstance(value, str) else value.label or value.value or ""


def _missing_option_error(node: Node, value: str | Option, state: _State) -> NotInteractableError:
    if not state.found:
        return OptionNotFoundError(
            action="select from",
            target=node.description,
            reason=f"{kind_of(value)} does not exist",
            options=state.labels,
            wanted=(value if isinstance(value, str) else str(value),),
        )
    if state.disabled:
        return _cannot(node, f"the option {state.label!r} is disabled", "disabled")
    return _cannot(node, f"the option {state.label!r} is not shown", "invisible")


def _cannot(node: Node, reason: str, state: UnreadyState = "") -> NotInteractableError:
    return NotInteractableError(action="select from", target=node.description, reason=reason, state=state)
