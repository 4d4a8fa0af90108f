"""Writing to a file: everything arrives, in order, and losses are reported."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest
import zstandard

from cdpengine.debug.reading.recording import BlockDecompressor
from cdpengine.debug.recording.recording_file import TOO_SLOW, FileWriter

COUNT = 60


def opened(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def nothing() -> None:
    pass


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
@pytest.mark.parametrize("size", [10, 200_000])
def test_all_of_it_arrives_in_order(tmp_path: Path, size: int, compressed: bool) -> None:
    path = tmp_path / "a"
    pieces = [f"{number} ".encode() * size for number in range(COUNT)]
    writer = FileWriter(opened(path), path.name, compressed=compressed, gather=nothing)
    writer.give([pieces[0]])
    writer.start()
    for piece in pieces[1:]:
        writer.give([piece])
    writer.finish()
    assert (writer.failure, writer.waiting) == (None, 0)
    assert writer.written == path.stat().st_size
    data = path.read_bytes()
    if compressed:
        data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
    assert data == b"".join(pieces)


def test_data_of_another_holder_is_fetched_until_the_end(tmp_path: Path) -> None:
    lying = [b"last"]

    def gather() -> None:
        if ending and lying:
            writer.give([lying.pop()])

    ending = False
    writer = FileWriter(opened(tmp_path / "a"), "a", compressed=False, gather=gather)
    writer.start()
    writer.give([b"first "])
    ending = True
    writer.finish()
    assert (tmp_path / "a").read_bytes() == b"first last"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is missing")
def test_a_failure_to_write_is_reported() -> None:
    writer = FileWriter(os.open("/dev/full", os.O_WRONLY), "full", compressed=False, gather=nothing)
    writer.start()
    writer.give([b"a line"])
    writer.finish()
    assert (writer.failure or "").startswith("no space is left on the disk (ENOSPC)")


@pytest.mark.skipif(sys.platform == "win32", reason="pipes hold otherwise there")
def test_a_disk_that_accepts_nothing_is_left_alone() -> None:
    reading, writing = os.pipe()
    try:
        writer = FileWriter(writing, "slow", compressed=False, gather=nothing)
        writer.start()
        writer.give([bytes(10_000_000)])
        writer.finish(patience=0.2)
        assert writer.failure == TOO_SLOW
        assert writer.waiting > 0
    finally:
        os.close(reading)  # which ends the thread


def test_an_error_of_gather_is_reported(tmp_path: Path) -> None:
    def gather() -> None:
        raise ValueError

    writer = FileWriter(opened(tmp_path / "a"), "a", compressed=False, gather=gather)
    writer.start()
    writer.finish()
    assert writer.failure == "ValueError"


def test_slow_data_can_be_read_while_the_writer_runs(tmp_path: Path) -> None:
    path = tmp_path / "a"
    writer = FileWriter(opened(path), path.name, compressed=True, gather=nothing)
    writer.give([b"first\n"])
    writer.start()
    assert decoded(path) == b"first\n"  # present when the thread started
    expected = b"first\n"
    for number in range(5):
        writer.give([b"line %d\n" % number])
        expected += b"line %d\n" % number
        deadline = time.monotonic() + 10
        while decoded(path) != expected:
            assert time.monotonic() < deadline
            time.sleep(0.005)
    writer.finish()


def test_a_flood_is_flushed_although_more_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the test's clock: each piece of the flood takes 0.25 s."""
    now = 0.0
    lags: list[int] = []

    def clock() -> float:
        nonlocal now
        now += 0.25
        # The part of earlier data that is already readable. The rest is at most as old as the last flush.
        taken = COUNT - len(writer._queue)
        lags.append(taken - decoded(path).count(b"\n"))
        return now

    path = tmp_path / "a"
    writer = FileWriter(opened(path), path.name, compressed=True, gather=nothing)
    monkeypatch.setattr(time, "monotonic", clock)
    writer.give([os.urandom(80_000).replace(b"\n", b"-") + b"\n" for _ in range(COUNT)])
    writer._write_queue()
    assert len(lags) > COUNT
    assert max(lags) * 0.25 <= 0.5
    assert decoded(path).count(b"\n") == COUNT
    writer.start()
    writer.finish()


def decoded(path: Path) -> bytes:
    return BlockDecompressor().feed(path.read_bytes())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is missing")
def test_a_failure_to_write_at_the_start_is_reported() -> None:
    writer = FileWriter(os.open("/dev/full", os.O_WRONLY), "full", compressed=False, gather=nothing)
    writer.give([b"a line"])
    writer.start()
    assert writer.failure is not None
    assert writer.failure.startswith("no space is left on the disk (ENOSPC)")
    writer.finish()
