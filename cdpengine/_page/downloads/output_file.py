"""OutputFile: a private file written in chunks from a trio task, also from Chrome's streams.

Rule: it is a `NewFile` (private_files.py) that works in threads. A name that ends in ".gz" compresses it. Only one
chunk of a Chrome stream is in memory at a time, and the stream's handle is always closed.
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
    FileNotWrittenError,
    InvalidArgumentError,
    SessionGoneError,
    os_reason,
)


class OutputFile:
    """A file during writing. `written` counts bytes before compression, `size` bytes on disk.

    `compress_late` compresses the file once it is complete, for a source that cannot wait. Without `overwrite`, an
    existing file of the same name stays, and this one is not kept.
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
        """Create the file under a temporary name. Raises FileNotWrittenError."""
        await self._try(self._open)

    async def write(self, data: bytes) -> None:
        """Append data. Raises FileNotWrittenError."""
        file = self._gzip or self._files[0].stream
        await self._try(lambda: file.write(data))
        self.written += len(data)

    async def keep(self) -> None:
        """Finish the file and move it to its place. Raises FileNotWrittenError."""
        await self._try(self._keep)

    def discard(self) -> None:
        """Remove the file, unless it was kept."""
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
            raise FileNotWrittenError(self.what, str(self.path), os_reason(error)) from error


def checked_path(what: str, path: str | os.PathLike[str], *, overwrite: bool = True) -> Path:
    """Return `path` as a Path.

    Raises InvalidArgumentError for a value that is not a path or is a folder; without `overwrite`, also for an
    existing file.
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
    """Yield a file to write to. It is kept if the block succeeds, and removed otherwise.

    Raises FileNotWrittenError if it cannot be written.
    """
    file = OutputFile(what, path, compress_late=compress_late, overwrite=overwrite)
    try:
        await file.open()
        yield file
        await file.keep()
    finally:
        file.discard()


PIECE = 1 << 20
"""Size of one requested chunk, in bytes."""


@asynccontextmanager
async def chrome_stream(session: Session, handle: str) -> AsyncIterator[AsyncIterator[bytes]]:
    """Yield the chunks of a stream in order. Raises the errors of `Session.request`."""
    pieces = _pieces(session, handle)
    try:
        yield pieces
    finally:
        await pieces.aclose()
        close_stream(session, handle)


def close_stream(session: Session, handle: str) -> None:
    """Close a stream's handle without waiting."""
    with suppress(SessionGoneError, ConnectionLostError):
        session.post("IO.close", handle=handle)


async def _pieces(session: Session, handle: str) -> AsyncGenerator[bytes, None]:
    while True:
        piece = await session.request("IO.read", {"handle": handle, "size": PIECE}, StreamPiece)
        if piece.data:
            yield decode_bytes("IO.read", piece.data) if piece.base64_encoded else piece.data.encode()
        if piece.eof:
            return
