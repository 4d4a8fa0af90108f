"""Playing a recording: matching calls, the timing of replies and events, and the description of the first
divergence.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from recorded_lines import Program, Tape, raw

from cdpengine.debug.http_websocket_server import redirect_websockets
from cdpengine.debug.recording_format import Line
from cdpengine.debug.replaying.divergences import DifferenceDescriber
from cdpengine.debug.replaying.matching import differences, fits
from cdpengine.debug.replaying.playback import DIVERGED, Playback
from cdpengine.debug.replaying.tape import HttpReply


def describe(method: str, recorded: Any, asked: Any) -> list[str]:
    return DifferenceDescriber().describe(method, recorded, asked, differences(method, recorded, asked))


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
    # The group is a counter of the client, so a match with the recorded second one means nothing.
    values = [program.ask("Runtime.evaluate", expression="n", objectGroup=f"group-{n}") for n in (2, 3, 4)]
    assert [messages[0]["result"]["value"] for messages in values] == [1, 2, 3]


def test_two_connections_keep_the_common_order() -> None:
    tape = Tape()
    tape.call(1, "Browser.getVersion", c="main")
    tape.reply(1, "Browser.getVersion", c="main", product="X/1")
    tape.call(1, "Target.attachToTarget", c="evaluation session", targetId="T")
    tape.event("Target.attachedToTarget", c="evaluation session")
    tape.event("Page.frameNavigated", c="main")
    tape.reply(1, c="evaluation session", sessionId="L")
    playback = tape.play()
    assert playback.product == "X/1"
    main, evaluation_session = Program(playback), Program(playback)
    assert len(main.ask("Browser.getVersion")) == 1
    sent = evaluation_session.ask("Target.attachToTarget", targetId="T")
    assert [message.get("method", "reply") for message in sent] == [
        "Target.attachedToTarget",
        "Page.frameNavigated",
        "reply",
    ]
    assert (main.client.connection, evaluation_session.client.connection) == ("main", "evaluation session")


def test_a_page_connection_is_played_to_the_client_of_its_path() -> None:
    tape = Tape()
    tape.call(1, "Page.enable", c="client 1 /devtools/page/AB")
    tape.reply(1, c="client 1 /devtools/page/AB")
    playback = tape.play()
    assert "error" in Program(playback).ask("Page.enable")[0]
    assert "result" in Program(playback, "/devtools/page/AB").ask("Page.enable")[0]


def test_a_call_without_effects_may_be_made_more_or_less_often() -> None:
    tape = Tape()
    tape.call(1, "Browser.getVersion")
    tape.reply(1, "Browser.getVersion", product="X/1")
    tape.call(2, "Browser.getVersion")  # a check that the browser answers
    tape.reply(2, "Browser.getVersion", product="X/1")
    tape.call(3, "Page.enable", s="S")
    tape.reply(3, s="S")
    for times in (1, 2, 5):
        program = Program(tape.play())
        for _ in range(times):
            [reply] = program.ask("Browser.getVersion")
            assert reply["result"] == {"product": "X/1"}
        assert len(program.ask("Page.enable", "S")) == 1
        assert (program.playback.divergence, list(program.playback.left)) == (None, [])
    hasty = Program(tape.play())
    assert hasty.ask("Browser.getVersion", nonsense=1)[0]["error"]  # no events were sent yet
    assert hasty.playback.divergence is not None


@pytest.mark.parametrize("recorded", [1, 2])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_an_open_page_may_be_closed_again(recorded: int, times: int) -> None:
    """A call that the program omits holds back the messages between the answer and the page's end."""
    tape = Tape()
    for number in range(recorded):
        tape.call(1 + number, "Target.closeTarget", targetId="T")
        tape.reply(1 + number, success=True)
    tape.call(7, "Target.attachToTarget", targetId="T")
    tape.event("Target.targetDestroyed", targetId="T")
    tape.reply(7, sessionId="S")
    program = Program(tape.play())
    for _ in range(times):
        (reply,) = program.ask("Target.closeTarget", targetId="T")
        assert reply["result"] == {"success": True}
    program.playback.pass_over()
    ended, *_ = program.playback.due()
    assert b"targetDestroyed" in ended.message
    assert program.playback.divergence is None
    assert [call.method for call in program.playback.left] == ["Target.attachToTarget"]
    assert program.ask("Target.closeTarget", targetId="another")[0]["error"]["code"] == DIVERGED


REPORT = (
    "function (holder, request, number) { const node = this.element(holder, number); "
    "return node ? this.report(node, request) : null; }"
)


@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("times", [0, 1, 2])
def test_queries_of_the_engine_that_depend_on_time(recorded: bool, times: int) -> None:
    """It asks again for an action's events, and whether the page answers, if the page reports late."""

    def report(final: bool) -> dict[str, Any]:
        arguments = [{"value": {"id": "w1", "final": final}}]
        return {"functionDeclaration": REPORT, "objectId": "1.2", "arguments": arguments}

    tape = Tape()
    tape.call(1, "Runtime.callFunctionOn", s="S", **report(False))
    tape.reply(1, "Runtime.callFunctionOn", s="S", result={"value": {"complete": True}})
    if recorded:
        tape.call(2, "Runtime.callFunctionOn", s="S", **report(True))
        tape.reply(2, "Runtime.callFunctionOn", s="S", result={"value": {"complete": True}})
        tape.call(3, "Runtime.evaluate", s="S", expression="0", returnByValue=True)
        tape.reply(3, "Runtime.evaluate", s="S", result={"type": "number", "value": 0, "description": "0"})
    tape.call(4, "Page.enable", s="S")
    tape.reply(4, s="S")
    program = Program(tape.play())
    program.ask("Runtime.callFunctionOn", "S", **report(False))
    for _ in range(times):
        [reply] = program.ask("Runtime.callFunctionOn", "S", **report(True))
        assert reply["result"] == {"result": {"value": {"complete": True}}}
        [reply] = program.ask("Runtime.evaluate", "S", expression="0", returnByValue=True)
        assert reply["result"]["result"]["value"] == 0
    assert len(program.ask("Page.enable", "S")) == 1
    assert (program.playback.divergence, list(program.playback.left)) == (None, [])


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
    assert "it sent Page.navigate on session S" in str(error)
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


def test_one_connection_more_than_recorded() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    playback = tape.play()
    Program(playback).ask("A.a")
    assert "this is one more" in Program(playback).ask("A.a")[0]["error"]["message"]


def test_omitted_calls_can_be_skipped_and_made_later() -> None:
    tape = Tape()
    tape.call(1, "A.a")
    tape.event("A.changed")
    tape.reply(1, n=1)
    tape.call(2, "B.b")
    tape.reply(2, n=2)
    program = Program(tape.play())
    assert program.ask("B.b") == []
    held = program.playback.find_pause()
    assert held == pytest.approx(0.1)  # the call was made 0.1 s after the beginning
    program.playback.pass_over()
    sent = [json.loads(delivery.message) for delivery in program.playback.due()]
    assert [message.get("method") or message["result"]["n"] for message in sent] == ["A.changed", 2]
    assert program.playback.find_pause() is None
    assert [call.method for call in program.playback.left] == ["A.a"]
    assert program.ask("A.a")[0]["result"] == {"n": 1}
    assert program.playback.divergence is None


def test_calls_too_late_for_their_target_may_be_omitted_and_added() -> None:
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
    program = Program(tape.play())
    program.ask("Target.closeTarget", targetId="T")
    for _ in range(2):  # the second one was not recorded: Chrome would answer the same
        (refused,) = program.ask("Target.attachToTarget", targetId="T")
        assert refused["error"] == {"code": -32602, "message": "No target with given id found"}
    (refused,) = program.ask("Page.enable", "S")
    assert refused["error"]["code"] == -32001
    assert program.playback.divergence is None


def test_cut_results_are_not_served_as_complete() -> None:
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


def test_nonsense_from_a_client_is_not_a_call() -> None:
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
        ("A.a", {"id": "k21"}, {"id": "k3"}, True),
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


def test_a_diff_shows_long_texts_around_the_difference_and_no_secrets() -> None:
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
    (changed,) = json.loads(redirect_websockets(page, "127.0.0.1:5"))
    assert changed["webSocketDebuggerUrl"] == "ws://127.0.0.1:5/devtools/page/X"
    assert (
        changed["devtoolsFrontendUrl"]
        == "https://chrome-devtools-frontend.example/a.html?ws=127.0.0.1:5/devtools/page/X"
    )
    assert changed["url"] == "http://127.0.0.1:9222/"
    assert redirect_websockets(b"Target is closing", "x") == b"Target is closing"


def get(playback: Playback, method: str, target: str) -> list[Any]:
    """Send an HTTP request, and return all later messages to any client.

    None represents an unknown answer.
    """
    client = playback.join(target)
    if not playback.ask_http(client, method, target):
        return [None]
    answers = []
    for delivery in playback.due():
        if delivery.client is client:
            reply = msgspec.json.decode(delivery.message, type=HttpReply)
            answers.append(
                (reply.status, msgspec.json.decode(reply.content) if reply.status == 200 else reply.content)
            )
        else:
            answers.append(json.loads(delivery.message).get("method", "reply"))
    return answers


def test_http_requests_are_answered_in_order() -> None:
    tape = Tape()
    tape.http("GET", "/json/list", body=[1])
    tape.http("PUT", "/json/new?about:blank", body={"id": "A"})
    tape.http("GET", "/json/list", body=[1, 2])
    tape.http("GET", "/json/close/A", body="Target is closing")
    tape.http("GET", "/json/close/A", status=404, body="No such target id: A")
    playback = tape.play()
    assert get(playback, "GET", "/json") == [(200, [1])]
    assert get(playback, "PUT", "/json/new?about:blank") == [(200, {"id": "A"})]
    assert len(playback.left) == 2  # requests that only inform may be omitted
    assert get(playback, "GET", "/json/list/") == [(200, [1, 2])]
    assert get(playback, "GET", "/json/list") == [(200, [1, 2])]  # repeated
    assert get(playback, "GET", "/json/protocol") == [None]
    close = msgspec.json.encode("Target is closing")
    playback.ask_http(client := playback.join("/"), "GET", "/json/close/A")
    (delivery,) = playback.due()
    assert delivery.client is client
    assert (
        msgspec.json.encode(msgspec.json.decode(delivery.message, type=HttpReply).content.decode()) == close
    )
    assert get(playback, "GET", "/json/close/A") == [(404, b"No such target id: A")]
    assert playback.divergence is None
    assert not playback.left


@pytest.mark.parametrize(
    ("method", "target", "said"),
    [
        ("PUT", "/json/new?http://b/", "+ url: 'http://b/'"),
        ("GET", "/json/new?http://a/", "it sent GET /json/new over HTTP: it was not recorded there"),
        ("GET", "/json/close/B", "it sent GET /json/close/B over HTTP: it was not recorded there"),
        ("PUT", "/json/new?http://a/", ""),
    ],
)
def test_unrecorded_http_requests_diverge(method: str, target: str, said: str) -> None:
    tape = Tape()
    tape.http("PUT", "/json/new?http://a/", body={})
    playback = tape.play()
    ((status, body),) = get(playback, method, target)
    assert (playback.divergence is None) is (said == "")
    assert said in str(playback.divergence or "")
    assert status == (500 if said else 200)
    assert said == "" or said in body.decode()


def test_events_caused_by_http_requests_follow_them() -> None:
    tape = Tape()
    tape.call(1, "Target.setDiscoverTargets", discover=True)
    tape.reply(1)
    tape.event("Target.targetCreated")
    # The answer came after the event that it caused, and its line has the answer's position.
    tape.http("PUT", "/json/new", body={"id": "A"}, asked_at=0.25)
    tape.event("Target.targetInfoChanged")
    playback = tape.play()
    program = Program(playback)
    assert len(program.ask("Target.setDiscoverTargets", discover=True)) == 1
    assert get(playback, "PUT", "/json/new") == [
        "Target.targetCreated",
        (200, {"id": "A"}),
        "Target.targetInfoChanged",
    ]


def test_the_program_receives_its_own_generated_names() -> None:
    old, new = (f"__playwright_utility_world_page@{digits * 4}" for digits in ("3e0ce12e", "603b09bf"))
    tape = Tape()
    tape.call(1, "Page.createIsolatedWorld", worldName=old)
    tape.event("Runtime.executionContextCreated", name=old)
    tape.reply(1)
    tape.call(2, "Page.navigate", url="http://127.0.0.1:4000/a")
    tape.event("Page.frameNavigated", url="http://127.0.0.1:4000/a", text="127.0.0.1:40001")
    tape.reply(2)
    program = Program(tape.play())
    context, _ = program.ask("Page.createIsolatedWorld", worldName=new)
    assert context["params"]["name"] == new
    navigated, _ = program.ask("Page.navigate", url="http://127.0.0.1:5555/a")
    assert navigated["params"] == {"url": "http://127.0.0.1:5555/a", "text": "127.0.0.1:40001"}
    assert program.playback.divergence is None


def test_two_calls_with_different_names_are_distinguished() -> None:
    first, second = (f"world-{digits * 4}" for digits in ("3e0ce12e", "603b09bf"))
    tape = Tape()
    tape.call(1, "A.a", worldName=first)
    tape.reply(1, n=1)
    tape.call(2, "A.a", worldName=second)
    tape.reply(2, n=2)
    tape.call(3, "A.b", worldName=second)
    tape.reply(3, n=3)
    tape.call(4, "A.b", worldName=first)
    tape.reply(4, n=4)
    one, two = (f"world-{digits * 4}" for digits in ("aaaa1111", "bbbb2222"))
    program = Program(tape.play())
    asked = [("A.a", one), ("A.a", two), ("A.b", one), ("A.b", two)]
    sent = [message for method, name in asked for message in program.ask(method, worldName=name)]
    # The replies of the last two come in the order of the recording.
    assert [(message["id"], message["result"]["n"]) for message in sent] == [
        (101, 1),
        (102, 2),
        (104, 3),
        (103, 4),
    ]
    assert program.playback.divergence is None


def test_a_name_that_the_browser_sent_earlier_is_used_unchanged() -> None:
    guid, other = "1cbbfbc9-4ab0-4b74-9b64-79f56188e00a", "9c8f431c-aa5e-472e-b830-7883aac6f03a"
    tape = Tape()
    tape.call(1, "A.a")
    tape.event("Browser.downloadWillBegin", guid=guid)
    tape.reply(1)
    tape.call(2, "Browser.cancelDownload", guid=guid)
    tape.reply(2)
    same, differing = Program(tape.play()), Program(tape.play())
    for program, asked in ((same, guid), (differing, other)):
        program.ask("A.a")
        program.ask("Browser.cancelDownload", guid=asked)
    assert same.playback.divergence is None
    assert differing.playback.divergence is not None
