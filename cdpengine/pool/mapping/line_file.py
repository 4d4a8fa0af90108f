"""A file to which one program at a time appends lines, each atomically.

Rule: the file is locked while it is open, so that a second program is refused. Each line is appended by one write;
a partial write to a full disk is undone. Written lines survive any end of the program, synchronized ones a power
failure. Symbolic links are followed.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, Self

import attrs

from cdpengine._launch.private_files import new_file
from cdpengine.errors import FileNotWrittenError, InvalidArgumentError, os_reason
from cdpengine.pool.mapping.journal import Damaged, Scanned, copy_lines, scan_lines

if sys.platform != "win32":
    import fcntl

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@attrs.define(eq=False)
class LineFile:
    """An open and locked file of lines. `what` names it in errors."""

    what: str
    path: Path
    _descriptor: int
    _size: int = 0
    _unsynchronized: bool = False
    _writing: threading.Lock = attrs.field(factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, *, what: str) -> Self:
        """Open and lock the file. Create it, readable by its owner only, if it is missing.

        Raises InvalidArgumentError if it is not a plain file or another program uses it, and
        FileNotWrittenError.
        """
        return cls(what, path, *_open_locked(what, path))

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._size

    def scan(self, take: Callable[[int, str], object], *, start: int = 0) -> Scanned:
        """Read the file, and remove an incomplete line. `take` gets the line number and digest of each line.

        `start` is the offset of the first line, in bytes.

        Raises InvalidArgumentError for content that no run wrote, and FileNotWrittenError.
        """
        with _writing_to(self.path):
            try:
                with self.reading(start) as stream:
                    found = scan_lines(stream, take)
            except Damaged as damaged:
                raise InvalidArgumentError(
                    what=self.what,
                    given=f"{self.path}, whose line {damaged.line} was not written by `map`",
                    expected="a new file, or one that it wrote (without that line, its input is done again)",
                ) from None
            if found.torn:
                self.cut_to(start + found.whole)
            elif found.unended:
                self.append(b"\n")
        return found

    def cut_to(self, size: int) -> None:
        """Truncate the file to `size` bytes. Raises FileNotWrittenError."""
        with _writing_to(self.path):
            os.ftruncate(self._descriptor, size)
            self._size = size

    def append(self, line: bytes) -> None:
        """Append a line with its end, or nothing on failure. Raises FileNotWrittenError."""
        with self._writing, _writing_to(self.path):
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                # If this fails too, the next run removes the incomplete line.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._size)
                raise
            self._size += len(line)
            self._unsynchronized = True

    def synchronize(self) -> None:
        """Flush written lines to disk (fsync). Raises FileNotWrittenError."""
        if self._unsynchronized:
            self._unsynchronized = False
            with _writing_to(self.path):
                os.fsync(self._descriptor)

    def keep_only(self, choose: Callable[[int, int], bool]) -> None:
        """Rewrite the file with the lines selected by `choose`, which gets their index (from 0) and input number.

        The file is replaced after the new one is complete. Raises FileNotWrittenError; the old file then stays.
        """
        with _writing_to(self.path):
            with self.reading() as stream, new_file(self.path, overwrite=True, synchronized=True) as output:
                copy_lines(stream, output, choose)
            os.close(self._descriptor)
        self._descriptor, self._size = _open_locked(self.what, self.path)

    def close(self, *, remove_empty: bool = False) -> None:
        """Close the file. With `remove_empty`, delete it if it is empty."""
        if remove_empty and not self._size:
            with contextlib.suppress(OSError):
                self.path.unlink()
        os.close(self._descriptor)

    def remove(self) -> None:
        """Close and delete the file."""
        with _writing_to(self.path):
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    @contextlib.contextmanager
    def reading(self, start: int = 0) -> Iterator[BinaryIO]:
        """Open the file for reading from byte `start`. The read position does not affect appending."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        with os.fdopen(self._descriptor, "rb", closefd=False) as stream:
            yield stream


def is_plain_file(path: Path) -> bool:
    """Return whether a plain file of that name exists."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _open_locked(what: str, path: Path) -> tuple[int, int]:
    """Open and lock the file. Return its descriptor and its size in bytes."""
    with _writing_to(path):
        while True:
            descriptor = _open(what, path)
            with contextlib.ExitStack() as on_failure:
                on_failure.callback(os.close, descriptor)
                _lock(what, path, descriptor)
                # The previous owner may have deleted or replaced it.
                if _is_at(descriptor, path):
                    on_failure.pop_all()
                    return descriptor, os.fstat(descriptor).st_size


def _open(what: str, path: Path) -> int:
    if path.exists() and not is_plain_file(path):
        raise InvalidArgumentError(
            what=what,
            given=f"{path}, which is not one",
            expected="a plain file, because its content is read again",
        )
    try:
        return os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        raise InvalidArgumentError(
            what=what, given=str(path), expected="a file in an existing folder"
        ) from None


def _lock(what: str, path: Path, descriptor: int) -> None:
    if sys.platform == "win32":
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InvalidArgumentError(
            what=what,
            given=f"{path}, which another run is writing",
            expected="a separate file for each run; wait for the other run, or end it",
        ) from None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def not_written(path: Path, error: OSError) -> FileNotWrittenError:
    """Return the error for results that could not be written to `path`."""
    return FileNotWrittenError(
        "the results",
        str(path),
        os_reason(error),
        "The earlier results are complete; the same command continues from there",
    )


@contextlib.contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise not_written(path, error) from error
