"""OutputFile: a file that is there whole, or not at all.

Rule: written beside its place, under another name, in threads; moved to its place at the end, and taken away
where there is no good end. A name that ends in ".gz" is compressed on the way.
"""

from __future__ import annotations

import gzip
import os
import secrets
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import trio

from cdpengine.errors import InvalidArgument, MeasurementFailed


class OutputFile:
    """A file while it is being written. `written` counts the bytes before compression, `size` those on the disk.

    With `compress_late`, for a source that cannot wait, it is compressed once all of it is on the disk.
    """

    def __init__(self, what: str, path: Path, *, compress_late: bool = False) -> None:
        self.what = what
        self.path = path
        self.written = 0
        self.size = 0
        self._compressed = path.name.lower().endswith(".gz")
        self._late = compress_late and self._compressed
        self._part = path.with_name(f"{path.name}.{secrets.token_hex(4)}.part")
        self._parts: list[Path] = []
        self._raw: BinaryIO | None = None
        self._gzip: gzip.GzipFile | None = None

    async def open(self) -> None:
        """Make the file, under its other name. Raises MeasurementFailed."""
        await self._try(self._open)

    async def write(self, data: bytes) -> None:
        """Append. Raises MeasurementFailed."""
        file = self._gzip or self._raw
        assert file is not None
        await self._try(lambda: file.write(data))
        self.written += len(data)

    async def keep(self) -> None:
        """Finish it and put it into its place. Raises MeasurementFailed."""
        await self._try(self._keep)

    def discard(self) -> None:
        """Take away what is there, unless it was kept."""
        with suppress(OSError):  # a full disk: what could not be written is not wanted either
            self._close()
        for part in self._parts:
            with suppress(OSError):
                part.unlink(missing_ok=True)
        self._parts.clear()

    def _open(self) -> None:
        self._raw = self._part.open("xb")
        self._parts.append(self._part)
        if self._compressed and not self._late:
            self._gzip = self._gzip_over(self._raw)

    def _gzip_over(self, raw: BinaryIO) -> gzip.GzipFile:
        return gzip.GzipFile(self.path.name[: -len(".gz")], "wb", 6, raw, mtime=0)

    def _close(self) -> None:
        compressor, raw = self._gzip, self._raw
        self._gzip = self._raw = None
        try:
            if compressor is not None:
                compressor.close()
        finally:
            if raw is not None:
                raw.close()

    def _keep(self) -> None:
        self._close()
        if self._late:
            plain, self._part = self._part, self._part.with_suffix(".gz.part")
            with plain.open("rb") as source, self._part.open("xb") as raw:
                self._parts.append(self._part)
                with self._gzip_over(raw) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            plain.unlink()
            self._parts.remove(plain)
        self.size = self._part.stat().st_size
        self._part.replace(self.path)
        self._parts.clear()

    async def _try(self, act: Callable[[], object]) -> None:
        try:
            await trio.to_thread.run_sync(act)
        except OSError as error:
            raise MeasurementFailed(self.what, str(self.path), error.strerror or str(error)) from error


def checked_path(what: str, path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path. Raises InvalidArgument for what is none, or names a folder."""
    if not isinstance(path, str | os.PathLike) or not os.fspath(path):
        raise InvalidArgument(what=f"path of {what}", given=repr(path)[:80], expected="the path of a file")
    found = Path(path)
    if found.is_dir():
        raise InvalidArgument(
            what=f"path of {what}", given=f"{found}, a folder", expected="the path of a file"
        )
    return found


@asynccontextmanager
async def output_file(what: str, path: Path, *, compress_late: bool = False) -> AsyncIterator[OutputFile]:
    """Give a file to write to: kept when the block ends well, taken away when it does not.

    Raises MeasurementFailed when it cannot be written.
    """
    file = OutputFile(what, path, compress_late=compress_late)
    try:
        await file.open()
        yield file
        await file.keep()
    finally:
        file.discard()
