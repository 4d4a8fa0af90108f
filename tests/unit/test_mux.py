"""The mux: no sequence of messages makes it raise or leak, and every call ends exactly once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, rule

from cdpengine._protocol.messages import Call, Envelope, Mux, Reply, Stray
from cdpengine.errors import InvalidArgumentError

SESSIONS: list[str | None] = [None, "A", "B"]

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=8,
)
ENVELOPES = st.fixed_dictionaries(
    {},
    optional={
        "id": st.integers(-2, 20) | JSON_VALUES,
        "method": st.sampled_from(["Page.loadEventFired", "New.event"]) | JSON_VALUES,
        "params": JSON_VALUES,
        "result": JSON_VALUES,
        "error": JSON_VALUES,
        "sessionId": st.sampled_from(["A", "B", "nobody"]) | JSON_VALUES,
        "extra": JSON_VALUES,
    },
)


def dumps(message: object) -> bytes:
    return json.dumps(message).encode()


def open_calls(mux: Mux, *sessions: str | None) -> list[Call]:
    return [mux.open_call("Domain.method", {}, session) for session in sessions]


def test_reply_ends_its_own_call() -> None:
    mux = Mux()
    first, second = open_calls(mux, "A", "A")
    routed = mux.feed(dumps({"id": second.id, "result": {"x": 1}, "sessionId": "A"}))
    assert isinstance(routed, Reply)
    assert routed.call is second
    assert bytes(routed.result) == b'{"x": 1}'
    assert bytes(routed.error) == b""
    assert list(mux.pending.values()) == [first]


def test_error_reply_carries_its_error_raw() -> None:
    mux = Mux()
    (call,) = open_calls(mux, None)
    routed = mux.feed(dumps({"id": call.id, "error": {"code": -32000, "message": "no"}}))
    assert isinstance(routed, Reply)
    assert json.loads(bytes(routed.error)) == {"code": -32000, "message": "no"}


def test_second_reply_is_late() -> None:
    mux = Mux()
    (call,) = open_calls(mux, None)
    message = dumps({"id": call.id, "result": {}})
    assert isinstance(mux.feed(message), Reply)
    assert mux.feed(message) == Stray("late", f"reply {call.id}")
    assert mux.strays == {"late": 1, "unknown": 0, "malformed": 0, "shapeless": 0}


def test_reply_to_a_closed_call_is_late() -> None:
    mux = Mux()
    (call,) = open_calls(mux, None)
    assert mux.close_call(call)
    assert not mux.close_call(call)
    stray = mux.feed(dumps({"id": call.id, "result": {}}))
    assert isinstance(stray, Stray)
    assert stray.kind == "late"


@pytest.mark.parametrize("call_id", [0, -1, 99, 10**40])
def test_reply_with_an_unissued_id_is_unknown(call_id: int) -> None:
    mux = Mux()
    open_calls(mux, None)
    stray = mux.feed(dumps({"id": call_id, "result": {}}))
    assert isinstance(stray, Stray)
    assert stray.kind == "unknown"
    assert len(mux.pending) == 1


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"nonsense",
        b"[]",
        b"null",
        b"17",
        b'{"method":"\xff"}',
        b'{"method":1}',
        b'{"method":"A.b","params":{}',
        b'{"method":"A.b","params":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b"\x00\x01\x02",
    ],
)
def test_malformed_messages_are_named_and_counted(message: bytes | str) -> None:
    mux = Mux()
    stray = mux.feed(message)
    assert isinstance(stray, Stray)
    assert stray.kind == "malformed"
    assert mux.strays["malformed"] == 1


def test_message_that_is_neither_reply_nor_event() -> None:
    mux = Mux()
    stray = mux.feed(b'{"params":{},"id":null,"method":null}')
    assert isinstance(stray, Stray)
    assert stray.kind == "shapeless"


@pytest.mark.parametrize(
    "tail",
    [
        ',"result":{"a":',
        ',"result":{}}garbage',
        ',"sessionId":5}',
        ',"result":' + "[" * 50_000 + "]" * 50_000 + "}",
    ],
)
def test_damaged_reply_with_a_readable_id_ends_its_call(tail: str) -> None:
    mux = Mux()
    first, second = open_calls(mux, None, None)
    routed = mux.feed('{ "id": ' + str(first.id) + tail)
    assert isinstance(routed, Reply)
    assert routed.call is first
    assert routed.damage
    assert list(mux.pending.values()) == [second]
    assert mux.strays["malformed"] == 1


def test_a_damaged_number_ends_no_other_call() -> None:
    mux = Mux()
    open_calls(mux, *[None] * 12)
    assert isinstance(mux.feed(b'{"id":1'), Stray)  # could be the beginning of 12
    assert isinstance(mux.feed(b'{"id":1.5,"result":{}}'), Stray)
    assert isinstance(mux.feed(b'{"id":-1,"result":{'), Stray)
    assert len(mux.pending) == 12


def test_unknown_fields_are_ignored_and_the_payload_stays_raw() -> None:
    mux = Mux()
    routed = mux.feed(
        b'{"brandNew":[1,{"x":null}],"method":"New.event","params":{"a": 1},"sessionId":"A","z":1}'
    )
    assert isinstance(routed, Envelope)
    assert (routed.method, routed.session_id, bytes(routed.params)) == ("New.event", "A", b'{"a": 1}')


def test_ending_a_session_ends_its_calls_only() -> None:
    mux = Mux()
    root, first, second, third = open_calls(mux, None, "A", "B", "A")
    assert mux.end_session("A") == [first, third]
    assert mux.end_session("A") == []
    assert list(mux.pending.values()) == [root, second]
    assert mux.end_session(None) == [root]
    assert list(mux.pending.values()) == [second]
    assert mux.end() == [second]
    assert not mux.pending


def test_command_without_a_json_form_opens_nothing() -> None:
    mux = Mux()
    with pytest.raises(InvalidArgumentError, match=r"parameters of Domain\.method"):
        mux.open_call("Domain.method", {"x": object()}, None)
    assert not mux.pending
    assert mux.open_call("Domain.method", {}, None).id == 1


@given(st.lists(st.binary(max_size=60) | st.text(max_size=60) | ENVELOPES.map(dumps), max_size=20))
def test_no_sequence_of_messages_makes_it_raise_or_leak(messages: list[bytes | str]) -> None:
    mux = Mux()
    opened = open_calls(mux, *SESSIONS * 3)
    ended: list[int] = []
    strays = 0
    for message in messages:
        routed = mux.feed(message)
        match routed:
            case Reply(call=call):
                ended.append(call.id)
                strays += bool(routed.damage)
            case Stray():
                strays += 1
    assert len(ended) == len(set(ended))
    assert set(mux.pending) == {call.id for call in opened} - set(ended)
    assert sum(mux.strays.values()) == strays


@given(st.binary(max_size=40), st.integers(0, 60))
def test_a_reply_cut_or_spoilt_anywhere_never_raises(noise: bytes, at: int) -> None:
    mux = Mux()
    (call,) = open_calls(mux, "A")
    whole = dumps({"id": call.id, "result": {"value": "é☃", "n": [1, 2.5, None]}, "sessionId": "A"})
    routed = mux.feed(whole[:at] + noise)
    assert isinstance(routed, (Reply, Stray))
    assert len(mux.pending) == (0 if isinstance(routed, Reply) else 1)


class MuxMachine(RuleBasedStateMachine):
    """Calls are opened, answered, answered twice, closed and ended in any order.

    A model predicts the pending calls.
    """

    opened = Bundle("opened")
    over = Bundle("over")

    def __init__(self) -> None:
        super().__init__()
        self.mux = Mux()
        self.model: dict[int, Call] = {}
        self.given_out: set[int] = set()
        self.late = 0

    def _expect(self, call: Call) -> bool:
        return self.model.pop(call.id, None) is not None

    @rule(target=opened, session=st.sampled_from(SESSIONS), params=st.dictionaries(st.text(), JSON_VALUES))
    def open_call(self, session: str | None, params: dict[str, Any]) -> Call:
        call = self.mux.open_call("Domain.method", params, session)
        assert call.id not in self.given_out
        self.given_out.add(call.id)
        self.model[call.id] = call
        return call

    @rule(target=over, call=consumes(opened), damaged=st.booleans())
    def answer(self, call: Call, damaged: bool) -> Call:
        routed = self.mux.feed(f'{{"id":{call.id},"result":{{}}{"" if damaged else "}"}')
        if self._expect(call):
            assert isinstance(routed, Reply)
            assert routed.call is call
            assert bool(routed.damage) == damaged
        else:
            assert isinstance(routed, Stray)
            self.late += not damaged
        return call

    @rule(call=over)
    def answer_again(self, call: Call) -> None:
        stray = self.mux.feed(dumps({"id": call.id, "result": {}}))
        assert isinstance(stray, Stray)
        assert stray.kind == "late"
        self.late += 1

    @rule(target=over, call=consumes(opened))
    def close(self, call: Call) -> Call:
        assert self.mux.close_call(call) == self._expect(call)
        return call

    @rule(session=st.sampled_from(SESSIONS))
    def end_session(self, session: str | None) -> None:
        expected = [call for call in self.model.values() if call.session_id == session]
        assert self.mux.end_session(session) == expected
        for call in expected:
            del self.model[call.id]

    @rule(message=ENVELOPES)
    def feed_event_like(self, message: dict[str, Any]) -> None:
        message.pop("id", None)
        assert not isinstance(self.mux.feed(dumps(message)), Reply)

    @rule()
    def end_all(self) -> None:
        assert self.mux.end() == list(self.model.values())
        self.model.clear()

    @invariant()
    def pending_is_what_the_model_says(self) -> None:
        assert dict(self.mux.pending) == self.model
        assert self.mux.strays["late"] == self.late


TestMuxMachine = MuxMachine.TestCase
TestMuxMachine.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
