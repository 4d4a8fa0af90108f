"""A program without file descriptors: each attempt raises a named error with advice and leaves nothing
behind.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
import trio

from cdpengine.testing import ScriptedPeer

PROGRAM = Path(__file__).parent.parent / "support" / "exhausting.py"
ROOT = PROGRAM.parent.parent.parent

EXPECTED = {
    "connect": {"ConnectFailedError", "ResourcesExhaustedError"},
    "launch": {"LaunchFailedError"},
    "launch_with_a_pipe": {"LaunchFailedError"},
    "record": {"ConnectFailedError", "FileNotWrittenError", "ResourcesExhaustedError"},
    "proxy": {"ConnectFailedError", "FileNotWrittenError", "ResourcesExhaustedError"},
    "write": {"FileNotWrittenError"},
    "write_storage_state": {"FileNotWrittenError", "ResourcesExhaustedError"},
}


@pytest.mark.skipif(sys.platform != "linux", reason="children and descriptors are counted in /proc")
async def test_without_descriptors_everything_raises_a_named_error_and_leaves_nothing(tmp_path: Path) -> None:
    temporary, here = tmp_path / "temporary", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    async with ScriptedPeer() as peer:
        done = await trio.run_process(
            [sys.executable, str(PROGRAM), peer.endpoint],
            cwd=here,
            env={**os.environ, "TMPDIR": str(temporary), "PYTHONPATH": str(ROOT)},
            capture_stdout=True,
            capture_stderr=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr.decode()
    tries = [json.loads(line) for line in done.stdout.splitlines()]
    assert {each["what"] for each in tries} == set(EXPECTED)
    wrong = [
        each
        for each in tries
        if each["left"]
        or (each["error"] and each["error"] not in EXPECTED[each["what"]])
        or (each["what"] != "launch_with_a_pipe" and each["error"] and "(EMFILE)" not in each["text"])
    ]
    assert wrong == []
    for what in EXPECTED:
        errors = [each for each in tries if each["what"] == what and "(EMFILE)" in each["text"]]
        assert errors, what
        assert all("ulimit" in each["text"] for each in errors)
