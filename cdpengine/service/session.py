"""One session of the service: its actor, its events, its use, and the reason why it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Literal

import attrs
import trio

from cdpengine.act import Actor
from cdpengine.service.events.following import Following
from cdpengine.service.events.journal import Journal

_KEPT_REFUSALS = 20


@attrs.frozen
class DocumentRefused:
    """A document that a frame was not let go to: why, and when. A page's main frame has the page's own id."""

    frame_id: str
    reason: str
    when: float


@attrs.define(eq=False)
class Session:
    """A session: who acts in it, what happens there, how many requests are under way, and when the last one ended.

    What happens is written down from the first time that somebody listens.
    """

    name: str
    actor: Actor
    _nursery: trio.Nursery
    events: Journal = attrs.field(factory=Journal)
    ended: trio.Event = attrs.field(factory=trio.Event)
    under_way: int = 0
    last_used: float = attrs.field(factory=trio.current_time)
    used: trio.Event = attrs.field(factory=trio.Event)
    refusals: deque[DocumentRefused] = attrs.field(factory=lambda: deque(maxlen=_KEPT_REFUSALS))
    """The latest documents that were refused."""
    _starting: trio.Lock = attrs.field(factory=trio.Lock)
    _followed: bool = False
    told: bool = False  # whether its client knows that the browser has ended

    def why_refused(self, target_id: str | None, since: float) -> str:
        """Return why a page's document was refused since then, "" where none was; None: one of a closed page."""
        # A page whose prerendered document was activated has a main frame of another id.
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
        """Have what happens written down from now on; return the journal. Raises ConnectionLostError."""
        async with self._starting:
            if not self._followed:
                assert self.actor.context is not None
                await self._nursery.start(Following(self.actor.context, self.events).run)
                self._followed = True
        return self.events

    def end(self, reason: Ending) -> None:
        """End the session, and say why to those who listen."""
        self.events.end(reason, ENDINGS[reason])
        self.actor.release()
        self.ended.set()


Ending = Literal["sessionClosed", "sessionIdle", "roomNeeded", "browserGone", "serviceEnding"]

ENDINGS: Mapping[Ending, str] = {
    "sessionClosed": "the session was closed",
    "sessionIdle": "nobody used the session for its idle time",
    "roomNeeded": "the session made room for another one",
    "browserGone": "the browser ended; the next request has a new one",
    "serviceEnding": "the service ends",
}
"""Why a session ends."""


class SessionRefusedError(Exception):
    """There is no such session, and none can be made now; `kind` and the words are for the answer."""

    def __init__(self, kind: str, message: str, hint: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.kind, self.message, self.hint, self.retryable = kind, message, hint, retryable
