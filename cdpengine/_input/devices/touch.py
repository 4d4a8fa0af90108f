"""Touch: a finger on the screen of one page.

Rule: the finger that went down comes up, also when the caller is cancelled: both are sent together.
"""

from __future__ import annotations

from collections.abc import Iterable

import trio

from cdpengine._input.devices.delivery import UNDISTURBED, Interruptions, wait_for_delivery
from cdpengine._input.devices.keyboard import Keyboard
from cdpengine._input.devices.keys import modifier_mask
from cdpengine._input.devices.mouse import add_mark, check_point
from cdpengine._input.geometry import NO_MARK, Point
from cdpengine._protocol.session import Session


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

        `mark`: see `add_mark` in mouse.py. True when a dialog opened before Chrome had answered. Raises
        InvalidArgumentError.
        """
        point = add_mark(check_point(x, y), mark)
        keyboard = self._keyboard
        mask = modifier_mask(modifiers, mac=keyboard.mac) if keyboard else modifier_mask(modifiers)
        mask |= keyboard.modifiers if keyboard else 0
        await trio.lowlevel.checkpoint_if_cancelled()
        finger = [{"x": point.x, "y": point.y}]
        gesture = [
            self.session.post("Input.dispatchTouchEvent", type=kind, touchPoints=points, modifiers=mask)
            for kind, points in (("touchStart", finger), ("touchEnd", []))
        ]
        return await wait_for_delivery(gesture, self._interruptions)
