"""Pointer gestures of mouse and finger: posted together to one session, and delivered completely.

Rule: a posted gesture always completes. Its messages are sent in order even if the caller is cancelled. A
cancelled caller still waits briefly for the responses, so that no button, key or finger stays down. A click
without a delay sends move, press and release together, then awaits them. A pressed button is released, even if
the caller is cancelled. A touch and its release are one gesture. The keyboard delivers keys in the same way
(`wait_for_delivery`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import attrs
import trio

from cdpengine._budget import undoing, undone_by
from cdpengine._checks import check_choice, check_count, check_number
from cdpengine._input.devices.keys import Key, modifier_mask
from cdpengine._input.geometry import NO_MARK, Point
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, RemoteError, SessionGoneError

_TO_NEW_TAB = 2 | 4 | 8
"""The bits of Control, Meta and Shift: with one of them, a link opens in a new tab or window."""


@attrs.define(eq=False)
class HeldKeys:
    """The keys that a page's keyboard holds down, by their codes. Their modifiers apply to all input.

    `mac`: whether the browser runs on macOS, where ControlOrMeta is Meta. `before_new_tab` is called before each
    input that opens a tab if it activates a link.
    """

    mac: bool = sys.platform == "darwin"
    down: dict[str, Key] = attrs.field(factory=dict)
    before_new_tab: Callable[[], None] = lambda: None

    @property
    def modifiers(self) -> int:
        """The bitmask of the modifier keys that are down: Alt 1, Control 2, Meta 4, Shift 8."""
        return sum({key.modifier for key in self.down.values()})

    def mask(self, names: Iterable[str]) -> int:
        """Return the bitmask of the modifier names and the held keys. Raises InvalidArgumentError."""
        return self.modifiers | (modifier_mask(names, mac=self.mac) if names != () else 0)

    def note_activation(self, modifiers: int, button: str = "left") -> None:
        """Note that the next input activates a link, if one is there."""
        if modifiers & _TO_NEW_TAB or button == "middle":
            self.before_new_tab()


_CANCELLED_TIMEOUT = 0.5
"""Maximum time for a cancelled gesture to finish, in seconds. Chrome normally responds to input within one
frame."""


class Interruptions(Protocol):
    """The dialog state of a page. An open dialog blocks the responses to input.

    `unconfirmed` is set to 1 after input, because the page may not have reported its effects yet.
    """

    unconfirmed: int

    @property
    def dialog_is_open(self) -> bool:
        """Whether a JavaScript dialog is open on the page."""

    async def dialog_opened(self) -> None:
        """Return when a JavaScript dialog is open on the page, immediately if one is open already."""

    def on_dialog(self, listener: Callable[[], None]) -> None:
        """Register `listener` to be called when a dialog opens."""

    def off_dialog(self, listener: Callable[[], None]) -> None:
        """Unregister `listener`."""

    @property
    def dialog_timeout(self) -> float:
        """Seconds to wait for blocked responses after a dialog opened."""


class _NoInterruptions:
    unconfirmed = 0
    dialog_is_open = False
    dialog_timeout = math.inf

    async def dialog_opened(self) -> None:
        await trio.sleep_forever()

    def on_dialog(self, listener: Callable[[], None]) -> None:
        pass

    def off_dialog(self, listener: Callable[[], None]) -> None:
        pass


NO_INTERRUPTIONS: Interruptions = _NoInterruptions()
"""For a page whose dialogs are not observed: input only waits for its responses."""


async def wait_for_delivery(
    pendings: Sequence[PendingCall], interruptions: Interruptions, left: int = 0
) -> bool:
    """Wait for the responses to `pendings`, except the last `left`. Return whether a dialog opened before them.

    Chrome responds to the event that opened a dialog only after the dialog is closed. `interruptions` defines
    how long to wait for these responses. Messages posted after that event are delivered afterwards, or Chrome
    drops them if they arrive while the dialog is open.

    If cancelled, it still waits up to 0.5 s for all responses. After all awaited calls have ended, it raises the
    error of the first failed call.
    """
    interruptions.unconfirmed = 1
    replies = trio.CancelScope()
    needed = pendings[: len(pendings) - left]
    dialog = False

    def opened() -> None:
        nonlocal dialog
        if not dialog and not all(pending.done for pending in pendings):
            dialog = True
            replies.deadline = trio.current_time() + interruptions.dialog_timeout

    interruptions.on_dialog(opened)
    try:
        if interruptions.dialog_is_open:
            opened()
        try:
            with replies:
                await _wait_for_all(needed)
        except trio.Cancelled:
            with trio.CancelScope(deadline=undone_by(_CANCELLED_TIMEOUT), shield=True):
                await _wait_for_all(pendings)
            raise
    finally:
        interruptions.off_dialog(opened)
        answered = [pending for pending in pendings if pending.done]
        lost = next((pending for pending in needed if not pending.done), None)
        if lost is not None:
            # Abandon only this one. Messages not yet written, perhaps a release, are still sent.
            lost.abandon()
    for pending in answered:
        pending.raw_nowait()
    return dialog


async def _wait_for_all(pendings: Sequence[PendingCall]) -> None:
    """Wait for all calls, the last one first: most others then have their responses, so the task wakes up once."""
    await trio.lowlevel.checkpoint_if_cancelled()
    for pending in reversed(pendings):
        if not pending.done:
            await pending.wait()


async def release(pendings: Sequence[PendingCall]) -> None:
    """Wait for releases while a cancelled action unwinds: shielded, at most 0.5 s. Ignores a lost page."""
    with undoing(_CANCELLED_TIMEOUT):
        for pending in pendings:
            try:
                await pending.raw()
            except (RemoteError, SessionGoneError, ConnectionLostError):
                return  # the page is gone, and its held keys and buttons with it


def check_delay(delay: float, what: str = "delay") -> None:
    """Raise InvalidArgumentError unless `delay` is a number of seconds, 0 or more."""
    check_number(what, delay, least=0, unit="seconds")


# The bits of `buttons` in Input.dispatchMouseEvent and in the page's MouseEvent.
BUTTONS = {"left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}


class MouseDevice:
    """The mouse of one page (or out-of-process frame). Coordinates are CSS pixels of the session's viewport.

    `interruptions` reports dialogs that block responses. All events carry the modifier keys of `held`.
    Methods return whether a dialog opened before Chrome responded.
    """

    def __init__(
        self,
        session: Session,
        interruptions: Interruptions = NO_INTERRUPTIONS,
        *,
        held: HeldKeys | None = None,
    ) -> None:
        self.session = session
        self.position = Point(0.0, 0.0)
        self._interruptions = interruptions
        self.held = held or HeldKeys()
        self._pressed: list[str] = []

    @property
    def buttons(self) -> int:
        """The bitmask of the buttons that are down: left 1, right 2, middle 4, back 8, forward 16."""
        return sum(BUTTONS[button] for button in self._pressed)

    def on(self, session: Session) -> MouseDevice:
        """Return the mouse for input on another session, or this one if the session is the same."""
        if session.id == self.session.id:
            return self
        return MouseDevice(session, self._interruptions, held=self.held)

    async def move(self, x: float, y: float, *, steps: int = 1) -> bool:
        """Move to a point in `steps` equal moves. Each waits for Chrome's next frame, about 16 ms."""
        target = check_point(x, y)
        check_count("steps", steps, least=1, unit="moves")
        start = self.position
        for step in range(1, steps + 1):
            share = step / steps
            await trio.lowlevel.checkpoint_if_cancelled()
            at = target if step == steps else _between(start, target, share)
            if await wait_for_delivery([self._post_move(at, self.held.mask(()))], self._interruptions):
                return True
        return False

    async def down(self, button: str = "left", *, count: int = 1) -> bool:
        """Press and hold a button at the mouse's position. `count` is the event's `detail`: 2 for a double click.

        If cancelled while waiting for the response, it releases the button.
        """
        _check_clicks(button, count)
        await trio.lowlevel.checkpoint_if_cancelled()
        pending = self._post_down(button, count, self.held.mask(()))
        try:
            return await wait_for_delivery([pending], self._interruptions)
        except BaseException:
            await self._release(button, count, ())
            raise

    async def up(
        self,
        button: str = "left",
        *,
        count: int = 1,
        modifiers: Iterable[str] = (),
        mark: Point = NO_MARK,
    ) -> bool:
        """Release a button at the mouse's position."""
        _check_clicks(button, count)
        await trio.lowlevel.checkpoint_if_cancelled()
        return await wait_for_delivery(
            [self._post_up(button, count, self.held.mask(modifiers), mark)], self._interruptions
        )

    async def click(
        self,
        x: float,
        y: float,
        *,
        button: str = "left",
        count: int = 1,
        modifiers: Iterable[str] = (),
        delay: float = 0,
        interruptions: Interruptions | None = None,
        mark: Point = NO_MARK,
    ) -> bool:
        """Move to a point, and press and release a button there `count` times (2: a double click).

        `modifiers` are names such as "Shift", carried by the page's events. `delay` is the time between press and
        release, in seconds. `mark`: see `add_mark`. Raises InvalidArgumentError for invalid arguments, before
        anything is sent.
        """
        self.check_click(button=button, count=count, modifiers=modifiers)
        check_delay(delay)
        point = check_point(x, y)
        modifier_names = tuple([modifiers] if isinstance(modifiers, str) else modifiers)
        watch = interruptions or self._interruptions
        await trio.lowlevel.checkpoint_if_cancelled()
        if not delay:
            return await wait_for_delivery(
                self._post_click(point, button, count, modifier_names, mark), watch
            )
        mask = self.held.mask(modifier_names)
        gesture = [self._post_move(point, mask, mark)]
        for number in range(1, count + 1):
            gesture.append(self._post_down(button, number, mask, mark))
            try:
                if await wait_for_delivery(gesture, watch):
                    self._post_up(button, number, mask, mark)
                    return True
                await trio.sleep(delay)
            except BaseException:
                await self._release(button, number, modifier_names)
                raise
            gesture = [self._post_up(button, number, mask, mark)]
        return await wait_for_delivery(gesture, watch)

    async def hover(
        self,
        x: float,
        y: float,
        *,
        modifiers: Iterable[str] = (),
        interruptions: Interruptions | None = None,
        wait_for_frame: bool = False,
        mark: Point = NO_MARK,
    ) -> bool:
        """Move to a point in one step, with modifier names such as "Shift" in the page's events.

        Waits for Chrome's next frame only with `wait_for_frame`.
        """
        point, mask = check_point(x, y), self.held.mask(modifiers)
        await trio.lowlevel.checkpoint_if_cancelled()
        gesture = [self._post_move(point, mask, mark)]
        if not wait_for_frame:
            gesture.append(self._post_flush())
        return await wait_for_delivery(gesture, interruptions or self._interruptions)

    async def press_at(self, point: Point, modifiers: Iterable[str] = (), mark: Point = NO_MARK) -> bool:
        """Move to a point and press the left button there. Releases the button if cancelled."""
        mask = self.held.mask(modifiers)
        await trio.lowlevel.checkpoint_if_cancelled()
        gesture = [self._post_move(point, mask, mark), self._post_down("left", 1, mask, mark)]
        try:
            return await wait_for_delivery(gesture, self._interruptions)
        except BaseException:
            await self._release("left", 1, ())
            raise

    def post_release(self, button: str) -> list[PendingCall]:
        """Post the release of a button if it is down, for cleanup."""
        return [self._post_up(button, 1, self.held.mask(()))] if button in self._pressed else []

    def take_over(self, other: MouseDevice, position: Point) -> None:
        """Take over the pressed buttons of another mouse, when the pointer enters another process."""
        self._pressed, other._pressed = other._pressed, []
        self.position = position

    def note_drop(self) -> None:
        """Note that a drop ended the drag. The drop replaces the button's release."""
        self._pressed.clear()

    async def wheel(self, dx: float, dy: float) -> bool:
        """Turn the wheel at the mouse's position, by CSS pixels. Positive values scroll right and down."""
        return await self.wheel_at(self.position, check_point(dx, dy, what="wheel"))

    async def wheel_at(self, point: Point, delta: Point) -> bool:
        """Move the mouse to a point and turn the wheel there."""
        await trio.lowlevel.checkpoint_if_cancelled()
        self.position = point
        pending = self.session.post(
            "Input.dispatchMouseEvent",
            type="mouseWheel",
            x=point.x,
            y=point.y,
            deltaX=delta.x,
            deltaY=delta.y,
            modifiers=self.held.mask(()),
            buttons=self.buttons,
        )
        return await wait_for_delivery([pending], self._interruptions)

    def check_click(self, *, button: str, count: int, modifiers: Iterable[str]) -> None:
        """Raise InvalidArgumentError for an unknown button or modifier, or an invalid count. Sends nothing."""
        _check_clicks(button, count)
        self.held.mask(modifiers)

    # --- posting: immediately, in order, without waiting -----------------------------------------------------

    def _post_click(
        self, point: Point, button: str, count: int, modifiers: Iterable[str], mark: Point
    ) -> list[PendingCall]:
        mask = self.held.mask(modifiers)
        gesture = [self._post_move(point, mask, mark)]
        for number in range(1, count + 1):
            gesture.append(self._post_down(button, number, mask, mark))
            gesture.append(self._post_up(button, number, mask, mark))
        return gesture

    def _post_move(self, point: Point, modifiers: int, mark: Point = NO_MARK) -> PendingCall:
        self.position = point
        # Chrome drops a drag whose move events carry no button.
        button = self._pressed[0] if self._pressed else "none"
        return self._post("mouseMoved", button, 0, modifiers, mark)

    def _post_flush(self) -> PendingCall:
        # Chrome delays moves until its next frame unless other input follows. A "char" event of a system key is
        # input that no page receives (measured: no event, whatever has the focus).
        return self.session.post("Input.dispatchKeyEvent", type="char", isSystemKey=True)

    def _post_down(self, button: str, count: int, modifiers: int, mark: Point = NO_MARK) -> PendingCall:
        if button not in self._pressed:
            self._pressed.append(button)
        return self._post("mousePressed", button, count, modifiers, mark)

    def _post_up(self, button: str, count: int, modifiers: int, mark: Point = NO_MARK) -> PendingCall:
        if button in self._pressed:
            self._pressed.remove(button)
        self.held.note_activation(modifiers, button)
        return self._post("mouseReleased", button, count, modifiers, mark)

    def _post(self, kind: str, button: str, count: int, modifiers: int, mark: Point) -> PendingCall:
        at = add_mark(self.position, mark)
        return self.session.post(
            "Input.dispatchMouseEvent",
            type=kind,
            x=at.x,
            y=at.y,
            button=button,
            buttons=self.buttons,
            clickCount=count,
            modifiers=modifiers,
        )

    async def _release(self, button: str, count: int, modifiers: Iterable[str]) -> None:
        if button not in self._pressed:
            return
        try:
            await release([self._post_up(button, count, self.held.mask(modifiers))])
        except (SessionGoneError, ConnectionLostError):
            self._pressed.clear()  # the page is gone, so no button is down


def _check_clicks(button: str, count: int) -> None:
    check_choice("button", button, BUTTONS)
    check_count("count", count, least=1, most=3, unit="clicks")


def add_mark(point: Point, mark: Point) -> Point:
    """Return the point with the fractions of a pixel that mark an action's input (see InputObserver).

    Chrome determines the target of a mouse event from whole pixels, so the mark does not change the target.
    """
    return point if mark == NO_MARK else Point(math.floor(point.x) + mark.x, math.floor(point.y) + mark.y)


def check_point(x: float, y: float, what: str = "point") -> Point:
    """Return the point. Raises InvalidArgumentError unless both coordinates are finite numbers."""
    return Point(*(check_number(what, value, unit="a number of CSS pixels") for value in (x, y)))


def _between(start: Point, end: Point, share: float) -> Point:
    return Point(start.x + share * (end.x - start.x), start.y + share * (end.y - start.y))


class TouchDevice:
    """The touch screen of one page. Coordinates are CSS pixels of the session's viewport."""

    def __init__(
        self,
        session: Session,
        interruptions: Interruptions = NO_INTERRUPTIONS,
        *,
        held: HeldKeys | None = None,
    ) -> None:
        self.session = session
        self._interruptions = interruptions
        self.held = held or HeldKeys()

    def on(self, session: Session) -> TouchDevice:
        """Return the touch screen for input on another session."""
        if session.id == self.session.id:
            return self
        return TouchDevice(session, self._interruptions, held=self.held)

    async def tap(self, x: float, y: float, *, modifiers: Iterable[str] = (), mark: Point = NO_MARK) -> bool:
        """Touch a point and lift the finger. Chrome generates the click from it, sometimes later.

        `mark`: see `add_mark`. Returns whether a dialog opened before Chrome responded. Raises
        InvalidArgumentError.
        """
        point = add_mark(check_point(x, y), mark)
        mask = self.held.mask(modifiers)
        await trio.lowlevel.checkpoint_if_cancelled()
        self.held.note_activation(mask)
        finger = [{"x": point.x, "y": point.y}]
        gesture = [
            self.session.post("Input.dispatchTouchEvent", type=kind, touchPoints=points, modifiers=mask)
            for kind, points in (("touchStart", finger), ("touchEnd", []))
        ]
        return await wait_for_delivery(gesture, self._interruptions)
