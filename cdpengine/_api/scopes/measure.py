"""PageMeasure and BrowserMeasure: metrics, coverage, CPU profiles, heap snapshots and traces.

Rule: a measurement enables instrumentation in Chrome only for its duration.
"""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import attrs

from cdpengine._api.page.core import PageCore
from cdpengine._budget import check_timeout
from cdpengine._checks import check_number
from cdpengine._evaluate.evaluation import EvaluationStatistics
from cdpengine._measure.coverage import Coverage, measure_coverage
from cdpengine._measure.profiles import (
    DEFAULT_INTERVAL,
    HeapSnapshotProgress,
    HeapSnapshotReport,
    PageMetrics,
    Profiling,
    page_metrics,
    profile_cpu,
    take_heap_snapshot,
)
from cdpengine._measure.tracing import Trace, TraceOptions, TraceProgress, trace_browser
from cdpengine._page.downloads.output_file import checked_path
from cdpengine._page.navigation.expired_actions import explain_deadline
from cdpengine._page.running_actions import QUICK_PROBE
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError


@not_picklable("the results of its measurements")
@attrs.frozen(eq=False)
class PageMeasure:
    """Measurements of a page: `page.measure`."""

    _core: PageCore

    async def metrics(self, *, timeout: float = 30) -> PageMetrics:
        """Return Chrome's counters of the page: documents, nodes, listeners, heap size, times.

        The result is a mapping by Chrome's names, with the most common as attributes. Raises
        DeadlineExceededError.
        """
        async with self._core.action("metrics", timeout):
            return await page_metrics(self._core.session)

    async def unresponsive_for(self) -> float:
        """Return the minimum time in seconds for which the page has not answered; 0.0 if it answers within 50 ms.

        The time counts from the first unanswered query. Call this early, or use `recover_after` of `launch` and
        `connect`. Raises TargetCrashedError, SessionGoneError, ConnectionLostError if the page is gone.
        """
        return await self._core.target.ping.unresponsive_time(QUICK_PROBE)

    @asynccontextmanager
    async def coverage(
        self, *, javascript: bool = True, css: bool = True, timeout: float = 30
    ) -> AsyncIterator[Coverage]:
        """Measure which parts of scripts and style sheets are used: `async with page.measure.coverage() as c:`.

        After the block, `c.report` lists every script and sheet of all documents in the page and its frames, with
        used and unused ranges and sizes. The last moments of a document that navigated away are not covered;
        `report.gaps` lists such documents. Scripts without a URL are omitted. Only one page of a browser context
        can be measured at a time. `timeout` applies to the beginning, and again to the end.

        Raises InvalidArgumentError, InvalidStateError, DeadlineExceededError, PageUnresponsiveError.
        """
        if not (javascript or css):
            raise InvalidArgumentError(
                what="javascript, css", given="False, False", expected="at least one of them"
            )
        check_timeout(timeout)
        async with explain_deadline(self._core.target, math.inf):
            await self._make_ready("coverage", timeout)
            async with measure_coverage(
                self._core.state.tabs,
                self._core.target,
                self._core.state.key,
                javascript=javascript,
                css=css,
                timeout=timeout,
            ) as coverage:
                yield coverage

    @asynccontextmanager
    async def profile(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        interval: float = DEFAULT_INTERVAL,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> AsyncIterator[Profiling]:
        """Sample the page's JavaScript during the block, and write the profile to `path` (".cpuprofile").

        `interval` is the time between samples in seconds. After the block, `.profile` contains the JSON (`data`)
        and its counts. If the page moves to another process meanwhile, Chrome starts a new profile there.
        `timeout` applies to the beginning, and again to the end. File and `overwrite` work as in
        `browser.measure.trace`. Raises InvalidArgumentError, InvalidStateError, FileNotWrittenError,
        MeasurementFailedError, DeadlineExceededError.
        """
        place = None if path is None else checked_path("the CPU profile", path, overwrite=overwrite)
        check_number("interval", interval, least=0.00001, most=10, unit="seconds")
        check_timeout(timeout)
        async with explain_deadline(self._core.target, math.inf):
            await self._make_ready("CPU profile", timeout)
            async with profile_cpu(
                self._core.session, place, interval, timeout, overwrite=overwrite
            ) as profiling:
                yield profiling

    async def heap_snapshot(
        self,
        path: str | os.PathLike[str],
        *,
        progress: Callable[[HeapSnapshotProgress], None] | None = None,
        collect_garbage: bool = True,
        overwrite: bool = True,
        timeout: float = 120,
    ) -> HeapSnapshotReport:
        """Write the page's JavaScript heap to `path` (".heapsnapshot", or ".heapsnapshot.gz").

        This pauses the page: about 3 s for 130 MB of JSON. The JSON is streamed to the file, so it needs little
        memory. `progress` is called periodically. File and `overwrite` work as in `browser.measure.trace`. Raises
        InvalidArgumentError, FileNotWrittenError, MeasurementFailedError, DeadlineExceededError; no file remains
        then.
        """
        place = checked_path("the heap snapshot", path, overwrite=overwrite)
        async with self._core.action("heap snapshot", timeout):
            return await take_heap_snapshot(
                self._core.session,
                place,
                progress=progress,
                collect_garbage=collect_garbage,
                overwrite=overwrite,
            )

    @asynccontextmanager
    async def trace(
        self,
        path: str | os.PathLike[str],
        *,
        categories: Sequence[str] | None = None,
        screenshots: bool = False,
        buffer_size: int | None = None,
        keep_latest: bool = False,
        progress: Callable[[TraceProgress], None] | None = None,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> AsyncIterator[Trace]:
        """Trace during the block as `browser.measure.trace` does, with this page as the subject of the trace.

        With `screenshots`, the trace contains pictures of the page.
        """
        place = checked_path("the trace", path, overwrite=overwrite)
        options = TraceOptions.checked(
            place, categories, screenshots=screenshots, buffer_size=buffer_size, keep_latest=keep_latest
        )
        check_timeout(timeout)
        async with trace_browser(
            self._core.session, place, options, progress, timeout, overwrite=overwrite
        ) as trace:
            yield trace

    def evaluate_statistics(self) -> EvaluationStatistics:
        """Return the counts of this page's evaluations, and of the steps against hanging evaluations."""
        return self._core.evaluator.counters.statistics(self._core.target.evaluation_session_rebuilds)

    async def _make_ready(self, what: str, timeout: float) -> None:
        async with self._core.action(f"begin {what}", timeout):
            pass


@not_picklable("the results of its measurements")
@attrs.frozen(eq=False)
class BrowserMeasure:
    """Measurements of a browser: `browser.measure`."""

    _session: Session

    @asynccontextmanager
    async def trace(
        self,
        path: str | os.PathLike[str],
        *,
        categories: Sequence[str] | None = None,
        buffer_size: int | None = None,
        keep_latest: bool = False,
        progress: Callable[[TraceProgress], None] | None = None,
        overwrite: bool = True,
        timeout: float = 30,
    ) -> AsyncIterator[Trace]:
        """Trace the browser during the block: `async with browser.measure.trace("trace.json.gz"):`.

        The file opens in Perfetto and in Chrome's tools. It is JSON, or Perfetto's format for the suffixes
        ".pftrace", ".perfetto-trace" and ".pb", which is written and read much faster. A further ".gz" compresses
        it. `categories` are Chrome's trace categories ("v8*" is a pattern); the default is the selection of
        Chrome's Performance panel. Chrome collects in a buffer of `buffer_size` bytes (200 MB). When it is full,
        later events are not recorded; with `keep_latest`, the oldest events are dropped instead. At the end the
        buffer is read and written in chunks. `progress` is called twice a second and after every chunk. Only its
        owner can read the file. An existing file is replaced once the new one is complete, or refused if
        `overwrite` is False.

        After the block, `.report` describes the file; its `data_lost` shows whether events are missing. A block
        that raises keeps its trace; a cancelled block leaves no file. Tracing stops in every case. `timeout`
        applies to the beginning, and again to the end. Raises InvalidArgumentError, InvalidStateError if
        another client traces this browser, FileNotWrittenError, MeasurementFailedError, DeadlineExceededError.
        """
        place = checked_path("the trace", path, overwrite=overwrite)
        options = TraceOptions.checked(
            place, categories, screenshots=False, buffer_size=buffer_size, keep_latest=keep_latest
        )
        check_timeout(timeout)
        async with trace_browser(
            self._session, place, options, progress, timeout, overwrite=overwrite
        ) as trace:
            yield trace
