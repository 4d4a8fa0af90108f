"""DaskClient: the connection of a BrowserCluster to its scheduler. Awaited on asyncio's side.

Rule: a job is one task of Dask with a unique key, so it shares no state with other jobs, and its future is
released when its result arrives. Dask's exceptions become the engine's errors.
"""

from __future__ import annotations

import asyncio
import uuid
from typing import cast

from cdpengine.cluster.sending import pack, unavailable_error
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    WorkerLostError,
    packages_named,
)
from cdpengine.pool.statistics import PoolStatistics

with packages_named():
    from distributed import Client, KilledWorker
    from distributed.client import FutureCancelledError

    from cdpengine.cluster.job_ledger import PAGES, JobLedger, count_pages
    from cdpengine.cluster.worker import BrowserWorker
    from cdpengine.cluster.worker_jobs import has_equal_browsers, read_statistics, run_page_job

_CLOSING = 5.0
"""Maximum duration of leaving the scheduler, in seconds."""


class DaskClient:
    """A client of the scheduler at `address`, with a pool on each of its workers. Created in the event loop."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._connection: Client | None = None
        self._program = uuid.uuid4().hex[:12]
        self._number = 0

    async def connect(self, browsers: BrowserWorker, seconds: float) -> None:
        """Connect, start a pool on each worker, and wait until one offers pages. Always call `close` afterwards.

        Raises PoolUnavailableError, and the errors of a pool's start.
        """
        try:
            self._connection = Client(  # type: ignore[no-untyped-call]
                self._address,
                asynchronous=True,
                timeout=min(seconds, 1e6),
                set_as_default=False,
                name="cdpengine",
            )
            await self._connection
        except (OSError, ValueError) as error:
            raise unavailable_error(self._address, str(error)) from error
        await self._register(browsers)
        while not await self.count_pages():  # noqa: ASYNC110 - Dask has no event for resources
            await asyncio.sleep(_LOOK)

    @property
    def _client(self) -> Client:
        assert self._connection is not None
        return self._connection

    async def _register(self, browsers: BrowserWorker) -> None:
        try:
            await self._client.register_plugin(JobLedger())
            await self._client.register_plugin(browsers)
            equal = await self._client.run(has_equal_browsers, pack("the options of browsers", browsers))
        except EngineError:
            raise
        except Exception as error:
            raise unavailable_error(
                self._address,
                f"it, or a worker, refused the browser plugin ({type(error).__name__}: {error}). Is "
                "cdpengine[cluster] installed there, in the same version?",
            ) from error
        if not all(equal.values()):
            raise InvalidArgumentError(
                what=f"browsers of the cluster at {self._address}",
                given="options that differ from its workers' pools",
                expected="the same, or their end: client.unregister_worker_plugin('cdpengine.browsers')",
            )

    async def close(self) -> None:
        """Leave the scheduler."""
        if self._connection is None:
            return
        try:
            await asyncio.wait_for(self._connection.close(), _CLOSING)  # type: ignore[no-untyped-call]
        except (TimeoutError, OSError):
            return  # the scheduler is gone, and this client with it

    async def count_pages(self) -> int:
        """Return the number of pages that all workers offer now."""
        try:
            return await count_pages(self._client)
        except OSError as error:
            raise unavailable_error(self._address, str(error)) from error

    async def statistics(self) -> dict[str, PoolStatistics]:
        """Return the statistics of each worker's pool, by the address of the worker."""
        read = await self._client.run(read_statistics, on_error="ignore")
        return {address: each for address, each in read.items() if each is not None}

    async def run(self, task: bytes, item: bytes, index: int, priority: int) -> bytes:
        """Run a job and return its packed result. Cancelling this call cancels the job.

        Raises WorkerLostError, PoolUnavailableError.
        """
        self._number += 1
        future = self._client.submit(
            run_page_job,
            task,
            item,
            index,
            key=f"page-job-{self._program}-{self._number}",
            resources={PAGES: 1},
            priority=priority,
            pure=False,
        )
        try:
            return cast("bytes", await future)
        except KilledWorker as error:
            raise WorkerLostError(
                worker=error.last_worker.address,
                reason=f"the job has lost {error.allowed_failures} other workers before",
            ) from error
        except FutureCancelledError as error:
            # Dask dropped the job: the scheduler ended or restarted, or another client cancelled it.
            raise unavailable_error(self._address, str(error)) from error
        finally:
            if not future.done():  # type: ignore[no-untyped-call]
                await future.cancel(reason="cancelled", force=True)  # type: ignore[no-untyped-call]
            future.release()  # type: ignore[no-untyped-call]


_LOOK = 0.1
"""Seconds between two checks of the list of workers, which Dask updates itself."""
