"""Options, by label, value or place, and listboxes that a page made itself (roles listbox, combobox and option).

Rule: the list is opened by a click on its control, and each option is chosen by a click; only options whose state
has to change are clicked. An option that is not there is looked for by its text where a field takes one, then by
scrolling the list. The option's own state, the text or chip that the control shows, or the hidden field behind it
says whether the choice was taken.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import attrs
import msgspec
import trio

from cdpengine._budget import undoing
from cdpengine._input.action import ActionContext, ActionOutcome, click
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.forms.related import related_node
from cdpengine._input.forms.text_entry import focus
from cdpengine._input.hindrance import Hindrance
from cdpengine._javascript import script_with
from cdpengine._page.scripts.page_functions import Node
from cdpengine.errors import (
    DisabledError,
    EngineError,
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

_SEARCH_TIMEOUT = 2.0
"""Seconds in which a search for typed text gives the option; then the whole list is scrolled instead."""

_SCAN_TIMEOUT = 0.5
"""Seconds of one call that scrolls a list."""

_CLOSE_TIMEOUT = 0.3
"""Seconds that a list gets to close after Escape."""

_MOST_CHIPS = 100
"""Choices that are taken away one by one."""

_MOST_TRIES = 3
"""Times that an option is clicked which the page replaces before the click."""

_FIRST: dict[str, object] = {"index": 0}

_LISTBOX = ("_input/forms/listbox", "_input/forms/option_lists", "_input/forms/choices_shown")


class _Held(msgspec.Struct):
    """What a control shows and holds, as numbers made of its texts and values."""

    texts: list[int] = []
    values: list[int] = []


class _Seen(msgspec.Struct):
    """What listbox.js answers."""

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
    held: _Held
    ended: bool = False


async def choose_from_listbox(
    node: Node, values: Sequence[str | Option], *, context: ActionContext
) -> ActionOutcome:
    """Choose these options of the listbox; in one that takes several, exactly these.

    Raises as `select` does.
    """
    return await _Choosing(node, context).choose(values)


async def choose_custom_option(node: Node, *, context: ActionContext) -> ActionOutcome:
    """Choose the option of a listbox that the node is. Raises as `select` does."""
    choosing = _Choosing(node, context)
    seen = await choosing.probe(None)
    if seen.chosen:
        return ActionOutcome("select", node.description)
    outcome = await click(node, context=context)
    await choosing.confirm(None, seen)
    return ActionOutcome("select", node.description, dialog_opened=outcome.dialog_opened)


@attrs.define(eq=False)
class _Choosing:
    """The choice of some options of one list. `typed`: text was typed to look for options, and is still there."""

    node: Node
    context: ActionContext
    dialog: bool = False
    typed: bool = False
    opened: bool = False

    async def choose(self, values: Sequence[str | Option]) -> ActionOutcome:
        wanted = [request_for(value) for value in values]
        first = wanted[0] if wanted else _FIRST
        seen = await self.open(first)
        if len(wanted) != 1 and not seen.several:
            raise _cannot(self.node, f"it takes one option, and {len(wanted)} were given")
        labels, places = [], []
        for value, request in zip(values, wanted, strict=True):
            chosen = await self._choose(value, request)
            labels.append(chosen.label)
            places.append(chosen.place)
        if seen.several:
            await self._take_others_away(first, labels, places)
            if len(wanted) > 1 and not seen.multiple:
                await self._check_several(wanted, labels)
        await self._close(first)
        return ActionOutcome("select", self.node.description, dialog_opened=self.dialog)

    async def open(self, request: dict[str, object]) -> _Seen:
        """Open the list unless it is open, by a click; where that does not do it, by the arrow key."""
        seen = await self.probe(request)
        if seen.open:
            return seen
        opener = await self._related("opener", request, self.node.description)
        await self._click(opener or self.node)
        self.opened = True
        seen = await self.probe(request, until="open", seconds=_OPTION_TIMEOUT)
        if not seen.open and await self._search(request):
            self.dialog = await self._keyboard.press("ArrowDown") or self.dialog
            seen = await self.probe(request, until="open", seconds=_OPTION_TIMEOUT)
        return seen

    async def _choose(self, value: str | Option, request: dict[str, object]) -> _Seen:
        for tried in range(_MOST_TRIES):
            seen = await self._find(value, request)
            # An option may count as chosen because its text was typed: the page learns of it by the click.
            if seen.chosen and not (self.typed and seen.shown and not seen.multiple):
                return seen
            try:
                await self._click_option(request, f"option {seen.label!r} of {self.node.description}")
                break
            except StaleRefError:
                if tried == _MOST_TRIES - 1 or not self.node.valid():
                    raise
        self.typed = False  # a choice takes the text along, or shows it
        await self.confirm(request, seen)
        return seen

    async def _find(self, value: str | Option, request: dict[str, object]) -> _Seen:
        """Wait until the option can be clicked: as the list is, looked for by its text, or scrolled to."""
        hindrance = Hindrance("select from", self.node, self.context.budget)
        budget, text = self.context.budget, _search_text(value)
        searched: float | None = None
        scanned = False
        labels: list[str] = []
        opened = (await self.open(request)).open
        while True:
            seen = await self.probe(request, until="there", seconds=_OPTION_TIMEOUT)
            if seen.chosen or (seen.shown and not seen.disabled):
                return seen
            if opened and not seen.open and searched is None and budget.remaining > 2 * _OPTION_TIMEOUT:
                # The list was still closing after an earlier choice.
                opened, scanned = (await self.open(request)).open, False
                continue
            labels = labels or seen.labels
            if not seen.found and text and seen.searchable and searched is None:
                searched = trio.current_time()
                await self._type(request, text)
            elif (
                not seen.found
                and seen.scrollable
                and not scanned
                and (searched is None or trio.current_time() - searched > _SEARCH_TIMEOUT)
            ):
                scanned = True
                await self._clear(request)
                seen = await self._scan(request)
                if seen.chosen or (seen.shown and not seen.disabled):
                    return seen
            seen.labels = labels or seen.labels
            lack = _not_to_be_had(self.node, value, seen)
            hindrance.note(lack.reason)
            if budget.remaining <= 2 * _OPTION_TIMEOUT:
                with undoing(_OPTION_TIMEOUT), suppress(EngineError):
                    await self._clear(request)
                raise lack

    async def _scan(self, request: dict[str, object]) -> _Seen:
        scan = "jump"
        while True:
            seconds = min(_SCAN_TIMEOUT, self.context.budget.remaining / 2)
            seen = await self.probe(request, scan=scan, seconds=seconds)
            if seen.shown or seen.ended or self.context.budget.remaining <= 2 * _OPTION_TIMEOUT:
                return seen
            scan = "start" if scan == "jump" else "on"

    async def _search(self, request: dict[str, object]) -> bool:
        """Give the focus to the field whose text looks for options; False where there is none."""
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

    async def _take_others_away(
        self, request: dict[str, object], labels: Sequence[str], places: Sequence[int]
    ) -> None:
        """Undo the choice of all other options: by their chips, or else by a click on them in the list."""
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
        seen = await self.probe(request)
        if not seen.multiple and not seen.others:
            return
        if self.opened and not seen.open:
            seen = await self.open(request)
        chosen = [*seen.others, *([(seen.place, seen.label)] if seen.chosen and seen.place >= 0 else [])]
        for place, label in chosen:
            if label not in labels and place not in places:
                await self._click_option({"index": place}, f"option {label!r} of {self.node.description}")

    async def _check_several(self, wanted: Sequence[dict[str, object]], labels: Sequence[str]) -> None:
        """Refuse a control that has kept the last choice alone: it takes one option."""
        for request, label in zip(wanted[:-1], labels, strict=False):
            seen = await self.probe(request, label=label)
            if not seen.chosen and not seen.shows:
                raise _cannot(self.node, f"it takes one option, and {len(wanted)} were given")

    async def _close(self, request: dict[str, object]) -> None:
        """Close a list that was opened here and stays open after a choice, as lists of several do."""
        if not self.opened or self.dialog:
            return
        with suppress(StaleRefError, NotInteractableError):
            seen = await self.probe(request)
            if seen.open and seen.several and seen.closable:
                if not seen.focused:  # what had it went away, such as the button of a chip
                    await focus(self.node, context=self.context)
                self.dialog = await self._keyboard.press("Escape")
                await self.probe(request, until="closed", seconds=_CLOSE_TIMEOUT)

    async def confirm(self, request: dict[str, object] | None, before: _Seen) -> None:
        """Wait until the page shows that it took the choice. Raises ValueRefusedError where it does not."""
        seconds = min(_CHOICE_TIMEOUT, self.context.budget.remaining / 2)
        try:
            seen = await self.probe(request, until="chosen", seconds=seconds, before=before)
        except StaleRefError:
            return  # the list, or the whole document, went away with the choice
        if not seen.taken:
            raise ValueRefusedError(
                action="select from",
                target=self.node.description,
                reason=f"the option {before.label!r} was clicked, and nothing shows that it is selected",
                took="",
            )

    async def _click_option(self, request: dict[str, object], description: str) -> None:
        option = await self._related("option", request, description)
        if option is None:
            raise _cannot(self.node, f"{description} went away before it could be clicked")
        await self._click(option)

    async def _click(self, node: Node) -> None:
        outcome = await click(node, context=self.context)
        self.dialog = self.dialog or outcome.dialog_opened

    async def _related(
        self, what: str, request: dict[str, object], description: str, keep: Sequence[str] = ()
    ) -> Node | None:
        asked = {"wanted": request, "node": what, "keep": keep}
        return await related_node(
            self.node, _LISTBOX[0], asked, description, worlds=self.context.worlds, parts=_LISTBOX[1:]
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
        before: _Seen | None = None,
        label: str = "",
    ) -> _Seen:
        asked = {
            "wanted": request,
            "until": until,
            "scan": scan,
            "wait": round(seconds * 1000),
            "label": before.label if before else label,
            "labels": before.labels if before else [],
            "before": None if before is None else msgspec.to_builtins(before.held),
        }
        async with self.context.inspect(self.node, "select from") as inspection:
            return await inspection.run(script_with(*_LISTBOX), asked, _Seen)


def _search_text(value: str | Option) -> str:
    """Return the text to type where options are looked for; "" for an option known by its place alone."""
    return value if isinstance(value, str) else value.label or value.value or ""


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
