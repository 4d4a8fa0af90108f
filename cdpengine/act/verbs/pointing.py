"""Verbs of the mouse: click, hover, scroll, drag and highlight."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import attrs
import trio

from cdpengine.act.fields import field
from cdpengine.act.notations import MAYBE_TARGET, TARGET, CommandForm, Place, ToolForm
from cdpengine.act.requests import ActingRequest, ElementRequest
from cdpengine.errors import InvalidArgumentError

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

    kind = "click"
    tool = ToolForm(
        meaning="Click an element.", fields=("ref", "doubleClick", "button", "modifiers"), acts=True
    )
    commands = (CommandForm(meaning="Click an element.", places=(TARGET,), example="click e3"),)

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

    kind = "hover"
    tool = ToolForm(fields=("ref",), acts=True)
    commands = (CommandForm(places=(TARGET,)),)

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

    kind = "scrollIntoView"
    tool = ToolForm(meaning="Scroll to an element.", fields=("ref",), capability="more", acts=True)
    commands = (CommandForm(places=(TARGET,)),)

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

    kind = "scroll"
    needs_element = False
    tool = ToolForm(meaning="Scroll the page, or an element.", fields=("ref", "direction"), acts=True)
    commands = (
        CommandForm(
            meaning=(
                "Turn the mouse wheel: one viewport of the page or scrollable area there, or by --dx and --dy."
            ),
            places=(Place("DIRECTION", "direction", needed=False), MAYBE_TARGET),
            example="scroll down",
        ),
    )

    dx: float = field("CSS pixels to the right.", 0)
    dy: float = field("CSS pixels down.", 0)
    direction: Literal["up", "down", "left", "right"] | None = field(
        "One viewport in this direction, of the page or the scrollable element, instead of dx and dy.", None
    )

    def check(self) -> None:
        """Raise InvalidArgumentError without a distance, or for two distances."""
        super().check()
        if self.direction is not None and (self.dx or self.dy):
            raise InvalidArgumentError("scroll", "a direction, and dx or dy", "one of them")
        if self.direction is None and not self.dx and not self.dy:
            raise InvalidArgumentError("scroll", "no distance", "a direction, or dx or dy")

    async def run(self, performance: Performance) -> None:
        target = await performance.find_optional(self.ref, self.selector)
        dx, dy = self.dx, self.dy
        if self.direction is not None:
            from cdpengine._api.page.scrolling import one_viewport

            core = performance.page.internals
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

    kind = "drag"
    tool = ToolForm(meaning="Drag an element onto another one.", acts=True)
    commands = (
        CommandForm(
            meaning="Drag an element onto another one.",
            places=(Place("FROM", "start_ref"), Place("TO", "end_ref")),
            example="drag e3 e8",
        ),
    )

    start_ref: str | None = field("The element to drag, by its ref.", None)
    end_ref: str | None = field("The element to drop it on, by its ref.", None)
    start_selector: str | None = field(
        "The element to drag, by CSS, or a criterion such as text=Save. One must match.", None
    )
    end_selector: str | None = field("The element to drop it on, by such a selector.", None)
    hold: float = field("Seconds to hold the button before the first move: for a long press.", 0)
    heal: bool = field(
        "If a ref is stale, use the element with the same role, name and place, if unambiguous.", False
    )

    def check(self) -> None:
        """Raise InvalidArgumentError unless each end names one element."""
        for end in ("start", "end"):
            ways = [getattr(self, f"{end}_{by}") for by in ("ref", "selector")]
            if ways.count(None) != 1:
                words = "no element" if ways.count(None) else "a ref and a selector"
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

    kind = "highlight"
    in_order = False
    tool = ToolForm(
        meaning="Highlight an element for a person at the screen.", fields=("ref",), capability="more"
    )
    commands = (
        CommandForm(meaning="Highlight an element in the browser's window for a while.", places=(TARGET,)),
    )

    duration_ms: int = field("Duration, in milliseconds.", 2_000, least=1, most=60_000)

    async def run(self, performance: Performance) -> None:
        target = await performance.find(self.ref, self.selector)
        async with performance.page.elements.highlight(target, timeout=performance.left):
            await trio.sleep(min(self.duration_ms / 1000, performance.left))
