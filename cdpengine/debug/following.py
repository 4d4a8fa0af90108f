"""Following: a recording that is read while it is still being written.

Rule: a line is given when it is whole, compressed or not, and never before. At the end of what there is, reading
waits (a file's growth tells nobody, so it is looked at again and again) until the recording's own last line came.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

from cdpengine.debug.decompression import ZSTANDARD, BlockDecompressor, Damaged, Unreadable
from cdpengine.debug.recording import Recording
from cdpengine.errors import InvalidArgumentError

_CHUNK = 1 << 18
_PATIENCE = 0.1
"""Seconds between two looks at a file that has not grown."""


class FileShrank(Unreadable):
    """The file is shorter than what was read of it."""


class GrowingLines:
    """The lines of a file that grows; `readline` waits for a whole one, by calling `wait` between two looks."""

    def __init__(self, raw: IO[bytes], size: Callable[[], int], wait: Callable[[], None]) -> None:
        self._raw = raw
        self._size = size
        self._wait = wait
        self._ready: list[bytes] = []  # whole lines, the next one last
        self._begun = bytearray()
        self._looked = 0
        self._decompressor = BlockDecompressor()
        self._compressed: bool | None = None

    def readline(self, _limit: int = -1) -> bytes:
        """Return the next line, with its end. Raises FileShrank, and Damaged for data that cannot be decoded."""
        while not self._ready:
            if self._decompressor.damage is not None:
                raise Damaged(f"the compressed data is damaged here ({self._decompressor.damage})")
            self._take(self._read())
        return self._ready.pop()

    def _read(self) -> bytes:
        while True:
            data = self._raw.read(_CHUNK)
            if data:
                return data
            if self._size() < self._raw.tell():
                raise FileShrank("the file was cut short, or replaced, while it was followed")
            self._wait()

    def _take(self, data: bytes) -> None:
        if self._compressed is None:
            while len(data) < len(ZSTANDARD) and ZSTANDARD.startswith(data):
                data += self._read()
            self._compressed = data.startswith(ZSTANDARD)
        text = self._decompressor.feed(data) if self._compressed else data
        end = text.rfind(b"\n")
        if end < 0:
            self._begun += text
            return
        whole = bytes(self._begun) + text[: end + 1]
        self._begun = bytearray(text[end + 1 :])
        self._ready = whole.splitlines(keepends=True) if b"\r" not in whole else _split(whole)
        self._ready.reverse()


def _split(whole: bytes) -> list[bytes]:
    return [line + b"\n" for line in whole[:-1].split(b"\n")]


@contextmanager
def follow_recording(
    path: str | Path, *, wait: Callable[[], None] = lambda: time.sleep(_PATIENCE)
) -> Iterator[Recording]:
    """Open a recording as `open_recording` does, to be read as it grows. `wait` is called while there is no more.

    Iterating ends with the recording's last line, or with what `wait` raises. Raises as `open_recording`; a file
    that gets shorter ends as damage.
    """
    path = Path(path)
    try:
        raw = path.open("rb", buffering=0)
    except OSError as error:
        raise InvalidArgumentError(
            what="recording", given=str(path), expected=f"a file ({error.strerror})"
        ) from None
    with raw:
        lines = GrowingLines(raw, lambda: path.stat().st_size, wait)
        yield Recording(path, path.stat().st_size, raw, cast("IO[bytes]", lines))
