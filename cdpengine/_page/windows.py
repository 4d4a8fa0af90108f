"""Windows: where the window of a page is, how large, and in which state.

Rule: Chrome changes bounds only of a window in its normal state, and one state into another only by way of it;
what is returned is what the window says of itself afterwards.
"""

from __future__ import annotations

import attrs

from cdpengine._protocol.domains.browser import WindowForTargetReply, WindowState
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError

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
