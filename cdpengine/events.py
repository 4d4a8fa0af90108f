"""Events of a page: the stream of `page.events()` and the classes of its events.

The stream also has ConsoleMessage, PageError, Request, Response, RequestEnded and WebSocket.
"""

from cdpengine._api.page.event_kinds import (
    DialogEvent,
    DownloadEvent,
    EventKind,
    FileChooserEvent,
    PageClosed,
    PageCrashed,
    PageEvent,
    PopupEvent,
    WorkerEnded,
    WorkerStarted,
)
from cdpengine._api.page.events import PageEvents
from cdpengine._page.frame_changes import FrameAttached, FrameDetached, FrameNavigated, LoadStateReached

__all__ = [
    "DialogEvent",
    "DownloadEvent",
    "EventKind",
    "FileChooserEvent",
    "FrameAttached",
    "FrameDetached",
    "FrameNavigated",
    "LoadStateReached",
    "PageClosed",
    "PageCrashed",
    "PageEvent",
    "PageEvents",
    "PopupEvent",
    "WorkerEnded",
    "WorkerStarted",
]
