"""Commands of the command line, run in this process: their exit status and all that they print.

Rule: for tests of what a command says. That a command starts, ends and is signalled as a program of its own is tested
with programs.
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from cdpengine.cli import main

COMMAND = [sys.executable, "-m", "cdpengine"]
"""The command line as a program of its own."""

BOUND = 60
"""Seconds after which such a program counts as hung."""


def run_here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command; what it returns is what `subprocess.run` would."""
    printed = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in printed)
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(arguments)
    status = ended.value.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, *(each.getvalue().decode() for each in printed))
