"""BrowserMeasure: what a whole browser does, as a trace."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from cdpengine._budget import check_timeout
from cdpengine._measure.tracing import Trace, TraceOptions, TraceProgress, trace_browser
from cdpengine._page.downloads.output_file import checked_path
from cdpengine._protocol.session import Session


class BrowserMeasure:
    """The part of a Browser that measures."""

    @property
    def session(self) -> Session:
        """The browser's own session."""
        raise NotImplementedError

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
        """Trace the browser while the block runs: `async with browser.trace("trace.json.gz"):`.

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
            self.session, place, options, progress, timeout, overwrite=overwrite
        ) as trace:
            yield trace
