"""Errors of time and of evaluation: deadlines, pages that do not answer, JavaScript that threw or was ended."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import attrs

from cdpengine.errors.root import EngineError
from cdpengine.errors.words import LONGEST_TEXT, cut, tried


@attrs.define(eq=False, slots=False, str=False, repr=False)
class DeadlineExceededError(EngineError):
    """The method's own `timeout` (seconds) ran out. `steps` tells what was tried, in order."""

    action: str
    timeout: float
    steps: Sequence[str] = ()

    def _describe(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s{tried(self.steps)}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class PageUnresponsiveError(DeadlineExceededError):
    """The time ran out, and the page does not answer: its script keeps it busy, or waits and lets nothing run.

    `unresponsive_for` is for how many seconds at least, 0.5 or more: since the page was asked whether it is there,
    which it has not answered yet. Where less is known, as with a first `timeout` below 0.5 s, the error is
    DeadlineExceededError.
    """

    unresponsive_for: float = 0.0

    def _describe(self) -> str:
        return (
            f"{self.action} did not finish within {self.timeout:g} s: the page has not answered for at least "
            f'{self.unresponsive_for:.2f} s. page.recover() stops its script, page.recover(allow="reload") also '
            f'reloads it, page.recover(allow="close") closes it{tried(self.steps)}'
        )


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationFailedError(EngineError):
    """The page's JavaScript threw. `text` is the thrown value's own description, `stack` its frames.

    Where it did not throw (`threw` is False), `text` says why its value cannot be had.
    Texts of 6 characters or more that the script was given stand in neither: they read "***".
    """

    text: str
    stack: str = ""
    line: int | None = None
    column: int | None = None
    threw: bool = True

    def _describe(self) -> str:
        what = "JavaScript threw" if self.threw else "the value cannot be had"
        return f"{what}: {cut(self.text, LONGEST_TEXT)}"


class ValueTooLargeError(EvaluationFailedError):
    """The script ran to its end, but its value is too large, or nested too deeply, to be brought here."""

    def _describe(self) -> str:
        return f"the script ran, but its value was not returned: {self.text}. Return the parts that you need"


@attrs.frozen
class RecoveryStep:
    """One thing that was done to bring a page back. `done`: Chrome confirmed it, and in time."""

    name: Literal["dialog", "terminate", "reload", "close"]
    done: bool
    detail: str = ""
    milliseconds: float = 0.0

    def __str__(self) -> str:
        more = f" ({self.detail})" if self.detail else ""
        return f"{self.name}: {'done' if self.done else 'not confirmed'}{more}, {self.milliseconds:.0f} ms"


@attrs.frozen
class RecoveryReport:
    """What was done to bring a page back, in order, and what is known of it after that.

    `sent`: a script was given to the page at all. `responsive`: the page answered a probe after the last step.
    `under_way`: more is being done, and the page's next action waits for its end. `terminated`: Chrome
    confirmed that what ran in the page's process was terminated. `closed`: the page was closed.
    """

    sent: bool = False
    steps: tuple[RecoveryStep, ...] = ()
    responsive: bool = False
    under_way: bool = False
    terminated: bool = attrs.field(init=False)
    closed: bool = attrs.field(init=False)

    @terminated.default
    def _terminated(self) -> bool:
        return self.did("terminate")

    @closed.default
    def _closed(self) -> bool:
        return self.did("close")

    def did(self, name: str) -> bool:
        """Tell whether the step of that name was done."""
        return any(step.done for step in self.steps if step.name == name)

    def __str__(self) -> str:
        if self.closed:
            state = "the page was closed"
        elif self.responsive:
            state = "the page answers again" if self.steps else "the page answers"
        else:
            state = "the page does not answer yet"
        more = (
            "; the recovery is under way, and the page's next action waits for it" if self.under_way else ""
        )
        steps = f" [{'; '.join(map(str, self.steps))}]" if self.steps else ""
        return f"{state}{more}{steps}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTimeoutError(DeadlineExceededError):
    """The script did not finish in time and was terminated. `report` says what was done and what is known."""

    report: RecoveryReport = attrs.field(factory=RecoveryReport)

    def _describe(self) -> str:
        return f"{self.action} did not finish within {self.timeout:g} s: {self._state()}{tried(self.steps)}"

    def _state(self) -> str:
        if not self.report.sent:
            script = "the script was never sent"
            return f"{script}; {self.report}" if self.report.steps or self.report.under_way else script
        if self.report.terminated:
            return f"the script was terminated, and {self.report}"
        return f"the script was told to stop, and Chrome has not confirmed it; {self.report}"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationDisabledError(EngineError):
    """Evaluation was switched off when the browser was launched or connected to; nothing was sent."""

    action: str

    def _describe(self) -> str:
        return f"{self.action}: evaluation is switched off for this browser (evaluate_enabled=False)"


@attrs.define(eq=False, slots=False, str=False, repr=False)
class EvaluationTerminatedError(EngineError):
    """Somebody else ended this script: a termination is isolate-wide and hits every script running there."""

    reason: str

    def _describe(self) -> str:
        return f"the evaluation was ended from outside: {self.reason}"
