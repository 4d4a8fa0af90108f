"""Folders whose owner holds a lock: only folders without an owner are taken over, and nothing else is ever
touched.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from cdpengine._launch.owned_folder import OWNER_FILE, PROFILE_PREFIX, OwnedFolder, remove_owned
from cdpengine._launch.sweeping import sweep_folder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows lacks such locks")


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def never(seconds: float) -> bool:
    """Remove the time limit of a sweep."""
    time.sleep(seconds)
    return False


def of_a_dead_owner(name: str = "file") -> Path:
    """Create a folder with contents whose owner is dead."""
    folder = OwnedFolder.make(PROFILE_PREFIX)
    (folder.path / "Default").mkdir()
    (folder.path / "Default" / name).write_text("x")
    folder.release()
    return folder.path


def test_owned_folders_stay_and_others_are_removed(temporary: Path) -> None:
    owned = OwnedFolder.make(PROFILE_PREFIX)
    dead = [of_a_dead_owner() for _ in range(3)]
    assert owned.path.stat().st_mode & 0o777 == 0o700
    assert OwnedFolder.take_over(owned.path) is None
    assert sweep_folder(temporary, never) == 3
    assert list(temporary.iterdir()) == [owned.path]
    assert not any(path.exists() for path in dead)
    owned.release()
    assert sweep_folder(temporary, never) == 1
    assert list(temporary.iterdir()) == []


def test_started_programs_do_not_inherit_the_lock(temporary: Path) -> None:
    owned = OwnedFolder.make(PROFILE_PREFIX)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE, close_fds=False):
        owned.release()
        # exec closes descriptors a moment after it lets the parent continue.
        assert any(sweep_folder(temporary, never) or never(0.01) for _ in range(500))


def test_a_forked_owner_keeps_it(temporary: Path) -> None:
    """The lock lives as long as any process that has it, so a folder in use never looks abandoned."""
    owned = OwnedFolder.make(PROFILE_PREFIX)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    os.close(reading)
    owned.release()
    assert sweep_folder(temporary, never) == 0
    os.close(writing)
    os.waitpid(child, 0)
    assert sweep_folder(temporary, never) == 1


def test_only_profiles_of_the_engine_are_inspected(
    temporary: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    precious = elsewhere / "precious"
    precious.write_text("x")
    (elsewhere / OWNER_FILE).touch()
    # Links: instead of a profile, instead of its owner file, and inside a profile.
    (temporary / f"{PROFILE_PREFIX}link").symlink_to(elsewhere)
    linked = temporary / f"{PROFILE_PREFIX}linked-owner"
    linked.mkdir()
    (linked / OWNER_FILE).symlink_to(elsewhere / OWNER_FILE)
    dead = of_a_dead_owner()
    (dead / "folder").symlink_to(elsewhere)
    (dead / "SingletonSocket").symlink_to(precious)  # like a folder that Chrome created, except for its name
    # A folder of a version without locks, a file, a folder with another name.
    old = temporary / f"{PROFILE_PREFIX}old"
    old.mkdir()
    (old / "Local State").write_text("{}")
    (temporary / f"{PROFILE_PREFIX}file").write_text("x")
    (temporary / "other").mkdir()
    (temporary / "other" / OWNER_FILE).touch()
    # A pipe in place of the owner file blocks nothing.
    pipe = temporary / f"{PROFILE_PREFIX}pipe"
    pipe.mkdir()
    os.mkfifo(pipe / OWNER_FILE)
    before = {path.name for path in temporary.iterdir()} - {dead.name}
    assert sweep_folder(temporary, never) == 1
    assert {path.name for path in temporary.iterdir()} == before
    assert precious.read_text() == "x"
    assert (elsewhere / OWNER_FILE).exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make another user's folder")
def test_a_folder_of_another_user_is_left_alone(temporary: Path) -> None:
    theirs, half = of_a_dead_owner(), of_a_dead_owner()
    os.chown(theirs, 12345, 12345)
    os.chown(half / OWNER_FILE, 12345, 12345)
    assert sweep_folder(temporary, never) == 0
    assert theirs.exists()
    assert half.exists()


def test_an_old_empty_folder_without_owner_is_removed(temporary: Path) -> None:
    """Its creator was killed before it made the owner file."""
    young, old, full = (Path(tempfile.mkdtemp(prefix=PROFILE_PREFIX)) for _ in range(3))
    (full / "file").touch()
    for each in (old, full):
        os.utime(each, (0, 0))
    sweep_folder(temporary, never)
    assert set(temporary.iterdir()) == {young, full}


STEPS = ("os.remove", "os.rmdir", "shutil.rmtree", "os.chmod")


def test_a_sweep_completes_a_killed_one(temporary: Path) -> None:
    """A sweep is complete even if the previous one was killed at any step."""
    for limit in itertools.count():
        path = of_a_dead_owner()
        child = os.fork()
        if child == 0:
            steps = iter(range(limit))

            def killed(event: str, _arguments: object, steps: Iterator[int] = steps) -> None:
                if event in STEPS and next(steps, None) is None:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(killed)
            remove_owned(path)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status == 0:
            break
        assert (path / OWNER_FILE).exists() or not any(path.iterdir())
        os.utime(path, (0, 0))
        sweep_folder(temporary, never)
        assert not path.exists()
    assert limit > 4


def test_a_folder_that_cannot_be_emptied_stays_recognizable(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program writes into it between the check that it is empty, and its removal."""
    path = of_a_dead_owner()
    removing = Path.rmdir

    def rmdir(self: Path) -> None:
        (self / "late").touch()
        removing(self)

    monkeypatch.setattr(Path, "rmdir", rmdir)
    assert remove_owned(path)
    monkeypatch.undo()
    tempfile.tempdir = str(temporary)
    assert sweep_folder(temporary, never) == 1


def test_a_folder_in_use_by_a_browser_waits(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = of_a_dead_owner()
    stop = threading.Event()
    command = [sys.executable, "-c", "print(flush=True); input()", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()  # a starting process briefly has no command line
        asked: list[float] = []

        def stopped(seconds: float) -> bool:
            asked.append(seconds)
            return len(asked) > 3

        assert sweep_folder(temporary, stopped) == 0
        assert path.exists()
        assert process.stdin is not None
        sweeping = threading.Thread(target=sweep_folder, args=(temporary, stop.wait))
        sweeping.start()
        process.stdin.close()
    sweeping.join(10)
    assert not path.exists()


MAKES_AND_SWEEPS = """
import sys, tempfile
from pathlib import Path
from cdpengine._launch.owned_folder import PROFILE_PREFIX
from cdpengine._launch.sweeping import sweep_folder
from cdpengine._launch.owned_folder import OwnedFolder, remove_owned

tempfile.tempdir = sys.argv[1]
for number in range(40):
    owned = OwnedFolder.make(PROFILE_PREFIX)
    (owned.path / "file").touch()
    sweep_folder(Path(sys.argv[1]), lambda _: False)
    assert (owned.path / "file").exists(), "an owned folder was swept"
    if number % 2:
        remove_owned(owned.path)
    owned.release()
"""


def test_many_concurrent_programs(temporary: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-c", MAKES_AND_SWEEPS, str(temporary)]
    programs = [subprocess.Popen(command, env=environment) for _ in range(3)]
    assert [program.wait() for program in programs] == [0] * 3
    sweep_folder(temporary, never)
    assert list(temporary.iterdir()) == []


def test_a_sweep_during_creation_causes_a_second_creation(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between creating and locking the owner file, and before creating it."""
    locking = fcntl.flock
    made: list[str] = []
    making = tempfile.mkdtemp

    def mkdtemp(prefix: str) -> str:
        path = making(prefix=prefix)
        made.append(path)
        if len(made) == 2:
            Path(path).rmdir()
        return path

    def flock(descriptor: int, how: int) -> None:
        if len(made) == 1 and not swept:
            swept.append(1)
            assert sweep_folder(temporary, never) == 1
        locking(descriptor, how)

    swept: list[int] = []
    monkeypatch.setattr(tempfile, "mkdtemp", mkdtemp)
    monkeypatch.setattr(fcntl, "flock", flock)
    owned = OwnedFolder.make(PROFILE_PREFIX)
    assert str(owned.path) == made[2]
    assert list(temporary.iterdir()) == [owned.path]
    assert OwnedFolder.take_over(owned.path) is None
    owned.release()
