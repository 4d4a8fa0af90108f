"""The shell's commands without a service: which are for a session, what they ask for, what is printed, what is loaded."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest
from act_cases import CASES, SMALLEST, fill_in
from command_line import run_here
from spelling import spell

from cdpengine.act import (
    KINDS,
    ActResponse,
    AnsweredDialog,
    BegunDownload,
    Effects,
    Failure,
    OpenedPage,
    parse_request,
    to_json,
)
from cdpengine.act import StartedNavigation as Started
from cdpengine.act.fields import camel_case
from cdpengine.cli.commands import commands
from cdpengine.errors import InvalidArgumentError
from cdpengine.shell import client
from cdpengine.shell.client import is_for_session, split_verb, wants_help
from cdpengine.shell.parsing import Command, Typed, option_fields, parse
from cdpengine.shell.printing import Printed, print_response
from cdpengine.shell.usage import verb_help
from cdpengine.shell.verbs import TABLE, VERBS

ROOT = Path(__file__).parent.parent.parent
PROGRAM = [sys.executable, str(ROOT / "bin" / "cdpengine")]


def command(*arguments: str, **more: Any) -> Command:
    return parse(Typed(arguments=arguments, folder="/there", **more))


def request(*arguments: str, **more: Any) -> dict[str, Any]:
    asked = command(*arguments, **more).request
    assert asked is not None
    return dict(asked)


def test_the_script_is_installed_as_it_is() -> None:
    """Installers give it the interpreter's path, and keep its rights; an entry point would load `re` first."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    scripts = project["tool"]["hatch"]["build"]["targets"]["wheel"]["shared-scripts"]
    assert scripts == {"bin/cdpengine": "cdpengine"}
    assert "scripts" not in project["project"]
    assert os.access(ROOT / "bin" / "cdpengine", os.X_OK)
    assert (ROOT / "bin" / "cdpengine").read_bytes().startswith(b"#!python\n")


# --- the verbs -----------------------------------------------------------------------------------------------


def test_the_thin_client_knows_every_verb() -> None:
    assert set(VERBS) == client.VERBS | client.SHARED
    assert len(VERBS) == len(TABLE)
    # What both have, the client tells apart; a name that only the command line has is none of its verbs.
    assert set(commands.commands) & set(VERBS) == client.SHARED


def test_every_kind_of_request_has_a_verb_and_every_field_of_it_a_way_to_be_said() -> None:
    assert {verb.kind for verb in TABLE if verb.kind} == set(KINDS)
    special = {
        "wait": {"what": {"timeMs", "selector"}}, "fill": {"target": set[str](), "value": {"fields"}, "more": set[str]()},
    }  # fmt: skip
    for verb in TABLE:
        if verb.request is None:
            continue
        said = {camel_case(each.name) for each in option_fields(verb).values()} | set(verb.preset)
        for place in verb.places:
            target = {"target": {"ref", "selector"}}.get(place.field, {camel_case(place.field)})
            said |= special.get(verb.name, {}).get(place.field, target)
        assert said == {camel_case(each.name) for each in attrs.fields(verb.request)}, verb.name


@pytest.mark.parametrize("verb", TABLE, ids=lambda verb: verb.name)
def test_help_says_what_a_verb_takes(verb: Any) -> None:
    text = verb_help(verb.name)
    assert text.startswith(f"Usage: cdpengine {verb.usage} [OPTIONS]\n\n{verb.meaning}\n")
    assert all(name in text for name in option_fields(verb))
    assert max(map(len, text.splitlines())) <= 110
    if verb.example:
        import shlex

        parsed = command(*shlex.split(verb.example))
        assert parsed.verb is verb
        if parsed.request is not None:
            parse_request(dict(parsed.request))


SEEN = '"Go" [ref=e1] "Source" [ref=e2] "Goal" [ref=e3]'


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_is_typed_is_the_request_that_was_meant(kind: str) -> None:
    """The requests of the table, and the smallest of each kind: spelled, parsed, and the same again."""
    steps = [{"kind": kind, **SMALLEST.get(kind, {})}]
    steps += [step for case in CASES for step in case.steps if step["kind"] == kind]
    for step in steps:
        asked = fill_in(step, {"site": "https://a.example", "folder": "/f", "file": "/f/x"}, SEEN)
        try:
            meant = to_json(parse_request(asked))
        except InvalidArgumentError:
            continue
        got = to_json(parse_request(request("--json", *spell(asked))))
        for name in ("path", "directory", "paths", "format"):
            if name in got and name not in meant:
                got.pop(name)
            elif isinstance(got.get(name), str):
                assert got[name].endswith(meant[name])
                got[name] = meant[name]
            elif name in got:
                assert [each.removeprefix("/there/") for each in got[name]] == meant[name]
                got[name] = meant[name]
        assert got == meant


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("click", "e3"), {"kind": "click", "ref": "e3"}),
        (("click", "@e3"), {"kind": "click", "ref": "e3"}),
        (("click", "3"), {"kind": "click", "ref": "e3"}),
        (("click", "button.e3"), {"kind": "click", "selector": "button.e3"}),
        (("click", "e3", "--modifiers", "Shift", "--modifiers=Alt", "--double-click"),
         {"kind": "click", "ref": "e3", "modifiers": ["Shift", "Alt"], "doubleClick": True}),
        (("type", "e5", "-5"), {"kind": "type", "ref": "e5", "text": "-5"}),
        (("type", "e5", "--", "--submit"), {"kind": "type", "ref": "e5", "text": "--submit"}),
        (("press", "-"), {"kind": "press", "key": "-"}),
        (("fill", "e5", "a", "#b", ""), {"kind": "fill", "fields": [{"ref": "e5", "value": "a"}, {"selector": "#b", "value": ""}]}),
        (("scroll", "--dy", "-100"), {"kind": "scroll", "dy": -100.0}),
        (("scroll", "down", "#list"), {"kind": "scroll", "direction": "down", "selector": "#list"}),
        (("wait", "500"), {"kind": "wait", "timeMs": 500}),
        (("wait", "#done"), {"kind": "wait", "selector": "#done"}),
        (("uncheck", "e1"), {"kind": "check", "checked": False, "ref": "e1"}),
        (("check", "e1", "--checked", "false"), {"kind": "check", "checked": False, "ref": "e1"}),
        (("upload", "e1", "a.txt", "/b"), {"kind": "upload", "ref": "e1", "paths": ["/there/a.txt", "/b"]}),
        (("act", '{"kind": "upload", "ref": "e1", "paths": ["a"]}'), {"kind": "upload", "ref": "e1", "paths": ["/there/a"]}),
        (("focus-tab", "0"), {"kind": "focusTab", "index": 0}),
        (("close-tab", "ABC"), {"kind": "close", "targetId": "ABC"}),
        (("dialog", "accept", "ada"), {"kind": "dialog", "accept": True, "promptText": "ada"}),
        (("screenshot", "p.JPG"), {"kind": "screenshot", "path": "/there/p.JPG", "format": "jpeg"}),
        (("screenshot", "--json"), {"kind": "screenshot"}),
        (("--session", "a", "back"), {"kind": "back"}),
    ],
)  # fmt: skip
def test_what_is_typed(arguments: tuple[str, ...], expected: dict[str, Any]) -> None:
    assert request(*arguments) == expected


def test_text_comes_from_standard_input() -> None:
    assert request("type", "e5", "-", given="two\nlines\n")["text"] == "two\nlines"
    assert request("eval", "-", given="1 + 1")["function"] == "1 + 1"
    assert request("act", "-", given='{"kind": "tabs"}') == {"kind": "tabs"}
    assert request("type", "e5", "--", "-")["text"] == "-"


def test_the_browser_is_named_by_its_path_here_or_by_its_name() -> None:
    for given, meant in (
        ("chromium", "chromium"),
        ("./chrome", "/there/./chrome"),
        ("/opt/chrome", "/opt/chrome"),
    ):
        assert command("open", "about:blank", "--browser", given).options == {"--browser": meant}
    assert command("open", "about:blank", "--headful").options == {"--headful": True}


def test_the_session_is_named() -> None:
    assert command("tabs").session == "default"
    assert command("tabs", session="mine").session == "mine"
    assert command("tabs", "--session", "other", session="mine").session == "other"
    assert command("--session=other", "tabs", session="mine").session == "other"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("click",), "click: got no TARGET, expected TARGET"),
        (("click", "e1", "hunter2"), "click: got 2 arguments, expected TARGET"),
        (("fill", "e1"), "expected TARGET VALUE [TARGET VALUE...]"),
        (("select", "e1"), "got no VALUE"),
        (("tabs", "x"), "expected no argument"),
        (("close", "x"), "expected no argument"),
        (("click", "e1", "--timeout-ms", "soon"), "--timeout-ms: got 'soon', expected a whole number"),
        (("click", "e1", "--timeout-ms"), "click --timeout-ms: got no value"),
        (("click", "e1", "--forc"), "the option --forc"),
        (("click", "e1", "--force=yes"), "--force: got a value, expected none"),
        (("click", "e1", "--position", "3,3"), "--position: got text that is not JSON"),
        (("check", "e1", "--checked", "maybe"), "expected true or false"),
        (("dialog", "yes"), "expected accept or dismiss"),
        (("act", "[]"), "expected an object"),
        (("act", "{"), "expected JSON"),
        (("open", "localhost:1/x"), "which has no scheme, expected http://localhost:1/x"),
        (("new-tab", "http://"), "names no host"),
    ],
)
def test_wrong_use_is_said_without_what_may_be_secret(arguments: tuple[str, ...], said: str) -> None:
    with pytest.raises(InvalidArgumentError) as error:
        command(*arguments)
    assert said in str(error.value)
    assert "hunter2" not in str(error.value)


def test_a_file_that_exists_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    for verb in ("screenshot", "pdf"):
        with pytest.raises(InvalidArgumentError, match="exists already"):
            parse(Typed(arguments=(verb, "a.png"), folder=str(tmp_path)))
        assert parse(Typed(arguments=(verb, "a.png", "--force"), folder=str(tmp_path))).request
    names = set()
    for _ in range(3):
        asked = parse(Typed(arguments=("screenshot",), folder=str(tmp_path))).request
        assert asked is not None
        Path(asked["path"]).write_bytes(b"")
        names.add(asked["path"])
    assert len(names) == 3


# --- which commands are for a session ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("click e3", True), ("--session a click e3", True), ("--json tabs", True), ("", False), ("--help", False),
        ("--version", False), ("clik e3", False), ("--nonsense click", False), ("--session", False),
        ("snapshot", True), ("snapshot --interactive --max-tokens 100", True), ("snapshot --session a --json", True),
        ("snapshot --root #main --diff", True), ("snapshot https://example.com", False), ("snapshot example.com", False),
        ("snapshot --interactive example.com", False), ("snapshot --max-depth=2 example.com", False),
        ("snapshot --json -- example.com", False), ("snapshot --json --", True), ("snapshot --help", False),
        ("screenshot", True), ("screenshot page.png --full-page", True), ("screenshot --help", False),
        ("screenshot https://example.com -o a.png", False), ("screenshot example.com -oa.png", False),
        ("screenshot example.com --output=a.png", False), ("pdf", True), ("pdf about:blank", False),
        ("text https://example.com", False), ("evaluate about:blank 1", False), ("run steps.txt", False),
    ],
)  # fmt: skip
def test_what_is_for_the_page_of_a_session(line: str, expected: bool) -> None:
    assert is_for_session(line.split()) is expected


def test_a_command_that_there_is_not_is_named_with_what_was_meant() -> None:
    for given, meant in (
        ("clik", "click"),
        ("snapshoot", "snapshot"),
        ("tab", "tabs"),
        ("evaluat", "evaluate"),
    ):
        done = run_here(given, "x")
        assert done.returncode == 2
        assert f"No such command '{given}'. Did you mean '{meant}'" in done.stderr
    assert "Did you mean" not in run_here("nonsense").stderr


def test_the_verb_may_stand_behind_the_session() -> None:
    assert split_verb(["--session", "a", "click", "e3"]) == ("click", ["--session", "a", "e3"])
    assert not wants_help(["press", "-h", "#field"])
    assert not wants_help(["type", "e3", "--", "--help"])
    assert wants_help(["click", "-h"])
    assert run_here("click", "--help").stdout == verb_help("click")
    assert all(verb.meaning.split()[0] in commands.get_help(commands.make_context("cdpengine", [], resilient_parsing=True))
               for verb in TABLE)  # fmt: skip


# --- what is printed -----------------------------------------------------------------------------------------


def printed(kind: str, result: Any = None, *, as_json: bool = False, **more: Any) -> Printed:
    response = ActResponse(kind=kind, ok=True, result=result, **more)
    return print_response(response, as_json=as_json, script=kind == "evaluate")


@pytest.mark.parametrize(
    ("kind", "result", "expected"),
    [
        ("click", None, "done\n"),
        ("evaluate", None, "null\n"), ("evaluate", "a\nb", "a\nb\n"), ("evaluate", {"a": [1]}, '{"a": [1]}\n'),
        ("evaluate", "\x1b[31m", "\\x1b[31m\n"),
        ("navigate", {"url": "https://a/", "status": 200}, "https://a/  200\n"), ("newTab", {"url": "about:blank"}, "about:blank\n"),
        ("snapshot", {"snapshot": "- a\n- b", "title": "", "refs": 0}, "- a\n- b\n"), ("snapshot", {"diff": "+ a"}, "+ a\n"),
        ("find", {"count": 0, "nodes": []}, "nothing was found\n"),
        ("find", {"count": 3, "nodes": [{"ref": "e1", "role": "button", "name": "Go\n"}]}, 'e1 button "Go\\n"\n2 more\n'),
        ("tabs", [], "no page is open\n"),
        ("tabs", [{"index": 0, "url": "https://a/", "current": True}], "* 0  https://a/\n"),
        ("console", {"dropped": 1, "messages": [{"level": "error", "text": "x", "url": "https://a/", "line": 3}]},
         "(1 older ones were dropped)\nerror: x  (https://a/:3)\n"),
        ("requests", {"dropped": 0, "requests": [
            {"method": "GET", "url": "https://a/", "type": "Document", "status": 404, "failure": None},
            {"method": "GET", "url": "https://b/", "type": "Fetch", "status": None, "failure": "net::ERR_FAILED"}]},
         "404  GET https://a/  Document\nnet::ERR_FAILED  GET https://b/  Fetch\n"),
        ("cookies", [{"name": "a", "value": "b", "domain": "x.y", "path": "/"}], "a=b  x.y/\n"), ("storage", {"a": "b"}, "a=b\n"),
        ("screenshot", {"format": "png", "bytes": 5, "path": "/x.png"}, "/x.png  5 bytes\n"),
        ("download", {"path": "/f", "bytes": 5, "url": ""}, "/f  5 bytes\n"),
        ("search", [{"title": "T", "url": "https://a/", "snippet": "S"}], "T\n  https://a/\n  S\n"), ("search", [], "nothing was found\n"),
        ("close", {"current": None}, "done\n"),
        ("console", {"dropped": 0, "messages": []}, "nothing was written\n"), ("cookies", [], "no cookies\n"),
        ("requests", {"dropped": 0, "requests": []}, "no requests\n"), ("storage", {}, "nothing is stored\n"),
    ],
)  # fmt: skip
def test_what_a_result_reads_like(kind: str, result: Any, expected: str) -> None:
    assert printed(kind, result) == Printed(0, expected)
    assert (
        json.loads(printed(kind, result, as_json=True).out)
        == ActResponse(kind=kind, ok=True, result=result).to_json()
    )


def test_what_an_action_set_off_is_said() -> None:
    effects = Effects(
        navigation=Started(url="https://a/"), popup=OpenedPage(target_id="T", url="https://b/"),
        dialogs=(AnsweredDialog(type="confirm", message="Sure?", accepted=False), AnsweredDialog(type="alert", message="x")),
        download=BegunDownload(url="", suggested_filename="f.txt"), healed_ref="e9", delivered=False,
    )  # fmt: skip
    assert printed("click", effects=effects, diff="+ a").out.splitlines() == [
        "navigation to https://a/", "a new tab opened: https://b/", "a confirm opened ('Sure?'), answered Cancel",
        "a alert opened ('x'), not answered yet", "a download began: f.txt", "the ref was stale; e9 was taken for it",
        "the page took the element away in the middle of the action", "+ a",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("covered", 1),
        ("invalidArgument", 2),
        ("evaluationTimeout", 3),
        ("serviceUnavailable", 4),
        ("busy", 1),
    ],
)
def test_an_error_is_a_line_a_hint_and_a_status(kind: str, status: int) -> None:
    message = "cannot click \x1b[1m e3: it is covered:\n  by https://u:secret@host/\n  - probed 5 times"
    failure = Failure(kind=kind, message=message, hint="Close it.", retryable=True)
    response = ActResponse(kind="click", ok=False, error=failure)
    said = print_response(response, as_json=False)
    assert said.status == status
    assert said.out == ""
    assert (
        said.err == "Error: cannot click \\x1b[1m e3: it is covered: by https://***@host/\nHint: Close it.\n"
    )
    as_json = print_response(response, as_json=True)
    assert (as_json.status, as_json.err) == (status, said.err)
    assert json.loads(as_json.out)["error"]["message"] == message


def test_what_an_encoding_lacks_is_an_escape() -> None:
    assert Printed(0, "ä→\n").encode("latin-1", as_json=False) == (0, b"", b"\\xe4\\u2192\n")
    assert Printed(1, '"→"\n', "→").encode("ascii", as_json=True) == (1, b"\\u2192", b'"\\u2192"\n')
    assert Printed(0, "→", "→").encode("none such", as_json=False) == (0, b"\\u2192", b"\\u2192")


# --- the thin client -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's runtime folder, with a short name: those of sockets have to be."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.delenv("CDPENGINE_SESSION", raising=False)
        Path(root, "cdpengine").mkdir(mode=0o700)
        yield Path(root, "cdpengine")


class Peer:
    """A service that gives one answer to one client, and keeps what it was sent."""

    def __init__(self, folder: Path, answer: bytes) -> None:
        self.sent = b""
        self._answer = answer
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(str(folder / "shell.sock"))
        self._socket.listen()
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with self._socket:
            while not self._serve_one():
                pass

    def _serve_one(self) -> bool:
        """Answer a client; one that leaves without a word is none."""
        connection, _ = self._socket.accept()
        with connection:
            while b"\n" not in self.sent or len(self.sent.partition(b"\n")[2]) < self._length():
                if not (piece := connection.recv(1 << 16)):
                    return False
                self.sent += piece
            connection.sendall(self._answer)
            return True

    def _length(self) -> int:
        return sum(map(int, self.sent.partition(b"\n")[0].split()[-2:]))

    def wait(self) -> bytes:
        self._thread.join(10)
        return self.sent


BUDGET = {
    "cdpengine", "cdpengine.cli", "cdpengine.shell", "cdpengine.shell.client", "cdpengine.shell.places", "_socket",
}  # fmt: skip
"""What a command with a running service loads, besides what the interpreter itself has loaded."""


def test_a_command_with_a_running_service_loads_next_to_nothing(folder: Path) -> None:
    listing = "import sys; print(*sys.modules)"
    plain = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peer = Peer(folder, b"taken\n0 0 5\ndone\n")
    program = f"""
import sys, os
def leave(status):
    sys.stderr.write(" ".join(sys.modules)); sys.stderr.flush(); end(status)
end, os._exit = os._exit, leave
sys.argv = ["cdpengine", "click", "e3"]
exec(compile(open({str(ROOT / "bin" / "cdpengine")!r}).read(), "cdpengine", "exec"), {{"__name__": "__main__"}})
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peer.wait()
    assert done.stdout == "done\n"
    assert set(done.stderr.split()) - set(plain.stdout.split()) == BUDGET


def test_what_the_client_sends_and_prints(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDPENGINE_SESSION", "mine")
    out, err = "Grüße\n".encode(), b"Error: x\n"
    peer = Peer(folder, b"taken\n3 %d %d\n%s%s" % (len(err), len(out), err, out))
    done = subprocess.run(
        [*PROGRAM, "type", "e5", "-"], input=b"secret\0text\n", capture_output=True, check=False, cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (3, out, err)
    packed = "\0".join([str(tmp_path.resolve()), "mine", "utf-8", "type", "e5", "-"]).encode()
    assert peer.wait() == b"cdpengine-shell 1 %d 12\n%ssecret\0text\n" % (len(packed), packed)


@pytest.mark.parametrize("answer", [b"taken\n", b"taken\n0 0 5\ndo", b"taken\n0 0"])
def test_a_service_that_ends_in_the_middle_is_not_asked_again(folder: Path, answer: bytes) -> None:
    peer = Peer(folder, answer)
    done = run_here("click", "e3", "--json")
    peer.wait()
    assert done.returncode == client.UNREACHABLE
    assert json.loads(done.stdout)["error"]["kind"] == "serviceUnavailable"
    assert "in the middle of the command" in done.stderr
    assert "\nHint: " in done.stderr


def test_nothing_is_started_for_what_cannot_work(folder: Path) -> None:
    for arguments in (("click",), ("open", "example.com"), ("wait", "--tex", "x")):
        for more in ((), ("--json",)):
            done = run_here(*arguments, *more)
            assert done.returncode == 2
            assert done.stderr.startswith("Error: ")
            assert done.stderr.endswith(f"Hint: cdpengine {arguments[0]} --help says what it takes.\n")
            assert bool(done.stdout) is bool(more)
    assert (run_here("close").stdout, run_here("sessions").stdout) == ("done\n", "")
    assert json.loads(run_here("sessions", "--json").stdout) == {"ok": True, "kind": "", "result": []}
    assert list(folder.iterdir()) == []


def test_a_folder_that_others_can_use_is_refused(folder: Path) -> None:
    folder.chmod(0o755)
    done = run_here("tabs")
    assert done.returncode == client.UNREACHABLE
    assert "others can use this folder" in done.stderr
    assert "chmod 700" in done.stderr
    assert list(folder.iterdir()) == []


def test_a_command_that_is_too_long_is_refused(folder: Path) -> None:
    peer = Peer(folder, b"taken\n0 0 5\ndone\n")
    done = subprocess.run(
        [*PROGRAM, "type", "e1", "-"], input=b"x" * (client.LONGEST + 1), capture_output=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.decode().splitlines() == [
        f"Error: the command has more than {client.LONGEST} bytes, with its standard input", "Hint: Give less at once.",
    ]  # fmt: skip
    assert run_here("press", "a").stdout == "done\n", "which asks the peer, so that it ends"
    peer.wait()


def test_a_folder_whose_name_is_too_long_for_a_socket_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 120)
    (deep / "cdpengine").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    done = run_here("tabs")
    assert done.returncode == client.UNREACHABLE
    assert (
        "is too long for a socket\nHint: Name a folder with a shorter name by XDG_RUNTIME_DIR." in done.stderr
    )


def test_a_service_that_cannot_start_says_why(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDPENGINE_IDLE", "soon")
    done = run_here("tabs")
    assert done.returncode == client.UNREACHABLE
    assert "could not be started" in done.stderr
    assert "invalid float value: 'soon'" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_a_reader_that_left_is_no_traceback(folder: Path) -> None:
    peer = Peer(folder, b"taken\n0 0 300000\n" + b"x" * 300_000)
    with subprocess.Popen([*PROGRAM, "snapshot"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
    peer.wait()
