"""Sessions by name, each with a browser context of its own, in one browser that is started again when it is gone.

Rule: a session is made when it is first asked for, and closed when nobody has used it for its idle time. A client
that was waiting for something in a browser that ended is answered by name; the next request has a new one.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Literal

import attrs
import trio

import cdpengine
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine.act import Actor
from cdpengine.errors import ConnectionLostError, EngineError, InvalidArgumentError
from cdpengine.service.events.following import Following
from cdpengine.service.events.journal import Journal
from cdpengine.service.settings import ServiceSettings

if TYPE_CHECKING:
    from cdpengine import Browser, Route

_log = get_logger("cdpengine.service")

_LONGEST_NAME = 64
_KEPT_REFUSALS = 20


@attrs.define(eq=False)
class Session:
    """A session: who acts in it, what happens there, how many requests are under way, and when the last one ended.

    What happens is written down from the first time that somebody listens.
    """

    name: str
    actor: Actor
    _nursery: trio.Nursery
    events: Journal = attrs.field(factory=Journal)
    ended: trio.Event = attrs.field(factory=trio.Event)
    under_way: int = 0
    last_used: float = attrs.field(factory=trio.current_time)
    used: trio.Event = attrs.field(factory=trio.Event)
    refusals: deque[str] = attrs.field(factory=lambda: deque(maxlen=_KEPT_REFUSALS))
    """Why the latest documents were refused."""
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _followed: bool = False

    async def follow(self) -> Journal:
        """Have what happens written down from now on; return the journal. Raises ConnectionLostError."""
        async with self._starting:
            if not self._followed:
                assert self.actor.context is not None
                await self._nursery.start(Following(self.actor.context, self.events).run)
                self._followed = True
        return self.events

    def end(self, reason: Ending) -> None:
        """End the session, and say why to those who listen."""
        self.events.end(reason, ENDINGS[reason])
        self.ended.set()


Ending = Literal["sessionClosed", "sessionIdle", "roomNeeded", "browserGone", "serviceEnding"]

ENDINGS: Mapping[Ending, str] = {
    "sessionClosed": "the session was closed",
    "sessionIdle": "nobody used the session for its idle time",
    "roomNeeded": "the session made room for another one",
    "browserGone": "the browser ended; the next request has a new one",
    "serviceEnding": "the service ends",
}
"""Why a session ends."""


class SessionsFullError(Exception):
    """There are as many sessions as may be, and all of them are in use."""


@attrs.define(eq=False)
class Sessions:
    """The sessions of a service, and the browser that they are in."""

    _settings: ServiceSettings
    _nursery: trio.Nursery
    _by_name: dict[str, Session] = attrs.field(factory=dict)
    _browser: Browser | None = None
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _making: trio.Lock = attrs.field(factory=trio.Lock)
    browsers_started: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the sessions, the one that was made first in front."""
        return list(self._by_name)

    @property
    def browser_runs(self) -> bool:
        """Whether there is a browser now."""
        return self._browser is not None and _is_alive(self._browser)

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[Session]:
        """Give the session of that name, made where there is none, for one request.

        Raises InvalidArgumentError for a name that cannot be one, SessionsFullError, and what starting a browser
        raises.
        """
        session = await self._find(check_name(name))
        session.under_way += 1
        try:
            yield session
        finally:
            session.under_way -= 1
            session.last_used = trio.current_time()
            session.used.set()
            session.used = trio.Event()

    async def close(self, name: str) -> bool:
        """Close a session with all its pages; return whether there was one."""
        await trio.lowlevel.checkpoint()
        return self._end(name, "sessionClosed")

    def find(self, name: str) -> Session | None:
        """Return the session of that name, if there is one."""
        return self._by_name.get(name)

    def _end(self, name: str, reason: Ending) -> bool:
        session = self._by_name.pop(name, None)
        if session is not None:
            session.end(reason)
        return session is not None

    async def _find(self, name: str) -> Session:
        async with self._making:
            session = self._by_name.get(name)
            if session is not None and _is_alive(session.actor.browser):
                return session
            if session is not None:
                self._end(name, "browserGone")
            if len(self._by_name) >= self._settings.sessions:
                self._make_room()
            browser = await self._running_browser()
            made: Session = await self._nursery.start(self._keep_session, name, browser)
            self._by_name[name] = made
            return made

    def _judge(self, session: Session) -> Callable[[Route], Awaitable[None]]:
        """Return what refuses documents by the policy for URLs: redirects, links and frames, too."""

        async def judge(route: Route) -> None:
            if refusal := await self._settings.url_policy.check(route.request.url):
                session.refusals.append(refusal)
                await route.abort("BlockedByClient")
            else:
                await route.fallback()

        return judge

    def _make_room(self) -> None:
        idle = [session for session in self._by_name.values() if not session.under_way]
        if not idle:
            raise SessionsFullError
        oldest = min(idle, key=lambda session: session.last_used)
        _log.info("the session %s is closed to make room for another", oldest.name)
        self._end(oldest.name, "roomNeeded")

    async def _running_browser(self) -> Browser:
        async with self._starting:
            if self._browser is None or not _is_alive(self._browser):
                self._browser = await self._nursery.start(self._keep_browser)
                self.browsers_started += 1
            assert self._browser is not None
            return self._browser

    async def _keep_browser(self, task_status: trio.TaskStatus[Browser]) -> None:
        """Run a browser until it is gone or the service ends."""
        async with cdpengine.launch(
            executable=self._settings.executable,
            headless=self._settings.headless,
            evaluate_enabled=self._settings.evaluate_enabled,
        ) as browser:
            task_status.started(browser)
            reason: Ending = "serviceEnding"
            try:
                await browser.wait_for_page(where=lambda _page: False, timeout=math.inf)
            except ConnectionLostError as error:
                reason = "browserGone"
                _log.info("the browser is gone; the next request starts another one: %s", error)
            finally:
                for name, session in list(self._by_name.items()):
                    if session.actor.browser is browser:
                        self._end(name, reason)

    async def _keep_session(self, name: str, browser: Browser, task_status: trio.TaskStatus[Session]) -> None:
        """Keep a session's context until it was idle for long enough, is closed, or its browser is gone."""
        session: Session | None = None
        try:
            async with browser.new_context() as context, open_body_nursery() as nursery:
                actor = Actor(
                    browser,
                    context,
                    evaluate_enabled=self._settings.evaluate_enabled,
                    files=self._settings.files,
                )
                session = Session(name, actor, nursery)
                async with context.route("*", self._judge(session), resource_type="Document"):
                    task_status.started(session)
                    nursery.start_soon(self._end_when_idle, session)
                    await session.ended.wait()
                    nursery.cancel_scope.cancel()
        except EngineError as error:
            if session is None:
                raise
            _log.info("the session %s ended: %s", name, error)
        finally:
            if session is not None:
                session.end("browserGone" if not _is_alive(browser) else "serviceEnding")

    async def _end_when_idle(self, session: Session) -> None:
        while True:
            used = session.used
            left = session.last_used + self._settings.session_idle - trio.current_time()
            with trio.move_on_after(max(left, 0)):
                await used.wait()
            if (
                not session.under_way
                and trio.current_time() >= session.last_used + self._settings.session_idle
            ):
                _log.info("the session %s is closed: it was not used for a while", session.name)
                self._end(session.name, "sessionIdle")
                return
            if session.under_way:
                await session.used.wait()


def check_name(name: str) -> str:
    """Return the name of a session. Raises InvalidArgumentError for one that cannot be."""
    if not 0 < len(name) <= _LONGEST_NAME or not all(each.isalnum() or each in "._-" for each in name):
        raise InvalidArgumentError(
            what="session",
            given=repr(name[:40]),
            expected=f"1 to {_LONGEST_NAME} letters, digits, dots, dashes and underscores",
        )
    return name


def _is_alive(browser: Browser) -> bool:
    return browser.connections[0].lost is None
