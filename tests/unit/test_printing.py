"""Output of the commands: no string of a page, browser, file or peer controls a terminal or begins a line.

These are the commands without a browser. tests/chrome/test_terminals.py has the others.
"""

from __future__ import annotations

import ast
import copy
import io
import json
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from protocols import DOCUMENT
from recorded import Recorded

import cdpengine.cli
from cdpengine._protocol.instruments import Span
from cdpengine.act.response import ActResponse
from cdpengine.cache import ExecutionReport, StepResult
from cdpengine.cli import main
from cdpengine.cli.output import print_json, safe_console, say, say_lines, show_progress
from cdpengine.errors import NavigationFailedError
from cdpengine.shell.printing import print_response

FORGED = "Error: forged"
HOSTILE = f"a\n{FORGED}\r\x1b]0;x\x07\x9b31m\x85\u2028\u202e\u2066\ufeff\u200b\U000e0041b"
SAFE = rf"a\n{FORGED}\r\x1b]0;x\x07\x9b31m\x85\u2028\u202e\u2066\ufeff\u200b\U000e0041b"

PRINTING = {
    "output.py": {"click.echo", "Console"},
    "recordings/showing.py": {"sys.stdout.write"},  # pieces of `show_line`
    "page_files.py": {"sys.stdout.buffer.write"},
}


def is_safe(text: str) -> bool:
    bad = {char for char in text if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {
        "\n",
        "\u200d",
    }
    return not bad and not any(line.strip().startswith(FORGED) for line in text.splitlines())


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    out, err = capsys.readouterr()
    assert isinstance(ended.value.code, int)
    return ended.value.code, out, err


# --- the single place of output
# ------------------------------------------------------------------------------


def test_only_one_module_prints() -> None:
    names = {"print", "click.echo", "click.secho", "Console", "sys.stdout.write", "sys.stderr.write",
             "sys.stdout.buffer.write", "sys.stderr.buffer.write", "sys.stdout.writelines"}  # fmt: skip
    found: dict[str, set[str]] = {}
    folder = Path(cdpengine.cli.__file__).parent
    for path in folder.rglob("*.py"):
        used = {
            ast.unparse(node)
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in names
        }
        if path.name in ("bench.py", "demo.py", "showing.py"):
            used -= {"Console"}  # the type, in annotations
        if used:
            found[path.relative_to(folder).as_posix()] = used
    assert found == PRINTING


@pytest.mark.parametrize(("write", "expected"), [
    (say, SAFE + "\n"),
    (say_lines, SAFE.replace(r"\n", "\n") + "\n"),
    (lambda text: say(text, err=True), SAFE + "\n"),
    (lambda text: say(text, columns=5), "a\\...\n"),
    (lambda text: say(text, paint=lambda line: f"<{line}>"), f"<{SAFE}>\n"),
    (show_progress, "\r\x1b[K" + SAFE),
])  # fmt: skip
def test_text(
    write: Callable[[str], None],
    expected: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("click.utils.should_strip_ansi", lambda *_: False)
    write(HOSTILE)
    out, err = capsys.readouterr()
    assert out + err == expected


def test_json_is_escaped_and_parses_to_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    value = {HOSTILE: [HOSTILE, "half \udc9b", "ü👩\u200d👧"]}
    print_json(value)
    out, _ = capsys.readouterr()
    assert is_safe(out)
    assert json.loads(out) == value
    assert "ü👩\u200d👧" in out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_no_encoding_makes_printing_fail(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(written, encoding, write_through=True))
    value = "ü 日本 👩 \udc9b"
    say(value)
    say(value, err=True)
    print_json({"k": value})
    safe_console(file=sys.stdout).print(value)
    lines = written.getvalue().decode(encoding).splitlines()
    assert lines[0] == lines[1]
    assert r"\udc9b" in lines[0]
    assert json.loads("".join(lines[2:5])) == {"k": value}
    assert r"\udc9b" in lines[5]


def test_tables_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    from rich.table import Table

    table = Table(HOSTILE, title=HOSTILE, caption=HOSTILE)
    table.add_row(HOSTILE)
    console = safe_console(markup=False, width=150)
    console.print(table)
    console.print(HOSTILE)
    out, _ = capsys.readouterr()
    assert not {char for char in out if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n"}


def test_an_error_with_json_is_in_both_and_safe_in_both(capsys: pytest.CaptureFixture[str]) -> None:
    from cdpengine.cli.options import Failed
    from cdpengine.cli.output import errors_as_json

    with pytest.raises(Failed), errors_as_json(enabled=True):
        raise NavigationFailedError("https://u:hunter2@host/?token=hunter2", HOSTILE)
    out, err = capsys.readouterr()
    assert is_safe(out)
    assert is_safe(err.removeprefix("Error: "))
    assert "hunter2" not in out + err
    error = json.loads(out)["error"]
    assert error == {
        "type": "NavigationFailedError",
        "message": f"navigation to https://***@host/?token=*** failed: {SAFE}",
        "asked": "",
        "url": "https://***@host/?token=***",
        "reason": HOSTILE,
    }


# --- commands ------------------------------------------------------------------------------------------------


def hostile_recording() -> Recorded:
    recorded = Recorded(connection=f"main {HOSTILE}")
    session, target = f"S{HOSTILE}", f"T{HOSTILE}"
    recorded.attach(session, target, HOSTILE, f"https://u@h/{HOSTILE}")
    for name in (HOSTILE, "Page.navigate"):
        span = Span(len(recorded.raw), name)
        recorded.exchange(f"A.{name}", session, span=span, text=HOSTILE)
        recorded.refuse(recorded.call("B.c", session), session, message=HOSTILE)
        recorded.event(f"E.{name}", session, text=HOSTILE)
        recorded.end_action(span, HOSTILE)
    recorded.stray(HOSTILE)
    recorded.lost(3)
    return recorded


@pytest.mark.parametrize("arguments", [
    ("show",), ("show", "--full"), ("show", "--spans"), ("show", "--errors"), ("show", "--method", HOSTILE),
    ("stats",), ("stats", "--json"), ("stats", "--top", "1"),
    ("diff", "OTHER"), ("diff", "OTHER", "--full"), ("diff", "OTHER", "--json"),
    ("export", "--har", "-o", "OUT"), ("export", "--perfetto", "-o", "OUT"), ("export", "--html", "-o", "OUT"),
], ids=" ".join)  # fmt: skip
def test_commands_on_recordings(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a\x1b]0;x\x07\nError: forged"
    folder.mkdir()
    file = hostile_recording().write(folder / "recording")
    with file.open("ab") as stream:
        stream.write(b'{"k":"event","m":"\x1b[31m' + HOSTILE.encode("utf-8", "replace") + b"\n")
    other = Recorded()
    other.exchange("A.b")
    names = {"OTHER": other.write(tmp_path / "other"), "OUT": tmp_path / "out"}
    status, out, err = run(
        capsys, "recording", arguments[0], file, *(names.get(each, each) for each in arguments[1:])
    )
    assert status == 1
    assert "Error: " in err
    assert is_safe(out)
    assert all(is_safe(line.removeprefix("Error: ")) for line in err.splitlines())
    if "--json" in arguments:
        assert SAFE[:3] in json.dumps(json.loads(out))


def hostile_protocol(tmp_path: Path, name: str) -> Path:
    def spoil(value: Any) -> Any:
        if isinstance(value, dict):
            kept = ("domain", "name", "id", "$ref", "type", "major", "minor")
            return {
                key: each if key in kept and isinstance(each, str) else spoil(each)
                for key, each in value.items()
            }
        if isinstance(value, list):
            return [spoil(each) for each in value]
        return f"{value} {HOSTILE}" if isinstance(value, str) else value

    document = spoil(copy.deepcopy(DOCUMENT))
    tree = document["domains"][0]
    tree["commands"].append({"name": f"grow{name}{HOSTILE}", "description": HOSTILE, "deprecated": True})
    tree["types"].append({"id": f"Kind{name}{HOSTILE}", "type": "string", "enum": [HOSTILE]})
    document["domains"].append({"domain": f"D{name}{HOSTILE}", "commands": [{"name": "x"}]})
    path = tmp_path / f"{name}.json"
    path.write_text(json.dumps(document), "utf-8")
    return path


@pytest.mark.parametrize("as_json", [False, True], ids=["text", "json"])
@pytest.mark.parametrize("arguments", [
    ("list", "--file", "ONE"), ("list", "Tree", "--file", "ONE"), ("show", "Tree", "--file", "ONE"),
    ("show", "Tree.grow", "--file", "ONE"), ("show", "Tree.Kind", "--file", "ONE"), ("search", "o", "--file", "ONE"),
    ("search", HOSTILE + "?", "--file", "ONE"), ("show", HOSTILE, "--file", "ONE"), ("diff", "ONE", "TWO"),
    ("check", "--all", "--file", "ONE"), ("list", "--file", "MISSING"), ("list", "--file", "DAMAGED"),
], ids=" ".join)  # fmt: skip
def test_commands_on_protocols(
    arguments: tuple[str, ...], as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damaged = tmp_path / f"damaged{HOSTILE[:40]}"
    damaged.write_bytes(b"[\x1b\x07]")
    names = {
        "ONE": hostile_protocol(tmp_path, "one"),
        "TWO": hostile_protocol(tmp_path, "two"),
        "MISSING": tmp_path / HOSTILE,
        "DAMAGED": damaged,
    }
    more = ["--json"] if as_json else []
    _, out, err = run(capsys, "protocol", *(names.get(each, each) for each in arguments), *more)
    assert is_safe(out)
    assert is_safe(err.removeprefix("Error: "))
    assert out or err
    if as_json:
        json.loads(out)


@pytest.mark.parametrize("arguments", [
    ("evaluate", f"https://{HOSTILE}", "1", "--endpoint", f"http://u:hunter2@{HOSTILE}"),
    ("evaluate", "about:blank", "1", "--endpoint", "ws://127.0.0.1:1/?token=hunter2"),
    ("evaluate", "about:blank", "1", "--json", "--endpoint", "ws://127.0.0.1:1/?token=hunter2"),
    ("snapshot", f"//u:hunter2@host/{HOSTILE}"), ("text", f"\x1b{HOSTILE}"), (HOSTILE,), ("evaluate", f"--{HOSTILE}"),
    ("snapshot", "https://host/", "--browser", f"/{HOSTILE}"),
    ("doctor", "--endpoint", f"http://u:hunter2@{HOSTILE}"), ("doctor", "--json", "--endpoint", f"http://{HOSTILE}"),
    ("bench", f"ws://127.0.0.1:1/{HOSTILE}"), ("repl", f"ws://u:hunter2@{HOSTILE}"),
    ("proxy", "--listen", "0", "--upstream", f"ws://u:hunter2@{HOSTILE}"),
    ("proxy", "--listen", "0", "--upstream", "ws://127.0.0.1:1", "--fault", HOSTILE),
    ("har", "https://host/", "-o", f"/nothing/{HOSTILE}"), ("pdf", "https://host/", "-o", "x", "--paper", HOSTILE),
    ("screenshot", "https://host/", "-o", f"x.{HOSTILE}"), ("recording", "replay", f"/{HOSTILE}"),
    ("trace", "https://host/", "-o", f"/nothing/x.{HOSTILE}", "--endpoint", "ws://127.0.0.1:1"),
], ids=lambda arguments: " ".join(arguments)[:40])  # fmt: skip
def test_commands_that_fail_before_a_browser(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, err = run(capsys, *arguments)
    assert status in (1, 2)
    assert out + err
    assert is_safe(out)
    assert is_safe(err.replace("Error: ", "", 1))
    assert "hunter2" not in out + err


def test_a_raw_value_is_refused_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    status, _, err = run(capsys, "evaluate", "about:blank", "1", "--raw", "--json")
    assert (status, "got --raw and --json, expected one of them" in err) == (2, True)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for words in (("evaluate", "about:blank", "1"), ("eval", "1")):
        status, out, err = run(capsys, *words, "--raw")
        assert (status, out) == (2, "")
        assert "could control a terminal" in err


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_bytes_are_base64_in_json(capsys: pytest.CaptureFixture[str], kind: type) -> None:
    """Covers the result of `evaluate` for a Uint8Array, alone and inside other values."""
    print_json({"value": kind(b"\x00\xff?"), "inside": [{"of": (kind(b""),)}]})
    printed = json.loads(capsys.readouterr().out)
    assert printed == {"value": "AP8/", "inside": [{"of": [""]}]}


@pytest.mark.parametrize("as_json", [False, True])
def test_a_stopped_replay_fails_with_its_reason(as_json: bool) -> None:
    step = StepResult(index=3, kind="click", label='click button "Log in"', status="failed", milliseconds=40)
    reason = "step 3: the page refused it: it says 'Wrong password'"
    report = ExecutionReport(ok=False, steps=(step,), stopped_at=3, reason=reason, fault="rejected")
    response = ActResponse(kind="executeCached", ok=True, result=report.to_json())
    printed = print_response(response, as_json=as_json)
    assert printed.status == 1
    assert printed.err == "Error: the replay stopped: step 3: the page refused it: it says 'Wrong password'\n"
    done = attrs.evolve(report, ok=True, reason="", fault=None, milliseconds=62)
    printed_done = print_response(
        ActResponse(kind="executeCached", ok=True, result=done.to_json()), as_json=as_json
    )
    assert (printed_done.status, printed_done.err) == (0, "")
    if not as_json:
        assert printed.out.splitlines()[2:] == [
            '3     failed         40  click button "Log in"',
            "fault: rejected",
        ]
        assert printed_done.out.endswith("\ndone in 62 ms\n")


@pytest.mark.parametrize(
    ("stored", "kept", "status", "out", "err"),
    [
        (True, True, 0, "a note\nstored: login in 3 steps, entry a1, needs password\n", ""),
        (False, False, 0, "a note\ndiscarded\n", ""),
        (
            False,
            True,
            1,
            "a note\n",
            "Error: nothing was stored: no action became a step\nHint: Perform the actions after start-learning.\n",
        ),
    ],
)
def test_learning_that_stored_nothing_fails(
    stored: bool, kept: bool, status: int, out: str, err: str
) -> None:
    result: dict[str, Any] = {"stored": stored, "kept": kept, "notes": ["a note"]}
    if stored:
        result["entry"] = {"entry": "a1", "scenario": "login", "steps": 3, "variables": ["password"]}
    printed = print_response(ActResponse(kind="stopLearning", ok=True, result=result), as_json=False)
    assert (printed.status, printed.out, printed.err) == (status, out, err)
