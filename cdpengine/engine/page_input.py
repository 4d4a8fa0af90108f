"""PageInput: what one does with a page by mouse and keyboard.

Rule: each action resolves its target, waits until it can be done, does it once by real input events, and tells in
its outcome what came of it, the dialogs that opened included.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import attrs

from cdpengine.action.outcome import ActionOutcome
from cdpengine.action.pointer import click, hover
from cdpengine.action.text_entry import focus, press, type_text
from cdpengine.browser.page_dialogs import Span
from cdpengine.budget import Budget
from cdpengine.engine.page_base import PageBase
from cdpengine.engine.targets import Target, describe_target


class PageInput(PageBase):
    """The part of a Page that acts."""

    async def click(
        self,
        target: Target,
        *,
        button: str = "left",
        count: int = 1,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node: scrolled into view, at a visible point, where nothing covers it, by real mouse events.

        Waits until it can be clicked. `position` is relative to the top left of the node's border box, in CSS
        pixels; `modifiers` are names such as "Control"; `force` skips the checks.

        Raises Covered, Invisible, Disabled, Unstable (all NotInteractable) when the node cannot be clicked by
        the deadline, StaleRef and NodeNotFound when it is not there.
        """
        action = f"{'click' if count == 1 else 'double click' if count == 2 else f'{count}-fold click'}"
        async with self._input(f"{action} {describe_target(target)}", timeout) as (budget, span):
            outcome = await click(
                self._node(target),
                mouse=self.mouse,
                worlds=self._worlds,
                budget=budget,
                button=button,
                count=count,
                modifiers=modifiers,
                position=position,
                force=force,
                interruptions=self._target,
            )
            return await self._told(outcome, span)

    async def double_click(
        self,
        target: Target,
        *,
        button: str = "left",
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Click the node twice, as one double click. As `click` in everything else."""
        return await self.click(
            target,
            button=button,
            count=2,
            modifiers=modifiers,
            position=position,
            force=force,
            timeout=timeout,
        )

    async def hover(
        self,
        target: Target,
        *,
        modifiers: Sequence[str] = (),
        position: tuple[float, float] | None = None,
        force: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Move the mouse onto the node. Checks and errors as `click`; a disabled node can be hovered."""
        async with self._input(f"hover {describe_target(target)}", timeout) as (budget, span):
            outcome = await hover(
                self._node(target),
                mouse=self.mouse,
                worlds=self._worlds,
                budget=budget,
                modifiers=modifiers,
                position=position,
                force=force,
                interruptions=self._target,
            )
            return await self._told(outcome, span)

    async def type(
        self, target: Target, text: str, *, submit: bool = False, delay: float = 0, timeout: float = 30
    ) -> ActionOutcome:
        """Focus the node and type `text` at the end of what is there, by real key events.

        What the US keyboard lacks is inserted as text. `delay` is seconds between keys; `submit` presses Enter
        at the end. Raises Disabled for a node that is disabled or read-only, NotInteractable for one that
        takes no text, and as `click` does.
        """
        async with self._input(f"type into {describe_target(target)}", timeout) as (budget, span):
            outcome = await type_text(
                self._node(target),
                text,
                keyboard=self.keyboard,
                worlds=self._worlds,
                budget=budget,
                submit=submit,
                delay=delay,
                interruptions=self._target,
            )
            return await self._told(outcome, span)

    async def press(self, key: str, target: Target | None = None, *, timeout: float = 30) -> ActionOutcome:
        """Press a key or a chord: "Enter", "a", "Control+A", "ControlOrMeta+C"; on `target` if one is given.

        Raises InvalidArgument, before anything is sent, for a key that does not exist.
        """
        on = "" if target is None else f" on {describe_target(target)}"
        async with self._input(f"press {str(key)[:40]}{on}", timeout) as (budget, span):
            node = None if target is None else self._node(target)
            outcome = await press(
                key,
                node=node,
                keyboard=self.keyboard,
                worlds=self._worlds,
                budget=budget,
                interruptions=self._target,
            )
            return await self._told(outcome, span)

    async def focus(self, target: Target, *, timeout: float = 30) -> ActionOutcome:
        """Give the node the keyboard focus, without a click. Raises as `press` does."""
        async with self._input(f"focus {describe_target(target)}", timeout) as (budget, span):
            outcome = await focus(
                self._node(target),
                worlds=self._worlds,
                budget=budget,
                interruptions=self._target,
            )
            return await self._told(outcome, span)

    async def scroll_into_view(self, target: Target, *, timeout: float = 30) -> None:
        """Scroll, as little as needed, until the node is in the viewport."""
        async with self._action(f"scroll {describe_target(target)} into view", timeout):
            node = self._node(target)
            await node.session.call("DOM.scrollIntoViewIfNeeded", backendNodeId=node.backend_node_id)

    @asynccontextmanager
    async def _input(self, action: str, timeout: float) -> AsyncIterator[tuple[Budget, Span]]:
        """Run one action that sends input, and collect the dialogs that open meanwhile."""
        async with self._action(action, timeout) as budget:
            with self._target.dialogs.span() as span:
                yield budget, span

    async def _told(self, outcome: ActionOutcome, span: Span) -> ActionOutcome:
        if span.shown:
            await self._target.dialogs.wait_for_answer()
        opened = outcome.dialog_opened or bool(span.shown)
        return attrs.evolve(outcome, dialogs=span.dialogs, dialog_opened=opened)
