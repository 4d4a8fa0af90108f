"""The figures of a recording: quantiles within their precision, counts, gaps, bounds."""

from __future__ import annotations

import math
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from recorded import Recorded, small

from cdpengine._protocol.instruments import Span
from cdpengine.debug.reading import figures as module
from cdpengine.debug.reading.figures import OTHERS, PRECISION, UNKNOWN, Figures, Gap, Quantiles, Tally
from cdpengine.debug.recording_format import Line


def tallied(lines: list[Line]) -> Figures:
    tally = Tally()
    tally.add_all(lines)
    return tally.figures()


@given(
    st.lists(st.floats(0, 1e8), min_size=1, max_size=60), st.sampled_from([0.01, 0.25, 0.5, 0.95, 0.99, 1.0])
)
def test_a_quantile_is_as_near_as_promised(values: list[float], part: float) -> None:
    quantiles = Quantiles()
    for value in values:
        quantiles.add(value)
    exact = sorted(values)[max(1, math.ceil(part * len(values))) - 1]
    found = quantiles.at(part)
    assert found is not None
    assert found == pytest.approx(exact, rel=PRECISION * 1.0001, abs=0.001)
    assert quantiles.most == max(values)


def test_no_values_have_no_quantiles() -> None:
    assert Quantiles().at(0.5) is None


def test_quantiles_take_bounded_memory() -> None:
    quantiles = Quantiles()
    for exponent in range(-30_000, 110_000):
        quantiles.add(10 ** (exponent / 10_000))
    assert len(quantiles._buckets) < 1_700


def test_sent_and_received_messages_are_counted() -> None:
    recorded = small()
    figures = tallied(recorded.lines)
    by_method = {each.method: each for each in figures.methods}
    navigate = by_method["Page.navigate"]
    assert (navigate.counts.calls, navigate.counts.replies, navigate.counts.unanswered) == (1, 1, 0)
    assert navigate.durations is not None
    assert navigate.durations.p50 == pytest.approx(251, rel=0.01)
    assert navigate.durations.most == pytest.approx(251)
    evaluate = by_method["Runtime.evaluate"].counts
    assert (evaluate.calls, evaluate.replies, evaluate.errors, evaluate.unanswered) == (2, 1, 1, 1)
    assert (figures.counts.calls, figures.counts.events, figures.counts.unanswered) == (5, 3, 1)
    assert (figures.messages, figures.actions, figures.strays, figures.gaps) == (12, 2, 0, ())
    lines = recorded.lines
    assert figures.counts.bytes_out == sum(line.z for line in lines if line.d == ">")
    assert figures.counts.bytes_in == sum(line.z for line in lines if line.d == "<")


def test_sessions_are_counted_with_where_they_are() -> None:
    recorded = Recorded()
    recorded.attach("5E55", "7A26", url="about:blank")
    recorded.exchange("A.b", "5E55")
    recorded.event(
        "Target.targetInfoChanged", targetInfo={"targetId": "7A26", "url": "https://example.com/x"}
    )
    recorded.event("Target.targetInfoChanged", targetInfo={"targetId": "7A26", "url": "about:blank"})
    by_session = {each.session: each for each in tallied(recorded.lines).sessions}
    assert by_session["5E55"].url == "https://example.com/x"
    assert (by_session["5E55"].target, by_session["5E55"].type) == ("7A26", "page")
    assert by_session[""].counts.events == 3


@pytest.mark.parametrize(("times", "rate", "busiest"), [
    ([0.1, 0.2, 0.3, 2.1], 2.0, (0, 3)),
    ([0.5, 1.1, 1.2, 1.5], 4.0, (1, 3)),
    ([1.0], None, (1, 1)),
])  # fmt: skip
def test_events_a_second(times: list[float], rate: float | None, busiest: tuple[int, int]) -> None:
    figures = tallied([Line(k="event", m="A.b", t=time, n=n) for n, time in enumerate(times, 1)])
    assert figures.events_per_second == (None if rate is None else pytest.approx(rate))
    assert (figures.busiest_second, figures.busiest_events) == busiest


def test_gaps_noted_by_the_recorder_and_others() -> None:
    recorded = Recorded()
    recorded.exchange("A.b")
    recorded.lost(7)
    recorded.exchange("A.b")
    lines = recorded.lines
    figures = tallied(lines)
    assert (figures.lost, figures.missing) == (7, 0)
    assert figures.gaps == (Gap(0.002, 7, told=True),)
    del lines[1]
    assert tallied(lines).gaps == (Gap(0.002, 1, told=False), Gap(0.002, 7, told=True))


def test_replies_of_unrecorded_calls_answer_nothing() -> None:
    recorded = Recorded()
    recorded.reply(99)
    recorded.call("A.b")
    figures = tallied(recorded.lines)
    assert figures.counts.unanswered == 1
    assert {each.method for each in figures.methods} == {UNKNOWN, "A.b"}


def test_methods_and_sessions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    figures = tallied([Line(k="event", m=f"A.{n}", s=f"S{n}", n=n) for n in range(1, 10)])
    assert len(figures.methods) == len(figures.sessions) == 4
    assert next(each for each in figures.methods if each.method == OTHERS).counts.events == 6


@given(st.lists(st.builds(
    Line, k=st.sampled_from(["call", "reply", "error", "event", "stray", "target", "span", "http", "entered", "lost", "end"]),
    t=st.floats(-5, 1e6), n=st.integers(0, 50), m=st.sampled_from(["", "A.b"]), id=st.none() | st.integers(),
    ms=st.none() | st.floats(0, 1e12), count=st.integers(0, 9),
)))  # fmt: skip
def test_no_order_of_lines_makes_counting_fail(lines: list[Any]) -> None:
    figures = tallied(lines)
    assert figures.counts.events == sum(line.k == "event" for line in lines)


def test_http_requests_are_counted_separately() -> None:
    figures = tallied([Line(k="http", m="GET", url="/json/list", status=200, z=100), Line(k="entered", of=1)])
    assert (figures.http, figures.messages, figures.strays, figures.methods) == (1, 0, 0, ())


def test_an_empty_recording_has_figures_too() -> None:
    assert tallied([]).messages == 0


def test_actions_are_counted_by_their_kind() -> None:
    recorded = Recorded()
    first, second = (Span(number, f"page.click e{number}", began=0.0) for number in (1, 2))
    for span in (first, second):
        recorded.exchange("Input.dispatchMouseEvent", span=span)
    recorded.refuse(recorded.call("DOM.focus", span=second))
    recorded.time = 0.5
    recorded.end_action(first, "NotClickable")
    recorded.exchange("Runtime.evaluate", span=Span(3, "page.evaluate", began=0.5))
    click, evaluate = tallied(recorded.lines).by_action
    assert (click.name, click.count, click.failed) == ("page.click", 2, 1)
    assert (click.unended, click.refused) == (1, 1)
    assert click.durations is not None
    assert click.durations.most == 501
    assert (evaluate.name, evaluate.count, evaluate.unended, evaluate.durations) == (
        "page.evaluate",
        1,
        1,
        None,
    )


def test_actions_without_end_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_ROWS", 3)
    tally = Tally()
    for number in range(10):
        tally.add(Line(k="span", span=number, name=f"page.a{number} e1"))
    assert len(tally._under_way) == 3
    assert sum(each.count for each in tally.figures().by_action) == 10
    assert len(tally.figures().by_action) == 4
