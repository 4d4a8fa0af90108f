"""Comparing two recordings: the shortest edit path, normalized payloads, and the definition of a difference."""

from __future__ import annotations

import json
from collections.abc import Callable

import hypothesis.strategies as st
import pytest
from hypothesis import given
from recorded import Recorded, small

from cdpengine.debug.normalization import LONGEST, normalize_payload
from cdpengine.debug.reading import compare as module
from cdpengine.debug.reading.compare import Commands, Comparison, Conduct, compare, steps_between
from cdpengine.debug.recording_format import Line

few = st.lists(st.integers(0, 3), max_size=14)


@given(few, few)
def test_the_steps_lead_from_one_to_the_other(old: list[int], new: list[int]) -> None:
    steps = steps_between(old, new, most=100)
    assert steps is not None
    assert [old[at] for what, at in steps if what != "new"] == old
    assert [(new if what == "new" else old)[at] for what, at in steps if what != "gone"] == new


@given(few, few)
def test_no_path_is_shorter(old: list[int], new: list[int]) -> None:
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, a in enumerate(old, 1):
        for j, b in enumerate(new, 1):
            table[i][j] = table[i - 1][j - 1] + 1 if a == b else max(table[i - 1][j], table[i][j - 1])
    steps = steps_between(old, new, most=100)
    assert steps is not None
    assert sum(what == "same" for what, _ in steps) == table[-1][-1]


def test_very_different_recordings_are_abandoned() -> None:
    assert steps_between([1] * 60, [2] * 60, most=100) is None
    assert steps_between([1] * 50, [2] * 50, most=100) is not None


def test_long_sequences_with_few_differences_are_cheap() -> None:
    # Quadratic time would not end.
    old = [n % 7 for n in range(200_000)]
    new = [*old[:500], 9, *old[500:150_000], *old[150_003:]]
    steps = steps_between(old, new, most=500)
    assert steps is not None
    assert sum(what != "same" for what, _ in steps) == 4


@pytest.mark.parametrize(("payload", "text"), [
    (b"", "{}"),
    (b'{"b": 1, "a": [true, null]}', '{"a":[true,null],"b":1}'),
    (b'{"frameId": "AB", "nodeIds": [1, 2], "id": 7, "width": 5}', '{"frameId":"<id>","id":"<id>","nodeIds":["<id>","<id>"],"width":5}'),
    (b'{"timestamp": 1.5, "timeout": 29.97, "x": 1.5}', '{"timeout":"<time>","timestamp":"<time>","x":1.5}'),
    (b'{"timeout": "30", "timestamp": "a"}', '{"timeout":"30","timestamp":"a"}'),
    (b'{"await": 900, "patience": 899, "x": {"milliseconds": 15.5}}', '{"await":"<time>","patience":"<time>","x":{"milliseconds":"<time>"}}'),
    (b'{"await": true}', '{"await":true}'),
    (b'{"url": "http://127.0.0.1:4711/a?b=1"}', '{"url":"http://127.0.0.1:<port>/a?b=1"}'),
    (b'{"value": "0123456789abcdef0123456789ABCDEF!"}', '{"value":"<id>!"}'),
    (b'{"value": "blob:https://a/01234567-89ab-cdef-0123-456789abcdef"}', '{"value":"blob:https://a/<id>"}'),
    (b'{"objectGroup": "client-17", "name": "client-17"}', '{"name":"client-17","objectGroup":"client-<id>"}'),
    (b'{"objectId": {"kept": 1}}', '{"objectId":{"kept":1}}'),
    (b"{no", "<no JSON>"),
])  # fmt: skip
def test_a_normalized_payload_omits_values_that_differ_from_run_to_run(payload: bytes, text: str) -> None:
    assert normalize_payload(payload) == text


def test_a_normalized_payload_is_bounded() -> None:
    assert len(normalize_payload(json.dumps({"a": "x" * 10 * LONGEST}).encode())) == LONGEST


def compared(first: list[Line], second: list[Line]) -> Comparison:
    commands = Commands()
    conducts = [Conduct(commands), Conduct(commands)]
    for conduct, lines in zip(conducts, (first, second), strict=True):
        conduct.add_all(lines)
    return compare(conducts[0], conducts[1], commands)


def run(
    change: Callable[[Recorded], None] = lambda _: None, *, session: str = "5E55", target: str = "7A26"
) -> list[Line]:
    """Return a run of a program with its own ids, and a change in the middle."""
    recorded = Recorded(connection=f"ws://127.0.0.1:{len(session)}")
    recorded.attach(session, target)
    for n in range(10):
        recorded.exchange("Step", session, n=n, after=0.01)
    change(recorded)
    recorded.exchange("Page.navigate", session, url="https://example.com/", frameId=target)
    recorded.event("Page.loadEventFired", session, timestamp=1.0)
    return recorded.end().lines


def test_two_runs_of_one_program_are_the_same() -> None:
    comparison = compared(run(), run(session="0THER", target="E15E"))
    assert comparison.same
    assert compared(small().lines, small().lines).same


@pytest.mark.parametrize(("change", "marks"), [
    (lambda r: r.exchange("DOM.enable", "5E55"), ["+DOM.enable {}"]),
    (lambda r: r.exchange("Step", "5E55", n=4), ['+Step {"n":4}']),
])  # fmt: skip
def test_a_command_more(change: Callable[[Recorded], None], marks: list[str]) -> None:
    (role,) = compared(run(), run(change)).roles
    assert role.role == "page 1"
    assert role.changes is not None
    assert [
        each.mark + each.command for each in role.changes if each.mark in ("+", "-") and each.mark
    ] == marks
    assert role.changes[0].command == "8 the same"
    assert not compared(run(change), run()).same


def test_another_order_of_commands_is_reported() -> None:
    def change(recorded: Recorded) -> None:
        recorded.exchange("First", "5E55")
        recorded.exchange("Second", "5E55")

    def changed(recorded: Recorded) -> None:
        recorded.exchange("Second", "5E55")
        recorded.exchange("First", "5E55")

    (role,) = compared(run(change), run(changed)).roles
    assert len(role.moved) == 1
    assert role.moved[0] in ("First {}", "Second {}")


def test_a_refusal_is_a_difference() -> None:
    (role,) = compared(
        run(lambda r: r.exchange("A.b", "5E55")), run(lambda r: r.refuse(r.call("A.b", "5E55"), "5E55"))
    ).roles
    assert role.changes == ()
    assert role.refusals == (("A.b: no [-32000]", 0, 1),)


def test_kinds_of_events_make_a_difference_and_their_numbers_do_not() -> None:
    def noisy(recorded: Recorded) -> None:
        for _ in range(3):
            recorded.event("Page.loadEventFired", "5E55")

    comparison = compared(run(), run(noisy))
    assert comparison.same
    assert next(each for each in comparison.counts if each.method == "Page.loadEventFired").counts == (1, 4)
    (role,) = compared(run(), run(lambda r: r.event("Log.entryAdded", "5E55"))).roles
    assert role.events == (("Log.entryAdded", 0, 1),)


def test_sessions_that_only_one_has() -> None:
    def second_page(recorded: Recorded) -> None:
        recorded.attach("5E56", "7A27")
        recorded.exchange("A.b", "5E56")

    comparison = compared(run(second_page), run())
    assert (comparison.only_first, comparison.only_second) == (("page 2",), ())
    assert not comparison.same


def test_two_sessions_of_one_page_have_a_role_each() -> None:
    def second_session(recorded: Recorded) -> None:
        recorded.attach("5E56", "7A26")
        recorded.exchange("A.b", "5E56")

    assert compared(run(second_session), run()).only_first == ("page 1, session 2",)


def test_durations_are_compared_as_a_ratio() -> None:
    def slow(recorded: Recorded) -> None:
        recorded.exchange("A.b", "5E55", after=0.4)

    comparison = compared(run(lambda r: r.exchange("A.b", "5E55", after=0.1)), run(slow))
    assert comparison.same
    (count,) = [each for each in comparison.counts if each.method == "A.b"]
    assert count.ratio == pytest.approx(4, rel=0.03)


def test_where_too_much_differs_the_first_difference_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_DIFFERENCES", 2)

    def other(recorded: Recorded) -> None:
        for n in range(5):
            recorded.exchange("Other", "5E55", n=n)

    (role,) = compared(run(), run(other)).roles
    assert role.changes is None
    assert role.first == ('Page.navigate {"frameId":"<id>","url":"https://example.com/"}', 'Other {"n":0}')
