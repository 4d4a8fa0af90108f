"""The commands of the program: each is loaded on demand, and its exit loses no output."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from cdpengine.cli.commands import commands, run_command


@pytest.mark.parametrize("name", list(commands.commands))
def test_each_command_loads_under_its_name(name: str) -> None:
    assert commands.commands[name].name == name


def test_a_command_loads_none_of_the_others() -> None:
    program = "from cdpengine.cli.commands import commands; commands.commands['har']; import sys; print(*sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = {name for name in result.stdout.split() if name.startswith("cdpengine.cli.")}
    wanted = {f"cdpengine.cli.{name}" for name in ("commands", "options", "output", "page_files")}
    assert loaded == wanted


ENDING = """
import atexit, sys, threading
sys.argv = ["cdpengine", *sys.argv[2:]]
def late():
    threading.main_thread().join()
    print("by a thread")
atexit.register(lambda: print("at the end"))
if {threaded}:
    threading.Thread(target=late).start()
from cdpengine.cli import main
main()
"""


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize(("arguments", "status"), [(["--version"], 0), (["nothing"], 2), ([], 2)])
def test_exit_handlers_run(threaded: bool, arguments: list[str], status: int) -> None:
    program = ENDING.format(threaded=threaded)
    command = [sys.executable, "-c", program, "--", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stderr
    assert "at the end\n" in done.stdout
    assert ("by a thread\n" in done.stdout) is threaded
    assert "cdpengine" in done.stdout + done.stderr  # the command's output into a pipe


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is missing")
def test_output_that_cannot_be_written_is_a_failure() -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "cdpengine", "--version"], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode != 0
    assert b"space" in done.stderr


def test_trace_reads_recordings_too(capsys: pytest.CaptureFixture[str]) -> None:
    group = commands.commands["recording"]
    assert isinstance(group, click.Group)
    for name in group.commands:
        with pytest.raises(SystemExit) as ended:
            run_command(["trace", name, "--help"])
        assert ended.value.code == 0
        assert f"cdpengine recording {name}" in capsys.readouterr().out
