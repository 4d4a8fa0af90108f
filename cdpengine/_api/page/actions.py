"""PageActions: the Page methods that send input, such as click, drag, scroll, type, fill and upload.

Rule: an action resolves its target, waits until the target is actionable, and acts once with real input events.
The outcome names the node that received the input, and lists the dialogs, navigations, popups and downloads that
began. The value of a form control is read back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._api.page.forms import Field, check_fields, fill_fields
from cdpengine._input.action import ActionContext, ActionOutcome, click, hover, tap
from cdpengine._input.devices.keys import Layout, describe_key
from cdpengine._input.devices.mouse import check_point
from cdpengine._input.drag import Pace, drag
from cdpengine._input.forms.check import set_checked
from cdpengine._input.forms.fill import FillValue, check_fill_value, fill
from cdpengine._input.forms.form import FieldValue, check_field_value
from cdpengine._input.forms.listbox import Option, request_for
from cdpengine._input.forms.select import choose_clicked_option, select
from cdpengine._input.forms.text_entry import focus, press, type_text
from cdpengine._input.forms.upload import UploadFile, check_files, upload
from cdpengine._input.geometry import Point
from cdpengine._input.view import scroll_into_view
from cdpengine._input.wheel import scroll_at, scroll_here
from cdpengine._page.running_actions import announced
from cdpengine._page.scripts.page_functions import Node

_NAMES = {1: "click", 2: "double click", 3: "triple click"}


class PageActions:
    """The methods of a Page that send input. They use `internals`."""

    internals: PageCore

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
        """Scroll the node into view and click it with real mouse events, at a visible point.

        Waits until the node can be clicked. `button` is "left", "right", "middle", "back" or "forward"; `count` is
        1, 2 or 3. `position` is relative to the top left of the node's border box, in CSS pixels. `modifiers` are
        names such as "Control". `delay` is the time between press and release, in seconds. `force` skips the
        checks; the outcome names the node that received the click. With `heal`, a ref whose node is gone resolves
        to the node with the same role, name and place in its frame, if that node is unambiguous. The outcome's
        `healed` is the new ref. A plain click on the ref of an `<option>` chooses the option.

        Raises NotInteractableError if the node cannot be clicked by the deadline; nothing was sent. Its `state` is
        "invisible", "disabled" or "unstable"; it is a CoveredError for a covered node. Raises NotDeliveredError,
        another NotInteractableError, if the click did not reach the node. Raises StaleRefError or
        NodeNotFoundError if the node does not exist.
        """
        plain = (button, count, tuple(modifiers)) == ("left", 1, ())

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            if plain and self.internals.role_of(target) == "option":
                # An option of a <select> has no box on the page. Choosing it by keyboard has the effect of a
                # click.
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
        return await self.internals.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

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
        """Double-click the node. Accepts the arguments of `click` and raises its errors."""
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
        """Move the mouse onto the node.

        Makes the checks of `click` and raises its errors, but allows disabled nodes.
        """
        return await self.internals.act(
            f"hover {describe_target(target)}",
            partial(hover, modifiers=modifiers, position=position, force=force),
            target,
            heal,
            timeout,
            refuse_renamed=refuse_renamed,
            harmless=True,
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
        """Touch the node and lift the finger. Makes the checks of `click` and raises its errors.

        Waits up to 0.4 s for the click event that Chrome derives from a tap. A page can prevent that event.
        """
        return await self.internals.act(
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

        Supports HTML5 drag and drop with its dataTransfer, and pages that follow the pointer (sliders, sortable
        lists, maps). `source_position` and `position` are relative to the top left of the border boxes of source
        and destination. `steps` is the number of moves between them. `hold` is the time in seconds from the press
        to the first move, for elements that need a long press. Both nodes get the checks of `click`. The engine
        scrolls to the destination while the button is down. The check of the destination ignores the dragged
        element, and elements that began to cover the destination after the press. The button is released 0.1 s to
        0.6 s after the last move, as soon as the page has handled it and the destination has stopped moving.
        `heal` works as in `click`, for both nodes: see the outcome's `healed` and `healed_destination`.

        Source and destination may be in frames of different processes. Then only the destination receives the
        moves, and the source's `dragend` has the `dropEffect` "none". Raises the errors of `click`, and
        NotDeliveredError if the destination did not accept an HTML5 drop. A drop on a point sets the outcome's
        `delivered` to False instead. On every exit, including cancellation, the button is released and the drag
        has ended.
        """
        described = f"{destination}" if isinstance(destination, tuple) else describe_target(destination)
        action = f"drag {describe_target(source)} to {described}"
        async with self.internals.input(action, timeout, refuse_renamed=refuse_renamed) as act:
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

        The wheel turns over `target`, after the checks of `hover`, or at the mouse position without a target. Does
        nothing if the content is already at its end. Raises InvalidArgumentError and the errors of `hover`.
        """
        if target is not None:
            action = f"scroll by ({dx}, {dy}) over {describe_target(target)}"
            return await self.internals.act(
                action, partial(scroll_at, dx=dx, dy=dy), target, heal, timeout, refuse_renamed=refuse_renamed
            )
        async with self.internals.input(f"scroll by ({dx}, {dy})", timeout) as act:
            main = self.internals.target.frames.main.id
            return await act.with_effects(await scroll_here(dx, dy, main, context=act.context))

    @announced("scroll_into_view")
    async def scroll_into_view(
        self, target: ElementTarget, *, heal: bool = False, refuse_renamed: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Scroll the node into the viewport, as little as needed, and wait until it is still.

        Scrolls every scrollable ancestor of the node. The outcome's `point` is a point of the node, or its corner
        if it has no size; other elements may cover it. `heal` works as in `click`. Raises NotInteractableError if
        the node is not displayed or cannot be scrolled into view, StaleRefError, NodeNotFoundError.
        """
        action = f"scroll {describe_target(target)} into view"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            point = await scroll_into_view(
                node, worlds=context.worlds, budget=context.budget, interruptions=context.interruptions
            )
            return ActionOutcome("scroll into view", node.description, point)

        return await self.internals.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

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
        """Focus the node and type `text` at the end of its content with real key events. Does not read it back.

        `layout` is "us", "uk", "de" or "fr"; the default is `page.keyboard.layout`. Characters outside the layout
        are inserted without key events. `delay` is the pause between keys in seconds. `submit` presses Enter at
        the end. Raises NotInteractableError for a node that is disabled, read-only, or accepts no
        text, InvalidArgumentError for an unknown layout (before anything is sent), and the errors of
        `click`.
        """
        return await self.internals.act(
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
        """Press a key or a chord such as "Enter", "a", "Control+A" or "ControlOrMeta+C", on `target` if given.

        The target gets the focus first; it need not be visible. `layout` is "us", "uk", "de" or "fr"; the default
        is `page.keyboard.layout`. Raises InvalidArgumentError for an unknown key or layout, before anything is
        sent.
        """
        on = "" if target is None else f" on {describe_target(target)}"
        action = f"press {describe_key(key)}{on}"
        async with self.internals.input(action, timeout, refuse_renamed=refuse_renamed) as act:

            async def do(node: Node | None) -> ActionOutcome:
                return await press(key, node=node, layout=layout, context=act.context)

            if target is None:
                return await act.with_effects(await do(None))
            return await act.with_effects(await act.do_to(await act.resolve_target(target, heal), do))

    @announced("focus")
    async def focus(
        self, target: ElementTarget, *, heal: bool = False, refuse_renamed: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Give the node the keyboard focus without a click. The node need not be visible.

        Raises the errors of `press`.
        """
        return await self.internals.act(
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
        """Replace the control's value by `value`, and read it back.

        Text fields, textareas and contenteditable elements get the value as one input that replaces the old one.
        The page sees trusted beforeinput and input events, and a change event when the field loses the focus. Date
        and time inputs are typed segment by segment; ranges are moved by keys. Colours, and values that keys
        cannot produce, are set by script with untrusted input and change events; the outcome's `set_by_script` is
        then True. Python's date, time, datetime and numbers are accepted. For a checkbox, switch or radio button,
        `value` is a bool, or one of "true", "on", "checked", "false", "off" and "unchecked". For a <select>, a
        listbox or a combobox, it is a string or an Option.

        Raises ValueRefusedError with the control's actual value if it does not accept the new one,
        NotInteractableError for an element that cannot be filled, or is disabled or read-only, and the errors of
        `click`.
        """
        check_fill_value(value)
        do = partial(fill, value=value)
        return await self.internals.act(
            f"fill {describe_target(target)}", do, target, heal, timeout, refuse_renamed=refuse_renamed
        )

    async def fill_form(
        self,
        fields: Mapping[Any, FieldValue] | Iterable[Field | tuple[ElementTarget, FieldValue]],
        *,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Fill many fields within one budget: a dict of targets and values, or a list of Fields or pairs.

        All fields are tried, in order. A failing field uses at most its share of the remaining time. A Locator is
        resolved when its turn comes. Raises FormError, which contains the errors of all failed fields. Raises
        InvalidArgumentError before anything is sent.
        """
        known = check_fields(fields)
        # The keys are typed Any because the key type of a Mapping is invariant.
        for field in known:
            check_field_value(field.value)
        return await fill_fields(self.internals, known, refuse_renamed=refuse_renamed, timeout=timeout)

    @announced("select")
    async def select(
        self,
        target: ElementTarget,
        *values: str | Option,
        heal: bool = False,
        refuse_renamed: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Choose options of a <select>, of a custom listbox or combobox, or choose a radio button.

        A string matches an option's value, or else its label. Option(label=..., value=..., index=...) is explicit.
        In a multiple list, exactly the given options are chosen. An option or radio button as target needs no
        values; a value or label chooses the radio button of its group. Options are chosen by keyboard, so the
        page's input and change events are trusted. If that is impossible, they are set by script, and the
        outcome's `set_by_script` is True.

        Raises OptionNotFoundError listing the available labels. It is raised immediately for a static <select>:
        its document has loaded, it has two options or more, one with a value, and none changed for 0.4 s. Any
        other list may still be filled by the page, so the engine watches it until the deadline. It logs this wait
        within the first second. The same applies to a disabled option (NotInteractableError). If the page refills
        a list after an earlier choice, wait for that first. Raises NotInteractableError immediately for several
        options of a single-choice list, ValueRefusedError if the page reverts the choice, and the errors of
        `click`.
        """
        for value in values:
            request_for(value)
        action = f"select from {describe_target(target)}"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            return await select(node, *values, context=context)

        return await self.internals.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)

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
        """Check a checkbox, switch or radio button by a click, on its label if it has no box.

        Does nothing if it is already checked. Raises ValueRefusedError if it is not checked after the click,
        NotInteractableError for an element that cannot be checked, and the errors of `click`.
        """
        do = partial(set_checked, checked=True, force=force)
        return await self.internals.act(
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
        """Uncheck a checkbox or switch. Works like `check`.

        Raises NotInteractableError for a checked radio button.
        """
        do = partial(set_checked, checked=False, force=force)
        return await self.internals.act(
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
        """Choose files in a file input, visible or hidden, or a folder in an input that accepts folders.

        The files replace the earlier choice; without files, the input is emptied. A FileContent is a name with
        bytes, for a file that is not on disk. FileContents (50 MB in total at most) and the empty choice are set
        by script, and the outcome's `set_by_script` is True. Raises InvalidArgumentError for missing files, before
        anything is sent. Raises NotInteractableError for an input that does not accept these files, or any.
        """
        await check_files(paths)
        action = f"upload to {describe_target(target)}"

        async def do(node: Node, context: ActionContext) -> ActionOutcome:
            return await upload(node, *paths, context=context)

        return await self.internals.act(action, do, target, heal, timeout, refuse_renamed=refuse_renamed)
