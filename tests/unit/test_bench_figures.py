"""Figures of a browser: medians, percentiles, and explanations of a slow one."""

from __future__ import annotations

import math

import pytest

from cdpengine.bench import BenchReport, Figure, Unit, advise, show

GOOD: dict[str, tuple[Unit, tuple[float, ...], str]] = {
    "connect": ("ms", (0.1, 0.1, 0.2), ""),
    "round trip, browser": ("ms", (0.2, 0.2, 0.3), ""),
    "round trip, page": ("ms", (0.3, 0.4, 0.5), ""),
    "throughput 1 x 1": ("calls/s", (2700,), ""),
    "throughput 10 x 5": ("calls/s", (7000,), ""),
    "events": ("events/s", (20000,), "20,000 console messages"),
    "snapshot": ("ms", (3,), "100 lines, 200 nodes, by computed"),
}


def report(
    changed: dict[str, tuple[Unit, tuple[float, ...], str]] | None = None,
    *,
    load: float | None = 0.2,
    local: bool = True,
) -> BenchReport:
    figures = tuple(
        Figure(name, unit, values, detail)
        for name, (unit, values, detail) in {**GOOD, **(changed or {})}.items()
    )
    return BenchReport("Chrome/156", "127.0.0.1:9222", local, load, figures)


def test_the_median_and_the_95th_percentile_of_a_figure() -> None:
    values = [float(number) for number in range(1, 101)]
    slow, fast = Figure("a", "ms", values), Figure("b", "calls/s", values)
    assert (slow.median, slow.p95) == (50.5, 95)
    assert fast.p95 == 6, "fewer a second is worse"
    none = Figure("c", "ms", cannot="it did not end within 1 s")
    assert math.isnan(none.median)
    assert math.isnan(none.p95)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.31249, "0.312"),
        (7.414, "7.41"),
        (66.94, "66.9"),
        (654.3, "654"),
        (12912.3, "12,912"),
        (0, "0"),
        (math.nan, ""),
    ],
)
def test_three_digits_count(value: float, text: str) -> None:
    assert show(value) == text


def test_a_healthy_browser_has_no_remarks() -> None:
    assert advise(report()) == []
    assert advise(BenchReport("Chrome/156", "a pipe", True, None, ())) == [], "nothing was measured"


@pytest.mark.parametrize(
    ("changed", "remark"),
    [
        (
            {"connect": ("ms", (30.0,), ""), "round trip, browser": ("ms", (31.0,), "")},
            "far away: 30.0 ms to connect, of 31.0 ms",
        ),
        ({"round trip, browser": ("ms", (9.0,), "")}, "process takes 9.00 ms"),
        ({"round trip, browser": ("ms", (*[0.2] * 9, 90.0), "")}, "uneven"),
        ({"round trip, page": ("ms", (5.0,), "")}, "A page answers after 5.00 ms"),
        ({"throughput 10 x 5": ("calls/s", (2800.0,), "")}, "one message at a time"),
        ({"events": ("events/s", (9000.0,), "20,000 console messages, 12 lost")}, "12 lost"),
        ({"snapshot": ("ms", (30.0,), "100 lines, 200 nodes, by ax")}, "ComputedAccessibilityInfo"),
    ],
)
def test_each_reason_is_named_and_no_other(
    changed: dict[str, tuple[Unit, tuple[float, ...], str]], remark: str
) -> None:
    (words,) = advise(report(changed))
    assert remark in words


def test_a_busy_machine_counts_only_where_the_browser_runs_on_it() -> None:
    (words,) = advise(report(load=2.0))
    assert "busy" in words
    assert advise(report(load=2.0, local=False)) == []
    assert advise(report(load=None)) == []
