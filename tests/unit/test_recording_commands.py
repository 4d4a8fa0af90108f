"""`cdpengine trace ...`: its output, the exit status on damaged files, and its behaviour in a terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard
from recorded import Recorded, small
from rich.cells import cell_len
from trace_checker import check_trace

from cdpengine.cli import main

COMMAND = [sys.executable, "-m", "cdpengine", "recording"]
BOUND = 60


def trace(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """Run a command in this process."""
    with pytest.raises(SystemExit) as ended:
        main(["recording", *map(str, arguments)])
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


@pytest.fixture(params=["a.jsonl", "a.jsonl.zst"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return small().write(tmp_path / request.param)


def test_show(file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    status, out, err = trace(capsys, "show", file, "--method", "page.*", "--slow", "0.2s")
    assert (status, err) == (0, "")
    assert (
        out
        == '     0.255 <- 5E55         #2 Page.navigate 251.0 ms [1] {"frameId": "7A26", "loaderId": "10AD"}\n'
    )


@pytest.mark.parametrize(("slow", "count"), [("251ms", 1), ("251.1ms", 0), ("1", 4), ("900us", 4)])
def test_slow(tmp_path: Path, slow: str, count: int, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = trace(capsys, "show", small().write(tmp_path / "a"), "--slow", slow)
    assert (status, len(out.splitlines())) == (0, count)


def test_stats(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = trace(capsys, "stats", file)
    assert (status, err) == (0, "")
    assert "12 messages in 0.260 s: 5 calls, 4 replies (1 refused), 3 events" in out
    assert "no gaps" in out
    (navigate,) = [line for line in out.splitlines() if "Page.navigate" in line]
    assert "251.0" in navigate
    status, out, _ = trace(capsys, "stats", file, "--json")
    document = json.loads(out)
    assert (status, document["damage"]) == (0, [])
    assert document["figures"]["methods"][0]["counts"]["calls"] == 2


def test_diff(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = small().write(tmp_path / "first")
    status, out, _ = trace(capsys, "diff", first, small().write(tmp_path / "again.zst"))
    assert (status, out.splitlines()[-1]) == (0, "the same commands, refusals and kinds of events")
    changed = small()
    changed.raw.pop()
    changed.exchange("DOM.enable", "5E55")
    changed.end()
    status, out, _ = trace(capsys, "diff", first, changed.write(tmp_path / "second"))
    assert status == 1
    assert "@@ page 1: 4 and 5 commands @@" in out
    assert "+ DOM.enable {}" in out
    status, out, _ = trace(capsys, "diff", first, changed.write(tmp_path / "second"), "--json")
    assert (status, json.loads(out)["same"]) == (1, False)


@pytest.mark.parametrize("form", ["perfetto", "html"])
def test_export(file: Path, form: str, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    out = tmp_path / "out"
    with pytest.raises(SystemExit) as ended:
        main(["recording", "export", f"--{form}", str(file), "-o", str(out)])
    assert ended.value.code == 0
    assert stat.S_IMODE(out.stat().st_mode) == 0o600
    if form == "perfetto":
        assert check_trace(json.loads(out.read_bytes())) == []
    else:
        assert out.read_text("utf-8").startswith("<!doctype html>")


@pytest.mark.parametrize(("arguments", "message"), [
    (["export", "FILE"], "give --perfetto"),
    (["export", "--har", "FILE", "--limit", "3"], "--limit needs --html"),
    (["export", "--html", "FILE", "-o", "FILE"], "exists already; --force"),
    (["export", "--html", "FILE", "-o", "FILE", "--force"], "the recording itself"),
    (["export", "--html", "FILE", "-o", "FILE/no"], "the folder does not exist"),
    (["show", "FILE", "--slow", "soon"], "not a duration"),
    (["stats", "nowhere.jsonl"], "No such file"),
    (["diff", "FILE"], "SECOND"),
])  # fmt: skip
def test_used_wrongly(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = small().write(tmp_path / "a")
    status, out, err = trace(capsys, *[each.replace("FILE", str(file)) for each in arguments])
    assert (status, out) == (2, "")
    assert message in err
    assert file.read_bytes() == small().bytes()


def test_without_requests_no_archive_is_written(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = trace(capsys, "export", "--har", file, "-o", tmp_path / "out.har")
    assert (status, out) == (1, "")
    assert "Network.enable" in err
    assert not (tmp_path / "out.har").exists()


COMMANDS: list[list[str]] = [
    ["show", "FILE"], ["diff", "FILE", "FILE", "--json"], ["stats", "FILE"], ["stats", "FILE", "--json"], ["diff", "FILE", "FILE"],
    ["export", "--perfetto", "FILE", "-o", "OUT"], ["export", "--html", "FILE", "-o", "OUT"],
    ["export", "--har", "FILE", "-o", "OUT"],
]  # fmt: skip


def damaged(kind: str) -> bytes:
    recorded = Recorded()
    recorded.attach("5E55", "7A26")
    request = {"url": "https://example.com/", "method": "GET", "headers": {}}
    for number in range(200):
        recorded.event(
            "Network.requestWillBeSent",
            "5E55",
            requestId=str(number),
            request=request,
            wallTime=1,
            timestamp=number,
        )
    recorded.end()
    raw = recorded.bytes()
    lines = raw.splitlines(keepends=True)
    match kind:
        case "cut off":
            return b"".join([*lines[:199], lines[199][:100]])
        case "cut off at a line":
            return b"".join(lines[:-1])
        case "cut off, compressed":
            compressor = zstandard.ZstdCompressor().compressobj()
            flush = zstandard.COMPRESSOBJ_FLUSH_BLOCK  # as the recorder does
            data = b"".join(compressor.compress(line) + compressor.flush(flush) for line in lines)
            return data[: len(data) * 9 // 10]
        case "corrupt":
            return b"".join([*lines[:100], b"\x00\xff rubbish\n", *lines[101:]])
        case "another shape":
            return b"".join([*lines[:100], b'{"k": "event", "t": "soon"}\n', *lines[101:]])
        case _:
            return b"hello\n"


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize(("kind", "place"), [
    ("cut off", "line 200: the line breaks off"),
    ("cut off at a line", "line 203: the recording ends without its last line"),
    ("cut off, compressed", "line "),
    ("corrupt", "line 101: "),
    ("another shape", "line 101: "),
    ("foreign", "line 1: its first line is not a header"),
])  # fmt: skip
def test_damage_is_reported_with_its_line_after_all_readable_lines(
    arguments: list[str], kind: str, place: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out_path = tmp_path / "a.jsonl", tmp_path / "out"
    path.write_bytes(damaged(kind))
    names = {"FILE": str(path), "OUT": str(out_path)}
    status, out, err = trace(capsys, *[names.get(each, each) for each in arguments])
    assert status == 1
    assert "Traceback" not in err
    assert f"{path}, {place}" in err
    if kind == "foreign":
        assert not out_path.exists()
    else:
        made = out_path.read_text("utf-8") if out_path.exists() else out
        assert len(made) > 300 or arguments[0] == "diff"
        assert arguments[0] != "show" or made.count("requestWillBeSent") > 60


# --- in separate processes
# -------------------------------------------------------------------------------------


def in_terminal(columns: int, *arguments: str, **environment: str) -> tuple[str, int]:
    """Run a command whose standard output is a terminal with this many columns."""
    ours, theirs = pty.openpty()
    variables = {
        key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS", "TERM")
    }
    variables |= {"TERM": "xterm-256color", "COLUMNS": str(columns), "PYTHONUTF8": "1"} | environment
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=theirs, stderr=subprocess.STDOUT, env=variables
    ) as process:
        os.close(theirs)
        parts = []
        with contextlib.suppress(OSError):  # EIO is a terminal's end of file
            while part := os.read(ours, 65536):
                parts.append(part)
        os.close(ours)
        status = process.wait(BOUND)
    return b"".join(parts).decode(), status


COLOUR = re.compile(r"\x1b\[[\d;]*m")


def test_a_terminal_gets_colour_and_no_line_is_wider(tmp_path: Path) -> None:
    recorded = small()
    recorded.raw.pop()
    recorded.event("Log.entryAdded", "5E55", text="漢字" * 100)
    path = str(recorded.end().write(tmp_path / "a"))
    text, status = in_terminal(60, "show", path)
    assert status == 0
    assert COLOUR.search(text)
    plain = COLOUR.sub("", text)
    assert "\x1b" not in plain
    assert "\\u001b]0;owned" in plain or "..." in plain
    for line in plain.split("\r\n"):
        assert sum(2 if char in "漢字" else 1 for char in line) <= 60
    wide, _ = in_terminal(60, "show", path, "--full", "--errors", NO_COLOR="1")
    assert wide == (
        '     0.260 <- 5E55         #4 Runtime.evaluate 1.0 ms {"code": -32000, "message": "\\u001b]0;owned\\u0007"}\r\n'
    )


def test_a_progress_bar_for_large_files_only_in_a_terminal(tmp_path: Path) -> None:
    recorded = Recorded()
    for _ in range(10_000):
        recorded.event("A.b")
    path = str(recorded.end().write(tmp_path / "a.zst"))
    text, status = in_terminal(100, "stats", path)
    assert status == 0
    assert "reading" in text
    piped = subprocess.run(
        [*COMMAND, "stats", path], capture_output=True, text=True, timeout=BOUND, check=True
    )
    assert piped.stderr == ""


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)]
)
def test_following_continues_as_the_file_grows_and_ends_with_a_signal(
    tmp_path: Path, number: int, status: int
) -> None:
    recorded = small()
    path = tmp_path / "a.jsonl"
    lines = recorded.bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-2]))
    arguments: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*COMMAND, "show", "-f", str(path), "-m", "Runtime.*"], **arguments) as process:
        assert process.stdout is not None
        assert "#4 Runtime.evaluate" in process.stdout.readline()
        assert "#4 Runtime.evaluate" in process.stdout.readline()
        with path.open("ab") as file:
            file.write(lines[-2])
        assert "#5 Runtime.evaluate" in process.stdout.readline()
        process.send_signal(number)
        out, err = process.communicate(timeout=BOUND)
    assert (process.returncode, out, err.strip()) == (status, "", "")


def test_following_ends_with_the_recording(tmp_path: Path) -> None:
    path = small().write(tmp_path / "a.jsonl.zst")
    done = subprocess.run(
        [*COMMAND, "show", "-f", str(path)], capture_output=True, text=True, timeout=BOUND, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith("== end of the recording")


def test_a_reader_that_leaves_is_not_an_error(tmp_path: Path) -> None:
    recorded = Recorded()
    for _ in range(5000):
        recorded.event("A.b", text="x" * 50)
    path = recorded.end().write(tmp_path / "a")
    with subprocess.Popen(
        [*COMMAND, "show", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(BOUND) == 1


def many_methods(file: Path) -> Path:
    recorded = Recorded()
    recorded.attach("5E55AAAA1111", "7A26", url="https://example.com/" + "long/" * 30)
    recorded.attach("5E55AAAA2222", "7A27", url="https://例え.テスト/" + "漢字" * 30)
    for method in WIDE_METHODS:
        recorded.exchange(method, "5E55AAAA1111", after=0.5)
    recorded.exchange("DOM.enable", "5E55AAAA2222")
    return recorded.end().write(file)


WIDE_METHODS = [
    "Storage.setAttributionReportingLocalTestingMode",
    "Network.webSocketHandshakeResponseReceived",
    f"Vendor.{'x' * 90}First",
    f"Vendor.{'x' * 90}Second",
    "漢字" * 30,
]


@pytest.mark.parametrize("command", ["stats", "diff"])
@pytest.mark.parametrize("columns", [60, 80, 100, 160])
def test_in_a_narrow_terminal_the_rows_are_distinguishable(
    command: str,
    columns: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    files = [many_methods(tmp_path / "a")]
    if command == "diff":
        files.insert(0, small().write(tmp_path / "b"))
    _, text, _ = trace(capsys, command, *files)
    lines = text.splitlines()
    begin = next(number for number, line in enumerate(lines) if line.startswith("method "))
    assert all(cell_len(line) <= columns for line in lines[begin:])
    names = [line.split("  ")[0] for line in lines[begin:] if line.startswith(("Sto", "Net", "Ven", "漢"))]
    assert len(set(names)) == len(WIDE_METHODS)
    if command == "stats":
        assert "5E55AAAA1111" in text  # these two begin with the same eight characters
        assert "5E55AAAA2222" in text


def test_without_a_terminal_all_figures_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    _, out, _ = trace(capsys, "stats", many_methods(tmp_path / "a"))
    for method in WIDE_METHODS:
        (line,) = [line for line in out.splitlines() if line.startswith(method)]
        assert line.split()[-1] == "500.0"
    assert "omitted" not in out


def cut_off(path: Path, *, lines: int, rest: int) -> Path:
    """Write a recording as the recorder does, cut after this many of its lines and `rest` bytes of the next."""
    raw = small().bytes().splitlines(keepends=True)
    if path.suffix != ".zst":
        path.write_bytes(b"".join(raw[:lines]) + raw[lines][:rest])
        return path
    compressor = zstandard.ZstdCompressor(level=1).compressobj()
    blocks = [compressor.compress(line) + compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK) for line in raw]
    path.write_bytes(b"".join(blocks[:lines]) + blocks[lines][:rest])
    return path


@pytest.mark.parametrize("rest", [0, 9], ids=["between lines", "in a line"])
@pytest.mark.parametrize("name", ["cut.jsonl", "cut.jsonl.zst"])
@pytest.mark.parametrize(
    "command",
    ["show", "stats", "stats --json", "diff", "export --perfetto", "export --har", "export --html"],
)
def test_a_truncated_recording_is_used_and_the_cut_is_reported(
    tmp_path: Path, command: str, name: str, rest: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = 9
    path = cut_off(tmp_path / name, lines=lines, rest=rest)
    whole = small().write(tmp_path / "whole.jsonl")
    words: list[str | Path] = [*command.split()]
    if words[0] == "diff":
        words += [whole, path]
    elif words[0] == "export":
        words += [path, "-o", tmp_path / "out"]
    else:
        words.append(path)
    status, out, err = trace(capsys, *words)
    assert status == 1
    # A compressed file that ends with a block is still unfinished: its frame has no end.
    at = lines + 1 if rest or name.endswith(".zst") else lines
    assert f"{name}, line {at}: " in err
    if words[0] == "export" and "--har" not in words:  # this recording has nothing to export in that form
        assert (tmp_path / "out").stat().st_size > 100
    elif words[0] == "show":
        assert len(out.splitlines()) == lines - 1
