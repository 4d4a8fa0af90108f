"""Faults as strings and as data, and the messages that they apply to."""

from __future__ import annotations

import json

import pytest

from cdpengine.debug.faults import ACTIONS, Fault, FaultInjector, Faults, parse_fault, parse_faults, refusal
from cdpengine.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("drop:Page.loadEventFired", Fault("drop", "Page.loadEventFired")),
        ("drop:Page.*:3+", Fault("drop", "Page.*", first=3)),
        ("delay:*@any:*:250", Fault("delay", "*", "any", milliseconds=250)),
        ("delay:Page.navigate", Fault("delay", "Page.navigate", milliseconds=100)),
        ("duplicate:A.b@reply:2", Fault("duplicate", "A.b", "reply", 2, 2)),
        ("truncate:A.b@event:1:40", Fault("truncate", "A.b", "event", 1, 1, characters=40)),
        (
            "error:Page.navigate:2:-32000:no",
            Fault("error", "Page.navigate", "call", 2, 2, code=-32000, message="no"),
        ),
        ("error:A.b:*:-1:a: b", Fault("error", "A.b", "call", code=-1, message="a: b")),
        ("cut:A.b:1", Fault("cut", "A.b", first=1, last=1)),
    ],
)
def test_a_fault_is_read_and_written(text: str, fault: Fault) -> None:
    assert parse_fault(text) == fault
    assert parse_fault(str(fault)) == fault


@pytest.mark.parametrize(
    "text",
    [
        "", "explode:A.b", "drop", "drop:", "drop:A b", "drop:A.b@answer", "drop:A.b:0", "drop:A.b:x", "drop:A.b:1:2",
        "delay:A.b:1:soon", "delay:A.b:1:-5", "delay:A.b:1:nan", "delay:A.b:1:inf", "truncate:A.b:1:1.5",
        "error:A.b@reply:1", "error:A.b:1:x:no", "duplicate:A.b:1:2",
    ],
)  # fmt: skip
def test_an_invalid_fault_gives_the_reason(text: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        parse_fault(text)
    assert repr(text) in str(caught.value)


def test_every_action_can_be_read() -> None:
    for action in ACTIONS:
        assert parse_fault(f"{action}:A.b").action == action


def test_a_file_has_comments_and_empty_lines() -> None:
    lines = ["# all of it", "", "drop:A.b:1", "  cut:C.d:2  "]
    assert [str(fault) for fault in parse_faults(lines)] == ["drop:A.b:1", "cut:C.d:2"]


def test_a_fault_counts_the_matching_messages() -> None:
    injector = FaultInjector(["drop:Page.*:2"])
    assert injector.decide("call", "Page.navigate") is None
    assert injector.decide("call", "Network.enable") is None
    assert injector.decide("reply", "Page.navigate") is None  # it has no name on the wire
    due = injector.decide("event", "Page.loadEventFired")
    assert due is not None
    assert due.action == "drop"
    assert injector.decide("call", "Page.reload") is None
    assert Faults(injector).made(1) == 1


def test_the_first_due_fault_applies_and_all_count() -> None:
    injector = FaultInjector(["drop:A.b:2", "cut:A.b:1+"])
    made = [injector.decide("call", "A.b") for _ in range(3)]
    assert [fault.action for fault in made if fault] == ["cut", "drop", "cut"]


def test_faults_come_and_go() -> None:
    injector = FaultInjector()
    faults = Faults(injector)
    assert not faults
    number = faults.add("drop:A.b")
    assert faults.add(Fault("cut", "C.d")) != number
    assert [fault.action for fault in faults] == ["drop", "cut"]
    faults.remove(number)
    assert injector.decide("call", "A.b") is None
    with pytest.raises(InvalidArgumentError):
        faults.remove(number)
    faults.clear()
    assert not faults


def test_a_refusal_goes_to_the_session_of_its_call() -> None:
    fault = parse_fault("error:A.b:1:-5:no")
    assert json.loads(refusal(3, "S", fault)) == {
        "id": 3,
        "error": {"code": -5, "message": "no"},
        "sessionId": "S",
    }
    assert "sessionId" not in json.loads(refusal(3, None, fault))
