"""Temporary folders with an owner process, and their removal. Later starts remove folders whose owner has ended.

Rule: the owner holds a lock on a file in the folder (flock). The system releases it when the process ends, in any
way. So if a program can take the lock, the folder has no owner. Unlike a process id, a lock is never reused, and
it works in every container that shares the folder. Folders of other users, links, and folders without that file
are never touched. Windows has no such lock, so leftovers are not found there (`_launch/sweeping.py`).

Without trio, because a command starts its browser before it imports trio (`_launch/early.py`).
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import Self

import attrs

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


# --- profiles ---------------------------------------------------------------------------------------------------

PROFILE_PREFIX = "cdpengine-profile-"
DOWNLOADS_PREFIX = "cdpengine-downloads-"
OUTPUTS_PREFIX = "cdpengine-outputs-"
RECORDERS_PREFIX = "cdpengine-recorder-"
SINGLETON_SOCKET = "SingletonSocket"


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
        link = profile / SINGLETON_SOCKET
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
        if {entry.name for entry in folder.iterdir()} <= {SINGLETON_SOCKET, "SingletonCookie"}:
            shutil.rmtree(folder, ignore_errors=True)
