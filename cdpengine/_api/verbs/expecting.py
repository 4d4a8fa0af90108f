"""ExpectingVerbs: what an action brings about: dialogs, downloads, responses, expected before it.

Rule: each is an `async with` block around what makes it happen, and has subscribed when the block begins, so what
happens in it is never missed. An exception of the block leaves as itself; what has not come by the deadline is an
error that says what was seen instead. Nothing is polled: Chrome's events tell. A response that was waited for can
be read afterwards.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Generic, TypeVar

import attrs
import trio

from cdpengine._activity.har import Redacting
from cdpengine._activity.page_activity import PageActivity
from cdpengine._activity.request import Response
from cdpengine._activity.streams import ActivityStream, RequestEnded
from cdpengine._api.page_core import PageVerbs, explain_deadline
from cdpengine._budget import Budget, check_timeout, within
from cdpengine._page.dialogs import AwaitedDialog, Dialog, DialogAnswer
from cdpengine._page.downloads.download import Download
from cdpengine._page.downloads.downloads import AwaitedDownload
from cdpengine._page.urls import UrlPattern, url_test, url_words
from cdpengine.errors import InvalidArgumentError, packages_named, shown_url


class ExpectingVerbs(PageVerbs):
    """The part of a Page that expects."""

    @asynccontextmanager
    async def expect_dialog(
        self, *, accept: bool = True, text: str | None = None, timeout: float = 30
    ) -> AsyncIterator[Expected[Dialog]]:
        """Expect that the block opens a JavaScript dialog, and have it answered as said, at once.

        `accept` is OK or Cancel; `text` goes into a prompt (None: what stands in it). It is the first dialog of
        the block, of the page or a frame of it; others are answered by the page's policy, and of several
        expectations the outer one is first. After the block, `expected.value` is the Dialog with what really
        came of it. `timeout` (seconds) counts from the beginning of the block, which it does not interrupt.

        Raises DeadlineExceededError when none opened, InvalidArgumentError for a text that would go nowhere,
        SessionGoneError.
        """
        if not isinstance(accept, bool):
            raise InvalidArgumentError(what="accept", given=repr(accept)[:80], expected="True or False")
        if text is not None and (not isinstance(text, str) or not accept):
            raise InvalidArgumentError(
                what="text", given=f"a {type(text).__name__}", expected="a str, and accept=True"
            )
        budget = Budget.start("expect a dialog", timeout)
        expected: Expected[Dialog] = Expected("a dialog")
        dialogs = self._core.target.dialogs
        with dialogs.expecting(DialogAnswer(accept, text)) as awaited:
            yield expected

            def closed() -> Dialog | None:
                return awaited.shown.dialog if awaited.shown is not None and not awaited.shown.open else None

            async with explain_deadline(self._core.target, budget.deadline):
                wait = self._core.target.wait_for
                await wait_for_arrival(expected, budget, lambda: wait(closed), lambda: _dialog_seen(awaited))

    @asynccontextmanager
    async def expect_download(
        self, directory: str | Path | None = None, *, timeout: float = 30
    ) -> AsyncIterator[Expected[Download]]:
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
        if directory is None:
            directory = await self._core.state.downloads.directory_of(self._core.target.context_id)
        if not isinstance(directory, str | Path) or not str(directory):
            given = f"a {type(directory).__name__}"
            raise InvalidArgumentError(what="directory", given=given, expected="a path, as str or Path")
        budget = Budget.start("expect a download", timeout)
        expected: Expected[Download] = Expected("a download")
        downloads = self._core.state.downloads
        async with AsyncExitStack() as stack:
            with within("expect a download", timeout):
                expecting = downloads.expecting(self._core.target, Path(directory))
                awaited = await stack.enter_async_context(expecting)
            seen = self._download_seen(awaited)
            yield expected
            async with explain_deadline(self._core.target, budget.deadline):
                wait = self._core.target.wait_for
                await wait_for_arrival(expected, budget, lambda: wait(lambda: awaited.download), seen)

    def _download_seen(self, awaited: AwaitedDownload) -> Callable[[], str]:
        records = self._core.state.downloads.records
        before = len(records)

        def seen() -> str:
            others = [record for record in list(records)[before:] if record is not awaited.download]
            return f"{len(others)} others began" if others else "none began in this page or a popup of it"

        return seen

    @property
    def activity(self) -> PageActivity:
        """What the page does: console messages, errors, requests; kept from `activity.start()` on, or streamed."""
        collector = self._core.state.activities.of(self._core.target)
        return PageActivity(collector, self._redactor, self._core.state.version.product)

    def _redactor(self) -> Redacting:
        with packages_named():
            from cdpengine.debug.recording.redact import Redactor  # one table for archives and for recordings

        redactor = Redactor()
        for secret in self._core.state.instruments.secrets:
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
        async with explain_deadline(self._core.target, trio.current_time() + check_timeout(timeout)):
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
            async with explain_deadline(self._core.target, budget.deadline):
                with within(_words(url), timeout):
                    stream = await stack.enter_async_context(self._responses())
            yield expected
            async with explain_deadline(self._core.target, budget.deadline):
                await wait_for_arrival(expected, budget, lambda: _next(stream, test, seen), lambda: str(seen))

    @asynccontextmanager
    async def _responses(self) -> AsyncIterator[ActivityStream]:
        activity = self.activity
        activity.collector.linger()
        async with activity.stream("responses", "finished", buffer=_BUFFER) as stream:
            yield stream


def _dialog_seen(awaited: AwaitedDialog) -> str:
    if awaited.shown is None:
        return "none opened"
    return f"a {awaited.shown.dialog.type} opened, and Chrome has not told its end"


_BUFFER = 10_000
"""Responses that wait to be looked at."""

_TOLD = 5
"""Other responses that an error names."""


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


T = TypeVar("T")


@attrs.define(eq=False)
class Expected(Generic[T]):
    """What an `expect_...` block gives. `value` is there once the block has ended."""

    what: str
    _values: list[T] = attrs.field(factory=list, init=False, repr=False)

    @property
    def value(self) -> T:
        """What came. Raises InvalidArgumentError when it is asked for before the block has ended."""
        if not self._values:
            raise InvalidArgumentError(
                what="expected.value", given=f"asked for before {self.what} came", expected="after the block"
            )
        return self._values[0]

    def take(self, value: T) -> None:
        """Note what came."""
        self._values[:] = [value]


async def wait_for_arrival(
    expected: Expected[T], budget: Budget, wait: Callable[[], Awaitable[T]], seen: Callable[[], str]
) -> None:
    """Wait until what is expected has come, and note it. Raises DeadlineExceededError, which says what was seen.

    Where the block took all the time, what came in it still counts.
    """
    with trio.CancelScope(deadline=max(budget.deadline, trio.current_time() + _GRACE)) as scope:
        expected.take(await wait())
    if scope.cancelled_caught:
        budget.step(f"{expected.what} did not come; {seen()}")
        raise budget.exceeded()


_GRACE = 0.08
"""Seconds that what came in the block gets to be ready, at least."""
