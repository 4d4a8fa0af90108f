"""Playing a recording: what fits, what is given when, and how the first divergence is named."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from cdpengine.debug.discretion import Discretion
from cdpengine.debug.json_pages import pointing_here
from cdpengine.debug.matching import differences, fits
from cdpengine.debug.playback import DIVERGED, Playback
from cdpengine.debug.recording import Kind, Line
from cdpengine.debug.tape import Client


def describe(method: str, recorded: Any, asked: Any) -> list[str]:
    return Discretion().describe(method, recorded, asked, differences(method, recorded, asked))


def raw(message: dict[str, Any]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(message))


class Tape:
    """Writes a recording line by line."""

    def __init__(self) -> None:
        self.lines: list[Line] = []

    def _add(self, kind: Kind, direction: str, message: dict[str, Any], method: str, c: str, s: str) -> None:
        if s:
            message["sessionId"] = s
        n = len(self.lines) + 1
        self.lines.append(
            Line(
                t=n / 10, n=n, k=kind, d=direction, c=c, s=s, id=message.get("id"), m=method, msg=raw(message)
            )
        )

    def call(self, number: int, method: str, c: str = "one", s: str = "", **params: Any) -> None:
        self._add("call", ">", {"id": number, "method": method, "params": params}, method, c, s)

    def reply(self, number: int, method: str = "", c: str = "one", s: str = "", **result: Any) -> None:
        self._add("reply", "<", {"id": number, "result": result}, method, c, s)

    def event(self, method: str, c: str = "one", s: str = "", **params: Any) -> None:
        self._add("event", "<", {"method": method, "params": params}, method, c, s)

    def play(self) -> Playback:
        return Playback("tape", self.lines)


class Program:
    """A client of a playback, and what it was sent."""

    def __init__(self, playback: Playback, path: str = "/devtools/browser/x") -> None:
        self.playback = playback
        self.client: Client = playback.join(path)
        self.next_id = 100

    def ask(self, method: str, s: str = "", **params: Any) -> list[dict[str, Any]]:
        """Ask, and return all that is sent to anybody after that."""
        self.next_id += 1
        message = {"id": self.next_id, "method": method, "params": params} | ({"sessionId": s} if s else {})
        assert self.playback.ask(self.client, json.dumps(message))
        return [json.loads(delivery.message) for delivery in self.playback.due()]


def test_replies_are_renumbered_and_events_wait_for_the_calls_before_them() -> None:
    tape = Tape()
    tape.call(1, "Page.enable", s="S")
    tape.reply(1, s="S")
    tape.call(2, "Page.navigate", s="S", url="http://a/")
    tape.event("Page.frameNavigated", s="S")
    tape.reply(2, s="S", frameId="F")
    tape.event("Page.loadEventFired", s="S")
    program = Program(tape.play())
    assert program.ask("Page.enable", "S") == [{"id": 101, "result": {}, "sessionId": "S"}]
    navigated, reply, loaded = program.ask("Page.navigate", "S", url="http://a/")
    assert navigated["method"] == "Page.frameNavigated"
    assert reply == {"id": 102, "result": {"frameId": "F"}, "sessionId": "S"}
    assert loaded["method"] == "Page.loadEventFired"
    assert program.playback.divergence is None
    assert not program.playback.left


def test_calls_may_come_in_another_order() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    tape.call(2, "B.b")
    tape.reply(1, n=1)
    tape.reply(2, n=2)
    program = Program(tape.play())
    assert program.ask("B.b") == []  # its reply came second
    assert [message["result"]["n"] for message in program.ask("A.a")] == [1, 2]


def test_equal_calls_are_answered_in_their_order() -> None:
    tape = Tape()
    for number in (1, 2, 3):
        tape.call(number, "Runtime.evaluate", expression="n", objectGroup=f"group-{number}")
        tape.reply(number, value=number)
    program = Program(tape.play())
    # The group is a counter of the client's: that it is the recorded second one's means nothing.
    values = [program.ask("Runtime.evaluate", expression="n", objectGroup=f"group-{n}") for n in (2, 3, 4)]
    assert [messages[0]["result"]["value"] for messages in values] == [1, 2, 3]


def test_two_connections_keep_the_common_order() -> None:
    tape = Tape()
    tape.call(1, "Browser.getVersion", c="main")
    tape.reply(1, "Browser.getVersion", c="main", product="X/1")
    tape.call(1, "Target.attachToTarget", c="lane", targetId="T")
    tape.event("Target.attachedToTarget", c="lane")
    tape.event("Page.frameNavigated", c="main")
    tape.reply(1, c="lane", sessionId="L")
    playback = tape.play()
    assert playback.product == "X/1"
    main, lane = Program(playback), Program(playback)
    assert len(main.ask("Browser.getVersion")) == 1
    sent = lane.ask("Target.attachToTarget", targetId="T")
    assert [message.get("method", "reply") for message in sent] == [
        "Target.attachedToTarget",
        "Page.frameNavigated",
        "reply",
    ]
    assert (main.client.connection, lane.client.connection) == ("main", "lane")


def test_a_page_connection_is_played_to_the_client_of_its_path() -> None:
    tape = Tape()
    tape.call(1, "Page.enable", c="client 1 /devtools/page/AB")
    tape.reply(1, c="client 1 /devtools/page/AB")
    playback = tape.play()
    assert "error" in Program(playback).ask("Page.enable")[0]
    assert "result" in Program(playback, "/devtools/page/AB").ask("Page.enable")[0]


def test_the_first_divergence_is_named_with_a_diff() -> None:
    tape = Tape()
    tape.call(1, "Page.navigate", s="S", url="http://a/", referrer="r")
    tape.call(2, "Page.reload", s="S")
    program = Program(tape.play())
    (refused,) = program.ask("Page.navigate", "S", url="http://b/", referrer="r")
    assert refused["error"]["code"] == DIVERGED
    assert refused["sessionId"] == "S"
    error = program.playback.divergence
    assert error is not None
    assert error.diff == ("- url: 'http://a/'", "+ url: 'http://b/'")
    assert error.line == 1
    assert error.expected == ("Page.navigate (line 1)", "Page.reload (line 2)")
    assert "it asked Page.navigate on session S" in str(error)
    program.ask("Page.crash", "S")
    assert program.playback.divergence is error  # the first one counts


@pytest.mark.parametrize(
    ("method", "session", "reason"),
    [
        ("A.a", "", "fewer times"),
        ("Z.z", "", "nothing more was recorded there"),
        ("A.a", "other", "no such session"),
    ],
)
def test_why_a_call_does_not_fit(method: str, session: str, reason: str) -> None:
    tape = Tape()
    tape.call(1, "A.a")
    tape.reply(1)
    program = Program(tape.play())
    program.ask("A.a")
    assert reason in program.ask(method, session)[0]["error"]["message"]


def test_one_connection_more_than_was_recorded() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    playback = tape.play()
    Program(playback).ask("A.a")
    assert "this is one more" in Program(playback).ask("A.a")[0]["error"]["message"]


def test_what_a_program_leaves_out_can_be_passed_over_and_asked_later() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    tape.event("A.changed")
    tape.reply(1, n=1)
    tape.call(2, "B.b")
    tape.reply(2, n=2)
    program = Program(tape.play())
    assert program.ask("B.b") == []
    held = program.playback.held_back()
    assert held == pytest.approx(0.1)  # the call was made 0.1 s after the beginning
    program.playback.pass_over()
    sent = [json.loads(delivery.message) for delivery in program.playback.due()]
    assert [message.get("method") or message["result"]["n"] for message in sent] == ["A.changed", 2]
    assert program.playback.held_back() is None
    assert [call.method for call in program.playback.left] == ["A.a"]
    assert program.ask("A.a")[0]["result"] == {"n": 1}
    assert program.playback.divergence is None


def test_what_came_too_late_for_its_target_may_be_left_out_and_added() -> None:
    tape = Tape()
    tape.call(1, "Target.closeTarget", targetId="T")
    tape.reply(1)
    tape.event("Target.detachedFromTarget", sessionId="S")
    tape.call(2, "Target.attachToTarget", targetId="T")
    tape.event("Target.targetDestroyed", targetId="T")
    tape._add(
        "error",
        "<",
        {"id": 2, "error": {"code": -32602, "message": "No target with given id found"}},
        "",
        "one",
        "",
    )
    left_out = Program(tape.play())
    assert [
        message.get("method", "reply") for message in left_out.ask("Target.closeTarget", targetId="T")
    ] == [
        "reply",
        "Target.detachedFromTarget",
        "Target.targetDestroyed",
    ]
    asked = Program(tape.play())
    asked.ask("Target.closeTarget", targetId="T")
    for _ in range(2):  # the second one was not recorded: Chrome would say the same
        (refused,) = asked.ask("Target.attachToTarget", targetId="T")
        assert refused["error"] == {"code": -32602, "message": "No target with given id found"}
    (refused,) = asked.ask("Page.enable", "S")
    assert refused["error"]["code"] == -32001
    assert asked.playback.divergence is None


def test_what_was_cut_is_not_given_as_if_it_were_whole() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    tape.lines.append(
        Line(
            n=2, k="reply", d="<", c="one", id=1, m="A.a", msg=raw({"id": 1, "result": {"cdpengine.cut": 9}})
        )
    )
    tape.event("B.b")
    tape.lines[-1].msg = raw({"method": "B.b", "params": {"cdpengine.cut": 9}})
    program = Program(tape.play())
    (refused,) = program.ask("A.a")
    assert "cut" in refused["error"]["message"]
    assert program.playback.passed_over == ["the event B.b (line 3) was cut"]


def test_nonsense_from_a_client_is_no_call() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    playback = tape.play()
    client = playback.join("/")
    assert not playback.ask(client, "{")
    assert not playback.ask(client, '{"method": "A.a"}')


@pytest.mark.parametrize(
    ("method", "recorded", "asked", "expected"),
    [
        ("A.a", {"x": 1}, {"x": 1}, True),
        ("A.a", {"x": 1}, {"x": 2}, False),
        ("A.a", {"x": 1}, {}, False),
        ("A.a", {}, {"x": 1}, False),
        ("A.a", {"x": [1, 2]}, {"x": [1]}, False),
        ("A.a", {"x": {"timeout": 1.5, "y": "a"}}, {"x": {"timeout": 9, "y": "a"}}, True),
        ("A.a", {"patience": 900, "await": 899}, {"patience": 899, "await": 900.5}, True),
        ("A.a", {"await": True}, {"await": False}, False),
        ("A.a", {"id": "w21", "x": 1}, {"id": "w3", "x": 1}, True),
        ("A.a", {"id": "w21"}, {"id": "x21"}, False),
        ("A.a", {"x": "w21"}, {"x": "w3"}, False),
        ("A.a", {"url": "http://127.0.0.1:41234/a"}, {"url": "http://127.0.0.1:5/a"}, True),
        ("A.a", {"url": "http://127.0.0.1:41234/a"}, {"url": "http://127.0.0.1:5/b"}, False),
        ("A.a", {"url": "http://a.example:1/"}, {"url": "http://a.example:2/"}, False),
        ("A.a", {"n": "tmp-0123456789abcdef"}, {"n": "tmp-fedcba9876543210"}, True),
        ("A.a", {"targetId": "0123456789ABCDEF"}, {"targetId": "FEDCBA9876543210"}, False),
        ("A.a", {"h": "Bearer [redacted]"}, {"h": "Bearer abc\ndef"}, True),
        ("A.a", {"h": "Bearer [redacted]"}, {"h": "Basic abc"}, False),
        ("Input.insertText", {"text": "[redacted]"}, {"text": "typed"}, True),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "code": 0}, {"type": "keyDown", "code": 65}, True),
        ("Input.dispatchKeyEvent", {"type": "keyDown", "code": 0}, {"type": "keyUp", "code": 65}, False),
        ("A.a", {"cdpengine.cut": 99, "head": "{"}, {"anything": 1}, True),
    ],
)
def test_which_parameters_may_differ(method: str, recorded: Any, asked: Any, expected: bool) -> None:
    assert fits(method, recorded, asked) is expected
    assert (describe(method, recorded, asked) == []) is expected


def test_a_diff_shows_long_texts_where_they_differ_and_no_secrets() -> None:
    recorded = {"expression": "x" * 500 + "b", "header": "Authorization: Bearer c4nary-old"}
    asked = {"expression": "x" * 500 + "c", "header": "Authorization: Bearer c4nary-new", "more": [1]}
    lines = describe("A.a", recorded, asked)
    assert all(len(line) < 150 for line in lines)
    assert lines[0] == f"- expression: '...{'x' * 20}b'"
    assert lines[-1] == "+ more: [1]"
    assert "c4nary" not in "".join(lines)


def test_pages_about_the_browser_point_here() -> None:
    page = json.dumps([{
        "id": "X",
        "webSocketDebuggerUrl": "ws://127.0.0.1:9222/devtools/page/X",
        "devtoolsFrontendUrl": "https://chrome-devtools-frontend.example/a.html?ws=127.0.0.1:9222/devtools/page/X",
        "url": "http://127.0.0.1:9222/",
    }]).encode()  # fmt: skip
    (changed,) = json.loads(pointing_here(page, "127.0.0.1:5"))
    assert changed["webSocketDebuggerUrl"] == "ws://127.0.0.1:5/devtools/page/X"
    assert (
        changed["devtoolsFrontendUrl"]
        == "https://chrome-devtools-frontend.example/a.html?ws=127.0.0.1:5/devtools/page/X"
    )
    assert changed["url"] == "http://127.0.0.1:9222/"
    assert pointing_here(b"Target is closing", "x") == b"Target is closing"
