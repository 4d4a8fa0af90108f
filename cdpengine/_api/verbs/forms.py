"""FormVerbs: the verbs that enter text and fill in forms, and file choosers.

Rule: as everywhere, an action resolves its target, waits until it can be done, does it once, and tells in its
outcome what came of it. What a form control took is read back.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Any

import attrs

from cdpengine._api.page_core import PageVerbs, explain_deadline
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._api.verbs.expecting import Expected, wait_for_arrival
from cdpengine._budget import Budget
from cdpengine._input.action import ActionContext, ActionOutcome
from cdpengine._input.devices.keys import Layout
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.fill import (
    FieldValue,
    FieldWork,
    FillValue,
    check_field_value,
    check_fill_value,
    fill,
    fill_form,
)
from cdpengine._input.forms.option import Option, request_for
from cdpengine._input.forms.select import select
from cdpengine._input.forms.text_entry import blur, focus, press, type_text
from cdpengine._input.forms.upload import UploadFile, check_files, upload
from cdpengine._page.file_choosers import AwaitedChooser, FileChooser, OpenedChooser
from cdpengine._page.node import Node
from cdpengine._page.page_target import PageTarget
from cdpengine.errors import InvalidArgumentError, NotInteractableError


@attrs.frozen
class Field:
    """One field of a form: the control, and what goes into it.

    `value` is what `fill` takes (a bool for what can be checked); a list of texts or Options for a select
    that takes several; a path or a FileContent, or a list of these, for an input of files ([] empties it).
    """

    target: ElementTarget
    value: FieldValue


class FormVerbs(PageVerbs):
    """The part of a Page that types and fills in."""

    async def type(
        self,
        target: ElementTarget,
        text: str,
        *,
        submit: bool = False,
        delay: float = 0,
        layout: str | Layout | None = None,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Focus the node and type `text` at the end of what is there, by real key events.

        `layout` is "us", "uk", "de" or "fr"; without, `page.keyboard.layout`. What it lacks is inserted as text.
        `delay` is seconds between keys; `submit` presses Enter at the end. Raises DisabledError for a node that is
        disabled or read-only, NotInteractableError for one that takes no text, InvalidArgumentError, before
        anything is sent, for a layout that there is not, and as `click` does.
        """
        async with self._core.input(f"type into {describe_target(target)}", timeout) as act:
            outcome = await type_text(
                await act.resolve_target(target, heal),
                text,
                submit=submit,
                delay=delay,
                layout=layout,
                context=act.context,
            )
            return await act.with_effects(outcome)

    async def press(
        self,
        key: str,
        target: ElementTarget | None = None,
        *,
        layout: str | Layout | None = None,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Press a key or a chord: "Enter", "a", "Control+A", "ControlOrMeta+C"; on `target` if one is given.

        The target gets the focus, for which it need not be seen. `layout` is "us", "uk", "de" or "fr"; without,
        `page.keyboard.layout`. Raises InvalidArgumentError, before anything is sent, for a key or layout that does
        not exist.
        """
        on = "" if target is None else f" on {describe_target(target)}"
        async with self._core.input(f"press {_shown_key(key)}{on}", timeout) as act:
            node = None if target is None else await act.resolve_target(target, heal)
            outcome = await press(
                key,
                node=node,
                layout=layout,
                context=act.context,
            )
            return await act.with_effects(outcome)

    async def focus(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Give the node the keyboard focus, without a click, as the Tab key does: it need not be seen.

        Raises as `press` does.
        """
        async with self._core.input(f"focus {describe_target(target)}", timeout) as act:
            outcome = await focus(
                await act.resolve_target(target, heal),
                context=act.context,
            )
            return await act.with_effects(outcome)

    async def blur(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Take the keyboard focus away from the node: the page sees change, if it was edited, and blur.

        Raises StaleRefError, and NotInteractableError for a node that takes the focus again.
        """
        async with self._core.input(f"blur {describe_target(target)}", timeout) as act:
            outcome = await blur(
                await act.resolve_target(target, heal),
                context=act.context,
            )
            return await act.with_effects(outcome)

    async def fill(
        self, target: ElementTarget, value: FillValue, *, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Put `value` in the place of what the control holds, and read back whether it took it.

        Text fields, textareas and contenteditable elements get it as one input, their old text selected
        before: the page sees trusted beforeinput and input events, and change when the field is left. Inputs
        of dates and times are written segment by segment, ranges moved by keys. What keys did not bring about,
        and colours, are set, with an input and a change event that are not trusted (the outcome's
        `set_by_script`). A date, time, datetime or number of Python's will do for them. A bool checks or
        unchecks, a text or an Option selects.

        Raises ValueRefusedError, with what the control holds instead, when it does not take the value;
        NotInteractableError for what cannot be filled in, DisabledError for what is disabled or read-only, and as
        `click`.
        """
        check_fill_value(value)
        async with self._core.input(f"fill {describe_target(target)}", timeout) as act:
            node = await act.resolve_target(target, heal)
            return await act.with_effects(await fill(node, value, context=act.context))

    async def fill_form(
        self,
        fields: Mapping[Any, FieldValue] | Iterable[Field | tuple[ElementTarget, FieldValue]],
        *,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Fill in many fields within one budget: a dict of targets and values, or a list of Fields or pairs.

        All are tried, in order; one that cannot be filled in takes no more than its share of the time that is
        left. Raises FormError, which holds the errors of all the fields that failed; InvalidArgumentError before
        anything is sent.
        """
        known = _fields(fields)
        # (The keys are typed Any because a Mapping is invariant in them: a dict of refs would be none of targets.)
        for field in known:
            check_field_value(field.value)
        async with self._core.input("fill the form", timeout) as act:
            work = [
                FieldWork(describe_target(field.target), self._finder(field.target), field.value)
                for field in known
            ]
            return await act.with_effects(await fill_form(work, context=act.context))

    async def select(
        self, target: ElementTarget, *values: str | Option, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Choose options: of a <select>, or of a listbox or combobox that the page made itself.

        A text is an option's value where one has it, else its label; Option(label=..., value=..., index=...)
        says which. In a list of several, exactly these are chosen. A target that is an option itself needs no
        values. Options are chosen as by keyboard, so the page's input and change events are trusted; where they
        could not be, the outcome's `set_by_script` is true.

        Raises OptionNotFoundError, with the labels that there are: at once where a <select> is static, which is
        when its document has loaded, it has two options or more, one with a value, and none changed for 0.4 s. Any
        other list may still be filled: it is watched to the end, as one with a disabled option (DisabledError) is,
        and that is logged within the first second. Where the page fills a list anew after an earlier choice, wait
        for that first. NotInteractableError, at once, for several in a list of one; ValueRefusedError when the
        page does not leave the choice; and as `click` does.
        """
        for value in values:
            request_for(value)
        async with self._core.input(f"select from {describe_target(target)}", timeout) as act:
            node = await act.resolve_target(target, heal)
            return await act.with_effects(await select(node, *values, context=act.context))

    async def check(
        self, target: ElementTarget, *, force: bool = False, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Check a checkbox, switch or radio button by a click, on its label where it has no box of its own.

        What is checked already is left alone. Raises ValueRefusedError when it is not checked after the click,
        NotInteractableError for what cannot be checked, and as `click` does.
        """
        async with self._core.input(f"check {describe_target(target)}", timeout) as act:
            return await act.with_effects(
                await set_checked(
                    await act.resolve_target(target, heal), True, context=act.context, force=force
                )
            )

    async def uncheck(
        self, target: ElementTarget, *, force: bool = False, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Uncheck a checkbox or switch. As `check`; NotInteractableError for a radio button that is checked."""
        async with self._core.input(f"uncheck {describe_target(target)}", timeout) as act:
            return await act.with_effects(
                await set_checked(
                    await act.resolve_target(target, heal), False, context=act.context, force=force
                )
            )

    async def upload(
        self, target: ElementTarget, *paths: UploadFile, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Choose files in an input of files, shown or hidden, or a folder in one that takes folders.

        They take the place of those that were chosen before; without any, the input is emptied. A FileContent is a
        file that is on no disk: a name, and bytes. Where there is one among them, and where the input is emptied,
        that is done by script (the outcome's `set_by_script`), and 50 MB in all is the most. Raises
        InvalidArgumentError, before anything is sent, for files that are not there; NotInteractableError for an
        input that does not take these, or no files at all.
        """
        await check_files(paths)
        async with self._core.input(f"upload to {describe_target(target)}", timeout) as act:
            node = await act.resolve_target(target, heal)
            return await act.with_effects(await upload(node, *paths, context=act.context))

    @property
    def file_choosers(self) -> list[FileChooser]:
        """The latest file choosers that the page asked for. They are never shown: see `expect_file_chooser`."""
        return self._core.target.choosers.records

    @asynccontextmanager
    async def expect_file_chooser(self, *, timeout: float = 30) -> AsyncIterator[ExpectedFileChooser]:
        """Expect a file chooser to open in the block, and give it its files.

            async with page.expect_file_chooser() as chooser:
                await page.click("e3")
                await chooser.set_files("report.pdf")

        Leaving waits until one has opened; `chooser.value` is its record. Without `set_files` it ends without
        files. Raises DeadlineExceededError when none opened within `timeout` seconds of entering. A file chooser
        that nobody expects is dismissed, and recorded in `file_choosers`.
        """
        budget = Budget.start("expect a file chooser", timeout)
        async with AsyncExitStack() as stack:
            async with self._core.action("expect a file chooser", timeout):
                sessions = list(self._core.target.frame_sessions.values())
                expecting = self._core.target.choosers.expecting(sessions)
                awaited = await stack.enter_async_context(expecting)
            expected = ExpectedFileChooser(self._core.target, awaited, self._choosing)
            yield expected
            opened: Expected[OpenedChooser] = Expected("a file chooser")
            async with explain_deadline(self._core.target, budget.deadline):
                await wait_for_arrival(opened, budget, expected.opened, lambda: "the page asked for none")

    @asynccontextmanager
    async def _choosing(self, action: str, timeout: float) -> AsyncIterator[ActionContext]:
        async with self._core.action(action, timeout) as budget:
            yield self._core.context(budget)

    def _finder(self, target: ElementTarget) -> Callable[[], Node]:
        return lambda: self._core.node(target)


_COMMANDING = {"Alt", "Control", "ControlOrMeta", "Meta"}


def _shown_key(key: object) -> str:
    """Return what a key is called in names of actions, which are logged: what it types is no part of that."""
    held, _, last = str(key).rpartition("+")
    types = len(last) <= 1 and not _COMMANDING & set(held.split("+"))
    return "a character" if types else str(key)[:40]


def _fields(fields: object) -> list[Field]:
    """Return the fields in one form. Raises InvalidArgumentError."""
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


@attrs.frozen(eq=False)
class ExpectedFileChooser:
    """What `page.expect_file_chooser()` gives: the next file chooser of the page, once it has opened."""

    _page: PageTarget
    _awaited: AwaitedChooser
    _act: Callable[[str, float], AbstractAsyncContextManager[ActionContext]]

    @property
    def value(self) -> FileChooser:
        """The file chooser. Raises InvalidArgumentError while none has opened: ask after the block."""
        if self._awaited.opened is None:
            raise InvalidArgumentError(
                what="value",
                given="asked for before a file chooser opened",
                expected="to be asked after the block",
            )
        return self._awaited.opened.record

    async def opened(self) -> OpenedChooser:
        """Wait until it has opened. Raises why the page ended."""
        return await self._page.wait_for(lambda: self._awaited.opened)

    async def set_files(self, *paths: UploadFile, timeout: float = 30) -> ActionOutcome:
        """Wait until the chooser has opened, and choose these files in it. Raises as `page.upload` does.

        The input need not be in a document: pages make one for the moment. NotInteractableError for a chooser
        without an input: Chrome has refused it to the page.
        """
        async with self._act("choose files", timeout) as context:
            opened = await self.opened()
            record = opened.record
            if record.backend_node_id is None:
                raise NotInteractableError(
                    action="choose files in",
                    target="the file chooser",
                    reason="a script opened it without an input of files; Chrome gives it no files",
                )
            node = Node(
                opened.session, record.backend_node_id, record.frame_id, "the input of the file chooser"
            )
            outcome = await upload(node, *paths, context=context, attached=False)
            opened.record = attrs.evolve(record, answer="files")
            return outcome
