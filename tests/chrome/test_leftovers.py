"""Profiles of real browsers: a profile in use is never swept; an unused one without an owner is swept."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import trio
from processes import processes_of

import cdpengine
from cdpengine._launch import sweeping
from cdpengine._launch.owned_folder import OWNER_FILE
from cdpengine._launch.process import LaunchOptions, start_browser
from cdpengine._launch.sweeping import sweep_folder

pytestmark = [
    pytest.mark.chrome,
    pytest.mark.skipif(sys.platform != "linux", reason="needs /proc"),
]


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # socket paths must be short
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setenv("TMPDIR", str(folder))
    yield folder
    shutil.rmtree(folder)


def take_your_time(seconds: float) -> bool:
    time.sleep(seconds)
    return False


def at_once(_seconds: float) -> bool:
    return False


@pytest.mark.parametrize("sockets", ["in the profile", "elsewhere"])
async def test_profile_in_use_is_kept_even_without_its_owner(
    temporary: Path, monkeypatch: pytest.MonkeyPatch, sockets: str
) -> None:
    monkeypatch.setattr(sweeping, "_ENDING_SECONDS", 0.2)
    elsewhere = temporary / "elsewhere"
    elsewhere.mkdir()
    environment = {**os.environ, "TMPDIR": str(elsewhere)} if sockets == "elsewhere" else None
    async with start_browser(LaunchOptions(cdpengine.find_browser().path, env=environment)) as process:
        profile = process.profile
        owner_file = profile / OWNER_FILE
        assert len(processes_of(profile)) > 2
        held = [
            descriptor
            for each in processes_of(profile)
            for descriptor in Path(f"/proc/{each}/fd").iterdir()
            if os.path.lexists(descriptor) and os.readlink(descriptor) == str(owner_file)
        ]
        assert held == [], "the browser inherited the lock"
        assert sweep_folder(temporary, take_your_time) == 0
        # As if the owner were gone: another file replaces the one that it has locked.
        owner_file.unlink()
        owner_file.touch()
        for sees, does_not in (
            ("_answers", "_is_named_by_a_process"),
            ("_is_named_by_a_process", "_answers"),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(sweeping, does_not, lambda _: False)
                assert sweep_folder(temporary, take_your_time) == 0, f"{sees} does not see the browser"
                assert (
                    sweep_folder(temporary, at_once) == 0
                )  # so many requests that its socket's queue is full
        assert (profile / "Local State").exists()
        # A killed browser leaves the folder of its socket, too.
        os.killpg(process.pid, signal.SIGKILL)
        with trio.fail_after(10):
            await process.wait()
        assert len(list(elsewhere.iterdir())) == (sockets == "elsewhere")
        assert sweep_folder(temporary, take_your_time) == 1
        assert list(temporary.iterdir()) == [elsewhere]
        assert list(elsewhere.iterdir()) == []


async def test_sweep_does_not_delay_launch(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sweep continues until the browser ends, and then stops."""
    asked = []

    def sweep(folder: Path, stopped_within: object) -> int:
        assert callable(stopped_within)
        assert folder == temporary
        while not stopped_within(0.05):
            asked.append(1)
        return 0

    monkeypatch.setattr(sweeping, "sweep_folder", sweep)
    with trio.fail_after(30):
        async with cdpengine.launch() as browser:
            assert browser.version.product
            seen = len(asked)
            while len(asked) < seen + 2:  # noqa: ASYNC110 - a thread has no event
                await trio.sleep(0.01)
    assert list(temporary.iterdir()) == []
