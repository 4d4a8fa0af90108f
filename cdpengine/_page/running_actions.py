"""RunningActions: the actions that run on one page, with their start, turns and side effects.

Rule: an action begins once the page is set up and no recovery is in progress. The page is queried before the
action's deadline, so that its state is known at the deadline. The reader records the page's dialogs, navigations,
popups and downloads in the running action, as Chrome reports them. The record contains their beginnings, not their
results.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from operator import attrgetter
from types import TracebackType
from typing import Any, ParamSpec, TypeVar

import trio

from cdpengine._budget import check_run, find_run
from cdpengine._notifier import Notifier
from cdpengine._page.announcing import ActionListener, announce_call
from cdpengine._page.dialog_release import RELEASE_URL
from cdpengine._page.dialogs import REPLIES_TIMEOUT, TrackedDialog
from cdpengine._page.navigation.liveness import post_empty_evaluation
from cdpengine._page.side_effects import (
    NAVIGATION_EVENTS,
    DownloadStarted,
    NavigationStarted,
    PopupOpened,
    SideEffects,
)
from cdpengine._protocol.calls import Turn
from cdpengine._protocol.domains.page import (
    FIRST_NAVIGATION,
    NEW_TAB,
    WITHIN_DOCUMENT,
    FrameClearedScheduledNavigation,
    FrameRequestedNavigation,
    FrameScheduledNavigation,
    FrameStartedNavigating,
    NavigatedWithinDocument,
    PageDownloadWillBegin,
    WindowOpen,
)
from cdpengine._protocol.domains.target import TargetCreated
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    DialogOpenedError,
    EngineError,
    NavigationFailedError,
    ProtocolError,
    RecoveryReport,
    SessionGoneError,
)
from cdpengine.errors.misuse import explain_arguments, is_about_arguments
from cdpengine.errors.other_libraries import ARGUMENTS

T = TypeVar("T")
P = ParamSpec("P")


def announced(
    verb: str, running: Callable[[Any], Any] = attrgetter("internals.target.running")
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Announce a method of a page, or of a part of it, as `verb` to the page's listeners.

    `running` returns the RunningActions of the method's object.
    """

    def decorate(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(method)
        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            actions = running(args[0])
            check_run(actions.owner, verb)
            if not (listeners := actions.listeners):
                try:
                    return await method(*args, **kwargs)
                except TypeError as error:
                    if not is_about_arguments(error):
                        raise
                    raise explain_arguments(error, ARGUMENTS.get(verb, {}), method) from None
            return await announce_call(verb, listeners, method, args, kwargs)

        return run

    return decorate


def announced_read(
    verb: str, running: Callable[[Any], Any] = attrgetter("internals.target.running")
) -> Callable[[Callable[P, Coroutine[Any, Any, T]]], Callable[P, Coroutine[Any, Any, T]]]:
    """Announce a method that only reads to the page's `read_listeners`. Arguments are those of `announced`."""

    def decorate(method: Callable[P, Coroutine[Any, Any, T]]) -> Callable[P, Coroutine[Any, Any, T]]:
        @functools.wraps(method)
        async def run(*args: P.args, **kwargs: P.kwargs) -> T:
            if not (listeners := running(args[0]).read_listeners):
                return await method(*args, **kwargs)
            return await announce_call(verb, listeners, method, args, kwargs)

        return run

    return decorate


class RunningActions:
    """The running actions of `session`'s page. `ask` sends a liveness query without waiting.

    `used`: the engine may act on the page; otherwise the first action calls `use`. `listeners` are called for
    `announced` methods, `read_listeners` for methods that only read, and `request_listeners` for requests.
    `unconfirmed`: queries that the page must answer until all navigations requested by input or a user's script
    are known.
    """

    dialog_timeout = REPLIES_TIMEOUT
    """Maximum time in seconds that input waits after it opened a dialog."""

    def __init__(
        self,
        session: Session,
        changes: Notifier,
        nursery: trio.Nursery,
        ask: Callable[[], None],
        use: Callable[[], None] = lambda: None,
    ) -> None:
        self.listeners: list[ActionListener] = []
        self.read_listeners: list[ActionListener] = []
        self.request_listeners: list[ActionListener] = []
        self.unconfirmed = 0
        self.used = True
        self.owner = find_run()
        self._session = session
        self._changes = changes
        self._use = use
        self._questions = _EarlyQuestions(ask, session, nursery)
        self._records: list[SideEffects] = []
        self._dialog_listeners: list[Callable[[], None]] = []
        self._tab_listeners: list[Callable[[str], None]] = []
        self._window_url = ""
        self.window_sized = False
        """Whether the page set a size for the window that it opened last."""
        self._dialog: TrackedDialog | None = None
        self._dialogs_opened = 0
        self._turns: dict[Session, Turn] = {}
        self._started = False
        self._set_up = False
        self._recovery_under_way = False
        self._terminations: set[object] = set()
        self._last_recovery: RecoveryReport | None = None
        self.listen(session)
        root = session.connection.root
        root.on_event("Target.targetCreated", self._note_target)
        session.on_end(lambda: root.off_event("Target.targetCreated", self._note_target))

    def run(self, action: str, deadline: float = math.inf) -> _RunningAction:
        """Return the context manager of one action with that deadline on trio's clock.

        Raises DialogOpenedError after the body if a dialog opened in it under the policy "raise". An exception of
        the body is raised unchanged, with a note of the dialogs. Only a failed navigation is replaced, because a
        dismissed beforeunload dialog caused it.
        """
        return _RunningAction(self, action, deadline, self._changes)

    @contextmanager
    def ask_before(self, deadline: float) -> Iterator[None]:
        """Send a liveness query shortly before the deadline, unless the block ends earlier."""
        key = object()
        self._questions.add(key, deadline)
        try:
            yield
        finally:
            self._questions.remove(key)

    # --- readiness -------------------------------------------------------------------------------------------

    @property
    def is_set_up(self) -> bool:
        """Return whether the page's set-up was answered. Before that, Chrome may still pause the page."""
        return self._set_up

    def set_started(self) -> None:
        """Note that the page is no longer paused: its set-up was sent, and it can run."""
        self._started = True
        self._changes.notify()

    def set_unready(self) -> None:
        """Note that a part of the set-up must be repeated: see `set_ready`."""
        self._set_up = False

    def set_ready(self) -> None:
        """Note that the page's set-up is answered."""
        self._set_up = True
        self._changes.notify()

    async def started(self) -> None:
        """Wait until the page is not paused and no recovery is in progress. It may be hung or crashed.

        Raises the error of an ended page.
        """
        await self.recovered()
        if self._started and not self._session.ended:
            return

        def state() -> bool:
            if self._session.ended and (error := self._session.error()):
                raise error
            return self._started

        await self._changes.wait_for(state)

    async def ready(self) -> None:
        """Wait until no recovery is in progress and the page is set up. Raises the errors of `set_up_answered`."""
        await self.recovered()
        await self.set_up_answered()

    async def set_up_answered(self) -> None:
        """Wait until the page's set-up is answered. Raises the error of a closed, crashed or lost page."""
        if self._set_up and self._session.usable:
            return  # the common case costs no checkpoint: the caller's next step has one

        def state() -> bool:
            if error := self._session.error():
                raise error
            return self._set_up

        await self._changes.wait_for(state)

    async def recovered(self) -> None:
        """Wait until no recovery is in progress."""
        if self._recovery_under_way or self._terminations:
            await self._changes.wait_for(lambda: not self._recovery_under_way and not self._terminations)

    @property
    def recovery_under_way(self) -> bool:
        """Whether a recovery is in progress that does more than terminate scripts."""
        return self._recovery_under_way

    @property
    def last_recovery(self) -> RecoveryReport | None:
        """The report of the latest such recovery; None while one is in progress, or if there was none."""
        return self._last_recovery

    def begin_recovery(self) -> None:
        """Note that a recovery begins. Later calls to the page wait for its end."""
        self._recovery_under_way = True
        self._last_recovery = None

    def end_recovery(self, report: RecoveryReport | None) -> None:
        """Note the end of a recovery, with its report, or None if it did not complete."""
        self._recovery_under_way = False
        self._last_recovery = report
        self._changes.notify()

    def is_terminated_by(self, termination: object) -> bool:
        """Return whether this termination is still in progress."""
        return termination in self._terminations

    def begin_termination(self, termination: object) -> None:
        """Note that this termination begins. Later calls to the page wait for its end."""
        self._terminations.add(termination)

    def end_termination(self, termination: object) -> None:
        """Note the end of a termination."""
        self._terminations.discard(termination)
        self._changes.notify()

    # --- deadlines and dialogs -------------------------------------------------------------------------------

    def add(self, action: _RunningAction) -> None:
        """Note that an action begins. Used by `run`."""
        if not self.used:
            self._use()
        self._records.append(action.effects)
        self._questions.add(action, action.deadline)

    def remove(self, action: _RunningAction) -> None:
        """Note that an action has ended."""
        self._questions.remove(action)
        self._records.remove(action.effects)

    @contextmanager
    def record(self) -> Iterator[SideEffects]:
        """Record what begins on the page and in its frames during the block, including dialogs."""
        effects = SideEffects(self._changes)
        self._records.append(effects)
        try:
            yield effects
        finally:
            self._records.remove(effects)

    def listen(self, session: Session) -> None:
        """Track the frames that a session of the page reports."""
        session.on_event("Page.frameScheduledNavigation", self._note_schedule)
        session.on_event("Page.frameClearedScheduledNavigation", self._note_clearing)
        for method in NAVIGATION_EVENTS:
            session.on_event(method, self._note_navigation)
        session.on_event("Page.downloadWillBegin", self._note_download)
        session.on_event("Page.windowOpen", self._note_window)
        session.on_event("Page.frameRequestedNavigation", self._note_tab)

    def _note_schedule(self, event: Event) -> None:
        found = self._decode(event, FrameScheduledNavigation)
        if found is not None and found.delay == 0:
            for effects in self._records:
                effects.scheduled.add(found.frame_id)

    def _note_clearing(self, event: Event) -> None:
        if (found := self._decode(event, FrameClearedScheduledNavigation)) is not None:
            self._end_schedule(found.frame_id)
            self._changes.notify()

    def _end_schedule(self, frame_id: str) -> None:
        for effects in self._records:
            effects.scheduled.discard(frame_id)

    def _note_navigation(self, event: Event) -> None:
        if (found := self._decode(event, NAVIGATION_EVENTS[event.method])) is None:
            return
        self._end_schedule(found.frame_id)
        within = isinstance(found, NavigatedWithinDocument)
        if isinstance(found, FrameRequestedNavigation) and found.disposition != "currentTab":
            return
        if isinstance(found, FrameStartedNavigating):
            if found.url == RELEASE_URL:
                return
            within = found.navigation_type in WITHIN_DOCUMENT
        first = isinstance(found, FrameRequestedNavigation) and found.reason == FIRST_NAVIGATION
        started = NavigationStarted(found.frame_id, found.url, within)
        for effects in self._records:
            if first:
                effects.new_frames.add(found.frame_id)
            # Chrome reports a navigation at its request, and again at its beginning.
            if started not in effects.navigations:
                effects.navigations.append(started)
        self._changes.notify()

    def _note_download(self, event: Event) -> None:
        if (found := self._decode(event, PageDownloadWillBegin)) is None:
            return
        for effects in self._records:
            if all(known.guid != found.guid for known in effects.downloads):
                effects.downloads.append(DownloadStarted(found.guid, found.url, found.suggested_filename))
        self._changes.notify()

    def _note_window(self, event: Event) -> None:
        if (found := self._decode(event, WindowOpen)) is not None:
            self._window_url = found.url
            names = {feature.partition("=")[0] for feature in found.window_features}
            self.window_sized = not names.isdisjoint(("width", "height"))

    def _note_target(self, event: Event) -> None:
        if (found := self._decode(event, TargetCreated)) is None:
            return
        info = found.target_info
        if info.opener_id == self._session.target_id and info.type == "page":
            # When a target is created, it has no URL yet.
            self.note_popup(info.target_id, info.url or self._window_url)

    def note_popup(self, target_id: str, url: str) -> None:
        """Note that the page opened another one."""
        for effects in self._records:
            effects.popups.append(PopupOpened(target_id, url))
        self._changes.notify()

    def on_new_tab(self, listener: Callable[[str], None]) -> None:
        """Call `listener` with the URL of each tab that the page requests without becoming its opener."""
        self._tab_listeners.append(listener)

    def _note_tab(self, event: Event) -> None:
        try:
            found = event.decode(FrameRequestedNavigation)
        except ProtocolError:
            return  # `_note_navigation` records it
        if found.disposition in NEW_TAB:
            for effects in self._records:
                effects.new_tabs += 1
            for listener in self._tab_listeners:
                listener(found.url)

    def _decode(self, event: Event, kind: type[T]) -> T | None:
        if not self._records:
            return None  # no action runs
        try:
            return event.decode(kind)
        except ProtocolError as error:
            self._session.connection.wire.faults.pass_over(event, error)
            return None

    def note_dialog(self, tracked: TrackedDialog) -> None:
        """Note that a dialog opened. Called by the reader."""
        self._dialog = tracked
        self._dialogs_opened += 1
        for listener in tuple(self._dialog_listeners):
            listener()
        for effects in self._records:
            effects.tracked_dialogs.append(tracked)
        self._changes.notify()

    @property
    def dialog_is_open(self) -> bool:
        """Whether a dialog is open now."""
        return self._dialog is not None and self._dialog.open

    async def dialog_opened(self) -> None:
        """Wait until a dialog opens; return immediately if one is open. Raises the error of an ended page."""
        before = self._dialogs_opened

        def opened() -> bool:
            if self.dialog_is_open or self._dialogs_opened > before:
                return True
            if error := self._session.error():
                raise error
            return False

        await self._changes.wait_for(opened)

    def on_dialog(self, listener: Callable[[], None]) -> None:
        """Call `listener` when a dialog opens, in the reader."""
        self._dialog_listeners.append(listener)

    def off_dialog(self, listener: Callable[[], None]) -> None:
        """Remove a listener that `on_dialog` added."""
        self._dialog_listeners.remove(listener)

    # --- turns ------------------------------------------------------------------------------------------------

    def turn_of(self, session: Session) -> Turn:
        """Return the turn for evaluations on a session of the page."""
        if (turn := self._turns.get(session)) is None:
            turn = Turn(session.send_shared, partial(post_empty_evaluation, session))
            if not session.ended:
                self._turns[session] = turn
        return turn

    def forget_turn(self, session: Session) -> None:
        """Drop the turn of a session that ended."""
        self._turns.pop(session, None)


class _RunningAction:
    """The context manager of `RunningActions.run`. A class, because a generator costs more for every action."""

    __slots__ = ("_action", "_actions", "deadline", "effects")

    def __init__(self, actions: RunningActions, action: str, deadline: float, changes: Notifier) -> None:
        self._actions = actions
        self._action = action
        self.deadline = deadline
        self.effects = SideEffects(changes)

    def __enter__(self) -> None:
        self._actions.add(self)

    def __exit__(
        self, _kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._actions.remove(self)
        if not self.effects.tracked_dialogs:
            return
        if error is None or isinstance(error, NavigationFailedError):
            raising = next(
                (tracked.dialog for tracked in self.effects.tracked_dialogs if tracked.raises), None
            )
            if raising is not None:
                raise DialogOpenedError(
                    action=self._action, kind=raising.type, text=raising.message, dialog=raising
                ) from error
        elif isinstance(error, EngineError):
            for opened in self.effects.dialogs:
                error.add_note(f"a dialog opened meanwhile: {opened.type}")


# --- liveness queries before deadlines -----------------------------------------------------------------------

KNOWN_UNRESPONSIVE = 0.5
"""Time in seconds without an answer after which a page is called unresponsive. Measured with an idle page on two
cores with ten busy processes: one answer in a hundred takes 0.05 to 0.11 s, and the slowest of three thousand took
0.3 s (docs/cdp-facts.md). So this exceeds the delays of a busy machine."""

QUICK_PROBE = 0.05
"""Time in seconds for a page to answer after a deadline, because an answer may have arrived unread."""


class _EarlyQuestions:
    """Liveness queries to a page, KNOWN_UNRESPONSIVE seconds before each deadline of its actions.

    So at the deadline it is known how long the page has not answered. All actions of the page share one task,
    which exists until the query of the earliest deadline is due.
    """

    def __init__(self, ask: Callable[[], None], session: Session, nursery: trio.Nursery) -> None:
        self._ask = ask
        self._session = session
        self._nursery = nursery
        self._deadlines: dict[object, float] = {}
        self._sleep: trio.CancelScope | None = None
        session.on_end(self._end)

    def add(self, key: object, deadline: float) -> None:
        """Query the page before that deadline. A deadline that is too near, or infinite, needs no query."""
        known = deadline + QUICK_PROBE - trio.current_time()
        if not KNOWN_UNRESPONSIVE <= known < math.inf or self._session.ended:
            return
        self._deadlines[key] = deadline
        if self._sleep is None:
            self._sleep = trio.CancelScope()
            self._nursery.start_soon(self._ask_in_time, name="questions before deadlines")
        else:
            self._sleep.deadline = min(self._sleep.deadline, deadline - KNOWN_UNRESPONSIVE)

    def remove(self, key: object) -> None:
        """Note that the action has ended."""
        self._deadlines.pop(key, None)

    async def _ask_in_time(self) -> None:
        try:
            while self._deadlines:
                earliest = min(self._deadlines.values()) - KNOWN_UNRESPONSIVE
                with trio.CancelScope(deadline=earliest) as self._sleep:
                    await trio.sleep_forever()
                now = trio.current_time()
                due = [
                    key for key, deadline in self._deadlines.items() if deadline - KNOWN_UNRESPONSIVE <= now
                ]
                for key in due:
                    del self._deadlines[key]
                if due:
                    with suppress(SessionGoneError, ConnectionLostError):  # the action raises the reason
                        self._ask()
        finally:
            self._sleep = None

    def _end(self) -> None:
        self._deadlines.clear()
        if self._sleep is not None:
            self._sleep.cancel()
