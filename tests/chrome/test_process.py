"""start_browser with a real Chromium: it starts, and leaves nothing, however it ends."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

import pytest
import trio
from processes import processes_of, state_of
from trio_websocket import open_websocket_url

import cdpengine
from cdpengine._launch.process import BrowserProcess, LaunchOptions, start_browser
from cdpengine.errors import InvalidArgumentError, LaunchFailedError

pytestmark = pytest.mark.chrome

CHROMIUM = cdpengine.find_browser().path


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give every test its own folder for temporary profiles, to detect leftovers."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    # The test also searches for Chrome's own temporary files. A socket's path must stay under 108 bytes, so
    # the folder's path is short.
    short = Path(tempfile.mkdtemp(dir="/tmp"))
    monkeypatch.setenv("TMPDIR", str(short))
    yield folder
    shutil.rmtree(short)


@pytest.fixture
def short_temporary(monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary profiles and Chrome's files, with a short path as outside tests."""
    monkeypatch.setattr(tempfile, "tempdir", os.environ["TMPDIR"])
    return Path(os.environ["TMPDIR"])


def soon(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def assert_nothing_left(folder: Path, pid: int | None = None) -> None:
    assert list(folder.iterdir()) == []
    assert list(Path(os.environ["TMPDIR"]).iterdir()) == []
    assert soon(lambda: processes_of(folder) == [], 2), processes_of(folder)
    if pid is not None:
        assert state_of(pid) is None, "the process was not reaped"


def listening_sockets(pids: list[int]) -> set[str]:
    """Return the listening TCP sockets of these processes."""
    held = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(FileNotFoundError):  # it was closed during the check
                held.add(os.readlink(link).rpartition("/")[2])
    table = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return held & {f"socket:[{fields[9]}]" for fields in table if fields[3] == "0A"}


def started_with(pid: int, what: str) -> list[str]:
    """Return the NUL-separated entries of `cmdline` or `environ` of a process."""
    return Path(f"/proc/{pid}/{what}").read_bytes().decode().split("\0")


async def browser_version(process: BrowserProcess) -> str:
    message = json.dumps({"id": 1, "method": "Browser.getVersion"})
    if process.pipe is not None:
        await process.pipe.to_browser.send_all(message.encode() + b"\0")
        answer = b""
        while not answer.endswith(b"\0"):
            answer += await process.pipe.from_browser.receive_some(65536)
        reply = json.loads(answer[:-1])
    else:
        assert process.endpoint is not None
        async with open_websocket_url(process.endpoint) as socket:
            await socket.send_message(message)
            reply = json.loads(await socket.get_message())
    assert reply["id"] == 1
    return str(reply["result"]["product"])


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_starts_answers_and_ends(temporary: Path, transport: str) -> None:
    options = LaunchOptions(CHROMIUM, transport="pipe" if transport == "pipe" else "websocket")
    with trio.fail_after(30):
        async with start_browser(options) as process:
            assert "Chrome" in await browser_version(process)
            assert not process.ended.is_set()
            assert (process.endpoint is None) == (transport == "pipe")
            assert process.profile.parent == temporary
    assert process.returncode == 0, "Chrome exits normally when its pipe is closed"
    assert_nothing_left(temporary, process.pid)


async def test_the_pipe_transport_opens_no_port(temporary: Path) -> None:
    async with start_browser(LaunchOptions(CHROMIUM, transport="pipe")) as process:
        await browser_version(process)
        assert not listening_sockets(processes_of(temporary))
    async with start_browser(LaunchOptions(CHROMIUM)) as process:
        assert listening_sockets(processes_of(temporary)), "the check detects an open port"


async def test_cancelled_while_running(temporary: Path) -> None:
    with trio.CancelScope() as scope:
        async with start_browser(LaunchOptions(CHROMIUM)) as process:
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert_nothing_left(temporary, process.pid)


@pytest.mark.parametrize("moment", [0, 0.005, 0.03, 0.1])
async def test_cancelled_while_starting(temporary: Path, moment: float) -> None:
    entered = False
    with trio.move_on_after(moment) as scope:
        async with start_browser(LaunchOptions(CHROMIUM)):
            entered = True
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert not entered or moment == 0.1
    assert_nothing_left(temporary)


async def test_killed_browser_is_noticed(temporary: Path) -> None:
    with trio.fail_after(20):
        async with start_browser(LaunchOptions(CHROMIUM)) as process:
            os.kill(process.pid, signal.SIGKILL)
            assert await process.wait() == -signal.SIGKILL
            assert process.ended.is_set()
            assert state_of(process.pid) is None
    assert_nothing_left(temporary, process.pid)


async def test_stopped_browser_is_still_ended(temporary: Path) -> None:
    with trio.fail_after(20):
        async with start_browser(LaunchOptions(CHROMIUM)) as process:
            os.kill(process.pid, signal.SIGSTOP)
    assert process.returncode == -signal.SIGKILL
    assert_nothing_left(temporary, process.pid)


async def test_a_users_profile_is_kept(temporary: Path, tmp_path: Path) -> None:
    profile = tmp_path / "mine" / "profile"
    for _ in range(2):
        async with start_browser(LaunchOptions(CHROMIUM, user_data_dir=profile)) as process:
            assert process.profile == profile
            await browser_version(process)
    assert (profile / "Local State").exists()
    assert_nothing_left(temporary, process.pid)


async def test_stale_port_file_is_ignored(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "DevToolsActivePort").write_text("1\n/devtools/browser/old")
    async with start_browser(LaunchOptions(CHROMIUM, user_data_dir=profile)) as process:
        assert process.endpoint is not None
        assert not process.endpoint.startswith("ws://127.0.0.1:1/")
        await browser_version(process)


async def test_profile_in_use_raises_named_error(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    with trio.fail_after(30):
        async with start_browser(LaunchOptions(CHROMIUM, user_data_dir=profile)) as first:
            with pytest.raises(LaunchFailedError, match="in use by another browser") as caught:
                async with start_browser(LaunchOptions(CHROMIUM, user_data_dir=profile)):
                    pass
            assert "Chrome" in await browser_version(first)
    assert str(profile) in str(caught.value)


async def test_user_arguments_reach_the_browser(temporary: Path) -> None:
    options = LaunchOptions(CHROMIUM, args=["--user-agent=mine/1.0", "--disable-features=Mine"])
    async with start_browser(options) as process:
        command = started_with(process.pid, "cmdline")
    assert "--user-agent=mine/1.0" in command
    features = [argument for argument in command if argument.startswith("--disable-features=")]
    assert len(features) == 1
    assert features[0].endswith(",Mine")
    assert "Translate" in features[0]


async def test_browser_has_the_given_environment(temporary: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(temporary.parent), "MINE": "1"}
    async with start_browser(LaunchOptions(CHROMIUM, env=environment)) as process:
        block = started_with(process.pid, "environ")
    assert "MINE=1" in block
    assert not any(entry.startswith("PYTEST_CURRENT_TEST=") for entry in block)


async def test_no_descriptor_is_left_open(temporary: Path) -> None:
    def descriptors() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    async with start_browser(LaunchOptions(CHROMIUM)):
        pass
    before = descriptors()
    for _ in range(2):
        async with start_browser(LaunchOptions(CHROMIUM)):
            pass
    with pytest.raises(LaunchFailedError):
        async with start_browser(LaunchOptions(Path("/nowhere/chrome"))):
            pass
    assert descriptors() == before


# --- files that are not a browser ----------------------------------------------------------------------------


def script(folder: Path, text: str) -> Path:
    path = folder / "program"
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture(params=["websocket", "pipe"])
def failing(request: pytest.FixtureRequest) -> Callable[[Path], LaunchOptions]:
    def options(path: Path) -> LaunchOptions:
        return LaunchOptions(path, transport=request.param)

    return options


Failing = Callable[[Path], LaunchOptions]


@pytest.mark.parametrize(
    ("text", "reason"),
    [("just some text\n", "not a program"), ("#!/nowhere/shell\n", "interpreter is missing")],
)
async def test_a_file_that_is_not_a_program(
    temporary: Path, tmp_path: Path, failing: Failing, text: str, reason: str
) -> None:
    with pytest.raises(LaunchFailedError, match=reason) as caught:
        async with start_browser(failing(script(tmp_path, text))):
            pass
    assert caught.value.exit_code is None
    assert_nothing_left(temporary)


async def test_paths_that_cannot_be_executed(temporary: Path, tmp_path: Path, failing: Failing) -> None:
    plain = tmp_path / "plain"
    plain.write_text("#!/bin/sh\n")
    for path, reason in [
        (tmp_path / "missing", "does not exist"),
        (tmp_path, "is a folder"),
        (plain, "not executable"),
    ]:
        with pytest.raises(LaunchFailedError, match=reason):
            async with start_browser(failing(path)):
                pass
    assert_nothing_left(temporary)


async def test_a_program_that_ends_early_is_reported_with_its_output(
    temporary: Path, tmp_path: Path, failing: Failing
) -> None:
    path = script(tmp_path, "#!/bin/sh\necho to stdout\nprintf 'bad \\377 byte' >&2\nexit 3\n")
    with trio.fail_after(10):
        with pytest.raises(LaunchFailedError) as caught:
            async with start_browser(failing(path)):
                pass
    assert caught.value.exit_code == 3
    assert caught.value.output == ("to stdout", "bad \N{REPLACEMENT CHARACTER} byte")
    assert "exit code 3" in str(caught.value)
    assert_nothing_left(temporary)


async def test_only_the_last_lines_are_kept(temporary: Path, tmp_path: Path) -> None:
    program = "#!/bin/sh\ni=0\nwhile [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done\n"
    program += "head -c 100000 /dev/zero | tr '\\0' x\nexit 4\n"
    with pytest.raises(LaunchFailedError) as caught:
        async with start_browser(LaunchOptions(script(tmp_path, program))):
            pass
    *lines, last = caught.value.output
    assert lines == [f"line {number}" for number in range(481, 500)]
    assert 0 < len(last) < 10_000
    assert set(last) == {"x"}


async def test_child_processes_of_the_program_are_ended(temporary: Path, tmp_path: Path) -> None:
    """A wrapper ends while its child continues. The child is in the same process group."""
    marker = tmp_path / "helper"
    path = script(tmp_path, f"#!/bin/sh\nsleep 60 & echo $! > {marker}\nexit 5\n")
    with trio.fail_after(10):
        with pytest.raises(LaunchFailedError) as caught:
            async with start_browser(LaunchOptions(path)):
                pass
    assert caught.value.exit_code == 5
    helper = int(marker.read_text())
    assert soon(lambda: state_of(helper) in (None, "Z"), 2)


async def test_the_port_file_is_enough(temporary: Path, tmp_path: Path) -> None:
    """A wrapper that passes no stderr on."""
    path = script(tmp_path, f'#!/bin/sh\nexec {CHROMIUM} "$@" 2>/dev/null\n')
    with trio.fail_after(20):
        async with start_browser(LaunchOptions(path)) as process:
            assert "Chrome" in await browser_version(process)
    assert_nothing_left(temporary, process.pid)


@pytest.mark.parametrize("begun", [False, True], ids=["when asked", "before it is asked"])
async def test_browser_killed_while_removing_its_socket_folder_leaves_none(
    temporary: Path, tmp_path: Path, begun: bool
) -> None:
    """It first removes the link, the only reference to the folder. On a busy machine it is killed before the
    rest.
    """
    path = script(
        tmp_path,
        """#!/bin/sh
for argument; do case "$argument" in --user-data-dir=*) profile="${argument#*=}";; esac; done
sockets="${profile%/*}/org.chromium.Chromium.abc"
mkdir "$sockets" && touch "$sockets/SingletonSocket" && ln -s "$sockets/SingletonSocket" "$profile/SingletonSocket"
trap 'rm -f "$profile/SingletonSocket"; exit 0' TERM
echo DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2
while :; do sleep 0.05; done
""",
    )
    with trio.fail_after(20):
        async with start_browser(LaunchOptions(path)) as process:
            assert len(list(temporary.iterdir())) == 2
            if begun:
                (process.profile / "SingletonSocket").unlink()
    assert_nothing_left(temporary, process.pid)


async def test_temporary_files_of_a_killed_browser_go_with_its_profile(
    short_temporary: Path, tmp_path: Path
) -> None:
    path = script(
        tmp_path,
        """#!/bin/sh
trap '' TERM
mkdir "$TMPDIR/org.chromium.Chromium.abc" && touch "$TMPDIR/.org.chromium.Chromium.def"
echo DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2
while :; do sleep 1; done
""",
    )
    with trio.fail_after(10):
        async with start_browser(LaunchOptions(path)) as process:
            left = process.profile.rglob("*org.chromium.Chromium.*")
            assert sorted(entry.name[-3:] for entry in left) == ["abc", "def"]
    assert process.returncode == -signal.SIGKILL
    assert_nothing_left(short_temporary, process.pid)


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_chrome_keeps_its_sockets_in_its_temporary_profile(
    short_temporary: Path, transport: Literal["websocket", "pipe"]
) -> None:
    with trio.fail_after(20):
        async with start_browser(LaunchOptions(CHROMIUM, transport=transport)) as process:
            assert list(short_temporary.iterdir()) == [process.profile]
            assert (process.profile / "SingletonSocket").readlink().is_relative_to(process.profile)
    assert_nothing_left(short_temporary, process.pid)


async def test_a_program_that_ignores_sigterm_is_killed(temporary: Path, tmp_path: Path) -> None:
    path = script(
        tmp_path,
        "#!/bin/sh\ntrap '' TERM\necho DevTools listening on ws://127.0.0.1:1/devtools/browser/x >&2\n"
        "while :; do sleep 1; done\n",
    )
    with trio.fail_after(10):
        async with start_browser(LaunchOptions(path)) as process:
            assert process.endpoint == "ws://127.0.0.1:1/devtools/browser/x"
    assert process.returncode == -signal.SIGKILL
    assert_nothing_left(temporary, process.pid)


@pytest.mark.parametrize(
    "argument", ["--user-data-dir=/x", "--remote-debugging-port=1", "--remote-debugging-pipe", "nul\0"]
)
async def test_invalid_browser_arguments_are_refused(temporary: Path, argument: str) -> None:
    with pytest.raises(InvalidArgumentError):
        async with start_browser(LaunchOptions(CHROMIUM, args=[argument])):
            pass
    assert_nothing_left(temporary)


# --- our own process ends ------------------------------------------------------------------------------------

OWNER = """
    import sys, tempfile, trio
    from pathlib import Path
    from cdpengine._launch.process import LaunchOptions, start_browser

    tempfile.tempdir = sys.argv[1]

    async def main():
        async with start_browser(LaunchOptions(Path(sys.argv[2]), transport=sys.argv[3])) as process:
            print(process.pid, flush=True)
            await trio.sleep_forever()

    trio.run(main)
"""


@pytest.fixture
def owner(temporary: Path, request: pytest.FixtureRequest) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a separate Python process with a browser, and yield both."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(OWNER), str(temporary), str(CHROMIUM), request.param],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        start_new_session=True,
    )
    with process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize("owner", ["websocket", "pipe"], indirect=True)
def test_browser_ends_when_our_process_is_killed(
    owner: tuple[subprocess.Popen[str], int], temporary: Path
) -> None:
    process, browser = owner
    assert processes_of(temporary)
    process.kill()
    process.wait()
    assert soon(lambda: state_of(browser) in (None, "Z"), 2), "Chrome outlived its owner"
    assert soon(lambda: all(state_of(pid) in (None, "Z") for pid in processes_of(temporary)), 2)


@pytest.mark.parametrize("owner", ["websocket"], indirect=True)
def test_ctrl_c_ends_browser_and_propagates_unchanged(
    owner: tuple[subprocess.Popen[str], int], temporary: Path
) -> None:
    process, browser = owner
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=10)
    assert process.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in errors
    assert "ExceptionGroup" not in errors
    assert state_of(browser) in (None, "Z")
    assert_nothing_left(temporary)


@pytest.mark.parametrize("owner", ["websocket"], indirect=True)
def test_a_second_ctrl_c_during_the_ending_leaves_nothing_either(
    owner: tuple[subprocess.Popen[str], int], temporary: Path
) -> None:
    process, browser = owner
    os.kill(browser, signal.SIGSTOP)  # so that the ending is slow enough to interrupt
    for _ in range(3):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGINT)
        time.sleep(0.3)
    _, errors = process.communicate(timeout=20)
    assert "KeyboardInterrupt" in errors
    assert state_of(browser) in (None, "Z")
    assert_nothing_left(temporary)
