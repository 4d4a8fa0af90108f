"""Further figures from the turns of a measurement.

Rule: they come from the same turns as the measurement, without its warm-up. A side that could not take the turn
has the same reason here. A side without this figure has that as its reason, or is left out if the figure is
meaningless for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import Measurement, SideFigures, Unit


class FurtherFigure:
    """A further figure of some sides. A side without values is left out, or gets the reason `untold`."""

    def __init__(self, untold: str = "") -> None:
        self._untold = untold
        self._turns: dict[str, list[tuple[float, ...]]] = {}

    def add(self, side: str, values: float | Sequence[float]) -> None:
        """Add the values of one turn of a side."""
        taken = (float(values),) if isinstance(values, int | float) else tuple(values)
        if taken:
            self._turns.setdefault(side, []).append(taken)

    def of(self, measurement: Measurement) -> tuple[SideFigures, ...]:
        """Return the sides of the measurement with this figure as their values."""
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
        """Record this figure as a separate measurement, and return it."""
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
