"""Liveness: detect whether a page answers, and terminate the script that blocks it.

Rule: a page answers if it replies to an empty evaluation. A reply that only reports a navigation or a termination
proves nothing, so the query is repeated. Termination affects every script in the page's process, including scripts
of other pages, so it is sent only on request.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import trio

from cdpengine._javascript import own
from cdpengine._page.scripts.page_functions import expression_command
from cdpengine._protocol.calls import PendingCall, SharedCall, note_termination
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

_NOTHING = own("0")

_INTERRUPTIONS = ("Inspected target navigated or closed", "Execution was terminated", "Internal error")
"""Chrome's error messages for a query that was interrupted: by a navigation (the page can still hang after it), or
by the termination of an earlier script."""

_TRIES = 10
"""Number of interrupted queries that count as an answer, because the page evidently handles them."""


def post_empty_evaluation(session: Session) -> PendingCall:
    """Send an empty evaluation. Raises the error of an ended session."""
    method, params = expression_command(session, _NOTHING)
    return session.post(method, params)


def post_shared_empty_evaluation(session: Session) -> SharedCall:
    """Send an empty evaluation for several waiting tasks, as `post_empty_evaluation` does."""
    return session.post_shared(*expression_command(session, _NOTHING))


async def answers(session: Session) -> None:
    """Wait until the page answers.

    Raises SessionGoneError, TargetCrashedError, ConnectionLostError.
    """
    for _ in range(_TRIES):
        try:
            await trio.lowlevel.checkpoint_if_cancelled()
            await post_empty_evaluation(session).raw()
        except RemoteError as error:
            if error.message.startswith(_INTERRUPTIONS):
                continue
        except ProtocolError:
            pass  # malformed, but an answer
        return


_UNDER_WAY = "There is current termination request in progress"
"""Chrome's refusal of a termination while it has not confirmed an earlier one, of any session of the process."""


async def terminate(sessions: Sequence[Session], unanswered: list[SharedCall] | None = None) -> bool:
    """Terminate the running script of the page's process. Return whether Chrome does so.

    It is sent on all sessions at the same time, because a session attached after the page hung is ignored. An
    unconfirmed termination may still hit the page's next script: it is added to `unanswered`. Pending promises are
    queried again, because a termination can keep them from settling.
    """
    confirmed = await _one_of(sessions, "Runtime.terminateExecution", {}, unanswered, under_way=_UNDER_WAY)
    if confirmed:
        note_terminated(sessions)
    return confirmed


def note_terminated(sessions: Sequence[Session]) -> None:
    """Query pending promises again, on the connections of a page's sessions."""
    for wire in {session.connection.wire for session in sessions}:
        note_termination(wire)


async def dismiss_dialog(sessions: Sequence[Session]) -> bool:
    """Dismiss the open dialog. Return whether a session confirmed it."""
    return await _one_of(sessions, "Page.handleJavaScriptDialog", {"accept": False})


async def _one_of(
    sessions: Sequence[Session],
    method: str,
    params: Mapping[str, object],
    unanswered: list[SharedCall] | None = None,
    *,
    under_way: str = "",
) -> bool:
    """Send the command on all sessions. Return whether one of them succeeded, or was refused with `under_way`."""
    calls: list[SharedCall] = []
    confirmed = is_under_way = False

    async def wait(call: SharedCall) -> None:
        nonlocal confirmed, is_under_way
        with suppress(ProtocolError, SessionGoneError, ConnectionLostError):
            try:
                await call.wait()
            except RemoteError as error:
                is_under_way = is_under_way or error.message == under_way
                return
            confirmed = True
            nursery.cancel_scope.cancel()

    try:
        there = [session for session in sessions if session.error(method) is None]
        calls += [session.post_shared(method, params) for session in there]
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(wait, call)
        return confirmed or is_under_way
    finally:
        for call in calls:
            if unanswered is not None and not call.done:
                unanswered.append(call)
            else:
                call.abandon()


class Ping:
    """Liveness queries to a page, one at a time, and the time since when an answer is missing."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session
        self._question: SharedCall | None = None
        self._queried_session: Session | None = None
        self._silent_since: float | None = None

    async def unresponsive_time(self, seconds: float) -> float:
        """Return the minimum time in seconds without an answer; 0.0 if the page answers within `seconds`.

        A page that has not answered is queried again only if its session was replaced; otherwise the earlier query
        is still open. Raises SessionGoneError, TargetCrashedError, ConnectionLostError if the page is gone.
        """
        await trio.lowlevel.checkpoint()
        if self._question is not None and self._question.done:
            self.forget()  # an old answer proves nothing
        with trio.move_on_after(seconds):
            await self._wait_for_answer()
            return 0.0
        return 0.0 if self._silent_since is None else trio.current_time() - self._silent_since

    def ask(self) -> None:
        """Send a query without waiting, unless one is open. Raises the errors of `unresponsive_time`."""
        if self._question is not None and self._question.done:
            self.forget()
        self._ask()

    def owed_for(self) -> float:
        """Return the number of seconds for which an answer has been missing, or 0.0. Sends no query."""
        if self._question is None or self._question.done or self._silent_since is None:
            return 0.0
        return trio.current_time() - self._silent_since

    async def _wait_for_answer(self) -> None:
        tries = 0
        while True:
            question = self._ask()
            try:
                await question.wait()
            except RemoteError as error:
                tries += 1
                if error.message.startswith(_INTERRUPTIONS) and tries < _TRIES:
                    if self._question is question:
                        self._question = None
                    continue
            except ProtocolError:
                pass  # malformed, but an answer
            except trio.ClosedResourceError:
                continue  # replaced by the query of another task
            except TargetCrashedError:
                self.forget()
                raise
            except (SessionGoneError, ConnectionLostError):
                # The page's silence continues after the end of the queried session.
                self._question = None
                raise
            self.forget()
            return

    def _ask(self) -> SharedCall:
        session = self._session()
        if self._question is None or self._queried_session is not session:
            question = post_shared_empty_evaluation(session)
            if self._question is not None:
                self._question.abandon()
            self._question, self._queried_session = question, session
            if self._silent_since is None:
                self._silent_since = trio.current_time()
        return self._question

    def forget(self) -> None:
        """Reset the state and ignore the open query."""
        if self._question is not None:
            self._question.abandon()
        self._question = self._queried_session = self._silent_since = None
