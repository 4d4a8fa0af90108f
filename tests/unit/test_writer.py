"""The writer: what it is handed becomes a recording, to the last whole batch."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from cdpengine.debug import Redactor, open_recording
from cdpengine.debug.lines import LineMaker
from cdpengine.debug.recording import Header, Line
from cdpengine.debug.writer import (
    Batch,
    Beginning,
    End,
    Item,
    Lost,
    Message,
    SpanEnd,
    framed,
    write_recording,
)
from cdpengine.wire.tap import Span, Traffic

HALF = '{"id":2,"result":{"half":"\ud83d"}}'

ITEMS: list[Item] = [
    Message(1.0, True, "c", b'{"id":1,"method":"A.a","params":{"pin":"PIN1234"}}', 7, "page.click e7"),
    Message(1.5, False, "c", '{"id":1,"result":{"password":"hunter22"}}'),
    Lost(1.6, 3),
    Message(1.7, True, "c", b'{"id":2,"method":"A.b"}'),
    Message(1.8, False, "c", HALF),
    SpanEnd(2.0, 7, 0.5),
    End(2.5),
]


def source(*batches: Batch, patterns: bool = True, **header: Any) -> bytes:
    beginning = Beginning(
        header=Header(monotonic=0.5, started="2020", **header),
        known=[("c", "S", "T", "page", "http://x/?token=abcdef")],
        compressed=False,
        patterns=[("pin[0-9]+", 34)] if patterns else [],  # in any case
        secrets=["hunter22"],
    )
    framed_all = [framed(beginning), *map(framed, batches)]
    return b"".join(size + data for size, data in framed_all)


def written(data: bytes, path: Path) -> tuple[list[Line], bytes]:
    out = io.BytesIO()
    write_recording(io.BytesIO(data), out)
    path.write_bytes(out.getvalue())
    with open_recording(path) as recording:
        lines = list(recording)
        assert recording.damage == []
    return lines, out.getvalue()


def test_what_is_handed_over_is_written_in_order(tmp_path: Path) -> None:
    lines, raw = written(source(Batch(ITEMS[:3], False), Batch(ITEMS[3:], True)), tmp_path / "a.jsonl")
    assert [line.k for line in lines] == [
        "target", "span", "call", "reply", "lost", "call", "reply", "span-end", "end",
    ]  # fmt: skip
    assert [line.t for line in lines] == [0.0, 0.5, 0.5, 1.0, 1.1, 1.2, 1.3, 1.5, 2.0]
    assert (lines[3].ms, lines[4].count, lines[7].ms) == (500, 3, 1500)
    for secret in (b"PIN1234", b"hunter22", b"abcdef"):
        assert secret not in raw


def test_unredacted_is_as_it_was(tmp_path: Path) -> None:
    lines, raw = written(source(Batch(ITEMS[:2], True), redacted=False), tmp_path / "a.jsonl")
    assert json.loads(bytes(lines[3].msg)) == {"id": 1, "result": {"password": "hunter22"}}
    assert b"PIN1234" in raw


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_batch_that_breaks_off_is_left_out(tmp_path: Path, cut: int) -> None:
    data = source(Batch(ITEMS[:2], False), Batch(ITEMS[3:4], True))
    lines, _ = written(data[:-cut], tmp_path / "a.jsonl")
    assert [line.k for line in lines] == ["target", "span", "call", "reply"]


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


@given(messages=st.lists(st.tuples(st.booleans(), texts), max_size=12), limit=st.sampled_from([0, 2_000]))
def test_a_batch_is_written_as_its_messages_one_by_one(messages: list[tuple[bool, str]], limit: int) -> None:
    items: list[Item] = [Message(1.0, sent, "c", text, 7, "page.type cAnArY7f3") for sent, text in messages]
    one_by_one, at_once = io.BytesIO(), io.BytesIO()
    write_recording(
        io.BytesIO(source(*(Batch([item], True) for item in items), patterns=False, limit=limit)), one_by_one
    )
    write_recording(io.BytesIO(source(Batch(items, True), patterns=False, limit=limit)), at_once)
    assert at_once.getvalue() == one_by_one.getvalue()
    maker = LineMaker(began=0.5, limit=limit, redactor=Redactor(secrets=["hunter22"]))
    maker.target(0.5, "c", "S", "T", "page", "")
    cause = Span(7, "page.type cAnArY7f3")
    plain = [
        line
        for sent, text in messages
        for line in maker.lines(Traffic(1.0, "sent" if sent else "received", "c", text, cause))
    ]
    assert one_by_one.getvalue().splitlines(keepends=True)[2:] == plain
