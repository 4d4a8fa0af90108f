"""ExposedCalls: the order in which a page's calls of exposed functions begin.

Rule: calls that Chrome reports on one session (a page and its frames of the same process) begin in that order,
including calls of different functions. Each function runs to its first checkpoint before the next one begins.
After that they overlap, so a waiting function does not block others. A page method returns after the page's
earlier calls have begun.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._page.navigation.liveness import answers
from cdpengine._page.page_target import PageTarget
from cdpengine._protocol.session import Session
from cdpengine.errors import ConnectionLostError, SessionGoneError


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


_names: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()


def exposed_names(session: Session) -> set[str]:
    """Return the set of the session's exposed names. The caller may change it."""
    return _names.setdefault(session, set())


_LONGEST_WAIT = 5.0
"""Time in seconds after which a method returns although a call has not begun. Reading its arguments may take long.
"""

_MARGIN = 0.05
"""Time in seconds before a method's deadline at which it stops waiting for calls."""

_ANSWER_TIMEOUT = 0.5
"""Maximum time in seconds for a page to answer after input. A page that hangs reports its calls later."""


async def wait_until_begun(page: PageTarget, deadline: float, *, after_input: bool = False) -> None:
    """Wait until the known calls have begun, or until shortly before the deadline on trio's clock.

    With `after_input`, first wait until the page answers: Chrome confirms input and reports calls on different
    paths. Without exposed functions, this is not a checkpoint.
    """
    if not _names:
        return
    sessions = page.frame_sessions.values()
    if after_input and (exposing := [session for session in sessions if _names.get(session)]):
        await _wait_for_answers(page, exposing, deadline)
    waiting = [
        last for session in sessions if (last := _last.get(session)) is not None and not last.has_begun
    ]
    if waiting:
        with trio.move_on_at(min(deadline - _MARGIN, trio.current_time() + _LONGEST_WAIT)):
            for last in waiting:
                await ExposedCall(last).wait_turn()


async def _wait_for_answers(page: PageTarget, sessions: Collection[Session], deadline: float) -> None:
    """Wait until these sessions have answered a query. A dialog ends the wait, because it blocks the answers."""
    running = page.running
    with trio.move_on_at(min(deadline - _MARGIN, trio.current_time() + _ANSWER_TIMEOUT)) as waiting:
        running.on_dialog(waiting.cancel)
        try:
            for session in sessions:
                if running.dialog_is_open:
                    return
                with suppress(SessionGoneError, ConnectionLostError):  # it reports no more calls
                    await answers(session)
        finally:
            running.off_dialog(waiting.cancel)
