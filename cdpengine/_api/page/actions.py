"""PageActions: the verbs that send input: clicks, drags, scrolling, keys, forms, files.

Rule: each action resolves its target, waits until it can be done, does it once by real input events, and tells in
its outcome what came of it: what received it, and the dialogs, navigations, popups and downloads that began. What
a form control took is read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cdpengine._api.page.arguments import Field
from cdpengine._api.page.arguments import check_fields as _check_fields
from cdpengine._api.page.arguments import name_key as _name_key
from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._input.action import ActionContext, ActionOutcome, click, hover, tap
from cdpengine._input.devices.keys import Layout
from cdpengine._input.devices.mouse import check_point
from cdpengine._input.drag import Pace, drag
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.fill import FillValue, check_fill_value, fill
from cdpengine._input.forms.form import FieldValue, FieldWork, check_field_value, fill_form
from cdpengine._input.forms.listbox import Option, request_for
from cdpengine._input.forms.select import choose_clicked_option, select
from cdpengine._input.forms.text_entry import focus, press, type_text
from cdpengine._input.forms.upload import UploadFile, check_files, upload
from cdpengine._input.geometry import Point
from cdpengine._input.view import scroll_into_view
from cdpengine._input.wheel import scroll_at, scroll_here
from cdpengine._page.finding import Locator
from cdpengine._page.running_actions import announced
from cdpengine._page.scripts.page_functions import Node

__all__ = ["Field", "PageActions", "_check_fields", "_name_key"]

_NAMES = {1: "click", 2: "double click", 3: "triple click"}


class PageActions:
    """The verbs of a Page that send input. `_core` is what they work on."""

    def __init__(self, core: PageCore) -> None:
        self._core = core

    @announced("click")
    async def click(
        self,
        target: ElementTarget,
        *,
        button: str = "left",
        count: int = 1,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        delay: float = 0,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node: scrolled into view, at a visible point, where nothing covers it, by real mouse events.

        Waits until it can be clicked. `button` is "left", "right", "middle", "back" or "forward", `count` 1, 2 or
        3; `position` is relative to the top left of the node's border box, in CSS pixels; `modifiers` are names
        such as "Control"; `delay` is how long the button stays down, in seconds. `force` skips the checks, and
        clicks whatever is there: the outcome says what received it. With `heal`, a ref whose node is gone is taken
        for what has the same role, name and place in its frame now, if that is sure: the outcome's `healed`.

        Raises CoveredError, InvisibleError, DisabledError, UnstableError when the node cannot be clicked by the
        deadline: nothing was sent; NotDeliveredError when the click was sent, and did not reach the node (all of
        these are NotInteractableError); StaleRefError and NodeNotFoundError when the node is not there. A plain
        click on the ref of an `<option>` chooses it.
        """
        plain = (button, count, tuple(modifiers)) == ("left", 1, ())

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            if plain and self._core.role_of(target) == "option":
                # Of a <select>: it has no place on the page, open or not. Chosen as by keyboard, it does what a
                # click on it does.
                chosen = await choose_clicked_option(node, context=context)
                if chosen is not None:
                    return chosen
            return await click(
                node,
                button=button,
                count=count,
                modifiers=modifiers,
                position=position,
                delay=delay,
                force=force,
                context=context,
            )

        action = f"{_NAMES.get(count, 'click')} {describe_target(target)}"
        return await self._core.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

    async def double_click(
        self,
        target: ElementTarget,
        *,
        button: str = "left",
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        delay: float = 0,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node twice, as one double click. As `click` in everything else."""
        return await self.click(
            target,
            button=button,
            count=2,
            modifiers=modifiers,
            position=position,
            delay=delay,
            force=force,
            heal=heal,
            refuse_renamed=refuse_renamed,
            timeout=timeout,
        )

    @announced("hover")
    async def hover(
        self,
        target: ElementTarget,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Move the mouse onto the node. Checks and errors as `click`; a disabled node can be hovered."""
        return await self._core.act(
            f"hover {describe_target(target)}",
            partial(hover, modifiers=modifiers, position=position, force=force),
            target,
            heal,
            timeout,
            refuse_renamed=refuse_renamed,
        )

    @announced("tap")
    async def tap(
        self,
        target: ElementTarget,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Touch the node and lift the finger. Checks and errors as `click`.

        Waits up to 0.4 s for the click that Chrome makes out of a tap; a page can prevent that one.
        """
        return await self._core.act(
            f"tap {describe_target(target)}",
            partial(tap, modifiers=modifiers, position=position, force=force),
            target,
            heal,
            timeout,
            refuse_renamed=refuse_renamed,
        )

    @announced("drag")
    async def drag(
        self,
        source: ElementTarget,
        destination: ElementTarget | tuple[float, float],
        *,
        source_position: tuple[float, float] | None = None,
        position: tuple[float, float] | None = None,
        steps: int = 5,
        hold: float = 0,
        modifiers: Sequence[str] = (),
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Drag a node with the left button to another node, or to a point (x, y) of the viewport.

        HTML5 drag and drop, with its dataTransfer, as well as pages that follow the pointer (sliders, sortable
        lists, maps). `source_position` and `position` are relative to the top left of the source's and the
        destination's border box; `steps` is the number of moves between them; `hold` is how many seconds the
        button is down before the first move, for what is dragged after a long press. Both nodes are checked as by
        `click`; the destination is scrolled to with the button down. What is dragged, and what covers the
        destination only since the press, does not count as covering it. The drop follows once the page has handled
        the last move and the destination is still: after 0.1 s, at most 0.6 s. `heal` is as for `click`, for both
        of them: the outcome's `healed` and `healed_destination`.

        The two may be in frames of different processes; the moves are in the destination then, and the source's
        `dragend` has the `dropEffect` "none". Raises as `click` does, and NotDeliveredError when the destination
        did not accept an HTML5 drop (to a point: the outcome's `delivered` is False then). However it ends, also
        cancelled, the button is up and nothing is being dragged.
        """
        described = f"{destination}" if isinstance(destination, tuple) else describe_target(destination)
        action = f"drag {describe_target(source)} to {described}"
        async with self._core.input(action, timeout, refuse_renamed=refuse_renamed) as act:
            end: Node | Point
            if isinstance(destination, tuple):
                end = check_point(*destination)
            else:
                end = await act.resolve_destination(destination, heal)
            do = partial(
                drag,
                destination=end,
                source_position=source_position,
                position=position,
                pace=Pace(steps, hold),
                modifiers=modifiers,
                force=force,
                context=act.context,
            )
            return await act.with_effects(await act.do_to(await act.resolve_target(source, heal), do))

    @announced("scroll")
    async def scroll(
        self,
        dx: float,
        dy: float,
        target: ElementTarget | None = None,
        *,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Turn the mouse wheel by CSS pixels (positive: right, down), and wait until the scrolling has ended.

        Over `target`, checked and verified as by `hover` (`heal` too); without one, where the mouse is. Where
        everything is at its end already, nothing scrolls, as for a person. Raises InvalidArgumentError, and as
        `hover` does.
        """
        if target is not None:
            action = f"scroll by ({dx}, {dy}) over {describe_target(target)}"
            return await self._core.act(
                action, partial(scroll_at, dx=dx, dy=dy), target, heal, timeout, refuse_renamed=refuse_renamed
            )
        async with self._core.input(f"scroll by ({dx}, {dy})", timeout) as act:
            main = self._core.target.frames.main.id
            return await act.with_effects(await scroll_here(dx, dy, main, context=act.context))

    @announced("scroll_into_view")
    async def scroll_into_view(
        self, target: ElementTarget, *, heal: bool = False, refuse_renamed: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Scroll, as little as needed, until the node is in the viewport and still; all scrollers around it too.

        The outcome's `point` is one of its points, for a node without a size its corner; it need not be seen.
        `heal` is as for `click`. Raises InvisibleError when it is not displayed or cannot be scrolled there,
        StaleRefError, NodeNotFoundError.
        """
        action = f"scroll {describe_target(target)} into view"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            point = await scroll_into_view(
                node, worlds=context.worlds, budget=context.budget, interruptions=context.interruptions
            )
            return ActionOutcome("scroll into view", node.description, point)

        return await self._core.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

    @announced("type")
    async def type(
        self,
        target: ElementTarget,
        text: str,
        *,
        submit: bool = False,
        delay: float = 0,
        layout: str | Layout | None = None,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Focus the node and type `text` at the end of what is there, by real key events. Does not read it back.

        `layout` is "us", "uk", "de" or "fr"; without, `page.keyboard.layout`. What it lacks is inserted as text.
        `delay` is seconds between keys; `submit` presses Enter at the end. Raises DisabledError for a node that is
        disabled or read-only, NotInteractableError for one that takes no text, InvalidArgumentError, before
        anything is sent, for a layout that there is not, and as `click` does.
        """
        return await self._core.act(
            f"type into {describe_target(target)}",
            partial(type_text, text=text, submit=submit, delay=delay, layout=layout),
            target,
            heal,
            timeout,
            refuse_renamed=refuse_renamed,
            repeatable=False,
        )

    @announced("press")
    async def press(
        self,
        key: str,
        target: ElementTarget | None = None,
        *,
        layout: str | Layout | None = None,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Press a key or a chord: "Enter", "a", "Control+A", "ControlOrMeta+C"; on `target` if one is given.

        The target gets the focus, for which it need not be seen. `layout` is "us", "uk", "de" or "fr"; without,
        `page.keyboard.layout`. Raises InvalidArgumentError, before anything is sent, for a key or layout that does
        not exist.
        """
        on = "" if target is None else f" on {describe_target(target)}"
        action = f"press {_name_key(key)}{on}"
        async with self._core.input(action, timeout, refuse_renamed=refuse_renamed) as act:

            async def do(node: Node | None) -> ActionOutcome:
                return await press(key, node=node, layout=layout, context=act.context)

            if target is None:
                return await act.with_effects(await do(None))
            return await act.with_effects(await act.do_to(await act.resolve_target(target, heal), do))

    @announced("focus")
    async def focus(
        self, target: ElementTarget, *, heal: bool = False, refuse_renamed: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Give the node the keyboard focus, without a click, as the Tab key does: it need not be seen.

        Raises as `press` does.
        """
        return await self._core.act(
            f"focus {describe_target(target)}", focus, target, heal, timeout, refuse_renamed=refuse_renamed
        )

    @announced("fill")
    async def fill(
        self,
        target: ElementTarget,
        value: FillValue,
        *,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Put `value` in the place of what the control holds, and read back whether it took it.

        Text fields, textareas and contenteditable elements get it as one input, their old text selected
        before: the page sees trusted beforeinput and input events, and change when the field is left. Inputs
        of dates and times are written segment by segment, ranges moved by keys. What keys did not bring about,
        and colours, are set, with an input and a change event that are not trusted (the outcome's
        `set_by_script`). A date, time, datetime or number of Python's will do for them. A bool checks or
        unchecks, as "true", "on", "checked", "false", "off" and "unchecked" do; a text or an Option selects.

        Raises ValueRefusedError, with what the control holds instead, when it does not take the value;
        NotInteractableError for what cannot be filled in, DisabledError for what is disabled or read-only, and as
        `click`.
        """
        check_fill_value(value)
        do = partial(fill, value=value)
        return await self._core.act(
            f"fill {describe_target(target)}", do, target, heal, timeout, refuse_renamed=refuse_renamed
        )

    async def fill_form(
        self,
        fields: Mapping[Any, FieldValue] | Iterable[Field | tuple[ElementTarget, FieldValue]],
        *,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Fill in many fields within one budget: a dict of targets and values, or a list of Fields or pairs.

        All are tried, in order; one that cannot be filled in takes no more than its share of the time that is
        left. A Locator is looked for when its turn comes. Raises FormError, which holds the errors of all the
        fields that failed; InvalidArgumentError before anything is sent.
        """
        known = _check_fields(fields)
        # (The keys are typed Any because a Mapping is invariant in them: a dict of refs would be none of targets.)
        for field in known:
            check_field_value(field.value)
        return await self._fill_fields(known, refuse_renamed, timeout)

    @announced("fill_form")
    async def _fill_fields(
        self, known: Sequence[Field], refuse_renamed: bool, timeout: float
    ) -> ActionOutcome:
        async with self._core.input("fill the form", timeout, refuse_renamed=refuse_renamed) as act:
            work = [
                FieldWork(
                    describe_target(field.target),
                    partial(act.resolve_field, number, field.target),
                    field.value,
                    act.renaming.settle,
                    sought=isinstance(field.target, Locator),
                )
                for number, field in enumerate(known, 1)
            ]
            return await act.with_effects(await fill_form(work, context=act.context))

    @announced("select")
    async def select(
        self,
        target: ElementTarget,
        *values: str | Option,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Choose options: of a <select>, of a listbox or combobox that the page made itself, or a radio button.

        A text is an option's value where one has it, else its label; Option(label=..., value=..., index=...)
        says which. In a list of several, exactly these are chosen. An option or a radio button itself needs
        no values, and a value or label means the radio button of the same group. Options are chosen as by
        keyboard, so the page's input and change events are trusted; where they could not be, the outcome's
        `set_by_script` is true.

        Raises OptionNotFoundError, with the labels that there are: at once where a <select> is static, which is
        when its document has loaded, it has two options or more, one with a value, and none changed for 0.4 s. Any
        other list may still be filled: it is watched to the end, as one with a disabled option (DisabledError) is,
        and that is logged within the first second. Where the page fills a list anew after an earlier choice, wait
        for that first. NotInteractableError, at once, for several in a list of one; ValueRefusedError when the
        page does not leave the choice; and as `click` does.
        """
        for value in values:
            request_for(value)
        action = f"select from {describe_target(target)}"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            return await select(node, *values, context=context)

        return await self._core.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

    @announced("check")
    async def check(
        self,
        target: ElementTarget,
        *,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Check a checkbox, switch or radio button by a click, on its label where it has no box of its own.

        What is checked already is left alone. Raises ValueRefusedError when it is not checked after the click,
        NotInteractableError for what cannot be checked, and as `click` does.
        """
        do = partial(set_checked, checked=True, force=force)
        return await self._core.act(
            f"check {describe_target(target)}", do, target, heal, timeout, refuse_renamed=refuse_renamed
        )

    @announced("uncheck")
    async def uncheck(
        self,
        target: ElementTarget,
        *,
        force: bool = False,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Uncheck a checkbox or switch. As `check`; NotInteractableError for a radio button that is checked."""
        do = partial(set_checked, checked=False, force=force)
        return await self._core.act(
            f"uncheck {describe_target(target)}", do, target, heal, timeout, refuse_renamed=refuse_renamed
        )

    @announced("upload")
    async def upload(
        self,
        target: ElementTarget,
        *paths: UploadFile,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Choose files in an input of files, shown or hidden, or a folder in one that takes folders.

        They take the place of those that were chosen before; without any, the input is emptied. A FileContent is a
        file that is on no disk: a name, and bytes. Where there is one among them, and where the input is emptied,
        that is done by script (the outcome's `set_by_script`), and 50 MB in all is the most. Raises
        InvalidArgumentError, before anything is sent, for files that are not there; NotInteractableError for an
        input that does not take these, or no files at all.
        """
        await check_files(paths)
        action = f"upload to {describe_target(target)}"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            return await upload(node, *paths, context=context)

        return await self._core.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)
