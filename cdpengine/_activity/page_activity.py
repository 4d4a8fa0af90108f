"""PageActivity: the public interface of what one page does: `page.activity`.

Rule: nothing is on before it is asked for; what was on is off when its scope ends, however that ends.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import trio

from cdpengine._activity import har
from cdpengine._activity.bodies import ActivityOptions, KeepBodies
from cdpengine._activity.collector import Collector
from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.har import LARGEST_BODY, fill_bodies
from cdpengine._activity.request import Request, Response
from cdpengine._activity.streams import PART_OF, ActivityStream, AwaitedResponse, Buffer, Kind
from cdpengine._budget import check_timeout, within
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._page.navigation.liveness import explain_deadline
from cdpengine._page.patterns import UrlPattern
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.streams import caller
from cdpengine.errors import ActivityOffError, ConnectionLostError, InvalidArgumentError, SessionGoneError

T = TypeVar("T")

_REPORTING_TIMEOUT = 2.0
"""Seconds that a page gets to confirm that it reports, where it is only listened to.

A stuck page does so later.
"""


@not_picklable("a list of its messages, errors or requests")
class PageActivity:
    """What one page does: its console, its errors, its requests; those of its frames and dedicated workers too.

    For archives: `product` is the browser's name and version, `redactor` makes what takes secrets out.
    """

    def __init__(
        self, collector: Collector, redactor: Callable[[], har.Redacting], product: str = ""
    ) -> None:
        self._collector = collector
        self._redactor = redactor
        self._product = product

    # --- what is kept -----------------------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        """Whether anything is being kept now."""
        return self._collector.options is not None

    @property
    def console(self) -> Buffer[ConsoleMessage]:
        """The latest console messages, oldest first. Raises ActivityOffError when none were ever kept."""
        return _check_kept(self._collector.console, "console")

    @property
    def errors(self) -> Buffer[PageError]:
        """The latest uncaught exceptions and unhandled rejections, oldest first. Raises ActivityOffError."""
        return _check_kept(self._collector.errors, "errors")

    @property
    def requests(self) -> Buffer[Request]:
        """The latest requests, in the order in which they began; each goes on changing until it has ended.

        Raises ActivityOffError.
        """
        return _check_kept(self._collector.requests, "requests")

    async def start(
        self,
        *,
        console: int = 500,
        errors: int = 200,
        requests: int = 500,
        keep_over_navigation: bool = True,
        bodies: bool | KeepBodies | None = None,
        timeout: float = 30,
    ) -> None:
        """Keep what the page does from now on: so many of the latest of each kind; 0 leaves a kind out.

        What the page has written to its console and thrown before, as far as Chrome still has it (1,000),
        comes first. `keep_over_navigation` False clears all when the page goes to another document, but for
        the requests of that one. `bodies` has bodies of responses kept as they arrive: see KeepBodies. Called
        again, it changes all that.

        Pages can notice that their console is listened to. Raises InvalidArgumentError, DeadlineExceededError when
        the page does not answer, SessionGoneError, TargetCrashedError; nothing is on then that was not before.
        """
        options = ActivityOptions(
            console=console,
            errors=errors,
            requests=requests,
            keep_over_navigation=keep_over_navigation,
            bodies=bodies,
        )
        await self.start_with(options, timeout=timeout)

    async def start_with(self, options: ActivityOptions, *, timeout: float = 30) -> None:
        """Do as `start`, with options that were made before."""
        with within("start collecting a page's activity", timeout):
            await trio.lowlevel.checkpoint()
            before = self._collector.options
            calls = self._collector.apply(options)
            try:
                await _wait_for_answers(calls)
            except BaseException:
                with contextlib.suppress(SessionGoneError, ConnectionLostError):
                    self._collector.apply(before)
                raise

    async def stop(self) -> None:
        """Keep nothing more, and switch off what was switched on for it. What was kept stays."""
        self._collector.apply(None)
        self._collector.stop_lingering()
        await trio.lowlevel.checkpoint()

    @asynccontextmanager
    async def collecting(
        self,
        *,
        console: int = 500,
        errors: int = 200,
        requests: int = 500,
        keep_over_navigation: bool = True,
        bodies: bool | KeepBodies | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[PageActivity]:
        """Do as `start` for the block, and have it again afterwards as it was before."""
        before = self._collector.options
        await self.start(
            console=console,
            errors=errors,
            requests=requests,
            keep_over_navigation=keep_over_navigation,
            bodies=bodies,
            timeout=timeout,
        )
        try:
            yield self
        finally:
            with contextlib.suppress(
                SessionGoneError, ConnectionLostError
            ):  # what cannot be switched on again sends nothing
                self._collector.apply(before)

    def clear(self) -> None:
        """Forget what is kept, and begin to count anew."""
        self._collector.clear()

    # --- as it happens ----------------------------------------------------------------------------------------

    def stream(
        self, *kinds: Kind, buffer: int = 1000
    ) -> contextlib.AbstractAsyncContextManager[ActivityStream]:
        """Receive what the page does as it happens, from the moment at which the block is entered.

        `kinds`: "console" gives each ConsoleMessage, "errors" each PageError, "requests" each Request when it
        begins, "responses" each Response when its headers have come, "finished" a RequestEnded for each
        request that ended; none means the first three. All of one block come in one sequence.

        At most `buffer` items wait; where more came, the stream raises EventsLostError, at the place where they
        are missing, and goes on. Nobody waits for a consumer. As a stream of events, it raises TargetCrashedError
        and goes on, and SessionGoneError in the end. Raises InvalidArgumentError.
        """
        return open_stream(self._collector, *kinds, buffer=buffer)

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
        awaited = AwaitedResponse(url, where)
        page = self._collector.page
        async with explain_deadline(page, trio.current_time() + check_timeout(timeout)):
            with within(awaited.words, timeout) as budget:
                async with stream_responses(self._collector) as stream:
                    try:
                        return await awaited.next_in(stream)
                    except trio.Cancelled:
                        budget.step(awaited.seen)
                        raise

    # --- archives ---------------------------------------------------------------------------------------------

    async def har(
        self,
        *,
        bodies: bool = True,
        largest_body: int = LARGEST_BODY,
        redacted: bool = True,
        timeout: float = 30,
    ) -> har.Json:
        """Return the requests that are kept as an HTTP Archive (HAR 1.2), a JSON object.

        With `bodies`, the bodies of responses stand in it, up to `largest_body` bytes each, asked of Chrome
        where they were not kept. A body that is missing says why in a comment, also that of a request. `redacted`
        takes out what is secret: cookies, headers, posted data, parts of URLs and texts that look it, by the
        table that recordings are redacted by. Sizes that are not known are -1.

        Raises ActivityOffError, InvalidArgumentError, DeadlineExceededError, ConnectionLostError. A page that does
        not answer costs half of `timeout` (seconds); its bodies are missing then.
        """
        requests = list(self.requests)
        if isinstance(largest_body, bool) or not isinstance(largest_body, int) or largest_body < 0:
            raise InvalidArgumentError(
                what="largest_body", given=repr(largest_body)[:80], expected="a number of bytes"
            )
        check_timeout(timeout)
        with within("make an archive of a page's requests", timeout) as budget:
            exchanges = await fill_bodies(requests, largest_body, budget.remaining / 2) if bodies else None
            if exchanges is None:
                exchanges = [request._exchange for request in requests]
            await trio.lowlevel.checkpoint()
            visits = {exchange.page for exchange in exchanges}
            dropped = self.requests.dropped
            comments = [f"{dropped} earlier requests were not kept"] if dropped else []
            archive = har.document(
                exchanges,
                [visit for visit in self._collector.visits if visit.id in visits],
                cookies=not redacted,
                product=self._product,
                comments=comments,
            )
            return har.redacted(archive, self._redactor()) if redacted else archive

    async def save_har(
        self,
        path: str | Path,
        *,
        bodies: bool = True,
        largest_body: int = LARGEST_BODY,
        redacted: bool = True,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> Path:
        """Write the archive that `har` returns to a file, whole or not at all, readable by its owner only.

        Returns its path. Raises as `har` does, MeasurementFailedError when it cannot be written, and
        InvalidArgumentError for a file that exists, where `overwrite` is False.
        """
        place = checked_path("the HTTP archive", path, overwrite=overwrite)
        archive = await self.har(bodies=bodies, largest_body=largest_body, redacted=redacted, timeout=timeout)
        async with output_file("the HTTP archive", place, overwrite=overwrite) as file:
            await file.write(har.encode(archive))
        return place


@asynccontextmanager
async def open_stream(collector: Collector, *kinds: Kind, buffer: int) -> AsyncIterator[ActivityStream]:
    """Receive what a page does as it happens: `PageActivity.stream`. Raises InvalidArgumentError."""
    unknown = [kind for kind in kinds if kind not in PART_OF]
    if unknown:
        expected = "some of " + ", ".join(repr(kind) for kind in PART_OF)
        raise InvalidArgumentError(what="kinds", given=repr(unknown[0])[:80], expected=expected)
    if isinstance(buffer, bool) or not isinstance(buffer, int) or buffer < 1:
        raise InvalidArgumentError(what="buffer", given=repr(buffer), expected="a number of items, 1 or more")
    wanted: Sequence[Kind] = kinds or ("console", "errors", "requests")
    parts = {PART_OF[kind] for kind in wanted}
    stream = ActivityStream(wanted, buffer, caller())
    collector.subscribers.add(stream, wanted)
    try:
        calls = collector.hold(parts)
        try:
            # What is done over another connection would be ahead of what is not answered yet. A page that is
            # stuck answers later; it obeys in order all the same.
            with trio.move_on_after(_REPORTING_TIMEOUT):
                await _wait_for_answers(calls)
            await trio.lowlevel.checkpoint()
            yield stream
        finally:
            collector.release(parts)
    finally:
        collector.subscribers.remove(stream)
        stream._end(_stream_left_error)


@asynccontextmanager
async def stream_responses(collector: Collector) -> AsyncIterator[ActivityStream]:
    """Receive responses, and what ends without one; what comes can be read for a while after the block."""
    collector.linger()
    async with open_stream(collector, "responses", "finished", buffer=_RESPONSES) as stream:
        yield stream


_RESPONSES = 10_000
"""Responses that wait to be looked at."""


def _check_kept(buffer: Buffer[T] | None, what: str) -> Buffer[T]:
    if buffer is None:
        raise ActivityOffError(what=what)
    return buffer


async def _wait_for_answers(calls: Sequence[SharedCall]) -> None:
    for call in calls:
        await call.wait()


def _stream_left_error() -> trio.ClosedResourceError:
    return trio.ClosedResourceError("the stream was left")
