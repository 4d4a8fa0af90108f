"""Figures of one page: Chrome's counters (metrics), where its JavaScript spends its time, and what is on its heap.

Rule: one CPU profile a page at a time; it is stopped in every case. Where the page goes to another process, Chrome
begins anew, and the profile is of what came after. Pieces of a heap snapshot, of about a megabyte each, go from
the wire to the disk as they are, a bounded number of them in between; compressing, where the file's name asks for
it, comes after. Chrome's own tools open both files, and each is whole or not there.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import OutputFile, output_file
from cdpengine._pickling import not_picklable
from cdpengine._protocol.calls import decode_reply
from cdpengine._protocol.domains.profiler import (
    HeapSnapshotChunk,
    HeapSnapshotReported,
    MetricsReply,
    Profile,
    ProfileReply,
)
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    MeasurementBusyError,
    MeasurementFailedError,
    RemoteError,
    SessionGoneError,
)

DOMAIN = "Performance"


class PageMetrics(Mapping[str, float]):
    """Chrome's counters by Chrome's names ("JSHeapUsedSize"); the best known as attributes too.

    Times are seconds, sizes bytes. Documents, frames, nodes, listeners and the heap are counted for all of the
    page's process, other pages of its site included; frames in processes of their own are not in them. An
    attribute is 0 where this Chrome does not count it; `metrics[name]` raises KeyError then.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, float]) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"<PageMetrics {self._values}>"

    @property
    def timestamp(self) -> float:
        """When they were taken, on Chrome's monotonic clock."""
        return self.get("Timestamp", 0.0)

    @property
    def documents(self) -> int:
        """Documents that are alive."""
        return int(self.get("Documents", 0))

    @property
    def frames(self) -> int:
        """Frames that are alive."""
        return int(self.get("Frames", 0))

    @property
    def nodes(self) -> int:
        """DOM nodes that are alive, those included that are in no document."""
        return int(self.get("Nodes", 0))

    @property
    def event_listeners(self) -> int:
        """Event listeners in JavaScript."""
        return int(self.get("JSEventListeners", 0))

    @property
    def layouts(self) -> int:
        """How often the page was laid out."""
        return int(self.get("LayoutCount", 0))

    @property
    def style_recalculations(self) -> int:
        """How often styles were computed."""
        return int(self.get("RecalcStyleCount", 0))

    @property
    def layout_duration(self) -> float:
        """Seconds spent on laying out."""
        return self.get("LayoutDuration", 0.0)

    @property
    def style_duration(self) -> float:
        """Seconds spent on computing styles."""
        return self.get("RecalcStyleDuration", 0.0)

    @property
    def script_duration(self) -> float:
        """Seconds spent on running JavaScript."""
        return self.get("ScriptDuration", 0.0)

    @property
    def task_duration(self) -> float:
        """Seconds spent on everything that the page's main thread did."""
        return self.get("TaskDuration", 0.0)

    @property
    def heap_used(self) -> int:
        """Bytes of the JavaScript heap that are in use."""
        return int(self.get("JSHeapUsedSize", 0))

    @property
    def heap_size(self) -> int:
        """Bytes that the JavaScript heap takes."""
        return int(self.get("JSHeapTotalSize", 0))


async def page_metrics(session: Session) -> PageMetrics:
    """Return the counters of now. Times count while the domain is enabled: hold it to measure durations.

    Raises as `Session.request`.
    """
    async with session.enabled(DOMAIN):
        reply = await session.request("Performance.getMetrics", {}, MetricsReply)
    return PageMetrics({metric.name: metric.value for metric in reply.metrics})


# --- CPU profiles --------------------------------------------------------------------------------------------

DEFAULT_INTERVAL = 0.001
"""Seconds between two samples, as Chrome has it by default."""

_PROFILED: set[Session] = set()
_STOP_TIMEOUT = 1.0
"""Seconds that stopping may take when the profile is not wanted any more."""


@attrs.frozen
class CpuProfile:
    """A profile that is whole: its JSON as Chrome wrote it, how many nodes and samples, how many seconds."""

    data: bytes = attrs.field(repr=False)
    nodes: int
    samples: int
    seconds: float


@not_picklable("its `profile`")
@attrs.define(eq=False)
class Profiling:
    """A profile under way. `profile` is there once its block has ended."""

    path: Path | None
    profile: CpuProfile | None = None


@asynccontextmanager
async def profile_cpu(
    session: Session, path: Path | None, interval: float, timeout: float, *, overwrite: bool
) -> AsyncIterator[Profiling]:
    """Profile while the body runs; then write it to `path`, if one is given.

    `interval` is seconds between samples. `timeout` is for the beginning, and again for the end. Raises
    MeasurementBusyError, MeasurementFailedError, and as `Session.call`. A body that fails or is cancelled leaves
    none.
    """
    if session in _PROFILED:
        raise MeasurementBusyError("a CPU profile", "of this page, by this program. End that one first")
    _PROFILED.add(session)
    profiling = Profiling(path)
    begun = False
    try:
        async with session.enabled("Profiler", wait=False):
            try:
                with within("start a CPU profile", timeout):
                    begun = True
                    await session.call("Profiler.setSamplingInterval", interval=max(1, round(interval * 1e6)))
                    await session.call("Profiler.start")
                yield profiling
                with within("end a CPU profile", timeout):
                    begun = False
                    profiling.profile = await _stop(session)
                    if path is not None:
                        async with output_file("the CPU profile", path, overwrite=overwrite) as file:
                            await file.write(profiling.profile.data)
            finally:
                if begun:
                    await _give_up(session)
    finally:
        _PROFILED.discard(session)


async def _stop(session: Session) -> CpuProfile:
    try:
        reply = await session.request("Profiler.stop", {}, ProfileReply)
    except RemoteError as error:
        raise MeasurementFailedError(
            "the CPU profile", "", f"another client ended it ({error.message})"
        ) from error
    data = bytes(reply.profile)
    profile = decode_reply("Profiler.stop", data, Profile)
    seconds = (profile.end_time - profile.start_time) / 1e6
    return CpuProfile(data, len(profile.nodes), len(profile.samples), seconds)


async def _give_up(session: Session) -> None:
    with undoing(_STOP_TIMEOUT), suppress(SessionGoneError, ConnectionLostError, RemoteError):
        await session.call("Profiler.stop")


# --- heap snapshots ------------------------------------------------------------------------------------------

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
            self._session.on_event(method, self._take_piece)
        try:
            yield
        finally:
            for method in (_CHUNK, _PROGRESS):
                self._session.off_event(method, self._take_piece)

    async def take(self, report: bool) -> None:
        # The pieces come before the reply: what waits then is all there is.
        await self._session.call("HeapProfiler.takeHeapSnapshot", reportProgress=report)
        self._sender.close()

    def _take_piece(self, event: Event) -> None:
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
