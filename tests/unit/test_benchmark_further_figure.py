"""Additional figures of rounds, and first rounds that warm up."""

from __future__ import annotations

import trio

from benchmarks.cases.further_figure import FurtherFigure
from benchmarks.cases.warming import few_first
from benchmarks.harness.bench import Bench
from benchmarks.harness.figures import Measurement, SideFigures
from benchmarks.harness.peers import PeerGroup

TAKEN = Measurement(
    "hung",
    "the click",
    unit="ms",
    sides=(
        SideFigures("engine", [[5.0], [6.0]]),
        SideFigures("playwright", cannot="the page is lost"),
        SideFigures("selenium", [[9.0], [8.0]]),
    ),
)


def test_an_additional_figure_belongs_to_the_rounds_that_count() -> None:
    late = FurtherFigure()
    for value in (70.0, 3.0, 4.0):  # the first one warmed up
        late.add("engine", [value])
    late.add("playwright", 1.0)
    assert late.of(TAKEN) == (
        SideFigures("engine", [[3.0], [4.0]]),
        SideFigures("playwright", cannot="the page is lost"),
    )


def test_a_side_without_an_expected_figure_is_marked() -> None:
    late = FurtherFigure("does not say when")
    late.add("engine", 3.0)
    late.add("selenium", [])
    assert late.of(TAKEN)[2] == SideFigures("selenium", cannot="does not say when")


def test_a_figure_by_the_way_is_recorded_as_a_measurement() -> None:
    async def main() -> None:
        async with trio.open_nursery() as nursery:
            group = PeerGroup((), "chrome", (), "http://127.0.0.1", nursery)
            bench = Bench("chrome", (), "http://127.0.0.1", group)
            late = FurtherFigure()
            late.add("engine", 3.0)
            made = late.record(bench, TAKEN, variant="late", unit="ms", size=2, curve="lateness")
            assert bench.measurements == [made]
            assert (made.case, made.variant, made.unit, made.size, made.curve) == (
                "hung",
                "late",
                "ms",
                2,
                "lateness",
            )

    trio.run(main)


def test_the_first_turn_does_little_and_all_others_the_whole() -> None:
    done: list[int] = []

    async def turn(count: int) -> float:
        done.append(count)
        return float(count)

    async def main() -> None:
        warming = few_first(turn, 5, 100)
        for _ in range(3):
            await warming()

    trio.run(main)
    assert done == [5, 100, 100]
