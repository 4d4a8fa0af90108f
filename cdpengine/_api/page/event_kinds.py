"""The events of `page.events()`: their kinds and classes."""

from __future__ import annotations

from typing import Generic, Literal, TypeAlias, TypeVar

import attrs

from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.request import Request, Response
from cdpengine._activity.streams import RequestEnded
from cdpengine._activity.websocket import WebSocket
from cdpengine._api.worker import Worker
from cdpengine._page.dialogs import Dialog
from cdpengine._page.downloads.download import Download
from cdpengine._page.file_choosers import FileChooser
from cdpengine._page.frame_changes import FrameAttached, FrameDetached, FrameNavigated, LoadStateReached
from cdpengine._pickling import not_picklable

P = TypeVar("P")

EventKind = Literal[
    "popups", "dialogs", "downloads", "file_choosers", "workers", "frames", "load_states",
    "console", "errors", "requests", "responses", "finished", "websockets",
]  # fmt: skip


@not_picklable("the target id and the URL of its page")
@attrs.frozen
class PopupEvent(Generic[P]):
    """The page opened another page: `window.open`, `target=_blank`, also with `noopener`.

    The popup may still load. Its methods wait until it is ready.
    """

    page: P


@attrs.frozen
class DialogEvent:
    """A dialog opened. `dialog` is its record before the answer, which the page's dialog policy gives."""

    dialog: Dialog


@not_picklable("the URL of its download, or the path of the saved file")
@attrs.frozen
class DownloadEvent:
    """A download of the page, or of a page opened from it, began. Unexpected ones are `refused`."""

    download: Download


@attrs.frozen
class FileChooserEvent:
    """A file chooser opened. It is dismissed unless `page.expect_file_chooser()` expects it."""

    chooser: FileChooser


@not_picklable("the URL of its worker")
@attrs.frozen
class WorkerStarted:
    """The page, a frame or a worker started a dedicated worker. It has not run its first script yet."""

    worker: Worker


@not_picklable("the URL of its worker")
@attrs.frozen
class WorkerEnded:
    """A dedicated worker that started in the block ended."""

    worker: Worker


@attrs.frozen
class PageCrashed:
    """The page's renderer crashed. `page.reload()` restores the page, and the events continue."""


@attrs.frozen
class PageClosed:
    """The page is gone. It is the last event."""

    reason: str


PageEvent: TypeAlias = (
    PopupEvent[P]
    | DialogEvent
    | DownloadEvent
    | FileChooserEvent
    | WorkerStarted
    | WorkerEnded
    | FrameAttached
    | FrameNavigated
    | FrameDetached
    | LoadStateReached
    | ConsoleMessage
    | PageError
    | Request
    | Response
    | RequestEnded
    | WebSocket
    | PageCrashed
    | PageClosed
)
"""Any event of a page. `P` is Page."""
