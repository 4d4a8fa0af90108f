"""Page: frames and their documents; dialogs, downloads and file choosers; pictures and paper."""

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
    """A frame, and those in it (`Page.FrameTree`)."""

    frame: FrameInfo
    child_frames: list[FrameTreeNode] = []


@reply("Page.getFrameTree")
class FrameTreeReply(msgspec.Struct, rename="camel"):
    """The frames of the session's process."""

    frame_tree: FrameTreeNode


@event("Page.frameAttached")
class FrameAttached(msgspec.Struct, rename="camel"):
    """A frame is there."""

    frame_id: str
    parent_frame_id: str | None = None


@event("Page.frameDetached")
class FrameDetached(msgspec.Struct, rename="camel"):
    """A frame is gone; `reason` is "remove", or "swap" when it goes on in another process."""

    frame_id: str
    reason: str = "remove"


@event("Page.frameNavigated")
class FrameNavigated(msgspec.Struct, rename="camel"):
    """A new document is in a frame; `type` is "Navigation" or "BackForwardCacheRestore"."""

    frame: FrameInfo
    type: str = "Navigation"


@event("Page.navigatedWithinDocument")
class NavigatedWithinDocument(msgspec.Struct, rename="camel"):
    """The URL of a document changed by its fragment or history.pushState; the document stays."""

    frame_id: str
    url: str = ""


FIRST_NAVIGATION = "initialFrameNavigation"
"""The reason of the first navigation of a new frame: it replaces no document that anybody has seen."""


NEW_TAB = ("newTab", "newWindow")
"""Dispositions of a navigation that opens a tab of its own, as after a click with Control."""

WITHIN_DOCUMENT = ("sameDocument", "historySameDocument")
"""Types of navigations that leave the document in place."""


@event("Page.windowOpen")
class WindowOpen(msgspec.Struct, rename="camel"):
    """The page opens a window, by `window.open` or a link with a target.

    `window_features` are such as "width=320".
    """

    url: str = ""
    window_features: list[str] = []


@event("Page.frameRequestedNavigation")
class FrameRequestedNavigation(msgspec.Struct, rename="camel"):
    """The page asks for a navigation; `disposition` says where to: "currentTab", "newTab", "download", ...

    `reason` is such as "anchorClick" and "formSubmissionPost".
    """

    frame_id: str
    url: str = ""
    reason: str = ""
    disposition: str = "currentTab"


@event("Page.frameStartedNavigating")
class FrameStartedNavigating(msgspec.Struct, rename="camel"):
    """A navigation begins; `navigation_type` is such as "reload", "sameDocument" and "differentDocument"."""

    frame_id: str
    url: str = ""
    loader_id: str = ""
    navigation_type: str = "differentDocument"


@event("Page.frameClearedScheduledNavigation")
class FrameClearedScheduledNavigation(msgspec.Struct, rename="camel"):
    """A navigation that was asked for has begun, or will not."""

    frame_id: str


@event("Page.frameStoppedLoading")
class FrameStoppedLoading(msgspec.Struct, rename="camel"):
    """A frame loads nothing more."""

    frame_id: str


@event("Page.lifecycleEvent")
class LifecycleEvent(msgspec.Struct, rename="camel"):
    """A document came as far as `name`: "init", "DOMContentLoaded", "load", "networkIdle", ..."""

    frame_id: str
    loader_id: str
    name: str


@event("Page.domContentEventFired")
@event("Page.loadEventFired")
class PageFired(msgspec.Struct):
    """The page's main document came so far, at `timestamp` (monotonic, seconds)."""

    timestamp: float = 0.0


@reply("Page.navigate")
class NavigateReply(msgspec.Struct, rename="camel"):
    """`loader_id` is None where the document stays; `error_text` says why nothing came of it."""

    loader_id: str | None = None
    error_text: str | None = None
    is_download: bool = False


class NavigationEntry(msgspec.Struct, rename="camel"):
    """One entry of the history."""

    id: int
    url: str = ""


@reply("Page.getNavigationHistory")
class NavigationHistoryReply(msgspec.Struct, rename="camel"):
    """The history of a page, and which of its entries is shown."""

    current_index: int
    entries: list[NavigationEntry]


@reply("Page.createIsolatedWorld")
class IsolatedWorldReply(msgspec.Struct, rename="camel"):
    """A world of a frame's own: its execution context."""

    execution_context_id: int


@reply("Page.addScriptToEvaluateOnNewDocument")
class AddScriptReply(msgspec.Struct):
    """The name by which the script can be removed."""

    identifier: str


# --- dialogs, downloads, file choosers ------------------------------------------------------------------------


@event("Page.javascriptDialogOpening")
class JavascriptDialogOpening(msgspec.Struct, rename="camel"):
    """A dialog is open: "alert", "confirm", "prompt" or "beforeunload"."""

    type: str = "alert"
    message: str = ""
    url: str = ""
    default_prompt: str = ""
    frame_id: str = ""


@event("Page.javascriptDialogClosed")
class JavascriptDialogClosed(msgspec.Struct, rename="camel"):
    """A dialog was answered."""

    result: bool = False
    user_input: str = ""
    frame_id: str = ""


@event("Page.downloadWillBegin")
class PageDownloadWillBegin(msgspec.Struct, rename="camel"):
    """A frame begins to load a file; `guid` is Chrome's name of the download."""

    frame_id: str = ""
    guid: str = ""
    url: str = ""
    suggested_filename: str = ""


@event("Page.fileChooserOpened")
class FileChooserOpened(msgspec.Struct, rename="camel"):
    """A file chooser was asked for; `mode` is "selectSingle" or "selectMultiple"."""

    frame_id: str
    mode: str = "selectSingle"
    backend_node_id: int | None = None


# --- pictures and paper ---------------------------------------------------------------------------------------


class LayoutViewport(msgspec.Struct, rename="camel"):
    """What fixed elements are placed in, in CSS pixels."""

    client_width: float
    client_height: float


class VisualViewport(LayoutViewport, rename="camel"):
    """What is seen of the page, in CSS pixels."""

    page_x: float = 0
    page_y: float = 0


class ContentSize(msgspec.Struct):
    """The whole page, in CSS pixels."""

    width: float = 0
    height: float = 0


@reply("Page.getLayoutMetrics")
class LayoutMetricsReply(msgspec.Struct, rename="camel"):
    """How large the page is, and what of it is seen."""

    css_layout_viewport: LayoutViewport
    css_visual_viewport: VisualViewport
    css_content_size: ContentSize = msgspec.field(default_factory=ContentSize)


@reply("Page.captureScreenshot")
class ScreenshotReply(msgspec.Struct):
    """A picture, as base64."""

    data: str


@reply("Page.printToPDF")
class PrintToPDFReply(msgspec.Struct):
    """The stream that the PDF can be read from."""

    stream: str = ""
