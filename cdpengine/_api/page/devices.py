"""The input devices of a page: keyboard, mouse and touch.

Rule: a device sends input without checking the target. `page.click` and the other actions check first and use the
same devices, so a key held down here is also down for them.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import Layout
from cdpengine._input.devices.mouse import MouseDevice, TouchDevice
from cdpengine._input.geometry import Point
from cdpengine._pickling import not_picklable


@not_picklable("what was typed")
@attrs.define(eq=False)
class Keyboard:
    """The keyboard of a page: `page.keyboard`. Keys go to the focused element.

    A modifier key held by `down` applies to all later input of the page: keys, typed text and mouse events. While
    Shift is down, "a" is the A key with Shift, which types "A".

    Methods return True if a dialog opened before Chrome answered.
    """

    _device: KeyboardDevice

    @property
    def modifiers(self) -> int:
        """The bitmask of the pressed modifier keys: Alt 1, Control 2, Meta 4, Shift 8."""
        return self._device.modifiers

    @property
    def layout(self) -> str:
        """The name of the layout: "us", "uk", "de" or "fr". The default is "us".

        The layout defines `code` and `keyCode` of the events, and which characters have keys. Setting an unknown
        layout raises InvalidArgumentError.
        """
        return self._device.layout

    @layout.setter
    def layout(self, name: str) -> None:
        self._device.layout = name

    async def down(self, key: str) -> bool:
        """Press a key and hold it. A second call for the same key counts as an auto-repeat.

        If cancelled while it waits for the reply, it releases the key. Raises InvalidArgumentError for an unknown
        key.
        """
        return await self._device.down(key)

    async def up(self, key: str) -> bool:
        """Release a key. Raises InvalidArgumentError for an unknown key."""
        return await self._device.up(key)

    async def press(self, chord: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Press and release a key or chord such as "Enter", "a", "Shift+ArrowLeft" or "ControlOrMeta+C".

        `delay` is the time between press and release, in seconds. `layout` applies to this press only. Raises
        InvalidArgumentError for an unknown key or layout, before anything is sent.
        """
        return await self._device.press(chord, delay, layout=layout)

    async def type(self, text: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Type `text`: one key press for each character of the layout.

        A line break presses Enter, a tab Tab. An accent on a dead key takes two presses. Other characters are
        inserted without key events, adjacent ones together. `delay` is the pause after each character, in seconds.
        `layout` applies to this call only. If a dialog opens, the rest of the text is not sent. After a
        cancellation, up to 128 more characters may appear. Raises InvalidArgumentError, before anything is sent.
        """
        return await self._device.type(text, delay, layout=layout)

    async def compose(self, text: str, *steps: str, delay: float = 0) -> bool:
        """Enter `text` as an input method does: compose it in `steps`, then commit it.

        For compose("你好", "n", "ni", "nih", "niha", "nihao") the page sees compositionstart; compositionupdate,
        beforeinput and input for each step; and compositionend. Without steps, the text grows by one character a
        step. `delay` is the pause after each step in seconds. If a dialog opens, the rest is not sent. A
        cancellation during a pause withdraws the composed text. Raises InvalidArgumentError.
        """
        return await self._device.compose(text, *steps, delay=delay)

    async def insert_text(self, text: str) -> bool:
        """Insert `text` as an input method does: beforeinput and input events, no key events."""
        return await self._device.insert_text(text)


@not_picklable("where it was")
@attrs.define(eq=False)
class Mouse:
    """The mouse of a page: `page.mouse`. Coordinates are CSS pixels of the viewport.

    Every event carries the modifier keys that `page.keyboard` holds down. Methods return True if a dialog opened
    before Chrome answered.
    """

    _device: MouseDevice

    @property
    def position(self) -> Point:
        """The position of the mouse, initially (0, 0)."""
        return self._device.position

    @property
    def buttons(self) -> int:
        """The bitmask of the pressed buttons: left 1, right 2, middle 4, back 8, forward 16."""
        return self._device.buttons

    async def move(self, x: float, y: float, *, steps: int = 1) -> bool:
        """Move to a point, in `steps` equal moves. Each move waits for Chrome's next frame, about 16 ms.

        Raises InvalidArgumentError, as do the other methods.
        """
        return await self._device.move(x, y, steps=steps)

    async def down(self, button: str = "left", *, count: int = 1) -> bool:
        """Press a button at the mouse position and hold it. `count` is the event's `detail`: 2 for a double click.

        If cancelled while it waits for the reply, it releases the button.
        """
        return await self._device.down(button, count=count)

    async def up(self, button: str = "left", *, count: int = 1, modifiers: Iterable[str] = ()) -> bool:
        """Release a button at the mouse position."""
        return await self._device.up(button, count=count, modifiers=modifiers)

    async def click(
        self,
        x: float,
        y: float,
        *,
        button: str = "left",
        count: int = 1,
        modifiers: Iterable[str] = (),
        delay: float = 0,
    ) -> bool:
        """Move to a point, and press and release a button there `count` times (2: a double click).

        `modifiers` are names such as "Shift"; the page's events carry them. `delay` is the time between each press
        and release, in seconds. Raises InvalidArgumentError, before anything is sent.
        """
        return await self._device.click(x, y, button=button, count=count, modifiers=modifiers, delay=delay)

    async def hover(self, x: float, y: float, *, modifiers: Iterable[str] = ()) -> bool:
        """Move to a point in one move, with modifier names such as "Shift" in the page's events.

        Does not wait for Chrome's next frame.
        """
        return await self._device.hover(x, y, modifiers=modifiers)

    async def wheel(self, dx: float, dy: float) -> bool:
        """Turn the wheel at the mouse position by CSS pixels; positive is right and down."""
        return await self._device.wheel(dx, dy)


@not_picklable("where it was")
@attrs.define(eq=False)
class Touch:
    """The touch screen of a page: `page.touch`. Coordinates are CSS pixels of the viewport."""

    _device: TouchDevice

    async def tap(self, x: float, y: float, *, modifiers: Iterable[str] = ()) -> bool:
        """Touch a point and lift the finger. Chrome derives a click from the tap, sometimes a moment later.

        Returns True if a dialog opened before Chrome answered. Raises InvalidArgumentError.
        """
        return await self._device.tap(x, y, modifiers=modifiers)
