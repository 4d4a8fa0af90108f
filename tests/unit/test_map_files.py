"""The files of a run, cut at every byte, on a disk that is full at every byte, changed, and used twice."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import pytest
from map_runs import largest_file, lines_of, outcomes_of

from cdpengine.errors import FileNotWrittenError, InvalidArgumentError
from cdpengine.pool.mapping import MapFiles
from cdpengine.pool.mapping.inputs import MapInput, Recorded, read_input, survey
from cdpengine.pool.mapping.journal import encode_failure, encode_value
from cdpengine.pool.mapping.line_file import LineFile
from cdpengine.pool.mapping.run_files import RunFiles

LINES = [b"http://a/", b'{"url":"http://b/","n":1}', b"http://c/", b'"d"', b"http://e/"]
INPUTS = [read_input(number, line) for number, line in enumerate(LINES, 1)]
FAILING = {2, 4}
MODES: dict[str, dict[str, bool]] = {"again": {}, "once": {"once": True}, "retry": {"retry_failures": True}}


def settings(folder: Path, **more: Any) -> MapFiles:
    return MapFiles(**{"function": "f", "inputs": None, "output": folder / "o.jsonl", **more})


def do_all(files: RunFiles, inputs: list[MapInput] = INPUTS, *, failing: set[int] = FAILING) -> list[int]:
    """Process the inputs without an outcome, as a run does. Return the started lines."""
    begun = []
    for entry in inputs:
        if files.recorded.has(entry.line):
            assert files.recorded.matches(entry.line, entry.digest)
            continue
        if files.begun.has(entry.line):
            error = {"type": "Interrupted", "message": ""}
            files.add_failure(entry, encode_failure(entry, error, attempts=0, seconds=0))
            continue
        if files.settings.once:
            files.mark_begun(entry)
        begun.append(entry.line)
        if entry.line in failing:
            error = {"type": "E", "message": "no"}
            files.add_failure(entry, encode_failure(entry, error, attempts=1, seconds=0.1))
        else:
            files.add_result(entry, encode_value(entry, "ü" * entry.line, attempts=1, seconds=0.1))
    return begun


def run(folder: Path, **more: Any) -> list[int]:
    files = RunFiles.open(settings(folder, **more))
    try:
        return do_all(files)
    finally:
        files.close()


def files_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def write_all(folder: Path, files: dict[str, bytes]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def whole_lines(content: bytes) -> set[int]:
    """Return the inputs whose outcomes remain in a cut file, including a last line without its line end."""
    found = set()
    for line in content.split(b"\n"):
        try:
            found.add(json.loads(line)["line"])
        except (ValueError, KeyError):
            continue
    return found


def cuts_of(content: bytes, *, every: bool) -> list[int]:
    """Return where to cut a file: at each byte, or around the ends of lines and at a sample of others."""
    near = {end + by for end, byte in enumerate(content) if byte == ord("\n") for by in (-1, 0, 1, 2)}
    return [cut for cut in range(len(content)) if every or cut in near or cut % 11 == 0]


@pytest.mark.parametrize("rest", [b"", b"\0\0\0"], ids=["cut", "cut and zeros"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["o.jsonl", "o.failures.jsonl", "o.jsonl.journal"])
def test_a_file_cut_at_any_byte(
    tmp_path: Path, name: str, mode: str, rest: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)  # these tests are not about power failures
    options = MODES[mode]
    assert run(tmp_path, once=options.get("once", False)) == [1, 2, 3, 4, 5]
    complete = files_of(tmp_path)
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1)
    for cut in cuts_of(complete[name], every=mode == "again" and not rest):
        left = {**complete, name: complete[name][:cut] + rest}
        write_all(tmp_path, left)
        known = whole_lines(left["o.jsonl"]) | whole_lines(left["o.failures.jsonl"])
        begun = run(tmp_path, **options)
        assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1), cut
        if mode == "again":
            assert begun == sorted(set(range(1, 6)) - known), cut
        elif mode == "once":
            # Each was marked before. Only a cut mark can let an input start again.
            assert set(begun) <= (set(range(1, 6)) - known if name.endswith("journal") else set()), cut
            interrupted = [
                each["line"]
                for each in lines_of(tmp_path / "o.failures.jsonl")
                if each["error"]["type"] == "Interrupted"
            ]
            assert set(interrupted) == (set() if name.endswith("journal") else set(range(1, 6)) - known), cut
        else:
            assert begun == sorted(set(range(1, 6)) - whole_lines(left["o.jsonl"])), cut
        assert run(tmp_path, once=options.get("once", False)) == []


@pytest.mark.parametrize("mode", MODES)
def test_a_disk_that_is_full_at_any_byte(tmp_path: Path, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)
    options = MODES[mode]
    run(tmp_path, **options)
    most = max(map(len, files_of(tmp_path).values()))
    for size in range(0, most, 1 if mode == "again" else 7):
        write_all(tmp_path, {})
        with (
            largest_file(size),
            pytest.raises(FileNotWrittenError, match="exceeds the limit of this program"),
        ):
            run(tmp_path, **options)
        done = outcomes_of(tmp_path / "o.jsonl")  # every existing line is complete
        assert set(done.values()) <= {1}
        begun = run(tmp_path, **options)
        assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1), size
        assert not set(begun) & set(done) or mode == "retry", size


def test_repeated_failures_leave_their_file(tmp_path: Path) -> None:
    run(tmp_path)
    files = RunFiles.open(settings(tmp_path, retry_failures=True))
    assert (files.done_before, files.failed_before) == (3, 2)
    assert do_all(files, failing={4}) == [2, 4]
    files.close()
    assert [each["line"] for each in lines_of(tmp_path / "o.failures.jsonl")] == [4]
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1)
    files = RunFiles.open(settings(tmp_path, retry_failures=True))
    assert do_all(files, failing=set()) == [4]
    files.close()
    assert not (tmp_path / "o.failures.jsonl").exists()  # without failures


def test_a_killed_run_of_failures_leaves_one_outcome_each(tmp_path: Path) -> None:
    run(tmp_path)
    before = files_of(tmp_path)["o.failures.jsonl"]
    files = RunFiles.open(settings(tmp_path, retry_failures=True))
    do_all(files, failing={4})
    left = files_of(tmp_path)
    files.close()
    assert left["o.failures.jsonl"].startswith(before)
    write_all(tmp_path, left)
    assert outcomes_of(tmp_path / "o.jsonl") == {1: 1, 2: 2, 3: 1, 4: 2, 5: 1}
    assert run(tmp_path) == []
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1)


def test_failures_stay_if_they_cannot_be_rewritten(tmp_path: Path) -> None:
    inputs = [read_input(number, b"http://host/%d" % number) for number in range(1, 60)]
    files = RunFiles.open(settings(tmp_path))
    do_all(files, inputs, failing={entry.line for entry in inputs})
    files.close()
    before = files_of(tmp_path)["o.failures.jsonl"]
    files = RunFiles.open(settings(tmp_path, retry_failures=True))
    do_all(files, inputs[:2], failing=set())
    with largest_file(len(before) // 2), pytest.raises(FileNotWrittenError, match=r"o\.failures\.jsonl"):
        files.close()
    assert files_of(tmp_path)["o.failures.jsonl"] == before
    assert {path.name for path in tmp_path.iterdir()} == {"o.jsonl", "o.failures.jsonl", "o.jsonl.journal"}
    RunFiles.open(settings(tmp_path)).close()
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 60), 1)


# --- changed inputs
# -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("change", "line"), [
    (lambda lines: lines, None),
    (lambda lines: [*lines, b"http://new/"], None),
    (lambda lines: [*lines[:4], b"http://other/"], None),  # not processed yet
    (lambda lines: [b" http://a/\r", *lines[1:]], None),  # blanks around a line do not belong to it
    (lambda lines: [b"http://other/", *lines[1:]], 1),
    (lambda lines: [lines[0], b"", *lines[1:]], 2),
    (lambda lines: [lines[0], *lines[2:]], 2),
    (lambda lines: [*lines[:3], b" ", lines[4]], 4),
    (lambda lines: lines[:3], 4),
    (lambda _: [], 1),
])  # fmt: skip
def test_changed_inputs_are_refused(change: Any, line: int | None) -> None:
    recorded = Recorded()
    for entry in INPUTS[:4]:
        recorded.add(entry.line, entry.digest)
    lines = change(LINES)
    blocks = iter([b"\n".join(lines), b""])
    if line is None:
        assert survey("in", lambda _: next(blocks), recorded) == len(lines)
        return
    with pytest.raises(
        InvalidArgumentError, match=rf"in, whose line {line} differs from the one of the earlier run"
    ):
        survey("in", lambda _: next(blocks), recorded)


def test_the_state_of_ten_million_lines_is_small() -> None:
    recorded = Recorded()
    assert recorded.add(10_000_000, "0000000000000000")
    assert not recorded.add(10_000_000, "0000000000000000")
    assert (recorded.count, recorded.highest) == (1, 10_000_000)
    assert recorded.has(10_000_000)
    assert not recorded.has(9_999_999)
    assert not recorded.has(10_000_001)


# --- foreign files
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["output", "failures", "journal"])
def test_a_file_has_one_run_at_a_time(tmp_path: Path, what: str) -> None:
    files = RunFiles.open(settings(tmp_path))
    others = {"output": "x.jsonl", "failures": "x.failures.jsonl"}
    shared = {what: getattr(files.settings, what)} if what in others else {"output": files.settings.output}
    other = MapFiles(
        function="f", inputs=None, output=shared.get("output", tmp_path / "x.jsonl"),
        failures=shared.get("failures", tmp_path / "x.failures.jsonl"),
    )  # fmt: skip
    with pytest.raises(InvalidArgumentError, match="which another run is writing"):
        RunFiles.open(other)
    do_all(files)
    files.close()
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(range(1, 6), 1)
    assert not (tmp_path / "x.jsonl").exists()
    assert not (tmp_path / "x.jsonl.journal").exists()
    RunFiles.open(settings(tmp_path)).close()


def test_a_replaced_file_stays_locked(tmp_path: Path) -> None:
    run(tmp_path)
    file = LineFile.open(tmp_path / "o.failures.jsonl", what="failures")
    file.keep_only(lambda _place, line: line == 4)
    with pytest.raises(InvalidArgumentError, match="another run"):
        LineFile.open(tmp_path / "o.failures.jsonl", what="failures")
    file.append(b"x\n")
    file.close()
    assert (tmp_path / "o.failures.jsonl").read_bytes().startswith(b'{"line":4,')
    assert (tmp_path / "o.failures.jsonl").read_bytes().endswith(b"}\nx\n")


FOREIGN = [b"hello", b"hello\n", b"{}\n", b'{"line":1}\n', b'{"line":0,"digest":"0123456789abcdef"}\n', b"\n",
           b'{"line":1,"digest":"xyz"}\n', b'{"line":99999999999,"digest":"0123456789abcdef"}\n',
           b'{"line":1,"digest":"0123456789abcdef","value":\n']  # fmt: skip


@pytest.mark.parametrize("place", ["alone", "before", "between"])
@pytest.mark.parametrize("content", FOREIGN)
@pytest.mark.parametrize("name", ["o.jsonl", "o.failures.jsonl"])
def test_a_file_of_other_origin_is_left_unchanged(
    tmp_path: Path, name: str, content: bytes, place: str
) -> None:
    path = tmp_path / name
    if place != "alone":
        run(tmp_path)
        first, *others = path.read_bytes().splitlines(keepends=True)
        content = content.rstrip(b"\n") + b"\n"
        content = content + first if place == "before" else first + content + b"".join(others)
    path.write_bytes(content)
    before = files_of(tmp_path)
    number = 2 if place == "between" else 1
    with pytest.raises(InvalidArgumentError, match=f"{name}, whose line {number} was not written by `map`"):
        run(tmp_path)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("options", [{"function": "g"}, {"once": True}, {"failures": "other.jsonl"}], ids=str)
def test_a_run_continues_with_its_original_options(tmp_path: Path, options: dict[str, Any]) -> None:
    run(tmp_path)
    before = files_of(tmp_path)
    if "failures" in options:
        options = {"failures": tmp_path / options["failures"]}
    changed = {"function": "f", "inputs": None, "output": tmp_path / "o.jsonl", **options}
    with pytest.raises(InvalidArgumentError, match=r"whose run began with .*, expected the same as before"):
        RunFiles.open(MapFiles(**changed))
    assert files_of(tmp_path) == before


def test_missing_results_are_not_treated_as_an_empty_run(tmp_path: Path) -> None:
    run(tmp_path)
    (tmp_path / "o.jsonl").unlink()
    with pytest.raises(InvalidArgumentError, match=r"missing although o\.jsonl\.journal exists"):
        run(tmp_path)
    assert not (tmp_path / "o.jsonl").exists()


def test_a_run_can_be_moved(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    assert run(tmp_path / "a") == [1, 2, 3, 4, 5]
    (tmp_path / "a").rename(tmp_path / "b")
    assert run(tmp_path / "b") == []


def test_no_file_has_two_purposes(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    same = tmp_path / "link" / "o.jsonl"
    every: list[dict[str, Any]] = [
        {"failures": same},
        {"inputs": same},
        {"failures": tmp_path / "o.jsonl.journal"},
    ]
    for options in every:
        with pytest.raises(InvalidArgumentError, match="expected another file"):
            RunFiles.open(settings(tmp_path, **options))
    assert [path.name for path in tmp_path.iterdir()] == ["link"]


@pytest.mark.parametrize("name", ["o.jsonl", "o.failures.jsonl", "o.jsonl.journal"])
def test_files_are_plain_and_private(tmp_path: Path, name: str) -> None:
    run(tmp_path)
    assert (tmp_path / name).stat().st_mode & 0o777 == 0o600
    for path in tmp_path.iterdir():
        path.unlink()
    os.mkfifo(tmp_path / name)
    with pytest.raises(InvalidArgumentError, match="expected a plain file"):
        run(tmp_path)


def test_results_come_in_any_order(tmp_path: Path) -> None:
    chance = random.Random(7)
    inputs = [read_input(number, b"http://host/%d" % number) for number in range(1, 200)]
    done: set[int] = set()
    for _ in range(6):
        files = RunFiles.open(settings(tmp_path))
        assert {entry.line for entry in inputs if files.recorded.has(entry.line)} == done
        some = chance.sample([entry for entry in inputs if entry.line not in done], 30)
        done |= set(do_all(files, some, failing={entry.line for entry in some if entry.line % 3 == 0}))
        files.close()
    assert outcomes_of(tmp_path / "o.jsonl") == dict.fromkeys(done, 1)
    assert len(done) == 180
