"""The report of a run, and its JSON format. Pure.

Rule: the report has every value of every turn, so that all statistics and plots can be derived from the file alone.
It also reports its own defects: noise above the threshold is named.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import attrs
import msgspec

from benchmarks.harness.figures import NOISE_THRESHOLD, Measurement, spread
from benchmarks.harness.machine import Load, Machine, busy

FORMAT = 1


@attrs.frozen
class CaseRun:
    """One case of a run: its duration in seconds, and its failure ("" if it succeeded)."""

    name: str
    title: str
    seconds: float
    failure: str = ""


@attrs.frozen
class PeerFacts:
    """A peer: its version and how it is attached to its browser, or the reason for its absence."""

    name: str
    version: str = ""
    attached: str = ""
    cannot: str = ""


@attrs.frozen
class Report:
    """One run. `began` is its date and time in UTC, `command` its command, `seconds` its duration.

    `bare` has the milliseconds of bare round trips to the pages' server, timed between the cases.
    """

    began: str
    command: str
    seconds: float
    quick: bool
    machine: Machine
    before: Load
    after: Load
    bare: tuple[float, ...]
    peers: tuple[PeerFacts, ...]
    cases: tuple[CaseRun, ...]
    measurements: tuple[Measurement, ...]
    format: int = FORMAT

    def of_case(self, name: str) -> list[Measurement]:
        """Return a case's measurements in chronological order."""
        return [each for each in self.measurements if each.case == name]

    def measurement(self, case: str, variant: str) -> Measurement | None:
        """Return that measurement, or None."""
        return next((each for each in self.of_case(case) if each.variant == variant), None)

    @property
    def fixed(self) -> list[float]:
        """Milliseconds of the fixed work, over the whole run."""
        return [value for measurement in self.measurements for value in measurement.reference]

    def noises(self) -> list[tuple[str, float]]:
        """Return the constant pieces of work, with the spread of their times."""
        return [
            ("a fixed piece of arithmetic", spread(self.fixed)),
            ("a bare round trip to another process", spread(self.bare)),
        ]

    def warnings(self) -> list[str]:
        """Return the warnings for readers: noise, load, failures."""
        said = [
            f"{name} came out {value:.0%} apart (quartiles over median; above {NOISE_THRESHOLD:.0%} is noise)"
            for name, value in self.noises()
            if math.isfinite(value) and value > NOISE_THRESHOLD
        ]
        if loaded := busy(self.before, self.machine.cores):
            said.append(loaded)
        if self.stolen is not None and self.stolen > NOISE_THRESHOLD / 10:
            said.append(f"{self.stolen:.1%} of the cores' time was taken by others on the same machine")
        noisy = [each.name for each in self.measurements if each.is_uneven]
        if noisy:
            said.append(
                f"the machine was uneven during {len(noisy)} of {len(self.measurements)} figures: "
                + ", ".join(noisy)
            )
        return said + [f"{case.name} failed: {case.failure}" for case in self.cases if case.failure]

    @property
    def stolen(self) -> float | None:
        """Fraction of the cores' time that other machines on the same hardware took during the run, or None."""
        if self.before.stolen is None or self.after.stolen is None or self.seconds <= 0:
            return None
        return (self.after.stolen - self.before.stolen) / (self.seconds * self.machine.cores)


def is_engine(side: str) -> bool:
    """Whether a side is the engine: "engine", or "engine: variant"."""
    return side.partition(":")[0] == "engine"


def own_side(measurement: Measurement) -> str:
    """Return the side for comparisons: "engine", or its first measured variant, or ""."""
    ours = [side.side for side in measurement.sides if is_engine(side.side) and side.measured]
    return "engine" if "engine" in ours else next(iter(ours), "")


def side_names(measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of all sides: the engine's, the floors, the peers, each in order of appearance."""
    names = list(dict.fromkeys(side.side for each in measurements for side in each.sides))
    return sorted(names, key=lambda name: (not is_engine(name), not name.startswith("floor")))


def to_json(report: Report) -> bytes:
    """Encode the report as JSON: six digits of each value, one line for each measurement."""
    head = msgspec.to_builtins(attrs.evolve(report, measurements=()))
    head["measurements"] = ["here"]
    lines = b",\n  ".join(msgspec.json.encode(_rounded(each)) for each in report.measurements)
    text = msgspec.json.format(msgspec.json.encode(head), indent=1)
    return text.replace(b'"here"', lines) + b"\n"


def _rounded(measurement: Measurement) -> Measurement:
    def digits(values: Sequence[float]) -> tuple[float, ...]:
        return tuple(float(f"{value:.6g}") for value in values)

    sides = tuple(
        attrs.evolve(side, turns=tuple(digits(turn) for turn in side.turns)) for side in measurement.sides
    )
    return attrs.evolve(measurement, sides=sides, reference=digits(measurement.reference))


def from_json(text: bytes) -> Report:
    """Decode a report of `to_json`. Raises ValueError for other content."""
    try:
        report = msgspec.json.decode(text, type=Report)
    except msgspec.MsgspecError as error:
        raise ValueError(f"this is not a report of the benchmarks: {error}") from None
    if report.format != FORMAT:
        raise ValueError(f"this report has format {report.format}, not {FORMAT}")
    return report
