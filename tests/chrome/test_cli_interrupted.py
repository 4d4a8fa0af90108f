"""Interrupted or killed commands: their exit, and the absence of leftovers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import BOUND, COMMAND
from processes import processes_of

pytestmark = pytest.mark.chrome


def wait_until(condition: Callable[[], bool], what: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.02)


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A folder for temporary files. Its path is as short as the system's, so that sockets fit."""
    with tempfile.TemporaryDirectory(prefix="cli-") as folder:
        yield Path(folder)


@pytest.fixture
def waiting(temporary: Path) -> Iterator[subprocess.Popen[str]]:
    """A command that waits for a promise that never settles, in a browser whose profile is in `temporary`."""
    command = subprocess.Popen(
        [*COMMAND, "evaluate", "about:blank", "new Promise(() => {})", "--timeout-ms", "600000"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    with command:
        try:
            wait_until(
                lambda: any("renderer" in name for name in command_lines(temporary)), "a renderer", BOUND
            )
            yield command
        finally:
            if command.poll() is None:
                command.kill()


def command_lines(folder: Path) -> list[str]:
    lines = []
    for process_id in processes_of(folder):
        try:
            lines.append(Path(f"/proc/{process_id}/cmdline").read_text().replace("\0", " "))
        except OSError:
            continue  # it ended during the check
    return lines


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_ctrl_c_ends_command_quietly_and_leaves_nothing(
    waiting: subprocess.Popen[str], temporary: Path
) -> None:
    waiting.send_signal(signal.SIGINT)
    output, errors = waiting.communicate(timeout=BOUND)
    assert waiting.returncode == 130
    assert (output, errors.strip()) == ("", "")
    assert processes_of(temporary) == []
    assert list(temporary.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="signals a process group")
def test_ctrl_c_in_a_terminal_ends_a_demo_that_was_kept_open() -> None:
    with subprocess.Popen(
        [*COMMAND, "demo", "--keep-open"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
        start_new_session=True,
    ) as command:
        bound = threading.Timer(BOUND, command.kill)
        bound.start()
        try:
            assert command.stdout is not None
            assert any(line.startswith("Kept open at http://127.0.0.1:") for line in command.stdout)
            os.killpg(command.pid, signal.SIGINT)  # a terminal sends it to all foreground processes
            output, _ = command.communicate(timeout=BOUND)
        finally:
            bound.cancel()
            if command.poll() is None:
                command.kill()
    assert command.returncode == 0, output
    assert "10 of 10 steps succeeded." in output
