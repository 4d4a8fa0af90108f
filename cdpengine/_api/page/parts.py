"""The small parts of a page: its keyboard, mouse and touch, its dialogs, single elements of it, its window.

Rule: a device does what it is told, without a look at the page; what checks first are the page's own verbs, which
use the same devices: what is held down here is held down there.

Nothing here changes the document. What is drawn over the page is taken away again. Chrome changes bounds only of a
window in its normal state, and one state into another only by way of it; what is returned is what the window says
of itself afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager

import attrs

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._budget import within
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import Layout
from cdpengine._input.devices.mouse import MouseDevice, TouchDevice
from cdpengine._input.forms.text_entry import blur
from cdpengine._input.geometry import Point
from cdpengine._input.view import BoundingBox, bounding_box, check_color, highlight_node
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.finding import Locator
from cdpengine._page.running_actions import announced
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import span as action_span
from cdpengine._protocol.domains.browser import WindowForTargetReply, WindowState
from cdpengine._protocol.domains.dom import OuterHTMLReply
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, InvisibleError


@not_picklable("what was typed")
@attrs.define(eq=False)
class Keyboard:
    """The keyboard of a page: `page.keyboard`. Keys go to whatever has the focus.

    A modifier key that is held by `down` counts in all later input of the page: keys, text that is typed by keys,
    and the mouse. While Shift is down, "a" is the A key with Shift, which types "A".

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


@not_picklable("where it was")
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


@not_picklable("where it was")
@attrs.define(eq=False)
class Touch:
    """The touch screen of a page: `page.touch`. Coordinates are CSS pixels of the viewport."""

    _device: TouchDevice

    async def tap(self, x: float, y: float, *, modifiers: Iterable[str] = ()) -> bool:
        """Touch a point and lift the finger. Chrome makes the click out of it, a moment later at times.

        True when a dialog opened before Chrome had answered. Raises InvalidArgumentError.
        """
        return await self._device.tap(x, y, modifiers=modifiers)


@not_picklable("a list of the dialogs in it")
@attrs.frozen(eq=False)
class Dialogs:
    """The JavaScript dialogs of a page: `page.dialogs`. They never wait for a human."""

    _core: PageCore

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs that opened, oldest first, and how they were answered."""
        return self._core.target.dialogs.records

    def set_policy(self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None) -> None:
        """Say how the page's dialogs are answered from now on, those of its frames and later popups included.

        "default": alerts and questions before leaving are accepted, confirm and prompt dismissed. "accept"
        (`prompt_text` goes into prompts; without it, what stands there), "dismiss". "raise" dismisses too, and the
        action or evaluate during which the dialog opened raises DialogOpenedError at its end. Dismissing a
        question before leaving keeps the page where it is: the navigation raises NavigationFailedError.

        A function, sync or async, is given the Dialog and returns a DialogAnswer, a bool, the text of a prompt, or
        None for the default answer. It runs as a task of the engine; it gets 5 s, and cannot ask the page anything
        meanwhile: the page stands still. If it fails, the default answer is given, `Dialog.failure` says why, and
        the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.use()
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))


@not_picklable("what was read of the elements")
@attrs.frozen(eq=False)
class PageElements:
    """What there is to say of single elements of a page, and to see of them: `page.elements`."""

    _core: PageCore

    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the upright rectangle around the node, in CSS pixels of the page's viewport; None if it has none.

        Nothing is scrolled: the box of what is further down lies below the viewport. Frames and transforms are
        counted in. Raises StaleRefError, NodeNotFoundError.
        """
        async with self._core.action(f"measure {describe_target(target)}", timeout) as budget:
            return await bounding_box(await self._core.find_node(target, budget), self._core.worlds)

    async def outer_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the element's HTML as it is now, its own tag included.

        Raises NodeNotFoundError and StaleRefError.
        """
        async with self._core.action(f"outer HTML of {describe_target(target)}", timeout) as budget:
            if isinstance(target, Locator):
                target = await target._find_now(budget.deadline)
            node = self._core.node(target)
            reply = await node.session.request(
                "DOM.getOuterHTML", {"backendNodeId": node.backend_node_id}, OuterHTMLReply
            )
            self._core.node(target)  # whether it still is the document that it was asked of
            return reply.outer_html

    @announced("blur")
    async def blur(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Take the keyboard focus away from the node: the page sees change, if it was edited, and blur.

        Raises StaleRefError, and NotInteractableError for a node that takes the focus again.
        """
        return await self._core.act(f"blur {describe_target(target)}", blur, target, heal, timeout)

    @asynccontextmanager
    async def highlight(
        self, target: ElementTarget, *, color: str = "#6fa8dc", info: bool = True, timeout: float = 30
    ) -> AsyncIterator[None]:
        """Mark the node while the block runs: `async with page.elements.highlight("e3"):`.

        Chrome's overlay draws it: the page itself is not changed and cannot notice. Screenshots of the viewport
        show it, those of a target or of the full page do not. `info` adds a label with name and size. `timeout` is
        for the beginning; the block may take as long as it wants. Raises InvalidArgumentError for a colour that is
        not "#rrggbb", InvisibleError for a node without a box, StaleRefError, NodeNotFoundError.
        """
        rgb = check_color(color)
        async with AsyncExitStack() as stack:
            async with self._core.action(f"highlight {describe_target(target)}", timeout) as budget:
                node = await self._core.find_node(target, budget)
                if await bounding_box(node, self._core.worlds) is None:
                    raise InvisibleError(action="highlight", target=node.description, reason="it has no box")
                await stack.enter_async_context(highlight_node(node, rgb, info=info))
            yield


@not_picklable("its bounds")
@attrs.frozen(eq=False)
class PageWindow:
    """The window that a page is in: `page.window`."""

    _core: PageCore

    async def bounds(self, *, timeout: float = 30) -> WindowBounds:
        """Return place, outer size (device-independent pixels) and state of the page's window.

        Works on a page that is stuck. Raises RemoteError where the browser has no windows, SessionGoneError.
        """
        with action_span("page.window.bounds"), within("read the window's bounds", timeout):
            await self._core.target.running.started()
            return await window_bounds(self._core.state.session, self._core.target.target_id)

    async def set_bounds(
        self,
        *,
        left: int | None = None,
        top: int | None = None,
        width: int | None = None,
        height: int | None = None,
        state: WindowState | None = None,
        timeout: float = 30,
    ) -> WindowBounds:
        """Move, resize, minimize, maximize the page's window, and return what it is then.

        What is not given stays. All tabs of the window change with it. A place or a size puts the window into
        its normal state first. The window system may allow less than was asked for: look at what is returned.
        Raises InvalidArgumentError for a size together with another state, RemoteError, SessionGoneError.
        """
        numbers = checked_bounds(left, top, width, height, state)
        with action_span("page.window.set_bounds"), within("set the window's bounds", timeout):
            await self._core.target.running.started()
            return await set_window_bounds(
                self._core.state.session, self._core.target.target_id, numbers, state
            )


_STATES: tuple[WindowState, ...] = ("normal", "minimized", "maximized", "fullscreen")


@attrs.frozen
class WindowBounds:
    """A window's place on the screen and its outer size, in device-independent pixels; and its state.

    `window_id` is Chrome's: pages with the same one are tabs of one window.
    """

    left: int
    top: int
    width: int
    height: int
    state: WindowState
    window_id: int


def checked_bounds(
    left: int | None, top: int | None, width: int | None, height: int | None, state: WindowState | None
) -> dict[str, int]:
    """Return the numbers that are to be changed. Raises InvalidArgumentError for what cannot be had together."""
    numbers = {"left": left, "top": top, "width": width, "height": height}
    for name, number in numbers.items():
        smallest = 1 if name in ("width", "height") else -(2**31)
        if number is not None and (
            isinstance(number, bool) or not isinstance(number, int) or not smallest <= number < 2**31
        ):
            raise InvalidArgumentError(what=name, given=repr(number), expected="a whole number of pixels")
    if state is not None and state not in _STATES:
        raise InvalidArgumentError(
            what="state", given=repr(state), expected=", ".join(repr(each) for each in _STATES)
        )
    wanted = {name: number for name, number in numbers.items() if number is not None}
    if wanted and state not in (None, "normal"):
        raise InvalidArgumentError(
            what="state", given=repr(state), expected='"normal" or none, together with a place or a size'
        )
    if not wanted and state is None:
        raise InvalidArgumentError(what="bounds", given="nothing", expected="a place, a size or a state")
    return wanted


async def window_bounds(root: Session, target_id: str) -> WindowBounds:
    """Return the bounds of the page's window. Raises RemoteError where the browser has no windows."""
    window = await root.request("Browser.getWindowForTarget", {"targetId": target_id}, WindowForTargetReply)
    bounds = window.bounds
    return WindowBounds(
        bounds.left, bounds.top, bounds.width, bounds.height, bounds.window_state, window.window_id
    )


async def set_window_bounds(
    root: Session, target_id: str, numbers: dict[str, int], state: WindowState | None
) -> WindowBounds:
    """Change the page's window, and return what it is then."""
    now = await window_bounds(root, target_id)
    changes: list[dict[str, object]] = []
    if now.state != "normal" and (numbers or state not in (None, now.state)):
        changes.append({"windowState": "normal"})
    if numbers:
        changes.append(dict(numbers))
    elif state is not None and state not in ("normal", now.state):
        changes.append({"windowState": state})
    for bounds in changes:
        await root.call("Browser.setWindowBounds", windowId=now.window_id, bounds=bounds)
    return await window_bounds(root, target_id)
