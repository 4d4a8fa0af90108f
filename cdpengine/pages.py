"""Parts of a page: input devices, dialogs, elements, pictures, scripts, its window and snapshots."""

from cdpengine._api.assertions.locator_assertions import LocatorAssertions
from cdpengine._api.assertions.page_assertions import PageAssertions
from cdpengine._api.page.accessibility import AccessibilityIssue
from cdpengine._api.page.devices import Keyboard, Mouse, Touch
from cdpengine._api.page.elements import PageElements
from cdpengine._api.page.expecting import Expected, ExpectedFileChooser
from cdpengine._api.page.locators import FrameLocator
from cdpengine._api.page.parts import Dialogs
from cdpengine._api.page.pictures import LabelledScreenshot, PagePictures
from cdpengine._api.page.screencasts import Screencast
from cdpengine._api.page.tags import PageScripts
from cdpengine._api.page.window import PageWindow, WindowBounds
from cdpengine._api.scopes.clock import PageClock
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.worker import Worker
from cdpengine._evaluate.injection import Binding, BindingFailure
from cdpengine._page.downloads.download import DownloadProgress
from cdpengine._pictures.screencast import ScreencastFrame, ScreencastFrames
from cdpengine._snapshot.snapshot import FrameSource, SnapshotStats

__all__ = [
    "AccessibilityIssue",
    "Binding",
    "BindingFailure",
    "Dialogs",
    "DownloadProgress",
    "Expected",
    "ExpectedFileChooser",
    "FrameLocator",
    "FrameSource",
    "Keyboard",
    "LabelledScreenshot",
    "LocatorAssertions",
    "Mouse",
    "PageAssertions",
    "PageClock",
    "PageElements",
    "PagePictures",
    "PageScripts",
    "PageWindow",
    "Screencast",
    "ScreencastFrame",
    "ScreencastFrames",
    "Scripts",
    "SnapshotStats",
    "Touch",
    "WindowBounds",
    "Worker",
]
