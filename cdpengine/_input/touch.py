"""Touch: a finger on the screen of one page, and the tap of a node.

Rule: the finger that went down comes up, also when the one who waits is cancelled: both are sent together.
"""

from __future__ import annotations

from collections.abc import Iterable

import trio

from cdpengine._budget import Budget
from cdpengine._input.delivery import UNDISTURBED, Interruptions, delivered
from cdpengine._input.geometry import NO_MARK, Point
from cdpengine._input.input_observer import TOUCH_EVENTS, DepartureWatch, InputObserver
from cdpengine._input.keyboard import Keyboard
from cdpengine._input.keys import modifier_mask
from cdpengine._input.look import NO_REQUIREMENTS
from cdpengine._input.mouse import checked_point, marked
from cdpengine._input.outcome import ActionOutcome
from cdpengine._input.pointer import TO_CLICK, perform
from cdpengine._page.node import Node
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.session import Session

_CLICK_PATIENCE = 0.4
"""Seconds in which the click of a tap comes: where a page can be zoomed by a double tap, Chrome waits 0.3 s for a
second one. A page that prevents the touch's default has none."""


class Touch:
    """The touch screen of one page. Coordinates are CSS pixels of the session's viewport."""

    def __init__(
        self,
        session: Session,
        interruptions: Interruptions = UNDISTURBED,
        *,
        keyboard: Keyboard | None = None,
    ) -> None:
        self.session = session
        self._interruptions = interruptions
        self._keyboard = keyboard

    def on(self, session: Session) -> Touch:
        """Return the touch screen for input that is dispatched on another session."""
        if session.id == self.session.id:
            return self
        return Touch(session, self._interruptions, keyboard=self._keyboard)

    async def tap(self, x: float, y: float, *, modifiers: Iterable[str] = (), mark: Point = NO_MARK) -> bool:
        """Touch a point and lift the finger. Chrome makes the click out of it, a moment later at times.

        `mark`: see `marked` in mouse.py. True when a dialog opened before Chrome had answered. Raises
        InvalidArgumentError.
        """
        point = marked(checked_point(x, y), mark)
        keyboard = self._keyboard
        mask = modifier_mask(modifiers, mac=keyboard.mac) if keyboard else modifier_mask(modifiers)
        mask |= keyboard.modifiers if keyboard else 0
        await trio.lowlevel.checkpoint_if_cancelled()
        finger = [{"x": point.x, "y": point.y}]
        gesture = [
            self.session.post("Input.dispatchTouchEvent", type=kind, touchPoints=points, modifiers=mask)
            for kind, points in (("touchStart", finger), ("touchEnd", []))
        ]
        return await delivered(gesture, self._interruptions)


async def tap(
    node: Node,
    *,
    touch: Touch,
    worlds: IsolatedWorlds,
    budget: Budget,
    interruptions: Interruptions,
    departure: DepartureWatch | None = None,
    modifiers: Iterable[str] = (),
    position: tuple[float, float] | None = None,
    force: bool = False,
) -> ActionOutcome:
    """Tap the node as a finger does, checked and verified as a click is. Raises as `click` does.

    Waits for the click that Chrome makes out of it, up to 0.4 s. A page that prevents it has received the tap all
    the same.
    """
    modifiers = (modifiers,) if isinstance(modifiers, str) else tuple(modifiers)
    modifier_mask(modifiers)
    device = touch.on(node.session)
    witness = InputObserver(TOUCH_EVENTS, "click", enough="touchend", marked=True)

    async def gesture(point: Point) -> bool:
        dialog = await device.tap(point.x, point.y, modifiers=modifiers, mark=witness.mark)
        if not dialog:
            await witness.linger(_CLICK_PATIENCE)
        return dialog

    return await perform(
        node,
        "tap",
        gesture,
        witness,
        NO_REQUIREMENTS if force else TO_CLICK,
        worlds=worlds,
        budget=budget,
        interruptions=interruptions,
        departure=departure,
        position=position,
    )
