"""Settling: wait until a page has no activity, and track the requests in progress.

Rule: a page has settled after a time window with no navigation in progress, no document still loading, no DOM
mutations and no requests in progress. Observers in the documents report mutations. At the end all documents are
asked once more, because one may have changed during the wait for another.

The model of requests is pure, fed by events. `watch_requests` enables the Network domain in every session of the
page while a task needs it. A request that was sent earlier is known from its first event after that. Endless
requests (streams, sockets, media) and pings do not count.

The page requests a worker's script under the id of the worker's target, and Chrome does not report its end to the
page. The script of a dedicated worker counts until the worker is attached (its response has begun) or gone.
Scripts of shared and service workers do not count, because no event reports that they have loaded.

A document's own request ends at the latest when the document fires `load`. For an iframe in another process,
Chrome reports the request in the parent's session and the end in the iframe's own session. The requests of a
document that a later one replaced are over, even before it was committed: Chrome does not always report their end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import attrs
import msgspec
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import Frame, FrameTree
from cdpengine._page.navigation.documents import Document, DocumentGone, open_document, script_with_search
from cdpengine._page.page_target import PageTarget
from cdpengine._page.scripts.page_functions import RemoteHandle
from cdpengine._page.scripts.worlds import IsolatedWorlds
from cdpengine._protocol.domains.network import RequestEvent, RequestWillBeSentHead, ResponseReceivedHead
from cdpengine._protocol.domains.target import AttachedToTarget, TargetDestroyed
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import EngineError, SessionGoneError, TargetCrashedError, shown_url

_ENDLESS = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport"})

_MOST = 10_000
"""Maximum number of tracked requests. A page with more is busy in any case."""


@attrs.frozen
class UnderWay:
    """A request whose end Chrome has not reported. `url` is "" if it was sent before the watch began.

    `is_document` is True for the request of the document of `loader_id` itself.
    """

    url: str
    loader_id: str
    frame_id: str
    is_document: bool = False


class RequestsUnderWay:
    """The requests of one page. `since` is the time of the latest activity (trio's clock).

    `type_of` returns the type of a target by its id, or None for an unknown target.
    """

    def __init__(self, now: Callable[[], float], type_of: Callable[[str], str | None]) -> None:
        self._now = now
        self._type_of = type_of
        self._requests: dict[tuple[str | None, str], UnderWay] = {}
        self._ended: set[tuple[str | None, str]] = set()
        self._latest: dict[str, str] = {}  # the loader of the latest requested document, by frame
        self.since = now()

    def apply(self, event: Event) -> bool:
        """Apply one event of the Network or Target domain. Return whether it changed anything."""
        key_session = event.session_id
        if event.method == "Target.attachedToTarget":
            if not self._end_script(event.decode(AttachedToTarget).target_info.target_id):
                return False
        elif event.method == "Target.targetDestroyed":
            if not self._end_script(event.decode(TargetDestroyed).target_id):
                return False
        elif event.method == "Network.requestWillBeSent":
            sent = event.decode(RequestWillBeSentHead)
            if sent.type in _ENDLESS or len(self._requests) >= _MOST or self._has_no_reported_end(sent):
                return False
            is_document = sent.request_id == sent.loader_id
            if sent.type == "Document":
                self._latest[sent.frame_id] = sent.loader_id
            self._requests[key_session, sent.request_id] = UnderWay(
                sent.request.url, sent.loader_id, sent.frame_id, is_document
            )
        elif event.method in ("Network.loadingFinished", "Network.loadingFailed"):
            key = (key_session, event.decode(RequestEvent).request_id)
            self._requests.pop(key, None)
            self._ended.add(key)
            if len(self._ended) > _MOST:
                self._ended.clear()
        else:
            received = event.decode(ResponseReceivedHead)
            key = (key_session, received.request_id)
            if key in self._requests or key in self._ended or received.type in _ENDLESS or not received.type:
                return False
            is_document = received.request_id == received.loader_id
            if is_document:
                self._latest[received.frame_id] = received.loader_id
            self._requests[key] = UnderWay("", received.loader_id, received.frame_id, is_document)
        self.since = self._now()
        return True

    def _has_no_reported_end(self, sent: RequestWillBeSentHead) -> bool:
        """Whether this is the script of a worker, whose end Chrome does not report."""
        return not sent.loader_id and self._type_of(sent.request_id) in _UNATTACHED_WORKERS

    def _end_script(self, target_id: str) -> bool:
        """Drop the script request of an attached or gone worker. Return whether one was tracked."""
        keys = [key for key in self._requests if key[1] == target_id]
        for key in keys:
            del self._requests[key]
            self._ended.add(key)
        return bool(keys)

    def under_way(self, frames: FrameTree) -> list[UnderWay]:
        """Return the requests of current documents and of pending ones."""
        return [request for request in self._requests.values() if not self._is_over(request, frames)]

    def forget_session(self, session_id: str | None) -> None:
        """Drop the requests that an ended session reported."""
        for key in [key for key in self._requests if key[0] == session_id]:
            del self._requests[key]
        self.since = self._now()

    def idle_for(self, frames: FrameTree) -> float:
        """Return the time in seconds without a request in progress; 0 while one is."""
        return 0.0 if self.under_way(frames) else self._now() - self.since

    def _is_over(self, request: UnderWay, frames: FrameTree) -> bool:
        """Return whether the requesting document was replaced, or is itself loaded.

        Chrome does not always report the end of such requests.
        """
        if not request.frame_id or not request.loader_id:
            return False
        frame = frames.get(request.frame_id)
        if frame is None or (request.is_document and frame.reached(request.loader_id, "load")):
            return True
        if frame.loader_id == request.loader_id:
            return False
        # The request belongs to an earlier document of the frame, unless that is the next one.
        return request.loader_id in frame.lifecycle or self._latest.get(request.frame_id) != request.loader_id


_EVENTS = (
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
)

_UNATTACHED_WORKERS = ("shared_worker", "service_worker")
"""Workers that no page's session attaches, because they are shared by pages."""


@asynccontextmanager
async def watch_requests(page: PageTarget) -> AsyncIterator[RequestsUnderWay]:
    """Track the requests of the page and its frames during the body. `page.changes` is notified of each."""
    targets, root = page.session.connection.targets, page.session.connection.root

    def type_of(target_id: str) -> str | None:
        return None if (info := targets.infos.get(target_id)) is None else info.type

    requests = RequestsUnderWay(trio.current_time, type_of)

    def observe(event: Event) -> None:
        if requests.apply(event):
            page.changes.notify()

    async def follow(session: Session, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        started = False

        def observe_network(event: Event) -> None:
            # Events of an earlier watch may still arrive; the ends of those requests are not reported.
            if not session.domains.is_enabling("Network"):
                observe(event)

        with trio.CancelScope() as while_it_lives:
            session.on_end(while_it_lives.cancel)
            listeners = {**dict.fromkeys(_EVENTS, observe_network), "Target.attachedToTarget": observe}
            try:
                with session.listening(listeners):
                    # Not awaited: a page that hangs would not answer, and later commands come after this one.
                    async with session.enabled("Network", wait=False):
                        started = True
                        task_status.started()
                        await trio.sleep_forever()
            except SessionGoneError:
                pass  # ended or crashed: the page's waiting tasks get the reason
            finally:
                if session.ended:
                    requests.forget_session(session.id)
                    page.changes.notify()
        if not started:
            task_status.started()

    async def follow_new(known: set[str | None]) -> None:
        while True:
            new = {key: each for key, each in page.frame_sessions.items() if key not in known}
            for key, session in new.items():
                known.add(key)
                nursery.start_soon(follow, session, name="watch requests")
            await page.changes.wait_for(lambda: bool(set(page.frame_sessions) - known))

    with root.listening({"Target.targetDestroyed": observe}):
        async with open_body_nursery() as nursery:
            first = dict(page.frame_sessions)
            for session in first.values():
                await nursery.start(follow, session, name="watch requests")
            nursery.start_soon(follow_new, set(first), name="watch new frames")
            yield requests


_RETRY_PAUSE = 0.02
"""Pause in seconds before documents replaced during a query are asked again."""

_MAX_URLS = 5
"""Maximum number of requests in a message."""

STOP = "function () { this.stop(); }"


class Stillness(msgspec.Struct):
    """The state of a document: ms since its last change, the number of changes, and the latest change."""

    still: float = 0
    changes: int = 0
    busy: str = ""


@attrs.define(eq=False)
class _Still:
    """One document and its observer."""

    document: Document
    handle: RemoteHandle
    frame: Frame
    last: Stillness = attrs.field(factory=Stillness)

    async def quiet(self, milliseconds: float) -> None:
        source = "function (ms) { return this.quiet(ms); }"
        self.last = await self.document.ask(self.handle, source, milliseconds, kind=Stillness)

    async def stillness(self) -> Stillness:
        source = "function () { return this.stillness(); }"
        self.last = await self.document.ask(self.handle, source, kind=Stillness)
        return self.last

    def stop(self) -> None:
        self.document.send(self.handle, STOP)
        self.document.release()


class Settling:
    """One wait until a page has settled for `quiet` seconds."""

    def __init__(
        self, page: PageTarget, worlds: IsolatedWorlds, requests: RequestsUnderWay, quiet: float
    ) -> None:
        self._page = page
        self._worlds = worlds
        self._requests = requests
        self._quiet = quiet
        self._stills: dict[tuple[str, str, str | None], _Still] = {}

    async def settle(self) -> None:
        """Wait until the page has settled. Raises the error of an ended page."""
        while not await self._has_settled():
            pass

    def close(self) -> None:
        """Stop the observers."""
        for still in self._stills.values():
            still.stop()
        self._stills.clear()

    async def _has_settled(self) -> bool:
        """Wait for each condition once. Return whether all hold together."""
        page = self._page
        await page.wait_for(lambda: not page.navigation.under_way)
        try:
            await self._documents_quiet()
            await self._network_idle()
            if not self._is_idle():
                return False
            known = set(self._stills)
            for still in list(self._stills.values()):
                if (await still.stillness()).still < self._quiet * 1000 * _TOLERANCE:
                    return False
        except DocumentGone:
            await trio.sleep(_RETRY_PAUSE)
            return False
        except TargetCrashedError:
            raise
        except SessionGoneError:
            if page.closed:
                raise
            await trio.sleep(_RETRY_PAUSE)
            return False
        return self._is_idle() and known == {_key(frame) for frame in page.frames}

    def _is_idle(self) -> bool:
        page = self._page
        return not page.navigation.under_way and self._requests.idle_for(page.frames) >= self._quiet

    async def _network_idle(self) -> None:
        frames = self._page.frames
        while (idle := self._requests.idle_for(frames)) < self._quiet:
            if self._requests.under_way(frames):
                await self._page.wait_for(lambda: not self._requests.under_way(frames))
            else:
                await trio.sleep(self._quiet - idle + 0.001)

    async def _documents_quiet(self) -> None:
        frames = {_key(frame): frame for frame in self._page.frames}
        for key in [key for key in self._stills if key not in frames]:
            self._stills.pop(key).stop()
        left = len(frames)
        over = trio.Event()
        errors: list[Exception] = []

        async def wait(key: tuple[str, str, str | None], frame: Frame) -> None:
            nonlocal left
            try:
                if key not in self._stills:
                    self._stills[key] = await self._open(frame)
                await self._stills[key].quiet(self._quiet * 1000)
                left -= 1
            except (DocumentGone, EngineError) as error:
                if (still := self._stills.pop(key, None)) is not None:
                    still.stop()
                errors.append(error)
            if errors or not left:
                over.set()  # a gone document ends the round; its successor is asked in the next one

        async with open_body_nursery() as nursery:
            nursery.start_soon(self._wait_until_replaced, set(frames), over)
            for key, frame in frames.items():
                nursery.start_soon(wait, key, frame)
            await over.wait()
        if errors:
            raise errors[0]
        if left:
            raise DocumentGone("a document was replaced")

    async def _wait_until_replaced(self, known: set[tuple[str, str, str | None]], over: trio.Event) -> None:
        with suppress(SessionGoneError):
            await self._page.wait_for(lambda: {_key(frame) for frame in self._page.frames} != known)
        over.set()

    async def _open(self, frame: Frame) -> _Still:
        document = await open_document(self._worlds, frame)
        request = {"conditions": [], "changes": False, "quiet": True}
        try:
            return _Still(
                document, await document.make(script_with_search("_page/navigation/waiting"), request), frame
            )
        except BaseException:
            document.release()
            raise

    def busy(self) -> list[str]:
        """Return the causes of the page's activity, for messages."""
        page, causes = self._page, []
        if page.navigation.under_way:
            causes.append(f"a navigation is in progress from {shown_url(page.frames.main.url)}")
        requests = self._requests.under_way(page.frames)
        urls = [
            shown_url(request.url) or "a request sent before the wait" for request in requests[:_MAX_URLS]
        ]
        causes += [f"in progress: {url}" for url in urls]
        if len(requests) > _MAX_URLS:
            causes.append(f"and {len(requests) - _MAX_URLS} more requests")
        return causes

    async def recent_changes(self) -> list[str]:
        """Return the latest changes of the documents. Call it at the end, under a short deadline."""
        causes: list[str] = []
        for still in list(self._stills.values()):
            with suppress(DocumentGone, SessionGoneError):
                last = await still.stillness()
                if last.busy and last.still < max(self._quiet, 1.0) * 1000:
                    where = shown_url(still.frame.url)
                    times = f", {last.changes} changes so far" if last.changes else ""
                    causes.append(f"{where}: last change {last.busy}{times}")
        return causes


_TOLERANCE = 0.9
"""Fraction of `quiet` that suffices, because a timer may fire slightly early."""


def _key(frame: Frame) -> tuple[str, str, str | None]:
    return frame.id, frame.loader_id, frame.session_id
