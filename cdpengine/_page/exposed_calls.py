"""ExposedCalls: the order in which a page's calls of exposed functions begin.

Rule: calls that Chrome reports on one session (a page and its frames of the same process) begin in that order,
including calls of different functions. Each function runs to its first checkpoint before the next one begins.
After that they overlap, so a waiting function does not block others. A page method returns after the page's
earlier calls have begun.
"""

from __future__ import annotations

from collections.abc import Iterable
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._protocol.session import Session


@attrs.define(eq=False)
class ExposedCall:
    """One call, in the order of its session. The caller must always call `end`.

    `before` is the earlier call that this one waits for. `passed` is set once later calls need not wait for this.
    """

    before: ExposedCall | None
    passed: trio.Event = attrs.field(factory=trio.Event, init=False)

    async def wait_turn(self) -> None:
        """Wait until all earlier calls have begun, or ended without beginning."""
        while (before := self.before) is not None:
            await before.passed.wait()
            self.before = before.before

    def begin(self) -> None:
        """Let the next call begin once this task waits. Call it after `wait_turn`."""
        self.passed.set()

    def end(self) -> None:
        """Mark the call as ended. If it never began, the next one waits for the earlier calls."""
        self.passed.set()

    @property
    def has_begun(self) -> bool:
        """Return whether this call and all earlier ones have begun or ended."""
        return self.passed.is_set() and self.before is None


_last: WeakKeyDictionary[Session, ExposedCall] = WeakKeyDictionary()
"""The newest call on each session, while it or an earlier one has not begun."""


def note_call(session: Session) -> ExposedCall:
    """Return a new call of the session, after all known ones. Called by the reader."""
    before = _last.get(session)
    call = _last[session] = ExposedCall(None if before is None or before.has_begun else before)
    return call


_LONGEST_WAIT = 5.0
"""Time in seconds after which a method returns although a call has not begun. Reading its arguments may take long.
"""

_MARGIN = 0.05
"""Time in seconds before a method's deadline at which it stops waiting for calls."""


async def wait_until_begun(sessions: Iterable[Session], deadline: float) -> None:
    """Wait until the known calls have begun, or until shortly before the deadline on trio's clock.

    Without such calls, this is not a checkpoint.
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
