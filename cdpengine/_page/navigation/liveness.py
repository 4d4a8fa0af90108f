"""Liveness: whether a page answers, and stopping the script that keeps it from answering.

Rule: a page answers when an evaluation of nothing comes back, with whatever; what only says that a navigation or a
termination hit the question proves nothing, so it is asked again. Termination hits every script of the page's
process, other pages' too: it is sent only where that is wanted. An action whose time ran out says that the page
does not answer only where a question from before its deadline is still open, since a machine that is busy for a
moment is no reason.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import trio

from cdpengine._logs import get_logger
from cdpengine._page.running_actions import KNOWN_UNRESPONSIVE, QUICK_PROBE
from cdpengine._page.scripts.sign_of_life import post_nothing, post_shared_nothing
from cdpengine._protocol.calls import SharedCall, note_termination
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    DeadlineExceededError,
    PageUnresponsiveError,
    ProtocolError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

if TYPE_CHECKING:
    from cdpengine._page.page_target import PageTarget

logger = get_logger("cdpengine.recovery")

_HIT = ("Inspected target navigated or closed", "Execution was terminated", "Internal error")
"""Chrome's words where the question itself was hit: by a navigation (the page can still hang after it), or by a
termination that was meant for the script before it."""

_TRIES = 10
"""Questions, until one that is always hit counts as an answer: somebody there refuses."""


async def answers(session: Session) -> None:
    """Return when the page answers; wait until then.

    Raises SessionGoneError, TargetCrashedError, ConnectionLostError.
    """
    for _ in range(_TRIES):
        try:
            await trio.lowlevel.checkpoint_if_cancelled()
            await post_nothing(session).raw()
        except RemoteError as error:
            if error.message.startswith(_HIT):
                continue
        except ProtocolError:
            pass  # damaged, but an answer
        return


async def terminate(sessions: Sequence[Session], unanswered: list[SharedCall] | None = None) -> bool:
    """Terminate what runs in the page's process. True as soon as one session has it confirmed.

    Sent on all of them at once: one that was attached when the page hung already is not heard. False when
    none took it. What has no answer by then may still hit the page's next script: it is added to `unanswered`.
    What waits for promises in pages is asked again: a termination can have kept them from settling.
    """
    confirmed = await _one_of(sessions, "Runtime.terminateExecution", {}, unanswered)
    if confirmed:
        note_terminated(sessions)
    return confirmed


def note_terminated(sessions: Sequence[Session]) -> None:
    """Ask again what waits for promises in pages, on the connections of a page's sessions."""
    for connection in {id(session.connection): session.connection for session in sessions}.values():
        note_termination(connection)


async def dismiss_dialog(sessions: Sequence[Session]) -> bool:
    """Answer the open dialog with a no. True as soon as one session has it confirmed."""
    return await _one_of(sessions, "Page.handleJavaScriptDialog", {"accept": False})


async def _one_of(
    sessions: Sequence[Session],
    method: str,
    params: Mapping[str, object],
    unanswered: list[SharedCall] | None = None,
) -> bool:
    calls: list[SharedCall] = []
    confirmed = False

    async def wait(call: SharedCall) -> None:
        nonlocal confirmed
        with suppress(RemoteError, ProtocolError, SessionGoneError, ConnectionLostError):
            await call.wait()
            confirmed = True
            nursery.cancel_scope.cancel()

    try:
        there = [session for session in sessions if session.error(method) is None]
        calls += [session.connection._post_shared(method, params, session.id) for session in there]
        async with trio.open_nursery() as nursery:
            for call in calls:
                nursery.start_soon(wait, call)
        return confirmed
    finally:
        for call in calls:
            if unanswered is not None and not call.done:
                unanswered.append(call)
            else:
                call.abandon()


class Ping:
    """Asks a page whether it is there, one question at a time, and knows since when it owes an answer."""

    def __init__(self, session: Callable[[], Session]) -> None:
        self._session = session
        self._question: SharedCall | None = None
        self._asked_on: Session | None = None
        self._silent_since: float | None = None

    async def unresponsive_time(self, seconds: float) -> float:
        """Return for how many seconds at least the page has not answered; 0.0 when it does within `seconds`.

        A page that was silent before is asked anew only when its session was replaced: the question still
        stands. Raises SessionGoneError, TargetCrashedError, ConnectionLostError when there is nobody to ask.
        """
        await trio.lowlevel.checkpoint()
        if self._question is not None and self._question.done:
            self.forget()  # an old answer says nothing of now
        with trio.move_on_after(seconds):
            await self._wait_for_answer()
            return 0.0
        return 0.0 if self._silent_since is None else trio.current_time() - self._silent_since

    def ask(self) -> None:
        """Ask now, and do not wait; a question that stands already is kept. Raises as `unresponsive_time`."""
        if self._question is not None and self._question.done:
            self.forget()
        self._ask()

    def owed_for(self) -> float:
        """Return for how many seconds an answer is owed, as far as is known without asking; 0.0 when none is."""
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
                if error.message.startswith(_HIT) and tries < _TRIES:
                    if self._question is question:
                        self._question = None
                    continue
            except ProtocolError:
                pass  # damaged, but an answer
            except trio.ClosedResourceError:
                continue  # replaced by another asker's question
            except TargetCrashedError:
                self.forget()
                raise
            except (SessionGoneError, ConnectionLostError):
                # The page's silence does not end with the session it was asked on.
                self._question = None
                raise
            self.forget()
            return

    def _ask(self) -> SharedCall:
        session = self._session()
        if self._question is None or self._asked_on is not session:
            question = post_shared_nothing(session)
            if self._question is not None:
                self._question.abandon()
            self._question, self._asked_on = question, session
            if self._silent_since is None:
                self._silent_since = trio.current_time()
        return self._question

    def forget(self) -> None:
        """Begin anew: what was asked is not waited for."""
        if self._question is not None:
            self._question.abandon()
        self._question = self._asked_on = self._silent_since = None


@asynccontextmanager
async def explain_deadline(page: PageTarget, deadline: float) -> AsyncIterator[None]:
    """Turn a DeadlineExceededError of the body into PageUnresponsiveError where the page did not answer.

    `deadline` is that of the body, on trio's clock.
    """
    try:
        with page.running.ask_before(deadline):
            yield
    except DeadlineExceededError as late:
        if (explained := await find_unresponsive(page, late)) is None:
            raise
        raise explained from late


async def find_unresponsive(page: PageTarget, late: DeadlineExceededError) -> PageUnresponsiveError | None:
    """Return what to raise in place of an error that came at a deadline; None where no long silence is known."""
    silence = 0.0 if late.timeout == 0 else await _measure_unresponsive(page)
    if not silence:
        return None
    waits = (
        "the page waits for another document; Chrome holds back what is asked of it until then. "
        'page.goto(), or page.recover(allow="reload"), stops that navigation'
    )
    steps = (*late.steps, waits) if page.navigation.under_way else late.steps
    logger.debug("%s: no answer for %.2f s at a deadline", page.session.describe(), silence)
    return PageUnresponsiveError(late.action, late.timeout, steps, silence)


async def _measure_unresponsive(page: PageTarget) -> float:
    silence = 0.0
    # Gone or lost: nobody is there to ask, and that has names of its own.
    with trio.CancelScope(shield=True), suppress(SessionGoneError, ConnectionLostError):
        if page.ping.owed_for() + QUICK_PROBE < KNOWN_UNRESPONSIVE:
            page.ping.ask()  # so the next action knows more
        else:
            silence = await page.ping.unresponsive_time(QUICK_PROBE)
    return silence if silence >= KNOWN_UNRESPONSIVE else 0.0
