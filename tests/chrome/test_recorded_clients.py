"""Programs that launch Chrome through their own client, recorded and compared with the client's log.

The test marked `peers` runs the clients where they are installed (`make test-peers`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import trio
from command_line import COMMAND
from peer_programs import CLIENTS, NODE_PEERS, PYTHON_PEERS
from processes import processes_of
from pytest_httpserver import HTTPServer

from cdpengine import debug

pytestmark = [pytest.mark.chrome, pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")]

PAGE = """<!doctype html><title>Hall</title><input id=name><button id=greet onclick="
  const p = document.createElement('p'); p.id = 'greeting';
  p.textContent = 'Hello ' + document.getElementById('name').value; document.body.append(p)">Greet</button>"""
SEEN = ["Hello Ada", "Hall"]
ROUNDS = int(os.environ.get("CDPENGINE_RECORDED_ROUNDS", "20"))
"""Number of runs of each client."""

SECONDS = 180
"""Timeout of one run, in seconds."""

Log = tuple[Counter[str], Counter[str]]
"""The numbers of messages in a client's log: sent ones, and received events and replies."""


async def record(
    tmp_path: Path, command: list[str], environment: Mapping[str, str] | None = None, *more: str
) -> tuple[subprocess.CompletedProcess[bytes], Path]:
    """Record a command whose temporary files are in `tmp_path`. Check that none of them is left."""
    file = tmp_path / "traffic.jsonl"
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))  # socket paths must be short
    options = ["--force", "--unredacted", "--keep-arguments", "--limit", "0", "-o", str(file), *more]
    clean = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    try:
        with trio.fail_after(SECONDS):
            done = await trio.run_process(
                [*COMMAND, "record", *options, "--", *command],
                env=clean | {"TMPDIR": str(temporary)} | dict(environment or {}),
                capture_stdout=True,
                capture_stderr=True,
                check=False,
            )
        left = [each.name for each in temporary.iterdir() if each.name.startswith("cdpengine")]
        assert left == []
        with trio.fail_after(20):
            while processes_of(temporary):  # noqa: ASYNC110 - helpers end a moment after their browser
                await trio.sleep(0.1)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return done, file


def read(file: Path) -> tuple[Log, Counter[str]]:
    """Return the messages of a recording, and the numbers of calls by connection."""
    sent: Counter[str] = Counter()
    received: Counter[str] = Counter()
    connections: Counter[str] = Counter()
    with debug.open_recording(file) as recording:
        for line in recording:
            if line.k == "call":
                sent[line.m] += 1
                connections[line.c] += 1
            elif line.k in ("reply", "error", "event"):
                received[line.m if line.k == "event" else ""] += 1
            assert line.k not in ("lost", "stray"), line
        assert recording.damage == []
    return (sent, received), connections


# --- a plain script --------------------------------------------------------------------------------------------

SCRIPT = """
import json, os, re, socket, subprocess, sys, tempfile
browser, how = sys.argv[1:]
with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"]
    if how == "pipe":
        read_3, write_3 = os.pipe()
        read_4, write_4 = os.pipe()
        def inherit():
            copies = os.dup(read_3), os.dup(write_4)
            os.dup2(copies[0], 3)
            os.dup2(copies[1], 4)
        process = subprocess.Popen([*command, "--remote-debugging-pipe"], preexec_fn=inherit, close_fds=False)
        os.close(write_4)
        os.write(write_3, b'{"id":1,"method":"Browser.getVersion"}\\0{"id":2,"method":"Browser.close"}\\0')
        answers = b""
        while chunk := os.read(read_4, 65_536):
            answers += chunk
        print(len(answers.split(b"\\0")) - 1, process.wait())
    else:
        process = subprocess.Popen([*command, "--remote-debugging-port=0"], stderr=subprocess.PIPE)
        for line in process.stderr:
            if found := re.search(rb"ws://127.0.0.1:(\\d+)(/devtools/browser/\\S+)", line):
                break
        port, path = open(f"{folder}/profile/DevToolsActivePort").read().split("\\n")
        assert (port, path) == (found[1].decode(), found[2].decode())
        with socket.create_connection(("127.0.0.1", int(port))) as connection:
            connection.sendall(b"GET /json/version HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\n\\r\\n" % found[1])
            answer = b""
            while chunk := connection.recv(65_536):
                answer += chunk
        assert found[0] in answer
        process.terminate()
        rest = process.stderr.read()
        assert b"active port" not in rest, rest
        print(1, process.wait() in (0, -15))
"""


@pytest.mark.parametrize("how", ["pipe", "port"])
async def test_a_script_that_starts_chrome_itself(how: str, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    browser = debug_browser()
    done, file = await record(tmp_path, [sys.executable, str(script), browser, how])
    assert (done.returncode, done.stdout) == (0, b"2 0\n" if how == "pipe" else b"1 True\n"), (
        done.stderr.decode()
    )
    with debug.open_recording(file) as recording:
        kinds = Counter(line.k for line in recording)
    assert kinds["call"] == kinds["reply"] == (2 if how == "pipe" else 0)
    assert kinds["http"] == (0 if how == "pipe" else 1)


def debug_browser() -> str:
    import cdpengine

    return str(cdpengine.find_browser().path)


# --- clients ---------------------------------------------------------------------------------------------------


def lines_with(log: str, mark: str) -> list[str]:
    return [line.partition(mark)[2].strip() for line in log.splitlines() if mark in line]


def read_playwright_log(log: str) -> Log:
    """Read the messages in the log of Playwright (DEBUG=pw:protocol). It has no line for the last command."""
    sent, received = read_json_log(log)
    return sent + Counter({"Browser.close": 1}), received


def read_json_log(log: str) -> Log:
    """Read the messages in the log of Puppeteer (DEBUG=puppeteer:protocol:*): lists with one message each."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", log)
    plain = re.sub(r"(SEND ►|RECV ◀) \[\s+['`\"]", r"\1 ", plain)
    sent = lines_with(plain, "SEND ►")
    received = lines_with(plain, "◀ RECV") + lines_with(plain, "RECV ◀")
    methods = [re.search(r'"method":"([\w.]+)"', each) for each in sent]
    events = [re.match(r'\{"method":"([\w.]+)"', each) for each in received]
    assert all(methods)
    return Counter(each[1] for each in methods if each), Counter(each[1] if each else "" for each in events)


def read_frames(log: str) -> Log:
    """Read the numbers of frames in the log of the package `websockets`."""
    return Counter({"": len(lines_with(log, "> TEXT"))}), Counter({"": len(lines_with(log, "< TEXT"))})


def read_chromedriver(log: str) -> Log:
    """Read the commands in chromedriver's log. It has no line for some events."""
    return Counter(each.split()[0] for each in lines_with(log, "DevTools WebSocket Command: ")), Counter()


CLIENTS_THAT_LAUNCH: Mapping[str, tuple[str, Mapping[str, str], Callable[[str], Log]]] = {
    "playwright_python": ("playwright_client.py", {"DEBUG": "pw:protocol"}, read_playwright_log),
    "playwright_node": ("playwright_client.mjs", {"DEBUG": "pw:protocol"}, read_playwright_log),
    "puppeteer": ("puppeteer_client.mjs", {"DEBUG": "puppeteer:protocol:*"}, read_json_log),
    "selenium": ("selenium_client.py", {"SE_OFFLINE": "true"}, read_chromedriver),
    "nodriver": ("nodriver_client.py", {}, read_frames),
    "zendriver": ("zendriver_client.py", {}, read_frames),
    "pydoll": ("pydoll_client.py", {}, read_frames),
}


def client_command(name: str, folder: Path) -> list[str]:
    script = CLIENTS / "launching" / CLIENTS_THAT_LAUNCH[name][0]
    if script.suffix == ".mjs":
        node = shutil.which("node")
        package = "puppeteer-core" if name == "puppeteer" else "playwright"
        if node is None or not (NODE_PEERS / "node_modules" / package).is_dir():
            pytest.skip(f"{package} is not installed: make test-peers")
        shutil.copy(script, folder)  # an ES module looks for its packages in its own folder
        (folder / "node_modules").symlink_to(NODE_PEERS / "node_modules")
        return [node, str(folder / script.name)]
    package = name.partition("_")[0]
    if not any((PYTHON_PEERS / "lib").glob(f"python3*/site-packages/{package}")):
        pytest.skip(f"{package} is not installed: make test-peers")
    if name == "selenium" and shutil.which("chromedriver") is None:
        pytest.skip("chromedriver is not installed: make test-peers")
    return [str(PYTHON_PEERS / "bin/python"), str(script)]


def install_for_playwright(folder: Path) -> dict[str, str]:
    """Install the machine's Chromium into a folder as if Playwright had downloaded it."""
    browsers = json.loads((NODE_PEERS / "node_modules/playwright-core/browsers.json").read_text())["browsers"]
    for each in browsers:
        shell = each["name"] == "chromium-headless-shell"
        if shell or each["name"] == "chromium":
            program = "chrome-headless-shell" if shell else "chrome"
            place = folder / f"{each['name'].replace('-', '_')}-{each['revision']}" / f"{program}-linux64"
            place.mkdir(parents=True)
            (place / program).symlink_to("/usr/bin/chromium")
            (place.parent / "INSTALLATION_COMPLETE").touch()
    return {"PLAYWRIGHT_BROWSERS_PATH": str(folder), "PLAYWRIGHT_SKIP_VALIDATE_HOST_REQUIREMENTS": "1"}


@pytest.mark.peers
@pytest.mark.slow
@pytest.mark.timeout(SECONDS * ROUNDS)
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="the programs name /usr/bin/chromium")
@pytest.mark.parametrize("name", CLIENTS_THAT_LAUNCH)
async def test_recordings_of_a_client_are_complete(name: str, tmp_path: Path, httpserver: HTTPServer) -> None:
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    _, environment, read_log = CLIENTS_THAT_LAUNCH[name]
    environment = dict(environment)
    driver_log = tmp_path / "driver.log"
    command = [*client_command(name, tmp_path), httpserver.url_for("/hall"), str(driver_log)]
    if name == "playwright_node":
        environment |= install_for_playwright(tmp_path / "browsers")
    for number in range(ROUNDS):
        done, file = await record(tmp_path, command, environment)
        log = done.stderr.decode()
        assert done.returncode == 0, (number, log[-5000:])
        assert json.loads(done.stdout) == SEEN
        sent, received = read_log(driver_log.read_text() if name == "selenium" else log)
        (calls, others), connections = read(file)
        assert sum(sent.values()) > 10
        if read_log is read_frames:
            calls, others = Counter({"": calls.total()}), Counter({"": others.total()})
        assert calls == sent, number
        # A client that closes its connection logs no later messages.
        assert others >= received, (number, received - others)
        if name == "puppeteer":
            assert {each.rpartition(" ")[2] == "pipe" for each in connections} == {True, False}


@pytest.mark.peers
@pytest.mark.slow
@pytest.mark.skipif(not Path("/usr/bin/chromium").exists(), reason="the program finds /usr/bin/chromium")
async def test_a_downloaded_browser_is_recorded_without_mounts(
    tmp_path: Path, httpserver: HTTPServer
) -> None:
    httpserver.expect_request("/hall").respond_with_data(PAGE, content_type="text/html")
    command = [*client_command("playwright_node", tmp_path), httpserver.url_for("/hall")]
    environment = {"DEBUG": "pw:protocol", **install_for_playwright(tmp_path / "browsers")}
    done, file = await record(tmp_path, command, environment, "--no-mounts")
    log = done.stderr.decode()
    assert done.returncode == 0, log[-5000:]
    assert json.loads(done.stdout) == SEEN
    (calls, others), _ = read(file)
    sent, received = read_playwright_log(log)
    assert calls == sent
    assert others >= received


async def test_a_name_on_the_path_is_recorded_without_mounts(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    browser = Path(debug_browser())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/chromium").symlink_to(browser)
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    command = [sys.executable, str(script), "chromium", "pipe"]
    done, file = await record(tmp_path, command, {"PATH": path}, "--no-mounts")
    assert (done.returncode, done.stdout) == (0, b"2 0\n"), done.stderr.decode()
    (calls, _), _ = read(file)
    assert calls == Counter({"Browser.getVersion": 1, "Browser.close": 1})
