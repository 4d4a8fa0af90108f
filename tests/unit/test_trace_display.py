"""Lines as text: their contents, their selection, and safety from terminal commands of a page."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

import hypothesis.strategies as st
import msgspec
import pytest
from hypothesis import given
from recorded import Recorded, small

from cdpengine.debug.reading.display import Choice, Chooser, plain, show_line
from cdpengine.debug.recording_format import Line


def texts(recorded: Recorded) -> list[str]:
    return [plain(show_line(line)) for line in recorded.lines]


def test_each_line_of_a_recording_is_one_line() -> None:
    assert texts(small()) == [
        '     0.001 -> browser      #1 Target.setAutoAttach {"autoAttach": true}',
        "     0.002 <- browser      #1 Target.setAutoAttach 1.0 ms",
        "     0.003 == 5E55 is a session of the page 7A26 https://example.com/",
        (
            '     0.003 <- browser         Target.attachedToTarget {"sessionId": "5E55", "targetInfo": '
            '{"targetId": "7A26", "type": "page", "url": "https://example.com/"}}'
        ),
        "     0.004 == page.goto https://example.com/ [1]",
        '     0.004 -> 5E55         #2 Page.navigate [1] {"url": "https://example.com/"}',
        '     0.005 <- 5E55            Page.frameStartedLoading {"frameId": "7A26"}',
        '     0.255 <- 5E55         #2 Page.navigate 251.0 ms [1] {"frameId": "7A26", "loaderId": "10AD"}',
        '     0.256 <- 5E55            Page.loadEventFired {"timestamp": 1.5}',
        "     0.257 == page.click e7 [2]",
        '     0.257 -> 5E55         #3 Input.dispatchMouseEvent [2] {"type": "mousePressed"}',
        "     0.258 <- 5E55         #3 Input.dispatchMouseEvent 1.0 ms [2]",
        '     0.259 -> 5E55         #4 Runtime.evaluate {"expression": "a\\u001b[31mb"}',
        '     0.260 <- 5E55         #4 Runtime.evaluate 1.0 ms {"code": -32000, "message": "\\u001b]0;owned\\u0007"}',
        '     0.261 -> 5E55         #5 Runtime.evaluate {"expression": "forever()"}',
        "     0.261 == end of the recording",
    ]


@pytest.mark.parametrize(('line', 'text'), [
    (Line(k="lost", count=4), "     0.000 !! 4 messages lost: they arrived too fast"),
    (Line(k="span-end", span=3), "     0.000 == end of [3]"),
    (Line(k="span-end", span=3, name="page.click e7", ms=1.25), "     0.000 == end of page.click e7 [3] 1.2 ms"),
    (Line(k="span-end", span=3, name="page.fill", ms=9, failed="StaleRefError"), "     0.000 == end of page.fill [3] 9.0 ms StaleRefError"),
    (Line(k="http", m="PUT", url="/json/new?a\x1b", status=200, ms=1.5, msg=msgspec.Raw(b'{"id":"A"}')),
     '     0.000 <> PUT /json/new?a\\x1b 200 1.5 ms {"id":"A"}'),
    (Line(k="entered", of=7, h=("ab",)), "     0.000 == fingerprints of the text entered up to line 7"),
    (Line(k="reply", d="<", id=3), "     0.000 <- browser      #3 (unknown call)"),
    (Line(k="stray", d="<", msg=msgspec.Raw(b'"what?"')), '     0.000 <- browser         (no message) "what?"'),
    (Line(k="event", d="<", m="A.b", msg=msgspec.Raw(b"[7]")), "     0.000 <- browser         A.b [7]"),
])  # fmt: skip
def test_lines_that_are_not_messages(line: Line, text: str) -> None:
    assert plain(show_line(line)) == text


def test_only_the_beginning_of_a_large_payload_is_read() -> None:
    recorded = Recorded()
    recorded.event("A.b", "5E55", data="x" * 100_000)
    (line,) = recorded.lines
    text = plain(show_line(line, payload_limit=100))
    assert '{"data": "xxx' in text
    assert len(text) < 500
    assert len(plain(show_line(line))) > 100_000


@given(
    st.text(st.characters(), max_size=30),
    st.sampled_from(["m", "url", "name", "s", "type", "payload", "stray"]),
)
def test_no_field_lets_terminal_commands_through(text: str, field: str) -> None:
    raw = json.dumps({"method": "A.b", "params": {"a": text}}, ensure_ascii=False).encode("utf-8", "replace")
    values: dict[str, Any] = {"msg": msgspec.Raw(raw)} if field in ("payload", "stray") else {field: text}
    for kind in ("call", "event", "error", "target", "span", "stray", "http"):
        shown = plain(show_line(Line(k=kind, **values), payload_limit=50))
        assert not {unicodedata.category(char) for char in shown} & {"Cc", "Cs", "Zl", "Zp"}
        assert not any(
            char in shown for char in "\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"
        )


ALL = len(small().raw)


@pytest.mark.parametrize(('choice', 'methods'), [
    (Choice(methods=("page.*",)), ["Page.navigate", "Page.frameStartedLoading", "Page.navigate", "Page.loadEventFired"]),
    (Choice(methods=("Page.load*", "Input.*")), ["Page.loadEventFired"] + ["Input.dispatchMouseEvent"] * 2),
    (Choice(slow=100.0), ["Page.navigate"]),
    (Choice(errors=True), ["Runtime.evaluate"]),
    (Choice(ids=(2,)), ["Page.navigate"] * 2),
    (Choice(ids=(2, 5), sessions=("5e",)), ["Page.navigate"] * 2 + ["Runtime.evaluate"]),
    (Choice(sessions=("browser",)), ["Target.setAutoAttach"] * 2 + ["Target.attachedToTarget"]),
    (Choice(targets=("7a",), methods=("Input*",)), ["Input.dispatchMouseEvent"] * 2),
    (Choice(texts=("FOREVER(",)), ["Runtime.evaluate"]),
    (Choice(texts=("a\x1b[31mb",)), ["Runtime.evaluate"]),
    (Choice(texts=("frameId", "loaderId")), ["Page.navigate"]),
    (Choice(spans=("page.click*",)), ["", "Input.dispatchMouseEvent", "Input.dispatchMouseEvent"]),
    (Choice(spans=("1",)), ["", "Page.navigate", "Page.navigate"]),
    (Choice(spans=("*",), methods=("*.navigate",)), ["Page.navigate"] * 2),
    (Choice(methods=("nothing",)), []),
])  # fmt: skip
def test_selected_lines(choice: Choice, methods: list[str]) -> None:
    chooser = Chooser(choice)
    assert [line.m for line in small().lines if chooser.wants(line)] == methods


def test_a_refusal_over_http_is_an_error() -> None:
    chooser = Chooser(Choice(errors=True))
    lines = [Line(k="http", m="GET", status=status) for status in (200, 404, 500)]
    assert [line.status for line in lines if chooser.wants(line)] == [404, 500]


def test_the_end_of_a_failed_action_is_an_error() -> None:
    chooser = Chooser(Choice(errors=True))
    ends = [Line(k="span-end", span=1, name="page.click", failed=failed) for failed in ("", "StaleRefError")]
    assert [line.failed for line in ends if chooser.wants(line)] == ["StaleRefError"]


def test_without_a_choice_everything_is_shown() -> None:
    chooser = Chooser(Choice())
    assert sum(chooser.wants(line) for line in small().lines) == ALL
