"""Files that only their owner can read, from their creation on.

Rule: a file is created with mode 0600, not changed to it later. A file with known content is written under another
name in the same folder and moved at the end (`NewFile`), so it is complete or does not exist. A file that is read
while it grows is created in its place (`create_private`). An existing file is replaced only with `overwrite`; the
check for a free name and the creation are one step of the file system. Devices and named pipes hold no data that
could be lost, so they are written directly.

All functions block, and raise OSError. Windows has no modes: a file inherits the rights of its folder.
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

_MAX_PREFIX = 40
"""Maximum number of characters of a file's name in its temporary name. File systems allow 255 bytes."""


class NewFile:
    """A file that is complete or does not exist.

    Write to `stream`, then `keep` it; always `discard` it at the end.
    """

    def __init__(self, path: Path, *, overwrite: bool) -> None:
        """Create the file under its temporary name.

        Raises FileExistsError if `path` exists and `overwrite` is false.
        """
        self._overwrite = overwrite
        # Write to the target of a link and keep the link. Without `overwrite`, the link itself is an existing
        # file.
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
        """Close the file, move it into place, and return its size.

        With `synchronized`, it survives a power failure.
        """
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
        """Close the file, and remove it unless it was kept."""
        with suppress(OSError):  # a full disk: the unwritten data is not needed
            self.stream.close()
        if self.part is not None:
            with suppress(OSError):
                self.part.unlink(missing_ok=True)
            self.part = None


@contextmanager
def new_file(path: Path, *, overwrite: bool, synchronized: bool = False) -> Iterator[BinaryIO]:
    """Open a stream to a new file. Keep the file if the block succeeds, else remove it."""
    file = NewFile(path, overwrite=overwrite)
    try:
        yield file.stream
        file.keep(synchronized=synchronized)
    finally:
        file.discard()


def write_private(path: Path, content: bytes, *, overwrite: bool = True) -> Path:
    """Write a file that survives a power failure, and return its path. After a failure, no part of it is left."""
    with new_file(path, overwrite=overwrite, synchronized=True) as stream:
        stream.write(content)
    return path


def create_private(path: Path, *, overwrite: bool = False) -> int:
    """Create an empty file in its place, and return a descriptor for writing.

    Raises FileExistsError for an existing file without `overwrite`. With `overwrite`, the old file is replaced
    immediately; its readers keep the old content. Devices and named pipes are opened directly.
    """
    if _is_special(path):
        return _open_special(path)
    if not overwrite:
        return os.open(path, _NEW, _MODE)
    if sys.platform == "win32":  # Windows cannot move an open file
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
    """Return whether the name is taken by anything other than a device or a named pipe."""
    return os.path.lexists(path) and not _is_special(path)


def move_new(source: Path, target: Path) -> None:
    """Move a file to a free name. Raises FileExistsError if the name is taken."""
    try:
        os.link(source, target)  # fails if the target exists, even as a dangling link
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links: first reserve the name with an empty file.
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
    # mkstemp creates files with mode 0600, whatever the umask allows.
    descriptor, name = tempfile.mkstemp(
        prefix=f".{path.name[:_MAX_PREFIX]}.", suffix=".part", dir=path.parent
    )
    return descriptor, Path(name)


def _is_special(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)


def _open_special(path: Path) -> int:
    # Opening a named pipe waits for its reader, which would block the event loop forever.
    waiting = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
    try:
        descriptor = os.open(path, os.O_WRONLY | waiting)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "it is a named pipe without a reader", str(path)) from None
        raise
    try:
        mode = os.fstat(descriptor).st_mode
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            raise _exists(path)  # it became a file since the check
        if sys.platform != "win32":
            os.set_blocking(descriptor, True)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _exists(path: Path) -> FileExistsError:
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
