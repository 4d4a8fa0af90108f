"""Counters of evaluation: how many, how long, how they ended, and the recoveries of those that did not end.

Rule: everything that is not an ordinary answer is counted by name. Memory is bounded: of the durations the latest
thousand are kept, and the percentiles are theirs.
"""

from __future__ import annotations

import statistics
from collections import Counter, deque
from collections.abc import Mapping

import attrs

from cdpengine.errors import RecoveryReport

_DURATIONS_KEPT = 1000


@attrs.frozen
class EvaluationStatistics:
    """Counts since the page (or the browser) was there; durations in seconds.

    `evaluates` were sent, `answered` gave a value or threw. `terminations` were sent to Chrome, `confirmed` by it.
    `recoveries` counts the steps of the ladder that were done, by name; `evaluation_session_rebuilds` and
    `fallbacks` count by reason. `p50`, `p95` and `longest` are of the latest thousand that were answered, None
    without any.
    """

    evaluates: int = 0
    answered: int = 0
    threw: int = 0
    timeouts: int = 0
    cancellations: int = 0
    terminations: int = 0
    confirmed: int = 0
    recoveries: Mapping[str, int] = attrs.field(factory=dict)
    evaluation_session_rebuilds: Mapping[str, int] = attrs.field(factory=dict)
    fallbacks: Mapping[str, int] = attrs.field(factory=dict)
    p50: float | None = None
    p95: float | None = None
    longest: float | None = None


@attrs.define(eq=False)
class EvaluationCounters:
    """Counts for one page, and passes everything on to `outer`, the counters of its browser."""

    outer: EvaluationCounters | None = None
    _counts: Counter[str] = attrs.field(factory=Counter, init=False)
    _recoveries: Counter[str] = attrs.field(factory=Counter, init=False)
    _fallbacks: Counter[str] = attrs.field(factory=Counter, init=False)
    _durations: deque[float] = attrs.field(factory=lambda: deque(maxlen=_DURATIONS_KEPT), init=False)

    def sent(self) -> None:
        """Count one that was given to the page."""
        self._counts["evaluates"] += 1
        if self.outer is not None:
            self.outer.sent()

    def answered(self, seconds: float, *, threw: bool) -> None:
        """Count one that gave a value, or threw."""
        self._counts["answered"] += 1
        self._counts["threw"] += threw
        self._durations.append(seconds)
        if self.outer is not None:
            self.outer.answered(seconds, threw=threw)

    def note_given_up(self, *, timeout: bool) -> None:
        """Count one whose budget ended, or whose caller was cancelled."""
        self._counts["timeouts" if timeout else "cancellations"] += 1
        if self.outer is not None:
            self.outer.note_given_up(timeout=timeout)

    def recovered(self, report: RecoveryReport) -> None:
        """Count the steps of a recovery."""
        for step in report.steps:
            self._counts["terminations"] += step.name == "terminate"
            self._counts["confirmed"] += step.name == "terminate" and step.done
            self._recoveries[step.name] += step.done
        if self.outer is not None:
            self.outer.recovered(report)

    def note_fallback(self, reason: str) -> None:
        """Count one time that something simpler was done instead, with its reason."""
        self._fallbacks[reason] += 1
        if self.outer is not None:
            self.outer.note_fallback(reason)

    def statistics(self, evaluation_session_rebuilds: Mapping[str, int]) -> EvaluationStatistics:
        """Return the counts so far."""
        durations = sorted(self._durations)
        return EvaluationStatistics(
            **self._counts,
            recoveries=dict(+self._recoveries),
            fallbacks=dict(self._fallbacks),
            evaluation_session_rebuilds=dict(evaluation_session_rebuilds),
            p50=statistics.median(durations) if durations else None,
            p95=durations[int(0.95 * (len(durations) - 1))] if durations else None,
            longest=durations[-1] if durations else None,
        )
