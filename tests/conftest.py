"""What every test has: a check that it leaves no process behind, and its wire log when it fails."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Shells start background jobs with Ctrl-C ignored, and so would every program that a test starts from there.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

WIRE_LOG = pytest.StashKey[list[str]]()


@pytest.fixture
def wire_log(request: pytest.FixtureRequest) -> list[str]:
    """Lines that are printed when the test fails; fixtures append to it."""
    log: list[str] = request.node.stash.setdefault(WIRE_LOG, [])
    return log


def children() -> set[int]:
    """Return the ids of this process's children, zombies included."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it ended while we looked
        if int(fields[1]) == os.getpid():
            found.add(int(stat.parent.name))
    return found


@pytest.fixture(autouse=True)
def no_process_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    if "shared_endpoint" in request.fixturenames:
        request.getfixturevalue("shared_endpoint")  # lives for the whole run, so it is there before the count
    before = children()
    yield
    left = children() - before
    assert not left, f"the test left processes behind: {left}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Any:
    report = yield
    lines = item.stash.get(WIRE_LOG, [])
    if report.when == "call" and report.failed and lines:
        report.sections.append(("wire log, latest messages", "\n".join(lines[-80:])))
    return report
