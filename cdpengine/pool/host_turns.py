"""Turns at hosts: whether a lease request may visit its host now, and when to check again.

Rule: this module never waits for a host. It refuses the visit, and makes the pool check again at the time that the
manners return, or when a visit of that host ends. Responses to a page's documents are noted: 429 and 503 pause
their host.
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
    from cdpengine._api.browser import Page


@attrs.define(eq=False)
class HostTurns:
    """The turns of one pool. `look_again` is called when another request may begin."""

    manners: Manners
    _look_again: Callable[[], None]
    _look_at: float = math.inf
    _sooner: trio.Event = attrs.field(factory=trio.Event)

    def host_of(self, url: str) -> str | None:
        """Return the host whose limits apply to a URL, or None."""
        return host_of(url) if self.manners.are_due(url) else None

    def may_begin(self, waiting: WaitingLease) -> bool:
        """Begin a visit if it may begin now, and return whether it began. Call `end` once after it."""
        if waiting.url is None:
            return True
        moment = self.manners.begin(waiting.url)
        if moment is not None and moment < self._look_at:
            self._look_at = moment
            self._sooner.set()
        return moment is None

    def end(self, url: str | None) -> None:
        """End a visit."""
        if url is not None:
            self.manners.end(url)

    async def run(self) -> None:
        """Check again at the scheduled time."""
        while True:
            self._sooner = trio.Event()
            with trio.move_on_at(self._look_at) as waiting:
                await self._sooner.wait()
            if waiting.cancelled_caught:
                self._look_at = math.inf
                self._look_again()

    def note_responses(self, page: Page) -> None:
        """Note the responses to a page's documents during its life. Navigation enables their events."""
        page.session.on_event("Network.responseReceived", partial(_note, self.manners))


def _note(manners: Manners, event: Event) -> None:
    if event.decode(ResponseReceivedHead).type == "Document":
        response = event.decode(ResponseReceived).response
        manners.note_response(response.url, response.status, response.headers)
