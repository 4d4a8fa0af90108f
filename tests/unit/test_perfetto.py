"""A recording as a trace: checked by a strict reader of the format, and by its contents."""

from __future__ import annotations

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from recorded import HEADER, Recorded, small
from trace_checker import check_trace

from cdpengine._protocol.instruments import Span
from cdpengine.debug.reading.perfetto import ACTIONS, LONGEST, MOST_FLOWS, trace_document
from cdpengine.debug.recording_format import Line


def traced(lines: list[Line]) -> list[dict[str, Any]]:
    document = json.loads(b"".join(trace_document(HEADER, lines)))
    assert check_trace(document) == []
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


def of(events: list[dict[str, Any]], phase: str, name: str = "") -> list[dict[str, Any]]:
    return [event for event in events if event["ph"] == phase and (not name or event["name"] == name)]


def names(events: list[dict[str, Any]]) -> dict[int, str]:
    """Return the names of processes and of threads by their numbers. No number may be used twice."""
    processes = {event["pid"]: event["args"]["name"] for event in of(events, "M", "process_name")}
    return processes | {event["tid"]: event["args"]["name"] for event in of(events, "M", "thread_name")}


def test_sessions_are_tracks_calls_slices_events_instants() -> None:
    events = traced(small().lines)
    named = names(events)
    assert sorted(named.values()) == [
        "5E55 page https://example.com/", "actions", "actions", "actions (2)", "browser", "calls", "calls", "events",
        "events",
    ]  # fmt: skip
    (navigate,) = of(events, "B", "Page.navigate")
    assert (named[navigate["pid"]], named[navigate["tid"]]) == ("5E55 page https://example.com/", "calls")
    (end,) = [e for e in of(events, "E") if e["tid"] == navigate["tid"] and e["ts"] == 255_000]
    assert navigate["ts"] == 4_000
    assert json.loads(end["args"]["result"]) == {"frameId": "7A26", "loaderId": "10AD"}
    (instant,) = of(events, "i", "Page.frameStartedLoading")
    assert (instant["pid"], named[instant["tid"]], instant["s"]) == (navigate["pid"], "events", "t")


def test_actions_are_slices_with_flows_to_their_calls() -> None:
    events = traced(small().lines)
    assert [(e["name"], e["ts"]) for e in of(events, "B") if e["pid"] == ACTIONS] == [
        ("page.goto https://example.com/", 4_000),
        ("page.click e7", 257_000),
    ]
    session = of(events, "B", "Page.navigate")[0]["pid"]
    caused = [
        (s["pid"], f["pid"], f["ts"])
        for s, f in zip(of(events, "s", "caused"), of(events, "f", "caused"), strict=True)
    ]
    assert caused == [(ACTIONS, session, 4_000), (ACTIONS, session, 257_000)]


def test_flows_lead_from_a_call_to_the_events_before_its_reply() -> None:
    events = traced(small().lines)
    (flow,) = of(events, "f", "meanwhile")
    (instant,) = of(events, "i", "Page.frameStartedLoading")
    assert (flow["pid"], flow["tid"], flow["ts"]) == (instant["pid"], instant["tid"], instant["ts"])


def test_overlapping_calls_are_on_several_threads() -> None:
    recorded = Recorded()
    numbers = [recorded.call("A.b", n=n) for n in range(3)]
    for number in (numbers[1], numbers[0], numbers[2]):
        recorded.reply(number)
    recorded.exchange("A.c")
    events = traced(recorded.lines)
    named = names(events)
    assert [named[event["tid"]] for event in of(events, "B")] == ["calls", "calls (2)", "calls (3)", "calls"]


def test_a_failed_action_names_its_error() -> None:
    recorded = Recorded()
    recorded.exchange("A.b", span=Span(1, "one"))
    recorded.end_action(Span(1, "one"), "StaleRefError")
    (end,) = [event for event in of(traced(recorded.lines), "E") if event["pid"] == ACTIONS]
    assert end["args"] == {"failed": "StaleRefError"}


def test_concurrent_actions_are_on_several_threads() -> None:
    recorded = Recorded()
    one, two, three = Span(1, "one"), Span(2, "two"), Span(3, "three")
    number = recorded.call("A.b", span=one)
    recorded.exchange("A.b", span=two)
    recorded.reply(number)
    recorded.end_action(one)
    recorded.exchange("A.b", span=three)
    recorded.exchange("A.late", span=one)
    for span in (two, three):
        recorded.end_action(span)
    events = traced(recorded.lines)
    assert [(e["name"], names(events)[e["tid"]]) for e in of(events, "B") if e["pid"] == ACTIONS] == [
        ("one", "actions"),
        ("two", "actions (2)"),
        ("three", "actions"),
    ]
    # They last until the recorded end. Later commands have no flow from them.
    assert [e["ts"] for e in of(events, "E") if e["pid"] == ACTIONS] == [5_000, 10_000, 11_000]
    assert len(of(events, "s", "caused")) == 3


def test_an_action_without_a_recorded_end_lasts_until_its_last_reply() -> None:
    recorded = Recorded()
    recorded.exchange("A.b", span=Span(1, "one"))
    recorded.exchange("A.c")
    assert [e["ts"] for e in of(traced(recorded.lines), "E") if e["pid"] == ACTIONS] == [2_000]


def test_a_call_without_a_reply_is_marked() -> None:
    recorded = Recorded()
    recorded.attach("5E55", "7A26")
    recorded.call("A.b", "5E55")
    recorded.call("A.c")
    recorded.event("Target.detachedFromTarget", sessionId="5E55")
    recorded.exchange("A.d")
    events = traced(recorded.lines)
    assert [e["args"]["reply"] for e in of(events, "E") if "reply" in e["args"]] == [
        "none: the session ended",
        "none until the end of the recording",
    ]


def test_losses_and_strays_are_shown() -> None:
    recorded = Recorded()
    recorded.stray("what?")
    recorded.lost(5)
    recorded.reply(77)
    names = [e["name"] for e in of(traced(recorded.lines), "i")]
    assert names == ["(no message)", "5 messages lost", "reply to an unknown call"]


def test_http_requests_are_shown() -> None:
    (event,) = of(traced([Line(k="http", m="PUT", url="/json/new", status=200)]), "i")
    assert (event["name"], event["args"]) == ("PUT /json/new", {"status": 200})


def test_payloads_and_flows_are_bounded() -> None:
    recorded = Recorded()
    number = recorded.call("A.b", data="x" * 10_000)
    for _ in range(MOST_FLOWS + 10):
        recorded.event("B.c")
    recorded.reply(number)
    events = traced(recorded.lines)
    assert len(of(events, "f", "meanwhile")) == MOST_FLOWS
    assert len(of(events, "B")[0]["args"]["params"]) < LONGEST + 50


@pytest.mark.parametrize(("broken", "what"), [
    ({"ph": "E", "ts": 5, "pid": 1, "tid": 1}, "an end without"),
    ({"ph": "X", "ts": 5, "pid": 1, "tid": 1}, "no event"),
    ({"ph": "i", "ts": 5, "pid": 9, "tid": 9, "name": "a", "cat": "b", "s": "t", "args": {}}, "has no name"),
    ({"ph": "i", "ts": 5.5, "pid": 1, "tid": 1, "name": "a", "cat": "b", "s": "t", "args": {}}, "numbers"),
    ({"ph": "s", "ts": 0, "pid": 1, "tid": 1, "name": "a", "cat": "b", "id": 999}, "outside of any slice"),
    ({"ph": "B", "ts": 5, "pid": 1, "tid": 1, "name": "a", "cat": "b", "args": {}}, "does not end"),
])  # fmt: skip
def test_the_checker_finds_invalid_traces(broken: dict[str, Any], what: str) -> None:
    document = json.loads(b"".join(trace_document(HEADER, small().lines)))
    document["traceEvents"].append(broken)
    assert what in "; ".join(check_trace(document))


@given(st.lists(st.builds(
    Line, k=st.sampled_from(["call", "reply", "error", "event", "stray", "target", "span", "span-end", "lost", "end"]),
    t=st.integers(-1, 9).map(lambda n: n / 1000), n=st.integers(1, 99), m=st.sampled_from(["", "A.b", "Target.detachedFromTarget"]),
    id=st.none() | st.integers(0, 3), span=st.integers(0, 3), s=st.sampled_from(["", "5E55"]), c=st.sampled_from(["a", "b"]),
    name=st.just("x"),
), max_size=30))  # fmt: skip
def test_whatever_the_lines_are_the_trace_is_right(lines: list[Line]) -> None:
    traced(lines)
