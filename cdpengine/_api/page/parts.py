"""The small parts of a page: keyboard, mouse, touch, dialogs, elements and window.

Rule: a device sends input without checking the target. `page.click` and the other actions check first and use the
same devices, so a key held down here is also down for them.

Nothing here changes the document. Overlays are removed again. Chrome changes the bounds of a window only in its
normal state, and changes between two other states only through the normal state. The returned bounds are read from
the window afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from operator import attrgetter

import attrs

from cdpengine._api.page.core import ElementTarget, PageCore, describe_target
from cdpengine._budget import within
from cdpengine._checks import check_choice, check_count, invalid
from cdpengine._input.action import ActionOutcome
from cdpengine._input.devices.keyboard import KeyboardDevice
from cdpengine._input.devices.keys import Layout
from cdpengine._input.devices.mouse import MouseDevice, TouchDevice
from cdpengine._input.forms.text_entry import blur
from cdpengine._input.geometry import Point
from cdpengine._input.view import BoundingBox, bounding_box, check_color, highlight_node
from cdpengine._page.dialogs import Dialog, DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.running_actions import announced
from cdpengine._page.search.locator import Locator, find_match
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import WindowForTargetReply, WindowState
from cdpengine._protocol.domains.dom import OuterHTMLReply
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine.errors import InvalidArgumentError, InvisibleError


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
        cancellation, up to 64 more characters may appear. Raises InvalidArgumentError, before anything is sent.
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


@not_picklable("a list of the dialogs in it")
@attrs.frozen(eq=False)
class Dialogs:
    """The JavaScript dialogs of a page: `page.dialogs`. They never wait for a person."""

    _core: PageCore

    @property
    def records(self) -> list[Dialog]:
        """The latest dialogs, oldest first, and their answers."""
        return self._core.target.dialogs.records

    def set_policy(self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None) -> None:
        """Set the answers to later dialogs of the page, its frames and its later popups.

        "default" accepts alerts and beforeunload dialogs, and dismisses confirm and prompt. "accept" accepts all,
        with `prompt_text` as the answer to prompts (the default is the prompt's default text). "dismiss" dismisses
        all. "raise" dismisses too, and the action or evaluation during which the dialog opened raises
        DialogOpenedError at its end. If a beforeunload dialog is dismissed, the page stays, and the navigation
        raises NavigationFailedError.

        A function, sync or async, receives the Dialog. It returns a DialogAnswer, a bool, a string for a prompt,
        or None for the default answer. It runs as a task of the engine, for at most 5 s. It cannot query the page,
        because the open dialog blocks the page. If it fails, the default answer is used, `Dialog.failure` contains
        the reason, and the error is logged. Raises InvalidArgumentError.
        """
        self._core.target.use()
        self._core.target.dialogs.set_policy(DialogPolicy.checked(policy, prompt_text))


@not_picklable("data that you read from the elements")
@attrs.frozen(eq=False)
class PageElements:
    """Less common operations on single elements: `page.elements`."""

    _core: PageCore

    async def bounding_box(self, target: ElementTarget, *, timeout: float = 30) -> BoundingBox | None:
        """Return the bounding rectangle of the node in CSS pixels of the page's viewport, or None if it has none.

        Nothing is scrolled: the box of an element further down is below the viewport. Takes frames and transforms
        into account. Raises StaleRefError, NodeNotFoundError.
        """
        async with self._core.action(f"measure {describe_target(target)}", timeout) as budget:
            return await bounding_box(await self._core.find_node(target, budget), self._core.worlds)

    async def outer_html(self, target: ElementTarget, *, timeout: float = 30) -> str:
        """Return the element's current HTML, including its own tag.

        Raises NodeNotFoundError and StaleRefError.
        """
        async with self._core.action(f"outer HTML of {describe_target(target)}", timeout) as budget:
            if isinstance(target, Locator):
                target = await find_match(target, budget.deadline)
            node = self._core.node(target)
            reply = await node.session.request(
                "DOM.getOuterHTML", {"backendNodeId": node.backend_node_id}, OuterHTMLReply
            )
            self._core.node(target)  # raises if the document was replaced meanwhile
            return reply.outer_html

    @announced("blur", attrgetter("_core.target.running"))
    async def blur(self, target: ElementTarget, *, heal: bool = False, timeout: float = 30) -> ActionOutcome:
        """Remove the keyboard focus from the node. The page sees blur, preceded by change if the node was edited.

        Raises StaleRefError, and NotInteractableError for a node that takes the focus again.
        """
        return await self._core.act(f"blur {describe_target(target)}", blur, target, heal, timeout)

    @asynccontextmanager
    async def highlight(
        self, target: ElementTarget, *, color: str = "#6fa8dc", info: bool = True, timeout: float = 30
    ) -> AsyncIterator[None]:
        """Highlight the node during the block: `async with page.elements.highlight("e3"):`.

        Chrome's overlay draws it, so the page is unchanged and cannot detect it. Screenshots of the viewport
        include it; screenshots of a target or of the full page do not. `info` adds a label with name and size.
        `timeout` applies only to the beginning of the block. Raises InvalidArgumentError for a colour that is not
        "#rrggbb", InvisibleError for a node without a box, StaleRefError, NodeNotFoundError.
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
    """The window of a page: `page.window`."""

    _core: PageCore

    async def bounds(self, *, timeout: float = 30) -> WindowBounds:
        """Return position, outer size (device-independent pixels) and state of the page's window.

        Works on a page that does not respond. Raises RemoteError if the browser has no windows, SessionGoneError.
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
        """Move, resize, minimize or maximize the page's window, and return its new bounds.

        Omitted values do not change. All tabs of the window are affected. A position or a size first puts the
        window into its normal state. The window system may apply other values; the returned bounds are the actual
        ones. Raises InvalidArgumentError for a size together with another state, RemoteError, SessionGoneError.
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
    """A window's position on the screen, its outer size in device-independent pixels, and its state.

    `window_id` is Chrome's id. Pages with the same id are tabs of one window.
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
    """Return the numbers to change. Raises InvalidArgumentError for contradictory values."""
    numbers = {"left": left, "top": top, "width": width, "height": height}
    for name, number in numbers.items():
        smallest = 1 if name in ("width", "height") else -(2**31)
        if number is not None:
            check_count(name, number, least=smallest, most=2**31 - 1, unit="pixels")
    if state is not None:
        check_choice("state", state, _STATES)
    bounds = {name: number for name, number in numbers.items() if number is not None}
    if bounds and state not in (None, "normal"):
        raise invalid("state", state, '"normal" or none, together with a place or a size')
    if not bounds and state is None:
        raise InvalidArgumentError(what="bounds", given="nothing", expected="a place, a size or a state")
    return bounds


async def window_bounds(root: Session, target_id: str) -> WindowBounds:
    """Return the bounds of the page's window. Raises RemoteError if the browser has no windows."""
    window = await root.request("Browser.getWindowForTarget", {"targetId": target_id}, WindowForTargetReply)
    bounds = window.bounds
    return WindowBounds(
        bounds.left, bounds.top, bounds.width, bounds.height, bounds.window_state, window.window_id
    )


async def set_window_bounds(
    root: Session, target_id: str, numbers: dict[str, int], state: WindowState | None
) -> WindowBounds:
    """Change the page's window and return its new bounds."""
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
