"""PendingNavigation: which frames of a page are about to get another document, kept from Chrome's events.

Rule: a navigation is pending from the event that requests or begins it until its document is there, or Chrome
reports that none comes. The reader keeps this model, event by event; nothing here waits. A new document that the
page itself went to is fresh until somebody has waited for it: see `arriving`.
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
from cdpengine.errors import UndecodableReplyError

T = TypeVar("T")


@attrs.define(eq=False)
class Pending:
    """A navigation of one frame that has brought no document yet.

    `requested`: the page asked for it, and Chrome has not begun; `begun`: Chrome loads the document. Both hold
    where a further navigation was requested meanwhile. `stopped`: an event came that can be its end, or the end of
    what was before; a question to the page settles it. `initial`: the first one of a new frame. `given_up`: a wait
    for it has taken all its time. `since`: when the latest event came (trio's clock). `loaders`: those
    of the documents that Chrome began to load. The last document is expected, but an earlier one can arrive first.
    """

    url: str = ""
    requested: bool = False
    begun: bool = False
    stopped: bool = False
    initial: bool = False
    given_up: bool = False
    since: float = attrs.field(factory=trio.current_time)
    loaders: list[str] = attrs.field(factory=list)

    def replaces(self, loader_id: str) -> bool:
        """Whether the navigation goes on when that document, which Chrome began to load before, has arrived."""
        return self.begun and loader_id in self.loaders[:-1] and loader_id != self.loaders[-1]


_LOADERS_KEPT = 8
"""Documents that a pending navigation has replaced and that may still arrive."""


class PendingNavigation:
    """Knows which frames of a page wait for another document.

    While the main frame does, Chrome holds back commands for the page's process until that document comes or the
    navigation is stopped (termination excepted): such a page does not answer, and does not hang. `under_way` is
    whether the main frame's navigation has begun. `pending` has the navigations by frame. `arrived` has the time
    at which the present document of each frame came (trio's clock), `fresh` the same for documents that the page
    itself went to and nobody has waited for. `requests` counts what the page itself asked for in the main frame.
    `overtaken`: the document that the engine itself left had requested a navigation, which may begin yet.
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
        session.on_event("Page.frameNavigated", self._note_arrival)
        session.on_event("Page.frameDetached", self._note_detachment)

    # --- what is known ---------------------------------------------------------------------------------------

    @property
    def under_way(self) -> bool:
        """Whether a navigation of the main frame has begun, and its document is not there yet."""
        known = self.pending.get(self._session.frame_id)
        return known is not None and known.begun

    def find_doubtful(self, frame_ids: Iterable[str]) -> str | None:
        """Return one of these frames whose navigation may be over without an event that says so, or None."""
        for frame_id in frame_ids:
            known = self.pending.get(frame_id)
            if known is not None and (known.stopped or (known.begun and frame_id == self._session.frame_id)):
                return frame_id
        return None

    def leaving(self, frame_ids: Iterable[str]) -> set[str]:
        """Return the frames, of those, whose document is about to be replaced, and is worth waiting for."""
        pending = self.pending
        if not pending:
            return set()
        return {
            frame_id
            for frame_id in frame_ids
            if (known := pending.get(frame_id)) is not None and not (known.initial or known.given_up)
        }

    def is_awaited(self, frame_ids: Iterable[str]) -> bool:
        """Whether one of these frames is about to get another document, or got one that nobody has waited for."""
        if not self.pending and not self.fresh:
            return False
        frame_ids = list(frame_ids)
        return bool(self.leaving(frame_ids)) or any(frame_id in self.fresh for frame_id in frame_ids)

    def add_set_off(self, frame_ids: Iterable[str]) -> None:
        """Note which frames an action made navigate, for the next snapshot of the page."""
        self._set_off.update(frame_ids)

    def take_set_off(self) -> set[str]:
        """Return the frames that actions made navigate since the last call."""
        taken, self._set_off = self._set_off, set()
        return taken

    # --- what others know better ----------------------------------------------------------------------------

    @contextmanager
    def leading(self) -> Iterator[None]:
        """Note that the engine itself navigates the main frame in the block, and waits for the document."""
        self._leading += 1
        self._requests_before, self.overtaken = self.requests, None
        try:
            yield
        finally:
            self._leading -= 1
            self.fresh.pop(self._session.frame_id, None)

    def give_up(self, frame_ids: Iterable[str]) -> None:
        """Have nobody wait any longer for the navigations of these frames that are pending now."""
        for frame_id in frame_ids:
            if (known := self.pending.get(frame_id)) is not None:
                known.given_up = True

    def end(self, frame_id: str) -> None:
        """Note that the frame's navigation is over, with or without a document."""
        self.pending.pop(frame_id, None)
        self._notify()

    def adopt(self, before: str) -> None:
        """Note that the main frame, whose id was `before`, shows a document in which it has its present id."""
        now = trio.current_time()
        self.arrived[before] = self.arrived[self._session.frame_id] = now
        self.fresh.pop(before, None)
        if before in self.pending and not self._leading:
            self.fresh[self._session.frame_id] = now
        self.end(before)

    def keep_only(self, frame_ids: Iterable[str]) -> None:
        """Drop what is known of all frames but these: the sessions of the others ended without an event."""
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
            known.loaders = [*known.loaders[-_LOADERS_KEPT:], started.loader_id]
            if expected:
                self._notify()  # else nobody can be waiting for it

    def _note_clearing(self, event: Event) -> None:
        cleared = _decode(event, FrameClearedScheduledNavigation)
        if cleared is None or (known := self.pending.get(cleared.frame_id)) is None or not known.requested:
            return
        # It has begun, which the browser process may report later, or nothing comes of it: a question tells.
        known.requested, known.stopped = False, True
        self._notify()

    def _note_end(self, event: Event) -> None:
        ended = _decode(event, FrameStoppedLoading)
        if ended is None or (known := self.pending.get(ended.frame_id)) is None:
            return
        # It can be the end of the document before, or of a navigation that another one has replaced.
        if known.begun:
            known.begun = False
            if ended.frame_id == self._session.frame_id:
                known.stopped = True
                self._notify()
            elif not known.requested:
                self.end(ended.frame_id)

    def _note_arrival(self, event: Event) -> None:
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
        known.url, known.since, known.given_up = url, trio.current_time(), False
        return known


def _decode(event: Event, kind: type[T]) -> T | None:
    """Return the event; None where it has another shape: it is passed over."""
    try:
        return event.decode(kind)
    except UndecodableReplyError:
        return None
