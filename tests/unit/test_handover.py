"""Handing over: everything arrives, in order, whoever hands it over and however slowly it is taken."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from cdpengine.debug import open_recording
from cdpengine.debug.handover import Handover
from cdpengine.debug.recording import Header
from cdpengine.debug.writer import Beginning, End, Message

COUNT = 60


def beginning(**header: object) -> Beginning:
    return Beginning(
        header=Header(redacted=False, **header),  # type: ignore[arg-type]
        known=[],
        compressed=False,
        patterns=[],
        secrets=[],
    )


@pytest.mark.parametrize("size", [10, 200_000], ids=["small", "more than a pipe holds"])
def test_all_of_it_arrives_in_order(tmp_path: Path, size: int) -> None:
    path = tmp_path / "a.jsonl"
    with path.open("wb") as file:
        handover = Handover(beginning(), file.fileno(), path.name)
        handover.start()
        for number in range(COUNT):
            message = f'{{"method":"A.b","params":{{"number":{number},"text":"{"x" * size}"}}}}'.encode()
            handover.put(Message(number / 1000, False, "c", message), len(message), number / 1000)
        assert handover.bytes_in > COUNT * size
        handover.finish(End(1.0))
    assert (handover.failure, handover.waiting) == (None, 0)
    with open_recording(path) as recording:
        lines = list(recording)
        assert recording.closed_in_order
    assert [line.n for line in lines] == list(range(1, COUNT + 2))
    assert all(line.z > size for line in lines[:-1])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such file")
def test_what_cannot_be_written_is_told() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    file = os.open("/dev/full", os.O_WRONLY)
    try:
        handover = Handover(beginning(), file, "full")
        handover.start()
        for number in range(COUNT):
            message = b'{"method":"A.b","params":"' + b"x" * 200_000 + b'"}'
            handover.put(Message(number / 1000, False, "c", message), len(message), number / 1000)
        handover.finish(End(1.0))
    finally:
        os.close(file)
    assert handover.failure == "No space left on device"
