"""Figures: what was measured, and what is said of it. Pure.

Rule: a figure keeps all its values; the median is what counts, the 95th percentile says how even they are. What
could not be measured is a figure too, with the reason and no number.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

Unit = Literal["ms", "calls/s", "events/s", "MB/s"]


def _numbers(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(values)


@attrs.frozen
class Figure:
    """One measurement: `name` is unique in a report, `values` are in `unit`, `detail` says of what.

    `cannot` is the reason why there are no values; "" when there are some.
    """

    name: str
    unit: Unit
    values: tuple[float, ...] = attrs.field(default=(), converter=_numbers)
    detail: str = ""
    cannot: str = ""

    @property
    def median(self) -> float:
        """The median; NaN when there are no values."""
        return statistics.median(self.values) if self.values else math.nan

    @property
    def p95(self) -> float:
        """The value that one of twenty is worse than: slower, or fewer a second. NaN without values."""
        if not self.values:
            return math.nan
        ordered = sorted(self.values, reverse=self.unit != "ms")
        return ordered[min(len(ordered) - 1, math.ceil(0.95 * len(ordered)) - 1)]


@attrs.frozen
class BenchReport:
    """All figures of one run. `product` is the browser's own name and version, `endpoint` where it was reached.

    `load` is the one-minute load average for each core of this machine when the run began, None where the system
    does not tell; it says something of the browser only when that runs here (`local`).
    """

    product: str
    endpoint: str
    local: bool
    load: float | None
    figures: tuple[Figure, ...]

    def figure(self, name: str) -> Figure | None:
        """Return the figure of that name if it was measured, None otherwise."""
        return next((each for each in self.figures if each.name == name and each.values), None)


def rate(counts: Sequence[int], seconds: Sequence[float]) -> tuple[float, ...]:
    """Return how many a second, for each pair of a count and the seconds it took."""
    return tuple(count / max(taken, 1e-9) for count, taken in zip(counts, seconds, strict=True))


def shown(value: float) -> str:
    """Return a value with three digits that count, thousands apart: "0.312", "7.41", "12,900"."""
    if math.isnan(value):
        return ""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits - 3) if digits > 3 else value:,.{min(digits, 3)}f}"
