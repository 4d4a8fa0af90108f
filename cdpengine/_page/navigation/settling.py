"""Settling: waits until a page has come to rest; and the requests under way, of which that is a part.

Rule: at rest means, for one and the same window of time: no navigation under way, every document loaded, no DOM
mutation in any of them, and no request under way. The documents tell of their mutations by observers of their own;
at the end all of them are asked once more, because one may have moved while another one was waited for.

The model of requests is pure, fed by events; `watch_requests` switches the Network domain on for as long as
somebody looks, in every session of the page. A request that was sent before is known from the first event of it
that comes once the domain is on.
What never ends by its nature (streams, sockets, media) and what nobody waits for (pings) does not count.

The script of a worker is asked for by the page, under the id of the worker's target, and Chrome tells the page
no end of it. That of a dedicated worker counts until the worker is attached (its response has begun) or gone;
those of shared and service workers, of which no event says that they have loaded, do not count.

A document's own request is over once the document has fired `load`, also where its end is not reported. Chrome
reports the request of an iframe in the parent's session and its end in that of the iframe's own process.
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
from cdpengine._page.scripts.page_functions import IsolatedWorlds, RemoteHandle
from cdpengine._protocol.domains.network import RequestEvent, RequestWillBeSentHead, ResponseReceivedHead
from cdpengine._protocol.domains.target import AttachedToTarget, TargetDestroyed
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import EngineError, SessionGoneError, TargetCrashedError, shown_url

_ENDLESS = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport"})

_MOST = 10_000
"""Requests that are followed at a time; a page that has more is busy anyway."""


@attrs.frozen
class UnderWay:
    """A request without a reported end. `url` is "" where it was sent before the watch began.

    `is_document` is True for the request that loads the document of `loader_id` itself.
    """

    url: str
    loader_id: str
    frame_id: str
    is_document: bool = False


class RequestsUnderWay:
    """The requests of one page. `since` is when there last was one, or one began or ended (trio's clock).

    `type_of` returns the type of a target by its id, None where there is no such target.
    """

    def __init__(self, now: Callable[[], float], type_of: Callable[[str], str | None]) -> None:
        self._now = now
        self._type_of = type_of
        self._requests: dict[tuple[str | None, str], UnderWay] = {}
        self._ended: set[tuple[str | None, str]] = set()
        self.since = now()

    def apply(self, event: Event) -> bool:
        """Take one event of the Network or Target domain; tell whether it changed anything."""
        key_session = event.session_id
        if event.method == "Target.attachedToTarget":
            if not self._end_script(event.decode(AttachedToTarget).target_info.target_id):
                return False
        elif event.method == "Target.targetDestroyed":
            if not self._end_script(event.decode(TargetDestroyed).target_id):
                return False
        elif event.method == "Network.requestWillBeSent":
            sent = event.decode(RequestWillBeSentHead)
            if sent.type in _ENDLESS or len(self._requests) >= _MOST or self._tells_no_end(sent):
                return False
            self._requests[key_session, sent.request_id] = UnderWay(
                sent.request.url, sent.loader_id, sent.frame_id, sent.request_id == sent.loader_id
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
            self._requests[key] = UnderWay("", received.loader_id, received.frame_id, is_document)
        self.since = self._now()
        return True

    def _tells_no_end(self, sent: RequestWillBeSentHead) -> bool:
        """Whether this is the script of a worker whose loading has no reported end."""
        return not sent.loader_id and self._type_of(sent.request_id) in _UNATTACHED_WORKERS

    def _end_script(self, target_id: str) -> bool:
        """Drop the request for the script of a worker that was attached or is gone; tell whether there was one."""
        keys = [key for key in self._requests if key[1] == target_id]
        for key in keys:
            del self._requests[key]
            self._ended.add(key)
        return bool(keys)

    def under_way(self, frames: FrameTree) -> list[UnderWay]:
        """Return the requests of documents that are still there, and of those that are to come."""
        return [request for request in self._requests.values() if not _is_over(request, frames)]

    def forget_session(self, session_id: str | None) -> None:
        """Drop what a session that ended had reported."""
        for key in [key for key in self._requests if key[0] == session_id]:
            del self._requests[key]
        self.since = self._now()

    def idle_for(self, frames: FrameTree) -> float:
        """Seconds for which no request has been under way; 0 while one is."""
        return 0.0 if self.under_way(frames) else self._now() - self.since


def _is_over(request: UnderWay, frames: FrameTree) -> bool:
    """Return whether the document that asked is replaced, or is itself loaded.

    Chrome does not always report the end of such requests.
    """
    if not request.frame_id or not request.loader_id:
        return False
    frame = frames.get(request.frame_id)
    if frame is None or (request.is_document and frame.reached(request.loader_id, "load")):
        return True
    # A loader that the frame has had, and has no more.
    return frame.loader_id != request.loader_id and request.loader_id in frame.lifecycle


_EVENTS = (
    "Network.requestWillBeSent",
    "Network.responseReceived",
    "Network.loadingFinished",
    "Network.loadingFailed",
)

_UNATTACHED_WORKERS = ("shared_worker", "service_worker")
"""Workers that belong to no one page: no page's session attaches them."""


@asynccontextmanager
async def watch_requests(page: PageTarget) -> AsyncIterator[RequestsUnderWay]:
    """Follow the requests of the page and of its frames while the body runs; `page.changes` tells of each."""
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
            # An earlier watch may have left events on their way; how those requests end is not reported.
            if not session._is_enabling("Network"):
                observe(event)

        with trio.CancelScope() as while_it_lives:
            session.on_end(while_it_lives.cancel)
            for method in _EVENTS:
                session.on_event(method, observe_network)
            session.on_event("Target.attachedToTarget", observe)
            try:
                # Not waited for: a page that is stuck would not answer; what is sent next comes after it.
                async with session.enabled("Network", wait=False):
                    started = True
                    task_status.started()
                    await trio.sleep_forever()
            except SessionGoneError:
                pass  # ended or crashed: the page's waiters get the reason
            finally:
                for method in _EVENTS:
                    session.off_event(method, observe_network)
                session.off_event("Target.attachedToTarget", observe)
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

    root.on_event("Target.targetDestroyed", observe)
    try:
        async with open_body_nursery() as nursery:
            first = dict(page.frame_sessions)
            for session in first.values():
                await nursery.start(follow, session, name="watch requests")
            nursery.start_soon(follow_new, set(first), name="watch new frames")
            yield requests
    finally:
        root.off_event("Target.targetDestroyed", observe)


_AGAIN = 0.02
"""Seconds until documents that were replaced under the question are asked anew."""

_SHOWN = 5
"""Requests that a message names."""

STOP = "function () { this.stop(); }"


class Stillness(msgspec.Struct):
    """How long (ms) a document has been still, how often it had changed, and what kept it busy last."""

    still: float = 0
    changes: int = 0
    busy: str = ""


@attrs.define(eq=False)
class _Still:
    """One document and its observer."""

    document: Document
    held: RemoteHandle
    frame: Frame
    last: Stillness = attrs.field(factory=Stillness)

    async def quiet(self, milliseconds: float) -> None:
        source = "function (ms) { return this.quiet(ms); }"
        self.last = await self.document.ask(self.held, source, milliseconds, kind=Stillness)

    async def stillness(self) -> Stillness:
        source = "function () { return this.stillness(); }"
        self.last = await self.document.ask(self.held, source, kind=Stillness)
        return self.last

    def stop(self) -> None:
        self.document.tell(self.held, STOP)
        self.document.release()


class Settling:
    """One wait for rest, of `quiet` seconds."""

    def __init__(
        self, page: PageTarget, worlds: IsolatedWorlds, requests: RequestsUnderWay, quiet: float
    ) -> None:
        self._page = page
        self._worlds = worlds
        self._requests = requests
        self._quiet = quiet
        self._stills: dict[tuple[str, str, str | None], _Still] = {}

    async def settle(self) -> None:
        """Return when the page is at rest. Raises what ends the page."""
        while not await self._at_rest():
            pass

    def close(self) -> None:
        """End the observers."""
        for still in self._stills.values():
            still.stop()
        self._stills.clear()

    async def _at_rest(self) -> bool:
        """Wait for each of the conditions once; tell whether they hold together."""
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
            await trio.sleep(_AGAIN)
            return False
        except TargetCrashedError:
            raise
        except SessionGoneError:
            if page.closed:
                raise
            await trio.sleep(_AGAIN)
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
                over.set()  # one that is gone ends the round: what follows it is asked anew

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
        """Say what keeps the page from its rest, for messages."""
        page, told = self._page, []
        if page.navigation.under_way:
            told.append(f"a navigation is under way from {shown_url(page.frames.main.url)}")
        requests = self._requests.under_way(page.frames)
        urls = [shown_url(request.url) or "a request that was sent before" for request in requests[:_SHOWN]]
        told += [f"under way: {url}" for url in urls]
        if len(requests) > _SHOWN:
            told.append(f"and {len(requests) - _SHOWN} more requests")
        return told

    async def last_words(self) -> list[str]:
        """Ask the documents what kept them busy. For the end, under a short deadline of the caller's."""
        told: list[str] = []
        for still in list(self._stills.values()):
            with suppress(DocumentGone, SessionGoneError):
                last = await still.stillness()
                if last.busy and last.still < max(self._quiet, 1.0) * 1000:
                    where = shown_url(still.frame.url)
                    times = f", {last.changes} changes so far" if last.changes else ""
                    told.append(f"{where}: last change {last.busy}{times}")
        return told


_TOLERANCE = 0.9
"""A timer may come a moment early."""


def _key(frame: Frame) -> tuple[str, str, str | None]:
    return frame.id, frame.loader_id, frame.session_id
