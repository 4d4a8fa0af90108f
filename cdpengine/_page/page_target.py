"""PageTarget: one page of the browser, with its sessions, frames and dialogs.

Rule: the reader updates this model with each event, so it is current when a later reply arrives. The model has
state and waits for state. Operations on a page are in other modules.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Protocol, TypeVar

import trio

from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._page.dialogs import DialogPolicy, PageDialogs
from cdpengine._page.file_choosers import FileChoosers, post_interception
from cdpengine._page.frame_changes import FrameChanges
from cdpengine._page.frames import FRAME_EVENTS, RESTORED, FrameEvent, FrameTree
from cdpengine._page.navigation.activation import Activation
from cdpengine._page.navigation.liveness import Ping
from cdpengine._page.navigation.pending import PendingNavigation
from cdpengine._page.running_actions import RunningActions
from cdpengine._protocol.calls import PendingCall, SharedCall
from cdpengine._protocol.domains.page import FrameNavigated, FrameTreeReply
from cdpengine._protocol.domains.target import TargetInfo
from cdpengine._protocol.feed import CRASHED, UNDISCARDED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    shown_url,
)

T = TypeVar("T")

logger = get_logger("cdpengine.browser")

MAX_DOCUMENTS = 50
"""Number of documents whose loading data is kept: more than Chrome's back/forward cache holds."""

_RESTORATION_TIMEOUT = 1.0
"""Time in seconds that actions wait for the frames of a restored document. A hung process never answers."""

REVIVED = "Inspector.targetReloadedAfterCrash"
"""Event after which a crashed session is usable again."""


def post_use(session: Session) -> list[tuple[str, PendingCall]]:
    """Send the commands that the engine's actions need and that the page can detect."""
    return [
        # Without it, a tab in the background takes 5 s for each mouse move and gets no animation frames.
        ("focus", session.post("Emulation.setFocusEmulationEnabled", enabled=True)),
        # An unanswered system dialog would block the page.
        ("choosers", post_interception(session)),
    ]


class PausedByScreencast(Protocol):
    """The film strip of a step trace. Chrome has one screencast for each session, so it pauses for another one."""

    def pause(self) -> None:
        """Stop the pictures without waiting."""

    def resume(self) -> None:
        """Start the pictures without waiting."""


class PageTarget:
    """A page in the engine's model. Tabs creates it when Chrome attaches its target.

    `opener` is the page that opened it, if present. `paused_at_start`: Chrome pauses it at its start until it is
    set up. `owner_of` returns the user's object for a page. `own_size`: its opener set a width or height. `ours`:
    this program opened the page, its opener or its browser. `restore` posts the changes to the set-up that a
    document from the back/forward cache missed.
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
        paused_at_start: bool = False,
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
        self.frame_changes = FrameChanges(self.frames)
        self.frame_sessions: dict[str | None, Session] = {session.id: session}
        self._ready_frame_sessions: set[Session] = set()
        self._restorations = 0
        self.worker_sessions: dict[str | None, Session] = {}
        self.worker_listeners: list[Callable[[Session], None]] = []
        """Called by the reader with the session of each worker that starts or ends."""
        self._documents: dict[str, object] = {}
        self._collector: object = None
        self.changes = changes
        policy = dialog_policy or DialogPolicy()
        self.ping = Ping(self._probed_session)
        self.running: RunningActions = RunningActions(session, changes, nursery, self.ping.ask, self.use)
        self.dialogs = PageDialogs(
            session, changes, nursery, policy, frames=self.frames, owner=lambda: owner_of(self)
        )
        self.dialogs.on_opening(self.running.note_dialog)
        self.ours = True
        self.choosers = FileChoosers(changes)
        self.choosers.listen(session)
        self.navigation = PendingNavigation(session, changes.notify)
        self.pictures = trio.Lock()
        self.has_screencast = False
        self.film: PausedByScreencast | None = None
        self.is_drawn_behind = True  # also while another tab is in front
        self._readers_before_leaving: list[Callable[[], Awaitable[None]]] = []
        self._doubt: Callable[[], None] = lambda: None
        self.activation = Activation(possible=not paused_at_start)
        self.restore: Callable[[], Sequence[PendingCall | SharedCall]] = list
        self.paused_at_start = paused_at_start
        self.take_frame_tree = self.listen(session)
        session.on_event(CRASHED, self._note_change)
        session.on_event(REVIVED, self._note_change)
        session.on_event(UNDISCARDED, self._show_undiscarded)
        session.on_end(self.changes.notify)

    def __repr__(self) -> str:
        return f"<PageTarget {self.target_id[:8]} {shown_url(self.frames.main.url)[:60]!r}>"

    def leave_alone(self) -> None:
        """Leave dialogs, file choosers and focus to the page's client until `use` is called."""
        self.running.used = self.dialogs.answering = False

    def use(self) -> None:
        """Prepare the page for the first action on it. Does not wait, because commands keep their order."""
        if self.running.used:
            return
        self.running.used = True
        for session in self.frame_sessions.values():
            with suppress(SessionGoneError, ConnectionLostError):
                post_use(session)
        self.dialogs.begin_answering()

    def keep_focus(self) -> None:
        """Make Chrome treat the page as focused, although another tab is in front. Does not wait for the answer.

        The set-up of the page does the same. But if another client detaches from the page, the emulated focus ends
        for all clients: renderers have one switch for each page, not for each session (measured).
        """
        for session in self.frame_sessions.values():
            with suppress(SessionGoneError, ConnectionLostError):
                session.post("Emulation.setFocusEmulationEnabled", enabled=True)

    # --- the model -----------------------------------------------------------------------------------------

    def listen(self, session: Session) -> Callable[[FrameTreeReply], None]:
        """Track the frames that `session` reports. Return the function for its `Page.getFrameTree` reply.

        Events before the reply are applied again after it, because the reply may be older. Applying the whole
        sequence again ends in the same state.
        """
        early: list[FrameEvent] | None = []
        counted = False

        def note_replaced_contexts(_event: Event) -> None:
            # If Runtime is enabled, it precedes the navigation. Events between the two contain objects of the
            # document.
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
            # Chrome reports no navigation to a prerendered document, only later events of its frames.
            if self.frames.get(event.params.get("frameId", "")) is None:
                suspect_activation()

        def observe(event: Event) -> None:
            nonlocal early
            try:
                frame_event = event.decode(FRAME_EVENTS[event.method])
            except ProtocolError as error:
                session.connection.wire.faults.pass_over(event, error)
                return
            before = session.frame_id
            self.frame_changes.apply(frame_event, session)
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
                return  # the reply arrived before the end, and is applied after it
            session.lived = True
            before = session.frame_id
            with self.frame_changes.comparing():
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
        """Add the session of an iframe in another process."""
        self.frame_sessions[session.id] = session

        def ended() -> None:
            self.frame_sessions.pop(session.id, None)
            self._ready_frame_sessions.discard(session)
            self.running.forget_turn(session)
            with self.frame_changes.comparing():
                self.frames.end_session(session)
            self.navigation.keep_only(frame.id for frame in self.frames)
            self.changes.notify()

        session.on_end(ended)
        self.choosers.listen(session)
        self.navigation.listen(session)
        self.running.listen(session)
        return self.listen(session)

    def set_frame_session_ready(self, session: Session) -> None:
        """Note that an iframe's session is set up, so its own iframes are known."""
        if not session.ended:
            self._ready_frame_sessions.add(session)
            self.changes.notify()

    def _begin_restoration(self, take: Callable[[FrameTreeReply], None]) -> None:
        """Let actions wait until the frames of a restored document are known."""
        if self.running.is_set_up or self._restorations:
            self._restorations += 1
            self.running.set_unready()
            calls = self._post_restoration()
            self.nursery.start_soon(self._restore_frames, take, calls, name="frames of a restored document")

    def _post_restoration(self) -> Sequence[PendingCall | SharedCall]:
        with suppress(SessionGoneError, ConnectionLostError):
            return self.restore()
        return []

    async def _restore_frames(
        self, take: Callable[[FrameTreeReply], None], calls: Sequence[PendingCall | SharedCall]
    ) -> None:
        # If the page ends, its waiting tasks get the reason.
        with trio.move_on_after(_RESTORATION_TIMEOUT), suppress(EngineError):
            for call in calls:
                with suppress(RemoteError):
                    await call.raw()
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
        """Return whether each attached iframe of the page is set up."""
        sessions = self.session.connection.targets.sessions.values()
        ours = {self.session, *self._ready_frame_sessions}
        return all(each in ours for each in sessions if each.target_type == "iframe" and each.parent in ours)

    def attach_worker_session(self, session: Session) -> None:
        """Add the session of a dedicated worker started by the page, a frame or another worker."""
        self.worker_sessions[session.id] = session
        for listener in tuple(self.worker_listeners):
            listener(session)

        def ended() -> None:
            self.worker_sessions.pop(session.id, None)
            for listener in tuple(self.worker_listeners):
                listener(session)
            self.changes.notify()

        session.on_end(ended)
        self.changes.notify()

    # --- readiness and waiting -----------------------------------------------------------------------------

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self.session.ended

    def set_started(self) -> None:
        """Note that the page is no longer paused: its set-up was sent, and it can run."""
        self.paused_at_start = False
        self.running.set_started()

    async def shows_document(self, seconds: float) -> None:
        """Wait until the page shows its first document or is closed, at most `seconds`."""
        with trio.move_on_after(seconds):
            await self.changes.wait_for(lambda: self.closed or bool(self.frames.main.url))

    def recovery_sessions(self, target_id: str | None = None) -> list[Session]:
        """Return the sessions that can free the process of a target (None: the page's own).

        At least one of them had answered before any script of the page ran.
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
        """Wait until `condition` returns a value.

        Raises SessionGoneError, TargetCrashedError or ConnectionLostError if the page ends meanwhile. With
        `also_crashed`, a page that crashed before the call is not an error, because a navigation restores it.
        """
        tolerates_crash = also_crashed and self.session.crashed

        def checked() -> T | None:
            nonlocal tolerates_crash
            value = condition()
            if value is None or value is False:
                tolerates_crash = tolerates_crash and self.session.crashed
                error = self.session.error()
                if error is not None and (self.session.ended or not tolerates_crash):
                    raise error
                return None
            return value

        return await self.changes.wait_for(checked)

    # --- data of other modules -----------------------------------------------------------------------------

    def store_document_data(self, loader_id: str, data: object) -> None:
        """Keep the loading data of a document for its next use. Only the latest MAX_DOCUMENTS are kept."""
        self._documents[loader_id] = data
        if len(self._documents) > MAX_DOCUMENTS:
            del self._documents[next(iter(self._documents))]

    def document_data(self, loader_id: str) -> object:
        """Return the kept loading data of a document, or None."""
        return self._documents.get(loader_id)

    @property
    def collector(self) -> object:
        """The collector of the page's activity, or None. Its type belongs to a higher layer."""
        return self._collector

    def set_collector(self, collector: object) -> None:
        """Keep the collector of the page's activity while the page exists."""
        self._collector = collector

    @contextmanager
    def reading_before_leaving(self, read: Callable[[], Awaitable[None]]) -> Iterator[None]:
        """Call `read` during the block before the engine navigates away from a document."""
        self._readers_before_leaving.append(read)
        try:
            yield
        finally:
            self._readers_before_leaving.remove(read)

    @property
    def readers_before_leaving(self) -> tuple[Callable[[], Awaitable[None]], ...]:
        """The functions that read a document again before it is left."""
        return tuple(self._readers_before_leaving)

    # --- evaluation sessions -------------------------------------------------------------------------------------

    @property
    def evaluation_session(self) -> Session | None:
        """The evaluation session of the page's own target, or None."""
        return self.evaluation_sessions.get(self.target_id)

    def set_evaluation_session(self, target_id: str, evaluation_session: Session) -> None:
        """Set the evaluation session of a target (the page's own, or a frame's). It has answered."""
        self.evaluation_sessions[target_id] = evaluation_session
        self.evaluation_session_errors.pop(target_id, None)
        for listener in self._evaluation_listeners:
            listener(evaluation_session)
        self.changes.notify()

    def on_evaluation_session_in_doubt(self, listener: Callable[[], None]) -> None:
        """Set the listener that is called when a termination does not free the page."""
        self._doubt = listener

    def doubt_evaluation_session(self) -> None:
        """Report that a termination did not free the page, so its evaluation session may not reach it."""
        self._doubt()

    def on_evaluation_session(self, listener: Callable[[Session], None]) -> None:
        """Call `listener` with each evaluation session that is set from now on."""
        self._evaluation_listeners.append(listener)

    def set_evaluation_session_error(self, target_id: str, error: EngineError) -> None:
        """Set the error that prevents a target's evaluation session."""
        self.evaluation_session_errors[target_id] = error
        self.changes.notify()

    def drop_evaluation_session(self, target_id: str, evaluation_session: Session) -> None:
        """Remove an ended evaluation session, unless the target has a newer one."""
        if self.evaluation_sessions.get(target_id) is evaluation_session:
            del self.evaluation_sessions[target_id]
        self.changes.notify()

    def count_rebuild(self, reason: str) -> None:
        """Count an evaluation session that was created again."""
        self.evaluation_session_rebuilds[reason] += 1

    async def script_session(self, target_id: str) -> Session:
        """Return the session for scripts in the page's target or in a frame: the session that reports it.

        Raises SessionGoneError if no such frame exists, TargetCrashedError, ConnectionLostError.
        """
        await self.running.ready()
        return self._own_session(target_id)

    async def evaluation_session_of(self, target_id: str) -> Session:
        """Wait for a usable evaluation session of the page's own target or of a frame, and return it.

        Raises SessionGoneError if no such frame exists or it cannot have an evaluation session,
        TargetCrashedError, ConnectionLostError.
        """

        def usable() -> Session | None:
            self._own_session(target_id)
            evaluation_session = self.evaluation_sessions.get(target_id)
            if evaluation_session is not None and not evaluation_session.ended:
                # The evaluation session receives a crash and the reload on a separate connection, earlier or
                # later.
                return None if evaluation_session.crashed else evaluation_session
            if (reason := self.evaluation_session_errors.get(target_id)) is not None:
                raise copy.copy(reason)  # because it is raised repeatedly
            return None

        await self.running.ready()
        return await self.wait_for(usable)

    def _own_session(self, target_id: str) -> Session:
        own = next((each for each in self.frame_sessions.values() if each.target_id == target_id), None)
        if own is None:
            raise SessionGoneError(target=f"iframe {target_id[:8]}", reason="it is no longer in the page")
        if error := own.error("Runtime.evaluate"):
            raise error
        return own

    def _show_undiscarded(self, _event: Event) -> None:
        """Bring a formerly discarded tab to the front: it has no size until it is displayed."""
        if self.running.used:
            with suppress(SessionGoneError, ConnectionLostError):
                self.session.post("Page.bringToFront")
        self.changes.notify()

    def _note_change(self, _event: Event) -> None:
        self.changes.notify()
