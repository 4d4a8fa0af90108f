"""Figures of the rounds of two sides: medians, ratios by round, quartiles, percentiles."""

from __future__ import annotations

import math
import random
import statistics

import attrs
import pytest
from benchmark_reports import side
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cases.growth import steepness
from benchmarks.harness.bench import Bench, Further, Turn
from benchmarks.harness.confidence import decide, median_range
from benchmarks.harness.figures import (
    LESS_IS_BETTER,
    Measurement,
    Ratio,
    SideFigures,
    Unit,
    differences,
    ratio_of,
    shown,
    worse_end,
)
from benchmarks.harness.peers import Peers
from benchmarks.harness.programs import Cannot

POSITIVE = st.floats(1e-3, 1e6)


def measured(unit: Unit, slow: list[float], fast: list[float]) -> Measurement:
    return Measurement("case", unit=unit, sides=(side("slow", *slow), side("fast", *fast)))


def test_a_side_is_the_median_of_the_medians_of_its_turns() -> None:
    figures = SideFigures("engine", ((1, 2, 300), (4,), (5, 7)))
    assert list(figures.medians) == [2, 4, 6]
    assert figures.median == 4


@pytest.mark.parametrize(
    "figures", [SideFigures("a"), SideFigures("a", ((),)), SideFigures("a", (), "cannot")]
)
def test_a_side_without_values_has_no_figure_and_no_zero(figures: SideFigures) -> None:
    assert not figures.measured
    assert math.isnan(figures.median)
    assert math.isnan(Measurement("case", unit="ms", sides=(figures,)).p95("a"))


@pytest.mark.parametrize(
    ("unit", "slow", "fast"),
    [
        ("ms", [20.0, 30.0, 40.0], [10.0, 10.0, 10.0]),
        ("MB", [20.0, 30.0, 40.0], [10.0, 10.0, 10.0]),
        ("instructions", [20.0, 30.0, 40.0], [10.0, 10.0, 10.0]),
        ("calls/s", [10.0, 10.0, 10.0], [20.0, 30.0, 40.0]),
        ("events/s", [10.0, 10.0, 10.0], [20.0, 30.0, 40.0]),
    ],
)
def test_a_ratio_above_one_is_better_whatever_the_unit(
    unit: Unit, slow: list[float], fast: list[float]
) -> None:
    assert measured(unit, slow, fast).ratio("slow", "fast") == Ratio(3.0, 2.0, 4.0, 3)


def test_a_ratio_compares_one_round_and_cancels_common_noise() -> None:
    found = measured("ms", [20, 200, 2, 40], [10, 100, 1, 20]).ratio("slow", "fast")
    assert found == Ratio(2.0, 2.0, 2.0, 4)


@given(st.lists(st.tuples(POSITIVE, POSITIVE), min_size=1, max_size=9))
def test_the_reverse_ratio_is_the_reciprocal(pairs: list[tuple[float, float]]) -> None:
    one, other = ratio_of([a / b for a, b in pairs]), ratio_of([b / a for a, b in pairs])
    assert one is not None
    assert other is not None
    assert one.low <= one.median <= one.high
    if len(pairs) % 2:  # the median between two values is not inverted with them
        assert one.median == pytest.approx(1 / other.median)


@pytest.mark.parametrize("sides", [(), (side("slow", 1),), (side("slow", 1), side("fast", cannot="no"))])
def test_no_ratio_without_both_sides(sides: tuple[SideFigures, ...]) -> None:
    assert Measurement("case", unit="ms", sides=sides).ratio("slow", "fast") is None


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan, math.inf])
def test_no_ratio_of_values_that_are_not_positive(value: float) -> None:
    assert measured("ms", [1.0, value], [1.0, 1.0]).ratio("slow", "fast") is None
    assert measured("calls/s", [1.0, 1.0], [value, 1.0]).ratio("slow", "fast") is None


def test_the_percentile_is_towards_the_bad_side() -> None:
    values = [float(number) for number in range(1, 101)]
    assert worse_end(values, less_is_better=True) == 95
    assert worse_end(values, less_is_better=False) == 6
    assert worse_end([7.0], less_is_better=True) == 7
    assert Measurement("case", unit="ms", sides=(side("a", *values),)).p95("a") == 95
    assert Measurement("case", unit="calls/s", sides=(side("a", *values),)).p95("a") == 6


# --- confidence ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, (1, 1)), (3, (1, 3)), (4, (1, 4)), (6, (1, 6)), (7, (2, 6)), (10, (3, 8)), (12, (3, 10))],
)
def test_the_range_of_the_median_narrows_with_the_rounds(count: int, expected: tuple[int, int]) -> None:
    values = [float(number) for number in range(count, 0, -1)]
    assert median_range(values) == expected


@given(st.lists(POSITIVE, min_size=1, max_size=30))
def test_the_range_stays_within_the_values_and_around_the_median(values: list[float]) -> None:
    low, high = median_range(values)
    assert min(values) <= low <= statistics.median(values) <= high <= max(values)


@pytest.mark.parametrize("rounds", [4, 5, 7, 9, 12])
def test_the_range_contains_the_true_median_as_often_as_it_says(rounds: int) -> None:
    chance = random.Random(rounds)
    taken = [median_range([chance.gauss(0, 1) for _ in range(rounds)]) for _ in range(2_000)]
    assert sum(low <= 0 <= high for low, high in taken) > 0.85 * len(taken)


@pytest.mark.parametrize(
    ("kept", "broken", "expected"),
    [
        (0, 0, "unknown"),
        (3, 0, "unknown"),
        (4, 0, "kept"),
        (4, 1, "unknown"),
        (6, 1, "kept"),
        (2, 2, "unknown"),
        (0, 4, "unknown"),
        (0, 6, "unknown"),
        (0, 7, "failed"),
        (1, 7, "unknown"),
        (1, 11, "failed"),
        (8, 4, "unknown"),
        (9, 3, "unknown"),
        (12, 4, "kept"),
    ],
)
def test_few_rounds_leave_a_promise_undecided(kept: int, broken: int, expected: str) -> None:
    assert decide([True] * kept + [False] * broken) == expected


@given(st.lists(POSITIVE, min_size=4, max_size=30), POSITIVE)
def test_a_promise_is_kept_if_the_whole_range_keeps_it(values: list[float], least: float) -> None:
    kept = decide([value >= least for value in values]) == "kept"
    assert kept == (median_range(values)[0] >= least)


def test_the_rounds_of_two_runs_are_one_figure() -> None:
    first, later = measured("ms", [2, 3], [1, 1]), measured("ms", [4], [1])
    found = first.with_rounds_of(later).ratio("slow", "fast")
    assert found == Ratio(3.0, 2.0, 4.0, 3)
    crashed = Measurement("case", unit="ms", sides=(side("slow", cannot="gone"), side("fast", 1)))
    assert first.with_rounds_of(crashed) == first
    assert crashed.with_rounds_of(first) == first


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.31249, "0.312"),
        (7.414, "7.41"),
        (46.26, "46.3"),
        (12_912.3, "12,900"),
        (-2.5, "-2.50"),
        (0.0, "0"),
        (math.nan, "-"),
        (math.inf, "-"),
        (999.96, "1,000"),
    ],
)
def test_three_digits_count(value: float, text: str) -> None:
    assert shown(value) == text


def test_units_are_of_one_kind_or_the_other() -> None:
    assert {"ms", "MB", "bytes", "instructions", "characters", "power"} == LESS_IS_BETTER


@pytest.mark.parametrize(
    ("costs", "power"),
    [((5.0, 50.0), 1.0), ((5.0, 500.0), 2.0), ((7.0, 7.0), 0.0), ((99.0, 1.0, 2.0), 0.301)],
)
def test_steepness_is_the_power_between_the_two_largest_sizes(costs: tuple[float, ...], power: float) -> None:
    curve = {
        10**number: Measurement("growth", "", unit="ms", sides=(side("engine", cost),))
        for number, cost in enumerate(costs)
    }
    assert steepness(curve, "engine") == [pytest.approx(power, abs=0.001)]


def test_differences_are_computed_by_round() -> None:
    sides = (SideFigures("direct", ((1.0,), (2.0,))), SideFigures("proxy", ((1.5,), (2.25,))))
    (more,) = differences(Measurement("proxy", "round trip", unit="ms", sides=sides), "direct")
    assert (more.side, more.medians) == ("proxy", (0.5, 0.25))


def test_values_around_zero_are_not_compared() -> None:
    sides = (SideFigures("engine", ((0.9,),)), SideFigures("playwright", ((9.7,),)))
    grown = Measurement("navigations", "memory grown", unit="MB", sides=sides, compared=False)
    assert grown.ratio("playwright", "engine") is None
    assert attrs.evolve(grown, compared=True).ratio("playwright", "engine") is not None


def bench() -> Bench:
    group = Peers((), "/no/browser", (), "http://127.0.0.1:1")
    return Bench("/no/browser", (), "http://127.0.0.1:1", group, turn_count=3, case="case")


async def test_sides_take_turns_in_rotation_and_the_warm_up_is_not_counted() -> None:
    order: list[str] = []

    def turn(name: str) -> Turn:
        async def take() -> float:
            order.append(name)
            return len(order)

        return take

    found = await bench().turns({name: turn(name) for name in "abc"}, "v", unit="ms")
    rounds = ["".join(order[start : start + 3]) for start in range(0, 12, 3)]
    assert sorted(rounds[0]) == ["a", "b", "c"]
    assert rounds[1:] == ["abc", "bca", "cab"]
    assert [side.turns for side in found.sides] == [
        ((4.0,), (9.0,), (11.0,)),
        ((5.0,), (7.0,), (12.0,)),
        ((6.0,), (8.0,), (10.0,)),
    ]


async def test_sides_that_are_not_asked_take_no_turn() -> None:
    async def take() -> float:
        return 1

    made = attrs.evolve(bench(), asked=lambda name: {"engine"} if name in ("case: v", "case: mb") else ())
    sides = {"engine": take, "pydoll": take}
    further: Further = {"mb": ("mb", "MB")}
    assert [side.side for side in (await made.turns(sides, "v", unit="ms")).sides] == ["engine"]
    assert [side.side for side in (await made.turns(sides, "w", unit="ms", further=further)).sides] == [
        "engine"
    ]
    recorded = len(made.measurements)
    assert not (await made.turns(sides, "other", unit="ms")).sides
    assert len(made.measurements) == recorded


async def test_a_check_has_a_least_number_of_rounds() -> None:
    async def take() -> float:
        return 1

    made = attrs.evolve(bench(), least_rounds=4, until=-math.inf)
    found = await made.turns({"engine": take}, unit="ms", turns=1)
    assert len(found.sides[0].turns) == 4


async def test_further_figures_belong_to_the_same_turns() -> None:
    values = iter(range(1, 9))

    async def engine() -> dict[str, float]:
        return {"values": next(values), "mb": 10 * next(values)}

    async def peer() -> float:
        raise Cannot("has no such thing")

    made = bench()
    await made.turns({"engine": engine, "pydoll": peer}, unit="ms", further={"mb": ("memory", "MB")})
    first, memory = made.measurements
    assert list(first.sides[0].medians) == [3, 5, 7]
    assert list(memory.sides[0].medians) == [40, 60, 80]
    assert (memory.name, memory.sides[1].cannot) == ("case: memory", "has no such thing")


async def test_an_error_of_the_engine_ends_the_case_and_one_of_a_peer_is_its_reason() -> None:
    async def good() -> float:
        return 1

    async def broken() -> float:
        raise KeyError("mb")

    with pytest.raises(KeyError):
        await bench().turns({"engine": broken}, unit="ms")
    found = await bench().turns({"engine": good, "pydoll": broken}, unit="ms")
    assert found.sides[0].turns == ((1.0,),) * 3
    assert found.sides[1].cannot == "KeyError: 'mb'"
