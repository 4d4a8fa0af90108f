"""Runs for the lines of a file, without a browser: each input has one outcome, however a run ends."""

from __future__ import annotations

import errno
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing
from map_runs import largest_file, lines_of, outcomes_of, pageless_pool

from cdpengine.errors import (
    EngineError,
    FileNotWrittenError,
    InvalidArgumentError,
    NavigationFailedError,
    PackageMissingError,
    PoolUnavailableError,
)
from cdpengine.pool.mapping import MapCounts, MapFiles, MapRun

COUNT = 12


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_text("".join(f"http://host/{number}\n" for number in range(1, COUNT + 1)))
    return path


async def number_of(_page: object, url: str) -> int:
    await trio.lowlevel.checkpoint()
    return int(url.rpartition("/")[2])


async def run(
    inputs: Path | None,
    function: Callable[..., Awaitable[Any]] = number_of,
    *,
    far: bool = False,
    **more: Any,
) -> MapCounts:
    output = (inputs.parent if inputs is not None else Path()) / "o.jsonl"
    settings = MapFiles(**{"function": "f", "inputs": inputs, "output": output, **more})
    async with pageless_pool() as pool, MapRun.open(settings) as opened:
        await opened.do(pool, function, far=far)
    return opened.counts


async def test_each_input_has_its_outcome(inputs: Path) -> None:
    with inputs.open("a") as file:
        file.write('\n{"url":"http://host/14","n":1}\nnonsense\n"http://host/16"')

    async def work(_page: object, item: Any) -> Any:
        number = int((item["url"] if isinstance(item, dict) else item).rpartition("/")[2])
        await trio.lowlevel.checkpoint()
        match number:
            case 2:
                raise NavigationFailedError("http://u:hunter2@host/?token=hunter2", "net::ERR")
            case 3:
                raise LookupError("password=hunter2 in http://u:hunter2@host/")
            case 4:
                return {"bytes": b"\x00", "nan": float("nan"), 7: [(1,)], "text": "\u2028\x9b\ud800"}
        return number

    counts = await run(inputs, work)
    assert (counts.total, counts.done, counts.failed, counts.left) == (15, 12, 3, 0)
    done = {each["line"]: each for each in lines_of(inputs.with_name("o.jsonl"))}
    failed = {each["line"]: each for each in lines_of(inputs.with_name("o.failures.jsonl"))}
    assert set(done) == {1, *range(4, 13), 14, 16}
    assert list(done[14]) == ["line", "digest", "input", "value", "attempts", "seconds"]
    assert (done[14]["input"], done[14]["value"], done[14]["attempts"]) == (
        {"url": "http://host/14", "n": 1},
        14,
        1,
    )
    assert done[4]["value"] == {"bytes": "AA==", "nan": "NaN", "7": [[1]], "text": "\u2028\x9b\ud800"}
    assert {line: each["error"]["type"] for line, each in failed.items()} == {
        2: "NavigationFailedError", 3: "LookupError", 15: "InvalidInput",
    }  # fmt: skip
    assert "hunter2" not in inputs.with_name("o.failures.jsonl").read_text()
    assert failed[3]["error"]["at"].startswith("test_map_runs.py:")
    assert failed[3]["error"]["at"].endswith(" in work")
    assert "at" not in failed[2]["error"]


async def test_nothing_runs_twice_and_new_lines_run(inputs: Path) -> None:
    called: Counter[int] = Counter()

    async def work(page: object, url: str) -> int:
        number = await number_of(page, url)
        called[number] += 1
        if number == 5:
            raise ValueError
        return number

    await run(inputs, work)
    with inputs.open("a") as file:
        file.write("http://host/13\nhttp://host/14")
    counts = await run(inputs, work)
    assert called == dict.fromkeys(range(1, 15), 1)
    assert outcomes_of(inputs.with_name("o.jsonl")) == dict.fromkeys(range(1, 15), 1)
    assert (counts.done, counts.done_before, counts.failed_before, counts.left) == (2, 11, 1, 0)
    counts = await run(inputs, work, retry_failures=True)
    assert called[5] == 2
    assert (counts.failed, counts.failed_before, counts.all_failed, counts.left) == (1, 0, 1, 0)
    assert outcomes_of(inputs.with_name("o.jsonl")) == dict.fromkeys(range(1, 15), 1)


async def test_changed_inputs_are_refused_before_any_work(inputs: Path) -> None:
    await run(inputs)
    inputs.write_text(inputs.read_text().replace("/7\n", "/77\n") + "http://host/13\n")
    with pytest.raises(
        InvalidArgumentError, match=r"in\.txt, whose line 7 differs from the one of the earlier run"
    ):
        await run(inputs)
    assert outcomes_of(inputs.with_name("o.jsonl")) == dict.fromkeys(range(1, COUNT + 1), 1)


@pytest.mark.parametrize("what", ["folder", "missing"])
async def test_inputs_that_cannot_be_read(tmp_path: Path, what: str) -> None:
    path = tmp_path if what == "folder" else tmp_path / "none"
    with pytest.raises(InvalidArgumentError, match="expected a readable file"):
        await run(path, output=tmp_path / "o.jsonl")
    assert list(tmp_path.iterdir()) == []


# --- runs that end early
# ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("once", [False, True])
@pytest.mark.parametrize("far", [False, True])
async def test_a_run_cancelled_at_any_point_continues(inputs: Path, *, once: bool, far: bool) -> None:
    chance = random.Random(3 + once)
    called: Counter[int] = Counter()

    async def work(page: object, url: str) -> int:
        number = await number_of(page, url)
        called[number] += 1
        for _ in range(chance.randrange(8)):
            await trio.lowlevel.checkpoint()
        if number % 4 == 0:
            raise ValueError(number)
        return number

    recorded: Counter[int] = Counter()
    for _ in range(200):
        called.clear()
        with trio.CancelScope() as scope:
            async with trio.open_nursery() as nursery:

                async def cancel_after(turns: int, scope: trio.CancelScope) -> None:
                    for _ in range(turns):
                        await trio.lowlevel.checkpoint()
                    scope.cancel()

                nursery.start_soon(cancel_after, chance.randrange(600), scope)
                await run(inputs, work, once=once, far=far)
                nursery.cancel_scope.cancel()
        assert not set(called) & set(recorded)
        recorded = outcomes_of(inputs.with_name("o.jsonl"))
        assert set(recorded.values()) <= {1}
        if len(recorded) == COUNT:
            break
    await run(inputs, work, once=once, far=far)
    assert outcomes_of(inputs.with_name("o.jsonl")) == dict.fromkeys(range(1, COUNT + 1), 1)


@pytest.mark.parametrize("far", [False, True])
async def test_an_interrupted_input_is_not_repeated_in_at_most_once_mode(inputs: Path, *, far: bool) -> None:
    called: Counter[str] = Counter()
    stuck = trio.Event()

    async def work(_page: object, url: str) -> str:
        called[url] += 1
        if url.endswith("/3") and not stuck.is_set():
            stuck.set()
            await trio.sleep_forever()
        return url

    async with trio.open_nursery() as nursery:
        nursery.start_soon(lambda: run(inputs, work, once=True, far=far))
        await stuck.wait()
        await trio.testing.wait_all_tasks_blocked(0.01)
        nursery.cancel_scope.cancel()
    counts = await run(inputs, work, once=True, far=far)
    assert set(called.values()) == {1}
    assert counts.left == 0
    failed = {each["line"]: each["error"]["type"] for each in lines_of(inputs.with_name("o.failures.jsonl"))}
    assert failed[3] == "Interrupted"
    assert set(failed.values()) == {"Interrupted"}
    with pytest.raises(InvalidArgumentError, match="begun once only"):
        await run(inputs, work, once=True, retry_failures=True, far=far)


@pytest.mark.parametrize("error", [
    PoolUnavailableError("lease a page", "the pool had no browser for 60 s", ["launched: no"]),
    PoolUnavailableError("do a job", "the pool drains", closed=True),
    PackageMissingError("protego", "reads robots.txt", "crawl"),
], ids=lambda error: type(error).__name__)  # fmt: skip
async def test_errors_unrelated_to_an_input_leave_the_run(inputs: Path, error: EngineError) -> None:
    async def work(page: object, url: str) -> int:
        number = await number_of(page, url)
        if number > 4:
            raise error
        return number

    with pytest.raises(type(error)):
        await run(inputs, work)
    left = outcomes_of(inputs.with_name("o.jsonl"))
    assert set(left) <= {1, 2, 3, 4}
    assert len(left) > 1
    await run(inputs)
    assert outcomes_of(inputs.with_name("o.jsonl")) == dict.fromkeys(range(1, COUNT + 1), 1)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks such limits")
@pytest.mark.parametrize("size", [0, 1, 130, 200, 400, 1000])
async def test_a_full_disk_ends_a_run_that_can_continue(inputs: Path, size: int) -> None:
    async def work(page: object, url: str) -> int:
        number = await number_of(page, url)
        if number % 2:
            raise ValueError(number)
        return number

    with (
        largest_file(size),
        pytest.raises(FileNotWrittenError, match="the same command continues from there"),
    ):
        await run(inputs, work)
    output = inputs.with_name("o.jsonl")
    before = outcomes_of(output)
    assert len(before) < COUNT
    counts = await run(inputs, work)
    assert counts.done_before + counts.failed_before == len(before)
    assert outcomes_of(output) == dict.fromkeys(range(1, COUNT + 1), 1)


DISK = """
set -e
mount -t tmpfs -o size=64k none "$1"
cd "$1"
seq -f 'http://host/%g' 1 40 > in.txt
! "$2" "$3" || exit 3
cat o.jsonl > /dev/null
df --output=avail . | tail -1 >&2
wc -l < o.jsonl
mount -o remount,size=4m none "$1"
"$2" "$3"
cat o.jsonl
"""

PROGRAM = """
import trio
from pathlib import Path
from map_runs import pageless_pool
from cdpengine.pool.mapping import MapFiles, MapRun

async def work(_page, url):
    return url + "x" * 3000

async def main():
    files = MapFiles(function="f", inputs=Path("in.txt"), output=Path("o.jsonl"))
    async with pageless_pool() as pool, MapRun.open(files) as run:
        await run.do(pool, work)

trio.run(main)
"""


def may_mount() -> bool:
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@pytest.mark.skipif(not may_mount(), reason="only root can make a small disk, on Linux")
def test_a_small_disk_is_full_and_made_larger(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    (tmp_path / "disk").mkdir()
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", DISK, "sh", str(tmp_path / "disk"), sys.executable, str(program)],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert "FileNotWrittenError: the results could not be written to o.jsonl: no space is left" in done.stderr
    written, *lines = done.stdout.splitlines()
    assert 10 < int(written) < 21
    assert sorted(json.loads(line)["line"] for line in lines) == list(range(1, 41))
    assert {len(json.loads(line)["value"]) for line in lines} <= {3013, 3014}


async def test_files_of_values(inputs: Path, tmp_path: Path) -> None:
    async def work(page: object, url: str) -> Any:
        number = await number_of(page, url)
        return [b"\x89PNG\r\n", {"a": 1}, b"%PDF-1", bytearray(b"?")][number % 4]

    folder = tmp_path / "a" / "b"
    settings = MapFiles(function="f", inputs=inputs, output=tmp_path / "o.jsonl", folder=folder)
    async with pageless_pool() as pool, MapRun.open(settings) as opened:
        await opened.do(pool, work, suffix=".har")
    values = {each["line"]: Path(each["value"]) for each in lines_of(tmp_path / "o.jsonl")}
    assert {path.suffix for path in values.values()} == {".png", ".har", ".pdf", ".bin"}
    assert sorted(folder.iterdir()) == sorted(values.values())
    assert [values[line].read_bytes() for line in (4, 1, 2, 3)] == [
        b"\x89PNG\r\n",
        b'{"a": 1}',
        b"%PDF-1",
        b"?",
    ]
    assert {path.stat().st_mode & 0o777 for path in values.values()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


async def test_a_full_folder_ends_the_run(inputs: Path, tmp_path: Path) -> None:
    async def work(_page: object, _url: str) -> bytes:
        return bytes(5000)

    with largest_file(4096), pytest.raises(FileNotWrittenError, match="files"):
        await run(inputs, work, folder=tmp_path / "files")
    assert list((tmp_path / "files").iterdir()) == []
    assert outcomes_of(tmp_path / "o.jsonl") == {}


# --- inputs from elsewhere
# ----------------------------------------------------------------------------------------


async def test_inputs_from_a_pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each input runs as it arrives. A second pipe recognizes the inputs that already have an outcome."""
    path = tmp_path / "pipe"
    seen: list[str] = []

    async def work(_page: object, url: str) -> str:
        seen.append(url)
        return url

    async def feed(lines: list[str], *, change: bool = False) -> MapCounts:
        os.mkfifo(path)
        counts: MapCounts | None = None

        async def go() -> None:
            nonlocal counts
            counts = await run(path, work)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(go)
            writing = await trio.to_thread.run_sync(os.open, path, os.O_WRONLY)
            for line in lines:
                before = len(seen)
                os.write(writing, f"http://host/{line}\n".encode())
                if line not in known:
                    with trio.fail_after(10):
                        while len(seen) == before:  # noqa: ASYNC110 - it comes through a thread
                            await trio.sleep(0.001)
            os.close(writing)
        path.unlink()
        assert counts is not None
        return counts

    known: set[str] = set()
    counts = await feed(["a", "b"])
    assert (counts.total, counts.done, counts.left) == (2, 2, 0)
    known = {"a", "b"}
    counts = await feed(["a", "b", "c"])
    assert (counts.total, counts.done, counts.left) == (3, 1, 0)
    assert seen == ["http://host/a", "http://host/b", "http://host/c"]
    known.add("x")
    with pytest.raises(ExceptionGroup) as caught:
        await feed(["a", "x"])
    assert caught.group_contains(InvalidArgumentError, match="whose line 2 differs")
    assert seen[3:] == []


async def test_a_silent_pipe_does_not_delay_the_end(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writing = os.open(path, os.O_RDWR)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(lambda: run(path))
            os.write(writing, b"http://host/1\n")
            output = tmp_path / "o.jsonl"
            with trio.fail_after(10):
                while not (output.exists() and output.stat().st_size):  # noqa: ASYNC110
                    await trio.sleep(0.001)
            cancelled = time.monotonic()
            nursery.cancel_scope.cancel()
        assert time.monotonic() - cancelled < 5
        assert outcomes_of(output) == {1: 1}
    finally:
        os.write(writing, b"\n")  # ends the reader thread
        os.close(writing)


async def test_written_outcomes_are_flushed_to_disk(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, synchronized = os.fsync, Counter[str]()

    def fsync(descriptor: int) -> None:
        synchronized[os.path.basename(os.readlink(f"/proc/self/fd/{descriptor}"))] += 1
        real(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    await run(inputs, once=True)
    # The end of a run; and each mark, before its input starts.
    assert synchronized["o.jsonl"] >= 1
    assert synchronized["o.jsonl.journal"] >= COUNT


async def test_a_disk_that_cannot_flush_is_reported(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(_descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(FileNotWrittenError, match="Input/output error"):
        await run(inputs)
