"""Goals in a report, next to guarantees: reached or missed, without failing the run."""

from __future__ import annotations

import pytest
from benchmark_reports import report, side

from benchmarks.cases import CASES
from benchmarks.harness.figures import Measurement
from benchmarks.harness.goals import GOALS, Goal, aims
from benchmarks.harness.markdown import aims_table
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.promises import Promise

TWICE = Goal(
    Promise("twice", "click", "once", "engine", over="playwright", least=2, tolerance=0.05),
    obstacle="the law of nature",
)


@pytest.mark.parametrize(
    ("theirs", "reach"),
    [
        ((2.0,), "reached"),
        ((1.91,), "reached"),
        ((1.89,), "not reached"),
        ((1.0, 2.1, 4.0), "cannot be told"),
    ],
)
def test_the_verdict_on_a_goal(theirs: tuple[float, ...], reach: str) -> None:
    sides = (side("engine", *(1.0 for _ in theirs)), side("playwright", *theirs))
    (aim,) = aims(report(Measurement("click", "once", unit="ms", sides=sides)), (TWICE,))
    assert aim.reach == reach
    assert aim.figure.endswith("2.00 aimed at")


def test_an_unmeasured_goal_is_not_reached() -> None:
    made = report(Measurement("click", "once", unit="ms", sides=(side("engine", 1),)))
    (aim,) = aims(made, (TWICE,))
    assert (aim.reach, aim.figure) == ("not measured", "playwright took no part")
    other = Promise("other", "events", "", "engine", over="pydoll", least=1)
    assert aims(made, (Goal(other),)) == []


def test_the_table_shows_missed_goals() -> None:
    sides = (side("engine", 1), side("playwright", 1))
    found = aims(report(Measurement("click", "once", unit="ms", sides=sides)), (TWICE,))
    missed = "| twice | **not reached** | 1.00 times better, 2.00 aimed at | the law of nature |"
    assert aims_table(found)[2:] == [missed]
    sides = (side("engine", 1), side("playwright", 2))
    found = aims(report(Measurement("click", "once", unit="ms", sides=sides)), (TWICE,))
    assert aims_table(found)[2:] == ["| twice | reached | 2.00 times better, 2.00 aimed at |  |"]


def test_goals_name_existing_cases() -> None:
    assert len({goal.promise.text for goal in GOALS}) == len(GOALS)
    for goal in (each.promise for each in GOALS):
        assert goal.case in CASES
        assert goal.over in PEER_NAMES or goal.over.startswith(("engine", "floor: ")), goal.text
        assert goal.least > 0
        assert goal.tolerance == 0.05
