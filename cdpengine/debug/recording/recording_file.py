"""The file of a recording: which one it is, and the thread that writes it, compressed or not.

Rule: a recording grows in its place, so that it can be read however its program ends; a file that has its name
already is refused, unless the caller says `overwrite`. Where one program opens several browsers under
CDPENGINE_RECORD, the second and the others get a number. A caller that writes never waits, neither for the disk
nor for the compression; `waiting` says how much is queued, so that the caller can bound it. The thread wakes some
twenty times a second: one that woke for each line would take Python's interpreter from the engine as often. What
was written can be read, up to its last byte, however the program ends; compressed, up to its last flush, which is
at most 0.3 s old while the disk keeps up.
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
from cdpengine.errors import InvalidArgumentError, RecordingFailedError, Shortage, os_reason, shortage_of

ASKED = "CDPENGINE_RECORD"
_OVERWRITE = "CDPENGINE_RECORD_OVERWRITE"

_made_as_asked: set[Path] = set()
"""The recordings that this program has made where CDPENGINE_RECORD says, by their whole paths."""


@attrs.frozen
class RecordingFile:
    """A file that was made for a recording, and the descriptor to write to it."""

    path: Path
    descriptor: int

    def remove(self) -> None:
        """Take the file away, unless it is a device or a pipe."""
        if self.path.is_file():
            self.path.unlink()


Claim = Callable[[], RecordingFile]
"""Makes the file of a recording. Raises as `create_recording` does."""


def create_recording(path: Path, *, overwrite: bool = False) -> RecordingFile:
    """Make the file.

    Raises InvalidArgumentError where it exists or cannot be made, RecordingFailedError for a shortage.
    """
    return _create(path, "recording", "overwrite=True", overwrite=overwrite)


def create_as_asked() -> RecordingFile:
    """Make the file that CDPENGINE_RECORD names, for one more browser of this program. Raises the same."""
    path = _next_as_asked()
    made = _create(path, ASKED, f"{_OVERWRITE}=1", overwrite=_overwrites())
    _made_as_asked.add(path.absolute())
    return made


def check_as_asked() -> None:
    """Raise InvalidArgumentError if the file of `create_as_asked` exists: called before a browser starts."""
    path = _next_as_asked()
    if not _overwrites() and is_taken(path):
        raise _refuse_taken(path, ASKED, f"{_OVERWRITE}=1")


def number_recording(named: Path, number: int) -> Path:
    """Return where the recording of a program's browser `number` goes; the first one, 1, goes to `named`."""
    first, dot, rest = named.name.partition(".")
    return named if number == 1 else named.with_name(f"{first}-{number}{dot}{rest}")


def not_begun(path: Path, shortage: Shortage) -> RecordingFailedError:
    """Return the error for a recording that cannot be begun because the system lacks something."""
    return RecordingFailedError(path=str(path), reason=f"it could not be begun: {shortage}")


def _create(path: Path, what: str, hint: str, *, overwrite: bool) -> RecordingFile:
    try:
        return RecordingFile(path, create_private(path, overwrite=overwrite))
    except FileExistsError:
        raise _refuse_taken(path, what, hint) from None
    except OSError as error:
        if (shortage := shortage_of(error)) is not None:
            raise not_begun(path, shortage) from error
        raise InvalidArgumentError(
            what=what, given=str(path), expected=f"a file that can be written ({os_reason(error)})"
        ) from None


def _refuse_taken(path: Path, what: str, hint: str) -> InvalidArgumentError:
    given = f"{path}, which exists already,"
    return InvalidArgumentError(what=what, given=given, expected=f"the name of a new file, or {hint}")


def _next_as_asked() -> Path:
    """Return the first of the numbered names that no recording of this program has."""
    named = Path(os.environ[ASKED])
    every = (number_recording(named, number) for number in itertools.count(1))
    return next(path for path in every if path.absolute() not in _made_as_asked or not is_taken(path))


def _overwrites() -> bool:
    return os.environ.get(_OVERWRITE) == "1"


# --- the thread that writes ----------------------------------------------------------------------------------

_PAUSE = 0.05
"""Seconds after which what was given is written."""

_FLUSHED_EACH = 0.2
"""Seconds after which compressed data is flushed although more waits. Where nothing waits it is flushed at once:
that makes a file some 4 % larger than one that is flushed at its end only (measured with snapshots and clicks, in
quick succession and twice a second)."""

_SOON = 1 << 20
"""Bytes from which on the thread is woken before its time."""

_AT_ONCE = 1 << 16
"""Bytes that are written by one call. From 128 kB on Linux may take ten times as long for each byte, as it
looks for memory in such pieces (measured on ext4 and kernel 6.18)."""

_PIECES = 1_000
"""Pieces that are written by one call: POSIX lets systems take no more than 1,024."""

_LEVEL = 1
"""Of zstandard: the traffic repeats itself so much that higher ones save little and take the processor longer."""

_PATIENCE = 10.0
"""Seconds at the end without any progress after which the rest is given up."""

TOO_SLOW = "the disk did not take it in time"


class FileWriter:
    """Writes to the open `file`, and closes it in the end.

    `failure` says why it could not, None while it can. The thread calls `gather` before it looks for work: a giver
    that collects can hand over what it has.
    """

    def __init__(self, file: int, name: str, *, compressed: bool, gather: Callable[[], None]) -> None:
        self.failure: str | None = None
        self.written = 0
        self._file = file
        self._compressor = _Compressor() if compressed else None
        self._gather = gather
        self._given: deque[bytes] = deque()
        self._bytes_in = 0  # changed by one giver at a time
        self._bytes_out = 0  # changed by the thread only
        self._ending = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"recorder {name}", daemon=True)

    @property
    def waiting(self) -> int:
        """How many bytes wait here."""
        return self._bytes_in - self._bytes_out

    def start(self) -> None:
        """Write what was given so far, and start the thread that writes all else.

        So a file that is there has its first lines in it, also where the program is killed right after this.
        """
        try:
            self._write_given()
        except Exception as error:  # noqa: BLE001 - a full disk, zstandard's: none is silent
            self._fail(error)
            os.close(self._file)
        else:
            self._thread.start()

    def give(self, pieces: Sequence[bytes]) -> None:
        """Take pieces to be written. Only one thread may call this at a time."""
        self._given.extend(pieces)
        self._bytes_in += sum(map(len, pieces))
        if self._bytes_in - self._bytes_out > _SOON:
            self._wake.set()

    def finish(self, patience: float = _PATIENCE) -> None:
        """Write what is left, and close the file. Blocks; `patience` is in seconds without anything being taken.

        Where the disk takes nothing any more, the thread is left alone with it and the file.
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
                self._write_given()
            if self._compressor is not None:
                self._write(self._compressor.end())
        except Exception as error:  # noqa: BLE001 - a full disk, zstandard's, gather's: none is silent
            self._fail(error)
        finally:
            os.close(self._file)

    def _fail(self, error: Exception) -> None:
        self.failure = os_reason(error) if isinstance(error, OSError) else type(error).__name__

    def _write_given(self) -> None:
        given, compressor = self._given, self._compressor
        flushed = time.monotonic()
        while given:
            pieces: list[bytes] = []
            size = 0
            while given and size < _AT_ONCE and len(pieces) < _PIECES:
                piece = given.popleft()
                pieces.append(piece)
                size += len(piece)
            if compressor is not None:
                now = time.monotonic()
                flush = not given or now - flushed >= _FLUSHED_EACH
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
    """One frame of zstandard, in blocks each of which can be read without what comes after it."""

    def __init__(self) -> None:
        import zstandard

        self._compressor = zstandard.ZstdCompressor(level=_LEVEL).compressobj()
        self._block = zstandard.COMPRESSOBJ_FLUSH_BLOCK

    def compress(self, data: bytes, *, flush: bool) -> bytes:
        """Return what is to be written of it; with `flush` all of it can be read then."""
        compressed = self._compressor.compress(data)
        return compressed + self._compressor.flush(self._block) if flush else compressed

    def end(self) -> bytes:
        return self._compressor.flush()
