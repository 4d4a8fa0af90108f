"""SeenOrigins: the origins whose documents were in each context since this program looks.

Rule: Chrome lists no origins that have local storage, so those are remembered that pages and their frames were at;
a few bytes each, bounded, and nothing is asked of any page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from cdpengine._page.page_target import PageTarget
from cdpengine._page.urls import origin_of
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FrameNavigated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event

_MOST = 10_000
"""Origins that are remembered of a context."""


class SeenOrigins:
    """The origins of one browser. `set_up` is one of the set-ups of its pages."""

    def __init__(self, pages: Mapping[str, PageTarget]) -> None:
        self._pages = pages
        self._seen: dict[str | None, dict[str, None]] = {}

    def set_up(self, page: PageTarget, session: Session) -> Sequence[PendingCall]:
        """Follow the documents of a session's frames."""
        if session.target_type != "worker":

            def navigated(event: Event) -> None:
                self._note(page.context_id, event.decode(FrameNavigated).frame.url)

            session.on_event("Page.frameNavigated", navigated)
        return ()

    def of(self, context_id: str | None) -> list[str]:
        """Return the origins of a context, in the order in which they came."""
        for page in self._pages.values():
            for frame in page.frames:
                self._note(page.context_id, frame.url)
        return list(self._seen.get(context_id, ()))

    def forget(self, context_id: str | None) -> None:
        """Note that a context is disposed of."""
        self._seen.pop(context_id, None)

    def _note(self, context_id: str | None, url: str) -> None:
        seen = self._seen.setdefault(context_id, {})
        if len(seen) < _MOST and (origin := origin_of(url)) is not None:
            seen[origin] = None
