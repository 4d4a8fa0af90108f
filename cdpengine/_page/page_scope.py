"""PageScope: which pages a setting holds for; SessionOverride: it holds in all their sessions, present and future.

Rule: every session gets the begin commands once, before its first script where it is new, and the end commands
once, in the order in which everything else is sent. What comes while an override begins or ends is met exactly
once; a page that does not answer keeps no other one waiting; the end is bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress

import attrs
import trio

from cdpengine._budget import undoing
from cdpengine._logs import get_logger
from cdpengine._page.page_target import REVIVED, PageTarget
from cdpengine._page.tabs import Posted, Tabs
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

logger = get_logger("cdpengine.browser")

PostCommands = Callable[[Session], Sequence[Posted]]
"""Posts commands to one session, and returns them without waiting."""

DOCUMENTS = frozenset({"page", "iframe"})
"""Types of targets that have documents."""

DOCUMENTS_AND_WORKERS = DOCUMENTS | {"worker"}

_BEGIN_TIMEOUT = 2.0
"""Seconds that pages, but for the one that must be there, get to confirm the beginning. What was sent is obeyed in
order, even when the page answers later."""

_END_TIMEOUT = 0.5
"""Seconds that all pages together get to confirm the end."""


@attrs.frozen(eq=False)
class PageScope:
    """Which pages: those of `tabs` that `covers` says. `page`: the one that must be there, None for a context."""

    tabs: Tabs
    covers: Callable[[PageTarget], bool]
    page: PageTarget | None = None

    @classmethod
    def of_page(cls, tabs: Tabs, page: PageTarget, *, popups: bool = True) -> PageScope:
        """One page, and the pages that it opens, and those that they open, even when their opener is closed."""
        own = page.target_id
        return cls(tabs, lambda other: other.target_id == own or (popups and own in other.lineage), page)

    def sessions(self) -> list[Session]:
        """Return the sessions of now: of the pages, of their frames and workers that have one."""
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
    """Has `begin` posted to every session within `scope` from `enter` on, and `end` to each of them at `leave`.

    `types` are the types of targets that it holds for.
    """

    def __init__(
        self, scope: PageScope, begin: PostCommands, end: PostCommands, *, types: Collection[str] = DOCUMENTS
    ) -> None:
        self._scope = scope
        self._begin = begin
        self._end = end
        self._types = types
        self._begun: dict[Session, None] = {}
        self._crashed: dict[Session, Callable[[Event], None]] = {}

    @property
    def sessions(self) -> list[Session]:
        """The sessions that got the begin commands and live."""
        return [session for session in self._begun if not session.ended]

    async def enter(self) -> None:
        """Begin. Whatever this raises, call `leave` after it.

        Raises RemoteError when Chrome refuses; for a scope of one page also SessionGoneError, TargetCrashedError
        and ConnectionLostError when the page cannot be reached.
        """
        page = self._scope.page
        if page is not None and (error := page.session.error()) is not None:
            raise error
        self._scope.tabs.add_set_up(self._set_up)
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
        """Send the end commands to every session that got the begin commands. Shielded, and bounded."""
        self._scope.tabs.remove_set_up(self._set_up)
        for session, listener in self._crashed.items():
            session.off_event(REVIVED, listener)
        self._crashed.clear()
        calls: list[Posted] = []
        for session in self.sessions:
            if session.crashed:
                # A crashed session takes no commands, and what was set holds again after a reload: then it is
                # undone.
                _once(session, REVIVED, self._end)
                continue
            with suppress(SessionGoneError, ConnectionLostError):
                calls += self._end(session)
        self._begun.clear()
        with undoing(_END_TIMEOUT):
            for call in calls:
                with suppress(SessionGoneError, ConnectionLostError, RemoteError):
                    await call.raw()

    def _set_up(self, page: PageTarget, session: Session) -> list[Posted]:
        if not self._scope.covers(page):
            return []
        try:
            return self._begin_on(session)
        except (SessionGoneError, ConnectionLostError):
            return []
        except EngineError as error:
            logger.error("%s does without a setting: %s", session.describe(), error)
            return []

    def _begin_on(self, session: Session) -> list[Posted]:
        if session in self._begun or session.ended or session.target_type not in self._types:
            return []
        if session.crashed:
            self._begin_after_reload(session)
            return []
        for ended in [told for told in self._begun if told.ended]:
            del self._begun[ended]
        self._begun[session] = None
        try:
            return list(self._begin(session))
        except TargetCrashedError:
            self._begun.pop(session, None)
            self._begin_after_reload(session)
            return []

    def _begin_after_reload(self, session: Session) -> None:
        """Tell a page that has crashed when a reload has brought it back."""
        if session in self._crashed:
            return

        def revived(_event: Event) -> None:
            if session in self._crashed:
                self._begin_on(session)

        self._crashed[session] = revived
        session.on_event(REVIVED, revived)


def _once(session: Session, method: str, post: PostCommands) -> None:
    def listener(_event: Event) -> None:
        session.off_event(method, listener)
        with suppress(SessionGoneError, ConnectionLostError):
            post(session)

    session.on_event(method, listener)
