"""The environment that a profile gives its browser: the location of Chrome's temporary files."""

from __future__ import annotations

import os
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdpengine._launch.profile import Profile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows names no TMPDIR")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)
        monkeypatch.setenv("TMPDIR", folder)
        yield Path(folder)


@pytest.mark.parametrize("given", [{}, {"A": "b"}, None], ids=["empty", "its own", "the program's"])
def test_a_temporary_profile_has_a_private_folder_for_temporary_files(given: dict[str, str] | None) -> None:
    before = dict(os.environ) if given is None else given
    profile = Profile.prepare(None)
    environment = profile.environment(before)
    assert {**environment, "TMPDIR": ""} == {**before, "TMPDIR": ""}
    folder = Path(environment["TMPDIR"])
    assert folder.parent == profile.path
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_an_explicit_folder_is_kept(tmp_path: Path) -> None:
    given = {"TMPDIR": str(tmp_path)}
    assert Profile.prepare(None).environment(given) == given


def test_a_profile_of_the_user_is_left_unchanged(short: Path) -> None:
    profile = Profile.prepare(short / "mine")
    assert profile.environment({"A": "b"}) == {"A": "b"}
    assert list(profile.path.iterdir()) == []


@pytest.mark.parametrize("character", ["x", "\u00e9"], ids=["one byte", "two bytes"])
def test_the_path_of_a_socket_in_it_is_never_too_long(
    short: Path, monkeypatch: pytest.MonkeyPatch, character: str
) -> None:
    own, systems = 0, 0
    for length in range(1, 60):
        parent = short / (character * length)
        parent.mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(parent))
        folder = Profile.prepare(None).environment({}).get("TMPDIR")
        if folder is None:
            systems += 1
            continue
        assert not systems, "a shorter path had none"
        own += 1
        sockets = Path(folder) / "org.chromium.Chromium.XXXXXX"
        sockets.mkdir()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(sockets / "SingletonSocket"))
    assert own > 0
    assert systems > 0
