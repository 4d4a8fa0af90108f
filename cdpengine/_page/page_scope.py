"""Reach: which pages something holds for. Hold: it holds in all their sessions, those included that come later.

Rule: a session is told once, before its first script where it is new, and told back once, in the order in which
everything else is sent. What comes while a hold begins or ends is met exactly once; a page that does not answer
keeps no other one waiting; the end is bounded.
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

Tell = Callable[[Session], Sequence[Posted]]
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


class Hold:
    """Has `begin` posted to every session within `reach` from `enter` on, and `end` to each of them at `leave`.

    `types` are the types of targets that it holds for.
    """

    def __init__(
        self, reach: PageScope, begin: Tell, end: Tell, *, types: Collection[str] = DOCUMENTS
    ) -> None:
        self._reach = reach
        self._begin = begin
        self._end = end
        self._types = types
        self._told: dict[Session, None] = {}
        self._crashed: dict[Session, Callable[[Event], None]] = {}

    @property
    def sessions(self) -> list[Session]:
        """The sessions that got the begin commands and live."""
        return [session for session in self._told if not session.ended]

    async def enter(self) -> None:
        """Begin. Whatever this raises, call `leave` after it.

        Raises RemoteError when Chrome refuses; for a reach of one page also SessionGoneError, TargetCrashedError
        and ConnectionLostError when the page cannot be reached.
        """
        page = self._reach.page
        if page is not None and (error := page.session.error()) is not None:
            raise error
        self._reach.tabs.add_set_up(self._set_up)
        calls = [(session, self._tell(session)) for session in self._reach.sessions()]
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
        self._reach.tabs.remove_set_up(self._set_up)
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
        self._told.clear()
        with undoing(_END_TIMEOUT):
            for call in calls:
                with suppress(SessionGoneError, ConnectionLostError, RemoteError):
                    await call.raw()

    def _set_up(self, page: PageTarget, session: Session) -> list[Posted]:
        if not self._reach.covers(page):
            return []
        try:
            return self._tell(session)
        except (SessionGoneError, ConnectionLostError):
            return []
        except EngineError as error:
            logger.error("%s does without a setting: %s", session.describe(), error)
            return []

    def _tell(self, session: Session) -> list[Posted]:
        if session in self._told or session.ended or session.target_type not in self._types:
            return []
        if session.crashed:
            self._tell_later(session)
            return []
        for ended in [told for told in self._told if told.ended]:
            del self._told[ended]
        self._told[session] = None
        try:
            return list(self._begin(session))
        except TargetCrashedError:
            self._told.pop(session, None)
            self._tell_later(session)
            return []

    def _tell_later(self, session: Session) -> None:
        """Tell a page that has crashed when a reload has brought it back."""
        if session in self._crashed:
            return

        def revived(_event: Event) -> None:
            if session in self._crashed:
                self._tell(session)

        self._crashed[session] = revived
        session.on_event(REVIVED, revived)


def _once(session: Session, method: str, tell: Tell) -> None:
    def listener(_event: Event) -> None:
        session.off_event(method, listener)
        with suppress(SessionGoneError, ConnectionLostError):
            tell(session)

    session.on_event(method, listener)
