"""PageInput: what one does with a page by mouse and touch.

Rule: each action resolves its target, waits until it can be done, does it once by real input events, and tells in
its outcome what came of it: what received it, and the dialogs, navigations, popups and downloads that began.
"""

from __future__ import annotations

from collections.abc import Sequence

from cdpengine._api.page_base import PageBase
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.mouse import checked_point
from cdpengine._input.drag import drag
from cdpengine._input.forms.select import choose_clicked_option
from cdpengine._input.geometry import Point
from cdpengine._input.pointer import click, hover, tap
from cdpengine._page.node import Node

_NAMES = {1: "click", 2: "double click", 3: "triple click"}


class PageInput(PageBase):
    """The part of a Page that points."""

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
        action = f"{_NAMES.get(count, 'click')} {describe_target(target)}"
        plain = (button, count, tuple(modifiers)) == ("left", 1, ())
        async with self._input(action, timeout) as (budget, effects):
            node = await self._aim(target, heal, budget, effects)
            if plain and self._role_of(target) == "option":
                # Of a <select>: it has no place on the page, open or not. Chosen as by keyboard, it does what a
                # click on it does.
                context = self._context(budget, effects.activity)
                chosen = await choose_clicked_option(node, context=context)
                if chosen is not None:
                    return await self._told(chosen, effects)
            outcome = await click(
                node,
                button=button,
                count=count,
                modifiers=modifiers,
                position=position,
                delay=delay,
                force=force,
                context=self._context(budget, effects.activity),
            )
            return await self._told(outcome, effects)

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
            timeout=timeout,
        )

    async def triple_click(
        self,
        target: ElementTarget,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node three times, which selects a paragraph of text. As `click` in everything else."""
        return await self.click(
            target,
            count=3,
            modifiers=modifiers,
            position=position,
            force=force,
            heal=heal,
            timeout=timeout,
        )

    async def hover(
        self,
        target: ElementTarget,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Move the mouse onto the node. Checks and errors as `click`; a disabled node can be hovered."""
        async with self._input(f"hover {describe_target(target)}", timeout) as (budget, effects):
            outcome = await hover(
                await self._aim(target, heal, budget, effects),
                modifiers=modifiers,
                position=position,
                force=force,
                context=self._context(budget, effects.activity),
            )
            return await self._told(outcome, effects)

    async def tap(
        self,
        target: ElementTarget,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Touch the node and lift the finger. Checks and errors as `click`.

        Waits up to 0.4 s for the click that Chrome makes out of a tap; a page can prevent that one.
        """
        async with self._input(f"tap {describe_target(target)}", timeout) as (budget, effects):
            outcome = await tap(
                await self._aim(target, heal, budget, effects),
                modifiers=modifiers,
                position=position,
                force=force,
                context=self._context(budget, effects.activity),
            )
            return await self._told(outcome, effects)

    async def drag(
        self,
        source: ElementTarget,
        destination: ElementTarget | tuple[float, float],
        *,
        source_position: tuple[float, float] | None = None,
        position: tuple[float, float] | None = None,
        steps: int = 5,
        modifiers: Sequence[str] = (),
        force: bool = False,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Drag a node with the left button to another node, or to a point (x, y) of the viewport.

        HTML5 drag and drop, with its dataTransfer, as well as pages that follow the pointer (sliders, sortable
        lists). `source_position` and `position` are relative to the top left of the source's and the destination's
        border box; `steps` is the number of moves between them. Both nodes are checked as by `click`; the
        destination is scrolled to with the button down. `heal` is as for `click`, for both of them: the outcome's
        `healed` and `healed_destination`.

        The two may be in frames of different processes; the moves are in the destination then, and the source's
        `dragend` has the `dropEffect` "none". Raises as `click` does, and NotDeliveredError when the destination
        did not accept an HTML5 drop (to a point: the outcome's `delivered` is False then). What is dragged does
        not count as covering its destination. However it ends, also cancelled, the button is up and nothing is
        being dragged.
        """
        described = f"{destination}" if isinstance(destination, tuple) else describe_target(destination)
        action = f"drag {describe_target(source)} to {described}"
        async with self._input(action, timeout) as (budget, effects):
            end: Node | Point
            if isinstance(destination, tuple):
                end = checked_point(*destination)
            else:
                end, effects.healed_destination = await self._aimed(destination, heal, budget)
            outcome = await drag(
                await self._aim(source, heal, budget, effects),
                end,
                source_position=source_position,
                position=position,
                steps=steps,
                modifiers=modifiers,
                force=force,
                context=self._context(budget, effects.activity),
            )
            return await self._told(outcome, effects)
