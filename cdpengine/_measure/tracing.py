"""Tracing: what the whole browser does, into a file that Perfetto and Chrome's own tools open.

Rule: Chrome gathers the trace in a buffer of bounded size and hands it out piece by piece at the end. It is
ended in every case; where the body is cancelled, the file is not kept. One trace at a time, as Chrome has it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._logs import get_logger
from cdpengine._measure.trace_options import TraceOptions
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import OutputFile, chrome_stream, close_stream
from cdpengine._protocol.domains.tracing import BufferUsage, TracingComplete
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    EventsLostError,
    MeasurementBusyError,
    MeasurementFailedError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

logger = get_logger("cdpengine.measure")

_COMPLETE = "Tracing.tracingComplete"
_USAGE = "Tracing.bufferUsage"
_BUSY = "already been started"

_GRACE = 5.0
"""Seconds that ending a trace may take which nobody wants any more."""


@attrs.frozen
class TraceProgress:
    """How far a trace is: `seconds` since it began, how full Chrome's buffer is (0 to 1), bytes written."""

    phase: Literal["recording", "writing"]
    seconds: float
    buffer_full: float
    written: int


@attrs.frozen
class TraceReport:
    """A trace that is whole: its file, bytes before compression and on the disk, and how long was traced.

    `data_lost`: Chrome's buffer was too small, and some of what happened is missing.
    """

    path: Path
    written: int
    size: int
    seconds: float
    data_lost: bool
    buffer_full: float


@attrs.define(eq=False)
class Trace:
    """A trace under way. `report` is there once its block has ended."""

    path: Path
    started: float
    buffer_full: float = 0.0
    report: TraceReport | None = None

    def progress(self, phase: Literal["recording", "writing"], written: int = 0) -> TraceProgress:
        """Return how far it is."""
        return TraceProgress(phase, trio.current_time() - self.started, self.buffer_full, written)


@attrs.define(eq=False)
class _Ending:
    """Waits for the end of a trace, and gives the stream back when nobody is there to read it."""

    session: Session
    trace: Trace
    complete: TracingComplete | None = None
    abandoned: bool = False
    arrived: trio.Event = attrs.field(factory=trio.Event)

    def listen(self) -> None:
        self.session.on_event(_COMPLETE, self._completed)
        self.session.on_event(_USAGE, self._used)
        self.session.on_end(self.arrived.set)

    def leave(self, *, begun: bool) -> None:
        self.session.off_event(_USAGE, self._used)
        if not begun or self.complete is not None:
            self.session.off_event(_COMPLETE, self._completed)
        self.abandoned = True

    async def wait(self) -> TracingComplete:
        await self.arrived.wait()
        if self.complete is None:
            raise self.session.error("Tracing.end") or SessionGoneError(
                target=self.session.describe(), reason="it ended during the trace"
            )
        return self.complete

    def _used(self, event: Event) -> None:
        self.trace.buffer_full = max(self.trace.buffer_full, event.decode(BufferUsage).percent_full)

    def _completed(self, event: Event) -> None:
        self.complete = event.decode(TracingComplete)
        self.arrived.set()
        if self.abandoned:
            self.session.off_event(_COMPLETE, self._completed)
            close_stream(self.session, self.complete.stream)


@asynccontextmanager
async def traced(
    session: Session,
    path: Path,
    options: TraceOptions,
    progress: Callable[[TraceProgress], None] | None,
    timeout: float,
    *,
    overwrite: bool,
) -> AsyncIterator[Trace]:
    """Trace while the body runs, then write the file. `timeout` is for the beginning, and again for the end.

    On the session of a page, Chrome can add screenshots of it. A body that raises leaves its trace too, a
    cancelled one none. Raises MeasurementBusyError when somebody traces already, MeasurementFailedError when the
    file cannot be written, DeadlineExceededError, and as `Session.call`.
    """
    trace = Trace(path, trio.current_time())
    ending = _Ending(session, trace)
    file = OutputFile("the trace", path, overwrite=overwrite)
    begun = False
    ending.listen()
    try:
        with within("start tracing", timeout):
            await file.open()
            begun = True
            try:
                await session.call("Tracing.start", **options.params())
            except RemoteError as error:
                begun = False
                raise _start_error(error) from error
        trace.started = trio.current_time()
        try:
            async with _told(session, trace, progress):
                yield trace
        except BaseException as error:
            if not _is_cancelled(error):
                await _finish_anyway(ending, file, progress, timeout)
            raise
        with within("write the trace", timeout):
            await _finish(ending, file, progress)
    finally:
        file.discard()
        ending.leave(begun=begun)
        if begun and ending.complete is None:
            await _give_up(ending)


def _start_error(error: RemoteError) -> EngineError:
    if _BUSY in error.message:
        hint = "Chrome makes one at a time, and this may be another connection's. End that one first"
        return MeasurementBusyError("a trace", hint)
    return error


async def _finish(
    ending: _Ending, file: OutputFile, progress: Callable[[TraceProgress], None] | None
) -> None:
    trace, session = ending.trace, ending.session
    seconds = trio.current_time() - trace.started
    try:
        await session.call("Tracing.end")
    except RemoteError as error:
        why = f"somebody else ended it ({error.message})"
        raise MeasurementFailedError("the trace", str(trace.path), why) from error
    complete = await ending.wait()
    async with chrome_stream(session, complete.stream) as pieces:
        async for piece in pieces:
            await file.write(piece)
            if progress is not None:
                progress(trace.progress("writing", file.written))
    await file.keep()
    lost = complete.data_loss_occurred
    trace.report = TraceReport(trace.path, file.written, file.size, seconds, lost, trace.buffer_full)
    if lost:
        logger.warning(
            "the trace %s lacks some of what happened: Chrome's buffer was full: give a larger buffer_size",
            trace.path,
        )


async def _finish_anyway(
    ending: _Ending, file: OutputFile, progress: Callable[[TraceProgress], None] | None, timeout: float
) -> None:
    """Write the trace of a body that failed: its error is what matters, and leaves."""
    try:
        with within("write the trace", timeout):
            await _finish(ending, file, progress)
    except EngineError as error:
        logger.warning("the trace of what failed could not be written: %s", error)


async def _give_up(ending: _Ending) -> None:
    """End a trace that nobody wants any more; its stream is given back when Chrome tells of it."""
    with (
        undoing(_GRACE),
        suppress(SessionGoneError, ConnectionLostError, RemoteError),
    ):
        await ending.session.call("Tracing.end")
        await ending.wait()


@asynccontextmanager
async def _told(
    session: Session, trace: Trace, progress: Callable[[TraceProgress], None] | None
) -> AsyncIterator[None]:
    """Call `progress` for each report of the buffer while the body runs; what it raises leaves the body."""
    if progress is None:
        yield
        return
    async with session.subscribe(_USAGE, buffer=10) as usage, open_body_nursery() as nursery:

        async def follow() -> None:
            while True:
                with suppress(EventsLostError, TargetCrashedError):  # the next report says the same
                    await usage.receive()
                    progress(trace.progress("recording"))

        nursery.start_soon(_until_gone, follow, name="progress of a trace")
        yield


async def _until_gone(follow: Callable[[], Awaitable[None]]) -> None:
    with suppress(SessionGoneError, ConnectionLostError):  # the end of the trace will say so
        await follow()


def _is_cancelled(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(trio.Cancelled) is not None
    return isinstance(error, trio.Cancelled | GeneratorExit)
