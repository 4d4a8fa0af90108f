"""PageActivities: the part of a Page that tells what it does, and waits for the responses that it gets.

Rule: what is waited for is told by Chrome's events from the beginning of the wait on; nothing is looked for
again and again. A response that was waited for can be read afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager

import attrs
import trio

from cdpengine._activity.har import Redacting
from cdpengine._activity.page_activity import PageActivity
from cdpengine._activity.response import Response
from cdpengine._activity.subscribers import ActivityStream, RequestEnded
from cdpengine._api.expectations import Expected, arrive
from cdpengine._api.page_base import PageBase
from cdpengine._api.unresponsive import told_unresponsive
from cdpengine._budget import Budget, check_timeout, within
from cdpengine._page.urls import UrlPattern, url_test, url_words
from cdpengine.errors import InvalidArgumentError, shown_url

_BUFFER = 10_000
"""Responses that wait to be looked at."""

_TOLD = 5
"""Other responses that an error names."""


class PageActivities(PageBase):
    """The part of a Page that knows what it does."""

    @property
    def activity(self) -> PageActivity:
        """What the page does: console messages, errors, requests; kept from `activity.start()` on, or streamed."""
        collector = self.browser.activities.of(self._target)
        return PageActivity(collector, self._redactor, self.browser.version.product)

    def _redactor(self) -> Redacting:
        from cdpengine.debug.redact import Redactor  # one table for archives and for recordings

        redactor = Redactor()
        for secret in self.browser.instruments.secrets:
            redactor.add_secret(secret)
        return redactor

    async def wait_for_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> Response:
        """Return the next response whose URL matches, once its headers have come; its body may still be coming.

        `url` is a glob ("*/api/*"), a compiled regular expression or a function of the URL; `where` a test of
        the Response. What came before the call does not count: to act and then wait, use `expect_response`.
        From then on the page's requests are followed, so that bodies can be read, until `activity.stop()` or
        the page's end.

        Raises DeadlineExceededError, which names what came instead, InvalidArgumentError, SessionGoneError,
        ConnectionLostError.
        """
        test = _test(url, where)
        seen = _Seen()
        async with told_unresponsive(self._target, trio.current_time() + check_timeout(timeout)):
            with within(_words(url), timeout) as budget:
                async with self._responses() as stream:
                    try:
                        return await _next(stream, test, seen)
                    except trio.Cancelled:
                        budget.step(str(seen))
                        raise

    @asynccontextmanager
    async def expect_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[Expected[Response]]:
        """Expect that the block brings a response; `expected.value` is the first one, once the block has ended.

        As `wait_for_response`. `timeout` (seconds) counts from the beginning of the block, which it does not
        interrupt.
        """
        test = _test(url, where)
        budget = Budget.start(_words(url), timeout)
        expected: Expected[Response] = Expected("a response")
        seen = _Seen()
        async with AsyncExitStack() as stack:
            async with told_unresponsive(self._target, budget.deadline):
                with within(_words(url), timeout):
                    stream = await stack.enter_async_context(self._responses())
            yield expected
            async with told_unresponsive(self._target, budget.deadline):
                await arrive(expected, budget, lambda: _next(stream, test, seen), lambda: str(seen))

    @asynccontextmanager
    async def _responses(self) -> AsyncIterator[ActivityStream]:
        activity = self.activity
        activity.collector.linger()
        async with activity.stream("responses", "finished", buffer=_BUFFER) as stream:
            yield stream


@attrs.define
class _Seen:
    """What came, and did not match."""

    count: int = 0
    latest: list[str] = attrs.field(factory=list)

    def add(self, words: str) -> None:
        self.count += 1
        self.latest = [*self.latest, words][-_TOLD:]

    def __str__(self) -> str:
        if not self.count:
            return "no response came"
        return f"{self.count} others came, at last {', '.join(self.latest)}"


async def _next(stream: ActivityStream, test: Callable[[Response], bool], seen: _Seen) -> Response:
    async for item in stream:
        if isinstance(item, Response):
            if test(item):
                return item
            seen.add(f"{item.status} {shown_url(item.url)}")
        elif isinstance(item, RequestEnded) and item.request.response is None:
            seen.add(f"{shown_url(item.request.url)} failed ({item.request.failure})")
    raise AssertionError("a stream ends with an error")


def _test(url: UrlPattern | None, where: Callable[[Response], bool] | None) -> Callable[[Response], bool]:
    if where is not None and not callable(where):
        raise InvalidArgumentError(
            what="where", given=repr(where)[:80], expected="a function of the Response"
        )
    matches = None if url is None else url_test(url)

    def test(response: Response) -> bool:
        if matches is not None and not matches(response.url):
            return False
        return where is None or bool(where(response))

    return test


def _words(url: UrlPattern | None) -> str:
    return "wait for a response" if url is None else f"wait for a response from {url_words(url)}"
