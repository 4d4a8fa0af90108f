"""The file of a recording: its name, and the thread that writes it, optionally compressed.

Rule: a recording is written in place, so that it is readable however its program ends. An existing file is refused
unless `overwrite`. If one program opens several browsers under CDPENGINE_RECORD, later recordings get numbers. The
calling thread never waits for the disk or for compression; it uses `waiting`, the queued bytes, to bound the
queue. The writer thread wakes about 20 times a second. If it woke for each line, it would take the interpreter
lock from the engine each time. After any end of the program, the file is readable up to its last byte, or up to
the last flush of a compressed file. That flush is at most 0.3 s old while the disk keeps up.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

import attrs

from cdpengine._launch.private_files import create_private, is_taken
from cdpengine.errors import FileNotWrittenError, InvalidArgumentError, Shortage, os_reason, shortage_of

PATH_VARIABLE = "CDPENGINE_RECORD"
_OVERWRITE = "CDPENGINE_RECORD_OVERWRITE"

_created_recordings: set[Path] = set()
"""Full paths of the recordings that this program has created for CDPENGINE_RECORD."""


@attrs.frozen
class RecordingFile:
    """A file created for a recording, and its open descriptor."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Delete the file, unless it is a device or a pipe."""
        if self.path.is_file():
            self.path.unlink()


Claim = Callable[[], RecordingFile]
"""Function that creates a recording's file. Raises the errors of `create_recording`."""


def create_recording(path: Path, *, overwrite: bool = False) -> RecordingFile:
    """Create the file.

    Raises InvalidArgumentError if it exists or cannot be created, FileNotWrittenError for a shortage.
    """
    return _create(path, "recording", "overwrite=True", overwrite=overwrite)


def create_from_environment() -> RecordingFile:
    """Create the file named by CDPENGINE_RECORD for another browser. Raises the errors of `create_recording`."""
    path = _next_numbered_path()
    made = _create(path, PATH_VARIABLE, f"{_OVERWRITE}=1", overwrite=_overwrites())
    _created_recordings.add(path.absolute())
    return made


def check_environment_path() -> None:
    """Raise InvalidArgumentError if the file of `create_from_environment` exists.

    Called before a browser starts.
    """
    path = _next_numbered_path()
    if not _overwrites() and is_taken(path):
        raise _refuse_taken(path, PATH_VARIABLE, f"{_OVERWRITE}=1")


def number_recording(named: Path, number: int) -> Path:
    """Return the file of the recording of a program's browser `number`. Browser 1 uses `named`."""
    first, dot, rest = named.name.partition(".")
    return named if number == 1 else named.with_name(f"{first}-{number}{dot}{rest}")


def not_begun(path: Path, shortage: Shortage) -> FileNotWrittenError:
    """Return the error for a recording that could not start because of a shortage."""
    return FileNotWrittenError("the recording", str(path), f"it could not be started: {shortage}")


def _create(path: Path, what: str, hint: str, *, overwrite: bool) -> RecordingFile:
    try:
        return RecordingFile(path, create_private(path, overwrite=overwrite))
    except FileExistsError:
        raise _refuse_taken(path, what, hint) from None
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise not_begun(path, shortage) from error
        raise InvalidArgumentError(
            what=what, given=str(path), expected=f"a writable file ({os_reason(error)})"
        ) from None


def _refuse_taken(path: Path, what: str, hint: str) -> InvalidArgumentError:
    given = f"{path}, which exists already,"
    return InvalidArgumentError(what=what, given=given, expected=f"the name of a new file, or {hint}")


def _next_numbered_path() -> Path:
    """Return the first numbered name without a recording of this program."""
    named = Path(os.environ[PATH_VARIABLE])
    every = (number_recording(named, number) for number in itertools.count(1))
    return next(path for path in every if path.absolute() not in _created_recordings or not is_taken(path))


def _overwrites() -> bool:
    return os.environ.get(_OVERWRITE) == "1"


# --- the writer thread ----------------------------------------------------------------------------------

_PAUSE = 0.05
"""Interval between writes, in seconds."""

_FLUSHED_EACH = 0.2
"""Interval between flushes of compressed data while more data is queued, in seconds.

An empty queue flushes immediately. That makes the file about 4 % larger than a single flush at the end (measured
with snapshots and clicks, in quick succession and twice a second).
"""

_SOON = 1 << 20
"""Queued bytes that wake the thread early."""

_AT_ONCE = 1 << 16
"""Maximum size of one write, in bytes.

From 128 kB on, Linux may take ten times as long for each byte, because it allocates memory in pieces of that size
(measured on ext4, kernel 6.18).
"""

_PIECES = 1_000
"""Maximum number of pieces in one write. POSIX allows systems to limit it to 1,024."""

_LEVEL = 1
"""Compression level of zstandard. Traffic is so repetitive that higher levels save little and cost more."""

_PATIENCE = 10.0
"""Time without progress at the end after which the rest is abandoned, in seconds."""

TOO_SLOW = "the disk did not take it in time"


class FileWriter:
    """A thread that writes to the open `file` and finally closes it.

    `failure` is the reason of a failure, or None. The thread calls `gather` before each write, so that the caller
    can add collected data.
    """

    def __init__(self, file: int, name: str, *, compressed: bool, gather: Callable[[], None]) -> None:
        self.failure: str | None = None
        self.written = 0
        self._file = file
        self._compressor = _Compressor() if compressed else None
        self._gather = gather
        self._queue: deque[bytes] = deque()
        self._bytes_in = 0  # changed by one calling thread at a time
        self._bytes_out = 0  # changed by the thread only
        self._ending = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"recorder {name}", daemon=True)

    @property
    def waiting(self) -> int:
        """Number of queued bytes."""
        return self._bytes_in - self._bytes_out

    def start(self) -> None:
        """Write the queued data, and start the writer thread.

        An existing file therefore has its first lines, even if the program is killed immediately afterwards.
        """
        try:
            self._write_queue()
        except Exception as error:  # noqa: BLE001 - a full disk or an error of zstandard
            self._fail(error)
            os.close(self._file)
        else:
            self._thread.start()

    def give(self, pieces: Sequence[bytes]) -> None:
        """Queue pieces for writing. Only one thread may call this at a time."""
        self._queue.extend(pieces)
        self._bytes_in += sum(map(len, pieces))
        if self._bytes_in - self._bytes_out > _SOON:
            self._wake.set()

    def finish(self, patience: float = _PATIENCE) -> None:
        """Write the rest and close the file. Blocks; `patience` is the timeout without progress, in seconds.

        If the disk does not accept data in that time, the thread and the file are abandoned.
        """
        self._ending = True
        self._wake.set()
        done = -1
        while self._thread.is_alive() and done != self.written:
            done = self.written
            self._thread.join(patience)
        if self._thread.is_alive():
            self.failure = TOO_SLOW

    # --- the thread ----------------------------------------------------------------------------------------

    def _run(self) -> None:
        ending = False
        try:
            while not ending:
                self._wake.wait(_PAUSE)
                self._wake.clear()
                ending = self._ending  # read before looking for work
                self._gather()
                self._write_queue()
            if self._compressor is not None:
                self._write(self._compressor.end())
        except Exception as error:  # noqa: BLE001 - a full disk, zstandard's, gather's: none is silent
            self._fail(error)
        finally:
            os.close(self._file)

    def _fail(self, error: Exception) -> None:
        self.failure = os_reason(error) if isinstance(error, OSError) else type(error).__name__

    def _write_queue(self) -> None:
        queue, compressor = self._queue, self._compressor
        flushed = time.monotonic()
        while queue:
            pieces: list[bytes] = []
            size = 0
            while queue and size < _AT_ONCE and len(pieces) < _PIECES:
                piece = queue.popleft()
                pieces.append(piece)
                size += len(piece)
            if compressor is not None:
                now = time.monotonic()
                flush = not queue or now - flushed >= _FLUSHED_EACH
                self._write(compressor.compress(b"".join(pieces), flush=flush))
                flushed = now if flush else flushed
            elif sys.platform == "win32" or size > 2 * _AT_ONCE:
                self._write(b"".join(pieces))
            else:
                done = os.writev(self._file, pieces)
                self.written += done
                if done < size:
                    self._write(b"".join(pieces)[done:])
            self._bytes_out += size

    def _write(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            done = os.write(self._file, rest[:_AT_ONCE])
            self.written += done
            rest = rest[done:]


class _Compressor:
    """One frame of zstandard, in independently readable blocks."""

    def __init__(self) -> None:
        import zstandard

        self._compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
        self._block = zstandard.COMPRESSOBJ_FLUSH_BLOCK

    def compress(self, data: bytes, *, flush: bool) -> bytes:
        """Return compressed output. After `flush`, everything so far is readable."""
        compressed = self._compressor.compress(data)
        return compressed + self._compressor.flush(self._block) if flush else compressed

    def end(self) -> bytes:
        return self._compressor.flush()
