"""The report of a run: what it holds, and how it is kept as JSON. Pure.

Rule: every value of every turn is in it, so that whatever is said of a run can be worked out again, and drawn again,
from the file alone. A report says by itself when it is not to be trusted: noise above the threshold is named.
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
    """One case of a run: how long it took (seconds), and how it failed ("" when it did not)."""

    name: str
    title: str
    seconds: float
    failure: str = ""


@attrs.frozen
class PeerSaid:
    """What a peer is: its version, and how it is attached to its browser; or why it is not there."""

    name: str
    version: str = ""
    attached: str = ""
    cannot: str = ""


@attrs.frozen
class Report:
    """One run. `began` is its day and time in UTC, `command` what made it, `seconds` how long it took.

    `bare` holds the milliseconds of a bare round trip to the pages' server, timed between the cases.
    """

    began: str
    command: str
    seconds: float
    quick: bool
    machine: Machine
    before: Load
    after: Load
    bare: tuple[float, ...]
    peers: tuple[PeerSaid, ...]
    cases: tuple[CaseRun, ...]
    measurements: tuple[Measurement, ...]
    format: int = FORMAT

    def of_case(self, name: str) -> list[Measurement]:
        """Return a case's measurements, in the order in which they were taken."""
        return [each for each in self.measurements if each.case == name]

    def measurement(self, case: str, variant: str) -> Measurement | None:
        """Return that measurement, None when it was not taken."""
        return next((each for each in self.of_case(case) if each.variant == variant), None)

    @property
    def fixed(self) -> list[float]:
        """The milliseconds of the fixed work, over the whole run."""
        return [value for measurement in self.measurements for value in measurement.reference]

    def noises(self) -> list[tuple[str, float]]:
        """Return what was timed that is always the same, with how far apart it came out."""
        return [
            ("a fixed piece of arithmetic", spread(self.fixed)),
            ("a bare round trip to another process", spread(self.bare)),
        ]

    def warnings(self) -> list[str]:
        """Return what a reader has to know before believing a figure: noise, load, failures."""
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
        """The part of the cores' time that others on the same hardware took during the run; None if unknown."""
        if self.before.stolen is None or self.after.stolen is None or self.seconds <= 0:
            return None
        return (self.after.stolen - self.before.stolen) / (self.seconds * self.machine.cores)


def is_ours(side: str) -> bool:
    """Whether a side is the engine itself: "engine", or "engine: in which way"."""
    return side.partition(":")[0] == "engine"


def own_side(measurement: Measurement) -> str:
    """Return the side that others are compared with: "engine", or the first of ours. "" where none was measured."""
    ours = [side.side for side in measurement.sides if is_ours(side.side) and side.measured]
    return "engine" if "engine" in ours else next(iter(ours), "")


def side_names(measurements: Sequence[Measurement]) -> list[str]:
    """Return the names of all sides, ours first, then the floor, then peers; of each in order of appearance."""
    names = list(dict.fromkeys(side.side for each in measurements for side in each.sides))
    return sorted(names, key=lambda name: (not is_ours(name), not name.startswith("floor")))


def to_json(report: Report) -> bytes:
    """Return the report as JSON text: six digits of each value, a line for each measurement."""
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
    """Return the report that `to_json` wrote. Raises ValueError for anything else."""
    try:
        report = msgspec.json.decode(text, type=Report)
    except msgspec.MsgspecError as error:
        raise ValueError(f"this is no report of the benchmarks: {error}") from None
    if report.format != FORMAT:
        raise ValueError(f"this report has format {report.format}, not {FORMAT}")
    return report
