"""PendingNavigation: a model of the frames that wait for another document, fed by Chrome's events.

Rule: a navigation is pending from the event that requests or begins it until its document arrives, or Chrome
reports that none comes. The reader updates this model with each event; nothing here waits. A new document from a
navigation of the page itself is fresh until a task has waited for it: see `document_waits`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import attrs
import trio

from cdpengine._page.dialog_release import RELEASE_URL
from cdpengine._protocol.domains.page import (
    FIRST_NAVIGATION,
    WITHIN_DOCUMENT,
    FrameClearedScheduledNavigation,
    FrameDetached,
    FrameNavigated,
    FrameRequestedNavigation,
    FrameStartedNavigating,
    FrameStoppedLoading,
)
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import ProtocolError

T = TypeVar("T")


@attrs.define(eq=False)
class Pending:
    """A navigation of one frame whose document has not arrived.

    `requested`: the page requested it, and Chrome has not begun. `begun`: Chrome loads the document. Both are set
    if the page requested a further navigation meanwhile. `stopped`: an event arrived that may be its end, or the
    end of an earlier navigation; a query to the page decides. `initial`: the first navigation of a new frame.
    `expired`: a wait for it has expired. `since`: time of the latest event (trio's clock). `loaders`: the
    documents that Chrome began to load. The last one is expected, but an earlier one can arrive first.
    """

    url: str = ""
    requested: bool = False
    begun: bool = False
    stopped: bool = False
    initial: bool = False
    expired: bool = False
    since: float = attrs.field(factory=trio.current_time)
    loaders: list[str] = attrs.field(factory=list)

    def replaces(self, loader_id: str) -> bool:
        """Return whether the navigation continues after that earlier document has arrived."""
        return self.begun and loader_id in self.loaders[:-1] and loader_id != self.loaders[-1]


_MAX_LOADERS = 8
"""Maximum number of replaced documents per navigation that may still arrive."""


class PendingNavigation:
    """The frames of a page that wait for another document.

    While the main frame waits, Chrome delays commands for the page's process, except termination, until that
    document arrives or the navigation is stopped. Such a page does not answer, but does not hang. `under_way`: the
    main frame's navigation has begun. `pending` has the navigations by frame. `arrived` has the arrival time of
    each frame's current document (trio's clock), `fresh` the same for documents of the page's own navigations that
    no task has waited for. `requests` counts the page's own requests in the main frame. `overtaken`: the document
    that the engine left had requested a navigation that may still begin.
    """

    def __init__(self, session: Session, notify: Callable[[], None] = lambda: None) -> None:
        self.pending: dict[str, Pending] = {}
        self.arrived: dict[str, float] = {}
        self.fresh: dict[str, float] = {}
        self.requests = 0
        self.overtaken: bool | None = None
        self._leading = 0
        self._requests_before = 0
        self._set_off: set[str] = set()
        self._session = session
        self._notify = notify
        self.listen(session)

    def listen(self, session: Session) -> None:
        """Follow the events of a session of the page."""
        session.on_event("Page.frameRequestedNavigation", self._note_request)
        session.on_event("Page.frameStartedNavigating", self._note_start)
        session.on_event("Page.frameClearedScheduledNavigation", self._note_clearing)
        session.on_event("Page.frameStoppedLoading", self._note_end)
        session.on_event("Page.frameNavigated", self._note_navigated)
        session.on_event("Page.frameDetached", self._note_detachment)

    # --- queries -------------------------------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether a navigation of the main frame has begun, and its document has not arrived."""
        known = self.pending.get(self._session.frame_id)
        return known is not None and known.begun

    def find_doubtful(self, frame_ids: Iterable[str]) -> str | None:
        """Return one of these frames whose navigation may have ended without an event, or None."""
        for frame_id in frame_ids:
            known = self.pending.get(frame_id)
            if known is not None and (known.stopped or (known.begun and frame_id == self._session.frame_id)):
                return frame_id
        return None

    def leaving(self, frame_ids: Iterable[str]) -> set[str]:
        """Return the frames whose document is about to be replaced and is worth waiting for."""
        pending = self.pending
        if not pending:
            return set()
        return {
            frame_id
            for frame_id in frame_ids
            if (known := pending.get(frame_id)) is not None and not (known.initial or known.expired)
        }

    def is_awaited(self, frame_ids: Iterable[str]) -> bool:
        """Whether one of these frames has a pending document, or a fresh one."""
        if not self.pending and not self.fresh:
            return False
        frame_ids = list(frame_ids)
        return bool(self.leaving(frame_ids)) or any(frame_id in self.fresh for frame_id in frame_ids)

    def add_set_off(self, frame_ids: Iterable[str]) -> None:
        """Note the frames that an action made navigate, for the next snapshot of the page."""
        self._set_off.update(frame_ids)

    def take_set_off(self) -> set[str]:
        """Return the frames that actions made navigate since the last call."""
        taken, self._set_off = self._set_off, set()
        return taken

    # --- updates by the engine -----------------------------------------------------------------------------------

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Mark the block as a navigation of the main frame by the engine, which waits for the document."""
        self._leading += 1
        self._requests_before, self.overtaken = self.requests, None
        try:
            yield
        finally:
            self._leading -= 1
            self.fresh.pop(self._session.frame_id, None)

    def give_up(self, frame_ids: Iterable[str]) -> None:
        """End all waits for the pending navigations of these frames."""
        for frame_id in frame_ids:
            if (known := self.pending.get(frame_id)) is not None:
                known.expired = True

    def end(self, frame_id: str) -> None:
        """Mark the frame's navigation as ended, with or without a document."""
        self.pending.pop(frame_id, None)
        self._notify()

    def adopt(self, before: str) -> None:
        """Move the main frame's state from the id `before` to its current id."""
        now = trio.current_time()
        self.arrived[before] = self.arrived[self._session.frame_id] = now
        self.fresh.pop(before, None)
        if before in self.pending and not self._leading:
            self.fresh[self._session.frame_id] = now
        self.end(before)

    def keep_only(self, frame_ids: Iterable[str]) -> None:
        """Drop the state of all other frames: their sessions ended without an event."""
        there = set(frame_ids)
        for frame_id in [each for each in (*self.pending, *self.fresh) if each not in there]:
            self.fresh.pop(frame_id, None)
            self.end(frame_id)

    # --- events ----------------------------------------------------------------------------------------------

    def _note_request(self, event: Event) -> None:
        requested = _decode(event, FrameRequestedNavigation)
        if requested is None or requested.disposition != "currentTab":
            return
        known = self._obtain(requested.frame_id, requested.url)
        known.requested = True
        known.initial = requested.reason == FIRST_NAVIGATION
        if requested.frame_id == self._session.frame_id:
            self.requests += 1
        self._notify()

    def _note_start(self, event: Event) -> None:
        started = _decode(event, FrameStartedNavigating)
        if started is None or started.url == RELEASE_URL:
            return
        if started.navigation_type not in WITHIN_DOCUMENT:
            expected = started.frame_id in self.pending
            known = self._obtain(started.frame_id, started.url)
            known.requested, known.begun, known.stopped = False, True, False
            known.loaders = [*known.loaders[-_MAX_LOADERS:], started.loader_id]
            if expected:
                self._notify()  # otherwise no task can be waiting for it

    def _note_clearing(self, event: Event) -> None:
        cleared = _decode(event, FrameClearedScheduledNavigation)
        if cleared is None or (known := self.pending.get(cleared.frame_id)) is None or not known.requested:
            return
        # It has begun, which the browser process may report later, or it ends without a document. A query decides.
        known.requested, known.stopped = False, True
        self._notify()

    def _note_end(self, event: Event) -> None:
        ended = _decode(event, FrameStoppedLoading)
        if ended is None or (known := self.pending.get(ended.frame_id)) is None:
            return
        # This can be the end of the previous document, or of a replaced navigation.
        if known.begun:
            known.begun = False
            if ended.frame_id == self._session.frame_id:
                known.stopped = True
                self._notify()
            elif not known.requested:
                self.end(ended.frame_id)

    def _note_navigated(self, event: Event) -> None:
        navigated = _decode(event, FrameNavigated)
        if navigated is None:
            return
        frame_id, now = navigated.frame.id, trio.current_time()
        known = self.pending.get(frame_id)
        replaced = known is not None and known.replaces(navigated.frame.loader_id)
        if self._leading and self.overtaken is None and frame_id == self._session.frame_id:
            self.overtaken = replaced or self.requests > self._requests_before
        self.arrived[frame_id] = now
        if (
            known is not None
            and not known.initial
            and not (self._leading and frame_id == self._session.frame_id)
        ):
            self.fresh[frame_id] = now
        if not replaced:
            self.end(frame_id)

    def _note_detachment(self, event: Event) -> None:
        detached = _decode(event, FrameDetached)
        if detached is not None and detached.reason != "swap":
            self.arrived.pop(detached.frame_id, None)
            self.fresh.pop(detached.frame_id, None)
            self._set_off.discard(detached.frame_id)
            self.end(detached.frame_id)

    def _obtain(self, frame_id: str, url: str) -> Pending:
        known = self.pending.get(frame_id)
        if known is None:
            known = self.pending[frame_id] = Pending()
        known.url, known.since, known.expired = url, trio.current_time(), False
        return known


def _decode(event: Event, kind: type[T]) -> T | None:
    """Return the decoded event, or None for an unknown shape, which is skipped."""
    try:
        return event.decode(kind)
    except ProtocolError:
        return None
