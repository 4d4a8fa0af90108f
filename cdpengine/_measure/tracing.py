"""Tracing of the whole browser, into a file that Perfetto and Chrome's developer tools open.

Rule: Chrome collects the trace in a bounded buffer and sends it in pieces at the end. The trace is ended in every
case; if the body is cancelled, the file is removed. Chrome makes one trace at a time. The file's name selects the
format. Options that Chrome would silently ignore are refused.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Literal
from weakref import WeakKeyDictionary

import attrs
import trio

from cdpengine._budget import undoing, within
from cdpengine._checks import check_count, invalid
from cdpengine._logs import get_logger
from cdpengine._nursery import open_body_nursery
from cdpengine._page.downloads.output_file import OutputFile, chrome_stream, close_stream
from cdpengine._pickling import not_picklable
from cdpengine._protocol.domains.tracing import BufferUsage, TracingComplete
from cdpengine._protocol.session import Session
from cdpengine._protocol.streams import Event
from cdpengine.errors import (
    ConnectionLostError,
    EngineError,
    EventsLostError,
    InvalidStateError,
    MeasurementFailedError,
    RemoteError,
    SessionGoneError,
    TargetCrashedError,
)

logger = get_logger("cdpengine.measure")

_COMPLETE = "Tracing.tracingComplete"
_USAGE = "Tracing.bufferUsage"
_BUSY = "already been started"

_STOP_TIMEOUT = 5.0
"""Maximum duration of ending an abandoned trace, in seconds."""


@attrs.frozen
class TraceProgress:
    """The progress of a trace: `seconds` since its start, Chrome's buffer fill level (0 to 1), bytes written."""

    phase: Literal["recording", "writing"]
    seconds: float
    buffer_full: float
    written: int


@attrs.frozen
class TraceReport:
    """A complete trace: its file, its bytes before and after compression, and its duration.

    `data_lost`: Chrome's buffer was too small, and some events are missing.
    """

    path: Path
    written: int
    size: int
    seconds: float
    data_lost: bool
    buffer_full: float


@not_picklable("its `report`")
@attrs.define(eq=False)
class Trace:
    """A running trace. `report` is set after its block has ended."""

    path: Path
    started: float
    buffer_full: float = 0.0
    report: TraceReport | None = None

    def progress(self, phase: Literal["recording", "writing"], written: int = 0) -> TraceProgress:
        """Return the progress of the trace."""
        return TraceProgress(phase, trio.current_time() - self.started, self.buffer_full, written)


@attrs.define(eq=False)
class _Ends:
    """The traces of one session whose end is pending, in order, because Chrome's report does not name its trace.

    An abandoned trace stays until its end is reported, so that a later trace does not take that report for its
    own.
    """

    session: Session
    endings: list[_Ending] = attrs.field(factory=list)

    def add(self, ending: _Ending) -> None:
        if not self.endings:
            self.session.on_event(_COMPLETE, self._take_end)
        self.endings.append(ending)

    def discard(self, ending: _Ending) -> None:
        if ending in self.endings:
            self.endings.remove(ending)
            if not self.endings:
                self.session.off_event(_COMPLETE, self._take_end)

    def _take_end(self, event: Event) -> None:
        complete, ending = event.decode(TracingComplete), self.endings[0]
        self.discard(ending)
        ending.finish(complete)


_ENDS: WeakKeyDictionary[Session, _Ends] = WeakKeyDictionary()


@attrs.define(eq=False)
class _Ending:
    """Waits for the end of a trace, and releases the stream if it is not read."""

    session: Session
    trace: Trace
    complete: TracingComplete | None = None
    abandoned: bool = False
    arrived: trio.Event = attrs.field(factory=trio.Event)

    def listen(self) -> None:
        _ENDS.setdefault(self.session, _Ends(self.session)).add(self)
        self.session.on_event(_USAGE, self._note_usage)
        self.session.on_end(self.arrived.set)

    def leave(self, *, begun: bool) -> None:
        self.session.off_event(_USAGE, self._note_usage)
        self.abandoned = True
        if not begun:
            self.forget()

    def forget(self) -> None:
        """Stop expecting an end: Chrome reported that no trace is running."""
        _ENDS[self.session].discard(self)

    async def wait(self) -> TracingComplete:
        await self.arrived.wait()
        if self.complete is None:
            raise self.session.error("Tracing.end") or SessionGoneError(
                target=self.session.describe(), reason="it ended during the trace"
            )
        return self.complete

    def _note_usage(self, event: Event) -> None:
        self.trace.buffer_full = max(self.trace.buffer_full, event.decode(BufferUsage).percent_full)

    def finish(self, complete: TracingComplete) -> None:
        """Accept the end of this trace; release its stream if it was abandoned."""
        self.complete = complete
        self.arrived.set()
        if self.abandoned:
            close_stream(self.session, complete.stream)


@asynccontextmanager
async def trace_browser(
    session: Session,
    path: Path,
    options: TraceOptions,
    progress: Callable[[TraceProgress], None] | None,
    timeout: float,
    *,
    overwrite: bool,
) -> AsyncIterator[Trace]:
    """Trace while the body runs, then write the file. `timeout` applies to the beginning, and again to the end.

    On the session of a page, Chrome can add screenshots of it. A body that raises leaves its trace, a cancelled
    one does not. Raises InvalidStateError if another trace is running, FileNotWrittenError if the file
    cannot be written, DeadlineExceededError, and the errors of `Session.call`.
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
            async with _report_progress(session, trace, progress):
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


@asynccontextmanager
async def _report_progress(
    session: Session, trace: Trace, progress: Callable[[TraceProgress], None] | None
) -> AsyncIterator[None]:
    """Call `progress` for each buffer report while the body runs; its exceptions propagate from the body."""
    if progress is None:
        yield
        return
    async with session.subscribe(_USAGE, buffer=10) as usage, open_body_nursery() as nursery:

        async def follow() -> None:
            while True:
                with suppress(EventsLostError, TargetCrashedError):  # the next report replaces it
                    await usage.receive()
                    progress(trace.progress("recording"))

        nursery.start_soon(_until_gone, follow, name="progress of a trace")
        yield


DEFAULT_CATEGORIES = (
    "blink.console",
    "blink.user_timing",
    "devtools.timeline",
    "disabled-by-default-devtools.timeline",
    "disabled-by-default-devtools.timeline.frame",
    "disabled-by-default-v8.cpu_profiler",
    "latencyInfo",
    "loading",
    "toplevel",
    "v8.execute",
)
"""Categories of the Performance panel in Chrome's developer tools."""

SCREENSHOTS = "disabled-by-default-devtools.screenshot"

_PROTO_NAMES = (".pftrace", ".perfetto-trace", ".pb", ".proto")

_SMALLEST_BUFFER = 1 << 20


@attrs.frozen
class TraceOptions:
    """Options of a trace. `buffer_size` is in bytes; None means Chrome's default of 200 MB."""

    categories: tuple[str, ...] = DEFAULT_CATEGORIES
    buffer_size: int | None = None
    keep_latest: bool = False
    format: Literal["json", "proto"] = "json"

    @classmethod
    def checked(
        cls,
        path: Path,
        categories: Sequence[str] | None,
        *,
        screenshots: bool,
        buffer_size: int | None,
        keep_latest: bool,
    ) -> TraceOptions:
        """Return checked options. Raises InvalidArgumentError."""
        chosen = DEFAULT_CATEGORIES if categories is None else _check_categories(categories)
        if screenshots and SCREENSHOTS not in chosen:
            chosen = (*chosen, SCREENSHOTS)
        if buffer_size is not None:
            check_count("buffer_size", buffer_size, least=_SMALLEST_BUFFER, unit="bytes")
        return cls(chosen, buffer_size, keep_latest, format_of(path))

    def params(self) -> dict[str, object]:
        """Return the parameters of `Tracing.start`."""
        config: dict[str, object] = {
            "includedCategories": list(self.categories),
            "excludedCategories": ["*"],
            "recordMode": "recordContinuously" if self.keep_latest else "recordUntilFull",
        }
        if self.buffer_size is not None:
            config["traceBufferSizeInKb"] = self.buffer_size // 1024
        return {
            "transferMode": "ReturnAsStream",
            "streamFormat": self.format,
            "bufferUsageReportingInterval": 500,
            "traceConfig": config,
        }


def format_of(path: Path) -> Literal["json", "proto"]:
    """Return the format for a file's name: Perfetto's for ".pftrace", ".perfetto-trace", ".pb", else JSON."""
    name = path.name.lower().removesuffix(".gz")
    return "proto" if name.endswith(_PROTO_NAMES) else "json"


def _start_error(error: RemoteError) -> EngineError:
    if _BUSY in error.message:
        return InvalidStateError(
            "begin a trace",
            "another trace is running, perhaps of another connection, and Chrome makes one at a time. "
            "End that one first",
        )
    return error


async def _finish(
    ending: _Ending, file: OutputFile, progress: Callable[[TraceProgress], None] | None
) -> None:
    trace, session = ending.trace, ending.session
    seconds = trio.current_time() - trace.started
    try:
        await session.call("Tracing.end")
    except RemoteError as error:
        why = f"another client ended it ({error.message})"
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
            "the trace %s lacks some events because Chrome's buffer was full: give a larger buffer_size",
            trace.path,
        )


async def _finish_anyway(
    ending: _Ending, file: OutputFile, progress: Callable[[TraceProgress], None] | None, timeout: float
) -> None:
    """Write the trace of a body that failed. The body's error propagates, whether writing succeeds or not."""
    try:
        with within("write the trace", timeout):
            await _finish(ending, file, progress)
    except EngineError as error:
        logger.warning("cannot write the trace of a failed block: %s", error)


async def _give_up(ending: _Ending) -> None:
    """End an abandoned trace; its stream is closed when Chrome reports it."""
    with (
        undoing(_STOP_TIMEOUT),
        suppress(SessionGoneError, ConnectionLostError),
    ):
        try:
            await ending.session.call("Tracing.end")
        except RemoteError:
            ending.forget()
        else:
            await ending.wait()


async def _until_gone(follow: Callable[[], Awaitable[None]]) -> None:
    with suppress(SessionGoneError, ConnectionLostError):  # the end of the trace raises it
        await follow()


def _is_cancelled(error: BaseException) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return error.subgroup(trio.Cancelled) is not None
    return isinstance(error, trio.Cancelled | GeneratorExit)


def _check_categories(categories: Sequence[str]) -> tuple[str, ...]:
    if isinstance(categories, str):
        categories = [category.strip() for category in categories.split(",")]
    expected = 'names of categories or patterns such as "v8*", without commas and leading minus'
    if not isinstance(categories, Sequence) or not categories:
        raise invalid("categories", categories, expected)
    for category in categories:
        odd = not isinstance(category, str) or not category or category.startswith("-")
        if odd or any(sign in category for sign in ", \t\n"):
            raise invalid("categories", category, expected)
    return tuple(dict.fromkeys(categories))
