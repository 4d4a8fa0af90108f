"""Browser: one running browser; its pages, contexts, targets and counts.

Rule: it holds no state of its own beyond what its connections hold; a Page object is the same object for as
long as its page lives.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Unpack

import attrs

from cdpengine._activity.bodies import ActivityOptions, check_options
from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.context import BrowserContext, make_context, plan_context
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.expecting import Expected, wait_for_arrival
from cdpengine._api.page.page import Page
from cdpengine._api.scopes.measure import BrowserMeasure
from cdpengine._budget import Budget, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import DefaultViewport, EmulationOptions, Proxy, check_viewport
from cdpengine._emulation.permissions import PermissionState
from cdpengine._evaluate.evaluation import EvaluationStatistics
from cdpengine._evaluate.recovery import watch_pages
from cdpengine._nursery import open_body_nursery
from cdpengine._page.dialogs import DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.downloads.download import Download
from cdpengine._page.navigation.navigation import check_url, go_to
from cdpengine._page.page_target import PageTarget
from cdpengine._page.patterns import UrlPattern, url_test
from cdpengine._page.tabs import Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import span as action_span
from cdpengine._protocol.connection import Connection, ConnectionStatistics
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.target import CreateTargetReply, TargetInfo
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Session
from cdpengine._storage.storage_state import StorageState
from cdpengine.errors import SessionGoneError, shown_url


@attrs.frozen
class BrowserStatistics:
    """Counts of both connections, how many pages there are, and the evaluations of all pages together.

    `main` carries what is done and told, `evaluation_session` what stops scripts; over a pipe both are the same. A
    evaluation session connection that was lost is opened again (`evaluation_connections` counts them all), and
    `evaluation_session` counts from there.
    """

    main: ConnectionStatistics
    evaluation_session: ConnectionStatistics
    pages: int
    evaluation_connections: int
    evaluation: EvaluationStatistics


_FIRST_DOCUMENT = 2.0
"""Seconds that a page which just opened gets to show the document that it was opened with; it may never come."""


@not_picklable("what was read from its pages")
class Browser:
    """A browser that this program started or connected to. Get it from `launch` or `connect`.

    `measure` traces it. `endpoint` is its websocket URL, at which other clients can connect to it,
    `cdpengine.debug.proxy` say; None where it has no port: `launch(debugging_port=0)` opens one.
    """

    def __init__(
        self,
        tabs: Tabs,
        version: BrowserVersion,
        instruments: Instruments,
        *,
        key: str,
        endpoint: str | None = None,
        evaluate_enabled: bool = True,
    ) -> None:
        self.endpoint = endpoint
        self._state = BrowserState(tabs, version, instruments, key=key, evaluate_enabled=evaluate_enabled)
        self._pages: dict[str, Page] = {}
        self._contexts: dict[str, BrowserContext] = {}
        self._default_context = BrowserContext(self, ContextCore(self._state, None))
        self.measure = BrowserMeasure(tabs.connection.root)
        tabs.set_dialog_owner(self._page)

    def __repr__(self) -> str:
        return f"<Browser {self.version.product} at {self._state.tabs.connection.name}>"

    @property
    def version(self) -> BrowserVersion:
        """Who answers: product, protocol, user agent."""
        return self._state.version

    @property
    def key(self) -> str:
        """Tells browsers apart: two connections to one browser have the same; one started anew has another."""
        return self._state.key

    @property
    def instruments(self) -> Instruments:
        """What watches the browser's connections: recorders, logs of the wire."""
        return self._state.instruments

    @property
    def session(self) -> Session:
        """The browser's own session, for any protocol command and event that belongs to no page."""
        return self._state.tabs.connection.root

    @property
    def pages(self) -> list[Page]:
        """The pages that are open, oldest first; popups too."""
        return [self._page(target) for target in self._state.tabs.pages.values()]

    @property
    def targets(self) -> list[TargetInfo]:
        """Everything that Chrome lists as a target now: pages, iframes, workers, service workers, ..."""
        return list(self._state.tabs.connection.targets.infos.values())

    @property
    def downloads(self) -> list[Download]:
        """The latest downloads, oldest first, those included that were refused because nobody expected them.

        A browser that this program launched, and contexts that it made, refuse what no `Page.expect_download`
        waits for. What a browser that it connected to does with them is that browser's own affair.
        """
        return list(self._state.tabs.downloads.records)

    def page(self, target_id: str) -> Page | None:
        """Return the page with that target id, None when there is none."""
        target = self._state.tabs.pages.get(target_id)
        return None if target is None else self._page(target)

    def statistics(self) -> BrowserStatistics:
        """Return the counts so far."""
        return BrowserStatistics(
            main=self._state.tabs.connection.statistics(),
            evaluation_session=self._state.tabs.evaluation_sessions.connection.statistics(),
            pages=len(self._state.tabs.pages),
            evaluation_connections=self._state.tabs.evaluation_sessions.connections_opened,
            evaluation=self._state.evaluation_counters.statistics(
                self._state.tabs.evaluation_sessions.rebuilds
            ),
        )

    async def new_page(
        self,
        url: str | None = None,
        *,
        context: BrowserContext | None = None,
        viewport: tuple[int, int] | DefaultViewport | None = "default",
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
    ) -> Page:
        """Open a page, and go to `url` if one is given.

        `viewport` is its width and height in CSS pixels, None the size of its window; "default" is that of its
        context, else that of the browser. `activity` has kept what it does, from before the first document: True,
        or an ActivityOptions. Raises as `Page.goto` does; the page is closed again in that case, and when it is
        cancelled.
        """
        options = check_options(activity)
        size = viewport if viewport == "default" else check_viewport(viewport)
        if url is not None:
            check_url(url)
        with action_span("browser.new_page"), within("open a page", timeout) as budget:
            params: dict[str, object] = {"url": "about:blank"}
            if context is not None and context.id is not None:
                params["browserContextId"] = context.id
            creations = self._state.tabs.creations
            created = await creations.create("Target.createTarget", params, CreateTargetReply, self._dispose)
            try:
                target = await self._state.tabs.wait_for(created.target_id)
                target.use()
                emulations = self._state.emulations
                if not target.ours:
                    emulations.adopt(target)
                if size != "default":
                    await emulations.keep(
                        target.target_id, Layer({"viewport": size}, target.target_id), target
                    )
                # Sent on before it is known to run, one new page in some 150 crashes (measured).
                await target.running.ready()
                if options is not None:
                    await self._page(target).activity.start_with(options, timeout=timeout)
                if url is not None:
                    await go_to(target, url, "load", budget, fresh=True)
                return self._page(target)
            except BaseException:
                await creations.dispose(self._dispose, created)
                raise

    def set_activity(self, activity: bool | ActivityOptions | None) -> None:
        """Have kept what all pages do: those that are open from now on, new ones from their first script on.

        True, or an ActivityOptions; None and False: of those that come, nothing. What `page.activity` says of one
        page goes before it; a page that another page opens is as that one. Raises InvalidArgumentError.
        """
        self._state.activities.set_for_all(check_options(activity))

    def set_dialog_policy(
        self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None
    ) -> None:
        """Say how the dialogs of pages that appear from now on are answered, as `page.dialogs.set_policy` does.

        A page that another page opens has the policy of that page. Raises InvalidArgumentError.
        """
        self._state.tabs.set_dialog_policy(DialogPolicy.checked(policy, prompt_text))

    async def wait_for_page(
        self,
        *,
        opener: Page | None = None,
        url: UrlPattern | None = None,
        where: Callable[[Page], bool] | None = None,
        timeout: float = 30,
    ) -> Page:
        """Return the first page that matches, waiting until there is one; a popup, say.

        `opener` is the page that opened it, `url` a glob ("*/login*"), a compiled regular expression or a
        function, `where` a test of the page. Pages that are open already count. Raises DeadlineExceededError.
        """
        matches = _page_test(opener, url, where)
        with within("wait for a page", timeout):
            return await self._next_page(lambda: next((page for page in self.pages if matches(page)), None))

    @asynccontextmanager
    async def expect_page(
        self,
        *,
        opener: Page | None = None,
        url: UrlPattern | None = None,
        where: Callable[[Page], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page (a popup, a tab); `expected.value` is it, once the block has ended.

        `opener`, `url` and `where` choose among the pages that open, as in `wait_for_page`; a page whose URL does
        not match yet is waited for. `timeout` (seconds) counts from the beginning of the block, which it does not
        interrupt. One that is closed again at once is given too, where none that matches is open: it is `closed`,
        and has the last URL that was told. Raises DeadlineExceededError, which names what opened instead,
        SessionGoneError when the opener is closed, ConnectionLostError.
        """
        test = _page_test(opener, url, where)
        budget = Budget.start("expect a page", timeout)
        expected: Expected[Page] = Expected("a page")
        before = set(self._state.tabs.connection.targets.infos)
        opened: list[Page] = []

        def added(target: PageTarget) -> None:
            if target.target_id not in before:
                opened.append(self._page(target))

        def first() -> Page | None:
            by_state = sorted(opened, key=lambda page: page.closed)
            found = next((page for page in by_state if test(page)), None)
            if found is None and opener is not None and opener.closed and (error := opener.session.error()):
                raise error
            return found

        def seen() -> str:
            urls = [shown_url(page.url) for page in opened if not page.closed]
            closed = len(opened) - len(urls)
            others = f"others opened: {', '.join(urls[:5])}" if urls else "no page opened"
            return f"{others}, {closed} were closed again" if closed else others

        with self._state.tabs.follow_new_pages(added):
            yield expected
            await wait_for_arrival(expected, budget, lambda: self._next_page(first, also_closed=True), seen)

    async def _next_page(self, choose: Callable[[], Page | None], *, also_closed: bool = False) -> Page:
        """Return the page that `choose` gives once it is ready, and shows its first document."""

        def found() -> Page | None:
            if error := self.session.error():
                raise error
            return choose()

        while True:
            page = await self._state.tabs.changes.wait_for(found)
            target = page._core.target  # noqa: SLF001 - its own page's
            try:
                await target.running.ready()
            except SessionGoneError:
                if not page.closed:
                    raise  # it crashed
                if not also_closed:
                    continue
            await target.shows_document(_FIRST_DOCUMENT)
            return page

    @asynccontextmanager
    async def new_context(
        self,
        *,
        storage_state: StorageState | str | Path | None = None,
        proxy: Proxy | str | None = None,
        downloads: str | Path | None = None,
        permissions: Sequence[str] | Mapping[str, PermissionState] = (),
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
        **emulation: Unpack[EmulationOptions],
    ) -> AsyncIterator[BrowserContext]:
        """Make an isolated context (cookies, storage, cache of its own); it ends, pages and all, with the block.

        `storage_state` is what it begins with: a StorageState, or the file of one. `proxy` is "http://host:port"
        or a Proxy. `downloads` is the directory that its downloads come into; without it, those that nobody
        expects are refused. `permissions` are names that are granted, or a mapping of names to states.
        `activity` has kept what its pages do, from their first script on: True, or an ActivityOptions. All others
        are what `context.emulation.set` takes. Chrome disposes of it by itself should this program be killed.

        Raises InvalidArgumentError, StateFileInvalidError, CookieRefusedError, EmulationRefusedError,
        StorageUnavailableError; then there is no context. DeadlineExceededError, ConnectionLostError.
        """
        options = check_options(activity)
        plan = plan_context(
            storage_state=storage_state,
            proxy=proxy,
            downloads=downloads,
            permissions=permissions,
            emulation=emulation,
            chrome_version=self.version.number,
        )
        async with make_context(
            self._state, plan, partial(self._adopt, proxy=plan.proxy), timeout
        ) as context:
            with self._state.activities.in_context(context.id, options):
                yield context

    @property
    def context(self) -> BrowserContext:
        """The default context: the profile that the browser was started with."""
        return self._default_context

    def context_of(self, page: Page) -> BrowserContext:
        """Return the context that a page belongs to."""
        return self._contexts.get(page.context_id or "", self._default_context)

    @contextmanager
    def _adopt(self, core: ContextCore, proxy: Proxy | None) -> Iterator[BrowserContext]:
        """Have a context that was just made for one of this browser's while the block runs."""
        assert core.id is not None
        context = self._contexts[core.id] = BrowserContext(self, core, proxy)
        with self._state.keep(core):
            try:
                yield context
            finally:
                del self._contexts[core.id]

    def _page(self, target: PageTarget) -> Page:
        page = self._pages.get(target.target_id)
        if page is None:
            page = self._pages[target.target_id] = Page(self, PageCore(self._state, target))
            self._state.keep_refs(target)
            target.session.on_end(lambda: self._forget(target.target_id))
        return page

    def _forget(self, target_id: str) -> None:
        self._pages.pop(target_id, None)

    async def _dispose(self, made: CreateTargetReply) -> None:
        await self._state.tabs.close(made.target_id)

    def _set_default_viewport(self, viewport: tuple[int, int] | None) -> None:
        """Give the pages that this program opened, and opens, that viewport; None: the window's."""
        self._state.emulations.set_default_viewport(viewport)

    def _refuse_downloads(self) -> None:
        """Have the default context refuse downloads that nobody expects. For a browser that is this program's."""
        self._state.tabs.downloads.refuse()

    @asynccontextmanager
    async def _watch_pages(self, recover_after: float | None) -> AsyncIterator[None]:
        """Watch every page during the block; recover one that is silent for `recover_after` seconds."""
        async with open_body_nursery() as nursery:
            if recover_after is not None:
                nursery.start_soon(watch_pages, self._state.tabs, recover_after, name="watchdog")
            yield

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The connections that are in use: one over a pipe, two over websockets."""
        return self._state.connections


def _page_test(
    opener: Page | None, url: UrlPattern | None, where: Callable[[Page], bool] | None
) -> Callable[[Page], bool]:
    url_matches = None if url is None else url_test(url)

    def matches(page: Page) -> bool:
        if opener is not None and page.opener is not opener:
            return False
        if url_matches is not None and not url_matches(page.url):
            return False
        return where is None or where(page)

    return matches
