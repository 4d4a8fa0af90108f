"""Browser: one running browser with its pages, contexts, targets and counts.

Rule: a Browser has no state beyond its connections'. A page has the same Page object for its whole life.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

import attrs

from cdpengine._activity.options import ActivityOptions, check_options
from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.context import BrowserContext, make_context, plan_context
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.expecting import Expectation, Expected, wait_for_expected
from cdpengine._api.page.page import Page
from cdpengine._api.scopes.measure import BrowserMeasure
from cdpengine._budget import Budget, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import DefaultViewport, EmulationOptions, Proxy, check_viewport
from cdpengine._emulation.permissions import PermissionState
from cdpengine._evaluate.evaluation import EvaluationStatistics
from cdpengine._page.dialogs import DialogHandler, DialogPolicy, PolicyName
from cdpengine._page.downloads.download import Download
from cdpengine._page.navigation.navigation import check_url, go_to
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.target import CreateTargetReply, TargetInfo
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.session import Connection, Session
from cdpengine._protocol.wire import ConnectionStatistics
from cdpengine._protocol.wire import span as action_span
from cdpengine._storage.storage_state import StorageState
from cdpengine._urls.patterns import UrlPattern, url_test
from cdpengine.errors import SessionGoneError, shown_url
from cdpengine.errors.misuse import block, name_our_arguments, name_ours
from cdpengine.errors.other_libraries import BROWSER, NEW_PAGE


@attrs.frozen
class BrowserStatistics:
    """Statistics of a browser: counts of both connections, of pages, and of the evaluations in all pages.

    `main` is the connection for commands and events, `evaluation_session` the one that terminates scripts. Over a
    pipe both are the same connection. A lost connection of evaluation sessions is opened again:
    `evaluation_connections` counts them all, and `evaluation_session` restarts at zero.
    """

    main: ConnectionStatistics
    evaluation_session: ConnectionStatistics
    pages: int
    evaluation_connections: int
    evaluation: EvaluationStatistics


_FIRST_DOCUMENT = 2.0
"""Time in seconds in which a new page must show its first document. It may never arrive."""


@not_picklable("data that you read from its pages")
class Browser:
    """A browser that this program started or connected to. Get it from `launch` or `connect`.

    `measure` traces it. `endpoint` is its websocket URL for other clients, such as `cdpengine.debug.proxy`. It is
    None without a debugging port: `launch(debugging_port=0)` opens one.

    `internals` has the engine's own parts of this browser. They change without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(BROWSER)

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
        self.internals = BrowserState(tabs, version, instruments, key=key, evaluate_enabled=evaluate_enabled)
        self._pages: dict[str, Page] = {}
        self._contexts: dict[str, BrowserContext] = {}
        self._default_context = BrowserContext(self, ContextCore(self.internals, None))
        self.measure = BrowserMeasure(tabs.connection.root)
        tabs.set_dialog_owner(self._page)

    def __repr__(self) -> str:
        return f"<Browser {self.version.product} at {self.internals.tabs.connection.name}>"

    @property
    def version(self) -> BrowserVersion:
        """The browser's product, protocol version and user agent."""
        return self.internals.version

    @property
    def key(self) -> str:
        """Identifier of the running browser, the same over all connections. A restart changes it."""
        return self.internals.key

    @property
    def instruments(self) -> Instruments:
        """The instruments of the browser's connections, such as recorders and wire logs."""
        return self.internals.instruments

    @property
    def session(self) -> Session:
        """The browser's session, for any protocol command and event that belongs to no page."""
        return self.internals.tabs.connection.root

    @property
    def pages(self) -> list[Page]:
        """The open pages, oldest first, including popups."""
        return [self._page(target) for target in self.internals.tabs.pages.values()]

    @property
    def targets(self) -> list[TargetInfo]:
        """All current targets of Chrome: pages, iframes, workers, service workers, ..."""
        return list(self.internals.tabs.connection.targets.infos.values())

    @property
    def downloads(self) -> list[Download]:
        """The latest downloads, oldest first, including those refused as unexpected.

        A launched browser, and contexts made by this program, refuse downloads without a `Page.expect_download`. A
        browser that this program connected to follows its own settings.
        """
        return [record.download for record in self.internals.tabs.downloads.records]

    def page(self, target_id: str) -> Page | None:
        """Return the page with that target id, or None."""
        target = self.internals.tabs.pages.get(target_id)
        return None if target is None else self._page(target)

    def statistics(self) -> BrowserStatistics:
        """Return the counts so far."""
        return BrowserStatistics(
            main=self.internals.tabs.connection.statistics(),
            evaluation_session=self.internals.tabs.evaluation_sessions.connection.statistics(),
            pages=len(self.internals.tabs.pages),
            evaluation_connections=self.internals.tabs.evaluation_sessions.connections_opened,
            evaluation=self.internals.evaluation_counters.statistics(
                self.internals.tabs.evaluation_sessions.rebuilds
            ),
        )

    @name_our_arguments(NEW_PAGE)
    async def new_page(
        self,
        url: str | None = None,
        *,
        context: BrowserContext | None = None,
        viewport: tuple[int, int] | DefaultViewport | None = "default",
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
    ) -> Page:
        """Open a page, and go to `url` if given.

        `viewport` is the width and height in CSS pixels, or None for the size of the window. "default" means the
        viewport of the context, or of the browser if the context has none. `activity` (True or an ActivityOptions)
        collects the page's activity before its first document. Raises the errors of `Page.goto`. On an error or
        cancellation the page is closed.
        """
        options = check_options(activity)
        size = viewport if viewport == "default" else check_viewport(viewport)
        if url is not None:
            check_url(url)
        with action_span("browser.new_page"), within("open a page", timeout) as budget:
            params: dict[str, object] = {"url": "about:blank"}
            if context is not None and context.id is not None:
                self.internals.check_context(context.id)
                params["browserContextId"] = context.id
            creations = self.internals.tabs.creations
            created = await creations.create("Target.createTarget", params, CreateTargetReply, self._dispose)
            try:
                target = await self.internals.tabs.wait_for(created.target_id)
                target.use()
                emulations = self.internals.emulations
                if not target.ours:
                    emulations.adopt(target)
                if size != "default":
                    await emulations.keep(
                        target.target_id, Layer({"viewport": size}, target.target_id), target
                    )
                # Without this wait, one new page in about 150 crashes on navigation (measured).
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
        """Collect the activity of all pages: open ones from now on, new ones from their first script.

        `activity` is True or an ActivityOptions; None or False collects nothing of new pages. `page.activity` of
        one page has priority. A popup inherits the settings of its opener. Raises InvalidArgumentError.
        """
        self.internals.activities.set_for_all(check_options(activity))

    def set_dialog_policy(
        self, policy: PolicyName | DialogHandler, *, prompt_text: str | None = None
    ) -> None:
        """Set the answers to dialogs of new pages, as `page.dialogs.set_policy` does.

        A popup inherits the policy of its opener. Raises InvalidArgumentError.
        """
        self.internals.tabs.set_dialog_policy(DialogPolicy.checked(policy, prompt_text))

    async def wait_for_page(
        self,
        *,
        opener: Page | None = None,
        url: UrlPattern | None = None,
        where: Callable[[Page], bool] | None = None,
        timeout: float = 30,
    ) -> Page:
        """Return the first page that matches, such as a popup. Waits until one exists.

        `opener` is the page that opened it, `url` a glob ("*/login*"), a compiled regular expression or a
        function, `where` a test of the page. Open pages count. Raises DeadlineExceededError.
        """
        matches = _page_test(opener, url, where)
        with within("wait for a page", timeout):
            return await self._next_page(lambda: next((page for page in self.pages if matches(page)), None))

    @block("browser.expect_page() as expected")
    async def expect_page(
        self,
        *,
        opener: Page | None = None,
        url: UrlPattern | None = None,
        where: Callable[[Page], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page (popup or tab). After the block, `expected.value` is the page.

        `opener`, `url` and `where` filter the new pages, as in `wait_for_page`. If a page's URL does not match
        yet, the block's end waits for it. `timeout` (seconds) counts from the beginning of the block, but does not
        interrupt it. A page that closes immediately also counts if no open page matches: it is `closed`, with its
        last known URL. Raises DeadlineExceededError listing the other new pages, SessionGoneError if the opener is
        closed, ConnectionLostError.
        """
        test = _page_test(opener, url, where)
        budget = Budget.start("expect a page", timeout)
        expectation: Expectation[Page] = Expectation("a page")
        before = set(self.internals.tabs.connection.targets.infos)
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

        def describe_opened() -> str:
            urls = [shown_url(page.url) for page in opened if not page.closed]
            closed = len(opened) - len(urls)
            others = f"others opened: {', '.join(urls[:5])}" if urls else "no page opened"
            return f"{others}, {closed} were closed again" if closed else others

        with self.internals.tabs.follow_new_pages(added):
            yield Expected(expectation)
            await wait_for_expected(
                expectation, budget, lambda: self._next_page(first, also_closed=True), describe_opened
            )

    async def _next_page(self, choose: Callable[[], Page | None], *, also_closed: bool = False) -> Page:
        """Wait until `choose` returns a page that is ready and shows its first document, and return the page."""

        def found() -> Page | None:
            if error := self.session.error():
                raise error
            return choose()

        while True:
            page = await self.internals.tabs.changes.wait_for(found)
            target = page.internals.target
            try:
                await target.running.ready()
            except SessionGoneError:
                if not page.closed:
                    raise  # it crashed
                if not also_closed:
                    continue
            await target.shows_document(_FIRST_DOCUMENT)
            return page

    @block("browser.new_context() as context")
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
        """Create an isolated context (cookies, storage, cache), which ends with the block, including its pages.

        `storage_state` is the initial state: a StorageState, or a file that contains one. `proxy` is
        "http://host:port" or a Proxy. `downloads` is the directory of its downloads; without it, unexpected
        downloads are refused. `permissions` is a list of granted names, or a mapping of names to states.
        `activity` (True or an ActivityOptions) collects the activity of its pages from their first script. All
        other arguments work as in `context.emulation.set`. If this program is killed, Chrome disposes of the
        context.

        Raises InvalidArgumentError, StateFileInvalidError, CookieRefusedError, EmulationRefusedError,
        StorageUnavailableError, DeadlineExceededError or ConnectionLostError. After an error no context remains.
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
            self.internals, plan, partial(self._adopt, proxy=plan.proxy), timeout
        ) as context:
            with self.internals.activities.in_context(context.id, options):
                yield context

    @property
    def context(self) -> BrowserContext:
        """The default context: the profile with which the browser was started."""
        return self._default_context

    def context_of(self, page: Page) -> BrowserContext:
        """Return the context of a page."""
        return self._contexts.get(page.context_id or "", self._default_context)

    @contextmanager
    def _adopt(self, core: ContextCore, proxy: Proxy | None) -> Iterator[BrowserContext]:
        """Register a new context with this browser during the block."""
        assert core.id is not None
        context = self._contexts[core.id] = BrowserContext(self, core, proxy)
        with self.internals.keep(core):
            try:
                yield context
            finally:
                del self._contexts[core.id]

    def _page(self, target: PageTarget) -> Page:
        page = self._pages.get(target.target_id)
        if page is None:
            page = self._pages[target.target_id] = Page(self, PageCore(self.internals, target))
            self.internals.keep_refs(target)
            target.session.on_end(lambda: self._forget(target.target_id))
        return page

    def _forget(self, target_id: str) -> None:
        self._pages.pop(target_id, None)

    async def _dispose(self, made: CreateTargetReply) -> None:
        await self.internals.tabs.close(made.target_id)

    @property
    def connections(self) -> tuple[Connection, ...]:
        """The open connections: one over a pipe, two over websockets."""
        return self.internals.connections


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
