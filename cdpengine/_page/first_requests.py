"""FirstRequests: the first requests of tabs that a modified click opens, held until the tabs are set up.

Rule: Chrome does not pause such a tab. Its document would load while the engine attaches the tab. So before input
that may open one, the browser's Fetch domain pauses requests of documents. A request of a tab that is not set up
waits for that. All others continue immediately, in the reader. The domain is disabled afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TypeAlias

import attrs
import trio

from cdpengine._notifier import Notifier
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.domains.fetch import RequestPaused, RequestPausedId
from cdpengine._protocol.session import Connection
from cdpengine._protocol.streams import Event
from cdpengine.errors import ConnectionLostError, ProtocolError, SessionGoneError

_LONGEST = 15.0
"""Maximum time in seconds for which a request is held. Measured on a busy machine: up to 6 s."""

_AFTER_INPUT = 5.0
"""Time in seconds after input in which a tab requests its document. Measured: up to 0.04 s, and longer on a busy
machine."""

_CHECK_INTERVAL = 1.0
"""Time in seconds between checks whether held requests are done."""

_DOCUMENTS = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]
_PAUSED = "Fetch.requestPaused"

TakeRequest: TypeAlias = Callable[[PageTarget, Event], Callable[[], bool]]
"""Continues a paused request of a page, with the page's routes and headers.

The result returns whether the request still needs the Fetch domain.
"""


@attrs.define(eq=False)
class FirstRequests:
    """The held requests of one browser. `take` continues a held request, or is None."""

    _connection: Connection
    _pages: Mapping[str, PageTarget]
    _changes: Notifier
    _nursery: trio.Nursery
    take: TakeRequest | None = attrs.field(default=None, init=False)
    _until: float = attrs.field(default=0.0, init=False)
    _holding: bool = attrs.field(default=False, init=False)
    _held: set[str] = attrs.field(factory=set, init=False)
    _taken: dict[str, Callable[[], bool]] = attrs.field(factory=dict, init=False)

    def hold(self) -> None:
        """Hold the first requests of tabs that the next input opens. Sends without waiting."""
        self._until = trio.current_time() + _AFTER_INPUT
        root = self._connection.root
        if self._holding or root.ended:
            return
        self._holding = True
        root.on_event(_PAUSED, self._note_paused)
        # Chrome handles the command before later input, on any session.
        root.post("Fetch.enable", patterns=_DOCUMENTS)
        self._nursery.start_soon(self._end, name="first requests of tabs")

    async def _end(self) -> None:
        root = self._connection.root
        while not root.ended:
            left = self._until - trio.current_time()
            if left <= 0 and not self._held and not self._needed():
                break
            await trio.sleep(max(left, _CHECK_INTERVAL))
        self._holding = False
        root.off_event(_PAUSED, self._note_paused)
        with suppress(SessionGoneError, ConnectionLostError):
            root.post("Fetch.disable")

    def _needed(self) -> bool:
        self._taken = {known: needed for known, needed in self._taken.items() if needed()}
        return bool(self._taken)

    def _note_paused(self, event: Event) -> None:
        try:
            paused = event.decode(RequestPaused)
        except ProtocolError:
            self._continue(event.decode(RequestPausedId).request_id)
            return
        info = self._connection.targets.infos.get(paused.frame_id)
        page = self._pages.get(paused.frame_id)
        if page is not None and paused.request_id in self._taken:
            self._take(page, paused.request_id, event)  # the response of a request that a route fetches
        elif info is None or info.type != "page" or (page is not None and page.running.is_set_up):
            self._continue(paused.request_id)
        else:
            self._held.add(paused.request_id)
            self._nursery.start_soon(self._pass_on, paused, event, name="first request of a tab")

    async def _pass_on(self, paused: RequestPaused, event: Event) -> None:
        tab, root = paused.frame_id, self._connection.root

        def settled() -> bool:
            page = self._pages.get(tab)
            gone = root.ended or tab not in self._connection.targets.infos
            return gone or (page is not None and page.running.is_set_up)

        with trio.move_on_after(_LONGEST):
            await self._changes.wait_for(settled)
        self._held.discard(paused.request_id)
        if (page := self._pages.get(tab)) is None:
            self._continue(paused.request_id)
        else:
            self._take(page, paused.request_id, event)

    def _take(self, page: PageTarget, request_id: str, event: Event) -> None:
        if self.take is None:
            self._continue(request_id)
        else:
            self._taken[request_id] = self.take(page, event)

    def _continue(self, request_id: str) -> None:
        with suppress(SessionGoneError, ConnectionLostError):
            self._connection.root.post("Fetch.continueRequest", requestId=request_id)
