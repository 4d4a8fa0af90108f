"""SideEffects: what has begun on a page while an action runs: navigations, popups, downloads, dialogs.

Rule: the reader fills a record as Chrome reports. What came of a navigation is described after the action has
waited for it.
"""

from __future__ import annotations

from typing import Literal

import attrs
import trio

from cdpengine._notifier import Notifier
from cdpengine._page.dialogs import Dialog, Shown
from cdpengine._protocol.domains.page import (
    FrameRequestedNavigation,
    FrameStartedNavigating,
    NavigatedWithinDocument,
)

NavigationState = Literal["arrived", "under way", "no document", "failed"]
"""What came of a navigation: see NavigationStarted."""


@attrs.frozen
class NavigationStarted:
    """A frame went to `url`; `within_document`: by its fragment or history.pushState.

    `state` is "arrived" (`url` is then where redirects led), "under way" (the server has not answered in time),
    "no document" (the server sent none, as with status 204 or a download, or the page stopped the navigation), or
    "failed" (Chrome shows an error page).
    """

    frame_id: str
    url: str
    within_document: bool = False
    state: NavigationState = "arrived"


@attrs.frozen
class PopupOpened:
    """The page opened another one. `browser.page(target_id)` is that page."""

    target_id: str
    url: str


@attrs.frozen
class DownloadStarted:
    """A download began; `guid` is Chrome's name of it."""

    guid: str
    url: str
    suggested_filename: str


@attrs.define(eq=False)
class SideEffects:
    """What has begun on a page while an action runs, and the dialogs that opened. Filled while it runs.

    `new_frames` are the frames that were made meanwhile, by id; `new_tabs` counts the tabs that the page requested
    without becoming their opener; `since` is when it began (trio's clock).
    """

    changes: Notifier
    since: float = attrs.field(factory=trio.current_time)
    shown: list[Shown] = attrs.field(factory=list)
    navigations: list[NavigationStarted] = attrs.field(factory=list)
    new_frames: set[str] = attrs.field(factory=set)
    new_tabs: int = 0
    popups: list[PopupOpened] = attrs.field(factory=list)
    downloads: list[DownloadStarted] = attrs.field(factory=list)

    @property
    def dialogs(self) -> tuple[Dialog, ...]:
        """The records of the dialogs, in the order in which they opened."""
        return tuple(shown.dialog for shown in self.shown)

    @property
    def navigation_pending(self) -> bool:
        """Whether a document is about to be replaced: until it is, Chrome may hold back what is asked of it."""
        return any(not each.within_document for each in self.navigations)

    def frames_that_leave(self) -> set[str]:
        """Return the frames whose document is about to be replaced."""
        return {each.frame_id for each in self.navigations if not each.within_document}

    async def wait_for_navigation(self) -> None:
        """Return once a document is about to be replaced."""
        await self.changes.wait_for(lambda: self.navigation_pending)


_Navigating = FrameRequestedNavigation | FrameStartedNavigating | NavigatedWithinDocument

NAVIGATION_EVENTS: dict[str, type[_Navigating]] = {
    "Page.frameRequestedNavigation": FrameRequestedNavigation,
    "Page.frameStartedNavigating": FrameStartedNavigating,
    "Page.navigatedWithinDocument": NavigatedWithinDocument,
}
