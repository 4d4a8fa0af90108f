"""ExposedCalls: the order in which a page's calls of exposed functions begin.

Rule: calls that Chrome reports on one session (a page and its frames of the same process) begin in that order,
also those of different functions. Each function runs to its first checkpoint before the next one begins; from
there on they overlap, so one that waits holds up no other. The verbs of a page return after the calls began that
the page made before.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._protocol.session import Session


@attrs.define(eq=False)
class ExposedCall:
    """One call, in the order of its session. To be ended by `end` in any case."""

    _before: ExposedCall | None
    _passed: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def wait_turn(self) -> None:
        """Wait until all calls before have begun, or ended without."""
        while (before := self._before) is not None:
            await before._passed.wait()  # noqa: SLF001
            self._before = before._before  # noqa: SLF001

    def begin(self) -> None:
        """Let the next call begin once this task waits for something. To be called when it is its turn."""
        self._passed.set()

    def end(self) -> None:
        """Take note that it is over; where it never began, the next one waits for those before."""
        self._passed.set()

    @property
    def has_begun(self) -> bool:
        """Whether this call and all before have begun or ended."""
        return self._passed.is_set() and self._before is None


_last: WeakKeyDictionary[Session, ExposedCall] = WeakKeyDictionary()
"""The newest call on each session, while it or one before has not begun."""


def note_call(session: Session) -> ExposedCall:
    """Return a new call of the session, behind all that were noted before (called by the reader)."""
    before = _last.get(session)
    call = _last[session] = ExposedCall(None if before is None or before.has_begun else before)
    return call


_LONGEST_WAIT = 5.0
"""Seconds after which a verb returns although a call has not begun: its arguments may take their time to read."""

_MARGIN = 0.05
"""Seconds before a verb's own deadline, which is not to pass while it waits for calls."""


async def wait_until_begun(sessions: Iterable[Session], deadline: float) -> None:
    """Return when the calls that were noted so far have begun, or shortly before the deadline on trio's clock.

    Without such calls there is no checkpoint.
    """
    if not _last:
        return
    waiting = [
        last for session in sessions if (last := _last.get(session)) is not None and not last.has_begun
    ]
    if waiting:
        with trio.move_on_at(min(deadline - _MARGIN, trio.current_time() + _LONGEST_WAIT)):
            for last in waiting:
                await ExposedCall(last).wait_turn()
