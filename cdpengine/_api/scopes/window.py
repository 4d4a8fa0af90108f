"""PageWindow: the window that a page is in.

Rule: what is said of a window is what the browser says of it at that moment.
"""

from __future__ import annotations

import attrs

from cdpengine._api.page_core import PageCore
from cdpengine._budget import within
from cdpengine._page.windows import WindowBounds, checked_bounds, set_window_bounds, window_bounds
from cdpengine._protocol.domains.browser import WindowState
from cdpengine._protocol.instruments import span as action_span


@attrs.frozen(eq=False)
class PageWindow:
    """The window that a page is in: `page.window`."""

    _core: PageCore

    async def bounds(self, *, timeout: float = 30) -> WindowBounds:
        """Return place, outer size (device-independent pixels) and state of the page's window.

        Works on a page that is stuck. Raises RemoteError where the browser has no windows, SessionGoneError.
        """
        with action_span("page.window.bounds"), within("read the window's bounds", timeout):
            await self._core.target.started()
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
            await self._core.target.started()
            return await set_window_bounds(
                self._core.state.session, self._core.target.target_id, numbers, state
            )
