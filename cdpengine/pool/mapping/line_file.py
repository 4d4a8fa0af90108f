"""LineFile: a file that lines are appended to, each whole or not at all, by one program at a time.

Rule: it is locked from when it is opened until it is closed, so that a second program is refused. A line is
appended by one write; where the disk takes only some of it, that is taken back. What was written outlasts the
program, however it ends; what was synchronized outlasts a power cut. Linked names are followed.
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
from cdpengine.errors import InvalidArgumentError, ResultsNotWrittenError, os_reason
from cdpengine.pool.mapping.journal import Damaged, Scanned, copy_lines, scan_lines

if sys.platform != "win32":
    import fcntl

_FLAGS = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


@attrs.define(eq=False)
class LineFile:
    """A file of lines, open and locked. `what` names it in errors."""

    what: str
    path: Path
    _descriptor: int
    _size: int = 0
    _unsynchronized: bool = False
    _writing: threading.Lock = attrs.field(factory=threading.Lock)

    @classmethod
    def open(cls, path: Path, *, what: str) -> Self:
        """Open the file, or make it, readable by its owner only, and lock it.

        Raises InvalidArgumentError where it is no plain file or another program has it, ResultsNotWrittenError.
        """
        with _writing_to(path):
            while True:
                descriptor = _open(what, path)
                with contextlib.ExitStack() as on_failure:
                    on_failure.callback(os.close, descriptor)
                    _lock(what, path, descriptor)
                    # Who had it before may have taken it away, or put another one in its place.
                    if _is_at(descriptor, path):
                        on_failure.pop_all()
                        return cls(what, path, descriptor, os.fstat(descriptor).st_size)

    @property
    def size(self) -> int:
        """Its bytes."""
        return self._size

    def scan(self, take: Callable[[int, str], object], *, start: int = 0) -> Scanned:
        """Read it, and leave whole lines only in it; `take` is called with the line and digest of each.

        `start` is how many bytes stand before the lines.

        Raises InvalidArgumentError where it has something that no run wrote, ResultsNotWrittenError.
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
        """Leave its first `size` bytes. Raises ResultsNotWrittenError."""
        with _writing_to(self.path):
            os.ftruncate(self._descriptor, size)
            self._size = size

    def append(self, line: bytes) -> None:
        """Append a line, with its end. Raises ResultsNotWrittenError; nothing of it is there then."""
        with self._writing, _writing_to(self.path):
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
            except OSError:
                # Where this fails too, the next run takes away what is not whole.
                with contextlib.suppress(OSError):
                    os.ftruncate(self._descriptor, self._size)
                raise
            self._size += len(line)
            self._unsynchronized = True

    def synchronize(self) -> None:
        """Have what was written outlast a power cut. Raises ResultsNotWrittenError."""
        if self._unsynchronized:
            self._unsynchronized = False
            with _writing_to(self.path):
                os.fsync(self._descriptor)

    def keep_only(self, choose: Callable[[int, int], bool]) -> None:
        """Write the file anew, with the lines of which `choose` says so, by their place (from 0) and their input.

        It is replaced when the new one is whole. Raises ResultsNotWrittenError; the old one stays then.
        """
        with _writing_to(self.path):
            with self.reading() as stream, new_file(self.path, overwrite=True, synchronized=True) as kept:
                copy_lines(stream, kept, choose)
            os.close(self._descriptor)
        again = LineFile.open(self.path, what=self.what)
        self._descriptor, self._size = again._descriptor, again._size  # noqa: SLF001 - of the same class

    def close(self, *, remove_empty: bool = False) -> None:
        """Close the file, and take it away where it is empty and that is asked for."""
        if remove_empty and not self._size:
            with contextlib.suppress(OSError):
                self.path.unlink()
        os.close(self._descriptor)

    def remove(self) -> None:
        """Close the file and take it away."""
        with _writing_to(self.path):
            self.path.unlink(missing_ok=True)
        os.close(self._descriptor)

    @contextlib.contextmanager
    def reading(self, start: int = 0) -> Iterator[BinaryIO]:
        """Give the file, from its byte `start` on. Where it was read is nothing to what is appended."""
        os.lseek(self._descriptor, start, os.SEEK_SET)
        with os.fdopen(self._descriptor, "rb", closefd=False) as stream:
            yield stream


def is_plain_file(path: Path) -> bool:
    """Say whether there is a plain file of that name."""
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _open(what: str, path: Path) -> int:
    if path.exists() and not is_plain_file(path):
        raise InvalidArgumentError(
            what=what, given=f"{path}, which is none", expected="a plain file: what is in it is read again"
        )
    try:
        return os.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        raise InvalidArgumentError(
            what=what, given=str(path), expected="a file in a folder that exists"
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
            expected="a file of its own for each run; wait for the other one, or end it",
        ) from None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _writing_to(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ResultsNotWrittenError(path=str(path), reason=os_reason(error)) from error
