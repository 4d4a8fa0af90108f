"""Browser, BrowserContext and Page: a running browser with its contexts and pages, which refer to each other.

Rule: this module has only the members that connect the three. Their base classes have the others. A page has the
same Page object for its whole life. Every public method takes one `timeout`, creates one Budget from it and passes
it down. No method waits beyond its budget, whatever the page does.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from cdpengine._activity.options import ActivityOptions, check_options
from cdpengine._api.browser_parts import BrowserParts
from cdpengine._api.browser_state import BrowserState, ContextCore
from cdpengine._api.context_parts import ContextParts, make_context, plan_context
from cdpengine._api.http.client import HttpClient
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.event_kinds import EventKind
from cdpengine._api.page.events import PageEvents, open_events
from cdpengine._api.page.expecting import Expectation, Expected, PageExpectations, wait_for_expected
from cdpengine._api.page.frame import PageFrames
from cdpengine._api.page.navigating import PageNavigation
from cdpengine._api.page.parts import PageParts
from cdpengine._api.page.workers import PageWorkers
from cdpengine._api.scopes.document_rules import DocumentRules, ServiceWorkers
from cdpengine._api.scopes.storage import PageStorage
from cdpengine._budget import Budget, within
from cdpengine._emulation.emulation import Layer
from cdpengine._emulation.options import DefaultViewport, EmulationOptions, Proxy, check_viewport
from cdpengine._emulation.permissions import PermissionState
from cdpengine._page.navigation.navigation import check_url, go_to
from cdpengine._page.page_target import PageTarget
from cdpengine._page.tabs import BLANK, Tabs
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.browser import BrowserVersion
from cdpengine._protocol.domains.target import CreateTargetReply
from cdpengine._protocol.instruments import Instruments
from cdpengine._protocol.wire import span as action_span
from cdpengine._storage.storage_state import StorageState
from cdpengine._urls.patterns import UrlPattern, join_pattern, join_url, url_test
from cdpengine.errors import InvalidArgumentError, SessionGoneError, shown_url
from cdpengine.errors.misuse import block, name_our_arguments, name_ours, refuse_arguments
from cdpengine.errors.other_libraries import BROWSER, CONTEXT, NEW_CONTEXT, NEW_PAGE, PAGE

_FIRST_DOCUMENT = 2.0
"""Time in seconds in which a new page must show its first document. It may never arrive."""


@not_picklable("data that you read from its pages")
class Browser(BrowserParts):
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
        state = BrowserState(tabs, version, instruments, key=key, evaluate_enabled=evaluate_enabled)
        super().__init__(state, endpoint)
        self._pages: dict[str, Page] = {}
        self._contexts: dict[str, BrowserContext] = {}
        self._default_context = BrowserContext(self, ContextCore(state, None))
        tabs.set_dialog_owner(self._page)

    def __repr__(self) -> str:
        return f"<Browser {self.version.product} at {self.internals.tabs.connection.name}>"

    @property
    def pages(self) -> list[Page]:
        """The open pages, oldest first, including popups."""
        return [self._page(target) for target in self.internals.tabs.pages.values()]

    def page(self, target_id: str) -> Page | None:
        """Return the page with that target id, or None."""
        target = self.internals.tabs.pages.get(target_id)
        return None if target is None else self._page(target)

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

        The first new page of a headless browser with a temporary profile is the blank page that the browser opened
        at its start, unless the program has seen that page in `pages` or navigated it, or CDPENGINE_RECORD is set.
        """
        options = check_options(activity)
        size = viewport if viewport == "default" else check_viewport(viewport)
        if url is not None:
            url = check_url(url if context is None else join_url(context.internals.base_url, url))
        with action_span("browser.new_page"), within("open a page", timeout) as budget:
            created = await self._create_page(context)
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
                await self.internals.tabs.creations.dispose(self._dispose, created)
                raise

    async def _create_page(self, context: BrowserContext | None) -> CreateTargetReply:
        """Create a blank page, or take the unused one that the browser opened at its start."""
        tabs = self.internals.tabs
        params: dict[str, object] = {"url": BLANK}
        if context is not None and context.id is not None:
            self.internals.check_context(context.id)
            params["browserContextId"] = context.id
        elif (start_page := tabs.take_start_page()) is not None and start_page not in self._pages:
            return CreateTargetReply(start_page)
        return await tabs.creations.create("Target.createTarget", params, CreateTargetReply, self._dispose)

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
        storage_state: StorageState | Mapping[str, object] | str | Path | None = None,
        proxy: Proxy | str | None = None,
        downloads: str | Path | None = None,
        permissions: Sequence[str] | Mapping[str, PermissionState] = (),
        activity: bool | ActivityOptions | None = None,
        base_url: str | None = None,
        accept_downloads: bool = False,
        java_script_enabled: bool = True,
        bypass_csp: bool = False,
        ignore_https_errors: bool = False,
        service_workers: ServiceWorkers = "allow",
        timeout: float = 30,
        **emulation: Unpack[EmulationOptions],
    ) -> AsyncIterator[BrowserContext]:
        """Create an isolated context (cookies, storage, cache), which ends with the block, including its pages.

        `storage_state` is the initial state: a StorageState, a file that contains one, or a dict as in the file.
        `proxy` is "http://host:port" or a Proxy. `downloads` is the directory of its downloads; without it,
        unexpected downloads are refused. `permissions` is a list of granted names, or a mapping of names to
        states. `activity` (True or an ActivityOptions) collects the activity of its pages from their first script.
        All arguments that are not named here work as in `context.emulation.set`. If this program is killed, Chrome
        disposes of the context.

        `base_url` completes relative URLs and URL patterns of its pages ("/cart", but not "*/cart").
        `accept_downloads` accepts all downloads in a temporary directory, which ends with the browser.
        `java_script_enabled=False` disables the pages' own scripts; the engine's methods and `evaluate` still
        work, but no timer of theirs fires. `bypass_csp` lets pages run what their Content Security Policy forbids.
        Both can miss the first document of a tab that a person opens with Control, Shift or the middle button.
        `ignore_https_errors` accepts invalid certificates. `service_workers="block"` rejects every registration
        of a service worker.

        Raises InvalidArgumentError, FileUnreadableError, StorageUnavailableError, DeadlineExceededError or
        ConnectionLostError. After an error no context remains.
        """
        refuse_arguments("new_context", emulation, NEW_CONTEXT)
        options = check_options(activity)
        plan = plan_context(
            storage_state=storage_state,
            proxy=proxy,
            downloads=downloads,
            permissions=permissions,
            emulation=emulation,
            chrome_version=self.version.number,
            base_url=base_url,
            accept_downloads=accept_downloads,
            rules=DocumentRules(
                java_script_enabled=java_script_enabled,
                bypass_csp=bypass_csp,
                ignore_https_errors=ignore_https_errors,
                service_workers=service_workers,
            ),
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


def _page_test(
    opener: Page | None, url: UrlPattern | None, where: Callable[[Page], bool] | None
) -> Callable[[Page], bool]:
    if url is not None:
        url_test(url)  # raises for a value that is no pattern

    def matches(page: Page) -> bool:
        if opener is not None and page.opener is not opener:
            return False
        if url is not None and not url_test(join_pattern(page.internals.base_url, url))(page.url):
            return False
        return where is None or where(page)

    return matches


@not_picklable("its storage state")
class BrowserContext(ContextParts):
    """A browser context. Get it from `browser.new_context(...)`; `browser.context` is the default one.

    `id` is Chrome's browserContextId, None for the default context. `proxy` is the proxy it was created with,
    `browser` its browser. Settings for all its pages are in its parts: `network`, `emulation`, `storage` and
    `scripts`. `request` sends HTTP requests with the context's cookies and settings.

    `internals` has the engine's own parts of this context. They change without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(CONTEXT)

    def __init__(self, browser: Browser, core: ContextCore, proxy: Proxy | None = None) -> None:
        super().__init__(core, proxy)
        self.browser = browser

    def __repr__(self) -> str:
        return f"<BrowserContext {'default' if self.id is None else self.id[:8]}>"

    @property
    def pages(self) -> list[Page]:
        """The context's pages. For the default context, the pages outside of all created contexts."""
        return [page for page in self.browser.pages if page.context is self]

    async def new_page(
        self,
        url: str | None = None,
        *,
        viewport: tuple[int, int] | DefaultViewport | None = "default",
        activity: bool | ActivityOptions | None = None,
        timeout: float = 30,
    ) -> Page:
        """Open a page in this context. Works like `Browser.new_page`."""
        return await self.browser.new_page(
            url, context=self, viewport=viewport, activity=activity, timeout=timeout
        )


@not_picklable("data that you read from it: its URL, its title, a snapshot")
class Page(PageFrames, PageNavigation, PageExpectations, PageWorkers, PageParts):
    """One page (tab or popup). Get it from `browser.new_page()` or `browser.pages`.

    Common operations are methods of the page. Its parts have the others: `network`, `emulation`, `storage`,
    `scripts`, `clock`, `measure`, `activity`, `dialogs`, `elements`, `pictures` and `window`. Its devices are
    `keyboard`, `mouse` and `touch`.

    `internals` has the engine's own parts of this page. They change without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(PAGE)

    def __init__(self, browser: Browser, core: PageCore) -> None:
        super().__init__(core)
        self._context = browser.context_of(self)
        self.browser = browser

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {shown_url(self.url)[:60]!r}>"

    @property
    def context(self) -> BrowserContext:
        """The browser context of the page."""
        return self._context

    @property
    def storage(self) -> PageStorage:
        """Cookies and storages of the page. Cookies are shared with its context."""
        return PageStorage(self.internals, self.context.id)

    @property
    def request(self) -> HttpClient:
        """HTTP requests with the state of the page's context: `context.request`."""
        return self.context.request

    @property
    def popups(self) -> list[Page]:
        """The open pages that this page opened, oldest first, including those opened with `noopener`."""
        return [page for page in self.browser.pages if page.opener is self]

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, or None if it is closed or if there was no opener."""
        opener_id = self.internals.target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @block("page.events() as events")
    async def events(
        self, *kinds: EventKind, buffer: int = 1000, timeout: float = 30
    ) -> AsyncIterator[PageEvents[Page]]:
        """Receive the events of the page in one typed stream, from the start of the block to the end of the page.

            async with page.events("popups", "dialogs") as events:
                async for event in events:
                    match event:
                        case PopupEvent(page=popup): ...
                        case DialogEvent(dialog=dialog): ...

        `kinds` are "popups", "dialogs", "downloads", "file_choosers", "workers", "frames", "load_states",
        "console", "errors", "requests", "responses", "finished" and "websockets"; the default is all of them. A
        crash and the end of the page are always reported. "console" and "errors" enable Chrome's Runtime domain,
        "console" also Log, and the last four Network. The block begins when Chrome has confirmed them, so no later
        event is missed. The other kinds enable nothing.

        Events of one session (the page, a frame of another process, a worker) are in Chrome's order. At most
        `buffer` events wait. Further ones are dropped, and EventsLostError is raised in their place. `timeout`
        (seconds) applies to the beginning of the block. Raises InvalidArgumentError, DeadlineExceededError, and
        the error of a page that is gone.
        """

        def page_of(popup: PageTarget) -> Page:
            page = self.browser.page(popup.target_id)
            assert page is not None, "a new page is listed before it is reported"
            return page

        async with open_events(self.internals, kinds, buffer, timeout, page_of) as events:
            yield events

    @block("page.expect_popup() as expected")
    async def expect_popup(
        self, *, url: UrlPattern | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page whose opener is this page: `window.open`, `target=_blank`.

        Pages opened with `noopener`, or by a click with Control, Shift or the middle button, count too. Otherwise
        works like `Browser.expect_page`.
        """
        own = self.browser.page(self.target_id)
        if own is None:
            raise self.internals.session.error() or InvalidArgumentError(
                what="page", given="a page that is gone", expected="an open page"
            )
        async with self.browser.expect_page(opener=own, url=url, timeout=timeout) as expected:
            yield expected
