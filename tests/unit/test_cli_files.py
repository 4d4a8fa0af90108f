"""Files that commands write: an existing file is refused, by each command and option, before a browser
starts.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cdpengine.cli import main

# Every way in which a command writes to a file that its user names. FILE is that file, RECORDING is an input
# file.
URL = "http://127.0.0.1:9/"
RECORDED: dict[tuple[str, ...], list[str]] = {
    ("bench",): [],
    ("demo",): [],
    ("doctor",): [],
    ("snapshot",): [URL],
    ("text",): [URL],
    ("markdown",): [URL],
    ("extract",): [URL],
    ("evaluate",): [URL, "1"],
    ("eval",): [URL, "1"],
    ("har",): [URL, "-o", "OTHER"],
    ("screenshot",): [URL, "-o", "OTHER.png"],
    ("pdf",): [URL, "-o", "OTHER"],
    ("trace",): [URL, "-o", "OTHER"],
    ("proxy",): ["--listen", "0", "--upstream", URL],
    ("repl",): [],
    ("run",): ["RECORDING"],
}
WRITING: dict[tuple[str, ...], list[str]] = {
    **{(*command, "--record"): [*arguments, "--record", "FILE"] for command, arguments in RECORDED.items()},
    **{
        (*command, "--trace"): [*arguments, "--trace", "FILE"]
        for command, arguments in RECORDED.items()
        if command != ("proxy",)
    },
    ("har", "--output"): [URL, "--output", "FILE"],
    ("screenshot", "--output"): [URL, "--output", "FILE"],
    ("pdf", "--output"): [URL, "--output", "FILE"],
    ("trace", "--output"): [URL, "--output", "FILE"],
    ("recording", "export", "--output"): ["--html", "RECORDING", "--output", "FILE"],
    ("protocol", "save", "file"): ["FILE"],
}


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "CDPENGINE_RECORD",
        "CDPENGINE_RECORD_OVERWRITE",
        "CDPENGINE_RECORD_UNREDACTED",
        "CDPENGINE_TRACE",
    ):
        # Commands set these for their process. Setting them here restores them after the test.
        monkeypatch.setenv(name, "")
    # A command that reaches the start of a browser fails because of this.
    monkeypatch.setenv("CDPENGINE_BROWSER", str(tmp_path / "no-browser"))
    monkeypatch.chdir(tmp_path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert isinstance(ended.value.code, int)
    return ended.value.code, capsys.readouterr().err


def arguments_of(way: tuple[str, ...], file: Path, recording: Path) -> list[str]:
    replaced = {"FILE": str(file), "RECORDING": str(recording)}
    return [*way[:-1], *(replaced.get(each, each) for each in WRITING[way])]


@pytest.mark.parametrize("way", WRITING, ids=" ".join)
@pytest.mark.usefixtures("environment")
def test_an_existing_file_is_refused_by_name(
    tmp_path: Path, way: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    file, recording = tmp_path / "a.png", tmp_path / "r.jsonl"
    file.write_text("old")
    recording.write_text("")
    status, output = run(capsys, *arguments_of(way, file, recording))
    assert status == 2
    assert re.search(rf"{re.escape(str(file))}(, which)? exists already.*--force", output)
    assert file.read_text() == "old"
    # With --force, or with another name, it gets further: to the missing browser, or to its missing input.
    for further in (["--force"], None):
        named = file if further else tmp_path / "new.png"
        status, output = run(capsys, *arguments_of(way, named, recording), *(further or []))
        assert status in (1, 2)
        assert "exists already" not in output
        assert file.read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "r.jsonl"}


@pytest.mark.parametrize("way", WRITING, ids=" ".join)
@pytest.mark.usefixtures("environment")
def test_a_missing_folder_is_refused_before_a_browser_starts(
    tmp_path: Path, way: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.jsonl").write_text("")
    status, output = run(capsys, *arguments_of(way, tmp_path / "none" / "a.png", tmp_path / "r.jsonl"))
    assert (status, "folder does not exist" in output) == (2, True)


@pytest.mark.usefixtures("environment")
def test_an_existing_file_named_by_the_environment_is_refused_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("old")
    monkeypatch.setenv("CDPENGINE_RECORD", str(file))
    monkeypatch.setenv("CDPENGINE_BROWSER", "/bin/sh")  # never started
    status, output = run(capsys, "snapshot", URL)
    assert status == 2
    assert f"CDPENGINE_RECORD: got {file}, which exists already" in output
    assert file.read_text() == "old"


@pytest.mark.usefixtures("environment")
def test_the_second_recording_of_the_doctor_is_checked_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a-2.jsonl").write_text("old")
    status, output = run(capsys, "doctor", "--record", str(tmp_path / "a.jsonl"))
    assert (status, f"{tmp_path / 'a-2.jsonl'} exists already" in output) == (2, True)


@pytest.mark.parametrize("force", [[], ["--force"]])
@pytest.mark.usefixtures("environment")
def test_one_file_is_not_accepted_twice(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], force: list[str]
) -> None:
    os.symlink(tmp_path, tmp_path / "link")
    one, same = tmp_path / "a", tmp_path / "link" / "a"
    status, output = run(capsys, "har", URL, "-o", str(one), "--record", str(same), *force)
    assert (status, "use different files" in output) == (2, True)
    status, output = run(capsys, "pdf", URL, "-o", str(one), "--record", str(same), *force)
    assert (status, "which is also FILE, expected another file" in output) == (2, True)
    status, output = run(capsys, "text", URL, "--record", str(one), "--trace", str(same), *force)
    assert (status, "which is also the file of --record, expected another file" in output) == (2, True)


@pytest.mark.parametrize("command", ["har", "trace"])
@pytest.mark.usefixtures("environment")
def test_the_output_file_must_be_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    status, output = run(capsys, command, URL)
    assert (status, "Missing option '--output'" in output) == (2, True)
