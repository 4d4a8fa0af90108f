"""PointingVerbs: the verbs of mouse, touch and view: clicks, drags, scrolling, boxes, highlights.

Rule: each action resolves its target, waits until it can be done, does it once by real input events, and tells in
its outcome what came of it: what received it, and the dialogs, navigations, popups and downloads that began. What
is drawn over the page is taken away again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from cdpengine._api.page_core import PageVerbs
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.mouse import check_point
from cdpengine._input.drag import drag
from cdpengine._input.forms.select import choose_clicked_option
from cdpengine._input.geometry import Point
from cdpengine._input.pointer import click, hover, rest, scroll_at, tap
from cdpengine._input.view import BoundingBox, bounding_box, check_color, highlight_node, scroll_into_view
from cdpengine._page.node import Node
from cdpengine.errors import InvisibleError

_NAMES = {1: "click", 2: "double click", 3: "triple click"}


class PointingVerbs(PageVerbs):
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
        async with self._core.input(action, timeout) as act:
            node = await act.resolve_target(target, heal)
            if plain and self._core.role_of(target) == "option":
                # Of a <select>: it has no place on the page, open or not. Chosen as by keyboard, it does what a
                # click on it does.
                chosen = await choose_clicked_option(node, context=act.context)
                if chosen is not None:
                    return await act.with_effects(chosen)
            outcome = await click(
                node,
                button=button,
                count=count,
                modifiers=modifiers,
                position=position,
                delay=delay,
                force=force,
                context=act.context,
            )
            return await act.with_effects(outcome)

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
        async with self._core.input(f"hover {describe_target(target)}", timeout) as act:
            outcome = await hover(
                await act.resolve_target(target, heal),
                modifiers=modifiers,
                position=position,
                force=force,
                context=act.context,
            )
            return await act.with_effects(outcome)

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
        async with self._core.input(f"tap {describe_target(target)}", timeout) as act:
            outcome = await tap(
                await act.resolve_target(target, heal),
                modifiers=modifiers,
                position=position,
                force=force,
                context=act.context,
            )
            return await act.with_effects(outcome)

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
        async with self._core.input(action, timeout) as act:
            end: Node | Point
            if isinstance(destination, tuple):
                end = check_point(*destination)
            else:
                end = await act.resolve_destination(destination, heal)
            outcome = await drag(
                await act.resolve_target(source, heal),
                end,
                source_position=source_position,
                position=position,
                steps=steps,
                modifiers=modifiers,
                force=force,
                context=act.context,
            )
            return await act.with_effects(outcome)

    async def scroll(
        self,
        dx: float,
        dy: float,
        target: ElementTarget | None = None,
        *,
        heal: bool = False,
        timeout: float = 30,
    ) -> ActionOutcome:
        """Turn the mouse wheel by CSS pixels (positive: right, down), and wait until the scrolling has ended.

        Over `target`, checked and verified as by `hover` (`heal` too); without one, where the mouse is. Where
        everything is at its end already, nothing scrolls, as for a person. Raises InvalidArgumentError, and as
        `hover` does.
        """
        over = "" if target is None else f" over {describe_target(target)}"
        async with self._core.input(f"scroll by ({dx}, {dy}){over}", timeout) as act:
            if target is None:
                delta = check_point(dx, dy, what="dx, dy")
                at = self._core.mouse.position
                at = at if at != (0, 0) else Point(1, 1)
                dialog = await self._core.mouse.wheel_at(at, delta)
                outcome = ActionOutcome("scroll", "", at, dialog_opened=dialog)
                if not dialog:
                    await rest(self._core.session, self._core.worlds, self._core.target.frames.main.id)
            else:
                outcome = await scroll_at(
                    await act.resolve_target(target, heal),
                    dx,
                    dy,
                    context=act.context,
                )
            return await act.with_effects(outcome)

    async def scroll_into_view(
        self, target: ElementTarget, *, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Scroll, as little as needed, until the node is in the viewport and still; all scrollers around it too.

        The outcome's `point` is one of its points, for a node without a size its corner; it need not be seen.
        `heal` is as for `click`. Raises InvisibleError when it is not displayed or cannot be scrolled there,
        StaleRefError, NodeNotFoundError.
        """
        action = f"scroll {describe_target(target)} into view"
        async with self._core.input(action, timeout) as act:
            node = await act.resolve_target(target, heal)
            point = await scroll_into_view(
                node,
                worlds=act.context.worlds,
                budget=act.context.budget,
                interruptions=act.context.interruptions,
            )
            return await act.with_effects(ActionOutcome("scroll into view", node.description, point))

    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the upright rectangle around the node, in CSS pixels of the page's viewport; None if it has none.

        Nothing is scrolled: the box of what is further down lies below the viewport. Frames and transforms are
        counted in. Raises StaleRefError, NodeNotFoundError.
        """
        async with self._core.action(f"measure {describe_target(target)}", timeout):
            return await bounding_box(self._core.node(target), self._core.worlds)

    @asynccontextmanager
    async def highlight(
        self, target: ElementTarget, *, color: str = "#6fa8dc", info: bool = True, timeout: float = 30
    ) -> AsyncIterator[None]:
        """Mark the node while the block runs: `async with page.highlight("e3"):`.

        Chrome's overlay draws it: the page itself is not changed and cannot notice. Screenshots of the viewport
        show it, those of a target or of the full page do not. `info` adds a label with name and size. `timeout` is
        for the beginning; the block may take as long as it wants. Raises InvalidArgumentError for a colour that is
        not "#rrggbb", InvisibleError for a node without a box, StaleRefError, NodeNotFoundError.
        """
        rgb = check_color(color)
        async with AsyncExitStack() as stack:
            async with self._core.action(f"highlight {describe_target(target)}", timeout):
                node = self._core.node(target)
                if await bounding_box(node, self._core.worlds) is None:
                    raise InvisibleError(action="highlight", target=node.description, reason="it has no box")
                await stack.enter_async_context(highlight_node(node, rgb, info=info))
            yield
