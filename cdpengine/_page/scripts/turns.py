"""Turn: the evaluations of one session are given to the page one after the other: none waits inside of Chrome.

Rule: an evaluation is sent when the page has answered something that was asked after the one before it was sent.
So a page that hangs holds one script and not a queue of them: terminating one script lets the next one that waits
in Chrome begin, and one that waits here is never begun after its caller has given up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import attrs
import trio

from cdpengine._page.navigation.liveness import NOTHING
from cdpengine._protocol.calls import SharedCall
from cdpengine._protocol.mux import Call
from cdpengine._protocol.session import Session
from cdpengine.errors import ProtocolError, RemoteError


@attrs.define(eq=False)
class Turn:
    """Whose turn it is on one session."""

    session: Session
    _last: Call | None = None
    _lock: trio.Lock = attrs.field(factory=trio.Lock)

    async def post(
        self, method: str, params: Callable[[], Mapping[str, Any]], *, waits: Callable[[], object]
    ) -> SharedCall:
        """Send an evaluation as soon as the page is done with the one before it; return its call at once then.

        One that waits for a promise no longer occupies the page. `params` is called when it is sent, `waits` where
        it has to wait. Raises why the session ended. Cancelled, it has sent nothing.
        """
        if self._is_free() and not self._lock.locked():
            return self._sent(method, params)
        waits()
        async with self._lock:
            if not self._is_free():
                # Whatever comes back, also that a termination hit it: the page has come to it.
                with suppress(RemoteError, ProtocolError):
                    await self.session.call("Runtime.evaluate", **NOTHING)
            return self._sent(method, params)

    def _is_free(self) -> bool:
        # Of the call only the entry is kept: its reply may be large. An entry that is over has no waiter.
        return self._last is None or self._last.waiter is None

    def _sent(self, method: str, params: Callable[[], Mapping[str, Any]]) -> SharedCall:
        if (error := self.session.error(method)) is not None:
            raise error
        shared = self.session.connection.post_shared(method, params(), self.session.id)
        self._last = shared.call
        return shared
