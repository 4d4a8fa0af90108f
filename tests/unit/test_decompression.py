"""Compressed and plain recordings cut at any point: exactly the data flushed before the cut is read."""

from __future__ import annotations

import io
import itertools
import os
import random
import re
from pathlib import Path

import hypothesis.strategies as st
import pytest
import zstandard
from hypothesis import given
from recorded import Recorded

import cdpengine
from cdpengine.debug import open_recording
from cdpengine.debug.reading.recording import (
    BlockDecompressor,
    CompressedLines,
    CutOff,
    Damaged,
    follow_recording,
)
from cdpengine.debug.recording.recording_file import FileWriter
from cdpengine.debug.recording_format import Line

COUNT = 25
TEXTS = ["", "short", "\r\n within ", "some text that comes again and again " * 6]


def recorded(count: int) -> Recorded:
    made = Recorded()
    chosen = random.Random(7)
    for _ in range(count):
        made.event("A.b", text=chosen.choice(TEXTS) + chosen.randbytes(20).hex())
    return made.end()


class Flushed:
    """A recording from the recorder's writer.

    `at` are file sizes, with the number of lines that each size contains.
    """

    def __init__(self, path: Path, *, compressed: bool) -> None:
        self.lines = recorded(COUNT).bytes().splitlines(keepends=True)
        self.at = [(0, 0)]
        self.compressed = compressed
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        writer = FileWriter(file, path.name, compressed=compressed, gather=lambda: None)
        given = itertools.batched(self.lines, 7) if hasattr(itertools, "batched") else _batched(self.lines, 7)
        for pieces in given:
            writer.give(pieces)
            # The work of the writer thread on waking, done here so that the flushes are known.
            writer._write_queue()
            self.at.append((path.stat().st_size, self.at[-1][1] + len(pieces)))
        writer.start()
        writer.finish()
        assert writer.failure is None
        self.data = path.read_bytes()

    def places(self) -> list[int]:
        """Return the cuts: every position, or in a long file the positions around flushes and line ends, and
        a sample of others.
        """
        size = len(self.data)
        ends = [match.end() for match in re.finditer(b"\n", self.data)] if size > 5_000 else range(size)
        around = {end + by for end in ends for by in (-2, -1, 0, 1)} | {end for end, _ in self.at}
        return sorted(place for place in {*around, *range(0, size, 41)} if 0 <= place < size)

    def known_at(self, cut: int) -> int:
        """Return the number of lines, including the header, that were flushed before a cut."""
        return max(lines for size, lines in self.at if size <= cut)


def _batched(lines: list[bytes], count: int) -> list[tuple[bytes, ...]]:
    return [tuple(lines[start : start + count]) for start in range(0, len(lines), count)]


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "compressed"])
def flushed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Flushed:
    return Flushed(tmp_path_factory.mktemp("flushed") / "a", compressed=request.param)


class FileOver(Exception):
    """The end of a followed file."""


def read(path: Path) -> tuple[list[Line], list[int]]:
    with open_recording(path) as recording:
        lines = list(recording)
        return lines, [damage.line for damage in recording.all_damage]


def follow(path: Path) -> list[Line]:
    def wait() -> None:
        raise FileOver

    lines: list[Line] = []
    try:
        with follow_recording(path, wait=wait) as recording:
            lines.extend(recording)
            assert recording.damage == []
    except FileOver:
        pass
    return lines


def test_cut_at_every_position_it_is_read_up_to_the_last_flush(flushed: Flushed, tmp_path: Path) -> None:
    path = tmp_path / "cut"
    whole = [line.n for line in recorded(COUNT).lines]
    for cut in flushed.places():
        path.write_bytes(flushed.data[:cut])
        known = flushed.known_at(cut)
        try:
            lines, damage = read(path)
        except cdpengine.errors.FileUnreadableError:
            # Without a complete header a file cannot be recognized as a recording.
            assert cut < (flushed.at[1][0] if flushed.compressed else len(flushed.lines[0]) - 1)
            continue
        numbers = [line.n for line in lines]
        assert numbers == whole[: len(numbers)]
        assert len(numbers) >= known - 1
        if lines and lines[-1].k == "end":
            assert damage in ([], [len(lines) + 2])  # only the end of the frame may be missing
        else:
            assert damage in ([len(lines) + 1], [len(lines) + 2])
        if cut % 20 == 0:
            # A line without its end may still be growing.
            assert len(follow(path)) in (len(lines), len(lines) - 1)


@given(data=st.data())
def test_damage_loses_nothing_before_its_block(data: st.DataObject) -> None:
    lines = recorded(60).bytes().splitlines(keepends=True)
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=data.draw(st.booleans())).compressobj()
    raw, flushes = b"", []
    for number, line in enumerate(lines, 1):
        raw += compressor.compress(line)
        if number % 9 == 0:
            raw += compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
            flushes.append((len(raw), number))
    raw += compressor.flush()
    place = data.draw(st.integers(0, len(raw) - 1))
    damaged = bytearray(raw)
    damaged[place] ^= data.draw(st.integers(1, 255))
    reader = CompressedLines(io.BytesIO(bytes(damaged)))
    found: list[bytes] = []
    try:
        while line := reader.readline():
            found.append(line)
    except (Damaged, CutOff):
        pass
    known = max([number for size, number in flushes if size <= place], default=0)
    assert found[:known] == lines[:known]


@given(cuts=st.lists(st.integers(0, 100_000), max_size=8), frames=st.integers(1, 3), checksum=st.booleans())
def test_the_text_is_the_same_for_any_sizes_of_input(cuts: list[int], frames: int, checksum: bool) -> None:
    text = random.Random(3).randbytes(9_000) + b"the same again " * 20_000 + bytes(300_000)
    skipped = b"\x53\x2a\x4d\x18\x05\x00\x00\x00other"
    data = skipped.join(
        zstandard.ZstdCompressor(write_checksum=checksum).compress(text) for _ in range(frames)
    )
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    decompressor = BlockDecompressor()
    found = b"".join(decompressor.feed(data[start:end]) for start, end in itertools.pairwise(places))
    assert found == text * frames
    assert decompressor.whole
    assert decompressor.feed(b"and more") == b""
    assert decompressor.damage == "the next bytes are no zstandard frame"


def test_a_line_without_its_end_is_still_a_line(tmp_path: Path) -> None:
    """A block may end in the middle of a line, or right before its end."""
    raw = recorded(3).bytes()
    path = tmp_path / "a"
    compressor = zstandard.ZstdCompressor().compressobj()
    path.write_bytes(compressor.compress(raw[:-1]) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK))
    lines, damage = read(path)
    assert [line.k for line in lines] == ["event"] * 3 + ["end"]
    assert damage == [6]


def test_an_incomplete_header_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a"
    for size in (1, 5, 40):
        path.write_bytes(recorded(1).bytes()[:size])
        with (
            pytest.raises(cdpengine.errors.FileUnreadableError, match="breaks off in its first line"),
            open_recording(path),
        ):
            pass
