"""The forecast of an accessibility tree's cost: close to the measurements, and never far below them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cdpengine._snapshot.sources.source_choice import Probe, choose, forecast_ax

# elements, links, fragments without a target, seconds measured (Chromium 156, first call on the document)
MEASURED = [
    (4_003, 4_000, 0, 0.313),
    (4_003, 0, 0, 0.146),
    (16_003, 0, 0, 0.920),
    (1_003, 1_000, 1_000, 0.233),
    (2_003, 2_000, 2_000, 0.304),
    (4_003, 4_000, 4_000, 0.746),
    (8_003, 8_000, 8_000, 2.188),
    (12_003, 4_000, 4_000, 1.433),
    (17_003, 1_000, 1_000, 1.082),
    (8_003, 8_000, 0, 0.625),
    (20_003, 20_000, 20_000, 16.0),
    (20_003, 20_000, 0, 1.8),
]


@pytest.mark.parametrize(("elements", "links", "fragments", "seconds"), MEASURED)
def test_the_forecast_is_within_a_factor_of_the_measurement(
    elements: int, links: int, fragments: int, seconds: float
) -> None:
    expected = forecast_ax(Probe(elements=elements, links=links, fragments=fragments))
    assert 0.4 * seconds < expected < 2.5 * seconds


@pytest.mark.parametrize(
    ("probe", "seconds", "source", "reason"),
    [
        (Probe(elements=10, computed=True), 0.001, "computed", "inside the page"),
        (
            Probe(elements=20_000, links=20_000, fragments=20_000, computed=True),
            10,
            "computed",
            "inside the page",
        ),
        (Probe(elements=1_000, links=200), 5, "ax", "does not offer"),
        (Probe(elements=20_000, links=20_000, fragments=20_000), 10, "dom", "20000 links to fragments"),
        (Probe(elements=20_000, links=20_000), 10, "ax", "does not offer"),
        (Probe(elements=400_000), 10, "dom", "400000 elements"),
        (Probe(elements=400_000), math.inf, "ax", "does not offer"),
    ],
)
def test_the_source_follows_from_the_forecast(probe: Probe, seconds: float, source: str, reason: str) -> None:
    chosen, why = choose(probe, seconds)
    assert chosen == source
    assert reason in why


COUNTS = st.integers(0, 10**6)


@given(COUNTS, COUNTS, COUNTS, COUNTS)
def test_more_of_anything_never_costs_less(elements: int, links: int, fragments: int, more: int) -> None:
    links = min(links, elements)
    fragments = min(fragments, links)
    least = forecast_ax(Probe(elements=elements, links=links, fragments=fragments))
    assert 0 < least <= forecast_ax(Probe(elements=elements + more, links=links, fragments=fragments))
    assert least <= forecast_ax(Probe(elements=elements + more, links=links + more, fragments=fragments))
    assert least <= forecast_ax(
        Probe(elements=elements + more, links=links + more, fragments=fragments + more)
    )
