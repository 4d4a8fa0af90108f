"""PageEvents: all events of one page in one typed stream, and its subscription (open_events).

Rule: the reader adds each event when it reads Chrome's message, so the events of one session keep Chrome's order.
A popup or worker is added before the first event of its own. Nothing is enabled in Chrome before the block, and
only the domains of the chosen kinds in it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from typing import TypeVar, get_args

import trio

from cdpengine._activity.page_activity import subscribe
from cdpengine._activity.streams import PART_OF, Kind
from cdpengine._api.page.core import PageCore
from cdpengine._api.page.event_kinds import (
    DialogEvent,
    DownloadEvent,
    EventKind,
    FileChooserEvent,
    P,
    PageClosed,
    PageCrashed,
    PageEvent,
    PopupEvent,
    WorkerEnded,
    WorkerStarted,
)
from cdpengine._api.worker import Worker
from cdpengine._budget import within
from cdpengine._checks import check_choice, check_count, wrong_type
from cdpengine._page.dialogs import TrackedDialog
from cdpengine._page.downloads.download import DownloadRecord
from cdpengine._page.file_choosers import FileChooser
from cdpengine._page.frame_changes import FrameReport, LoadStateReached
from cdpengine._page.page_target import PageTarget
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Stream, StreamFeed, caller
from cdpengine.errors import ConnectionLostError, SessionGoneError, TargetCrashedError

E = TypeVar("E")
L = TypeVar("L")

KINDS: tuple[EventKind, ...] = get_args(EventKind)

_FRAMES_TIMEOUT = 2.0
"""Time in seconds for frames and workers to confirm the start. A stuck one confirms later, in order."""


@not_picklable("a list of its events")
class PageEvents(Stream[PageEvent[P]]):
    """The events of one page, from the start of the block on. Iterate over it, or call `receive()`.

    A crash is the event PageCrashed, and the iteration continues. The end of the page is PageClosed, and then the
    iteration ends. `dropped` counts the events that did not fit into the buffer.
    """

    _closed = False

    async def receive(self) -> PageEvent[P]:
        """Wait for the next event and return it.

        Raises EventsLostError, with the number of lost events, at their position: receive again to continue after
        it. Raises SessionGoneError after PageClosed, ConnectionLostError, and trio.ClosedResourceError after the
        block.
        """
        try:
            return await super().receive()
        except SessionGoneError as error:
            return self._end_event(error)

    def receive_nowait(self) -> PageEvent[P]:
        """Return the next event without waiting.

        Raises trio.WouldBlock if none is buffered, and the errors of `receive`.
        """
        try:
            return super().receive_nowait()
        except SessionGoneError as error:
            return self._end_event(error)

    async def wait_for(
        self, kind: type[E], where: Callable[[E], bool] | None = None, *, timeout: float = 30
    ) -> E:
        """Return the next event of a class, such as `FrameNavigated`, for which `where` returns True.

        Earlier events are skipped. Raises DeadlineExceededError, which counts the skipped events, and the errors
        of `receive`.
        """
        if not isinstance(kind, type):
            raise wrong_type("kind", kind, "a class of events")
        skipped: Counter[str] = Counter()
        with within(f"wait for {kind.__name__}", timeout) as budget:
            while True:
                try:
                    event = await self.receive()
                except trio.Cancelled:
                    others = ", ".join(f"{count} {name}" for name, count in skipped.most_common(5))
                    budget.step(f"other events came: {others}" if others else "no event came")
                    raise
                if isinstance(event, kind) and (where is None or where(event)):
                    return event
                skipped[type(event).__name__] += 1

    async def __anext__(self) -> PageEvent[P]:
        try:
            return await self.receive()
        except SessionGoneError:
            raise StopAsyncIteration from None

    def _end_event(self, error: SessionGoneError) -> PageCrashed | PageClosed:
        if isinstance(error, TargetCrashedError):
            return PageCrashed()
        if self._closed:
            raise error
        self._closed = True
        return PageClosed(error.reason)


@asynccontextmanager
async def open_events(
    core: PageCore,
    kinds: Sequence[EventKind],
    buffer: int,
    timeout: float,
    page_of: Callable[[PageTarget], P],
) -> AsyncIterator[PageEvents[P]]:
    """Open the stream of `Page.events`. `page_of` returns the user's object for a popup.

    Raises InvalidArgumentError, DeadlineExceededError, and the error of a page that is gone.
    """
    for kind in kinds:
        check_choice("kinds", kind, KINDS)
    check_count("buffer", buffer, least=1, unit="events")
    chosen = tuple(kinds) or KINDS
    feed: StreamFeed[PageEvent[P]] = StreamFeed(chosen, buffer, caller())
    page = core.target
    if page.closed and (error := page.session.error()) is not None:
        raise error
    activity: list[Kind] = [kind for kind in chosen if kind in PART_OF]
    async with AsyncExitStack() as stack:
        with within("subscribe to the events of a page", timeout):
            await _listen(stack, core, feed, page_of)
            sessions = [*page.frame_sessions.values(), *page.worker_sessions.values()]
            collector = core.state.activities.of(page)
            await stack.enter_async_context(subscribe(collector, feed, activity, only_new_of=sessions))
            await _wait_until_enabled(sessions)
        yield PageEvents(feed)


async def _listen(
    stack: AsyncExitStack, core: PageCore, feed: StreamFeed[PageEvent[P]], page_of: Callable[[PageTarget], P]
) -> None:
    """Deliver the kinds that the engine follows in any case."""
    page, tabs, downloads, chosen = core.target, core.state.tabs, core.state.downloads, feed.patterns
    workers: dict[Session, Worker] = {}

    def note_popup(popup: PageTarget) -> None:
        if popup.opener_id == page.target_id:
            feed.deliver(PopupEvent(page_of(popup)))

    def note_dialog(tracked: TrackedDialog) -> None:
        feed.deliver(DialogEvent(tracked.dialog))

    def note_download(record: DownloadRecord) -> None:
        if downloads.is_of(record.frame_id, page):
            feed.deliver(DownloadEvent(record.download))

    def note_chooser(chooser: FileChooser) -> None:
        feed.deliver(FileChooserEvent(chooser))

    def note_worker(session: Session) -> None:
        target = tabs.workers.known.get(session.target_id or "")
        if session.ended:
            if (worker := workers.pop(session, None)) is not None:
                feed.deliver(WorkerEnded(worker))
        elif target is not None:
            workers[session] = core.state.workers.of(target)
            feed.deliver(WorkerStarted(workers[session]))

    def note_frame(report: FrameReport) -> None:
        if ("load_states" if isinstance(report, LoadStateReached) else "frames") in chosen:
            feed.deliver(report)

    if "popups" in chosen:
        stack.enter_context(tabs.follow_new_pages(note_popup))
    if "dialogs" in chosen:
        page.dialogs.on_opening(note_dialog)
        stack.callback(page.dialogs.off_opening, note_dialog)
    if "downloads" in chosen:
        await stack.enter_async_context(downloads.following(page.context_id, note_download))
    if "file_choosers" in chosen:
        stack.enter_context(_listening(page.choosers.listeners, note_chooser))
    if "workers" in chosen:
        stack.enter_context(_listening(page.worker_listeners, note_worker))
    if "frames" in chosen or "load_states" in chosen:
        stack.enter_context(page.frame_changes.listening(note_frame))


@contextmanager
def _listening(listeners: list[L], listener: L) -> Iterator[None]:
    listeners.append(listener)
    try:
        yield
    finally:
        listeners.remove(listener)


async def _wait_until_enabled(sessions: Sequence[Session]) -> None:
    """Wait until the domains are enabled in the page's frames and workers too."""
    with trio.move_on_after(_FRAMES_TIMEOUT):
        for session in sessions:
            for call in session.domains.pending:
                with suppress(SessionGoneError, ConnectionLostError, trio.ClosedResourceError):
                    await call.wait()
