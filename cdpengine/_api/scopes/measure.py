"""PageMeasure and BrowserMeasure: metrics, coverage, CPU profiles, heap snapshots, traces.

Rule: nothing is switched on in Chrome before it is asked for, and everything is off again after it.
"""

from __future__ import annotations

import math
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import attrs

from cdpengine._api.page.core import PageCore
from cdpengine._budget import check_timeout
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
from cdpengine._page.navigation.liveness import explain_deadline
from cdpengine._page.running_actions import QUICK_PROBE
from cdpengine._pickling import not_picklable
from cdpengine._protocol.session import Session
from cdpengine.errors import InvalidArgumentError


@not_picklable("what it measured")
@attrs.frozen(eq=False)
class PageMeasure:
    """What a page costs: `page.measure`."""

    _core: PageCore

    async def metrics(self, *, timeout: float = 30) -> PageMetrics:
        """Return Chrome's counters of the page: documents, nodes, listeners, heap, time spent on what.

        A mapping by Chrome's own names, the best known as attributes. Raises DeadlineExceededError.
        """
        async with self._core.action("metrics", timeout):
            return await page_metrics(self._core.session)

    async def unresponsive_for(self) -> float:
        """Return for how many seconds at least the page has not answered; 0.0 when it answers within 50 ms.

        It counts from the first question that was left without an answer: ask early, or use `recover_after` of
        `launch` and `connect`. Raises TargetCrashedError, SessionGoneError, ConnectionLostError when there is no
        page to ask.
        """
        return await self._core.target.ping.unresponsive_time(QUICK_PROBE)

    @asynccontextmanager
    async def coverage(
        self, *, javascript: bool = True, css: bool = True, timeout: float = 30
    ) -> AsyncIterator[Coverage]:
        """Count which parts of scripts and style sheets are used: `async with page.measure.coverage() as c:`.

        After it, `c.report` has every script and sheet of the page and its frames, over all documents that were
        there, with used and unused ranges and sizes. What a document did in its last moments before it went away
        by itself cannot be seen; `report.gaps` names these. Scripts without a URL are left out. One page of a
        browser context at a time. `timeout` is for the beginning, and again for the end.

        Raises InvalidArgumentError, MeasurementBusyError, DeadlineExceededError, PageUnresponsiveError.
        """
        if not (javascript or css):
            raise InvalidArgumentError(
                what="javascript, css", given="False, False", expected="one of them at least"
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
        """Sample what the page's JavaScript does in the block, and write it to `path` (".cpuprofile").

        `interval` is seconds between samples. After the block, `.profile` holds the JSON (`data`) and its
        counts. Where the page goes to another process meanwhile, Chrome begins anew there. `timeout` is for the
        beginning, and again for the end. File and `overwrite` as in `browser.measure.trace`. Raises
        InvalidArgumentError, MeasurementBusyError, MeasurementFailedError, DeadlineExceededError.
        """
        place = None if path is None else checked_path("the CPU profile", path, overwrite=overwrite)
        number = isinstance(interval, int | float) and not isinstance(interval, bool)
        if not number or not 0.00001 <= interval <= 10:
            raise InvalidArgumentError(
                what="interval", given=repr(interval)[:80], expected="seconds, 0.00001 to 10"
            )
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
        """Write all that is on the page's JavaScript heap to `path` (".heapsnapshot", or ".heapsnapshot.gz").

        The page stands still meanwhile: about 3 s for 130 MB of JSON. It is streamed to the disk, so memory
        stays small. `progress` is called now and then. File and `overwrite` as in `browser.measure.trace`. Raises
        InvalidArgumentError, MeasurementFailedError,
        DeadlineExceededError; there is no file then.
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
        """Trace while the block runs, as `browser.measure.trace` does, with this page as the one that it is about.

        With `screenshots`, pictures of the page are in it.
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
        """Return the counts of this page's evaluations, and of what was done about those that hung."""
        return self._core.evaluator.counters.statistics(self._core.target.evaluation_session_rebuilds)

    async def _make_ready(self, what: str, timeout: float) -> None:
        async with self._core.action(f"begin {what}", timeout):
            pass


@not_picklable("what it measured")
@attrs.frozen(eq=False)
class BrowserMeasure:
    """What a whole browser does: `browser.measure`."""

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
        """Trace the browser while the block runs: `async with browser.measure.trace("trace.json.gz"):`.

        The file opens in Perfetto and in Chrome's own tools: JSON, or Perfetto's own format, which is written
        and read much faster, where its name ends in ".pftrace", ".perfetto-trace" or ".pb"; ".gz" after that
        compresses. `categories` are Chrome's ("v8*" is a pattern); without them, those of Chrome's Performance
        panel. Chrome gathers in a buffer of `buffer_size` bytes (200 MB); when it is full, what comes after is
        not recorded, or with `keep_latest` what came first is dropped. At the end it is read and written piece
        by piece. `progress` is called twice a second and with every piece. The file is readable by its owner only;
        one that exists is replaced once the new one is whole, or refused where `overwrite` is False.

        After the block, `.report` tells what was written, and `data_lost`. A block that raises leaves its trace
        too, one that is cancelled leaves none; tracing ends in every case. `timeout` is for the beginning, and
        again for the end. Raises InvalidArgumentError, MeasurementBusyError when somebody traces this browser
        already, MeasurementFailedError, DeadlineExceededError.
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
