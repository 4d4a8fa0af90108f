"""A window that the tests of a file share. Opening a tab dominates the cost of a small test."""

from __future__ import annotations

import attrs

from cdpengine._protocol.session import open_connection
from cdpengine._protocol.websocket_transport import open_websocket


@attrs.define
class Window:
    """A window with one page in a new browser context. `target_id` is None while the window is closed.

    `blank` is the answer of tests/support/empty_page.js for the blank document at the start of a test.
    """

    endpoint: str
    context_id: str | None = None
    target_id: str | None = None
    blank: list[float] | None = None

    async def open(self) -> None:
        """Open a window in the running Chromium and close the previous window. `close` closes it."""
        async with open_websocket(self.endpoint) as transport, open_connection(transport) as connection:
            call = connection.root.call
            if self.context_id is not None:
                await call("Target.disposeBrowserContext", browserContextId=self.context_id)
            context = (await call("Target.createBrowserContext"))["browserContextId"]
            target = await call("Target.createTarget", url="about:blank", browserContextId=context)
        self.context_id, self.target_id = context, target["targetId"]

    async def close(self) -> None:
        if self.context_id is None:
            return
        async with open_websocket(self.endpoint) as transport, open_connection(transport) as connection:
            await connection.root.call("Target.disposeBrowserContext", browserContextId=self.context_id)
