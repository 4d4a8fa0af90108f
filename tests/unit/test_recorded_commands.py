"""Commands that start a browser, recorded. The browser is a program of the tests (tests/support/browser_program.py)."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import COMMAND
from processes import processes_of

from cdpengine import debug

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="needs descriptors over sockets and /proc"),
    pytest.mark.timeout(300),
]

BOUND = 240
"""Seconds after which a command counts as hung: it starts four programs, one after the other."""

PROGRAM = Path(__file__).parents[1] / "support/browser_program.py"

CLIENT = """
import json, os, re, socket, subprocess, sys, tempfile, time
from pathlib import Path
from urllib.request import urlopen

BROWSER = os.environ["CDPENGINE_RECORDED_BROWSER"]

def over_pipe(commands, **more):
    read_3, write_3 = os.pipe()
    read_4, write_4 = os.pipe()
    def inherit():
        copies = os.dup(read_3), os.dup(write_4)
        os.dup2(copies[0], 3)
        os.dup2(copies[1], 4)
    browser = subprocess.Popen(
        [BROWSER, "--remote-debugging-pipe"], preexec_fn=inherit, close_fds=False, **more)
    os.close(read_3)
    os.close(write_4)
    replies = []
    for number, method in enumerate(commands):
        message = {"id": number, "method": method, "params": {"text": "é" * 30_000, "number": number}}
        content = json.dumps(message).encode() + b"\\0"
        while content:
            content = content[os.write(write_3, content):]
        reply = b""
        while not reply.endswith(b"\\0"):
            chunk = os.read(read_4, 65_536)
            assert chunk, "the browser ended"
            reply += chunk
        replies.append(json.loads(reply[:-1]))
        assert replies[-1]["result"] == message["params"]
    return browser, write_3, read_4

def over_port(port, folder, **more):
    return subprocess.Popen(
        [BROWSER, f"--remote-debugging-port={port}", f"--user-data-dir={folder}"],
        stderr=subprocess.PIPE, **more)

def address_of(browser):
    for line in browser.stderr:
        if found := re.search(rb"ws://127.0.0.1:(\\d+)(\\S+)", line):
            return int(found[1]), found[2].decode()

def call(port, path, method):
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall((
            f"GET {path} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nUpgrade: websocket\\r\\n"
            "Connection: Upgrade\\r\\nSec-WebSocket-Version: 13\\r\\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\n\\r\\n").encode())
        stream = connection.makefile("rb")
        while stream.readline().strip():
            pass
        content = json.dumps({"id": 1, "method": method, "params": {"a": 1}}).encode()
        connection.sendall(bytes([0x81, 0x80 | len(content), 0, 0, 0, 0]) + content)
        head = stream.read(2)
        return json.loads(stream.read(head[1]))
"""


@pytest.fixture(params=["mounted", "named"])
def options(request: pytest.FixtureRequest) -> list[str]:
    """Return the options with which the wrappers are mounted, or are only in names and variables."""
    if request.param == "named":
        return ["--no-mounts"]
    if subprocess.run(
        ["unshare", "--mount", "--map-root-user", "true"], capture_output=True, check=False
    ).returncode:
        pytest.skip("this system allows no mounts")
    return []


def start(
    tmp_path: Path, options: Sequence[str], program: str, **more: object
) -> tuple[subprocess.Popen[str], Path]:
    file = tmp_path / "traffic.jsonl"
    browser = tmp_path / "browser"
    shutil.copy(PROGRAM, browser)
    script = tmp_path / "client.py"
    script.write_text(CLIENT + textwrap.dedent(program))
    command = [
        *COMMAND, "record", "--unredacted", "--limit", "0", "--browser", str(browser), *options,
        "-o", str(file), "--", sys.executable, str(script),
    ]  # fmt: skip
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | more
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    return subprocess.Popen(command, text=True, env=environment, **streams), file  # type: ignore[call-overload]


def run(tmp_path: Path, options: Sequence[str], program: str) -> tuple[int, str, str, Path]:
    process, file = start(tmp_path, options, program)
    out, err = process.communicate(timeout=BOUND)
    return process.returncode, out, err, file


def kinds(file: Path) -> Counter[str]:
    with debug.open_recording(file) as recording:
        counted = Counter(line.k for line in recording)
        assert recording.damage == []
    return counted


def assert_nothing_is_left(tmp_path: Path) -> None:
    assert list(tmp_path.glob("cdpengine-*")) == []
    assert processes_of(tmp_path) == []


def test_a_pipe_is_recorded_and_the_exit_status_passed_on(options: list[str], tmp_path: Path) -> None:
    status, out, err, file = run(
        tmp_path,
        options,
        """
        browser, *_ = over_pipe(["A.first", "A.second", "Browser.close"])
        print("the browser:", browser.wait())
        sys.exit(3)
    """,
    )
    assert (status, out) == (3, "the browser: 7\n"), err
    assert err.strip().endswith("traffic.jsonl: messages: 6, browsers: 1")
    with debug.open_recording(file) as recording:
        calls = [line for line in recording if line.k == "call"]
    assert [line.m for line in calls] == ["A.first", "A.second", "Browser.close"]
    assert {line.c for line in calls} == {"browser 1 pipe"}
    assert all(line.z > 60_000 for line in calls)
    assert_nothing_is_left(tmp_path)


@pytest.mark.parametrize("fixed", [False, True])
def test_a_port_is_recorded_and_the_client_learns_only_the_proxys(
    options: list[str], fixed: bool, tmp_path: Path
) -> None:
    status, out, err, file = run(
        tmp_path,
        options,
        f"""
        fixed = {fixed}
        with tempfile.TemporaryDirectory() as folder, socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            asked = free.getsockname()[1] if fixed else 0
            free.close()
            browser = over_port(asked, folder)
            file = Path(folder, "DevToolsActivePort")
            written = None
            while not fixed and written is None:
                try:
                    written = file.read_text()
                except FileNotFoundError:
                    time.sleep(0.001)
            port, path = address_of(browser)
            assert port == asked or not fixed, (port, asked)
            assert written == (None if fixed else f"{{port}}\\n{{path}}"), written
            assert os.listdir(folder) == ([] if fixed else ["DevToolsActivePort"])
            with urlopen(f"http://127.0.0.1:{{port}}/json/version") as answer:
                version = json.load(answer)
            assert version["webSocketDebuggerUrl"] == f"ws://127.0.0.1:{{port}}{{path}}"
            print(call(port, path, "A.call"), call(port, path, "Browser.close"))
            rest = browser.stderr.read()
            assert rest == b"a line of the browser\\n", rest
            assert browser.wait() == 7
    """,
    )
    assert (status, out) == (0, "{'id': 1, 'result': {'a': 1}} {'id': 1, 'result': {'a': 1}}\n"), err
    assert kinds(file) >= Counter({"call": 2, "reply": 2, "http": 1})
    assert_nothing_is_left(tmp_path)


def test_several_browsers_and_one_whose_port_is_taken(options: list[str], tmp_path: Path) -> None:
    status, _, err, file = run(
        tmp_path,
        options,
        """
        with socket.socket() as taken, tempfile.TemporaryDirectory() as folder:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            other = over_port(taken.getsockname()[1], folder)
            first, *_ = over_pipe(["A.one"])
            second, write, _ = over_pipe(["A.two", "A.two"])
            os.close(write)
            assert second.wait() == 7
            first.kill()
            assert first.wait() == -9
            other.kill()
            other.wait()
    """,
    )
    assert status == 0, err
    assert "is not recorded: Address already in use" in err
    with debug.open_recording(file) as recording:
        calls = Counter((line.c, line.m) for line in recording if line.k == "call")
    names = {name.rpartition(" ")[0] for name, _ in calls}
    assert len(names) == 2
    assert sorted(calls.values()) == [1, 2]


def test_a_browser_that_still_runs_after_the_command_is_ended(options: list[str], tmp_path: Path) -> None:
    status, _, err, _ = run(
        tmp_path,
        options,
        """
        with tempfile.TemporaryDirectory() as folder:
            browser = over_port(0, folder, start_new_session=True)
            address_of(browser)
            os._exit(0)
    """,
    )
    assert status == 0, err
    assert "ended browsers that still ran after the command: 1" in err
    assert_nothing_is_left(tmp_path)


def test_a_signal_reaches_the_command(options: list[str], tmp_path: Path) -> None:
    process, file = start(
        tmp_path,
        options,
        """
        import signal
        browser, write, _ = over_pipe(["A.call"])
        def on_signal(*_):
            os.close(write)
            print("the browser:", browser.wait())
            sys.exit(5)
        signal.signal(signal.SIGTERM, on_signal)
        print("ready", flush=True)
        time.sleep(60)
    """,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=BOUND)
    assert (process.returncode, out) == (5, "the browser: 7\n"), err
    assert kinds(file)["call"] == 1
    assert_nothing_is_left(tmp_path)


def test_a_killed_recorder_ends_the_browser_of_a_pipe(options: list[str], tmp_path: Path) -> None:
    process, _ = start(
        tmp_path,
        options,
        """
        browser, _, read = over_pipe(["A.call"])
        print("ready", flush=True)
        assert os.read(read, 1) == b""
        print("the browser:", browser.wait(), flush=True)
    """,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.kill()
    assert process.communicate(timeout=BOUND)[0] == "the browser: 7\n"
    end = time.monotonic() + 10
    while processes_of(tmp_path / "browser") and time.monotonic() < end:
        time.sleep(0.05)
    assert processes_of(tmp_path / "browser") == []


def test_the_browser_gets_the_environment_that_the_client_gave(options: list[str], tmp_path: Path) -> None:
    status, out, err, _ = run(
        tmp_path,
        options,
        """
        print(subprocess.run([BROWSER, "--environment"], env={"A": "é", "LANG": "C"}, stdout=-1).stdout)
    """,
    )
    assert status == 0, err
    assert out == "b'A=\\xc3\\xa9\\x00LANG=C\\x00'\n"


def test_a_command_without_a_browser_is_explained(tmp_path: Path) -> None:
    status, out, err, _ = run(tmp_path, [], "print('done')")
    assert (status, out) == (0, "done\n")
    assert f"the command started none of these browsers: {tmp_path / 'browser'}" in err


@pytest.mark.parametrize("options", [[], ["--no-mounts"]])
def test_a_missing_command_has_the_status_of_shells(options: list[str], tmp_path: Path) -> None:
    done = subprocess.run(
        [*COMMAND, "record", *options, "--browser", PROGRAM, "-o", tmp_path / "a.jsonl", "--", "no-such-command"],
        capture_output=True, text=True, timeout=BOUND, check=False,
    )  # fmt: skip
    assert done.returncode == 127
    assert "cannot run no-such-command: No such file or directory" in done.stderr
