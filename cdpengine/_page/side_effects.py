"""SideEffects: navigations, popups, downloads and dialogs that begin on a page during an action.

Rule: the reader fills a record from Chrome's reports. The result of a navigation is described after the action has
waited for it.
"""

from __future__ import annotations

from typing import Literal

import attrs
import trio

from cdpengine._notifier import Notifier
from cdpengine._page.dialogs import Dialog, TrackedDialog
from cdpengine._protocol.domains.page import (
    FrameRequestedNavigation,
    FrameStartedNavigating,
    NavigatedWithinDocument,
)

NavigationState = Literal["arrived", "under way", "no document", "failed"]
"""The result of a navigation: see NavigationStarted."""


SCHEDULED_TIMEOUT = 0.5
"""Maximum time in seconds between the schedule of a navigation and its request. Measured: 10 ms."""


@attrs.frozen
class NavigationStarted:
    """A navigation of a frame to `url`; `within_document`: by fragment or history.pushState.

    `state` is "arrived" (`url` is the final URL after redirects), "under way" (the server has not answered in
    time), "no document" (the server sent none, as with status 204 or a download, or the page stopped the
    navigation), or "failed" (Chrome shows an error page).
    """

    frame_id: str
    url: str
    within_document: bool = False
    state: NavigationState = "arrived"


@attrs.frozen
class PopupOpened:
    """A page opened by the page: `browser.page(target_id)`."""

    target_id: str
    url: str


@attrs.frozen
class DownloadStarted:
    """A download that began. `guid` is Chrome's id for it."""

    guid: str
    url: str
    suggested_filename: str


@attrs.define(eq=False)
class SideEffects:
    """Effects on a page since an action began, updated while it runs.

    `scheduled` are frames whose navigation is scheduled without delay, but not yet requested. `new_frames` are ids
    of frames created meanwhile. `new_tabs` counts the tabs that the page requested without
    becoming their opener. `since` is the start (trio's clock).
    """

    changes: Notifier
    since: float = attrs.field(factory=trio.current_time)
    tracked_dialogs: list[TrackedDialog] = attrs.field(factory=list)
    navigations: list[NavigationStarted] = attrs.field(factory=list)
    scheduled: set[str] = attrs.field(factory=set)
    new_frames: set[str] = attrs.field(factory=set)
    new_tabs: int = 0
    popups: list[PopupOpened] = attrs.field(factory=list)
    downloads: list[DownloadStarted] = attrs.field(factory=list)

    @property
    def dialogs(self) -> tuple[Dialog, ...]:
        """The records of the dialogs, in order of opening."""
        return tuple(tracked.dialog for tracked in self.tracked_dialogs)

    @property
    def navigation_pending(self) -> bool:
        """Whether a document is about to be replaced. Until then, Chrome may delay commands to it."""
        return any(not each.within_document for each in self.navigations)

    def frames_that_leave(self) -> set[str]:
        """Return the frames whose document is about to be replaced."""
        return {each.frame_id for each in self.navigations if not each.within_document}

    @property
    def any(self) -> bool:
        """Whether any effect is known."""
        return bool(
            self.navigations or self.new_tabs or self.popups or self.downloads or self.tracked_dialogs
        )

    async def wait_for_requests(self) -> None:
        """Wait until all scheduled navigations are requested, at most SCHEDULED_TIMEOUT seconds."""
        if self.scheduled:
            with trio.move_on_after(SCHEDULED_TIMEOUT):
                await self.changes.wait_for(lambda: not self.scheduled)

    async def wait_for_navigation(self) -> None:
        """Wait until a document is about to be replaced."""
        await self.changes.wait_for(lambda: self.navigation_pending)


_Navigating = FrameRequestedNavigation | FrameStartedNavigating | NavigatedWithinDocument

NAVIGATION_EVENTS: dict[str, type[_Navigating]] = {
    "Page.frameRequestedNavigation": FrameRequestedNavigation,
    "Page.frameStartedNavigating": FrameStartedNavigating,
    "Page.navigatedWithinDocument": NavigatedWithinDocument,
}
