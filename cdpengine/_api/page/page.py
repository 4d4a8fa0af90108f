"""Page: one tab or popup: where it is, where it goes, what is expected of it, and its parts.

Rule: every verb takes one `timeout`, makes one Budget of it, and hands it down; what is done stands in the layers
below, a method here only says in which order. Nothing here waits beyond its budget, whatever the page does. What
everybody uses is a verb of the Page (those that send input and those that read stand in the two classes that it is
made of); everything else is behind a property.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import attrs

from cdpengine._activity.collector import Collector
from cdpengine._activity.har import Redacting
from cdpengine._activity.page_activity import PageActivity
from cdpengine._activity.request import MainDocuments, Response
from cdpengine._api.page.actions import PageActions
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.expecting import (
    Expected,
    ExpectedFileChooser,
    expect_dialog,
    expect_download,
    expect_file_chooser,
    expect_response,
)
from cdpengine._api.page.parts import Dialogs, Keyboard, Mouse, PageElements, PageWindow, Touch
from cdpengine._api.page.pictures import PagePictures
from cdpengine._api.page.reading import PageReading
from cdpengine._api.scopes.awaitable_scope import AwaitableScope, SettingScope
from cdpengine._api.scopes.emulation import PageEmulation
from cdpengine._api.scopes.measure import PageMeasure
from cdpengine._api.scopes.network import Network, route_requests
from cdpengine._api.scopes.scripts import Scripts
from cdpengine._api.scopes.storage import PageStorage
from cdpengine._budget import within
from cdpengine._evaluate.recovery import Recovery, check_recovery, extra_wait_for, recover_page
from cdpengine._javascript import script
from cdpengine._network.interceptor import RouteHandler, RouteRegistration, Stage
from cdpengine._network.messages import ResourceType
from cdpengine._page.dialogs import Dialog
from cdpengine._page.downloads.download import Download
from cdpengine._page.file_choosers import FileChooser
from cdpengine._page.frames import Frame, LoadState
from cdpengine._page.navigation.history import go_through_history
from cdpengine._page.navigation.navigation import (
    Arrival,
    check_url,
    check_wait_until,
    go_to,
    reload,
)
from cdpengine._page.patterns import UrlPattern
from cdpengine._page.running_actions import announced
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import span as action_span
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError, RecoveryReport, packages_named, shown_url

if TYPE_CHECKING:
    from cdpengine._api.browser import Browser
    from cdpengine._api.context import BrowserContext


@attrs.frozen
class Navigation(Arrival):
    """What came of a navigation, and the response that its document came with.

    `response` is None where Chrome tells of none: about:, a document out of the back/forward cache, a move within
    the document. Its status and headers are there; its body can be read where the page's requests are followed
    (`page.activity.start()` before the navigation), else `body()` raises BodyUnavailableError.
    """

    response: Response | None = attrs.field(default=None, eq=False, repr=False)


@not_picklable("what was read from it: its URL, its title, a snapshot")
class Page(PageActions, PageReading):
    """One page (tab, popup). Get it from `browser.new_page()` or `browser.pages`.

    What one does with it all the time it has itself. The rest is in its parts: `network`, `emulation`, `storage`,
    `scripts`, `measure`, `activity`, `dialogs`, `elements`, `pictures`, `window`; and its devices, `keyboard`,
    `mouse` and `touch`.
    """

    def __init__(self, browser: Browser, core: PageCore) -> None:
        self._core = core
        self.browser = browser
        self.keyboard = Keyboard(core.keyboard)
        self.mouse = Mouse(core.mouse)
        self.touch = Touch(core.touch)
        self._scope = SettingScope.of_page(core)
        self.network = Network(self._scope)
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
        """The page's own session, for any protocol command and event. Evaluation has another one."""
        return self._core.session

    @property
    def target_id(self) -> str:
        """Chrome's id of the page."""
        return self._core.target.target_id

    @property
    def url(self) -> str:
        """Where the page is, as of the last event; fragment included. "about:blank" before its first document."""
        return self._core.target.frames.main.url or "about:blank"

    @property
    def frames(self) -> list[Frame]:
        """The page's frames, the main one first."""
        return list(self._core.target.frames)

    @property
    def context(self) -> BrowserContext:
        """The context that the page belongs to."""
        return self.browser.context_of(self)

    @property
    def context_id(self) -> str | None:
        """Chrome's id of the browser context that the page belongs to."""
        return self._core.target.context_id

    @property
    def closed(self) -> bool:
        """Whether the page is gone."""
        return self._core.target.closed

    @property
    def storage(self) -> PageStorage:
        """What the page stores: its cookies, which are its context's, and the storages of its documents."""
        return PageStorage(self._core, self.context.id)

    @property
    def popups(self) -> list[Page]:
        """The open pages that this page opened, oldest first, those that cannot reach it (`noopener`) included."""
        return [page for page in self.browser.pages if page.opener is self]

    @property
    def opener(self) -> Page | None:
        """The page that opened this one, if it still is there."""
        opener_id = self._core.target.opener_id
        return None if opener_id is None else self.browser.page(opener_id)

    @property
    def activity(self) -> PageActivity:
        """What the page does: console messages, errors, requests; kept from `activity.start()` on, or streamed."""
        collector = self._core.state.activities.of(self._core.target)
        return PageActivity(collector, self._make_redactor, self._core.state.version.product)

    def _make_redactor(self) -> Redacting:
        with packages_named():
            from cdpengine.debug.recording.redact import Redactor  # one table for archives and for recordings

        redactor = Redactor()
        for secret in self._core.state.instruments.secrets:
            redactor.add_secret(secret)
        return redactor

    @property
    def file_choosers(self) -> list[FileChooser]:
        """The latest file choosers that the page asked for. They are never shown: see `expect_file_chooser`."""
        return self._core.target.choosers.records

    # --- where it goes ------------------------------------------------------------------------------------------

    @announced("goto")
    async def goto(self, url: str, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Navigate to `url` and wait until "commit", "domcontentloaded", "load" or "networkidle".

        Raises NavigationFailedError with Chrome's reason (net::ERR_CONNECTION_REFUSED, ...). An HTTP status such
        as 404 is not a failure: look at `Navigation.status`. Raises DeadlineExceededError; the navigation is then
        stopped.
        """
        check_url(url)
        state = check_wait_until(wait_until)
        async with self._core.action(f"goto {shown_url(url)}", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_to(self._core.target, url, state, budget))

    @announced("reload")
    async def reload(
        self, *, ignore_cache: bool = False, wait_until: LoadState = "load", timeout: float = 30
    ) -> Navigation:
        """Load the document again and wait, as `goto` does. Brings back a page that crashed."""
        state = check_wait_until(wait_until)
        async with self._core.action("reload", timeout, also_unready=True) as budget:
            return await self._follow(lambda: reload(self._core.target, ignore_cache, state, budget))

    @announced("go_back")
    async def go_back(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the previous entry of the history. Raises NavigationFailedError when there is none.

        Brings back a page that crashed.
        """
        state = check_wait_until(wait_until)
        async with self._core.action("go back", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_through_history(self._core.target, -1, state, budget))

    @announced("go_forward")
    async def go_forward(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the next entry of the history. Raises NavigationFailedError when there is none.

        Brings back a page that crashed.
        """
        state = check_wait_until(wait_until)
        async with self._core.action("go forward", timeout, also_unready=True) as budget:
            return await self._follow(lambda: go_through_history(self._core.target, 1, state, budget))

    @announced("set_content")
    async def set_content(self, html: str, *, timeout: float = 30) -> None:
        """Replace the document's content by `html` and wait until it has loaded. The URL stays as it is."""
        await self._core.read("set content", script("_api/page/set_content"), timeout, html)

    async def bring_to_front(self, *, timeout: float = 30) -> None:
        """Make it the window's active tab. Actions do not need it.

        A tab that Chrome has discarded is loaded again, and this waits for its document.
        """
        session, target = self._core.session, self._core.target
        dead = session.crashed
        async with self._core.action("bring to front", timeout, also_unready=dead):
            await session.call("Page.bringToFront")
            if dead:
                if target.navigation.under_way:  # a crashed tab is not loaded
                    await target.wait_for(lambda: not session.crashed, also_crashed=True)
                await target.running.ready()

    async def close(self, *, timeout: float = 30) -> None:
        """Close the page and wait until it is gone. Also works on a page whose script never ends."""
        with action_span("page.close"), within("close the page", timeout):
            await self._core.state.tabs.close(self.target_id)

    @announced("recover")
    async def recover(self, *, allow: Recovery = "terminate", timeout: float = 30) -> RecoveryReport:
        """Bring back a page that does not answer, whatever hung it; nothing is done to one that answers.

        A page that is only slow has half a second for that, and once more after the termination; less where
        `timeout` is below ten seconds. "terminate": its dialog is dismissed, its script terminated. "reload": if
        that was not enough (a synchronous XMLHttpRequest), its process is ended and the document loaded again.
        "close": if it was not enough, the page is closed. Both termination and reload hit the page's whole
        process, so its popups and pages of the same site too: their scripts end with EvaluationTerminatedError,
        and after a reload they have crashed. The report tells what was done, and whether the page answers. Raises
        DeadlineExceededError; a reload or closing goes on then, and the page's next action waits for it.
        """
        check_recovery(allow)
        with action_span("page.recover"), within("recover the page", timeout):
            report = await recover_page(self._core.target, allow=allow, extra_wait=extra_wait_for(timeout))
            if report.under_way:
                await self._core.target.running.recovered()
                report = self._core.target.running.last_recovery or report
            return report

    # --- what is expected of it, and what answers it --------------------------------------------------------

    def expect_dialog(
        self, *, accept: bool = True, text: str | None = None, timeout: float = 30
    ) -> AbstractAsyncContextManager[Expected[Dialog]]:
        """Expect that the block opens a JavaScript dialog, and have it answered as said, at once.

        `accept` is OK or Cancel; `text` goes into a prompt (None: what stands in it). It is the first dialog of
        the block, of the page or a frame of it; others are answered by the page's policy, and of several
        expectations the outer one is first. After the block, `expected.value` is the Dialog with what really
        came of it. `timeout` (seconds) counts from the beginning of the block, which it does not interrupt.

        Raises DeadlineExceededError when none opened, InvalidArgumentError for a text that would go nowhere,
        SessionGoneError.
        """
        return expect_dialog(self._core, accept=accept, text=text, timeout=timeout)

    def expect_download(
        self, directory: str | Path | None = None, *, timeout: float = 30
    ) -> AbstractAsyncContextManager[Expected[Download]]:
        """Expect that the block begins a download, and let it come into `directory`, which is made if need be.

        None is the directory that the context allows (`new_context(downloads=...)`, `context.allow_downloads`),
        and without one a temporary folder for this user's eyes only: its files are there until `browser` ends, and
        are removed with it; a warning names one that nobody asked for.

        After the block, `expected.value` is the Download; it has begun, and `await expected.value.wait()` gives
        the path of the whole file. Its name is the server's, made safe, with a number where that name is taken:
        nothing is overwritten, and nothing is ever written outside of the directory. It is the first download
        of the page, of a frame or of a popup of it; others are refused, as they always are, with a record in
        `browser.downloads`. The browser must run on this machine. `timeout` (seconds) counts from the beginning
        of the block, which it does not interrupt.

        When the block raises, a download that it began is cancelled, and its partial file removed; afterwards the
        download goes on, until `browser` ends. A `goto` of something that is a download raises
        NavigationFailedError, here too. Raises DeadlineExceededError when none began, InvalidArgumentError for a
        directory that cannot be one, RemoteError where the browser does not allow it, SessionGoneError,
        ConnectionLostError.
        """
        return expect_download(self._core, directory, timeout=timeout)

    def expect_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> AbstractAsyncContextManager[Expected[Response]]:
        """Expect that the block brings a response; `expected.value` is the first one, once the block has ended.

        As `activity.wait_for_response`. `timeout` (seconds) counts from the beginning of the block, which it does
        not interrupt.
        """
        return expect_response(self._core, url, where, timeout=timeout)

    def expect_file_chooser(self, *, timeout: float = 30) -> AbstractAsyncContextManager[ExpectedFileChooser]:
        """Expect a file chooser to open in the block, and give it its files.

            async with page.expect_file_chooser() as chooser:
                await page.click("e3")
                await chooser.set_files("report.pdf")

        Leaving waits until one has opened; `chooser.value` is its record. Without `set_files` it ends without
        files. Raises DeadlineExceededError when none opened within `timeout` seconds of entering. A file chooser
        that nobody expects is dismissed, and recorded in `file_choosers`.
        """
        return expect_file_chooser(self._core, timeout=timeout)

    @asynccontextmanager
    async def expect_popup(
        self, *, url: UrlPattern | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Page]]:
        """Expect that the block opens a page whose opener this page is: `window.open`, `target=_blank`.

        With or without `noopener`, or by a click with Control, Shift or the middle button. As
        `Browser.expect_page` in everything else.
        """
        own = self.browser.page(self.target_id)
        if own is None:
            raise self._core.session.error() or InvalidArgumentError(
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
        """Have `handler` answer the requests whose URL matches.

        `async with` it for a block; `await` it to last, until `network.unroute`.

        `pattern` is a glob ("*/api/*", in which only "*" is special), a compiled regular expression or a function
        of the URL; `resource_type` narrows it ("Image", "XHR", ...; `fetch()` is "XHR"). `handler` is an async
        function that is given a Route and answers it: `continue_`, `fulfill`, `abort`, or `fallback` to the next
        route. The latest route is asked first. With `stage="response"`, it gets the request when its response has
        begun. They hold for its frames, workers, and the pages that it opens, from their first request;
        of what a service worker or the memory cache answers they see nothing.

        A handler that raises, gives no answer, or takes more than `limit` seconds, fails its request
        (net::ERR_FAILED) and nothing else: see `network.routes.failures` and the log. What it holds at the end of
        the block goes on as if there had been no route.

        Raises InvalidArgumentError, DeadlineExceededError, and why the page cannot be told.
        """
        routes = self.network.routes
        return route_requests(self._scope, routes, pattern, handler, resource_type, stage, limit, timeout)

    async def _follow(self, go: Callable[[], Awaitable[Arrival]]) -> Navigation:
        documents = MainDocuments(self._core.target)
        with documents.followed():
            arrival = await go()
        response = None
        if arrival.loader_id:
            collector = self._core.target.collector
            if isinstance(collector, Collector):  # it goes on following, and may keep the body
                response = collector.response(arrival.loader_id)
            response = response or documents.response(arrival.loader_id)
        return Navigation(**attrs.asdict(arrival, recurse=False), response=response)
