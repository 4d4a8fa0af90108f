"""Pseudo-terminals: a test types into a program and waits for its output. Not for Windows."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TAKE_TERMINAL = (
    "import os, signal, sys; signal.signal(signal.SIGHUP, signal.SIG_DFL); os.open(os.ttyname(0), os.O_RDWR); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""A new session's leader that opens a terminal gets it as controlling terminal, so Ctrl-C becomes a signal.

SIGHUP stays ignored if the parent ignored it, as nohup does for the tests.
"""


class Terminal:
    """A program at a pseudo-terminal."""

    def __init__(self, arguments: list[str], state: Path) -> None:
        import pty

        self.main, other = pty.openpty()
        environment = os.environ | {
            "XDG_STATE_HOME": str(state),
            "TERM": "xterm",
            "PROMPT_TOOLKIT_NO_CPR": "1",
        }
        self.process = subprocess.Popen(
            [sys.executable, "-c", TAKE_TERMINAL, *arguments],
            stdin=other,
            stdout=other,
            stderr=other,
            env=environment,
            start_new_session=True,
        )
        os.close(other)
        self.output = ""

    def type(self, text: str) -> None:
        os.write(self.main, text.encode())

    def expect(self, pattern: str, *, within: float = 30) -> None:
        """Read until the output since the last match matches."""
        deadline = time.monotonic() + within
        while not (found := re.search(pattern, plain(self.output), re.DOTALL)):
            ready, _, _ = select.select([self.main], [], [], max(0, deadline - time.monotonic()))
            assert ready, f"{pattern!r} did not come; there is {plain(self.output)!r}"
            try:
                self.output += os.read(self.main, 65536).decode("utf-8", "replace")
            except OSError:  # Linux raises this when the other end is closed
                pytest.fail(f"{pattern!r} did not come before the end; there is {plain(self.output)!r}")
        self.output = plain(self.output)[found.end() :]

    def type_until(self, key: str, pattern: str) -> None:
        """Press a key repeatedly until a match: the command may not own the terminal yet."""
        deadline = time.monotonic() + 30
        while not re.search(pattern, plain(self.output)):
            assert time.monotonic() < deadline, f"{pattern!r} did not come; there is {plain(self.output)!r}"
            self.type(key)
            while select.select([self.main], [], [], 0.3)[0]:
                self.output += os.read(self.main, 65536).decode("utf-8", "replace")

    def end(self) -> int:
        """Read to the end of the output and return the exit status."""
        deadline = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < deadline:
            ready, _, _ = select.select([self.main], [], [], 0.1)
            try:
                if ready and not os.read(self.main, 65536):
                    break
            except OSError:
                break
        return self.process.wait(30)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(30)
        os.close(self.main)


def plain(text: str) -> str:
    """Remove cursor movements and colours."""
    return re.sub(r"\x1b(?:\[[0-9;?]*[A-Za-z]|[=>]|\][^\x07]*\x07)", "", text).replace("\r", "")
