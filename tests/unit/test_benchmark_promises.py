"""Guarantees of the engine's speed, and their verdicts in a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import attrs
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
    """Return a figure of eight equal rounds."""
    sides = (side("engine", *[ours] * 8), side("playwright", *[theirs] * 8))
    return Measurement("click", variant, unit=unit, sides=sides)


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
        ((5, 6, 7, 9), "holds"),
        ((4.6, 4.9, 4.6, 4.9), "within the tolerance"),
        ((5, 6, 7), "unknown"),
        ((4, 6, 9, 9), "unknown"),
        ((4, 5, 6, 6, 6, 7, 9), "holds"),
        ((1, 1, 2, 4), "unknown"),
        ((1, 1, 1, 1, 2, 3, 4), "fails"),
        ((1, 1, 1, 1, 2, 3, 4, 9), "unknown"),
    ],
)
def test_rounds_around_the_guarantee_decide_it_only_with_confidence(
    theirs: tuple[float, ...], state: str
) -> None:
    sides = (side("engine", *[1] * len(theirs)), side("playwright", *theirs))
    verdict = judge(FIVE_TIMES, report(Measurement("click", "once", unit="ms", sides=sides)))
    assert verdict.state == state
    assert verdict.kept == (state in ("holds", "within the tolerance"))
    assert (f"({len(theirs)} rounds)" in verdict.figure) == (not verdict.kept)


@pytest.mark.parametrize(("theirs", "state"), [(5, "holds"), (4, "fails")])
def test_one_round_of_counts_decides(theirs: float, state: str) -> None:
    sides = (side("engine", 1), side("playwright", theirs))
    counted = Measurement("click", "once", unit="instructions", sides=sides)
    assert judge(FIVE_TIMES, report(counted)).state == state


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
        "| click: once: at least 2 times better than playwright | **not reached** | 1.00 (1.00 to 1.00) times better, 2.00 aimed at (8 rounds) | the law of nature |"
    ]
    reached = judge_all(report(click(1, 2)), (TWICE,))
    assert goals_table(reached)[2:] == [
        "| click: once: at least 2 times better than playwright | reached | 2.00 (2.00 to 2.00) times better, 2.00 aimed at |  |"
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
                side("engine", *[3] * 8),
                side("engine: by role and name", *[3] * 8),
                *(side(each, *[theirs] * 8) for each in ("playwright", "pydoll", "engine: by ref")),
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


@pytest.mark.parametrize(
    ("figure", "sides"),
    [
        ("actions: hover", {"engine", "playwright"}),
        ("actions: click on tab 20 of 20", {"engine"}),
        ("actions: click on tab 1 of 20", {"engine"}),
        ("hung_evaluate: given up on, after the deadline", {"engine"}),
        ("throughput: 1 session, 1 in flight each", set()),
    ],
)
def test_a_check_measures_only_the_sides_of_guarantees(figure: str, sides: set[str]) -> None:
    assert check.asked_sides(figure) == sides


def hovers(*theirs: float, seconds: float = 10.0) -> Report:
    sides = (side("engine", *(1 for _ in theirs)), side("playwright", *theirs))
    figure = Measurement("actions", "hover", unit="ms", sides=sides)
    return attrs.evolve(report(figure), seconds=seconds)


HOVER = tuple(each for each in PROMISES if each.figure == "actions: hover" and each.over)


@pytest.fixture
def only_hover(monkeypatch: pytest.MonkeyPatch) -> None:
    """Judge one promise: a hover is five times faster than Playwright's."""
    monkeypatch.setattr(check, "judge_all", lambda report: judge_all(report, HOVER))


@pytest.mark.usefixtures("only_hover")
@pytest.mark.parametrize(
    ("rounds", "asked", "state"),
    [
        ([(9, 9, 9, 9)], 1, "holds"),
        ([(9, 1, 9, 9), (9, 9, 9, 9)], 2, "holds"),
        ([(1, 1, 1, 1), (1, 1, 1, 1)], 2, "fails"),
        ([(1, 1, 1, 1), (1, 9, 1, 9), (1, 1, 1, 1), (1, 1, 1, 1)], 4, "fails"),
        ([(1, 9, 1, 9)] * 4, 4, "unknown"),
    ],
)
def test_an_undecided_case_is_repeated_and_its_rounds_are_added(
    rounds: list[tuple[float, ...]], asked: int, state: str, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = iter([hovers(*each) for each in [*rounds, *rounds]])
    names: list[Sequence[str]] = []

    def take(cases: Sequence[str]) -> Report:
        names.append(cases)
        return next(taken)

    made = check.measure_until_decided(take, ["actions"])
    (verdict,) = judge_all(made, HOVER)
    assert (len(names), verdict.state) == (asked, state)
    assert len(made.measurements[0].sides[0].turns) == 4 * asked
    assert ("measured again, because a promise is undecided: actions" in capsys.readouterr().err) == (
        asked > 1
    )


@pytest.mark.usefixtures("only_hover")
def test_no_case_is_repeated_after_the_limit_of_the_check() -> None:
    made = hovers(9, 1, 9, 1, seconds=check.LIMIT - 5)
    assert check.next_undecided(made, Counter()) == ""
    assert check.next_undecided(attrs.evolve(made, seconds=0), Counter()) == "actions"
    assert check.next_undecided(attrs.evolve(made, seconds=0), Counter(actions=3)) == ""


@pytest.mark.usefixtures("only_hover")
@pytest.mark.parametrize(("theirs", "status"), [((9, 1, 9, 1), 0), ((9, 9, 9, 9), 0), ((1,) * 8, 1), ((), 1)])
def test_an_unknown_promise_is_no_failure(
    theirs: tuple[float, ...],
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(check, "measured", lambda _names: hovers(*theirs, seconds=check.LIMIT))
    assert check.main(["actions"]) == status
    assert ("No promise fails." in capsys.readouterr().out) == (status == 0)


def test_repeated_cases_keep_those_that_were_not_repeated() -> None:
    other = Measurement("events", "once", unit="ms", sides=(side("engine", 1),))
    first, later = report(click(1, 1), other), report(click(1, 2))
    merged = check.with_rounds_of(first, later)
    assert [each.name for each in merged.measurements] == ["click: once", "events: once"]
    assert [len(each.sides[0].turns) for each in merged.measurements] == [16, 1]
    assert [case.name for case in merged.cases] == ["click", "events"]
    assert merged.seconds == first.seconds + later.seconds
