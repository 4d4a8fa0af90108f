"""Fixtures for tests of the action cache's store: the location of its file, and an environment without a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from cdpengine.cache.encryption import KEY_VARIABLE


@pytest.fixture
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "cache.sqlite3"
