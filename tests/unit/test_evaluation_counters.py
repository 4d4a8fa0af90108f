"""Counters of evaluations: their quantiles."""

from __future__ import annotations

import pytest

from cdpengine._evaluate.evaluation import EvaluationCounters


@pytest.mark.parametrize(
    ("seconds", "p50", "p95"),
    [
        ([], None, None),
        ([4], 4, 4),
        ([1, 100], 50.5, 100),
        ([3, 1, 2], 2, 3),
        (range(1, 20), 10, 19),
        (range(1, 21), 10.5, 19),
        (range(1, 101), 50.5, 95),
    ],
)
def test_quantiles_are_right_for_few_values(
    seconds: list[float], p50: float | None, p95: float | None
) -> None:
    counters = EvaluationCounters()
    for each in seconds:
        counters.answered(each, threw=False)
    found = counters.statistics({})
    assert (found.p50, found.p95) == (p50, p95)
