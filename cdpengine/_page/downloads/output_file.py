"""OutputFile: a private file written piece by piece from a trio task; and Chrome's streams, read into one.

Rule: it is a `NewFile` (private_files.py) whose work is done in threads. A name that ends in ".gz" compresses it.
Of a stream of Chrome one piece is in memory at a time, and its handle is closed whatever happens.
"""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import trio

from cdpengine._launch.private_files import NewFile, is_taken
from cdpengine._paths import to_path
from cdpengine._protocol.calls import decode_bytes
from cdpengine._protocol.domains.tracing import StreamPiece
from cdpengine._protocol.session import Session
from cdpengine.errors import (
    ConnectionLostError,
    InvalidArgumentError,
    MeasurementFailedError,
    SessionGoneError,
    os_reason,
)


class OutputFile:
    """A file while it is being written. `written` counts the bytes before compression, `size` those on the disk.

    With `compress_late`, for a source that cannot wait, it is compressed once all of it is on the disk. Without
    `overwrite`, a file that has its name already stays, and this one is not kept.
    """

    def __init__(self, what: str, path: Path, *, compress_late: bool = False, overwrite: bool = True) -> None:
        self.what = what
        self.path = path
        self.written = 0
        self.size = 0
        self._overwrite = overwrite
        self._compressed = path.name.lower().endswith(".gz")
        self._late = compress_late and self._compressed
        self._files: list[NewFile] = []
        self._gzip: gzip.GzipFile | None = None

    async def open(self) -> None:
        """Make the file, under its other name. Raises MeasurementFailedError."""
        await self._try(self._open)

    async def write(self, data: bytes) -> None:
        """Append. Raises MeasurementFailedError."""
        file = self._gzip or self._files[0].stream
        await self._try(lambda: file.write(data))
        self.written += len(data)

    async def keep(self) -> None:
        """Finish it and put it into its place. Raises MeasurementFailedError."""
        await self._try(self._keep)

    def discard(self) -> None:
        """Take away what is there, unless it was kept."""
        with suppress(OSError):  # as in NewFile.discard
            self._end_gzip()
        for file in self._files:
            file.discard()
        self._files.clear()

    def _new(self) -> NewFile:
        file = NewFile(self.path, overwrite=self._overwrite)
        self._files.append(file)
        return file

    def _open(self) -> None:
        file = self._new()
        if self._compressed and not self._late:
            self._gzip = self._gzip_over(file.stream)

    def _gzip_over(self, raw: BinaryIO) -> gzip.GzipFile:
        return gzip.GzipFile(self.path.name[: -len(".gz")], "wb", 6, raw, mtime=0)

    def _end_gzip(self) -> None:
        compressor, self._gzip = self._gzip, None
        if compressor is not None:
            compressor.close()

    def _keep(self) -> None:
        self._end_gzip()
        file = self._files[0]
        if self._late and (plain := file.part) is not None:
            file.stream.flush()
            file = self._new()
            with plain.open("rb") as source, self._gzip_over(file.stream) as target:
                shutil.copyfileobj(source, target, 1 << 20)
        self.size = file.keep()

    async def _try(self, act: Callable[[], object]) -> None:
        try:
            await trio.to_thread.run_sync(act)
        except OSError as error:
            raise MeasurementFailedError(self.what, str(self.path), os_reason(error)) from error


def checked_path(what: str, path: str | os.PathLike[str], *, overwrite: bool = True) -> Path:
    """Return `path` as a Path.

    Raises InvalidArgumentError for a value that is not a path, or names a folder; without `overwrite`, for a file
    that exists.
    """
    found = to_path(f"path of {what}", path, "the path of a file")
    if found.is_dir():
        raise InvalidArgumentError(
            what=f"path of {what}", given=f"{found}, a folder", expected="the path of a file"
        )
    if not overwrite and is_taken(found):
        raise InvalidArgumentError(
            what=f"path of {what}",
            given=f"{found}, which exists already,",
            expected="the path of a new file, or overwrite=True",
        )
    return found


@asynccontextmanager
async def output_file(
    what: str, path: Path, *, compress_late: bool = False, overwrite: bool = True
) -> AsyncIterator[OutputFile]:
    """Give a file to write to: kept when the block ends well, taken away when it does not.

    Raises MeasurementFailedError when it cannot be written.
    """
    file = OutputFile(what, path, compress_late=compress_late, overwrite=overwrite)
    try:
        await file.open()
        yield file
        await file.keep()
    finally:
        file.discard()


PIECE = 1 << 20
"""Bytes that are asked for at a time."""


@asynccontextmanager
async def chrome_stream(session: Session, handle: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """Give the pieces of a stream, in order. Raises as `Session.request`."""
    pieces = _pieces(session, handle)
    try:
        yield pieces
    finally:
        await pieces.aclose()
        close_stream(session, handle)


def close_stream(session: Session, handle: str) -> None:
    """Give a handle back. Sent, not waited for."""
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("IO.close", handle=handle)


async def _pieces(session: Session, handle: str) -> AsyncGenerator[bytes, None]:
    while True:
        piece = await session.request("IO.read", {"handle": handle, "size": PIECE}, StreamPiece)
        if piece.data:
            yield decode_bytes("IO.read", piece.data) if piece.base64_encoded else piece.data.encode()
        if piece.eof:
            return
