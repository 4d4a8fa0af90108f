"""PageTarget: one page of the browser: its session, its evaluation session's session, its frames, its dialogs.

Rule: its model is kept by the reader, event by event, so it is up to date when a later reply arrives. It holds
state and waits for state; what is done to a page stands on it, in modules of its own.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TypeVar

import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.dialogs import DialogPolicy, PageDialogs
from cdpengine._page.exposed_calls import wait_until_begun
from cdpengine._page.file_choosers import FileChoosers, post_interception
from cdpengine._page.frames import FRAME_EVENTS, RESTORED, FrameEvent, FrameTree
from cdpengine._page.navigation.activation import Activation
from cdpengine._page.navigation.liveness import Ping
from cdpengine._page.navigation.pending import PendingNavigation
from cdpengine._page.running_actions import RunningActions
from cdpengine._protocol.calls import PendingCall
from cdpengine._protocol.domains.page import FrameNavigated, FrameTreeReply
from cdpengine._protocol.domains.target import TargetInfo
from cdpengine._protocol.session import CRASHED, UNDISCARDED, Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    SessionGoneError,
    UndecodableReplyError,
    shown_url,
)

T = TypeVar("T")

logger = get_logger("cdpengine.browser")

DOCUMENTS_KEPT = 50
"""Documents of which it is known what they came with: more than Chrome keeps in its back/forward cache."""

_RESTORATION_TIMEOUT = 1.0
"""Seconds that actions wait for the frames of a document that came back: one whose process hangs never answers."""

REVIVED = "Inspector.targetReloadedAfterCrash"
"""The event after which a crashed session can be used again."""


def post_use(session: Session) -> list[tuple[str, PendingCall]]:
    """Send the commands that the engine's actions need and that the page can notice."""
    return [
        # Without it, a tab that is not in front takes 5 s for each mouse move and gets no animation frames.
        ("focus", session.post("Emulation.setFocusEmulationEnabled", enabled=True)),
        # A picker of the system that nobody answers would stop the page.
        ("choosers", post_interception(session)),
    ]


class PageTarget:
    """A page as the engine knows it. Made by Tabs when Chrome attaches its target.

    `opener` is the page that opened it, if it is there; `held_back`: Chrome keeps it at its start until its set-up
    is there. `owner_of` gives what users have for a page. `own_size`: its opener gave it a width or a height.

    `used`: the engine may act on the page. `ours`: this program opened it, its opener or its browser.
    """

    def __init__(
        self,
        session: Session,
        info: TargetInfo,
        changes: Notifier,
        nursery: trio.Nursery,
        dialog_policy: DialogPolicy | None = None,
        *,
        opener: PageTarget | None = None,
        held_back: bool = False,
        owner_of: Callable[[PageTarget], object] = lambda _page: None,
    ) -> None:
        self.session = session
        self.nursery = nursery
        self.target_id = info.target_id
        self.context_id = info.browser_context_id
        self.opener_id = info.opener_id
        above: tuple[str, ...] = () if info.opener_id is None else (info.opener_id,)
        self.lineage: tuple[str, ...] = (*(above if opener is None else opener.lineage), info.target_id)
        self.own_size = opener is not None and opener.running.window_sized
        self.evaluation_sessions: dict[str, Session] = {}
        self.evaluation_session_errors: dict[str, EngineError] = {}
        self._evaluation_listeners: list[Callable[[Session], None]] = []
        self.evaluation_session_rebuilds: Counter[str] = Counter()
        self.frames = FrameTree(info.target_id, session)
        self.frames.main.url = info.url
        self.frame_sessions: dict[str | None, Session] = {session.id: session}
        self._ready_frame_sessions: set[Session] = set()
        self._restorations = 0
        self.worker_sessions: dict[str | None, Session] = {}
        self._documents: dict[str, object] = {}
        self._collector: object = None
        self.changes = changes
        policy = dialog_policy or DialogPolicy()
        self.ping = Ping(self._probed_session)
        self.running: RunningActions = RunningActions(session, changes, nursery, self.ping.ask, self.use)
        self.dialogs = PageDialogs(session, changes, nursery, policy, owner=lambda: owner_of(self))
        self.dialogs.on_opening(self.running.note_dialog)
        self.used = True
        self.ours = True
        self.choosers = FileChoosers(changes)
        self.choosers.listen(session)
        self.navigation = PendingNavigation(session, changes.notify)
        self.pictures = trio.Lock()
        self.is_drawn_behind = True  # also while another tab is in front
        self._readers_before_leaving: list[Callable[[], Awaitable[None]]] = []
        self._doubt: Callable[[], None] = lambda: None
        self.activation = Activation(possible=not held_back)
        self.held_back = held_back
        self.take_frame_tree = self.listen(session)
        session.on_event(CRASHED, self._note_change)
        session.on_event(REVIVED, self._note_change)
        session.on_event(UNDISCARDED, self._show_undiscarded)
        session.on_end(self.changes.notify)

    def __repr__(self) -> str:
        return f"<PageTarget {self.target_id[:8]} {shown_url(self.frames.main.url)[:60]!r}>"

    def leave_alone(self) -> None:
        """Leave dialogs, file choosers and focus to the client that owns the page, until `use` is called."""
        self.used = self.dialogs.answering = False

    def use(self) -> None:
        """Begin to use the page, before the first action on it. Does not wait: commands keep their order."""
        if self.used:
            return
        self.used = True
        for session in self.frame_sessions.values():
            with suppress(SessionGoneError, ConnectionLostError):
                post_use(session)
        self.dialogs.begin_answering()

    def keep_focus(self) -> None:
        """Have Chrome treat the page as focused, although another tab is in front. Does not wait for the answer.

        The set-up of the page does the same. But when another client detaches from the page, the emulated focus
        ends for all clients: renderers have one switch for each page, not for each session (measured).
        """
        for session in self.frame_sessions.values():
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Emulation.setFocusEmulationEnabled", enabled=True)

    # --- the model -----------------------------------------------------------------------------------------

    def listen(self, session: Session) -> Callable[[FrameTreeReply], None]:
        """Follow the frames that `session` reports. Returns what takes the reply to its `Page.getFrameTree`.

        Events that came before the reply was taken are applied once more after it: the reply may be older
        than they are, and applying the whole sequence again ends in the same state.
        """
        early: list[FrameEvent] | None = []
        counted = False

        def note_replaced_contexts(_event: Event) -> None:
            # Where Runtime is on, it precedes the navigation. Events between the two hold objects of the document.
            nonlocal counted
            session.documents_shown += 1
            counted = True

        def note_document(before: str) -> None:
            nonlocal counted
            if not counted:
                session.documents_shown += 1
            counted = False
            if before != session.frame_id:
                self.navigation.adopt(before)

        def suspect_activation() -> None:
            nonlocal early
            if early is None and self.running.is_set_up:
                early, self.frames.complete = [], False
                self._begin_restoration(take)

        def note_unknown_frame(event: Event) -> None:
            # Chrome reports no navigation to a document that it had prerendered, only later events of its frames.
            if self.frames.get(event.params.get("frameId", "")) is None:
                suspect_activation()

        def observe(event: Event) -> None:
            nonlocal early
            try:
                frame_event = event.decode(FRAME_EVENTS[event.method])
            except UndecodableReplyError as error:
                session.connection._pass_over(event, error)
                return
            before = session.frame_id
            self.frames.apply(frame_event, session)
            if isinstance(frame_event, FrameNavigated) and frame_event.frame.id == session.frame_id:
                note_document(before)
            if early is not None:
                early.append(frame_event)
            if isinstance(frame_event, FrameNavigated) and frame_event.type == RESTORED:
                if not self.frames.complete:
                    early = []
                self._begin_restoration(take)
            self.changes.notify()

        def take(reply: FrameTreeReply) -> None:
            nonlocal early
            if session.ended:
                return  # the reply came before the end, and is taken after it
            session.lived = True
            before = session.frame_id
            self.frames.apply_tree(reply.frame_tree, session)
            if before != session.frame_id:
                note_document(before)
            for frame_event in early or ():
                self.frames.apply(frame_event, session)
            early = None
            self.changes.notify()

        session.on_event("Runtime.executionContextsCleared", note_replaced_contexts)
        for method in FRAME_EVENTS:
            session.on_event(method, observe)
        if session is self.session:
            self.activation.suspect = suspect_activation
            session.on_event("Page.frameStoppedLoading", note_unknown_frame)
            if self.activation.possible:
                session.on_event("Page.lifecycleEvent", note_unknown_frame)
        return take

    def attach_frame_session(self, session: Session) -> Callable[[FrameTreeReply], None]:
        """Add the session of an iframe that runs in a process of its own."""
        self.frame_sessions[session.id] = session

        def ended() -> None:
            self.frame_sessions.pop(session.id, None)
            self._ready_frame_sessions.discard(session)
            self.running.forget_turn(session)
            self.frames.end_session(session)
            self.navigation.keep_only(frame.id for frame in self.frames)
            self.changes.notify()

        session.on_end(ended)
        self.choosers.listen(session)
        self.navigation.listen(session)
        self.running.listen(session)
        return self.listen(session)

    def set_frame_session_ready(self, session: Session) -> None:
        """Note that the set-up of an iframe's session is answered, and with it which iframes are in that one."""
        if not session.ended:
            self._ready_frame_sessions.add(session)
            self.changes.notify()

    def _begin_restoration(self, take: Callable[[FrameTreeReply], None]) -> None:
        """Have actions wait until the frames of a document that came back are known."""
        if self.running.is_set_up or self._restorations:
            self._restorations += 1
            self.running.set_unready()
            self.nursery.start_soon(self._restore_frames, take, name="frames of a restored document")

    async def _restore_frames(self, take: Callable[[FrameTreeReply], None]) -> None:
        # Where the page goes away, its waiters get the reason.
        with trio.move_on_after(_RESTORATION_TIMEOUT), suppress(EngineError):
            if not self.frames.complete:
                before = self.session.frame_id
                take(await self.session.request("Page.getFrameTree", {}, FrameTreeReply))
                self.frames.complete = True
                if self.session.frame_id != before:
                    self.activation.loader_id = self.frames.main.loader_id
                    await self.activation.renew()
            await self.wait_for(self._has_all_frame_sessions)
        self._restorations -= 1
        if not self._restorations:
            self.running.set_ready()

    def _has_all_frame_sessions(self) -> bool:
        """Whether each iframe that Chrome has attached in this page is set up."""
        sessions = self.session.connection.targets.sessions.values()
        ours = {self.session, *self._ready_frame_sessions}
        return all(each in ours for each in sessions if each.target_type == "iframe" and each.parent in ours)

    def attach_worker_session(self, session: Session) -> None:
        """Add the session of a dedicated worker that the page, a frame of it or another worker of it started."""
        self.worker_sessions[session.id] = session

        def ended() -> None:
            self.worker_sessions.pop(session.id, None)
            self.changes.notify()

        session.on_end(ended)
        self.changes.notify()

    # --- readiness and waiting -----------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self.session.ended

    def set_started(self) -> None:
        """Note that the page is no longer held back: its set-up was sent, and nothing keeps it from running."""
        self.held_back = False
        self.running.set_started()

    async def shows_document(self, seconds: float) -> None:
        """Wait, at most so long, until the page shows the document that it was opened with, or is closed."""
        with trio.move_on_after(seconds):
            await self.changes.wait_for(lambda: self.closed or bool(self.frames.main.url))

    def recovery_sessions(self, target_id: str | None = None) -> list[Session]:
        """Return the sessions on which the process of a target (None: the page's own) can be freed.

        One of them was there, and had answered, before anything ran.
        """
        target_id = target_id or self.target_id
        evaluation_session = self.evaluation_sessions.get(target_id)
        evaluation_sessions = [] if evaluation_session is None else [evaluation_session]
        own = [session for session in self.frame_sessions.values() if session.target_id == target_id]
        return [session for session in evaluation_sessions + own if not session.ended]

    def _probed_session(self) -> Session:
        evaluation_session = self.evaluation_session
        return (
            self.session
            if evaluation_session is None or evaluation_session.ended or evaluation_session.crashed
            else evaluation_session
        )

    async def wait_for(self, condition: Callable[[], T | None], *, also_crashed: bool = False) -> T:
        """Wait until `condition` gives a value.

        Raises SessionGoneError, TargetCrashedError or ConnectionLostError when the page ends meanwhile.
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

    # --- what others keep here -----------------------------------------------------------------------------

    def keep_document(self, loader_id: str, came_with: object) -> None:
        """Keep what a document came with, for the next time that it is shown; of the latest DOCUMENTS_KEPT."""
        self._documents[loader_id] = came_with
        if len(self._documents) > DOCUMENTS_KEPT:
            del self._documents[next(iter(self._documents))]

    def kept_document(self, loader_id: str) -> object:
        """Return what was kept of a document; None for one that is not known."""
        return self._documents.get(loader_id)

    @property
    def collector(self) -> object:
        """What follows the page's activity, for the layer above; None while nothing does."""
        return self._collector

    def set_collector(self, collector: object) -> None:
        """Keep what follows the page's activity, as long as the page is there."""
        self._collector = collector

    @contextmanager
    def reading_before_leaving(self, read: Callable[[], Awaitable[None]]) -> Iterator[None]:
        """Have `read` called, while the block runs, before a navigation of the engine's own leaves a document."""
        self._readers_before_leaving.append(read)
        try:
            yield
        finally:
            self._readers_before_leaving.remove(read)

    @property
    def readers_before_leaving(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """What is to read a document once more before it is left."""
        return tuple(self._readers_before_leaving)

    # --- evaluation sessions
    # ---------------------------------------------------------------------------------------------

    @property
    def evaluation_session(self) -> Session | None:
        """The evaluation session of the page's own target; None while there is none."""
        return self.evaluation_sessions.get(self.target_id)

    @property
    def evaluation_session_error(self) -> EngineError | None:
        """Why the page's own target has no evaluation session; None while it has one, or one is being made."""
        return self.evaluation_session_errors.get(self.target_id)

    def set_evaluation_session(self, target_id: str, evaluation_session: Session) -> None:
        """Note the session on which a target (the page's own, or a frame's) can be stopped; it has answered."""
        self.evaluation_sessions[target_id] = evaluation_session
        self.evaluation_session_errors.pop(target_id, None)
        for listener in self._evaluation_listeners:
            listener(evaluation_session)
        self.changes.notify()

    def on_evaluation_session_in_doubt(self, listener: Callable[[], None]) -> None:
        """Have `listener` called where nothing brings the page back, in place of the one before."""
        self._doubt = listener

    def doubt_evaluation_session(self) -> None:
        """Note that nothing brings the page back: perhaps what stops its scripts does not reach it."""
        self._doubt()

    def on_evaluation_session(self, listener: Callable[[Session], None]) -> None:
        """Have `listener` called with each evaluation session that is set from now on."""
        self._evaluation_listeners.append(listener)

    def set_evaluation_session_error(self, target_id: str, error: EngineError) -> None:
        """Note why a target has no evaluation session."""
        self.evaluation_session_errors[target_id] = error
        self.changes.notify()

    def drop_evaluation_session(self, target_id: str, evaluation_session: Session) -> None:
        """Note that an evaluation session is over; that of a later session of the same target stays."""
        if self.evaluation_sessions.get(target_id) is evaluation_session:
            del self.evaluation_sessions[target_id]
        self.changes.notify()

    def count_rebuild(self, reason: str) -> None:
        """Count an evaluation session that had to be made again."""
        self.evaluation_session_rebuilds[reason] += 1

    async def script_session(self, target_id: str) -> Session:
        """Return the session on which the page's own target or a frame's is evaluated: the one that tells of it.

        Raises SessionGoneError when there is no such frame (any more), TargetCrashedError, ConnectionLostError.
        """
        await self.running.ready()
        return self._own_session(target_id)

    async def evaluation_session_of(self, target_id: str) -> Session:
        """Wait for a usable evaluation session of the page's own target or of a frame's, and return it.

        Raises SessionGoneError when there is no such frame (any more) or no evaluation session can be had for it,
        TargetCrashedError, ConnectionLostError.
        """

        def usable() -> Session | None:
            self._own_session(target_id)
            evaluation_session = self.evaluation_sessions.get(target_id)
            if evaluation_session is not None and not evaluation_session.ended:
                # It learns of a crash, and of the reload after it, on its own connection: it may be ahead or
                # behind.
                return None if evaluation_session.crashed else evaluation_session
            if (reason := self.evaluation_session_errors.get(target_id)) is not None:
                raise copy.copy(reason)  # as it is raised anew each time
            return None

        await self.running.ready()
        return await self.wait_for(usable)

    async def exposed_calls_begun(self, deadline: float) -> None:
        """Wait until the calls of exposed functions have begun that the page made so far, or the deadline is over.

        No checkpoint where there are none.
        """
        await wait_until_begun(self.frame_sessions.values(), deadline)

    def _own_session(self, target_id: str) -> Session:
        own = next((each for each in self.frame_sessions.values() if each.target_id == target_id), None)
        if own is None:
            raise SessionGoneError(target=f"iframe {target_id[:8]}", reason="it is not in the page any more")
        if error := own.error("Runtime.evaluate"):
            raise error
        return own

    def _show_undiscarded(self, _event: Event) -> None:
        """Bring a tab to the front that was discarded and is loaded now: until it is shown, it has no size."""
        if self.used:
            with suppress(SessionGoneError, ConnectionLostError):
                self.session.post("Page.bringToFront")
        self.changes.notify()

    def _note_change(self, _event: Event) -> None:
        self.changes.notify()
