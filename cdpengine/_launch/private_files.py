"""Private files: readable by their owner only, from the moment that they are there.

Rule: a file is made with mode 0600; it does not get it afterwards. A file that is written as a whole is written
beside its place, under another name, and moved there at the end (`NewFile`): it is there whole or not at all. What
grows and is read meanwhile is made in its place (`create_private`). What has the name already is replaced with
`overwrite` only; to see that a name is free and to take it is one step of the file system. Devices and named pipes
hold nothing that could be lost: they are written to as they are.

All of it blocks, and raises OSError. On Windows there are no modes: a file has the rights that its folder gives.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_MODE = 0o600
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

_SHOWN = 40
"""Characters of a file's name that are in the name under which it is written: a name has 255 bytes at most."""


class NewFile:
    """A file that is there whole or not at all. Write to `stream`, then `keep` it; `discard` it in any case."""

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        """Make the file under its other name. Raises FileExistsError without `overwrite` where `path` is taken."""
        self._overwrite = overwrite
        # What a link leads to is written, and the link stays; without `overwrite`, a link is in the way itself.
        self._path = Path(os.path.realpath(path)) if overwrite else path
        self.part: Path | None = None
        if _is_special(path):
            descriptor = _open_special(path)
        elif not overwrite and is_taken(path):
            raise _exists(path)
        else:
            descriptor, part = _open_part(self._path)
            self.part = part
        self.stream: BinaryIO = os.fdopen(descriptor, "wb")

    def keep(self, *, synchronized: bool = False) -> int:
        """Close the file and put it into its place; return its bytes. `synchronized`: it outlasts a power cut."""
        stream = self.stream
        stream.flush()
        if self.part is None:
            stream.close()
            return 0
        size = os.fstat(stream.fileno()).st_size
        if synchronized:
            os.fsync(stream.fileno())
        stream.close()
        if self._overwrite:
            self.part.replace(self._path)
        else:
            move_new(self.part, self._path)
        self.part = None
        return size

    def discard(self) -> None:
        """Close the file, and take it away unless it was kept."""
        with suppress(OSError):  # a full disk: what could not be written is not wanted either
            self.stream.close()
        if self.part is not None:
            with suppress(OSError):
                self.part.unlink(missing_ok=True)
            self.part = None


@contextmanager
def new_file(path: Path, *, overwrite: bool, synchronized: bool = False) -> Iterator[BinaryIO]:
    """Give a stream to write a file with: kept when the block ends well, taken away when it does not."""
    file = NewFile(path, overwrite=overwrite)
    try:
        yield file.stream
        file.keep(synchronized=synchronized)
    finally:
        file.discard()


def write_private(path: Path, content: bytes, *, overwrite: bool = True) -> Path:
    """Write a file that outlasts a power cut, and return its path. Where that fails, nothing of it is left."""
    with new_file(path, overwrite=overwrite, synchronized=True) as stream:
        stream.write(content)
    return path


def create_private(path: Path, *, overwrite: bool = False) -> int:
    """Make an empty file in its place, and return a descriptor to write to it.

    Raises FileExistsError where a file of that name exists, without `overwrite`. With it, the old file is gone at
    once; who reads the old one goes on reading that. A device or a named pipe is opened as it is.
    """
    if _is_special(path):
        return _open_special(path)
    if not overwrite:
        return os.open(path, _NEW, _MODE)
    if sys.platform == "win32":  # which moves no open file
        return os.open(path, _NEW & ~os.O_EXCL | os.O_TRUNC, _MODE)
    target = Path(os.path.realpath(path))
    descriptor, part = _open_part(target)
    try:
        part.replace(target)
    except BaseException:
        os.close(descriptor)
        with suppress(OSError):
            part.unlink()
        raise
    return descriptor


def is_taken(path: Path) -> bool:
    """Say whether a new file cannot have that name: something other than a device or a named pipe has it."""
    return os.path.lexists(path) and not _is_special(path)


def move_new(source: Path, target: Path) -> None:
    """Move a file to a name that nothing has. Raises FileExistsError where something has it."""
    try:
        os.link(source, target)  # fails where the target is there, be it a dangling link
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: the name is taken first, by an empty file of our own.
        os.close(os.open(target, _NEW, _MODE))
        try:
            try:
                source.replace(target)
            except OSError as error:
                if error.errno != errno.EXDEV:
                    raise
                shutil.copyfile(source, target)
                source.unlink(missing_ok=True)
        except OSError:
            target.unlink(missing_ok=True)
            raise
    else:
        source.unlink(missing_ok=True)


def _open_part(path: Path) -> tuple[int, Path]:
    # mkstemp makes files with mode 0600, whatever the umask allows.
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name[:_SHOWN]}.", suffix=".part", dir=path.parent)
    return descriptor, Path(name)


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _open_special(path: Path) -> int:
    # Opening a named pipe waits for its reader; in the thread of an event loop, that would be for ever.
    waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, os.O_WRONLY | waiting)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a named pipe that no program reads", str(path)) from None
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            raise _exists(path)  # it became a file since it was looked at
        if sys.platform != "win32":
            os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
