"""PageNavigation: the Page methods that load, replace, show, close and recover the page.

Rule: a navigation also works on a crashed page or one that does not respond, because it brings the page back.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from cdpengine._activity.collector import Collector
from cdpengine._activity.main_documents import MainDocuments
from cdpengine._activity.request import Response
from cdpengine._api.page.core import PageCore
from cdpengine._budget import within
from cdpengine._evaluate.recovery import Recovery, check_recovery, extra_wait_for, recover_page
from cdpengine._javascript import script
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
from cdpengine._protocol.wire import span as action_span
from cdpengine._urls.patterns import join_url
from cdpengine._urls.reading import read_url
from cdpengine.errors import RecoveryReport, shown_url


@attrs.frozen
class Navigation(NavigationResult):
    """The result of a navigation, with the response of its document.

    `response` is None if Chrome reports no response: for about: URLs, documents from the back/forward cache, and
    navigation within the document. The response has the status and the headers. Its `body()` works only if the
    page's requests are collected (`page.activity.start()` before the navigation); otherwise it raises
    BodyUnavailableError.
    """

    response: Response | None = attrs.field(default=None, eq=False, repr=False)


class PageNavigation:
    """The methods of a Page that load, replace, show, close and recover it. They use `internals`."""

    internals: PageCore

    @announced("goto")
    async def goto(
        self,
        url: str,
        *,
        referer: str | None = None,
        wait_until: LoadState = "load",
        timeout: float = 30,
    ) -> Navigation:
        """Navigate to `url` and wait until "commit", "domcontentloaded", "load" or "networkidle".

        A relative URL is joined to the `base_url` of the context. `referer` is the URL that the request and the
        document name as their referrer, shortened by Chrome's referrer policy for another origin.

        Raises NavigationFailedError with Chrome's reason (net::ERR_CONNECTION_REFUSED, ...). An HTTP status such
        as 404 is not a failure: see `Navigation.status`. On DeadlineExceededError the navigation has been stopped.
        """
        whole = check_url(join_url(self.internals.base_url, url))
        if referer is not None:
            read_url(referer, "referer")
        state = check_wait_until(wait_until)
        async with self.internals.action(f"goto {shown_url(whole)}", timeout, also_unready=True) as budget:
            target = self.internals.target
            return await self._follow(lambda: go_to(target, whole, state, budget, referer=referer))

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
            await self.internals.state.tabs.close(self.internals.target.target_id)

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

    async def _follow(self, go: Callable[[], Awaitable[NavigationResult]]) -> Navigation:
        return await follow_documents(self.internals, None, go)


async def follow_documents(
    core: PageCore, frame: Frame | None, go: Callable[[], Awaitable[NavigationResult]]
) -> Navigation:
    """Run a navigation of the main frame, or of `frame`, and return its result with the response."""
    documents = MainDocuments(core.target, frame)
    with documents.followed():
        result = await go()
    response = None
    if result.loader_id:
        collector = core.target.collector
        if isinstance(collector, Collector):  # the collector continues and may keep the body
            response = collector.requests.response(result.loader_id)
        response = response or documents.response(result.loader_id)
    return Navigation(**attrs.asdict(result, recurse=False), response=response)
