"""Keyboard, Mouse and Touch: the devices of a page, as programs use them by themselves.

Rule: a device does what it is told, without a look at the page; what checks first are the page's own verbs. All
three are the devices that those verbs use: what is held down here is held down there.
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import Layout
from cdpengine._input.devices.mouse import MouseDevice, TouchDevice
from cdpengine._input.geometry import Point


@attrs.define(eq=False)
class Keyboard:
    """The keyboard of a page: `page.keyboard`. Keys go to whatever has the focus.

    Methods return True when a dialog opened before Chrome had answered.
    """

    _device: KeyboardDevice

    @property
    def modifiers(self) -> int:
        """The bitmask of the modifier keys that are down: Alt 1, Control 2, Meta 4, Shift 8."""
        return self._device.modifiers

    @property
    def layout(self) -> str:
        """The name of the layout: "us", "uk", "de" or "fr"; "us" until another one is chosen.

        Setting it raises InvalidArgumentError for another one. It is what pages see of the keys (`code`,
        `keyCode`) and which characters have keys at all.
        """
        return self._device.layout

    @layout.setter
    def layout(self, name: str) -> None:
        self._device.layout = name

    async def down(self, key: str) -> bool:
        """Press a key and hold it; again for a key that is down: auto-repeat.

        Cancelled while waiting for the reply, it releases the key. Raises InvalidArgumentError for an unknown key.
        """
        return await self._device.down(key)

    async def up(self, key: str) -> bool:
        """Release a key. Raises InvalidArgumentError for an unknown key."""
        return await self._device.up(key)

    async def press(self, chord: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Press and release a key or chord such as "Enter", "a", "Shift+ArrowLeft", "ControlOrMeta+C".

        `delay` is how long the key stays down, in seconds; `layout` is another layout for this press alone. Raises
        InvalidArgumentError for an unknown key or layout, before anything is sent.
        """
        return await self._device.press(chord, delay, layout=layout)

    async def type(self, text: str, delay: float = 0, *, layout: str | Layout | None = None) -> bool:
        """Type `text`: one press for each character that the layout has.

        A line break presses Enter, a tab Tab; an accent of the layout's dead keys takes two presses. Other
        characters are inserted, neighbours together. `delay` is the pause after each character, in seconds;
        `layout` is another layout for this text alone. When a dialog opens, the rest of the text is not sent.
        Cancelled, up to 64 characters may still come out. Raises InvalidArgumentError, before anything is sent.
        """
        return await self._device.type(text, delay, layout=layout)

    async def compose(self, text: str, *steps: str, delay: float = 0) -> bool:
        """Enter `text` as an input method does: composed in `steps`, then committed.

        compose("\u4f60\u597d", "n", "ni", "nih", "niha", "nihao"): the page sees compositionstart, for each step
        compositionupdate, beforeinput and input, and at the end compositionend. Without steps, the text grows by
        one character a step. `delay` is the pause after each step in seconds. When a dialog opens, the rest is not
        sent. Cancelled in a pause, what was composed is withdrawn. Raises InvalidArgumentError.
        """
        return await self._device.compose(text, *steps, delay=delay)

    async def insert_text(self, text: str) -> bool:
        """Insert `text` as an input method does: beforeinput and input events, no key events."""
        return await self._device.insert_text(text)


@attrs.define(eq=False)
class Mouse:
    """The mouse of a page: `page.mouse`. Coordinates are CSS pixels of the viewport.

    The modifier keys that `page.keyboard` holds down go with every event. Methods return True when a dialog opened
    before Chrome had answered.
    """

    _device: MouseDevice

    @property
    def position(self) -> Point:
        """Where it is; (0, 0) at first."""
        return self._device.position

    @property
    def buttons(self) -> int:
        """The bitmask of the buttons that are down: left 1, right 2, middle 4, back 8, forward 16."""
        return self._device.buttons

    async def move(self, x: float, y: float, *, steps: int = 1) -> bool:
        """Move to a point, in `steps` equal moves. Each waits for Chrome's next frame: some 16 ms.

        Raises InvalidArgumentError; so do the others.
        """
        return await self._device.move(x, y, steps=steps)

    async def down(self, button: str = "left", *, count: int = 1) -> bool:
        """Press a button where the mouse is, and hold it. `count` is the event's `detail`: 2 for a double click.

        Cancelled while waiting for the reply, it releases the button.
        """
        return await self._device.down(button, count=count)

    async def up(self, button: str = "left", *, count: int = 1, modifiers: Iterable[str] = ()) -> bool:
        """Release a button where the mouse is."""
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

        `modifiers` are names such as "Shift"; the page's events carry them. `delay` is how long the button stays
        down each time, in seconds. Raises InvalidArgumentError, before anything is sent.
        """
        return await self._device.click(x, y, button=button, count=count, modifiers=modifiers, delay=delay)

    async def hover(self, x: float, y: float, *, modifiers: Iterable[str] = ()) -> bool:
        """Move to a point in one go, with modifier names such as "Shift" in the page's events.

        Does not wait for Chrome's next frame.
        """
        return await self._device.hover(x, y, modifiers=modifiers)

    async def wheel(self, dx: float, dy: float) -> bool:
        """Turn the wheel where the mouse is, by CSS pixels: positive is right and down."""
        return await self._device.wheel(dx, dy)


@attrs.define(eq=False)
class Touch:
    """The touch screen of a page: `page.touch`. Coordinates are CSS pixels of the viewport."""

    _device: TouchDevice

    async def tap(self, x: float, y: float, *, modifiers: Iterable[str] = ()) -> bool:
        """Touch a point and lift the finger. Chrome makes the click out of it, a moment later at times.

        True when a dialog opened before Chrome had answered. Raises InvalidArgumentError.
        """
        return await self._device.tap(x, y, modifiers=modifiers)
