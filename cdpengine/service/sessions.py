"""Named sessions, each with a browser context, in one browser that is restarted if it ends.

Rule: the first request creates a session, and the service closes it after its idle time. If the browser ends,
running requests get an error with the reason; the next request gets a new browser. A session named
"profile:NAME" has a separate browser on that profile, which outlives the session. The next session with the
profile waits until that browser has ended.
"""

from __future__ import annotations

import math
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs
import trio

import cdpengine
from cdpengine._logs import get_logger
from cdpengine._notifier import Notifier
from cdpengine._nursery import open_body_nursery
from cdpengine._snapshot.ref import RefNumbers
from cdpengine._storage.saved_states import SavedStates
from cdpengine._urls.reading import split_url
from cdpengine.act import Actor
from cdpengine.errors import ConnectionLostError, EngineError, InvalidArgumentError, os_reason
from cdpengine.service.gate.gate import Failures, NotConnected, open_gate
from cdpengine.service.session import DocumentRefused, Ending, Session, SessionRefusedError
from cdpengine.service.settings import ServiceSettings

if TYPE_CHECKING:
    from cdpengine import Browser, BrowserContext, Route
    from cdpengine.cache.acting.sharing import SharedCache

_log = get_logger("cdpengine.service")

_LONGEST_NAME = 64
_NAME = re.compile(rf"(profile:)?[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{_LONGEST_NAME - 1}}}")

PROFILE = "profile:"
"""Prefix of the names of sessions with a profile; the rest is the profile's name."""
_UNDOING = 2.0
"""Timeout for ending the routes and other settings of a session, in seconds. Pages of a profile outlive it."""

_MOST_NUMBERS = 10_000
"""Number of sessions whose ref numbers are remembered."""


@attrs.define(eq=False)
class Sessions:
    """The sessions of a service, and their browser."""

    _settings: ServiceSettings
    _nursery: trio.Nursery
    _by_name: dict[str, Session] = attrs.field(factory=dict)
    _browser: Browser | None = None
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _being_made: dict[str, trio.Event] = attrs.field(factory=dict)
    _cache: SharedCache | None = attrs.field(
        init=False,
        default=attrs.Factory(lambda self: _make_cache(self._settings, self._nursery), takes_self=True),
    )
    _leaving: dict[str, trio.Event] = attrs.field(factory=dict)
    """Profiles whose browser has not ended yet."""
    _closing: trio.Event = attrs.field(factory=trio.Event)
    _changes: Notifier = attrs.field(factory=Notifier)
    _running: int = 0
    """Tasks of sessions and browsers."""
    _failures: Failures = attrs.field(factory=Failures)
    browsers_started: int = 0
    lost: set[str] = attrs.field(
        factory=set
    )  # names whose clients have not learned that their browser has ended
    _ref_numbers: dict[str, RefNumbers] = attrs.field(factory=dict)
    """Ref numbers by session name, also of ended sessions: a name's numbers are never reused."""
    _forgotten_ref: int = 0

    @property
    def names(self) -> list[str]:
        """The names of the sessions, oldest first."""
        return list(self._by_name)

    @property
    def last_ref(self) -> int:
        """The highest ref number of all sessions, 0 without any."""
        return max([self._forgotten_ref, *(each.last for each in self._ref_numbers.values())])

    def begin_refs_after(self, number: int) -> None:
        """Begin the refs of new sessions after `number`, the last one of an earlier service."""
        self._forgotten_ref = max(self._forgotten_ref, number)

    @property
    def pages(self) -> int:
        """The number of open pages in all sessions."""
        return sum(len(session.actor.pages) for session in self._by_name.values())

    @property
    def targets(self) -> int:
        """The number of targets of all browsers: pages, frames, workers and others."""
        browsers = {session.actor.browser for session in self._by_name.values()}
        return sum(len(browser.targets) for browser in browsers)

    @property
    def browser_runs(self) -> bool:
        """Whether a browser is running."""
        return self._browser is not None and _is_alive(self._browser)

    @asynccontextmanager
    async def use(self, name: str) -> AsyncIterator[Session]:
        """Use the session of that name for one request; create it if it does not exist.

        Raises InvalidArgumentError for an invalid name, SessionRefusedError, and the errors of starting a browser.
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
        """Close a session with all its pages; return whether it existed."""
        await trio.lowlevel.checkpoint()
        return self._end(name, "sessionClosed")

    def find(self, name: str) -> Session | None:
        """Return the session of that name, or None."""
        return self._by_name.get(name)

    def _end(self, name: str, reason: Ending) -> bool:
        session = self._by_name.pop(name, None)
        if session is not None:
            session.end(reason)
            if reason == "browserGone" and not session.is_end_reported:
                self.lost.add(name)
        return session is not None

    async def _find(self, name: str) -> Session:
        while True:
            session = self._by_name.get(name)
            if session is not None and _is_alive(session.actor.browser):
                return session
            if session is not None:
                self._end(name, "browserGone")
            if name not in self._being_made:
                break
            await self._being_made[name].wait()
        profile = name.removeprefix(PROFILE) if name.startswith(PROFILE) else None
        if profile is not None and (self._settings.profiles is None or self._settings.endpoint is not None):
            raise SessionRefusedError(
                "profilesDisabled",
                "this service has no folder for profiles"
                if self._settings.endpoint is None
                else "this service is connected to a browser that runs already, which has another profile",
                "Start it with one, or use a session without a profile.",
            )
        if len(self._by_name) + len(self._being_made) >= self._settings.sessions:
            self._make_room()
        # From here on other requests wait for the session. There was no checkpoint since the lookup.
        made = self._being_made[name] = trio.Event()
        try:
            session = await (self._make(name) if profile is None else self._make_with_profile(name, profile))
            self._by_name[name] = session
            return session
        finally:
            del self._being_made[name]
            made.set()

    async def _make(self, name: str) -> Session:
        browser = await self._running_browser()
        session: Session = await self._nursery.start(self._keep_session, name, browser)
        return session

    async def _make_with_profile(self, name: str, profile: str) -> Session:
        assert self._settings.profiles is not None
        folder = self._settings.profiles / profile
        if (leaving := self._leaving.get(name)) is not None:
            await leaving.wait()  # only one browser can use a profile
        try:
            await trio.to_thread.run_sync(lambda: folder.mkdir(mode=0o700, parents=True, exist_ok=True))
        except OSError as error:
            reason = f"the folder of the profile {profile} cannot be used: {os_reason(error)}"
            raise SessionRefusedError(
                "profileUnusable", reason, "Repair the folder on the service's machine."
            ) from error
        session: Session = await self._nursery.start(self._keep_profile, name, folder)
        return session

    def _judge(self, session: Session) -> Callable[[Route], Awaitable[None]]:
        """Return a route handler that blocks documents by the URL policy: redirects, links and frames, too."""

        async def judge(route: Route) -> None:
            if refusal := await self._settings.url_policy.check(route.request.url):
                refused = DocumentRefused(route.request.frame_id, refusal, trio.current_time())
                session.refusals.append(refused)
                await route.abort("BlockedByClient")
            else:
                await route.fallback()

        return judge

    def _make_room(self) -> None:
        idle = [session for session in self._by_name.values() if not session.under_way]
        if not idle:
            raise SessionRefusedError(
                "busy",
                f"all {self._settings.sessions} sessions are in use",
                "Try again later, or close one.",
                retryable=True,
            )
        oldest = min(idle, key=lambda session: session.last_used)
        _log.info("the session %s is closed to make room for another one", oldest.name)
        self._end(oldest.name, "roomNeeded")

    async def _running_browser(self) -> Browser:
        async with self._starting:
            if self._browser is None or not _is_alive(self._browser):
                self._browser = await self._nursery.start(self._keep_browser)
                self.browsers_started += 1
            assert self._browser is not None
            return self._browser

    async def _keep_browser(self, task_status: trio.TaskStatus[Browser]) -> None:
        """Run a browser, or stay connected to one, until it is gone or the service ends."""
        async with self._counting(), self._open_browser(None) as browser, open_body_nursery() as nursery:
            gone = trio.Event()
            nursery.start_soon(_wait_for_end, browser, gone)
            nursery.start_soon(_set_after, self._closing, gone)
            task_status.started(browser)
            await gone.wait()
            for name, session in list(self._by_name.items()):
                if session.actor.browser is browser:
                    self._end(name, "serviceEnding" if _is_alive(browser) else "browserGone")

    async def close_all(self) -> None:
        """End all sessions and browsers, each in order, and wait until they have ended."""
        for name in self.names:
            self._end(name, "serviceEnding")
        self._closing.set()
        await self._changes.wait_for(lambda: not self._running)

    @asynccontextmanager
    async def _counting(self) -> AsyncIterator[None]:
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            self._changes.notify()

    @asynccontextmanager
    async def _open_browser(self, profile: Path | None) -> AsyncIterator[Browser]:
        """Start a browser with a gate for all its connections, if the policy restricts any.

        A browser that already runs has no gate: the policy applies only to its documents.
        """
        settings = self._settings
        if settings.endpoint is not None:
            async with cdpengine.connect(
                settings.endpoint,
                evaluate_enabled=settings.evaluate_enabled,
                viewport=settings.viewport,
            ) as browser:
                yield browser
            return
        async with AsyncExitStack() as stack:
            switches: tuple[str, ...] = ()
            if not settings.url_policy.allows_everything:
                gate = await stack.enter_async_context(open_gate(settings.url_policy, self._failures))
                switches = gate.switches
            yield await stack.enter_async_context(
                cdpengine.launch(
                    executable=settings.executable,
                    headless=settings.headless,
                    args=switches,
                    user_data_dir=profile or settings.user_data_dir,
                    evaluate_enabled=settings.evaluate_enabled,
                    viewport=settings.viewport,
                )
            )

    def why_not_connected(self, url: str) -> NotConnected | None:
        """Return why the last connection to a URL's host failed, if the gate knows."""
        return self._failures.of(split_url(url)[1].strip("[]"))

    @asynccontextmanager
    async def _open_context(self, browser: Browser) -> AsyncIterator[BrowserContext]:
        """Create a context for a session, or use the default one, whose pages outlive the session."""
        if not self._settings.default_context and self._settings.user_data_dir is None:
            async with browser.new_context() as context:
                yield context
            return
        await trio.lowlevel.checkpoint()
        yield browser.context

    async def _keep_session(self, name: str, browser: Browser, task_status: trio.TaskStatus[Session]) -> None:
        """Run a session with a context, until it ends or its browser is gone."""
        session: Session | None = None
        try:
            async with (
                self._counting(),
                self._open_context(browser) as context,
                open_body_nursery() as nursery,
            ):
                session = self._make_session(name, context, nursery)
                await self._run(session, task_status)
        except EngineError as error:
            if session is None:
                raise
            _log.info("the session %s ended: %s", name, error)
        finally:
            if session is not None:
                session.end("serviceEnding" if _is_alive(browser) else "browserGone")

    async def _keep_profile(self, name: str, folder: Path, task_status: trio.TaskStatus[Session]) -> None:
        """Run a session with a profile in a separate browser, until it ends or its browser is gone."""
        gone = self._leaving[name] = trio.Event()
        session: Session | None = None
        try:
            async with (
                self._counting(),
                self._open_browser(folder) as browser,
                open_body_nursery() as nursery,
            ):
                self.browsers_started += 1
                session = self._make_session(name, browser.context, nursery)
                nursery.start_soon(self._end_with_browser, session)
                await self._run(session, task_status)
        except EngineError as error:
            if session is None:
                raise
            _log.info("the session %s ended: %s", name, error)
        finally:
            if session is not None:
                session.end("serviceEnding")
            del self._leaving[name]
            gone.set()

    def _take_ref_numbers(self, name: str) -> RefNumbers:
        """Return the ref numbers for a new session; they continue after the last session of that name."""
        numbers = self._ref_numbers.pop(name, None) or RefNumbers(self._forgotten_ref)
        self._ref_numbers[name] = numbers
        numbers.end_browser()
        if len(self._ref_numbers) > _MOST_NUMBERS:
            forgotten = next(each for each in self._ref_numbers if each not in self._by_name)
            self._forgotten_ref = max(self._forgotten_ref, self._ref_numbers.pop(forgotten).last)
        return numbers

    def _make_session(self, name: str, context: BrowserContext, nursery: trio.Nursery) -> Session:
        actor = Actor(
            context.browser,
            context,
            evaluate_enabled=self._settings.evaluate_enabled,
            files=self._settings.files,
            outputs=self._settings.outputs,
            commands_enabled=self._settings.commands_enabled,
            reads_ahead=self._settings.reads_ahead,
            cache=self._cache,
            states=None if self._settings.states is None else SavedStates(self._settings.states),
            hooks=() if self._cache is None else (self._cache.hook,),
            borrows_pages=self._settings.default_context,
            ref_numbers=self._take_ref_numbers(name),
        )
        return Session(name, actor, nursery)

    async def _run(self, session: Session, task_status: trio.TaskStatus[Session]) -> None:
        """Apply the URL policy to the session's pages, until it ends.

        The tabs of a person are left alone if the policy refuses no host.
        """
        assert session.actor.context is not None
        async with AsyncExitStack() as stack:
            if not (session.actor.borrows_pages and self._settings.url_policy.allows_everything):
                judging = session.actor.context.route("*", self._judge(session), resource_type="Document")
                await stack.enter_async_context(judging)
            task_status.started(session)
            async with open_body_nursery() as nursery:
                nursery.start_soon(self._end_when_idle, session)
                await session.ended.wait()
                if session.actor.context is session.actor.browser.context:
                    with trio.move_on_after(_UNDOING):
                        await session.actor.lasting.end()

    async def _end_with_browser(self, session: Session) -> None:
        await _wait_for_end(session.actor.browser, trio.Event())
        if self._by_name.get(session.name) is session:
            self._end(session.name, "browserGone")
        session.end("browserGone")

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
                _log.info("the session %s is closed: it was idle", session.name)
                self._end(session.name, "sessionIdle")
                return
            if session.under_way:
                await session.used.wait()


def check_name(name: str) -> str:
    """Return the name of a session. Raises InvalidArgumentError for an invalid one."""
    if not _NAME.fullmatch(name):
        raise InvalidArgumentError(
            what="session",
            given=repr(name[:40]),
            expected=f"1 to {_LONGEST_NAME} letters, digits, dots, dashes and underscores, the first one no dot; "
            f'"{PROFILE}NAME" for a session with a profile',
        )
    return name


async def _wait_for_end(browser: Browser, gone: trio.Event) -> None:
    """Set an event when a browser is gone."""
    try:
        await browser.wait_for_page(where=lambda _page: False, timeout=math.inf)
    except ConnectionLostError as error:
        _log.info("a browser is gone; the next request starts another one: %s", error)
    gone.set()


async def _set_after(first: trio.Event, second: trio.Event) -> None:
    await first.wait()
    second.set()


def _is_alive(browser: Browser) -> bool:
    return browser.connections[0].lost is None


def _make_cache(settings: ServiceSettings, nursery: trio.Nursery) -> SharedCache | None:
    """Return the action cache that all sessions share, or None if the settings have none."""
    if settings.cache is None:
        return None
    from cdpengine.cache.acting.sharing import SharedCache  # needs packages of another extra

    return SharedCache(nursery, None if settings.cache == "user" else settings.cache)
