"""The public interface of a page's activity: `page.activity`.

Rule: nothing is collected before it is requested. Collection stops at the end of its scope, on every exit.
"""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import attrs
import trio

from cdpengine._activity import har
from cdpengine._activity.collector import Collector
from cdpengine._activity.console import ConsoleMessage, PageError
from cdpengine._activity.har_bodies import LARGEST_BODY, fill_bodies
from cdpengine._activity.options import ActivityOptions, KeepBodies
from cdpengine._activity.request import Request, Response, request_of
from cdpengine._activity.streams import PART_OF, ActivityFeed, ActivityStream, AwaitedResponse, Kind
from cdpengine._activity.websocket import EventSourceMessage, WebSocket, WebTransport
from cdpengine._budget import check_timeout, within
from cdpengine._checks import check_choice, check_count
from cdpengine._history import BoundedHistory
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine._page.navigation.expired_actions import explain_deadline
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import StreamFeed, caller
from cdpengine._urls.patterns import UrlPattern, join_pattern
from cdpengine.errors import ConnectionLostError, SessionGoneError

_REPORTING_TIMEOUT = 2.0
"""Timeout for a page to confirm a stream's start, in seconds.

A stuck page confirms later.
"""


@attrs.frozen
class DocumentActivity:
    """The kept console messages, errors and requests since the page's latest navigation to another document.

    The requests begin with that of the document, and its redirects. Navigation within a document does not count.
    """

    console: tuple[ConsoleMessage, ...]
    errors: tuple[PageError, ...]
    requests: tuple[Request, ...]


@not_picklable("a list of its messages, errors or requests")
class PageActivity:
    """The activity of a page: console, errors and requests, including those of its frames and dedicated workers.

    For archives: `product` is the browser's name and version; `redactor` creates an object that removes secrets.
    `base_url` completes relative URL patterns.
    """

    def __init__(
        self,
        collector: Collector,
        redactor: Callable[[], har.Redacting],
        product: str = "",
        base_url: str | None = None,
    ) -> None:
        self._collector = collector
        self._redactor = redactor
        self._product = product
        self._base_url = base_url

    # --- kept items -----------------------------------------------------------------------------------------

    @property
    def started(self) -> bool:
        """Whether anything is being kept."""
        return self._collector.options is not None

    @property
    def console(self) -> BoundedHistory[ConsoleMessage]:
        """The latest console messages, oldest first. Raises InvalidStateError if none were ever kept."""
        return BoundedHistory(self._collector.messages.console.records)

    @property
    def errors(self) -> BoundedHistory[PageError]:
        """The latest uncaught exceptions and unhandled rejections, oldest first. Raises InvalidStateError."""
        return BoundedHistory(self._collector.messages.errors.records, lambda kept: kept.error)

    @property
    def requests(self) -> BoundedHistory[Request]:
        """The latest requests, in the order of their start. A request changes until it has ended.

        Raises InvalidStateError.
        """
        return BoundedHistory(self._collector.requests.kept.records, request_of)

    @property
    def since_navigation(self) -> DocumentActivity:
        """The kept items of the current document, as of now. Raises InvalidStateError if a kind was never kept."""
        messages, requests = self._collector.messages, self._collector.requests
        return DocumentActivity(
            console=tuple(messages.console.records.since_mark),
            errors=tuple(kept.error for kept in messages.errors.records.since_mark),
            requests=tuple(map(request_of, requests.since_mark())),
        )

    @property
    def websockets(self) -> BoundedHistory[WebSocket]:
        """The latest websockets, in the order of their start, each with its messages. Raises InvalidStateError."""
        return BoundedHistory(self._collector.websockets.sockets.records)

    @property
    def event_messages(self) -> BoundedHistory[EventSourceMessage]:
        """The latest messages of event sources, oldest first. Raises InvalidStateError."""
        return BoundedHistory(self._collector.websockets.events.records)

    @property
    def webtransports(self) -> BoundedHistory[WebTransport]:
        """The latest WebTransport sessions, in the order of their start. Raises InvalidStateError."""
        return BoundedHistory(self._collector.websockets.transports.records)

    async def start(
        self,
        *,
        console: int = 500,
        errors: int = 200,
        requests: int = 500,
        websockets: int = 100,
        messages: int = 1000,
        keep_over_navigation: bool = True,
        bodies: bool | KeepBodies | None = None,
        timeout: float = 30,
    ) -> None:
        """Start to keep the latest items of each kind, up to the given numbers; 0 keeps none of a kind.

        Earlier console messages and errors that Chrome still has (up to 1,000) come first.
        `websockets` is also the number of WebTransport sessions. `messages` is the number of messages that all
        websockets keep together, and of messages of event sources. They need `requests`.
        `keep_over_navigation=False` clears everything when the page navigates to another document, except the
        requests of that document. `bodies` keeps response bodies as they arrive: see KeepBodies. A further call
        changes the settings.

        Pages can detect that their console is observed. Raises InvalidArgumentError, DeadlineExceededError if the
        page does not answer, SessionGoneError, TargetCrashedError. After an error, nothing more is collected than
        before.
        """
        options = ActivityOptions(
            console=console,
            errors=errors,
            requests=requests,
            websockets=websockets,
            messages=messages,
            keep_over_navigation=keep_over_navigation,
            bodies=bodies,
        )
        await self.start_with(options, timeout=timeout)

    async def start_with(self, options: ActivityOptions, *, timeout: float = 30) -> None:
        """Start like `start`, with existing options."""
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
        """Stop keeping items, and switch off the events in Chrome. Items that are already kept stay."""
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
        websockets: int = 100,
        messages: int = 1000,
        keep_over_navigation: bool = True,
        bodies: bool | KeepBodies | None = None,
        timeout: float = 30,
    ) -> AsyncIterator[PageActivity]:
        """Apply `start` for the block, and restore the previous settings afterwards."""
        before = self._collector.options
        await self.start(
            console=console,
            errors=errors,
            requests=requests,
            websockets=websockets,
            messages=messages,
            keep_over_navigation=keep_over_navigation,
            bodies=bodies,
            timeout=timeout,
        )
        try:
            yield self
        finally:
            with contextlib.suppress(
                SessionGoneError, ConnectionLostError
            ):  # a part that cannot be switched on again sends nothing
                self._collector.apply(before)

    def clear(self) -> None:
        """Drop the kept items, and reset the counters."""
        self._collector.clear()

    # --- streams ----------------------------------------------------------------------------------------

    def stream(
        self, *kinds: Kind, buffer: int = 1000
    ) -> contextlib.AbstractAsyncContextManager[ActivityStream]:
        """Receive the page's activity as it happens, from the start of the block.

        `kinds`: "console" yields each ConsoleMessage, "errors" each PageError, "requests" each Request at its
        start, "responses" each Response once its headers are complete, "finished" a RequestEnded for each ended
        request. "websockets" yields each WebSocket at its start, and keeps their messages during the block.
        "messages" yields each WebSocketMessage of all of them, "event_messages" each EventSourceMessage,
        "webtransports" each WebTransport at its start. The default is the first three. All items come in one
        sequence.

        The stream buffers at most `buffer` items and never delays the page. If more arrive, it raises
        EventsLostError at the place of the missing items, and continues. It raises TargetCrashedError after a
        crash, and continues, and SessionGoneError at the end. Raises InvalidArgumentError.
        """
        return open_stream(self._collector, *kinds, buffer=buffer)

    async def wait_for_response(
        self,
        url: UrlPattern | None = None,
        *,
        where: Callable[[Response], bool] | None = None,
        timeout: float = 30,
    ) -> Response:
        """Return the next matching response once its headers are complete. Its body may still be arriving.

        `url` is a glob ("*/api/*"), a compiled regular expression or a function of the URL; `where` is a predicate
        for the Response. Responses before the call do not count. To wait for the response to an action, use
        `expect_response` around the action. The engine continues to follow the page's requests, so that bodies can
        be read, until `activity.stop()` or the page's end.

        Raises DeadlineExceededError, which names other responses, InvalidArgumentError, SessionGoneError,
        ConnectionLostError.
        """
        awaited = AwaitedResponse(None if url is None else join_pattern(self._base_url, url), where)
        page = self._collector.page
        async with explain_deadline(page, trio.current_time() + check_timeout(timeout)):
            with within(awaited.words, timeout) as budget:
                async with stream_responses(self._collector) as stream:
                    try:
                        return await awaited.next_in(stream)
                    except trio.Cancelled:
                        budget.step(awaited.observation)
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
        """Return the kept requests as an HTTP Archive (HAR 1.2), a JSON object.

        `bodies` includes response bodies of up to `largest_body` bytes each. Bodies that were not kept are
        requested from Chrome. The comment of a missing body, also of a request, contains the reason. `redacted`
        removes secrets: cookies, headers, posted data, and secret-looking parts of URLs and strings, by the rules
        of recordings. Unknown sizes are -1.

        Raises InvalidStateError, InvalidArgumentError, DeadlineExceededError, ConnectionLostError. If the page
        does not respond within half of `timeout` (seconds), the archive lacks the bodies.
        """
        requests = self._collector.requests.kept.records
        states = list(requests)
        check_count("largest_body", largest_body, unit="bytes")
        check_timeout(timeout)
        with within("make an archive of a page's requests", timeout) as budget:
            exchanges = await fill_bodies(states, largest_body, budget.remaining / 2) if bodies else None
            if exchanges is None:
                exchanges = [state.exchange for state in states]
            await trio.lowlevel.checkpoint()
            visits = {exchange.page for exchange in exchanges}
            dropped = requests.dropped
            comments = [f"{dropped} earlier requests were not kept"] if dropped else []
            archive = har.document(
                exchanges,
                [visit for visit in self._collector.requests.visits if visit.id in visits],
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
        """Write the archive of `har` to a file, atomically and readable by its owner only.

        Returns the path. Raises the errors of `har`, FileNotWrittenError if the file cannot be written, and
        InvalidArgumentError for an existing file unless `overwrite`.
        """
        place = checked_path("the HTTP archive", path, overwrite=overwrite)
        archive = await self.har(bodies=bodies, largest_body=largest_body, redacted=redacted, timeout=timeout)
        async with output_file("the HTTP archive", place, overwrite=overwrite) as file:
            await file.write(har.encode(archive))
        return place


@asynccontextmanager
async def open_stream(collector: Collector, *kinds: Kind, buffer: int) -> AsyncIterator[ActivityStream]:
    """Open the stream of `PageActivity.stream`. Raises InvalidArgumentError."""
    for kind in kinds:
        check_choice("kinds", kind, PART_OF)
    check_count("buffer", buffer, least=1, unit="items")
    subscribed: Sequence[Kind] = kinds or ("console", "errors", "requests")
    feed = ActivityFeed(subscribed, buffer, caller())
    async with subscribe(collector, feed, subscribed):
        yield ActivityStream(feed)


@asynccontextmanager
async def subscribe(
    collector: Collector,
    feed: StreamFeed[Any],
    kinds: Sequence[Kind],
    *,
    only_new_of: Collection[Session] = (),
) -> AsyncIterator[None]:
    """Deliver items of these kinds to `feed` during the block. `only_new_of`: see `Subscribers.add`."""
    parts = {PART_OF[kind] for kind in kinds}
    collector.subscribers.add(feed, kinds, only_new_of=only_new_of)
    try:
        calls = collector.acquire(parts)
        try:
            # Commands on another connection would overtake unanswered ones. A stuck page responds later, in order.
            with trio.move_on_after(_REPORTING_TIMEOUT):
                await _wait_for_answers(calls)
            await trio.lowlevel.checkpoint()
            yield
        finally:
            collector.release(parts)
    finally:
        collector.subscribers.remove(feed)
        feed.end(_stream_left_error)


@asynccontextmanager
async def stream_responses(collector: Collector) -> AsyncIterator[ActivityStream]:
    """Receive responses, and requests that end without one. Their bodies stay readable after the block."""
    collector.linger()
    async with open_stream(collector, "responses", "finished", buffer=_RESPONSES) as stream:
        yield stream


_RESPONSES = 10_000
"""Maximum number of queued responses."""


async def _wait_for_answers(calls: Sequence[SharedCall]) -> None:
    for call in calls:
        await call.wait()


def _stream_left_error() -> trio.ClosedResourceError:
    return trio.ClosedResourceError("the stream was left")
