"""Activity: what starts on a page while something is done to it: navigations, popups, downloads.

Rule: kept by the reader from Chrome's events, for as long as somebody watches; it says that something has begun,
not what became of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.page import (
    FrameRequestedNavigation,
    FrameStartedNavigating,
    NavigatedWithinDocument,
    PageDownloadWillBegin,
)
from cdpengine._protocol.domains.target import TargetCreated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import UndecodableReplyError

logger = get_logger("cdpengine.browser")


@attrs.frozen
class NavigationStarted:
    """A frame began to go to `url`; `within_document`: by its fragment or history.pushState, which is done."""

    frame_id: str
    url: str
    within_document: bool = False


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
class Activity:
    """What has begun since the watch began. Filled while it lasts."""

    navigations: list[NavigationStarted] = attrs.field(factory=list)
    popups: list[PopupOpened] = attrs.field(factory=list)
    downloads: list[DownloadStarted] = attrs.field(factory=list)
    changes: Notifier = attrs.field(kw_only=True)

    @property
    def navigation_pending(self) -> bool:
        """Whether a document is about to be replaced: until it is, Chrome may hold back what is asked of it."""
        return any(not each.within_document for each in self.navigations)

    async def wait_for_navigation(self) -> None:
        """Return once a document is about to be replaced."""
        await self.changes.wait_for(lambda: self.navigation_pending)


_Navigating = FrameRequestedNavigation | FrameStartedNavigating | NavigatedWithinDocument

_NAVIGATION_EVENTS: dict[str, type[_Navigating]] = {
    "Page.frameRequestedNavigation": FrameRequestedNavigation,
    "Page.frameStartedNavigating": FrameStartedNavigating,
    "Page.navigatedWithinDocument": NavigatedWithinDocument,
}


@contextmanager
def watch_activity(page: PageTarget) -> Iterator[Activity]:
    """Collect what begins on `page` and in its frames while the block runs."""
    activity = Activity(changes=page.changes)

    def note_navigation(event: Event) -> None:
        found = event.decode(_NAVIGATION_EVENTS[event.method])
        within = isinstance(found, NavigatedWithinDocument)
        if isinstance(found, FrameRequestedNavigation) and found.disposition != "currentTab":
            return
        if isinstance(found, FrameStartedNavigating):
            within = found.navigation_type == "sameDocument"
        started = NavigationStarted(found.frame_id, found.url, within)
        # Chrome reports a navigation when it is asked for, and again when it begins.
        if started not in activity.navigations:
            activity.navigations.append(started)

    def note_download(event: Event) -> None:
        found = event.decode(PageDownloadWillBegin)
        if all(known.guid != found.guid for known in activity.downloads):
            activity.downloads.append(DownloadStarted(found.guid, found.url, found.suggested_filename))

    def note_popup(event: Event) -> None:
        info = event.decode(TargetCreated).target_info
        if info.opener_id == page.target_id and info.type == "page":
            activity.popups.append(PopupOpened(info.target_id, info.url))

    def make_listener(session: Session, note: Callable[[Event], None]) -> Callable[[Event], None]:
        def listener(event: Event) -> None:
            try:
                note(event)
            except UndecodableReplyError as error:
                session.connection.pass_over(event, error)
            activity.changes.notify()

        return listener

    listeners: list[tuple[Session, str, Callable[[Event], None]]] = []
    for session in tuple(page.frame_sessions.values()):
        listeners += [
            (session, method, make_listener(session, note_navigation)) for method in _NAVIGATION_EVENTS
        ]
    root = page.session.connection.root
    listeners.append((page.session, "Page.downloadWillBegin", make_listener(page.session, note_download)))
    listeners.append((root, "Target.targetCreated", make_listener(root, note_popup)))
    for session, method, listener in listeners:
        session.on_event(method, listener)
    try:
        yield activity
    finally:
        for session, method, listener in listeners:
            session.off_event(method, listener)
