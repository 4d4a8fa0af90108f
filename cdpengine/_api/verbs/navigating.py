"""NavigatingVerbs: the part of a Page that goes to documents, and says what they came with.

Rule: what became of a navigation is as the engine's layer below tells; the response is added to it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import attrs

from cdpengine._activity.collector import Collector
from cdpengine._activity.request import MainDocuments, Response
from cdpengine._api.page_core import PageVerbs
from cdpengine._page.frames import LoadState
from cdpengine._page.navigation.navigation import (
    Arrival,
    check_url,
    check_wait_until,
    go_through_history,
    go_to,
    reload,
)
from cdpengine.errors import shown_url


@attrs.frozen
class Navigation(Arrival):
    """What came of a navigation, and the response that its document came with.

    `response` is None where Chrome tells of none: about:, a document out of the back/forward cache, a move within
    the document. Its status and headers are there; its body can be read where the page's requests are followed
    (`page.activity.start()` before the navigation), else `body()` raises BodyUnavailableError.
    """

    response: Response | None = attrs.field(default=None, eq=False, repr=False)


class NavigatingVerbs(PageVerbs):
    """The part of a Page that navigates."""

    async def goto(self, url: str, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Navigate to `url` and wait until "commit", "domcontentloaded", "load" or "networkidle".

        Raises NavigationFailedError with Chrome's reason (net::ERR_CONNECTION_REFUSED, ...). An HTTP status such
        as 404 is not a failure: look at `Navigation.status`. Raises DeadlineExceededError; the navigation is then
        stopped.
        """
        check_url(url)
        state = check_wait_until(wait_until)
        async with self._core.action(f"goto {shown_url(url)}", timeout, also_unready=True) as budget:
            return await self._followed(lambda: go_to(self._core.target, url, state, budget))

    async def reload(
        self, *, ignore_cache: bool = False, wait_until: LoadState = "load", timeout: float = 30
    ) -> Navigation:
        """Load the document again and wait, as `goto` does. Brings back a page that crashed."""
        state = check_wait_until(wait_until)
        async with self._core.action("reload", timeout, also_unready=True) as budget:
            return await self._followed(lambda: reload(self._core.target, ignore_cache, state, budget))

    async def go_back(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the previous entry of the history. Raises NavigationFailedError when there is none."""
        state = check_wait_until(wait_until)
        async with self._core.action("go back", timeout) as budget:
            return await self._followed(lambda: go_through_history(self._core.target, -1, state, budget))

    async def go_forward(self, *, wait_until: LoadState = "load", timeout: float = 30) -> Navigation:
        """Go to the next entry of the history. Raises NavigationFailedError when there is none."""
        state = check_wait_until(wait_until)
        async with self._core.action("go forward", timeout) as budget:
            return await self._followed(lambda: go_through_history(self._core.target, 1, state, budget))

    async def _followed(self, go: Callable[[], Awaitable[Arrival]]) -> Navigation:
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
