"""Page: frames and their documents; dialogs, downloads and file choosers; screenshots and PDFs."""

from __future__ import annotations

import msgspec

from cdpengine._protocol.domains import event, reply

# --- frames ---------------------------------------------------------------------------------------------------


class FrameInfo(msgspec.Struct, rename="camel"):
    """A frame with its document (`Page.Frame`)."""

    id: str
    loader_id: str = ""
    url: str = ""
    parent_id: str | None = None
    name: str = ""
    url_fragment: str = ""
    unreachable_url: str = ""
    security_origin: str = ""


class FrameTreeNode(msgspec.Struct, rename="camel"):
    """A frame and its child frames (`Page.FrameTree`)."""

    frame: FrameInfo
    child_frames: list[FrameTreeNode] = []


@reply("Page.getFrameTree")
class FrameTreeReply(msgspec.Struct, rename="camel"):
    """The frames of the session's process."""

    frame_tree: FrameTreeNode


@event("Page.frameAttached")
class FrameAttached(msgspec.Struct, rename="camel"):
    """A frame was attached."""

    frame_id: str
    parent_frame_id: str | None = None


@event("Page.frameDetached")
class FrameDetached(msgspec.Struct, rename="camel"):
    """A frame was detached; `reason` is "remove", or "swap" if it continues in another process."""

    frame_id: str
    reason: str = "remove"


@event("Page.frameNavigated")
class FrameNavigated(msgspec.Struct, rename="camel"):
    """A frame shows a new document; `type` is "Navigation" or "BackForwardCacheRestore"."""

    frame: FrameInfo
    type: str = "Navigation"


@event("Page.navigatedWithinDocument")
class NavigatedWithinDocument(msgspec.Struct, rename="camel"):
    """The URL of a document changed by its fragment or history.pushState; the document stays."""

    frame_id: str
    url: str = ""


FIRST_NAVIGATION = "initialFrameNavigation"
"""The reason of the first navigation of a new frame: it replaces only the initial empty document."""


NEW_TAB = ("newTab", "newWindow")
"""Dispositions of a navigation that opens a new tab, as after a click with Control."""

WITHIN_DOCUMENT = ("sameDocument", "historySameDocument")
"""Types of navigations that leave the document in place."""


@event("Page.windowOpen")
class WindowOpen(msgspec.Struct, rename="camel"):
    """The page opens a window, by `window.open` or a link with a target.

    `window_features` are strings such as "width=320".
    """

    url: str = ""
    window_features: list[str] = []


@event("Page.frameScheduledNavigation")
class FrameScheduledNavigation(msgspec.Struct, rename="camel"):
    """The page will request a navigation in `delay` seconds. Chrome sends it before the request itself."""

    frame_id: str
    delay: float = 0.0


@event("Page.frameRequestedNavigation")
class FrameRequestedNavigation(msgspec.Struct, rename="camel"):
    """The page requests a navigation; `disposition` is its target: "currentTab", "newTab", "download", ...

    `reason` is, for example, "anchorClick" or "formSubmissionPost".
    """

    frame_id: str
    url: str = ""
    reason: str = ""
    disposition: str = "currentTab"


@event("Page.frameStartedNavigating")
class FrameStartedNavigating(msgspec.Struct, rename="camel"):
    """A navigation begins; `navigation_type` is, for example, "reload", "sameDocument" or "differentDocument"."""

    frame_id: str
    url: str = ""
    loader_id: str = ""
    navigation_type: str = "differentDocument"


@event("Page.frameClearedScheduledNavigation")
class FrameClearedScheduledNavigation(msgspec.Struct, rename="camel"):
    """A requested navigation has begun or was dropped."""

    frame_id: str


@event("Page.frameStoppedLoading")
class FrameStoppedLoading(msgspec.Struct, rename="camel"):
    """A frame has finished loading."""

    frame_id: str


@event("Page.lifecycleEvent")
class LifecycleEvent(msgspec.Struct, rename="camel"):
    """A document reached the state `name`: "init", "DOMContentLoaded", "load", "networkIdle", ..."""

    frame_id: str
    loader_id: str
    name: str


@event("Page.domContentEventFired")
@event("Page.loadEventFired")
class PageFired(msgspec.Struct):
    """The page's main document reached this state at `timestamp` (monotonic, seconds)."""

    timestamp: float = 0.0


@reply("Page.navigate")
class NavigateReply(msgspec.Struct, rename="camel"):
    """`loader_id` is None if the document stays; `error_text` is the reason of a failure."""

    loader_id: str | None = None
    error_text: str | None = None
    is_download: bool = False


class NavigationEntry(msgspec.Struct, rename="camel"):
    """One entry of the history."""

    id: int
    url: str = ""


@reply("Page.getNavigationHistory")
class NavigationHistoryReply(msgspec.Struct, rename="camel"):
    """The history of a page, and the index of its current entry."""

    current_index: int
    entries: list[NavigationEntry]


@reply("Page.createIsolatedWorld")
class IsolatedWorldReply(msgspec.Struct, rename="camel"):
    """A frame's isolated world: its execution context."""

    execution_context_id: int


@reply("Page.addScriptToEvaluateOnNewDocument")
class AddScriptReply(msgspec.Struct):
    """The identifier for removing the script."""

    identifier: str


# --- dialogs, downloads, file choosers ------------------------------------------------------------------------


@event("Page.javascriptDialogOpening")
class JavascriptDialogOpening(msgspec.Struct, rename="camel"):
    """A dialog opened: "alert", "confirm", "prompt" or "beforeunload"."""

    type: str = "alert"
    message: str = ""
    url: str = ""
    default_prompt: str = ""
    frame_id: str = ""


@event("Page.javascriptDialogClosed")
class JavascriptDialogClosed(msgspec.Struct, rename="camel"):
    """A dialog was closed."""

    result: bool = False
    user_input: str = ""
    frame_id: str = ""


@event("Page.downloadWillBegin")
class PageDownloadWillBegin(msgspec.Struct, rename="camel"):
    """A frame begins to download a file. `guid` is Chrome's id for the download."""

    frame_id: str = ""
    guid: str = ""
    url: str = ""
    suggested_filename: str = ""


@event("Page.fileChooserOpened")
class FileChooserOpened(msgspec.Struct, rename="camel"):
    """The page opened a file chooser; `mode` is "selectSingle" or "selectMultiple"."""

    frame_id: str
    mode: str = "selectSingle"
    backend_node_id: int | None = None


# --- screenshots and PDFs -------------------------------------------------------------------------------------


class LayoutViewport(msgspec.Struct, rename="camel"):
    """The viewport of fixed elements, in CSS pixels."""

    client_width: float
    client_height: float


class VisualViewport(LayoutViewport, rename="camel"):
    """The visible part of the page, in CSS pixels."""

    page_x: float = 0
    page_y: float = 0


class ContentSize(msgspec.Struct):
    """The size of the whole page, in CSS pixels."""

    width: float = 0
    height: float = 0


@reply("Page.getLayoutMetrics")
class LayoutMetricsReply(msgspec.Struct, rename="camel"):
    """The size of the page, and its visible part."""

    css_layout_viewport: LayoutViewport
    css_visual_viewport: VisualViewport
    css_content_size: ContentSize = msgspec.field(default_factory=ContentSize)


@reply("Page.captureScreenshot")
class ScreenshotReply(msgspec.Struct):
    """A screenshot, as base64."""

    data: str


class ScreencastMetadata(msgspec.Struct, rename="camel"):
    """The viewport of a frame (`Page.ScreencastFrameMetadata`)."""

    device_width: float = 0
    device_height: float = 0
    scroll_offset_x: float = 0
    scroll_offset_y: float = 0
    page_scale_factor: float = 1
    timestamp: float = 0


@event("Page.screencastFrame")
class ScreencastFrameEvent(msgspec.Struct, rename="camel"):
    """A frame of a screencast, as base64; `session_id` is its number for the confirmation."""

    data: str
    session_id: int
    metadata: ScreencastMetadata = msgspec.field(default_factory=ScreencastMetadata)


@reply("Page.printToPDF")
class PrintToPDFReply(msgspec.Struct):
    """The stream with the PDF."""

    stream: str = ""


@reply("Page.getResourceContent")
class ResourceContentReply(msgspec.Struct, rename="camel"):
    """The content of a resource that the page has loaded."""

    content: str = ""
    base64_encoded: bool = False
