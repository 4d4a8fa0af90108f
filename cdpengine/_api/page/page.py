"""Page: one tab or popup, with its navigation, expected events and parts.

Rule: every method takes one `timeout`, creates one Budget from it, and passes it down. The lower layers do the
work; a method here only calls them in order. No method waits beyond its budget, whatever the page does. Common
operations are methods of Page. The methods that send input and those that read are in its two base classes.
Everything else belongs to a part, which is a property of the page.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from cdpengine._activity.collector import Collector
from cdpengine._activity.har import Redacting
from cdpengine._activity.main_documents import MainDocuments
from cdpengine._activity.page_activity import PageActivity
from cdpengine._activity.request import Response
from cdpengine._api.page.actions import PageActions
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.devices import Keyboard, Mouse, Touch
from cdpengine._api.page.expecting import (
    Expected,
    ExpectedFileChooser,
    expect_dialog,
    expect_download,
    expect_file_chooser,
    expect_response,
)
from cdpengine._api.page.parts import Dialogs, PageElements
from cdpengine._api.page.pictures import PagePictures
from cdpengine._api.page.reading import PageReading
from cdpengine._api.page.window import PageWindow
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.emulation import PageEmulation
from cdpengine._api.scopes.measure import PageMeasure
from cdpengine._api.scopes.network import Network, RouteTable, route_requests
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.storage import PageStorage
from cdpengine._budget import within
from cdpengine._evaluate.recovery import Recovery, check_recovery, extra_wait_for, recover_page
from cdpengine._javascript import script
from cdpengine._network.active_route import RouteHandler, RouteRegistration, Stage
from cdpengine._network.messages import ResourceType
from cdpengine._page.dialogs import Dialog
from cdpengine._page.downloads.download import Download
from cdpengine._page.file_choosers import FileChooser
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.history import go_through_history
from cdpengine._page.navigation.navigation import (
    NavigationResult,
    check_url,
    check_wait_until,
    go_to,
    reload,
)
from cdpengine._page.running_actions import announced
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._protocol.wire import span as action_span
from cdpengine._urls.patterns import UrlPattern
from cdpengine.errors import InvalidArgumentError, RecoveryReport, packages_named, shown_url
from cdpengine.errors.misuse import block, name_ours
from cdpengine.errors.other_libraries import PAGE

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.context import BrowserContext


@attrs.frozen
class Navigation(NavigationResult):
    """The result of a navigation, with the response of its document.

    `response` is None if Chrome reports no response: for about: URLs, documents from the back/forward cache, and
    navigation within the document. The response has the status and the headers. Its `body()` works only if the
    page's requests are collected (`page.activity.start()` before the navigation); otherwise it raises
    BodyUnavailableError.
    """

    response: Response | None = attrs.field(default=None, eq=False, repr=False)


@not_picklable("data that you read from it: its URL, its title, a snapshot")
class Page(PageActions, PageReading):
    """One page (tab or popup). Get it from `browser.new_page()` or `browser.pages`.

    Common operations are methods of the page. Its parts have the others: `network`, `emulation`, `storage`,
    `scripts`, `measure`, `activity`, `dialogs`, `elements`, `pictures` and `window`. Its devices are `keyboard`,
    `mouse` and `touch`.

    `internals` has the engine's own parts of this page. They change without notice.
    """

    if not TYPE_CHECKING:
        __getattr__ = name_ours(PAGE)

    def __init__(self, browser: Browser, core: PageCore) -> None:
        self.internals = core
        self._context = browser.context_of(self)
        self.browser = browser
        self.keyboard = Keyboard(core.keyboard)
        self.mouse = Mouse(core.mouse)
        self.touch = Touch(core.touch)
        self._scope = SettingScope.of_page(core)
        self._routes = RouteTable()
        self.network = Network(self._scope, self._routes)
        self.scripts = Scripts(self._scope)
        self.emulation = PageEmulation(core)
        self.measure = PageMeasure(core)
        self.dialogs = Dialogs(core)
        self.elements = PageElements(core)
        self.pictures = PagePictures(core)
        self.window = PageWindow(core)

    def __repr__(self) -> str:
        return f"<Page {self.target_id[:8]} {shown_url(self.url)[:60]!r}>"

    @property
    def session(self) -> Session:
        """The page's session, for any protocol command and event. Evaluations use a separate session."""
        return self.internals.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self.internals.target.target_id

    @property
    def url(self) -> str:
        """The page's URL as of the last event, fragment included. "about:blank" before its first document."""
        return self.internals.target.frames.main.url or "about:blank"

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self.internals.target.frames)

    @property
    def context(self) -> BrowserContext:
        """The browser context of the page."""
        return self._context

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the page's browser context."""
        return self.internals.target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is closed, or its browser is gone."""
        return self.internals.target.closed

    @property
    def storage(self) -> PageStorage:
        """Cookies and storages of the page. Cookies are shared with its context."""
        return PageStorage(self.internals, self.context.id)

    @property
    def popups(self) -> list[Page]:
        """The open pages that this page opened, oldest first, including those opened with `noopener`."""
        return [page for page in self.browser.pages if page.opener is self]

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, or None if it is closed or if there was no opener."""
        opener_id = self.internals.target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @property
    def activity(self) -> PageActivity:
        """Console messages, errors and requests of the page, kept from `activity.start()` on, or streamed."""
        collector = self.internals.state.activities.of(self.internals.target)
        return PageActivity(collector, self._make_redactor, self.internals.state.version.product)

    def _make_redactor(self) -> Redacting:
        with packages_named():
            from cdpengine.debug.recording.redact import Redactor  # archives and recordings share one table

        redactor = Redactor()
        for secret in self.internals.state.instruments.secrets:
            redactor.add_secret(secret)
        return redactor

    @property
    def file_choosers(self) -> list[FileChooser]:
        """The latest file choosers of the page. They are never displayed: see `expect_file_chooser`."""
        return self.internals.target.choosers.records

    # --- navigation --------------------------------------------------------------------------------------------

    @announced("goto")
    async def goto(self, url: str, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Navigate to `url` and wait until "commit", "domcontentloaded", "load" or "networkidle".

        Raises NavigationFailedError with Chrome's reason (net::ERR_CONNECTION_REFUSED, ...). An HTTP status such
        as 404 is not a failure: see `Navigation.status`. On DeadlineExceededError the navigation has been stopped.
        """
        check_url(url)
        state = check_wait_until(wait_until)
        async with self.internals.action(f"goto {shown_url(url)}", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_to(self.internals.target, url, state, budget))

    @announced("reload")
    async def reload(
        self, *, ignore_cache: bool = False, wait_until: LoadState = "load", timeout: float = 30
    ) -> Navigation:
        """Load the document again and wait as `goto` does. Restores a crashed page."""
        state = check_wait_until(wait_until)
        async with self.internals.action("reload", timeout, also_unready=True) as budget:
            return await self._follow(lambda: reload(self.internals.target, ignore_cache, state, budget))

    @announced("go_back")
    async def go_back(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the previous entry of the history. Raises NavigationFailedError if none exists.

        Restores a crashed page.
        """
        state = check_wait_until(wait_until)
        async with self.internals.action("go back", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_through_history(self.internals.target, -1, state, budget))

    @announced("go_forward")
    async def go_forward(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the next entry of the history. Raises NavigationFailedError if none exists.

        Restores a crashed page.
        """
        state = check_wait_until(wait_until)
        async with self.internals.action("go forward", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_through_history(self.internals.target, 1, state, budget))

    @announced("set_content")
    async def set_content(self, html: str, *, timeout: float = 30) -> None:
        """Replace the document's content by `html` and wait until it has loaded. The URL does not change."""
        await self.internals.read("set content", script("_api/page/set_content"), timeout, html)

    async def bring_to_front(self, *, timeout: float = 30) -> None:
        """Make the page the active tab of its window. Actions do not need this.

        A tab that Chrome has discarded is loaded again, and this method waits for its document.
        """
        session, target = self.internals.session, self.internals.target
        dead = session.crashed
        async with self.internals.action("bring to front", timeout, also_unready=dead):
            await session.call("Page.bringToFront")
            if dead:
                if target.navigation.under_way:  # Chrome does not load a crashed tab
                    await target.wait_for(lambda: not session.crashed, also_crashed=True)
                await target.running.ready()

    async def close(self, *, timeout: float = 30) -> None:
        """Close the page and wait until it is gone. Works even if a script of the page never ends."""
        with action_span("page.close"), within("close the page", timeout):
            await self.internals.state.tabs.close(self.target_id)

    @announced("recover")
    async def recover(self, *, allow: Recovery = "terminate", timeout: float = 30) -> RecoveryReport:
        """Restore a page that does not respond, whatever blocks it. Does nothing to a page that responds.

        A slow page has 0.5 s to respond, and again 0.5 s after the termination; less for a `timeout` below 10 s.
        "terminate" dismisses its dialog and terminates its script. If that does not help (a synchronous
        XMLHttpRequest), "reload" also ends its process and loads the document again. If that does not help,
        "close" also closes the page. Termination and reload affect the whole process, which popups and pages of
        the same site can share. Their scripts end with EvaluationTerminatedError, and a reload crashes them. The
        report lists the steps taken and whether the page responds. Raises DeadlineExceededError; a started reload
        or closing continues then, and the page's next action waits for it.
        """
        check_recovery(allow)
        with action_span("page.recover"), within("recover the page", timeout):
            report = await recover_page(
                self.internals.target, allow=allow, extra_wait=extra_wait_for(timeout)
            )
            if report.under_way:
                await self.internals.target.running.recovered()
                report = self.internals.target.running.last_recovery or report
            return report

    # --- expected events and routes ----------------------------------------------------------------------------

    def expect_dialog(
        self, *, accept: bool = True, text: str | None = None, timeout: float = 30
    ) -> AbstractAsyncContextManager[Expected[Dialog]]:
        """Expect that the block opens a JavaScript dialog, and answer it immediately.

        `accept` chooses OK (True) or Cancel. `text` is the answer to a prompt; None keeps its default text. The
        first dialog of the page or of a frame counts. The page's policy answers the others. If expectations are
        nested, the outer one gets the first dialog. After the block, `expected.value` is the Dialog with its
        actual result. `timeout` (seconds) counts from the beginning of the block, but does not interrupt it.

        Raises DeadlineExceededError if no dialog opened, InvalidArgumentError for a `text` without `accept`,
        SessionGoneError.
        """
        return expect_dialog(self.internals, accept=accept, text=text, timeout=timeout)

    def expect_download(
        self, directory: str | Path | None = None, *, timeout: float = 30
    ) -> AbstractAsyncContextManager[Expected[Download]]:
        """Expect that the block begins a download, and save it in `directory`, which is created if needed.

        None means the directory that the context allows (`new_context(downloads=...)`, `context.allow_downloads`).
        Without such a directory, files go into a temporary folder that only this user can read. It is removed when
        `browser` ends, and a warning lists the files whose path was never requested.

        After the block, `expected.value` is the Download, which has begun. `await expected.value.wait()` returns
        the path of the complete file. The file name comes from the server, made safe, with a number if it is
        taken. No file is overwritten or written outside the directory. The first download of the page, a frame or
        a popup counts. Others are refused as usual, with a record in `browser.downloads`. The browser must run on
        this machine. `timeout` (seconds) counts from the beginning of the block, but does not interrupt it.

        If the block raises, a download that it began is cancelled and its partial file removed. After the block,
        the download continues until `browser` ends. `goto` to a download raises NavigationFailedError, here too.
        Raises DeadlineExceededError if no download began, InvalidArgumentError for an invalid directory,
        RemoteError if the browser does not allow downloads, SessionGoneError, ConnectionLostError.
        """
        return expect_download(self.internals, directory, timeout=timeout)

    def expect_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> AbstractAsyncContextManager[Expected[Response]]:
        """Expect that the block causes a response. After the block, `expected.value` is the first match.

        Works like `activity.wait_for_response`. `timeout` (seconds) counts from the beginning of the block, but
        does not interrupt the block.
        """
        return expect_response(self.internals, url, where, timeout=timeout)

    def expect_file_chooser(self, *, timeout: float = 30) -> AbstractAsyncContextManager[ExpectedFileChooser]:
        """Expect a file chooser to open in the block, and choose its files.

            async with page.expect_file_chooser() as chooser:
                await page.click("e3")
                await chooser.set_files("report.pdf")

        The end of the block waits until a chooser has opened; `chooser.value` is its record. If `set_files` was
        not called, the input gets no files. Raises DeadlineExceededError if no chooser opened within `timeout`
        seconds of entering the block. An unexpected file chooser is dismissed, and recorded in `file_choosers`.
        """
        return expect_file_chooser(self.internals, timeout=timeout)

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

    def route(
        self,
        pattern: UrlPattern,
        handler: RouteHandler,
        *,
        resource_type: ResourceType | Collection[ResourceType] = (),
        stage: Stage = "request",
        limit: float = 30,
        timeout: float = 30,
    ) -> AwaitableScope[RouteRegistration]:
        """Let `handler` answer the requests whose URL matches `pattern`.

        Use `async with` to route for a block, or `await` to route until `network.unroute`.

        `pattern` is a glob ("*/api/*", in which only "*" is special), a compiled regular expression or a function
        of the URL. `resource_type` restricts it ("Image", "XHR", ...; `fetch()` is "XHR"). `handler` is an async
        function. It receives a Route and calls `continue_`, `fulfill`, `abort`, or `fallback` for the next route.
        The latest route comes first. With `stage="response"`, the handler runs when the response has begun. Routes
        apply to the page's frames, workers and the pages that it opens, from their first request. They do not see
        requests answered by a service worker or the memory cache.

        If a handler raises, does not answer or takes more than `limit` seconds, only its request fails
        (net::ERR_FAILED): see `network.routes.failures` and the log. A request that is still paused at the end of
        the block continues without the route.

        Raises InvalidArgumentError, DeadlineExceededError, or the error of an unreachable page.
        """
        return route_requests(
            self._scope, self._routes, pattern, handler, resource_type, stage, limit, timeout
        )

    async def _follow(self, go: Callable[[], Awaitable[NavigationResult]]) -> Navigation:
        documents = MainDocuments(self.internals.target)
        with documents.followed():
            result = await go()
        response = None
        if result.loader_id:
            collector = self.internals.target.collector
            if isinstance(collector, Collector):  # the collector continues and may keep the body
                response = collector.requests.response(result.loader_id)
            response = response or documents.response(result.loader_id)
        return Navigation(**attrs.asdict(result, recurse=False), response=response)
