"""A store with many writing processes, killed processes, or a full disk: confirmed writes remain."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import cache_writers
import pytest

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="it has no fork, no limits of files and no SIGKILL"
)


def run(case: str, path: Path) -> Any:
    done = subprocess.run(
        [sys.executable, cache_writers.__file__, case, str(path)],
        capture_output=True, text=True, timeout=80, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def test_eight_concurrent_processes_lose_nothing(tmp_path: Path) -> None:
    seen = run("many", tmp_path / "cache.sqlite3")
    assert seen["codes"] == [0] * 8
    own = {f"{number}-{each}" for number in range(8) for each in range(cache_writers.ROUNDS)}
    assert set(seen["names"]) == own | {"shared"}
    assert seen["runs"] == 8 * cache_writers.ROUNDS


def test_writes_confirmed_before_a_kill_remain(tmp_path: Path) -> None:
    seen = run("killed", tmp_path / "cache.sqlite3")
    assert len(seen["confirmed"]) >= cache_writers.KILLS * cache_writers.CONFIRMED
    assert set(seen["confirmed"]) <= set(seen["names"])
    # An unconfirmed write is whole or absent: at most one for each kill.
    assert len(set(seen["names"]) - set(seen["confirmed"])) <= cache_writers.KILLS


def test_a_full_disk_is_reported_and_the_store_keeps_working(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    seen = run("full", path)
    assert 0 < len(seen["confirmed"]) < 500
    assert "room on the disk" in seen["said"]
    assert len(seen["said"]) <= 400
    assert set(seen["full"]) == set(seen["confirmed"])
    assert set(seen["names"]) == {*seen["confirmed"], "after"}
