"""Chrome's counters (metrics), CPU profiles and heap snapshots of one page.

Rule: a page has one CPU profile at a time, which is stopped on every exit. If the page moves to another process,
Chrome starts again, and the profile covers only the time after. Pieces of a heap snapshot, of about a megabyte
each, are written to disk unchanged, with a bounded number in memory. If the file's name ends in ".gz", the file is
compressed afterwards. Chrome's developer tools open both kinds of files. Each file is complete or does not exist.
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
    InvalidStateError,
    MeasurementFailedError,
    RemoteError,
    SessionGoneError,
)

DOMAIN = "Performance"


class PageMetrics(Mapping[str, float]):
    """Chrome's counters of a page, by Chrome's names ("JSHeapUsedSize"); common ones are also attributes.

    Times are seconds, sizes bytes. Documents, frames, nodes, listeners and the heap are counted for the page's
    whole process, including other pages of its site, but without out-of-process frames. If this Chrome lacks a
    counter, its attribute is 0, and `metrics[name]` raises KeyError.
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
        """The time of the reading, on Chrome's monotonic clock."""
        return self.get("Timestamp", 0.0)

    @property
    def documents(self) -> int:
        """Number of live documents."""
        return int(self.get("Documents", 0))

    @property
    def frames(self) -> int:
        """Number of live frames."""
        return int(self.get("Frames", 0))

    @property
    def nodes(self) -> int:
        """Number of live DOM nodes, including detached ones."""
        return int(self.get("Nodes", 0))

    @property
    def event_listeners(self) -> int:
        """Number of event listeners in JavaScript."""
        return int(self.get("JSEventListeners", 0))

    @property
    def layouts(self) -> int:
        """Number of layouts performed."""
        return int(self.get("LayoutCount", 0))

    @property
    def style_recalculations(self) -> int:
        """Number of style recalculations performed."""
        return int(self.get("RecalcStyleCount", 0))

    @property
    def layout_duration(self) -> float:
        """Seconds of layout."""
        return self.get("LayoutDuration", 0.0)

    @property
    def style_duration(self) -> float:
        """Seconds of style recalculation."""
        return self.get("RecalcStyleDuration", 0.0)

    @property
    def script_duration(self) -> float:
        """Seconds of JavaScript execution."""
        return self.get("ScriptDuration", 0.0)

    @property
    def task_duration(self) -> float:
        """Seconds of all tasks on the page's main thread."""
        return self.get("TaskDuration", 0.0)

    @property
    def heap_used(self) -> int:
        """Used bytes of the JavaScript heap."""
        return int(self.get("JSHeapUsedSize", 0))

    @property
    def heap_size(self) -> int:
        """Total bytes of the JavaScript heap."""
        return int(self.get("JSHeapTotalSize", 0))


async def page_metrics(session: Session) -> PageMetrics:
    """Return the current counters. Times count only while the domain is enabled: enable it to measure durations.

    Raises the errors of `Session.request`.
    """
    async with session.enabled(DOMAIN):
        reply = await session.request("Performance.getMetrics", {}, MetricsReply)
    return PageMetrics({metric.name: metric.value for metric in reply.metrics})


# --- CPU profiles --------------------------------------------------------------------------------------------

DEFAULT_INTERVAL = 0.001
"""Seconds between two samples: Chrome's default."""

_PROFILED: set[Session] = set()
_STOP_TIMEOUT = 1.0
"""Maximum duration of stopping an abandoned profile, in seconds."""


@attrs.frozen
class CpuProfile:
    """A complete profile: Chrome's JSON, the numbers of nodes and samples, and the duration in seconds."""

    data: bytes = attrs.field(repr=False)
    nodes: int
    samples: int
    seconds: float


@not_picklable("its `profile`")
@attrs.define(eq=False)
class Profiling:
    """A running profile. `profile` is set after its block has ended."""

    path: Path | None
    profile: CpuProfile | None = None


@asynccontextmanager
async def profile_cpu(
    session: Session, path: Path | None, interval: float, timeout: float, *, overwrite: bool
) -> AsyncIterator[Profiling]:
    """Profile while the body runs; then write the profile to `path`, if one is given.

    `interval` is seconds between samples. `timeout` applies to the beginning, and again to the end. Raises
    InvalidStateError, FileNotWrittenError, MeasurementFailedError, and the errors of `Session.call`. A body that
    fails or is cancelled leaves no profile.
    """
    if session in _PROFILED:
        reason = "this program already makes a CPU profile of this page. End that one first"
        raise InvalidStateError("make a CPU profile", reason)
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
"""Maximum number of pieces that wait for the disk. Chrome's pieces have about a megabyte (measured)."""


@attrs.frozen
class HeapSnapshotProgress:
    """The progress of a heap snapshot: visited objects, all objects, and then written bytes."""

    done: int
    total: int
    written: int


@attrs.frozen
class HeapSnapshotReport:
    """A complete heap snapshot: its file, its bytes before and after compression, and its duration."""

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
    """Write a snapshot of the session's heap. Chrome pauses the page meanwhile.

    Raises MeasurementFailedError if the disk is too slow, FileNotWrittenError if the file cannot be written, and
    the errors of `Session.call`. If cancelled, it leaves no file; Chrome still completes its snapshot.
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
    """The events of one snapshot, until Chrome reports its end."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sender, self.events = trio.open_memory_channel[Event](_BUFFER)
        self.lost = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        with self._session.listening(dict.fromkeys((_CHUNK, _PROGRESS), self._take_piece)):
            yield

    async def take(self, report: bool) -> None:
        # The pieces arrive before the reply, so all pieces are buffered by then.
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
    current = HeapSnapshotProgress(0, 0, 0)
    async for event in incoming.events:
        if incoming.lost:
            why = f"the disk is slower than Chrome, and {_BUFFER} pieces of about a megabyte are already waiting"
            raise MeasurementFailedError(file.what, str(file.path), why)
        if event.method == _CHUNK:
            await file.write(event.decode(HeapSnapshotChunk).chunk.encode())
        else:
            reported = event.decode(HeapSnapshotReported)
            current = attrs.evolve(current, done=reported.done, total=reported.total)
        if progress is not None:
            current = attrs.evolve(current, written=file.written)
            progress(current)
