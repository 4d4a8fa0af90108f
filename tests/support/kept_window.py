"""A window that a file's tests share: what a new tab a test costs is most of what a small test costs."""

from __future__ import annotations

import attrs

from cdpengine._protocol.connection import open_connection
from cdpengine._protocol.transport import open_websocket


@attrs.frozen
class Window:
    """A window with one page, in a browser context of its own."""

    endpoint: str
    context_id: str
    target_id: str


async def open_window(endpoint: str) -> Window:
    """Open a window in the running Chromium; `close_window` closes it."""
    async with open_websocket(endpoint) as transport, open_connection(transport) as connection:
        context = (await connection.root.call("Target.createBrowserContext"))["browserContextId"]
        target = await connection.root.call(
            "Target.createTarget", url="about:blank", browserContextId=context
        )
    return Window(endpoint, context, target["targetId"])


async def close_window(window: Window) -> None:
    async with open_websocket(window.endpoint) as transport, open_connection(transport) as connection:
        await connection.root.call("Target.disposeBrowserContext", browserContextId=window.context_id)
