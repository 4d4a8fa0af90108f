"""The shell's commands as separate programs: the table of cases, Ctrl-C, and the background service's life."""

from __future__ import annotations

import json
import os
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import attrs
import pytest
import trio
from act_cases import CASES, Case, run_case, serve_pages
from busy_machine import slack
from pytest_httpserver import HTTPServer
from rounds import rounds
from spelling import spell
from werkzeug import Response

from cdpengine.shell.background import Background, BackgroundOptions, running

pytestmark = pytest.mark.chrome

PROGRAM = [sys.executable, "-m", "cdpengine"]


@pytest.fixture
def site(httpserver: HTTPServer) -> str:
    return serve_pages(httpserver)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A user's runtime folder. Its path is short because socket paths are limited. A remaining service is
    ended.
    """
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="cdpengine-shell-") as root:
        monkeypatch.setenv("XDG_RUNTIME_DIR", root)
        monkeypatch.setenv("XDG_STATE_HOME", f"{root}/state")
        monkeypatch.delenv("CDPENGINE_SESSION", raising=False)
        place = Path(root, "cdpengine")
        place.mkdir(mode=0o700)
        yield place
        if (pid := service_pid(place)) is not None:
            os.kill(pid, signal.SIGKILL)


@pytest.fixture
async def background(folder: Path) -> AsyncIterator[Background]:
    """The service in this program, and the clients as separate programs."""
    async with running(BackgroundOptions()) as background:
        yield background


async def run(
    *arguments: str, stdin: bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[bytes]:
    return await trio.run_process(
        [*PROGRAM, *arguments], capture_stdout=True, capture_stderr=True, stdin=stdin, check=False, cwd=cwd
    )


async def say(*arguments: str, note: str = "", **more: Any) -> str:
    """Run a command that succeeds with these notes on standard error, and return its output."""
    done = await run(*arguments, **more)
    assert (done.returncode, done.stderr.decode()) == (0, note), done
    return done.stdout.decode()


async def ask(request: dict[str, Any]) -> dict[str, Any]:
    done = (
        await run(*spell(request), "--json")
        if "--" not in spell(request)
        else await _ask_before_bare(request)
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    nothing = answer["kind"] == "find" and answer.get("result", {}).get("count") == 0
    nothing |= answer["kind"] == "is" and answer.get("result") is False
    assert (done.returncode == 0) is (answer["ok"] and not nothing), done
    assert bool(done.stderr) is not answer["ok"], done
    return answer


async def _ask_before_bare(request: dict[str, Any]) -> subprocess.CompletedProcess[bytes]:
    verb, *rest = spell(request)
    return await run(verb, "--json", *rest)


async def ask_without_scripts(background: Background, request: dict[str, Any]) -> dict[str, Any]:
    async with background.service.sessions.use("default") as session:
        session.actor.evaluate_enabled = False
        try:
            return await ask(request)
        finally:
            session.actor.evaluate_enabled = True


def without_words(case: Case) -> Case:
    """Return a case without the words of its error, which the shell translates (see test_words.py)."""
    error = {name: value for name, value in case.expected.get("error", {}).items() if name == "kind"}
    return attrs.evolve(case, expected={**case.expected, **({"error": error} if error else {})})


SERVED = [
    without_words(case)
    for case in CASES
    if not any(step.get("engine") in ("local", "gone") for step in case.steps)
]
"""Cases that work on a default service, which does not know the tests' search engines."""


GROUP = 6


# In-process, HTTP and MCP runs cover the whole table together. This one runs a twentieth of it again.
@pytest.mark.sample(20, start=9)
@pytest.mark.parametrize("first", range(0, len(SERVED), GROUP))
async def test_the_table_in_the_shell(first: int, background: Background, site: str, tmp_path: Path) -> None:
    file = tmp_path / "upload.txt"
    file.write_text("x")
    places = {"site": site, "folder": str(tmp_path), "file": str(file)}
    without = partial(ask_without_scripts, background)
    wrong = [await run_case(case, ask, without, places) for case in SERVED[first : first + GROUP]]
    assert not any(wrong), "\n".join(filter(None, wrong))


async def test_output_for_people(background: Background, site: str, tmp_path: Path) -> None:
    assert await say("open", f"{site}/stage") == f"{site}/stage  200\n"
    seen = await say("snapshot", "--interactive")
    assert 'button "Go" [ref=e' in seen
    ref = seen.partition('button "Go" [ref=')[2].partition("]")[0]
    assert await say("click", ref) == "done\n"
    assert await say("eval", "record") == '["click go"]\n'
    assert await say("evaluate", "'a\\x1b'", "--raw") == "a\x1b"
    assert await say("text", "#out") == await say("extract", "#out", "--format", "text") == "as it was\n"
    assert await say("type", "#name", "-", stdin=b"ada\n") == "done\n"
    assert await say("eval", "document.getElementById('name').value") == "ada\n"
    assert await say("click", "#ask", note="a confirm opened ('Sure?'), answered Cancel\n") == "done\n"
    changed = await say("click", "#change", "--diff")
    assert "changed" in changed
    assert "# diff of " not in changed, "checksums are for programs and appear in the JSON"
    assert await say("click", "#leave", note=f"navigation to {site}/second\n") == "done\n"
    await say("wait", "--url", "*/second")
    assert await say("tabs") == f"* 0  {site}/second\n"
    assert (
        await say("screenshot", "shot.jpg", cwd=tmp_path)
        == f"{tmp_path}/shot.jpg  {(tmp_path / 'shot.jpg').stat().st_size} bytes\n"
    )
    assert (tmp_path / "shot.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    again = await run("screenshot", "shot.jpg", cwd=tmp_path)
    assert again.returncode == 2
    assert b"--force" in again.stderr
    printed = await say("pdf", cwd=tmp_path)
    assert Path(printed.partition("  ")[0]).read_bytes().startswith(b"%PDF")
    # Sessions are separate, and closing one leaves the other open.
    assert await say("--session", "other", "tabs", note="no page is open\n") == ""
    pageless = await run("click", "e1", "--session=other")
    assert pageless.returncode == 2
    assert b"\nHint: Open a page first: cdpengine open URL." in pageless.stderr
    assert await say("sessions") == "default\n", "no command without a page makes a session"
    await say("--session", "other", "new-tab")
    assert await say("sessions") == "default\nother\n"
    assert await say("close", "--session", "other") == "done\n"
    assert await say("sessions") == "default\n"

    nothing = await run("find", "--role", "slider")
    assert (nothing.returncode, nothing.stdout, nothing.stderr) == (1, b"", b"nothing was found\n")

    # Errors are a line, a hint and a status.
    await say("open", f"{site}/stage")
    for arguments, status, message, hint in (
        (("click", "e999"), 1, "e999", "snapshot"),
        (("click", "#under", "--timeout-ms", "300"), 1, "receives the events", "covering element"),
        (("eval", "while (true);", "--timeout-ms", "200"), 3, "", "stopped"),
        (("click",), 2, "expected TARGET", "cdpengine click --help"),
        (("clik", "e3"), 2, "clik", ""),
        (("press", "Entre"), 2, "not the name of a key", "message"),
        (("act", "{"), 2, "JSON", "cdpengine act --help"),
        (("open", "example.com"), 2, "https://example.com", ""),
        (("wait", "--text", "never", "--timeout-ms", "100"), 1, "never", "--timeout-ms"),
    ):
        done = await run(*arguments)
        assert (done.returncode, done.stdout) == (status, b""), done
        lines = done.stderr.decode().splitlines()
        if arguments[0] == "clik":
            continue  # the command line's message for an unknown command
        first, second = lines
        assert first.startswith("Error: ")
        assert message in first
        assert second.startswith("Hint: ")
        assert hint in second
        as_json = await run(*arguments, "--json")
        assert as_json.returncode == status
        answer = json.loads(as_json.stdout)
        assert answer["ok"] is False
        assert answer["error"]["hint"].replace("timeoutMs", "--timeout-ms") in second


async def test_ctrl_c_stops_the_script_and_another_client_clicks(background: Background, site: str) -> None:
    await say("open", f"{site}/stage")
    process = await trio.lowlevel.open_process([*PROGRAM, "eval", "while (true);"])
    try:
        with trio.fail_after(20):
            while not background._under_way:  # noqa: ASYNC110 - another program's
                await trio.sleep(0.005)
        await trio.sleep(0.1)  # until the script runs
        began = trio.current_time()
        process.send_signal(signal.SIGINT)
        assert await process.wait() == 130
        left = trio.current_time() - began
        answer = await ask({"kind": "click", "selector": "#go"})
        assert answer["ok"], answer
        assert left < slack(0.25)
        assert trio.current_time() - began < slack(0.5), "including the start of the other client"
    finally:
        process.kill()
        await process.wait()
    # A killed client's request is undone as well.
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP):
        process = await trio.lowlevel.open_process([*PROGRAM, "eval", "while (true);"])
        with trio.fail_after(20):
            while not background._under_way:  # noqa: ASYNC110
                await trio.sleep(0.005)
            process.send_signal(number)
            await process.wait()
            while background._under_way:  # noqa: ASYNC110
                await trio.sleep(0.005)
        assert (await ask({"kind": "click", "selector": "#go"}))["ok"]


# --- the life of the service ---------------------------------------------------------------------------------


def service_pid(folder: Path) -> int | None:
    """Return the pid of the running service, or None if none runs."""
    try:
        pid = int((folder / "shell.lock").read_text())
        words = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if b"cdpengine.shell.background" in words else None


def descendants(pid: int) -> list[int]:
    found = []
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            found += [child, *descendants(child)]
    return found


def alive(pids: list[int]) -> list[int]:
    """Return the running processes, without zombies."""
    left = []
    for pid in pids:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            continue
        if state not in ("Z", "X"):
            left.append(pid)
    return left


async def until_gone(pids: list[int]) -> None:
    with trio.fail_after(20):
        while alive(pids):  # noqa: ASYNC110 - other programs'
            await trio.sleep(0.02)


async def test_concurrent_starts_give_one_service_and_killed_one_leaves_nothing(
    folder: Path, site: str
) -> None:
    folder.rmdir()  # as at the very first start
    async with trio.open_nursery() as nursery:
        for _ in range(starts := rounds(2, 8)):
            nursery.start_soon(say, "new-tab", f"{site}/stage")
    first = service_pid(folder)
    assert first is not None
    assert len((await say("tabs")).splitlines()) == starts
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert {each.name: stat.S_IMODE(each.stat().st_mode) for each in folder.iterdir()} == {
        "shell.sock": 0o600,
        "shell.lock": 0o600,
        "shell.log": 0o600,
    }
    # Its state and its browser are gone with it, and the next start notices its socket.
    browsers = descendants(first)
    assert browsers
    os.kill(first, signal.SIGKILL)
    await until_gone([first, *browsers])
    assert (folder / "shell.sock").exists()
    async with trio.open_nursery() as nursery:
        for _ in range(rounds(1, 6)):
            nursery.start_soon(say, "new-tab")
    assert len((await say("tabs")).splitlines()) == rounds(1, 6)
    second = service_pid(folder)
    assert second not in (None, first)
    assert second is not None
    # The last session ends it and its browser. Nothing is left when the command returns.
    assert await say("open", f"{site}/second") == f"{site}/second  200\n"
    browsers = descendants(second)
    assert browsers
    assert await say("close") == "done\n"
    assert alive(browsers) == []
    assert not (folder / "shell.sock").exists()
    await until_gone([second])
    assert (await say("close"), await say("sessions")) == ("done\n", "")
    assert service_pid(folder) is None


async def test_ref_numbers_continue_after_a_killed_service(folder: Path, httpserver: HTTPServer) -> None:
    pressed: list[str] = []
    httpserver.expect_request("/pressed").respond_with_handler(
        lambda request: pressed.append(request.args["name"]) or Response("")  # type: ignore[func-returns-value]
    )
    for path, names in {"/first": ["Search", "Help"], "/second": ["Pay", "Delete"]}.items():
        buttons = "".join(
            f"<button onclick=\"fetch('/pressed?name={each}')\">{each}</button>" for each in names
        )
        httpserver.expect_request(path).respond_with_data(buttons, content_type="text/html")
    await say("open", httpserver.url_for("/first"))
    assert re.findall("ref=(e[0-9]+)", await say("snapshot")) == ["e1", "e2"]
    kills = rounds(1, 3)
    for round_ in range(kills):
        pid = service_pid(folder)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        await until_gone([pid])
        await say("open", httpserver.url_for("/second"))
        assert re.findall("ref=(e[0-9]+)", await say("snapshot")) == [f"e{round_ + 1}01", f"e{round_ + 1}02"]
        for ref in ("e1", "e2", "e99"):
            refused = await run("click", ref)
            assert b"session has ended" in refused.stderr, refused
    assert pressed == []
    refs = Path(os.environ["XDG_STATE_HOME"], "cdpengine", "shell-refs")
    assert (refs.read_text(), stat.S_IMODE(refs.stat().st_mode)) == (f"{kills + 1}00\n", 0o600)
    # A service that exits normally also saves the number. With a damaged file, numbers start after all
    # earlier ones.
    assert await say("close", "--all") == "done\n"
    refs.write_bytes(b"\0\0")
    await say("open", httpserver.url_for("/second"))
    assert int(re.findall("ref=e([0-9]+)", await say("snapshot"))[0]) > 1_000_000_000


@pytest.mark.slow
async def test_unused_service_ends_and_killed_service_is_reported(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CDPENGINE_IDLE", "1.5")
    assert await say("open", "data:text/html,<title>x</title>")
    pid = service_pid(folder)
    assert pid is not None
    # It exits normally on request.
    browsers = descendants(pid)
    assert browsers
    os.kill(pid, signal.SIGTERM)
    await until_gone([pid, *browsers])
    assert not (folder / "shell.sock").exists()
    assert await say("open", "data:text/html,<title>x</title>")
    pid = service_pid(folder)
    assert pid is not None
    # During a command, which is not sent again because it may have been done. Its page never arrives.
    [listener] = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with trio.open_nursery() as nursery, listener:
        done: list[subprocess.CompletedProcess[bytes]] = []

        async def wait() -> None:
            done.append(await run("open", f"http://127.0.0.1:{listener.socket.getsockname()[1]}/"))

        nursery.start_soon(wait)
        with trio.fail_after(20):
            asked = await listener.accept()
        async with asked:
            os.kill(pid, signal.SIGKILL)
    assert done[0].returncode == 4
    assert b"during the command" in done[0].stderr
    assert await say("new-tab") == "about:blank\n"
    pid = service_pid(folder)
    assert pid is not None
    await until_gone([pid])
    assert not (folder / "shell.sock").exists()
    assert (folder / "shell.log").read_bytes() == b""
