"""Refused arguments of launch and connect, and the absence of leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest
import trio

import cdpengine
from cdpengine._api import opening


@pytest.fixture(autouse=True)
def own_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder for this test's profiles, so that other programs' profiles do not count."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))


def profiles() -> set[str]:
    return {name for name in os.listdir(tempfile.gettempdir()) if "cdpengine" in name}


@pytest.mark.sample(3, start=1)
@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_error_of_the_body_propagates_unchanged(transport: str) -> None:
    before = profiles()
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught:
        async with cdpengine.launch(transport=transport) as browser:  # type: ignore[arg-type]
            await browser.new_page()
            raise error
    assert caught.value is error
    assert profiles() == before


async def test_exception_group_of_the_body_propagates_unchanged() -> None:
    group = ExceptionGroup("mine", [KeyError("a"), ValueError("b")])
    with pytest.raises(ExceptionGroup) as caught:
        async with cdpengine.launch():
            raise group
    assert caught.value is group


async def test_error_of_connect_body_propagates_unchanged(shared_endpoint: str) -> None:
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught:
        async with cdpengine.connect(shared_endpoint):
            raise error
    assert caught.value is error


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_cancelled_launch_ends_cleanly(transport: str) -> None:
    before = profiles()
    with trio.move_on_after(30) as scope:
        async with cdpengine.launch(transport=transport) as browser:  # type: ignore[arg-type]
            await browser.new_page()
            scope.cancel()
            await trio.sleep_forever()
    assert scope.cancelled_caught
    assert profiles() == before


@pytest.mark.parametrize("transport", ["websocket", "pipe"])
async def test_cancelled_launch_waits_only_for_its_browser(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No task reads Chrome's response to Browser.close by then. The engine used to wait for it until the
    timeout.
    """
    monkeypatch.setattr(opening, "_CLOSE_TIMEOUT", 20.0)
    ended: list[float] = []

    def note_end(pid: int) -> None:
        with suppress(ChildProcessError):  # it was reaped at the same moment
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        ended.append(time.monotonic())

    with trio.CancelScope() as scope:
        async with cdpengine.launch(transport=transport) as browser:  # type: ignore[arg-type]
            reply = await browser.session.call("SystemInfo.getProcessInfo")
            main = next(each["id"] for each in reply["processInfo"] if each["type"] == "browser")
            waiting = threading.Thread(target=note_end, args=(main,))
            waiting.start()
            scope.cancel()
            await trio.sleep_forever()
    left = time.monotonic()
    waiting.join()
    assert left - ended[0] < 10


async def test_connected_browser_is_not_closed(shared_endpoint: str) -> None:
    for _ in range(2):
        async with cdpengine.connect(shared_endpoint) as browser:
            assert browser.version.product.startswith("Chrome/")


async def test_slow_start_raises_named_error() -> None:
    with pytest.raises(cdpengine.errors.LaunchFailedError, match="not ready within"):
        async with cdpengine.launch(timeout=0.01):
            raise AssertionError("launched within 0.01 s")


async def test_file_that_is_not_a_browser_is_named(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("not a program")
    with pytest.raises(cdpengine.errors.EngineError, match="notes.txt"):
        async with cdpengine.launch(executable=str(text)):
            pass
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\necho went wrong >&2\nexit 3\n")
    script.chmod(0o755)
    with pytest.raises(cdpengine.errors.LaunchFailedError) as caught:
        async with cdpengine.launch(executable=script):
            pass
    assert caught.value.exit_code == 3
    assert "went wrong" in str(caught.value)
    with pytest.raises(cdpengine.errors.LaunchFailedError, match="nowhere"):
        async with cdpengine.launch(executable=tmp_path / "nowhere"):
            pass


@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_an_unreachable_port_is_named(scheme: str) -> None:
    with trio.socket.socket() as listener:
        await listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with pytest.raises(cdpengine.errors.ConnectFailedError, match=f"127.0.0.1:{port}"):
        async with cdpengine.connect(f"{scheme}://127.0.0.1:{port}"):
            pass


async def test_unresponsive_endpoint_raises_at_the_timeout() -> None:
    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    async with listeners[0]:
        port = listeners[0].socket.getsockname()[1]
        for scheme in ("http", "ws"):
            with pytest.raises(cdpengine.errors.ConnectFailedError, match="no answer within"):
                async with cdpengine.connect(f"{scheme}://127.0.0.1:{port}", timeout=0.2):
                    pass


@pytest.mark.parametrize("timeout", [-1, float("nan")])
async def test_a_wrong_timeout_is_named(timeout: float) -> None:
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="timeout"):
        async with cdpengine.launch(timeout=timeout):
            pass
    with pytest.raises(cdpengine.errors.InvalidArgumentError, match="timeout"):
        async with cdpengine.connect("http://127.0.0.1:1", timeout=timeout):
            pass


PROGRAM = """
    import sys, trio, cdpengine

    async def main():
        async with cdpengine.launch(transport=sys.argv[1]) as browser:
            page = await browser.new_page("about:blank")
            print("ready", flush=True)
            await page.evaluate("while (true) {}", timeout=60)

    trio.run(main)
"""


def chromes_of(marker: str) -> list[int]:
    """Return the processes with the marker in their environment: all descendants of a program."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                environment = Path(f"/proc/{entry}/environ").read_bytes()
                command = Path(f"/proc/{entry}/cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in environment and b"chrom" in command:
                found.append(int(entry))
    return found


@pytest.mark.parametrize(
    ("how", "transport"),
    [
        (signal.SIGKILL, "websocket"),
        (signal.SIGINT, "pipe"),
        pytest.param(signal.SIGKILL, "pipe", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, "websocket", marks=pytest.mark.slow),
    ],
)
def test_a_program_that_is_ended_leaves_no_chrome(how: signal.Signals, transport: str) -> None:
    marker = f"CDPENGINE_TEST={os.getpid()}.{time.monotonic_ns()}"
    name, value = marker.split("=")
    program = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), transport],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, name: value},
        text=True,
    )
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        assert chromes_of(marker)
        program.send_signal(how)
        program.wait(10)
        deadline = time.monotonic() + 2
        while chromes_of(marker) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert chromes_of(marker) == []
    finally:
        program.kill()
        program.wait()
        if program.stdout:
            program.stdout.close()


async def test_disposable_browser_is_killed_and_leaves_nothing() -> None:
    before = profiles()
    async with cdpengine.launch() as browser:
        page = await browser.new_page("data:text/html,<title>open</title>")
        answer = await browser.session.call("SystemInfo.getProcessInfo")
        processes = [int(each["id"]) for each in answer["processInfo"]]
        browser.internals.disposable = True
        assert await page.title() == "open"
    assert profiles() == before
    with trio.fail_after(5):  # the system's first process reaps the killed helpers
        while any(Path(f"/proc/{pid}").exists() for pid in processes):  # noqa: ASYNC110
            await trio.sleep(0.01)


async def test_disposable_browser_with_a_kept_profile_is_asked_to_close(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    async with cdpengine.launch(user_data_dir=folder) as browser:
        page = await browser.new_page()
        await page.context.storage.set_cookies(
            [{"name": "kept", "value": "1", "url": "https://example.com", "expires": time.time() + 600}]
        )
        browser.internals.disposable = True
    async with cdpengine.launch(user_data_dir=folder) as browser:
        assert [cookie.name for cookie in await browser.context.storage.cookies()] == ["kept"]
