"""A made-up benchmark report for tests: every kind of side, and strings that could break an HTML page."""

from __future__ import annotations

from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.machine import Machine
from benchmarks.harness.report import CaseRun, Report

HOSTILE = 'no </td><script>alert(1)</script> | such "thing"\n\x1b[31m `here` & <b>there</b>'

MACHINE = Machine(2, "Chromium 1.2.3", {"machine": "A Processor, 2 cores, 8 GB", "system": "Some Linux 1"})


def side(name: str, *turns: float, cannot: str = "", note: str = "") -> SideFigures:
    """Return a side whose rounds have one value each."""
    return SideFigures(name, tuple((value,) for value in turns), cannot, note)


def report(*measurements: Measurement, cases: tuple[CaseRun, ...] | None = None) -> Report:
    """Return a report with these measurements, or with a few measurements of each kind."""
    taken = measurements or (
        Measurement(
            "click",
            "once",
            unit="ms",
            sides=(
                side("engine", 5, 5, 5),
                side("floor: pipe", 2, 2, 2.5),
                side("playwright", 20, 30, 40, note=HOSTILE),
                side("pydoll", cannot=HOSTILE),
            ),
        ),
        *(
            Measurement(
                "rate",
                f"{size} pages",
                unit="pages/s",
                sides=(side("engine", 100 / size, 110 / size), side("playwright", 50 / size, 55 / size)),
            )
            for size in (1, 10, 50)
        ),
    )
    names = dict.fromkeys(each.case for each in taken)
    return Report(
        began="2026-01-02 03:04 UTC",
        command="python -m benchmarks",
        seconds=90.0,
        quick=False,
        machine=MACHINE,
        before=0.1,
        after=1.5,
        peers={"playwright": "1.2 (by pipe)"},
        missing={"pydoll": HOSTILE},
        cases=tuple(CaseRun(name, name.title(), 10.0) for name in names) if cases is None else cases,
        measurements=taken,
    )
