"""Browser: version, windows and downloads."""

from __future__ import annotations

from typing import Literal

import msgspec

from cdpengine._protocol.domains import event, reply


@reply("Browser.getVersion")
class BrowserVersion(msgspec.Struct, frozen=True, rename="camel"):
    """The browser's version (`Browser.getVersion`)."""

    product: str = ""
    protocol_version: str = ""
    revision: str = ""
    user_agent: str = ""
    js_version: str = ""

    @property
    def number(self) -> str:
        """The version alone: "140.0.7339.80"."""
        return self.product.rpartition("/")[2]

    @property
    def on_mac(self) -> bool:
        """Whether the browser runs on macOS, where Meta replaces Control."""
        return "Macintosh" in self.user_agent


WindowState = Literal["normal", "minimized", "maximized", "fullscreen"]


class Bounds(msgspec.Struct, rename="camel"):
    """The position of a window on the screen, and its outer size; device-independent pixels."""

    left: int = 0
    top: int = 0
    width: int = 0
    height: int = 0
    window_state: WindowState = "normal"


@reply("Browser.getWindowForTarget")
class WindowForTargetReply(msgspec.Struct, rename="camel"):
    """The window that contains a page."""

    window_id: int
    bounds: Bounds


@event("Browser.downloadWillBegin")
class DownloadWillBegin(msgspec.Struct, rename="camel"):
    """A download begins. `guid` is Chrome's id for the download."""

    guid: str
    frame_id: str = ""
    url: str = ""
    suggested_filename: str = ""


@event("Browser.downloadProgress")
class DownloadProgressed(msgspec.Struct, frozen=True, rename="camel"):
    """The progress of a download: bytes, and Chrome's state ("inProgress", "completed", "canceled")."""

    guid: str
    received_bytes: float = 0
    total_bytes: float = 0
    state: str = "inProgress"
