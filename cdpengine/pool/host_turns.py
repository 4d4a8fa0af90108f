"""HostTurns: which of those that wait for a page may visit their host now, and when to look again.

Rule: it waits for no host by itself: it says no, and has the pool look again at the moment that the manners name,
or when a visit of that host ends. The answers to a page's documents are noted: 429 and 503 pause their host.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._protocol.domains.network import ResponseReceived, ResponseReceivedHead
from cdpengine._protocol.streams import Event
from cdpengine.pool.manners.limits import host_of
from cdpengine.pool.manners.manners import Manners
from cdpengine.pool.queue import WaitingLease

if TYPE_CHECKING:
    from cdpengine._api.page.page import Page


@attrs.define(eq=False)
class HostTurns:
    """The turns of one pool. `look_again` is called when somebody may begin who could not before."""

    manners: Manners
    _look_again: Callable[[], None]
    _look_at: float = math.inf
    _sooner: trio.Event = attrs.field(factory=trio.Event)

    def host_of(self, url: str) -> str | None:
        """Return what the limits of a URL go by; None where it has none."""
        return host_of(url) if self.manners.are_due(url) else None

    def may_begin(self, waiting: WaitingLease) -> bool:
        """Say whether a visit may begin now; then it has begun, until `end`."""
        if waiting.url is None:
            return True
        moment = self.manners.begin(waiting.url)
        if moment is not None and moment < self._look_at:
            self._look_at = moment
            self._sooner.set()
        return moment is None

    def end(self, url: str | None) -> None:
        """End a visit that began."""
        if url is not None:
            self.manners.end(url)

    async def run(self) -> None:
        """Look again when it is time."""
        while True:
            self._sooner = trio.Event()
            with trio.move_on_at(self._look_at) as waiting:
                await self._sooner.wait()
            if waiting.cancelled_caught:
                self._look_at = math.inf
                self._look_again()

    def note_responses(self, page: Page) -> None:
        """Note what the documents of a page are answered with, as long as it lives. Navigations have it told."""
        page.session.on_event("Network.responseReceived", partial(_note, self.manners))


def _note(manners: Manners, event: Event) -> None:
    if event.decode(ResponseReceivedHead).type == "Document":
        response = event.decode(ResponseReceived).response
        manners.note_response(response.url, response.status, response.headers)
