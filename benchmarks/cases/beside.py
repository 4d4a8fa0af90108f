"""Beside: further figures that the turns of one measurement give by the way.

Rule: they belong to the very turns that the measurement counted; a warm-up turn is left out here as it is there. Who
could not take the turn has the same reason here; who takes it without telling this figure has that as its reason, or
is left out where the figure means nothing for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import Measurement, SideFigures, Unit


class Beside:
    """One more figure of some sides; a side that says nothing is left out, or has the reason `untold`."""

    def __init__(self, untold: str = "") -> None:
        self._untold = untold
        self._turns: dict[str, list[tuple[float, ...]]] = {}

    def add(self, side: str, values: float | Sequence[float]) -> None:
        """Note what one turn of this side gave."""
        taken = (float(values),) if isinstance(values, int | float) else tuple(values)
        if taken:
            self._turns.setdefault(side, []).append(taken)

    def of(self, measurement: Measurement) -> tuple[SideFigures, ...]:
        """Return the sides of the measurement with this figure in its place."""
        return tuple(made for side in measurement.sides if (made := self._figures(side)) is not None)

    def record(
        self,
        bench: Bench,
        measurement: Measurement,
        *,
        variant: str,
        unit: Unit,
        size: float | None = None,
        curve: str = "",
    ) -> Measurement:
        """Record this figure as a measurement of its own, and return it."""
        made = Measurement(
            case=measurement.case,
            variant=variant,
            unit=unit,
            sides=self.of(measurement),
            size=size,
            curve=curve,
        )
        bench.record(made)
        return made

    def _figures(self, side: SideFigures) -> SideFigures | None:
        if side.cannot:
            return SideFigures(side=side.side, cannot=side.cannot)
        counted = self._turns.get(side.side, [])[-len(side.turns) :]
        if not counted:
            return SideFigures(side=side.side, cannot=self._untold) if self._untold else None
        return SideFigures(side=side.side, turns=tuple(counted), note=side.note)
