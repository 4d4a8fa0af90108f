"""PageView: what one sees of a page, and brings into view: scrolling, boxes, highlights.

Rule: nothing here changes the page's document; what is drawn over it is taken away again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from cdpengine._api.page_base import PageBase
from cdpengine._api.targets import ElementTarget, describe_target
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.mouse import checked_point
from cdpengine._input.geometry import Point
from cdpengine._input.pointer import rest, scroll_at
from cdpengine._input.view import BoundingBox, bounding_box, check_color, highlighted, scroll_into_view
from cdpengine.errors import InvisibleError


class PageView(PageBase):
    """The part of a Page that scrolls and shows."""

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
        async with self._input(f"scroll by ({dx}, {dy}){over}", timeout) as (budget, effects):
            if target is None:
                delta = checked_point(dx, dy, what="dx, dy")
                at = self.mouse.position
                at = at if at != (0, 0) else Point(1, 1)
                dialog = await self.mouse.wheel_at(at, delta)
                outcome = ActionOutcome("scroll", "", at, dialog_opened=dialog)
                if not dialog:
                    await rest(self.session, self._worlds, self._target.frames.main.id)
            else:
                outcome = await scroll_at(
                    await self._aim(target, heal, budget, effects),
                    dx,
                    dy,
                    context=self._context(budget, effects.activity),
                )
            return await self._told(outcome, effects)

    async def scroll_into_view(
        self, target: ElementTarget, *, heal: bool = False, timeout: float = 30
    ) -> ActionOutcome:
        """Scroll, as little as needed, until the node is in the viewport and still; all scrollers around it too.

        The outcome's `point` is one of its points, for a node without a size its corner; it need not be seen.
        `heal` is as for `click`. Raises InvisibleError when it is not displayed or cannot be scrolled there,
        StaleRefError, NodeNotFoundError.
        """
        action = f"scroll {describe_target(target)} into view"
        async with self._input(action, timeout) as (budget, effects):
            node = await self._aim(target, heal, budget, effects)
            point = await scroll_into_view(
                node, worlds=self._worlds, budget=budget, interruptions=self._target
            )
            return await self._told(ActionOutcome("scroll into view", node.description, point), effects)

    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the upright rectangle around the node, in CSS pixels of the page's viewport; None if it has none.

        Nothing is scrolled: the box of what is further down lies below the viewport. Frames and transforms are
        counted in. Raises StaleRefError, NodeNotFoundError.
        """
        async with self._action(f"measure {describe_target(target)}", timeout):
            return await bounding_box(self._node(target), self._worlds)

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
            async with self._action(f"highlight {describe_target(target)}", timeout):
                node = self._node(target)
                if await bounding_box(node, self._worlds) is None:
                    raise InvisibleError(action="highlight", target=node.description, reason="it has no box")
                await stack.enter_async_context(highlighted(node, rgb, info=info))
            yield
