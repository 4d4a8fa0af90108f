"""Lines without an answer: a page that does not answer is named, and the script of a stopped line ends with it.

Rule: when a line is stopped, by Ctrl-C or by its time, what it gave its page to do ends too; a line that only
asked leaves the page alone. Nothing is reported as done before Chrome has confirmed it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import attrs
import trio

from cdpengine._page.navigation.liveness import Ping, answers, terminate
from cdpengine._page.navigation.pending import PendingNavigation
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.debug.explorer.console import Work
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    InvalidArgumentError,
    RecoveryReport,
    RecoveryStep,
    SessionGoneError,
)

if TYPE_CHECKING:
    from cdpengine._api.page.page import Page

NOTICE_AFTER = 1.0
"""Seconds without an answer of the page after which a person is told."""

_FIRST_QUESTION = 0.2
"""Seconds after which the page is asked for the first time whether it answers: most lines have ended by then."""

_QUESTIONS = 1.0
"""Seconds between the questions to a page that does answer."""

_PROBE = 0.05
"""Seconds that one question is waited for."""

_TERMINATION = 0.1
"""Seconds for one termination. Chrome confirms it in 2 ms (measured)."""

_RECOVERY_SECONDS = 2.0
"""Seconds for the recovery after that; its own patience is a twentieth of it."""

_STOP_AT_MOST = 3.0
"""Seconds for all of it: a stopped line holds nobody up for longer."""


@attrs.frozen
class Stopped:
    """What was done about a line that was stopped.

    `report` is None where nothing had to be looked at; `loading`: a navigation was stopped. `seconds` counts from
    the stop of the line; `noun` is what it was sent to, `gone` why that is not there any more.
    """

    noun: str = "page"
    report: RecoveryReport | None = None
    seconds: float = 0.0
    loading: bool = False
    gone: str = ""

    @property
    def acted(self) -> bool:
        """Whether anything had to be done, or is left undone."""
        report = self.report
        return report is not None and (bool(report.steps) or self.loading or not report.responsive)

    def __str__(self) -> str:
        if self.gone:
            return f"stopped; {self.gone}"
        if self.report is None:
            return "stopped"
        done = ["the navigation was stopped"] * self.loading
        if any(step.name == "terminate" for step in self.report.steps):
            # Where Chrome did not confirm it in time, the script may have ended by itself.
            ended = "terminated" if self.report.terminated else "told to stop"
            done.append(f"the script that ran was {ended}")
        what = " and ".join(done)
        after = f"{self.seconds * 1000:.0f} ms"
        if not self.report.responsive:
            advice = "!recover reload ends its process and loads it again, !recover close closes it"
            more = f": {what}" if what else ""
            return f"stopped{more}, but the {self.noun} has not answered after {after}; {advice}"
        if not what:
            return f"stopped; the {self.noun} answers"
        return f"stopped: {what}, and the {self.noun} answers, after {after}"


class LineTarget:
    """What the lines of a console are sent to: a session, and the page that it belongs to if it is a page's.

    `paused`: the session's debugger holds a script. `answered`: a line was answered, so it did not hang before.
    """

    def __init__(self, session: Session, page: Page | None) -> None:
        self.session = session
        self.page = page
        self.paused = False
        self.answered = False
        self._pulse = Ping(lambda: session)
        self._navigation = PendingNavigation(session)
        session.on_event("Debugger.paused", self._note_pause)
        session.on_event("Debugger.resumed", self._note_pause)

    @property
    def noun(self) -> str:
        """What the target is, for sentences."""
        return self.session.target_type.replace("_", " ")

    def terminations(self) -> int:
        """Count the scripts that the engine's own recovery has terminated on the page so far."""
        return 0 if self.page is None else self.page.measure.evaluate_statistics().confirmed

    # --- while a line runs ---------------------------------------------------------------------------------

    async def watch(self, notice: Callable[[str], None], *, ends: bool) -> None:
        """Ask, from time to time, whether the target answers; say so once, and return, when it has not for 1 s.

        `ends`: the end of the line ends what runs on the target, too.
        """
        wait, started = _FIRST_QUESTION, trio.current_time()
        with suppress(SessionGoneError, ConnectionLostError):  # the line that waits ends with the reason
            while True:
                await trio.sleep(wait)
                silence = await self._silence()
                paused = self.paused and trio.current_time() - started >= NOTICE_AFTER
                if silence >= NOTICE_AFTER or paused:
                    notice(f"{self._state(silence)}; {self._advice(ends=ends)}")
                    return
                wait = NOTICE_AFTER - silence if silence else _QUESTIONS

    async def _silence(self) -> float:
        if self.page is not None:
            return await self.page.measure.unresponsive_for()
        return await self._pulse.unresponsive_time(_PROBE)

    def _state(self, silence: float) -> str:
        if self.paused:
            return f"the {self.noun} is paused in the debugger"
        if self._navigation.under_way:
            return f"the {self.noun} waits for another document, and has not answered for {silence:.1f} s"
        return f"the {self.noun} has not answered for {silence:.1f} s"

    def _advice(self, *, ends: bool) -> str:
        if not ends:
            also = ", Debugger.resume lets it go on" if self.paused else ""
            return f"Ctrl-C stops the command, !recover ends the {self.noun}'s script{also}"
        if self._navigation.under_way and not self.paused:
            return "Ctrl-C stops the command and the navigation"
        return f"Ctrl-C stops the command and ends the {self.noun}'s script"

    # --- at its end ----------------------------------------------------------------------------------------

    async def stop(self, work: Work, *, began: float, terminated_before: int) -> Stopped:
        """End what a line set going that was stopped at the time `began`. Shielded and bounded; raises nothing.

        `terminated_before` is what `terminations` said before the line.
        """
        report, loading = RecoveryReport(), False
        with (
            trio.CancelScope(shield=True, deadline=trio.current_time() + _STOP_AT_MOST),
            suppress(EngineError),
        ):
            loading = await self._stop_loading()
            report = await self._end_script("terminate", sent=work == "script", timeout=_RECOVERY_SECONDS)
        if self.terminations() > terminated_before and not report.terminated:
            # The engine's own recovery was there first, and could not hand its report to the cancelled caller.
            step = RecoveryStep("terminate", True)
            report = RecoveryReport(steps=(step, *report.steps), responsive=report.responsive)
        return Stopped(self.noun, report, trio.current_time() - began, loading, self._gone())

    async def recover(self, allow: str, timeout: float) -> RecoveryReport:
        """Bring the target back if it does not answer, by the steps of `page.recover`; end what is paused.

        Raises InvalidArgumentError for a step that the target does not have, DeadlineExceededError, and why it is
        gone.
        """
        if self.page is None and allow != "terminate":
            raise InvalidArgumentError(
                what="!recover", given=allow, expected=f"no more than !recover for a {self.noun}"
            )
        if error := self.session.error("Runtime.evaluate") if self.page is None else None:
            raise error
        return await self._end_script(allow, sent=False, timeout=timeout)

    async def _end_script(self, allow: str, *, sent: bool, timeout: float) -> RecoveryReport:
        steps = await self._terminate_paused()
        if not steps and sent and self.session.error("Runtime.evaluate") is None:
            # At once, and on the session that the script was sent on: Chrome takes it after what came before the
            # script.
            steps = [await self._terminate()]
        report = await self._recover_page(allow, timeout)
        return RecoveryReport(
            sent=sent,
            steps=(*steps, *report.steps),
            responsive=report.responsive,
            under_way=report.under_way,
        )

    async def _recover_page(self, allow: str, timeout: float) -> RecoveryReport:
        if self.page is not None:
            from cdpengine._evaluate.recovery import check_recovery

            return await self.page.recover(allow=check_recovery(allow), timeout=timeout)
        if await self._probe():
            return RecoveryReport(responsive=True)
        step = await self._terminate()
        return RecoveryReport(steps=(step,), responsive=await self._probe())

    async def _probe(self) -> bool:
        with trio.move_on_after(_TERMINATION), suppress(SessionGoneError, ConnectionLostError):
            await answers(self.session)
            return True
        return False

    async def _terminate(self) -> RecoveryStep:
        started, done = trio.current_time(), False
        with trio.move_on_after(_TERMINATION):
            done = await terminate([self.session])
        return RecoveryStep("terminate", done, "", (trio.current_time() - started) * 1000)

    async def _terminate_paused(self) -> list[RecoveryStep]:
        """End the script that this session's debugger holds. Chrome confirms no other termination meanwhile."""
        if not self.paused:
            return []
        started, done = trio.current_time(), False
        with trio.move_on_after(_TERMINATION), suppress(EngineError):
            await self.session.call("Debugger.resume", terminateOnResume=True)
            done = True
        self.paused = False
        milliseconds = (trio.current_time() - started) * 1000
        return [RecoveryStep("terminate", done, "it was paused in the debugger", milliseconds)]

    async def _stop_loading(self) -> bool:
        if not self._navigation.under_way:
            return False
        with trio.move_on_after(_TERMINATION):
            await self.session.call("Page.stopLoading")
            return True
        return False

    def _gone(self) -> str:
        error = self.session.error()
        return "" if error is None else str(error)

    def _note_pause(self, event: Event) -> None:
        self.paused = event.method == "Debugger.paused"
