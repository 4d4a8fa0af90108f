"""PageScope, the pages of a setting, and SessionOverride, the setting in all their current and future sessions.

Rule: every session gets the begin commands once, before its first script if it is new, and the end commands once,
in order with all other commands. Sessions that appear during begin or end are handled exactly once. A page that
does not answer delays no other page. The end is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._logs import get_logger
from cdpengine._page.page_target import REVIVED, PageTarget
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._page.worker_targets import WorkerTarget
from cdpengine._protocol.feed import UNDISCARDED
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    RemoteError,
    SessionGoneError,
)

logger = get_logger("cdpengine.browser")

PostCommands = Callable[[Session], Sequence[Posted]]
"""Posts commands to one session, and returns them without waiting."""

Renewal = Callable[[Session], Awaitable[None]]
"""Applies a setting to a prerendered document in a session, and waits for the answers."""

DOCUMENTS = frozenset({"page", "iframe"})
"""Types of targets with documents."""

DOCUMENTS_AND_WORKERS = DOCUMENTS | {"worker"}

SHARED_WORKERS = frozenset({"shared_worker", "service_worker"})
"""Types of workers that belong to no page."""

_BEGIN_TIMEOUT = 2.0
"""Time in seconds for pages to confirm the beginning, except the required one. Commands run in order, even if the
page answers later."""

_END_TIMEOUT = 0.5
"""Time in seconds for all pages together to confirm the end."""


@attrs.frozen(eq=False)
class PageScope:
    """The pages of `tabs` that `covers` accepts. `page` is the required one, None for a context.

    `covers_worker` accepts shared workers and service workers, which belong to no page.
    """

    tabs: Tabs
    covers: Callable[[PageTarget], bool]
    page: PageTarget | None = None
    covers_worker: Callable[[WorkerTarget], bool] | None = None

    @classmethod
    def of_page(cls, tabs: Tabs, page: PageTarget, *, popups: bool = True) -> PageScope:
        """Return the scope of one page and the pages opened from it, even if an opener is closed."""
        own = page.target_id
        return cls(tabs, lambda other: other.target_id == own or (popups and own in other.lineage), page)

    def sessions(self) -> list[Session]:
        """Return the current sessions of the pages, their frames and workers."""
        covered = {page.session for page in self.tabs.pages.values() if self.covers(page)}
        found = []
        for session in self.tabs.connection.targets.sessions.values():
            above: Session | None = session
            while above is not None and above not in covered:
                above = above.parent
            if above is not None:
                found.append(session)
        return found


class SessionOverride:
    """A setting: `begin` is posted to every session in `scope` from `enter` on, and `end` by `leave`.

    `types` are the affected types of targets. `renew` is called when Chrome has activated a prerendered document,
    which lacks the setting: see `PageTarget.on_activation`. `restore` is called when a document returns from the
    back/forward cache, which can lack it too.
    """

    def __init__(
        self,
        scope: PageScope,
        begin: PostCommands,
        end: PostCommands,
        *,
        types: Collection[str] = DOCUMENTS,
        renew: Renewal | None = None,
        restore: PostCommands | None = None,
    ) -> None:
        self._scope = scope
        self._begin = begin
        self._end = end
        self._types = types
        self._renew = renew
        self._restore = restore
        self._begun: dict[Session, None] = {}
        self._crashed: dict[Session, Callable[[Event], None]] = {}

    @property
    def sessions(self) -> list[Session]:
        """The live sessions that got the begin commands."""
        return [session for session in self._begun if not session.ended]

    async def enter(self) -> None:
        """Begin. The caller must call `leave` afterwards, even if this raises.

        Raises RemoteError if Chrome refuses. For a scope of one page, also raises SessionGoneError,
        TargetCrashedError and ConnectionLostError if the page is unreachable.
        """
        page = self._scope.page
        # A discarded tab has no renderer. It gets the commands when Chrome loads it.
        if page is not None and not page.session.is_discarded and (error := page.session.error()) is not None:
            raise error
        self._scope.tabs.add_set_up(
            self._set_up,
            None if self._renew is None else self._renew_on,
            None if self._restore is None else self._restore_on,
        )
        if self._covers_workers:
            await self._scope.tabs.workers.add_set_up(self._set_up_worker)
        calls = [(session, self._begin_on(session)) for session in self._scope.sessions()]
        until = trio.current_time() + _BEGIN_TIMEOUT
        for session, posted in calls:
            own = page is not None and session is page.session
            with trio.CancelScope(deadline=math.inf if own else until):
                for call in posted:
                    try:
                        await call.raw()
                    except (SessionGoneError, ConnectionLostError):
                        if own:
                            raise

    async def leave(self) -> None:
        """Send the end commands to every session that got the begin commands. Shielded and bounded."""
        self._scope.tabs.remove_set_up(self._set_up)
        early = self._crashed
        self._crashed = {}
        for session, listener in early.items():
            self._forget_listener(session, listener)
        calls: list[Posted] = []
        for session in self.sessions:
            if session.crashed and session in early:
                with session.posting_early(), suppress(SessionGoneError, ConnectionLostError):
                    self._end(session)
                continue
            if session.crashed:
                # A crashed session accepts no commands, but the setting applies again after a reload, and is
                # undone then.
                _once(session, REVIVED, self._end)
                continue
            with suppress(SessionGoneError, ConnectionLostError):
                calls += self._end(session)
        self._begun.clear()
        with undoing(_END_TIMEOUT):
            for call in calls:
                with suppress(SessionGoneError, ConnectionLostError, RemoteError):
                    await call.raw()
        if self._covers_workers:
            await self._scope.tabs.workers.remove_set_up(self._set_up_worker)

    @property
    def _covers_workers(self) -> bool:
        return self._scope.covers_worker is not None and not SHARED_WORKERS.isdisjoint(self._types)

    def _set_up_worker(self, worker: WorkerTarget, session: Session) -> list[Posted]:
        covers = self._scope.covers_worker
        if covers is None or not covers(worker):
            return []
        with suppress(SessionGoneError, ConnectionLostError):
            return self._begin_on(session)
        return []

    def _set_up(self, page: PageTarget, session: Session) -> list[Posted]:
        if not self._scope.covers(page):
            return []
        try:
            return self._begin_on(session)
        except (SessionGoneError, ConnectionLostError):
            return []
        except EngineError as error:
            logger.error("%s lacks a setting: %s", session.describe(), error)
            return []

    def _begin_on(self, session: Session) -> list[Posted]:
        if session in self._begun or session.ended or session.target_type not in self._types:
            return []
        for ended in [each for each in self._begun if each.ended]:
            del self._begun[ended]
        if session.crashed:
            self._begin_on_dead(session)
            return []
        self._begun[session] = None
        return list(self._begin(session))

    def _begin_on_dead(self, session: Session) -> None:
        """Send the begin commands when a reload has restored a crashed page.

        A page that looks crashed can be a discarded tab. It gets the commands now as well, for its first document.
        """
        if session in self._crashed:
            return
        early = session.is_discarded

        def revived(event: Event) -> None:
            if self._crashed.pop(session, None) is None:
                return
            self._forget_listener(session, revived)
            if event.method == UNDISCARDED and early:
                return
            if early:  # crashed, so Chrome refused the commands
                self._end(session)
            self._begun[session] = None
            self._begin(session)

        self._crashed[session] = revived
        for method in (REVIVED, UNDISCARDED):
            session.on_event(method, revived)
        if early:
            self._begun[session] = None
            with session.posting_early():
                self._begin(session)

    @staticmethod
    def _forget_listener(session: Session, listener: Callable[[Event], None]) -> None:
        for method in (REVIVED, UNDISCARDED):
            session.off_event(method, listener)

    def _restore_on(self, page: PageTarget) -> Sequence[Posted]:
        return (
            self._restore(page.session) if page.session in self._begun and self._restore is not None else []
        )

    async def _renew_on(self, page: PageTarget, session: Session) -> None:
        if session in self._begun and self._renew is not None and self._scope.covers(page):
            await self._renew(session)


def _once(session: Session, method: str, post: PostCommands) -> None:
    def listener(_event: Event) -> None:
        session.off_event(method, listener)
        with suppress(SessionGoneError, ConnectionLostError):
            post(session)

    session.on_event(method, listener)
