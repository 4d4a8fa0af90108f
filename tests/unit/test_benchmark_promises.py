"""Guarantees of the engine's speed, and their verdicts in a report."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from benchmark_reports import report, side

from benchmarks import check
from benchmarks.cases import CASES
from benchmarks.check import named_peers
from benchmarks.harness.figures import Measurement, Unit
from benchmarks.harness.peers import PEER_NAMES
from benchmarks.harness.promises import GOALS, PROMISES, Promise, judge, judge_all
from benchmarks.harness.report import CaseRun, Report
from benchmarks.harness.tables import goals_table

FIVE_TIMES = Promise("click: on*", "playwright", 5, tolerance=0.1)
SIX_MS = Promise("click: on*", most=6, tolerance=0.5)
TABS = Promise("click: last", "engine", 0.5, over_figure="click: first", tolerance=0)
TWICE = Promise("click: once", "playwright", 2, tolerance=0.05, obstacle="the law of nature")


def click(ours: float, theirs: float, unit: Unit = "ms", variant: str = "once") -> Measurement:
    return Measurement("click", variant, unit=unit, sides=(side("engine", ours), side("playwright", theirs)))


@pytest.mark.parametrize(
    ("ours", "theirs", "unit", "state"),
    [
        (1, 5, "ms", "holds"),
        (1, 4.6, "ms", "within the tolerance"),
        (1, 4.4, "ms", "fails"),
        (5, 1, "calls/s", "holds"),
        (1, 5, "calls/s", "fails"),
    ],
)
def test_a_guaranteed_ratio(ours: float, theirs: float, unit: Unit, state: str) -> None:
    verdict = judge(FIVE_TIMES, report(click(ours, theirs, unit)))
    assert verdict.state == state
    assert verdict.kept == (state != "fails")


@pytest.mark.parametrize(
    ("theirs", "state"),
    [
        ((5, 6, 7), "holds"),
        ((4, 6, 9), "cannot be told"),
        ((2, 4, 6), "cannot be told"),
        ((20, 60, 90), "holds"),
        ((1, 2, 4), "fails"),
    ],
)
def test_scattered_rounds_around_the_guarantee_give_no_verdict(theirs: tuple[float, ...], state: str) -> None:
    measured = Measurement(
        "click", "once", unit="ms", sides=(side("engine", 1, 1, 1), side("playwright", *theirs))
    )
    verdict = judge(FIVE_TIMES, report(measured))
    assert verdict.state == state
    assert verdict.kept == (state == "holds")


@pytest.mark.parametrize(("ours", "state"), [(6, "holds"), (8.9, "within the tolerance"), (9.1, "fails")])
def test_a_guaranteed_time(ours: float, state: str) -> None:
    assert judge(SIX_MS, report(click(ours, 1))).state == state


@pytest.mark.parametrize(("last", "state"), [(1.0, "holds"), (2.0, "holds"), (2.1, "fails")])
def test_a_promise_over_two_figures(last: float, state: str) -> None:
    made = report(click(last, 1, variant="last"), click(1, 1, variant="first"))
    assert judge(TABS, made).state == state


@pytest.mark.parametrize(
    ("promise", "measurements", "words"),
    [
        (FIVE_TIMES, [], "no figure"),
        (FIVE_TIMES, [click(1, 5, variant="off")], "no figure"),
        (FIVE_TIMES, [Measurement("click", "once", unit="ms", sides=(side("engine", 1),))], "took no part"),
        (
            FIVE_TIMES,
            [
                Measurement(
                    "click", "once", unit="ms", sides=(side("engine", 1), side("playwright", cannot="gone"))
                )
            ],
            "playwright cannot: gone",
        ),
        (SIX_MS, [Measurement("click", "once", unit="ms", sides=())], "took no part"),
        (TABS, [click(1, 1, variant="last")], "not above 0|took no part|no figure"),
    ],
)
def test_an_unmeasured_guarantee_does_not_hold(
    promise: Promise, measurements: list[Measurement], words: str
) -> None:
    other = Measurement("else", unit="ms", sides=())
    verdict = judge(promise, report(other, *measurements))
    assert verdict.state == "not measured"
    assert not verdict.kept
    assert any(word in verdict.figure for word in words.split("|"))


def test_only_guarantees_of_cases_that_ran_are_judged() -> None:
    made = report(click(1, 5), cases=(CaseRun("click", "Click", 1.0),))
    assert [verdict.promise for verdict in judge_all(made, (FIVE_TIMES, PROMISES[0]))] == [FIVE_TIMES]


@pytest.mark.parametrize("promises", [PROMISES, GOALS], ids=["guarantees", "goals"])
def test_every_guarantee_can_be_judged_and_belongs_to_an_existing_case(promises: Sequence[Promise]) -> None:
    for promise in promises:
        assert promise.case in CASES, promise.text
        assert (promise.least > 0) == bool(promise.over), promise.text
        assert promise.over or promise.most < float("inf"), promise.text
        assert 0 <= promise.tolerance <= 1, promise.text
    assert len({promise.text for promise in promises}) == len(promises)


def test_the_table_of_goals_names_obstacles_of_missed_goals() -> None:
    missed = judge_all(report(click(1, 1)), (TWICE,))
    assert goals_table(missed)[2:] == [
        "| click: once: at least 2 times better than playwright | **not reached** | 1.00 times better, 2.00 aimed at | the law of nature |"
    ]
    reached = judge_all(report(click(1, 2)), (TWICE,))
    assert goals_table(reached)[2:] == [
        "| click: once: at least 2 times better than playwright | reached | 2.00 times better, 2.00 aimed at |  |"
    ]


@pytest.mark.parametrize(("theirs", "status"), [(30.0, 0), (10.0, 1)])
def test_the_exit_status_of_the_check_follows_the_report(
    theirs: float, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def action(variant: str) -> Measurement:
        return Measurement(
            "actions",
            variant,
            unit="ms",
            sides=(
                side("engine", 3),
                side("engine: by role and name", 3),
                *(side(each, theirs) for each in ("playwright", "pydoll", "engine: by ref")),
            ),
        )

    tabs = ("click on tab 20 of 20", "click on tab 1 of 20")
    variants = ("click", "hover", "type", "fill", "click by locator", *tabs)
    made = report(*(action(variant) for variant in variants))
    monkeypatch.setattr(check, "measured", lambda _names: made)
    assert check.main(["actions"]) == status
    output = capsys.readouterr().out
    assert ("do not hold" in output) == bool(status)
    assert "actions: click: at least 5 times better than playwright" in output


@pytest.mark.parametrize("arguments", [["nothing"], ["--turns", "0"]])
def test_invalid_use_of_the_check_exits_with_status_2(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        check.main(arguments)
    assert ended.value.code == 2
    assert "error:" in capsys.readouterr().err


NAME_OTHERS = [each for each in PROMISES if each.over and not each.over.startswith(("engine", "floor"))]


@pytest.mark.parametrize("promise", NAME_OTHERS, ids=lambda promise: promise.text)
def test_a_guarantee_is_checked_against_its_named_peer(promise: Promise) -> None:
    peers = named_peers(promise.case)
    assert peers, "the case leaves other programs out where no peer was asked for"
    assert promise.over in peers or promise.over not in PEER_NAMES


def test_a_guarantee_without_a_peer_is_checked_alone() -> None:
    assert named_peers("pool") == named_peers("streams") == ()


EVEN, UNEVEN = (3.0, 3.0, 3.1, 3.0), (3.0, 3.9, 3.0, 4.4)


def hovers(ours: float, *theirs: float, reference: tuple[float, ...] = EVEN) -> Measurement:
    sides = (side("engine", *(ours for _ in theirs)), side("playwright", *theirs))
    return Measurement("actions", "hover", unit="ms", sides=sides, reference=reference)


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (hovers(1, 90, 90, 90, 90, reference=UNEVEN), []),
        (hovers(1, 1, 1, 1, 1), []),
        (hovers(1, 1, 1, 1, 1, reference=UNEVEN), ["actions"]),
        (hovers(1, 0.1, 90, 0.1, 90), ["actions"]),
    ],
    ids=["holds", "fails", "fails on an uneven machine", "cannot be told"],
)
def test_a_case_spoiled_by_an_uneven_machine_is_repeated(taken: Measurement, expected: list[str]) -> None:
    made = report(taken)
    verdicts = [
        judge(promise, made) for promise in PROMISES if promise.figure == "actions: hover" and promise.over
    ]
    assert len(verdicts) == 1
    assert check.spoiled(made, verdicts) == expected


def test_a_repeated_case_replaces_the_first() -> None:
    other = Measurement("events", "once", unit="ms", sides=(side("engine", 1),))
    first, later = report(hovers(1, 1), other), report(hovers(1, 90))
    merged = check.with_cases_of(first, later)
    assert merged.measurements == (other, *later.measurements)
    assert [case.name for case in merged.cases] == ["actions", "events"]
    assert merged.seconds == first.seconds + later.seconds


def test_the_check_repeats_a_spoiled_case_only_once(capsys: pytest.CaptureFixture[str]) -> None:
    asked: list[list[str]] = []

    def take(names: Sequence[str]) -> Report:
        asked.append(list(names))
        return report(hovers(1, 0.1, 90, 0.1, 90) if "actions" in names else click(1, 1))

    assert check.taken_evenly(take, ["actions", "click"]).measurements[0].variant == "hover"
    assert asked == [["actions", "click"], ["actions"]]
    assert "measured again, because the machine was uneven: actions" in capsys.readouterr().err
    asked.clear()
    check.taken_evenly(take, ["click"])
    assert asked == [["click"]]
