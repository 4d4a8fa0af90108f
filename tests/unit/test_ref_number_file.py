"""The highest number of a ref survives the service, whatever the state of its file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from cdpengine.shell.ref_number_file import RefNumberFile


async def test_numbers_are_reserved_in_blocks(tmp_path: Path) -> None:
    path = tmp_path / "state" / "refs"
    kept = await RefNumberFile.load(path)
    assert kept.last == 0
    await kept.keep(7)
    assert (await RefNumberFile.load(path)).last == 100
    path.unlink()
    await kept.keep(100)  # in the same block: nothing is written
    assert not path.exists()
    await kept.keep(101)
    assert (await RefNumberFile.load(path)).last == 200


async def test_a_higher_number_of_another_service_stays(tmp_path: Path) -> None:
    path = tmp_path / "refs"
    one, other = await RefNumberFile.load(path), await RefNumberFile.load(path)
    await one.keep(950)
    await other.keep(5)
    assert (await RefNumberFile.load(path)).last == 1000


@pytest.mark.parametrize("content", [b"", b"none", b"-5", b"1" * 40, b"\xff"])
async def test_after_a_damaged_file_numbers_begin_behind_the_time(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "refs"
    path.write_bytes(content)
    before = int(time.time())
    kept = await RefNumberFile.load(path)
    assert kept.last >= before
    assert (await RefNumberFile.load(path)).last == kept.last


async def test_without_a_writable_folder_numbers_begin_behind_the_time(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")  # a folder of this name cannot be created, not even by root
    path = tmp_path / "file" / "refs"
    before = int(time.time())
    kept = await RefNumberFile.load(path)
    assert kept.last >= before
    await kept.keep(kept.last + 1)
    assert [each.levelname for each in caplog.records] == ["WARNING"] * len(caplog.records)
    assert caplog.text.count("cannot write the highest") == 1
    assert (await RefNumberFile.load(path)).last >= before
