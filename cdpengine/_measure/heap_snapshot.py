"""Heap snapshot: everything that is on a page's JavaScript heap, into a file that Chrome's own tools open.

Rule: pieces of about a megabyte go from the wire to the disk as they are, a bounded number of them in between;
compressing, where the file's name asks for it, comes after. The file is whole or not there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import attrs
import trio

from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import OutputFile, output_file
from cdpengine._protocol.domains.profiler import HeapSnapshotChunk, HeapSnapshotReported
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import MeasurementFailedError

_CHUNK = "HeapProfiler.addHeapSnapshotChunk"
_PROGRESS = "HeapProfiler.reportHeapSnapshotProgress"

_BUFFER = 64
"""Pieces that may wait for the disk. Chrome makes them of about a megabyte (measured)."""


@attrs.frozen
class HeapSnapshotProgress:
    """How far a heap snapshot is: objects visited, of how many; and bytes written after that."""

    done: int
    total: int
    written: int


@attrs.frozen
class HeapSnapshotReport:
    """A heap snapshot that is whole: its file, bytes before compression and on the disk, and how long it took."""

    path: Path
    written: int
    size: int
    seconds: float


async def take_heap_snapshot(
    session: Session,
    path: Path,
    *,
    progress: Callable[[HeapSnapshotProgress], None] | None = None,
    collect_garbage: bool = True,
    overwrite: bool = True,
) -> HeapSnapshotReport:
    """Write a snapshot of the session's heap. The page stands still meanwhile, as Chrome has it.

    Raises MeasurementFailedError when the disk is too slow or cannot be written, and as `Session.call`. Cancelled,
    it leaves no file; Chrome finishes what it has begun by itself.
    """
    started = trio.current_time()
    async with (
        output_file("the heap snapshot", path, compress_late=True, overwrite=overwrite) as file,
        session.enabled("HeapProfiler"),
    ):
        if collect_garbage:
            await session.call("HeapProfiler.collectGarbage")
        async with open_body_nursery() as nursery:
            incoming = _Incoming(session)
            with incoming.listening():
                nursery.start_soon(incoming.take, progress is not None, name="heap snapshot")
                await _write(incoming, file, progress)
    return HeapSnapshotReport(path, file.written, file.size, trio.current_time() - started)


class _Incoming:
    """The events of one snapshot, until Chrome has said that it is whole."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sender, self.events = trio.open_memory_channel[Event](_BUFFER)
        self.lost = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        for method in (_CHUNK, _PROGRESS):
            self._session.on_event(method, self._arrived)
        try:
            yield
        finally:
            for method in (_CHUNK, _PROGRESS):
                self._session.off_event(method, self._arrived)

    async def take(self, report: bool) -> None:
        # The pieces come before the reply: what waits then is all there is.
        await self._session.call("HeapProfiler.takeHeapSnapshot", reportProgress=report)
        self._sender.close()

    def _arrived(self, event: Event) -> None:
        try:
            self._sender.send_nowait(event)
        except trio.WouldBlock:
            self.lost = self.lost or event.method == _CHUNK


async def _write(
    incoming: _Incoming, file: OutputFile, progress: Callable[[HeapSnapshotProgress], None] | None
) -> None:
    seen = HeapSnapshotProgress(0, 0, 0)
    async for event in incoming.events:
        if incoming.lost:
            why = f"the disk is slower than Chrome, and {_BUFFER} pieces of about a megabyte wait already"
            raise MeasurementFailedError(file.what, str(file.path), why)
        if event.method == _CHUNK:
            await file.write(event.decode(HeapSnapshotChunk).chunk.encode())
        else:
            reported = event.decode(HeapSnapshotReported)
            seen = attrs.evolve(seen, done=reported.done, total=reported.total)
        if progress is not None:
            seen = attrs.evolve(seen, written=file.written)
            progress(seen)
