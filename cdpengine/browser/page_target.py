"""PageTarget: one page of the browser: its session, its lane's session, its frames, its dialogs.

Rule: its model is kept by the reader, event by event, so it is up to date when a later reply arrives. It holds
state and waits for state; what is done to a page stands on it, in modules of its own.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from cdpengine.browser.changes import Changes
from cdpengine.browser.dialogs import Dialog, DialogOpening, answer
from cdpengine.browser.frames import FRAME_EVENTS, Frame, FrameEvent, FrameTree, FrameTreeReply
from cdpengine.errors import ConnectionLost, EngineError, SessionGone, UndecodableReply
from cdpengine.session.events import Event
from cdpengine.session.session import CRASHED, Session
from cdpengine.session.targets import TargetInfo

T = TypeVar("T")

logger = logging.getLogger("cdpengine.browser")

DIALOGS_KEPT = 100
"""Dialogs a page whose record is kept."""

REVIVED = "Inspector.targetReloadedAfterCrash"
"""The event after which a crashed session can be used again."""


class PageTarget:
    """A page as the engine knows it. Made by Tabs when Chrome attaches its target."""

    def __init__(self, session: Session, info: TargetInfo, changes: Changes) -> None:
        self.session = session
        self.target_id = info.target_id
        self.context_id = info.browser_context_id
        self.opener_id = info.opener_id
        self.lane: Session | None = None
        self.lane_error: EngineError | None = None
        self.frames = FrameTree(info.target_id)
        self.frames.main.url = info.url
        self.frame_sessions: dict[str | None, Session] = {session.id: session}
        self.changes = changes
        self.dialogs: deque[Dialog] = deque(maxlen=DIALOGS_KEPT)
        self.dialogs_opened = 0
        self._dialog_open = False
        self._started = False
        self._ready = False
        self.take_frame_tree = self.listen(session)
        session.on_event("Page.javascriptDialogOpening", self._dialog_opening)
        session.on_event("Page.javascriptDialogClosed", self._dialog_closed)
        session.on_event(CRASHED, self._dialog_closed)
        session.on_event(REVIVED, self._noted)
        session.on_end(self.changes.notify)

    def __repr__(self) -> str:
        return f"<PageTarget {self.target_id[:8]} {self.frames.main.url[:60]!r}>"

    # --- the model -----------------------------------------------------------------------------------------

    def listen(self, session: Session) -> Callable[[FrameTreeReply], None]:
        """Follow the frames that `session` reports. Returns what takes the reply to its `Page.getFrameTree`.

        Events that came before the reply was taken are applied once more after it: the reply may be older
        than they are, and applying the whole sequence again ends in the same state.
        """
        early: list[FrameEvent] | None = []
        session_id = session.id

        def observe(event: Event) -> None:
            try:
                frame_event = event.decode(FRAME_EVENTS[event.method])
            except UndecodableReply as error:
                logger.warning("an event was not understood and passed over: %s", error)
                return
            self.frames.apply(frame_event, session_id)
            if early is not None:
                early.append(frame_event)
            self.changes.notify()

        def take(reply: FrameTreeReply) -> None:
            nonlocal early
            if session.ended:
                return  # the reply came before the end, and is taken after it
            self.frames.apply_tree(reply.frame_tree, session_id)
            for frame_event in early or ():
                self.frames.apply(frame_event, session_id)
            early = None
            self.changes.notify()

        for method in FRAME_EVENTS:
            session.on_event(method, observe)
        return take

    def attach_frame_session(self, session: Session) -> Callable[[FrameTreeReply], None]:
        """Add the session of an iframe that runs in a process of its own."""
        self.frame_sessions[session.id] = session

        def ended() -> None:
            self.frame_sessions.pop(session.id, None)
            self.frames.end_session(session.id)
            self.changes.notify()

        session.on_end(ended)
        return self.listen(session)

    def session_of(self, frame: Frame) -> Session:
        """Return the session in whose process the frame runs."""
        return self.frame_sessions.get(frame.session_id, self.session)

    # --- readiness and waiting -----------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self.session.ended

    def set_started(self) -> None:
        """Note that the page is no longer held back: its set-up was sent, and nothing keeps it from running."""
        self._started = True
        self.changes.notify()

    def set_ready(self) -> None:
        """Note that the page's set-up is answered."""
        self._ready = True
        self.changes.notify()

    def set_lane(self, lane: Session) -> None:
        """Note the session on which everything is evaluated; it has answered."""
        self.lane = lane
        self.changes.notify()

    def set_lane_error(self, error: EngineError) -> None:
        """Note why there is no lane."""
        self.lane_error = error
        self.changes.notify()

    async def started(self) -> None:
        """Wait until the page is not held back any more; it may be stuck or crashed. Raises why it ended."""
        if self._started and not self.session.ended:
            return

        def state() -> bool:
            if self.session.ended and (error := self.session.error()):
                raise error
            return self._started

        await self.changes.wait_for(state)

    async def ready(self) -> None:
        """Wait until the page's set-up is answered. Raises why it cannot be used: closed, crashed, lost."""
        if self._ready and self.session.error() is None:
            return  # the common case costs no checkpoint: the caller's next step has one

        def state() -> bool:
            if error := self.session.error():
                raise error
            return self._ready

        await self.changes.wait_for(state)

    async def wait_for(self, condition: Callable[[], T | None], *, also_crashed: bool = False) -> T:
        """Wait until `condition` gives a value. Raises SessionGone, TargetCrashed or ConnectionLost meanwhile.

        With `also_crashed`, a page that had crashed before is waited for: a navigation brings it back.
        """
        forgiven = also_crashed and self.session.crashed

        def checked() -> T | None:
            nonlocal forgiven
            value = condition()
            if value is None or value is False:
                forgiven = forgiven and self.session.crashed
                error = self.session.error()
                if error is not None and (self.session.ended or not forgiven):
                    raise error
                return None
            return value

        return await self.changes.wait_for(checked)

    # --- dialogs -------------------------------------------------------------------------------------------

    def _dialog_opening(self, event: Event) -> None:
        try:
            opening = event.decode(DialogOpening)
        except UndecodableReply as error:
            logger.warning("a dialog was not understood and is dismissed: %s", error)
            opening = DialogOpening(type="unknown")
        dialog = answer(opening)
        self.dialogs.append(dialog)
        self.dialogs_opened += 1
        self._dialog_open = True
        # Not waited for. A refusal says that somebody else was faster: the user, or another client.
        with suppress(SessionGone, ConnectionLost):
            self.session.post("Page.handleJavaScriptDialog", accept=dialog.accepted)
        self.changes.notify()

    def _dialog_closed(self, _event: Event) -> None:
        self._dialog_open = False
        self.changes.notify()

    def _noted(self, _event: Event) -> None:
        self.changes.notify()

    async def dialog_opened(self) -> None:
        """Return when a dialog opens; at once when one is open. Raises why the page ended."""
        before = self.dialogs_opened
        await self.wait_for(lambda: self._dialog_open or self.dialogs_opened > before)
