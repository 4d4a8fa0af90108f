"""`cdpengine map` without a browser: refusals, messages, and the progress display."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
import trio
import trio.testing
from command_line import run_here

from cdpengine.cli import map as command
from cdpengine.pool.mapping import MapCounts, MapFiles
from cdpengine.pool.mapping.inputs import read_input
from cdpengine.pool.mapping.journal import encode_failure, encode_value
from cdpengine.pool.mapping.run_files import RunFiles


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with inputs, without a browser: a command that reaches the browser start fails."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    (tmp_path / "in.txt").write_text("http://127.0.0.1:9/a\nhttp://127.0.0.1:9/b\n")
    return tmp_path


def record(*failing: int) -> None:
    """Create the files of a run in which all inputs have an outcome."""
    files = RunFiles.open(MapFiles(function="markdown", inputs=Path("in.txt"), output=Path("out.jsonl")))
    for number, line in enumerate(Path("in.txt").read_bytes().splitlines(), 1):
        entry = read_input(number, line)
        if number in failing:
            error = {"type": "E", "message": "no"}
            files.add_failure(entry, encode_failure(entry, error, attempts=1, seconds=1))
        else:
            files.add_result(entry, encode_value(entry, "x", attempts=1, seconds=1))
    files.close()


@pytest.mark.parametrize(("arguments", "message"), [
    (("markdown", "in.txt"), "Missing option '--output'"),
    (("markdown", "-o", "out.jsonl"), "Missing argument 'INPUTS'"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--once", "--retries", "1"), "give only one"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--once", "--retry-failures"), "give only one"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--browser", "x", "--endpoint", "http://h:1"), "give only one"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--endpoint", "h:1"), "endpoint"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--pages", "0"), "--pages"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--timeout", "0"), "--timeout"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--scheduler", "h:1"), "scheduler: got 'h:1', expected an address"),
    (("markdwon", "in.txt", "-o", "out.jsonl"), "function: got markdwon, expected markdown?"),
    (("none.py:f", "in.txt", "-o", "out.jsonl"), "none.py, expected a file that exists"),
    (("markdown", "none.txt", "-o", "out.jsonl"), "inputs: got none.txt, expected a readable file"),
    (("markdown", "in.txt", "-o", "none/out.jsonl"), "expected a file in an existing folder"),
    (("markdown", "in.txt", "-o", "in.txt"), "output: got in.txt, which is also the inputs"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--failures", "out.jsonl"), "which is also the output"),
    (("markdown", "in.txt", "-o", "out.jsonl", "--files", "in.txt"), "in.txt"),
    (("markdown", "in.txt", "-o", "."), "directory"),
])  # fmt: skip
@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
def test_invalid_options_are_refused(
    folder: Path, arguments: tuple[str, ...], message: str, *, as_json: bool
) -> None:
    done = run_here("map", *arguments, *(["--json"] if as_json else []))
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    if done.stdout:
        assert as_json
        assert json.loads(done.stdout)["error"]["type"] == "InvalidArgumentError"
    assert [path.name for path in folder.iterdir()] == ["in.txt"]


def test_lines_of_another_file_are_not_touched(folder: Path) -> None:
    (folder / "out.jsonl").write_text('{"a":1}\n')
    done = run_here("map", "markdown", "in.txt", "-o", "out.jsonl")
    assert (done.returncode, "whose line 1 was not written by `map`" in done.stderr) == (2, True)
    assert {path.name: path.read_text() for path in folder.iterdir() if path.name != "in.txt"} == {
        "out.jsonl": '{"a":1}\n'
    }


@pytest.mark.parametrize(("change", "message"), [
    ("http://127.0.0.1:9/c\nhttp://127.0.0.1:9/b\n", "in.txt, whose line 1 differs from the one of the earlier run"),
    ("http://127.0.0.1:9/a\n", "in.txt, whose line 2 differs"),
])  # fmt: skip
def test_changed_inputs_are_refused(folder: Path, change: str, message: str) -> None:
    record()
    (folder / "in.txt").write_text(change)
    done = run_here("map", "markdown", "in.txt", "-o", "out.jsonl")
    assert (done.returncode, message in done.stderr) == (2, True)


def test_another_function_is_refused() -> None:
    record()
    done = run_here("map", "links", "in.txt", "-o", "out.jsonl")
    assert done.returncode == 2
    assert (
        "got links for out.jsonl, whose run began with markdown, expected the same as before" in done.stderr
    )


@pytest.mark.parametrize(("failing", "status", "message"), [
    ((), 0, "2 before"),
    ((2,), 1, "1 before; 1 failed (out.failures.jsonl, 1 of them before)"),
])  # fmt: skip
def test_finished_inputs_start_no_browser(failing: tuple[int, ...], status: int, message: str) -> None:
    record(*failing)
    done = run_here("map", "markdown", "in.txt", "-o", "out.jsonl")
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith("out.jsonl: 0 done in ")
    assert done.stderr.endswith(f" a second; {message}\n")
    done = run_here("map", "markdown", "in.txt", "-o", "out.jsonl", "--json")
    summary = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (status, "")
    assert (summary["done_before"], summary["failed_before"], summary["left"]) == (
        2 - len(failing),
        len(failing),
        0,
    )


def test_without_a_browser_all_inputs_are_left(folder: Path) -> None:
    done = run_here("map", "markdown", "in.txt", "-o", "out.jsonl")
    assert done.returncode == 1
    assert "out.jsonl: 0 done in " in done.stderr
    assert "; 2 left: the same command continues" in done.stderr
    assert "no-browser" in done.stderr.splitlines()[-1]
    assert (folder / "out.jsonl").read_bytes() == b""


def test_help_explains_which_inputs_run_twice() -> None:
    done = run_here("map", "--help")
    assert done.returncode == 0
    text = " ".join(done.stdout.split())
    for words in (
        "the same command continues it",
        "Inputs that were running do, unless --once",
        "any other line is a URL",
        "The exit status is 0 if all inputs succeeded, 1 if some failed",
        "robots.txt is obeyed",
    ):
        assert words in text


async def test_progress_is_a_line_now_and_then(
    capsys: pytest.CaptureFixture[str], autojump_clock: trio.testing.MockClock
) -> None:
    counts = MapCounts(total=100, done_before=10, failed_before=2)
    async with command._progress(counts):
        await trio.sleep(5)
        counts.done, counts.failed = 20, 1
        await trio.sleep(10)
        counts.total = None
        await trio.sleep(10)
    assert capsys.readouterr().err.splitlines() == [
        "33 of 100, 2.1 a second, 3 failed, about 32 s left",
        "33, 1.1 a second, 3 failed",
    ]


async def test_progress_in_a_terminal(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    autojump_clock: trio.testing.MockClock,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    counts = MapCounts(total=None)
    async with command._progress(counts):
        counts.total = 7
        await trio.sleep(3 * command._REDRAWN_EACH)
    assert "of 7" in capsys.readouterr().err
