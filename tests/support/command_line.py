"""Commands of the command line, run in this process: their exit status and output.

Rule: use this for tests of a command's output. Tests of start, exit and signals run real programs.
"""

from __future__ import annotations

import io
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout

import pytest

from cdpengine.cli import main

COMMAND = [sys.executable, "-m", "cdpengine"]
"""The command line as a separate program."""

BOUND = 60
"""Seconds after which such a program counts as hung."""


def run_here(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command. Return the same result as `subprocess.run`."""
    printed = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, encoding="utf-8", write_through=True) for each in printed)
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(arguments)
    status = ended.value.code
    assert isinstance(status, int)
    return subprocess.CompletedProcess(arguments, status, *(each.getvalue().decode() for each in printed))
