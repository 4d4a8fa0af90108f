"""The window of a page: its position, size and state.

Rule: Chrome changes the bounds of a window only in its normal state, and changes between two other states only
through the normal state. The returned bounds are read from the window afterwards.
"""

from __future__ import annotations

import attrs

from cdpengine._api.page.core import PageCore
from cdpengine._budget import within
from cdpengine._checks import check_choice, check_count, invalid
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import WindowForTargetReply, WindowState
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine.errors import InvalidArgumentError


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
