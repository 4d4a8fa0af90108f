"""The shell's thin client: commands for a session, requests, output, loaded modules and refusals."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from command_line import run_here

from cdpengine import cli
from cdpengine.act.commands.other_shells import OURS
from cdpengine.act.commands.parsing import Typed, parse
from cdpengine.act.commands.usage import verb_help
from cdpengine.act.commands.verbs import TABLE, VERBS
from cdpengine.cli import run_in_session
from cdpengine.cli.commands import commands
from cdpengine.shell import client
from cdpengine.shell.client import is_for_session, split_url, split_verb, wants_help

ROOT = Path(__file__).parent.parent.parent
PROGRAM = [sys.executable, "-m", "cdpengine"]


def test_the_file_of_values_is_sent_as_standard_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[bytes] = []

    def ask(_arguments: object, given: bytes) -> tuple[int, bytes, bytes]:
        sent.append(given)
        return 0, b"", b""

    monkeypatch.setattr(cli, "ask", ask)
    file = tmp_path / "values.json"
    file.write_text('{"user": "ada"}', "utf-8")
    assert run_in_session(["cache-replay", "login", "--values", str(file)]) == 0
    assert run_in_session(["start-learning", "login", f"--values={file}"]) == 0
    assert run_in_session(["type", "e1", "--", "--values", str(file)]) == 0
    assert sent == [b'{"user": "ada"}', b'{"user": "ada"}', b""]


def test_a_missing_file_of_values_is_named(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run_in_session(["cache-replay", "login", "--values", str(tmp_path / "no.json")]) != 0
    assert "the file of --values cannot be read: No such file" in capfd.readouterr().err


def test_the_thin_client_knows_every_verb() -> None:
    assert set(VERBS) == client.VERBS
    assert {verb.name for verb in TABLE if verb.loads} == client.LOADING
    assert len(VERBS) == len(TABLE)
    assert not set(commands.commands) & set(VERBS)


# --- commands for a session
# ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("click e3", True), ("--session a click e3", True), ("--json tabs", True), ("", False), ("--help", False),
        ("--version", False), ("clik e3", False), ("--nonsense click", False), ("--session", False),
        ("snapshot", True), ("snapshot --interactive --max-tokens 100", True), ("snapshot --session a --json", True),
        ("snapshot --root #main --diff", True), ("snapshot https://example.com", False), ("snapshot example.com", True),
        ("snapshot --interactive https://a.b", False), ("snapshot --max-depth=2 https://a.b", False),
        ("snapshot --json -- https://a.b", False), ("snapshot --json --", True), ("snapshot --help", True),
        ("snapshot https://a.b --help", True), ("snapshot --frame https://a.b/*", True), ("snapshot --frame=https://a.b/*", True),
        ("snapshot --refs all https://a.b", False), ("screenshot --refs https://a.b", False), ("--json snapshot https://a.b", False),
        ("screenshot", True), ("screenshot page.png --full-page", True), ("screenshot --help", True),
        ("screenshot https://example.com -o a.png", False), ("screenshot -o a.png https://a.b", False),
        ("screenshot -oa.png https://a.b", False), ("screenshot example.com --output=a.png", True), ("pdf", True),
        ("pdf about:blank", False), ("pdf --header https://a.b", True), ("pdf a.pdf https://a.b", True),
        ("text https://example.com", False), ("text", True), ("markdown main", True), ("extract a[href='https://a.b']", True),
        ("evaluate about:blank 1", False), ("evaluate 1", True), ("eval -7 https://a.b", True), ("eval - e3", True),
        ("eval 1 --endpoint http://a.b:1", False), ("eval 1 --endpoint=http://a.b:1", False), ("eval -- --endpoint", True),
        ("click https://a.b", True), ("run steps.txt", False),
    ],
)  # fmt: skip
def test_commands_for_the_page_of_a_session(line: str, expected: bool) -> None:
    assert is_for_session(line.split()) is expected


def test_an_unknown_command_is_named_with_a_suggestion() -> None:
    for given, meant in (
        ("clik", "click"),
        ("snapshoot", "snapshot"),
        ("tab", "tabs"),
        ("evaluat", "evaluate"),
        ("goto", "open URL"),
        ("content", "extract"),
        ("state", "snapshot"),
        ("network", "requests"),
        ("dblclick", "click --double-click"),
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


# --- the thin client -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's runtime folder, with a short name, because socket paths are limited."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", f"{root}/state")
        monkeypatch.delenv("CDPENGINE_SESSION", raising=False)
        Path(root, "cdpengine").mkdir(mode=0o700)
        yield Path(root, "cdpengine")


class Peer:
    """A service that answers one client once, and keeps the client's request."""

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
        """Answer a client. A client that leaves without a request does not count."""
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
    "cdpengine", "cdpengine.cli", "cdpengine.shell", "cdpengine.shell.client", "_socket",
}  # fmt: skip
"""Modules that a command with a running service loads, in addition to the interpreter's own."""


def test_a_command_with_a_running_service_loads_next_to_nothing(folder: Path) -> None:
    listing = "import sys; print(*sys.modules)"
    plain = subprocess.run(
        [sys.executable, "-c", listing], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peer = Peer(folder, b"taken\n0 0 5\ndone\n")
    program = """
import sys, os
def leave(status):
    sys.stderr.write(" ".join(sys.modules)); sys.stderr.flush(); end(status)
end, os._exit = os._exit, leave
sys.argv = ["cdpengine", "click", "e3"]
from cdpengine.cli import main
main()
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    peer.wait()
    assert done.stdout == "done\n"
    assert set(done.stderr.split()) - set(plain.stdout.split()) == BUDGET


def test_the_request_and_the_output_of_the_client(
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
    assert "during the command" in done.stderr
    assert "\nHint: " in done.stderr


def test_nothing_is_started_for_an_impossible_command(folder: Path) -> None:
    for arguments in (("click",), ("open", "example.com"), ("wait", "--tex", "x")):
        for more in ((), ("--json",)):
            done = run_here(*arguments, *more)
            assert done.returncode == 2
            assert done.stderr.startswith("Error: ")
            assert done.stderr.endswith(
                f"Hint: cdpengine {arguments[0]} --help shows its arguments and options.\n"
            )
            assert bool(done.stdout) is bool(more)
    assert (run_here("close").stdout, run_here("sessions").stdout) == ("done\n", "")
    assert json.loads(run_here("sessions", "--json").stdout) == {"ok": True, "kind": "", "result": []}
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "line", ["click e3", "snapshot", "eval 1", "screenshot", "cookies", "cache-lookup login", "close-tab"]
)
def test_a_command_without_a_session_starts_nothing(folder: Path, line: str) -> None:
    done = run_here(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    name = line.split(maxsplit=1)[0]
    assert done.stderr.startswith(f"Error: {name}: got no open page, expected cdpengine open first")
    assert "\nHint: Open a page first: cdpengine open URL." in done.stderr
    answer = json.loads(run_here(*line.split(), "--json").stdout)
    assert (answer["ok"], answer["error"]["kind"], answer["error"]["noPage"]) == (
        False,
        "invalidArgument",
        True,
    )
    assert list(folder.iterdir()) == []


def test_the_list_of_tabs_without_a_session_is_empty(folder: Path) -> None:
    done = run_here("tabs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "no page is open\n")
    assert json.loads(run_here("tabs", "--json").stdout) == {"ok": True, "kind": "tabs", "result": []}
    assert list(folder.iterdir()) == []


def test_an_impossible_request_without_a_session_starts_nothing(folder: Path) -> None:
    done = run_here("act", '{"kind": "clik"}')
    assert done.returncode == 2
    assert "clik" in done.stderr
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("what", ["Sign in", "login", "@e3", "[ref=e3]", "e3"])
def test_a_name_or_a_ref_is_no_condition_of_wait(folder: Path, what: str) -> None:
    done = run_here("wait", what)
    assert done.returncode == 2
    expected = f"expected a time in milliseconds, a CSS selector, or {shlex.quote(f'text={what}')}"
    assert f"Error: wait: got {what!r}, {expected}" in done.stderr


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
        f"Error: the command has more than {client.LONGEST} bytes, with its standard input", "Hint: Split the command, or shorten its input.",
    ]  # fmt: skip
    assert run_here("press", "a").stdout == "done\n", "which asks the peer, so that it ends"
    peer.wait()


def test_a_folder_whose_name_is_too_long_for_a_socket_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / ("x" * 120)
    (deep / "cdpengine").mkdir(parents=True, mode=0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    done = run_here("new-tab")
    assert done.returncode == client.UNREACHABLE
    assert "is too long\nHint: Set XDG_RUNTIME_DIR to a folder with a shorter path." in done.stderr


def test_a_service_that_cannot_start_gives_the_reason(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDPENGINE_IDLE", "soon")
    done = run_here("new-tab")
    assert done.returncode == client.UNREACHABLE
    assert "could not be started" in done.stderr
    assert "invalid float value: 'soon'" in done.stderr
    assert len(done.stderr.splitlines()) == 2


def test_a_reader_that_left_causes_no_traceback(folder: Path) -> None:
    peer = Peer(folder, b"taken\n0 0 300000\n" + b"x" * 300_000)
    with subprocess.Popen([*PROGRAM, "snapshot"], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 1
    peer.wait()


def test_names_of_other_shells_lead_to_commands() -> None:
    known = {*VERBS, *commands.commands}
    assert not set(OURS) & known
    for ours in OURS.values():
        name, *rest = shlex.split(ours)
        assert name in known | {"--help", "--version"}
        if rest and name in VERBS and not rest[-1].isupper():
            parse(Typed(arguments=[name, *rest, *(["e1"] * (name == "click"))], folder="/"))


@pytest.mark.parametrize("line", sorted(OURS))
def test_a_line_of_another_shell_gets_its_command(line: str) -> None:
    done = run_here(*line.split())
    assert done.returncode == 2
    assert f"Did you mean {OURS[line]!r}?" in done.stderr


def test_a_command_with_arguments_of_another_shell_lists_its_options() -> None:
    assert (
        "find: got 1 argument, expected no argument, only options: --exact, " in run_here("find", "x").stderr
    )


@pytest.mark.parametrize("line", ["text", "markdown main", "evaluate 1", "extract e3", "pdf"])
def test_a_command_that_lacks_its_url_or_its_page_explains_both(folder: Path, line: str) -> None:
    name = line.partition(" ")[0]
    hint = f"Open a page first: cdpengine open URL. Or give the whole URL to this command: cdpengine {name} https://..."
    message = f"Error: {name}: got no open page, expected cdpengine open first"
    assert run_here(*line.split()).stderr == f"{message}\nHint: {hint}\n"


@pytest.mark.parametrize(
    ("line", "url", "rest"),
    [
        ("snapshot --mode ai https://a.b --json", "https://a.b", "snapshot --mode ai --json"),
        ("--json eval data:text/html,x 1 e3", "data:text/html,x", "eval --json 1 e3"),
        ("eval --raw -- about:blank -7", "about:blank", "eval --raw -- -7"),
        ("extract main", None, "extract main"),
    ],
)
def test_the_url_is_taken_out_of_the_arguments(line: str, url: str | None, rest: str) -> None:
    assert split_url(line.split()) == (url, rest.split())
