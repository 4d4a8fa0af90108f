"""Files that are complete or absent, compressed according to their name."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from cdpengine._measure.tracing import DEFAULT_CATEGORIES, TraceOptions, format_of
from cdpengine._page.downloads.output_file import checked_path, output_file
from cdpengine.errors import FileNotWrittenError, InvalidArgumentError


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz", "a.GZ"])
async def test_a_file_appears_only_at_the_end(tmp_path: Path, name: str, late: bool) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    async with output_file("the thing", path, compress_late=late) as file:
        for _ in range(3):
            await file.write(b"x" * 1000)
        assert path.read_bytes() == b"old"
        assert len(list(tmp_path.iterdir())) == 2
    assert list(tmp_path.iterdir()) == [path]
    data = path.read_bytes()
    assert (file.written, file.size) == (3000, len(data))
    assert (gzip.decompress(data) if name.lower().endswith("gz") else data) == b"x" * 3000


@pytest.mark.parametrize("name", ["a", "a.gz"])
async def test_a_failed_block_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    with pytest.raises(KeyError):
        async with output_file("the thing", path) as file:
            await file.write(b"new")
            raise KeyError
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


async def test_a_failed_write_gives_the_reason(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotWrittenError, match=r"the thing could not be written to .*/none/a: No such file"
    ):
        async with output_file("the thing", tmp_path / "none" / "a"):
            pytest.fail("there is nothing to write to")
    for odd in ("", None, 3, tmp_path):
        with pytest.raises(InvalidArgumentError):
            checked_path("the thing", odd)  # type: ignore[arg-type]


def test_the_name_of_a_trace_determines_its_format() -> None:
    proto = ["a.pftrace", "a.perfetto-trace", "a.pb.gz", "A.PFTRACE.GZ"]
    assert {format_of(Path(name)) for name in proto} == {"proto"}
    assert {format_of(Path(name)) for name in ("a.json", "a.json.gz", "a", "trace.gz")} == {"json"}


def test_the_options_of_a_trace() -> None:
    def checked(
        categories: object = None,
        screenshots: bool = False,
        buffer_size: object = None,
        keep_latest: bool = False,
    ) -> TraceOptions:
        return TraceOptions.checked(
            Path("a.json"),
            categories,  # type: ignore[arg-type]
            screenshots=screenshots,
            buffer_size=buffer_size,  # type: ignore[arg-type]
            keep_latest=keep_latest,
        )

    assert checked().categories == DEFAULT_CATEGORIES
    assert checked("v8*, blink").categories == ("v8*", "blink")
    assert "disabled-by-default-devtools.screenshot" in checked(["v8"], screenshots=True).categories
    config = checked(["v8"], buffer_size=4 << 20, keep_latest=True).params()["traceConfig"]
    assert isinstance(config, dict)
    assert (config["traceBufferSizeInKb"], config["recordMode"]) == (4096, "recordContinuously")
    for odd in ([], [""], ["-v8"], ["a,b"], ["a b"], [3], 3, ""):
        with pytest.raises(InvalidArgumentError, match="categories"):
            checked(odd)
    for size in (0, 1000, "1", True, 1.5e9):
        with pytest.raises(InvalidArgumentError, match="buffer_size"):
            checked(buffer_size=size)
