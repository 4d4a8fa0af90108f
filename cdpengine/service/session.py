"""One session of the service: its actor, its events, its running requests, and the reason for its end."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal

import attrs
import trio

from cdpengine.act import Actor
from cdpengine.service.events.following import Following
from cdpengine.service.events.journal import Journal

_MOST_REFUSALS = 20


@attrs.frozen
class DocumentRefused:
    """A blocked document of a frame: the reason and the time. A page's main frame has the page's id."""

    frame_id: str
    reason: str
    when: float


@attrs.define(eq=False)
class Session:
    """A session: its actor, its journal, the number of running requests, and the end of the last one.

    The journal begins when the first client listens.
    """

    name: str
    actor: Actor
    _nursery: trio.Nursery
    events: Journal = attrs.field(factory=Journal)
    ended: trio.Event = attrs.field(factory=trio.Event)
    under_way: int = 0
    last_used: float = attrs.field(factory=trio.current_time)
    used: trio.Event = attrs.field(factory=trio.Event)
    refusals: deque[DocumentRefused] = attrs.field(factory=lambda: deque(maxlen=_MOST_REFUSALS))
    """The latest blocked documents."""
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _followed: bool = False
    is_end_reported: bool = False  # whether the client knows that the browser has ended

    def why_refused(self, target_id: str | None, since: float) -> str:
        """Return why a page's document was blocked since then, or "". `target_id` None means a closed page."""
        # After the activation of a prerendered document, a page's main frame has another id.
        main_frames = {page.target_id: page.frames[0].id for page in self.actor.pages}
        for refused in reversed(self.refusals):
            if target_id is None:
                is_it = refused.frame_id not in main_frames.values()
            else:
                is_it = refused.frame_id == main_frames.get(target_id, target_id)
            if is_it and refused.when >= since:
                return refused.reason
        return ""

    async def follow(self) -> Journal:
        """Record events in the journal from now on, and return it. Raises ConnectionLostError."""
        async with self._starting:
            if not self._followed:
                assert self.actor.context is not None
                await self._nursery.start(Following(self.actor.context, self.events).run)
                self._followed = True
        return self.events

    def end(self, reason: Ending) -> None:
        """End the session, and report the reason to listening clients."""
        self.events.end(reason, ENDINGS[reason])
        self.actor.release()
        self.ended.set()


Ending = Literal["sessionClosed", "sessionIdle", "roomNeeded", "browserGone", "serviceEnding"]

ENDINGS: Mapping[Ending, str] = {
    "sessionClosed": "the session was closed",
    "sessionIdle": "the session was idle for too long",
    "roomNeeded": "the session made room for another one",
    "browserGone": "the browser ended; the next request has a new one",
    "serviceEnding": "the service ends",
}
"""The reasons for the end of a session."""


class SessionRefusedError(Exception):
    """A session does not exist and cannot be created. `kind` and the message are for the response."""

    def __init__(self, kind: str, message: str, hint: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind, self.message, self.hint, self.retryable = kind, message, hint, retryable
