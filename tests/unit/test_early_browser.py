"""A browser that a command starts before its imports: for which commands, and its end."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import pytest

from cdpengine._launch import early
from cdpengine.shell.client import starts_browser

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no debugging pipe")


@pytest.fixture
def sleeping_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An executable that sleeps, as the default browser, and a folder of its own for profiles."""
    program = tmp_path / "browser"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o700)
    monkeypatch.setenv("CDPENGINE_BROWSER", str(program))
    monkeypatch.setenv("CDPENGINE_TRANSPORT", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return program


@pytest.mark.parametrize(
    ("words", "starts"),
    [
        ("evaluate about:blank 1+1", True),
        ("evaluate https://my-host.example:8080/a?b 1+1", True),
        ("text http://127.0.0.1/", True),
        ("snapshot https://example.com", True),
        ("evaluate https://example.com", False),
        ("evaluate https://example.com -", False),
        ("text https://example.com --json", False),
        ("--session a text https://example.com", False),
        ("text https:///path", False),
        ("text https://[::1]/", False),
        ("text example.com", False),
        ("screenshot https://example.com", False),
        ("click https://example.com", False),
    ],
)
def test_only_simple_commands_start_a_browser_early(words: str, starts: bool) -> None:
    assert starts_browser(words.split()) is starts


@pytest.mark.parametrize("name", ["RECORD", "TRACE"])
def test_commands_with_files_of_the_environment_start_none_early(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"CDPENGINE_{name}", "file")
    assert not starts_browser(["text", "https://example.com"])


def test_abandoned_browser_leaves_nothing(sleeping_browser: Path, tmp_path: Path) -> None:
    early.begin()
    try:
        assert early.take(tmp_path / "another") is None
        (profile,) = tmp_path.glob("cdpengine-profile-*")
        assert profile.is_dir()
        assert signal.SIGTERM in signal.pthread_sigmask(signal.SIG_BLOCK, [])
    finally:
        early.abandon()
        early.unblock_signals()
    assert list(tmp_path.iterdir()) == [sleeping_browser]
    assert signal.SIGTERM not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_taken_browser_belongs_to_its_taker(sleeping_browser: Path) -> None:
    early.begin()
    taken = early.take(sleeping_browser)
    early.unblock_signals()
    assert taken is not None
    early.abandon()
    assert os.waitpid(taken.spawned.pid, os.WNOHANG) == (0, 0)
    early._begun = taken
    started = time.monotonic()
    early.abandon()
    assert time.monotonic() - started < 5
    assert not taken.profile.path.exists()


def test_browser_that_cannot_start_leaves_nothing(sleeping_browser: Path, tmp_path: Path) -> None:
    sleeping_browser.write_bytes(b"\0 no program")
    early.begin()
    early.unblock_signals()
    assert early.take(sleeping_browser) is None
    assert list(tmp_path.iterdir()) == [sleeping_browser]
