"""Lines without an answer: reporting silent pages, and ending the scripts of stopped lines.

Rule: Ctrl-C or a timeout stops a line together with the work that it gave the page. A line that only queried the
page leaves the page alone. Success is reported only after Chrome has confirmed it.
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
from cdpengine.debug.explorer.actions import Work
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    InvalidArgumentError,
    RecoveryReport,
    RecoveryStep,
    SessionGoneError,
)

if TYPE_CHECKING:
    from cdpengine._api.browser import Page

NOTICE_AFTER = 1.0
"""Silence of the page before the user is notified, in seconds."""

_FIRST_QUESTION = 0.2
"""Delay before the first probe, in seconds. Most lines have ended by then."""

_QUESTIONS = 1.0
"""Interval between probes of a page that answers, in seconds."""

_PROBE = 0.05
"""Timeout of one probe, in seconds."""

_TERMINATION = 0.1
"""Timeout of one termination, in seconds. Chrome confirms it in 2 ms (measured)."""

_RECOVERY_SECONDS = 2.0
"""Timeout of the recovery that follows, in seconds. Its own patience is a twentieth of this."""

_STOP_AT_MOST = 3.0
"""Maximum duration of stopping a line, in seconds."""


@attrs.frozen
class Stopped:
    """How a stopped line was ended.

    `report` is None if no check was necessary. `loading`: a navigation was stopped. `seconds` counts from the stop
    of the line. `noun` names the target, and `gone` explains why the target no longer exists.
    """

    noun: str = "page"
    report: RecoveryReport | None = None
    seconds: float = 0.0
    loading: bool = False
    gone: str = ""

    @property
    def acted(self) -> bool:
        """Whether stopping needed an action, or could not finish."""
        report = self.report
        return report is not None and (bool(report.steps) or self.loading or not report.responsive)

    def __str__(self) -> str:
        if self.gone:
            return f"stopped; {self.gone}"
        if self.report is None:
            return "stopped"
        done = ["the navigation was stopped"] * self.loading
        if any(step.name == "terminate" for step in self.report.steps):
            # Without Chrome's confirmation, the script may have ended normally.
            ended = "terminated" if self.report.terminated else "asked to stop"
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
    """The target of a console's lines: a session, and its page if it has one.

    `paused`: the session's debugger has paused a script. `answered`: the target answered a line, so it was
    responsive before.
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
        """Noun for the target in messages."""
        return self.session.target_type.replace("_", " ")

    def terminations(self) -> int:
        """Return the number of scripts that the engine's recovery has terminated on the page."""
        return 0 if self.page is None else self.page.measure.evaluate_statistics().confirmed

    # --- while a line runs ---------------------------------------------------------------------------------

    async def watch(self, notice: Callable[[str], None], *, ends: bool) -> None:
        """Probe the target until it has been silent for 1 s. Then send one notice and return.

        `ends`: ending the line also ends the work that runs on the target.
        """
        wait, started = _FIRST_QUESTION, trio.current_time()
        with suppress(SessionGoneError, ConnectionLostError):  # the waiting line raises it
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

    # --- ending a line ----------------------------------------------------------------------------------------

    async def stop(self, work: Work, *, began: float, terminated_before: int) -> Stopped:
        """End the work of a line that was stopped at time `began`. Shielded, bounded, and raises nothing.

        `terminated_before` is the value of `terminations()` before the line.
        """
        report, loading = RecoveryReport(), False
        with (
            trio.CancelScope(shield=True, deadline=trio.current_time() + _STOP_AT_MOST),
            suppress(EngineError),
        ):
            loading = await self._stop_loading()
            report = await self._end_script("terminate", sent=work == "script", timeout=_RECOVERY_SECONDS)
        if self.terminations() > terminated_before and not report.terminated:
            # The engine's recovery was faster, and its caller was cancelled before it received the report.
            step = RecoveryStep("terminate", True)
            report = RecoveryReport(steps=(step, *report.steps), responsive=report.responsive)
        return Stopped(self.noun, report, trio.current_time() - began, loading, self._gone())

    async def recover(self, allow: str, timeout: float) -> RecoveryReport:
        """Recover a silent target with the steps of `page.recover`, and end paused scripts.

        Raises InvalidArgumentError for a step that the target does not support, DeadlineExceededError, and the
        reason why the target is gone.
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
            # Sent immediately, on the script's session: Chrome handles commands of a session in order.
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
        """End the script that this session's debugger has paused.

        Chrome confirms no other termination meanwhile.
        """
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
