"""Requests under way: what the documents of a page have asked the network for and not got yet.

Rule: the model is pure, fed by events; `watch_requests` switches the Network domain on for as long as somebody
looks, in every session of the page. A request that was sent before is known from the first event of it. What never
ends by its nature (streams, sockets, media) and what nobody waits for (pings) does not count.

The script of a worker is asked for by the page, under the id of the worker's target, and Chrome tells the page
no end of it. That of a dedicated worker counts until the worker is attached (its response has begun) or gone;
those of shared and service workers, of which no event says that they have loaded, do not count.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import attrs
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.frames import FrameTree
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.network import RequestEvent, RequestWillBeSentHead, ResponseReceivedHead
from cdpengine._protocol.domains.target import AttachedToTarget, TargetDestroyed
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import SessionGoneError

_ENDLESS = frozenset({"WebSocket", "EventSource", "Media", "Ping", "CSPViolationReport"})

_MOST = 10_000
"""Requests that are followed at a time; a page that has more is busy anyway."""


@attrs.frozen
class UnderWay:
    """A request that was not answered to its end. `url` is "" where it was sent before anybody looked."""

    url: str
    loader_id: str
    frame_id: str


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
                sent.request.url, sent.loader_id, sent.frame_id
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
            self._requests[key] = UnderWay("", received.loader_id, received.frame_id)
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
    """Whether the document that asked is replaced: Chrome does not always tell the end of its requests."""
    if not request.frame_id or not request.loader_id:
        return False
    frame = frames.get(request.frame_id)
    # A loader that the frame has had, and has no more.
    return frame is None or (frame.loader_id != request.loader_id and request.loader_id in frame.lifecycle)


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
        with trio.CancelScope() as while_it_lives:
            session.on_end(while_it_lives.cancel)
            for method in (*_EVENTS, "Target.attachedToTarget"):
                session.on_event(method, observe)
            try:
                # Not waited for: a page that is stuck would not answer; what is sent next comes after it.
                async with session.enabled("Network", wait=False):
                    started = True
                    task_status.started()
                    await trio.sleep_forever()
            except SessionGoneError:
                pass  # ended or crashed: the page's waiters get the reason
            finally:
                for method in (*_EVENTS, "Target.attachedToTarget"):
                    session.off_event(method, observe)
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
