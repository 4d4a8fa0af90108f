"""Temporary folders with an owner process; later starts remove folders whose owner has ended.

Rule: the owner holds a lock on a file in the folder (flock). The system releases it when the process ends, in any
way. So if a program can take the lock, the folder has no owner. Unlike a process id, a lock is never reused, and
it works in every container that shares the folder. Folders of other users, links, and folders without that file
are never touched. Windows has no such lock, so leftovers are not found there. A thread removes leftovers during a
browser's start, which does not wait for it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Self

import attrs
import trio

from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery

if sys.platform != "win32":
    import fcntl

OWNER_FILE = "cdpengine-owner"
"""The locked file.

It is removed last, so that the rest of an interrupted removal is still recognizable.
"""

_ATTEMPTS = 100
_EMPTY_FOR = 3600.0
"""Age in seconds at which an empty folder without an owner file is a leftover of a killed program."""


class _RemovedMeanwhile(Exception):
    """Another process removed the folder between its creation and its locking, because it had no owner yet."""


@attrs.frozen
class OwnedFolder:
    """A folder with an owner. `lock` is the descriptor of its lock, or None if the system has no such locks."""

    path: Path
    lock: int | None

    @classmethod
    def make(cls, prefix: str) -> Self:
        """Create a folder in the system's temporary folder, readable by this user only. Raises OSError."""
        for _ in range(_ATTEMPTS):
            path = Path(tempfile.mkdtemp(prefix=prefix))
            try:
                return cls(path, _new_lock(path))
            except _RemovedMeanwhile:
                continue
            except OSError:
                with contextlib.suppress(OSError):
                    remove_owned(path)
                raise
        raise OSError(
            f"cannot create a folder in {tempfile.gettempdir()}: another process removed each one immediately"
        )

    @classmethod
    def take_over(cls, path: Path) -> Self | None:
        """Become the owner of an ownerless folder of `make`; return None for any other folder."""
        with contextlib.suppress(OSError):
            lock = _lock_ownerless(path)
            return None if lock is None else cls(path, lock)
        return None

    def release(self) -> None:
        """Release the ownership."""
        if self.lock is not None:
            os.close(self.lock)


def remove_owned(path: Path) -> bool:
    """Remove the deletable content of a folder, the owner file last. Return whether anything is left."""
    with contextlib.suppress(OSError):
        path.rmdir()  # needs no descriptor, so it works when the program has none left
        return False
    with contextlib.suppress(OSError):
        for folder in (path, *(p for p in path.rglob("*") if p.is_dir() and not p.is_symlink())):
            # A folder without the write bit cannot be emptied, even by its owner.
            folder.chmod(folder.stat().st_mode | stat.S_IRWXU)
    with contextlib.suppress(OSError):
        for entry in list(path.iterdir()):
            if entry.name == OWNER_FILE:
                continue
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                with contextlib.suppress(OSError):
                    entry.unlink()
        if all(entry.name == OWNER_FILE for entry in path.iterdir()):
            _remove_empty(path)
    return path.exists()


def _remove_empty(path: Path) -> None:
    (path / OWNER_FILE).unlink(missing_ok=True)
    try:
        path.rmdir()
    except OSError:
        # A file was added meanwhile. The owner file keeps the rest recognizable.
        (path / OWNER_FILE).touch(mode=0o600)


def _new_lock(path: Path) -> int | None:
    """Create the owner file and lock it. Raises _RemovedMeanwhile and OSError."""
    if sys.platform == "win32":
        return None
    else:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            lock = os.open(path / OWNER_FILE, flags, 0o600)
        except FileNotFoundError:
            raise _RemovedMeanwhile from None
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _RemovedMeanwhile from None
            except OSError:  # a file system without locks: no other process can lock it either
                return None
            if not _is_at(lock, path / OWNER_FILE):
                raise _RemovedMeanwhile
            on_failure.pop_all()
        return lock


def _lock_ownerless(path: Path) -> int | None:
    """Lock the owner file of an ownerless folder, or return None if it has an owner. Raises OSError."""
    if sys.platform == "win32":
        return None
    else:
        with contextlib.ExitStack() as closing:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            closing.callback(os.close, folder)
            about = os.fstat(folder)
            if about.st_uid != os.geteuid():
                return None
            # O_NONBLOCK: another kind of file with that name must not block.
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                lock = os.open(OWNER_FILE, flags, dir_fd=folder)
            except FileNotFoundError:
                if time.time() - about.st_mtime > _EMPTY_FOR:
                    path.rmdir()  # removes only an empty folder
                return None
            with contextlib.ExitStack() as on_failure:
                on_failure.callback(os.close, lock)
                found = os.fstat(lock)
                if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
                    return None
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not _is_at(lock, path / OWNER_FILE):
                    return None
                on_failure.pop_all()
            return lock


def _is_at(descriptor: int, path: Path) -> bool:
    """Return whether an open file is still the file at that path."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)


_log = get_logger("cdpengine.browser")

PROFILE_PREFIX = "cdpengine-profile-"
DOWNLOADS_PREFIX = "cdpengine-downloads-"
OUTPUTS_PREFIX = "cdpengine-outputs-"
RECORDERS_PREFIX = "cdpengine-recorder-"
_SINGLETON_SOCKET = "SingletonSocket"

_AT_MOST = 200
"""Maximum number of folders that one start checks."""

_ENDING_SECONDS = 3.0
"""Seconds for a browser to end whose owner was killed. Its lifeline ends it within 0.3 s."""

_PAUSE = 0.1
_CONNECT_SECONDS = 0.5


@trio.lowlevel.enable_ki_protection
async def sweep_profiles() -> None:
    """Remove the profiles without an owner. If cancelled, it finishes the current folder."""
    stop = threading.Event()
    async with open_body_nursery() as nursery:
        nursery.start_soon(_set_when_cancelled, stop)
        await trio.to_thread.run_sync(sweep_folder, Path(tempfile.gettempdir()), stop.wait)


@trio.lowlevel.enable_ki_protection
async def _set_when_cancelled(stop: threading.Event) -> None:
    try:
        await trio.sleep_forever()
    finally:
        stop.set()


def sweep_folder(folder: Path, stopped_within: Callable[[float], bool]) -> int:
    """Remove the profiles without an owner in `folder`, and return their number.

    `stopped_within` waits up to the given seconds and returns whether to stop.
    """
    removed = 0
    try:
        for path in _profiles_in(folder)[:_AT_MOST]:
            if stopped_within(0):
                break
            removed += _remove_unowned(path, stopped_within)
    except OSError as error:  # the browser's start does not depend on it
        _log.info("could not look for profiles whose owner was killed: %s", error)
    if removed:
        _log.info("removed profiles whose owner was killed from %s: %d", folder, removed)
    return removed


def _profiles_in(folder: Path) -> list[Path]:
    prefixes = (PROFILE_PREFIX, DOWNLOADS_PREFIX, OUTPUTS_PREFIX, RECORDERS_PREFIX)
    with os.scandir(folder) as entries:
        return [
            Path(entry.path)
            for entry in entries
            if entry.name.startswith(prefixes) and entry.is_dir(follow_symlinks=False)
        ]


def _remove_unowned(path: Path, stopped_within: Callable[[float], bool]) -> bool:
    profile = OwnedFolder.take_over(path)
    if profile is None:
        return False
    try:
        return _browser_ends(path, stopped_within) and not remove_profile(path)
    finally:
        profile.release()


def remove_profile(path: Path) -> bool:
    """Remove the deletable content of a profile. Return whether anything is left."""
    remove_socket_folder(socket_folder(path))
    return remove_owned(path)


def socket_folder(profile: Path) -> Path | None:
    """Return the folder of Chrome's singleton socket, outside the profile, from the profile's link.

    The path of a socket must be short, so Chrome keeps the socket in the system's temporary folder and links to it
    from the profile. A Chrome that ends normally removes the link and then the folder; a killed one leaves both.
    If it is killed in between, it leaves a folder without a link.
    """
    with contextlib.suppress(OSError):
        link = profile / _SINGLETON_SOCKET
        if link.is_symlink():
            return link.readlink().parent
    return None


def remove_socket_folder(folder: Path | None) -> None:
    """Remove a folder of `socket_folder`, if it contains only the two entries that Chrome creates."""
    with contextlib.suppress(OSError):
        if folder is None or not folder.is_absolute() or folder.is_symlink() or not folder.is_dir():
            return
        if sys.platform != "win32" and folder.stat().st_uid != os.geteuid():
            return
        if {entry.name for entry in folder.iterdir()} <= {_SINGLETON_SOCKET, "SingletonCookie"}:
            shutil.rmtree(folder, ignore_errors=True)


# --- browsers without an owner ---------------------------------------------------------------------------------


def _browser_ends(profile: Path, stopped_within: Callable[[float], bool]) -> bool:
    """Wait until no browser uses a profile. Return whether that happened in time."""
    end = time.monotonic() + _ENDING_SECONDS
    while _is_used(profile):
        if time.monotonic() > end or stopped_within(_PAUSE):
            return False
    return True


def _is_used(profile: Path) -> bool:
    return _answers(profile / _SINGLETON_SOCKET) or _is_named_by_a_process(profile)


def _answers(link: Path) -> bool:
    """Return whether a browser listens on its singleton socket. This also finds browsers in other containers."""
    if sys.platform == "win32":
        return False
    else:
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(_CONNECT_SECONDS)
                connection.connect(str(link.readlink()))
        except (TimeoutError, BlockingIOError):
            return True  # it runs but is too busy to answer: the queue of its socket is full
        except OSError:
            return False
        return True


def _is_named_by_a_process(profile: Path) -> bool:
    """Return whether a process has the profile on its command line. A starting browser does not listen yet."""
    if sys.platform != "linux":
        return False
    else:
        name = os.fsencode(profile)
        for process in Path("/proc").iterdir():
            if process.name.isdecimal():
                with contextlib.suppress(OSError):  # it has ended, or is another user's
                    if name in (process / "cmdline").read_bytes():
                        return True
        return False
