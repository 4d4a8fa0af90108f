"""OwnedFolder: a temporary folder that belongs to its owner while the owner lives, and to nobody after that.

Rule: the owner holds a lock on a file in the folder (flock), which the system lets go of when the owner is gone,
however it went. Who can take the lock has found a folder that nobody owns. Unlike a process id, a lock is never
another's, and it counts in every container that has the same folder. A folder of another user, a link, or a folder
without that file is never touched. Windows has no such lock: there, nothing is found to be without an owner.
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
"""The file that is locked. It goes last, so that what is left of a removal half done can still be told as ours."""

_ATTEMPTS = 100
_EMPTY_FOR = 3600.0
"""Seconds after which an empty folder without an owner file is one whose maker died right after making it."""


class _TakenAway(Exception):
    """Somebody took the folder for one without an owner, in the moment between its making and its locking."""


@attrs.frozen
class OwnedFolder:
    """A folder of ours. `lock` is the descriptor that makes it so, None where there are no such locks."""

    path: Path
    lock: int | None

    @classmethod
    def make(cls, prefix: str) -> Self:
        """Make one in the system's folder for temporary files, readable by this user only. Raises OSError."""
        for _ in range(_ATTEMPTS):
            path = Path(tempfile.mkdtemp(prefix=prefix))
            try:
                return cls(path, _new_lock(path))
            except _TakenAway:
                continue
            except OSError:
                with contextlib.suppress(OSError):
                    remove_owned(path)
                raise
        raise OSError(f"no folder could be made in {tempfile.gettempdir()}: each was taken away at once")

    @classmethod
    def take_over(cls, path: Path) -> Self | None:
        """Become the owner of a folder of `make` that has none any more; None where it has one, or is another."""
        with contextlib.suppress(OSError):
            lock = _lock_of_nobody(path)
            return None if lock is None else cls(path, lock)
        return None

    def release(self) -> None:
        """Be its owner no more."""
        if self.lock is not None:
            os.close(self.lock)


def remove_owned(path: Path) -> bool:
    """Remove what can be removed of a folder, the owner file last; return whether something is left."""
    with contextlib.suppress(OSError):
        path.rmdir()  # needs no descriptor: a program that has none left does not leave an empty folder
        return False
    with contextlib.suppress(OSError):
        for folder in (path, *(p for p in path.rglob("*") if p.is_dir() and not p.is_symlink())):
            # A folder without the write bit cannot be emptied by its owner.
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
        # Something was put there meanwhile. What is left stays recognizable as ours.
        (path / OWNER_FILE).touch(mode=0o600)


def _new_lock(path: Path) -> int | None:
    """Make the owner file and lock it. Raises _TakenAway, and OSError."""
    if sys.platform == "win32":
        return None
    else:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            lock = os.open(path / OWNER_FILE, flags, 0o600)
        except FileNotFoundError:
            raise _TakenAway from None
        with contextlib.ExitStack() as on_failure:
            on_failure.callback(os.close, lock)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise _TakenAway from None
            except OSError:  # a file system without locks: nobody else can take one there either
                return None
            if not _is_at(lock, path / OWNER_FILE):
                raise _TakenAway
            on_failure.pop_all()
        return lock


def _lock_of_nobody(path: Path) -> int | None:
    """Lock the owner file of a folder that nobody owns; None where somebody does. Raises OSError."""
    if sys.platform == "win32":
        return None
    else:
        with contextlib.ExitStack() as closing:
            folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            closing.callback(os.close, folder)
            about = os.fstat(folder)
            if about.st_uid != os.geteuid():
                return None
            # Not to be held up by what else may have that name.
            flags = os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            try:
                lock = os.open(OWNER_FILE, flags, dir_fd=folder)
            except FileNotFoundError:
                if time.time() - about.st_mtime > _EMPTY_FOR:
                    path.rmdir()  # which takes empty ones only
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
    """Whether an open file is still the one with that name."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(descriptor), there)
