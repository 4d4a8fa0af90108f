"""The report of a run, and its JSON format, from which all statistics and charts can be derived. Pure."""

from __future__ import annotations

import attrs
import msgspec

from benchmarks.harness.figures import Measurement
from benchmarks.harness.machine import Machine, busy


@attrs.frozen
class CaseRun:
    """One case of a run: its duration in seconds, and its failure ("" if it succeeded)."""

    name: str
    title: str
    seconds: float
    failure: str = ""


@attrs.frozen
class Report:
    """One run. `began` is its date and time in UTC, `command` its command, `seconds` its duration.

    `before` and `after` are the load averages over one minute, None if unknown. `peers` has the version of each peer,
    `missing` the reason of each absence.
    """

    began: str
    command: str
    seconds: float
    quick: bool
    machine: Machine
    before: float | None
    after: float | None
    peers: dict[str, str]
    missing: dict[str, str]
    cases: tuple[CaseRun, ...]
    measurements: tuple[Measurement, ...]

    def of_case(self, name: str) -> list[Measurement]:
        return [each for each in self.measurements if each.case == name]

    def figure(self, name: str) -> Measurement | None:
        return next((each for each in self.measurements if each.name == name), None)

    def own_median(self, name: str) -> float | None:
        found = self.figure(name)
        side = found.side(found.own_side) if found else None
        return side.median if side else None

    def warnings(self) -> list[str]:
        """Return the warnings for readers: load, failures."""
        loaded = busy(self.before, self.machine.cores)
        return [loaded] * bool(loaded) + [
            f"{case.name} failed: {case.failure}" for case in self.cases if case.failure
        ]


def to_json(report: Report) -> bytes:
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def from_json(text: bytes) -> Report:
    try:
        return msgspec.json.decode(text, type=Report)
    except msgspec.MsgspecError as error:
        raise ValueError(f"this is not a report of the benchmarks: {error}") from None
