"""The format of recordings: the contents of each line, and the readable part of damaged files."""

from __future__ import annotations

import base64
import contextlib
import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings

import cdpengine
from cdpengine._protocol.instruments import Direction, Span, Traffic
from cdpengine.debug import Redactor, open_recording
from cdpengine.debug.recording.lines import LineMaker
from cdpengine.debug.recording_format import Header, Line


def sent(message: dict[str, Any], time: float = 1.0, span: Span | None = None) -> Traffic:
    return Traffic(time, "sent", "main", json.dumps(message).encode(), span)


def received(message: dict[str, Any], time: float = 2.0) -> Traffic:
    return Traffic(time, "received", "main", json.dumps(message))


def lines_of(*traffic: Traffic, limit: int = 0, redactor: Redactor | None = None) -> list[Line]:
    maker = LineMaker(began=1.0, limit=limit, redactor=redactor)
    return [msgspec.json.decode(line, type=Line) for each in traffic for line in maker.lines(each)]


def test_a_call_and_its_reply_refer_to_each_other() -> None:
    call, reply = lines_of(
        sent({"id": 4, "method": "Page.enable", "sessionId": "S"}),
        received({"id": 4, "result": {"a": 1}, "sessionId": "S"}, time=1.25),
    )
    assert (call.k, call.d, call.m, call.id, call.s, call.n, call.t) == (
        "call",
        ">",
        "Page.enable",
        4,
        "S",
        1,
        0.0,
    )
    assert (reply.k, reply.d, reply.m, reply.id, reply.s, reply.n) == ("reply", "<", "Page.enable", 4, "S", 2)
    assert reply.ms == pytest.approx(250)
    assert json.loads(bytes(reply.msg)) == {"id": 4, "result": {"a": 1}, "sessionId": "S"}
    assert reply.z == len(bytes(reply.msg))


def test_a_refusal_is_an_error() -> None:
    _, refusal = lines_of(
        sent({"id": 1, "method": "A.b"}), received({"id": 1, "error": {"code": -32000, "message": "no"}})
    )
    assert (refusal.k, refusal.m) == ("error", "A.b")


def test_replies_of_other_connections_are_not_mixed_up() -> None:
    other = Traffic(1.0, "received", "evaluation session", json.dumps({"id": 1, "result": {}}))
    _, stranger = lines_of(sent({"id": 1, "method": "A.b"}), other)
    assert (stranger.k, stranger.m, stranger.ms, stranger.c) == ("reply", "", None, "evaluation session")


def test_sessions_are_recorded_with_their_targets() -> None:
    info = {"targetId": "T1", "type": "page", "url": "https://example.com/"}
    target, attached, event = lines_of(
        received({"method": "Target.attachedToTarget", "params": {"sessionId": "S1", "targetInfo": info}}),
        received({"method": "Page.loadEventFired", "params": {}, "sessionId": "S1"}),
    )
    assert (target.k, target.s, target.T, target.type, target.url) == (
        "target", "S1", "T1", "page", "https://example.com/",
    )  # fmt: skip
    assert attached.k == "event"
    assert (event.T, event.m) == ("T1", "Page.loadEventFired")


def test_a_session_attached_by_hand_is_recorded_too() -> None:
    *_, target, event = lines_of(
        sent({"id": 9, "method": "Target.attachToTarget", "params": {"targetId": "T2", "flatten": True}}),
        received({"id": 9, "result": {"sessionId": "S2"}}),
        received({"method": "A.b", "sessionId": "S2"}),
    )
    assert (target.k, target.s, target.T) == ("target", "S2", "T2")
    assert event.T == "T2"


def test_commands_name_their_action() -> None:
    click = Span(7, "page.click e7")
    lines = lines_of(
        sent({"id": 1, "method": "A.a"}, span=click),
        sent({"id": 2, "method": "A.b"}, span=click),
        received({"id": 1, "result": {}}),
        sent({"id": 3, "method": "A.c"}),
    )
    assert [(line.k, line.span) for line in lines] == [
        ("span", 7),
        ("call", 7),
        ("call", 7),
        ("reply", 7),
        ("call", 0),
    ]
    assert lines[0].name == "page.click e7"


def test_the_end_of_an_action_has_its_duration_once() -> None:
    maker = LineMaker(began=1.0, limit=0, redactor=None)
    assert maker.span_ended(2.0, 7, 1.0) == b""  # without commands
    list(maker.lines(sent({"id": 1, "method": "A.a"}, 1.5, Span(7, "page.click e7", 1.25))))
    assert json.loads(maker.span_ended(3.0, 7, 1.25)) == {
        "t": 2.0,
        "n": 3,
        "k": "span-end",
        "span": 7,
        "name": "page.click e7",
        "ms": 1750,
    }
    assert maker.span_ended(3.5, 7, 1.25) == b""
    late = list(maker.lines(sent({"id": 2, "method": "A.b"}, 3.5, Span(7, "page.click e7", 1.25))))
    assert [json.loads(line)["k"] for line in late] == ["call"]


@pytest.mark.parametrize("message", ["no json", "[1]", "{}", '{"id": "x"}', "\ud800"])
def test_anything_but_a_message_is_a_stray(message: str) -> None:
    (line,) = lines_of(Traffic(1.0, "received", "main", message))
    assert line.k == "stray"


def test_a_large_payload_is_cut_with_a_marker() -> None:
    (line,) = lines_of(
        received({"method": "A.b", "params": {"data": "x" * 5000}, "sessionId": "S"}), limit=1000
    )
    message = json.loads(bytes(line.msg))
    assert message["method"] == "A.b"
    assert message["sessionId"] == "S"
    assert message["params"]["cdpengine.cut"] == len('{"data": "') + 5000 + len('"}')
    assert len(message["params"]["head"]) == 200
    assert line.z > 5000


def test_no_secret_stays_in_the_head_of_a_cut_payload() -> None:
    secret = "cAnArY" * 10
    payload = {"pad": "x" * 180, "value": secret, "more": "y" * 5000}
    redactor = Redactor(secrets=[secret])
    (line,) = lines_of(received({"method": "A.b", "params": payload}), limit=1000, redactor=redactor)
    assert b"cAnArY" not in bytes(line.msg)


def test_a_secret_that_begins_in_a_cut_piece_is_not_in_the_next_one() -> None:
    maker = LineMaker(began=1.0, limit=1000, redactor=Redactor())
    maker.lines(sent({"id": 1, "method": "Network.streamResourceContent", "params": {"requestId": "1.1"}}))
    maker.lines(received({"id": 1, "result": {"bufferedData": ""}}))
    lines = b""
    for piece in ("x" * 2000 + '{"password":"cAnArY', 'cAnArY7f3","n":1}'):
        data = base64.b64encode(piece.encode()).decode()
        event = {
            "method": "Network.dataReceived",
            "params": {"requestId": "1.1", "dataLength": 1, "data": data},
        }
        for line in maker.lines(received(event)):
            message = json.loads(line)["msg"]["params"]
            lines += base64.b64decode(message["data"]) if "data" in message else line
    assert b"cAnArY" not in lines
    assert lines.endswith(b'[redacted]","n":1}')


def test_line_breaks_within_a_message_do_not_break_the_line() -> None:
    maker = LineMaker(began=0.0, limit=0, redactor=None)
    (line,) = maker.lines(
        Traffic(1.0, "received", "main", '{"method":\r\n"A.b",\n "params": {"a": "b\\nc"}}')
    )
    assert line.count(b"\n") == 1
    assert json.loads(line)["msg"] == {"method": "A.b", "params": {"a": "b\nc"}}


texts = st.sampled_from([
    '{"id":1,"method":"Runtime.evaluate","params":{"expression":"1"},"sessionId":"S"}',
    '{"id":1,"result":{"value":"it is cAnArY7f3 or a monkey"},"sessionId":"S"}',
    '{"id":2,"method":"Input.insertText","params":{"text":"cAnArY7f3"}}',
    '{"id":2,"result":{}}',
    '{"id":3,"method":"Network.getCookies","params":{}}',
    '{"id":3,"result":{"cookies":[{"name":"a","value":"cAnArY7f3","domain":"d"}]}}',
    '{"id":4,"result":{"cAnArY7f3":1}}',
    '{"method":"N.e","params":{"headers":{"Authorization":"Bearer cAnArY7f3"}}}',
    '{"method":"N.e","params":{"url":"https://x/?access_token=cAnArY7f3&key=cAnArY7f3"}}',
    '{"method":"N.e","params":{"text":"' + "<p>of cAnArY7f3</p>" * 300 + '"}}',
    '{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"url":"http://cAnArY7f3"}}}',
    '{"method":"A.b",\n"params":{"half":"\\ud83d cAnArY7f3"}}',
    "password=cAnArY7f3",
    "{}",
])  # fmt: skip
directions: list[Direction] = ["sent", "received"]


@given(
    messages=st.lists(st.tuples(st.sampled_from(directions), texts), max_size=12),
    limit=st.sampled_from([0, 2_000]),
)
def test_lines_of_a_batch_equal_lines_made_one_by_one(
    messages: list[tuple[Direction, str]], limit: int
) -> None:
    cause = Span(7, "page.type cAnArY7f3")
    traffic = [Traffic(1.0, direction, "c", text, cause) for direction, text in messages]
    at_once, one_by_one = (
        LineMaker(began=0.5, limit=limit, redactor=Redactor(secrets=["hunter22"])) for _ in range(2)
    )
    assert at_once.lines(*traffic) == [line for each in traffic for line in one_by_one.lines(each)]


@pytest.mark.parametrize(("expression", "divided"), [("0", False), ("document.body.focus()", True)])
def test_asking_whether_a_page_answers_divides_no_typed_text(expression: str, divided: bool) -> None:
    """The engine asks during slow actions. A script may move the focus, and then begins a new text."""
    redactor = Redactor()
    keys = [{"type": "keyDown", "key": letter, "text": letter} for letter in "hunter2swordfish"]
    calls: list[tuple[str, dict[str, str]]] = [("Input.dispatchKeyEvent", key) for key in keys]
    calls.insert(len("hunter2"), ("Runtime.evaluate", {"expression": expression}))
    lines_of(
        *(
            sent({"id": number, "method": method, "params": params, "sessionId": "A"})
            for number, (method, params) in enumerate(calls)
        ),
        redactor=redactor,
    )
    assert redactor.text("hunter2swordfish") == "[redacted]"
    assert (redactor.text("a swordfish") == "a [redacted]") is divided


# --- reading -------------------------------------------------------------------------------------------------


def recording_of(count: int) -> bytes:
    maker = LineMaker(began=0.0, limit=0, redactor=None)
    header = {"cdpengine": "recording", "version": 1} | msgspec.to_builtins(Header(product="Chrome/1"))
    lines = [json.dumps(header).encode() + b"\n"]
    for number in range(count):
        lines += maker.lines(received({"method": "A.b", "params": {"number": number}}))
    return b"".join([*lines, maker.end(3.0)])


def read(path: Path) -> tuple[list[Line], list[str], bool]:
    with open_recording(path) as recording:
        lines = list(recording)
        return lines, [str(damage) for damage in recording.damage], recording.closed_in_order


@pytest.mark.parametrize("compressed", [False, True])
def test_a_written_recording_can_be_read(tmp_path: Path, compressed: bool) -> None:
    path = tmp_path / "a"
    raw = recording_of(50)
    path.write_bytes(zstandard.compress(raw) if compressed else raw)
    lines, damage, in_order = read(path)
    assert [line.n for line in lines] == list(range(1, 52))
    assert damage == []
    assert in_order


def test_a_truncated_file_is_read_up_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(recording_of(5)[:-60])
    lines, damage, in_order = read(path)
    assert [line.n for line in lines] == [1, 2, 3, 4]
    assert damage == ["line 6: the line breaks off"]
    assert not in_order


def test_a_damaged_line_is_named_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "a"
    raw = recording_of(5).splitlines(keepends=True)
    raw[3] = b"\x00\xff rubbish\n"
    path.write_bytes(b"".join(raw))
    lines, damage, _ = read(path)
    assert [line.n for line in lines] == [1, 2, 4, 5, 6]
    assert len(damage) == 1
    assert damage[0].startswith("line 4: ")


def test_an_unknown_kind_of_line_is_not_damage(tmp_path: Path) -> None:
    path = tmp_path / "a"
    raw = recording_of(5).splitlines(keepends=True)
    raw[3] = b'{"t":1,"n":3,"k":"newer","more":[1]}\n'
    path.write_bytes(b"".join(raw))
    lines, damage, _ = read(path)
    assert [line.n for line in lines] == [1, 2, 4, 5, 6]
    assert damage == []


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"hello\n", "not a header"),
        (b'{"log": {"entries": []}}\n', "not a header"),
        (b'{"cdpengine": "something else"}\n', "not a header"),
        (b'{"cdpengine": "recording", "version": 99}\n', "version is 99"),
        (b"\x28\xb5\x2f\xfdrubbish", "not a header"),
    ],
)
def test_a_foreign_file_is_refused_by_name(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "foreign"
    path.write_bytes(content)
    with pytest.raises(cdpengine.errors.FileUnreadableError, match=reason) as caught, open_recording(path):
        pass
    assert caught.value.line == 1
    assert str(path) in str(caught.value)


def test_a_missing_file(tmp_path: Path) -> None:
    with (
        pytest.raises(cdpengine.errors.InvalidArgumentError, match="nowhere"),
        open_recording(tmp_path / "nowhere"),
    ):
        pass


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, 3000), flip=st.none() | st.integers(0, 3000), compressed=st.booleans())
def test_no_damage_makes_reading_fail_in_another_way(
    tmp_path: Path, cut: int, flip: int | None, compressed: bool
) -> None:
    raw = bytearray(recording_of(12))
    raw = bytearray(zstandard.compress(bytes(raw))) if compressed else raw
    if flip is not None and flip < len(raw):
        raw[flip] ^= 0x55
    path = tmp_path / "damaged"
    path.write_bytes(bytes(raw[: len(raw) - cut]))
    with contextlib.suppress(cdpengine.errors.FileUnreadableError):
        read(path)
