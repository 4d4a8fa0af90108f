"""Verbs of the mouse: click, hover, scroll, drag and highlight."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import attrs
import trio

from cdpengine.act.fields import field
from cdpengine.act.requests import (
    ActingRequest,
    ElementRequest,
)
from cdpengine.errors import (
    InvalidArgumentError,
)

if TYPE_CHECKING:
    from cdpengine.act.performing import Performance

Button = Literal["left", "right", "middle", "back", "forward"]

Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]


@attrs.frozen(kw_only=True)
class Position:
    """A point, from the top left corner of the element's border box."""

    x: float = field("CSS pixels to the right.")
    y: float = field("CSS pixels down.")


@attrs.frozen(kw_only=True)
class Click(ElementRequest):
    """Click an element, once it is ready."""

    kind: ClassVar[str] = "click"
    button: Button = field("The mouse button.", "left")
    double_click: bool = field("Click twice, as one double click.", False)
    modifiers: tuple[Modifier, ...] = field("Keys to hold down meanwhile.", (), most=5)
    position: Position | None = field("The point on the element; without, a visible one.", None)
    force: bool = field("Click without checking that the element is ready.", False)

    async def run(self, performance: Performance) -> None:
        position = self.position
        performance.report(
            await performance.page.click(
                await performance.find(self.ref, self.selector),
                button=self.button,
                count=2 if self.double_click else 1,
                modifiers=self.modifiers,
                position=None if position is None else (position.x, position.y),
                force=self.force,
                heal=self.heal,
                refuse_renamed=True,
                timeout=performance.left,
            )
        )


@attrs.frozen(kw_only=True)
class Hover(ElementRequest):
    """Move the mouse onto an element."""

    kind: ClassVar[str] = "hover"
    modifiers: tuple[Modifier, ...] = field("Keys to hold down meanwhile.", (), most=5)
    force: bool = field("Hover without checking that the element can be reached.", False)

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        performance.report(
            await performance.page.hover(
                target,
                modifiers=self.modifiers,
                force=self.force,
                heal=self.heal,
                refuse_renamed=True,
                timeout=performance.left,
            )
        )


@attrs.frozen(kw_only=True)
class ScrollIntoView(ElementRequest):
    """Scroll until an element is in the viewport."""

    kind: ClassVar[str] = "scrollIntoView"

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        performance.report(
            await performance.page.scroll_into_view(
                target, heal=self.heal, refuse_renamed=True, timeout=performance.left
            )
        )


@attrs.frozen(kw_only=True)
class Scroll(ElementRequest):
    """Turn the mouse wheel over an element, or at the mouse's position."""

    kind: ClassVar[str] = "scroll"
    needs_element: ClassVar[bool] = False
    dx: float = field("CSS pixels to the right.", 0)
    dy: float = field("CSS pixels down.", 0)
    direction: Literal["up", "down", "left", "right"] | None = field(
        "One viewport in this direction, of the page or the scrollable element, instead of dx and dy.", None
    )

    def check(self) -> None:
        """Raise InvalidArgumentError without a distance, or for two."""
        super().check()
        if self.direction is not None and (self.dx or self.dy):
            raise InvalidArgumentError("scroll", "a direction, and dx or dy", "one of them")
        if self.direction is None and not self.dx and not self.dy:
            raise InvalidArgumentError("scroll", "no distance", "a direction, or dx or dy")

    async def run(self, performance: Performance) -> None:
        target = await performance.find_if_given(self.ref, self.selector)
        dx, dy = self.dx, self.dy
        if self.direction is not None:
            from cdpengine._api.page.scrolling import one_viewport

            core = performance.page._core  # noqa: SLF001 - no part of what users have
            dx, dy = await one_viewport(
                core, self.direction, target, heal=self.heal, timeout=performance.left
            )
        performance.report(
            await performance.page.scroll(
                dx, dy, target, heal=self.heal, refuse_renamed=True, timeout=performance.left
            )
        )


@attrs.frozen(kw_only=True)
class Drag(ActingRequest):
    """Drag an element onto another one with the left button."""

    kind: ClassVar[str] = "drag"
    start_ref: str | None = field("The element to drag, by its ref.", None)
    end_ref: str | None = field("The element to drop it on, by its ref.", None)
    start_selector: str | None = field("The element to drag, by a CSS selector that matches one.", None)
    end_selector: str | None = field("The element to drop it on, by such a selector.", None)
    hold: float = field("Seconds to hold the button before the first move: for a long press.", 0)
    heal: bool = field(
        "If a ref is stale, use the element with the same role, name and place, if unambiguous.", False
    )

    def check(self) -> None:
        """Raise InvalidArgumentError unless each end is one element."""
        for end in ("start", "end"):
            given = [getattr(self, f"{end}_{by}") for by in ("ref", "selector")]
            if given.count(None) != 1:
                words = "no element" if given.count(None) else "a ref and a selector"
                raise InvalidArgumentError("drag", words, f"{end}Ref or {end}Selector")

    async def run(self, performance: Performance) -> None:
        performance.report(
            await performance.page.drag(
                await performance.find(self.start_ref, self.start_selector),
                await performance.find(self.end_ref, self.end_selector),
                hold=self.hold,
                heal=self.heal,
                refuse_renamed=True,
                timeout=performance.left,
            )
        )


@attrs.frozen(kw_only=True)
class Highlight(ElementRequest):
    """Highlight an element in the browser's window for a while. The page cannot notice."""

    kind: ClassVar[str] = "highlight"
    in_order: ClassVar[bool] = False
    duration_ms: int = field("Duration, in milliseconds.", 2_000, least=1, most=60_000)

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        async with performance.page.elements.highlight(target, timeout=performance.left):
            await trio.sleep(min(self.duration_ms / 1000, performance.left))
