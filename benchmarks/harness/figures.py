"""Figures: the values of a case's sides, turn by turn, and their statistics. Pure.

Rule: a side's statistic is the median over its turns of each turn's median, so that one bad turn cannot move it. Two
sides are compared by the ratio in each round, in which both had the same machine. A ratio above 1 is always better.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from typing import Literal

import attrs

from benchmarks.harness.confidence import median_range

Unit = Literal[
    "ms", "calls/s", "events/s", "pages/s", "jobs/s", "MB", "bytes", "instructions", "characters", "power"
]  # fmt: skip

LESS_IS_BETTER: frozenset[Unit] = frozenset({"ms", "MB", "bytes", "instructions", "characters", "power"})

COUNTED: frozenset[Unit] = frozenset({"instructions", "characters"})
"""Units of counts, which do not vary from round to round: one round decides."""


def _rounds(turns: Iterable[Iterable[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(turn) for turn in turns)


@attrs.frozen
class SideFigures:
    """The turns of one side, each with one or more values.

    `cannot` is the reason for missing turns, or "". `note` is additional information.
    """

    side: str
    turns: tuple[tuple[float, ...], ...] = attrs.field(default=(), converter=_rounds)
    cannot: str = ""
    note: str = ""

    @property
    def measured(self) -> bool:
        return not self.cannot and any(self.turns)

    @property
    def medians(self) -> tuple[float, ...]:
        """The median of each turn."""
        return tuple(statistics.median(turn) for turn in self.turns if turn)

    @property
    def median(self) -> float:
        return statistics.median(self.medians) if self.measured else math.nan


@attrs.frozen
class Ratio:
    """How many times better one side is than another: the median over the rounds, and its range (87 %)."""

    median: float
    low: float
    high: float
    turns: int

    def __str__(self) -> str:
        """Format it: "6.35 (5.90 to 6.80)", or "6.35" for one round."""
        if self.turns == 1:
            return shown_ratio(self.median)
        return f"{shown_ratio(self.median)} ({shown_ratio(self.low)} to {shown_ratio(self.high)})"


@attrs.frozen
class Measurement:
    """One figure of a case, for all its sides.

    Values around zero, such as growth, are not `compared`.
    """

    case: str
    variant: str = ""
    unit: Unit = attrs.field(kw_only=True)
    sides: tuple[SideFigures, ...] = attrs.field(kw_only=True)
    compared: bool = attrs.field(default=True, kw_only=True)

    @property
    def less_is_better(self) -> bool:
        return self.unit in LESS_IS_BETTER

    @property
    def name(self) -> str:
        return figure_name(self.case, self.variant)

    def side(self, name: str) -> SideFigures | None:
        return next((side for side in self.sides if side.side == name), None)

    def measured(self, name: str) -> bool:
        side = self.side(name)
        return side is not None and side.measured

    def median(self, name: str) -> float:
        side = self.side(name)
        return math.nan if side is None else side.median

    @property
    def own_side(self) -> str:
        """The side for comparisons: "engine", or its first measured variant, or ""."""
        ours = [side.side for side in self.sides if is_engine(side.side) and side.measured]
        return "engine" if "engine" in ours else next(iter(ours), "")

    def p95(self, name: str) -> float:
        side = self.side(name)
        if side is None or not side.measured:
            return math.nan
        return worse_end([value for turn in side.turns for value in turn], self.less_is_better)

    def ratio(self, slow: str, fast: str) -> Ratio | None:
        """Return how many times better `fast` is than `slow`, or None unless both have values above 0."""
        return ratio_of(ratios(self, slow, self, fast)) if self.compared else None

    def with_rounds_of(self, later: Measurement) -> Measurement:
        """Return the figure with the rounds of both, or the more complete one if other sides were measured."""
        ours, theirs = ({side.side for side in each.sides if side.measured} for each in (self, later))
        if ours != theirs:
            return self if len(ours) > len(theirs) else later
        rounds = {side.side: side.turns for side in self.sides}
        sides = [attrs.evolve(side, turns=(*rounds.get(side.side, ()), *side.turns)) for side in later.sides]
        return attrs.evolve(later, sides=tuple(sides))


def ratios(slow: Measurement, slow_side: str, fast: Measurement, fast_side: str) -> list[float]:
    """Return how many times better one side is than another in each round, possibly of another figure.

    Return [] unless both have values above 0.
    """
    slower, faster = slow.side(slow_side), fast.side(fast_side)
    if slower is None or faster is None or not slower.measured or not faster.measured:
        return []
    pairs = list(zip(slower.medians, faster.medians, strict=False))
    if any(value <= 0 or not math.isfinite(value) for pair in pairs for value in pair):
        return []
    return [a / b if fast.less_is_better else b / a for a, b in pairs]


def differences(measured: Measurement, base: str) -> list[SideFigures]:
    """Return how much more each other side takes than `base`, in each round; negative if less."""
    ours = measured.side(base)
    assert ours is not None
    return [
        SideFigures(side.side, [(a - b,) for a, b in zip(side.medians, ours.medians, strict=True)])
        for side in measured.sides
        if side.side != base and side.measured
    ]


def figure_name(case: str, variant: str) -> str:
    return f"{case}: {variant}" if variant else case


def is_engine(side: str) -> bool:
    """Whether a side is the engine: "engine", or "engine: variant"."""
    return side.partition(":")[0] == "engine"


def worse_end(values: Sequence[float], less_is_better: bool) -> float:
    """Return the 95th percentile towards the worse end: the longest times, or the lowest rates."""
    ordered = sorted(values, reverse=not less_is_better)
    return ordered[math.ceil(0.95 * len(ordered)) - 1]


def ratio_of(rounds: Sequence[float]) -> Ratio | None:
    """Return the ratio over all rounds, or None without rounds."""
    return Ratio(statistics.median(rounds), *median_range(rounds), len(rounds)) if rounds else None


def shown(value: float) -> str:
    """Format a value with three significant digits: "0.312", "7.41", "46.3", "12,900"; "-" for none."""
    if not math.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    digits = 2 - math.floor(math.log10(abs(value)))
    return f"{round(value, digits):,.{max(0, digits)}f}"


def shown_ratio(value: float) -> str:
    """Format a ratio with two decimals, or three significant digits from 10: "0.85", "6.35", "12.8", "394"."""
    return f"{value:.2f}" if 0.005 <= value < 9.995 else shown(value)
