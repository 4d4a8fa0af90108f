"""The writer: what it is handed becomes a recording, to the last whole batch."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from cdpengine.debug import open_recording
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


def source(*batches: Batch, **header: Any) -> bytes:
    beginning = Beginning(
        header=Header(monotonic=0.5, started="2020", **header),
        known=[("c", "S", "T", "page", "http://x/?token=abcdef")],
        compressed=False,
        patterns=[("pin[0-9]+", 34)],  # in any case
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
