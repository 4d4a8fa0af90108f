"""Reading a recording while it is written: every line once, when it is complete, compressed or not."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import pytest
import zstandard
from hypothesis import HealthCheck, given, settings
from recorded import Recorded

import cdpengine
from cdpengine.debug.reading.recording import follow_recording
from cdpengine.debug.recording_format import Line


def recorded(count: int = 12) -> Recorded:
    made = Recorded()
    for number in range(count):
        made.event("A.b", text="\r line ends within? \n" * number)
    return made.end()


def compressed(raw: bytes, frames: int = 1) -> bytes:
    """Compress as the recorder does, with a flush after each line that makes it readable."""
    out = b""
    lines = raw.splitlines(keepends=True)
    size = -(-len(lines) // frames)
    for start in range(0, len(lines), size):
        compressor = zstandard.ZstdCompressor().compressobj()
        for line in lines[start : start + size]:
            out += compressor.compress(line) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
        out += compressor.flush()
    return out


class Writer:
    """Writes a file piece by piece: the next piece whenever the reader waits."""

    def __init__(self, path: Path, pieces: list[bytes]) -> None:
        self.path = path
        self.pieces: Iterator[bytes] = iter(pieces)
        path.write_bytes(next(self.pieces))

    def write_more(self) -> None:
        try:
            piece = next(self.pieces)
        except StopIteration:
            raise KeyboardInterrupt from None
        with self.path.open("ab") as file:
            file.write(piece)


def follow(path: Path, pieces: list[bytes]) -> tuple[list[Line], list[str]]:
    writer = Writer(path, pieces)
    lines = []
    with follow_recording(path, wait=writer.write_more) as recording:
        for line in recording:
            lines.append(line)
            if line.k == "end":
                break
        return lines, [str(damage) for damage in recording.damage]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(0, 4000), max_size=12), kind=st.sampled_from(["plain", "zst", "two frames"]))
def test_lines_arrive_however_the_file_grows(tmp_path: Path, cuts: list[int], kind: str) -> None:
    made = recorded()
    raw = made.bytes()
    data = raw if kind == "plain" else compressed(raw, frames=1 if kind == "zst" else 2)
    places = sorted({0, len(data), *(cut % len(data) for cut in cuts)})
    pieces = [data[start:end] for start, end in itertools.pairwise(places)]
    lines, damage = follow(tmp_path / "a", pieces)
    assert [line.n for line in lines] == [line.n for line in made.lines]
    assert damage == []


def test_a_line_is_not_returned_before_it_is_complete(tmp_path: Path) -> None:
    raw = recorded().bytes()
    writer = Writer(tmp_path / "a", [raw[:-10]])
    seen: list[str] = []
    with pytest.raises(KeyboardInterrupt), follow_recording(writer.path, wait=writer.write_more) as recording:
        seen.extend(line.k for line in recording)
    assert seen == ["event"] * 12


@pytest.mark.parametrize("kind", ["plain", "zst"])
def test_damage_on_the_way_is_reported(tmp_path: Path, kind: str) -> None:
    raw = recorded().bytes()
    lines = raw.splitlines(keepends=True)
    if kind == "plain":
        found, damage = follow(tmp_path / "a", [b"".join(lines[:4]), b"rubbish\n", b"".join(lines[5:])])
        assert len(found) == 12
        assert damage[0].startswith("line 5: ")
    else:
        found, damage = follow(
            tmp_path / "a", [compressed(b"".join(lines[:4])), b"rubbish that is no frame\n"]
        )
        assert len(found) == 3
        assert "compressed data" in damage[0]


def test_a_file_that_shrinks_ends_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(recorded().bytes()[:-20])

    def cut() -> None:
        path.write_bytes(b"")

    with follow_recording(path, wait=cut) as recording:
        assert len(list(recording)) == 12
        assert "cut short" in str(recording.damage[0])


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b'{"no": "recording"}\n')
    with pytest.raises(cdpengine.errors.FileUnreadableError, match="not a header"), follow_recording(path):
        pass
    with pytest.raises(cdpengine.errors.InvalidArgumentError), follow_recording(tmp_path / "none"):
        pass
