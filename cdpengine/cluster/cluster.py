"""BrowserCluster: jobs on the browsers of many machines or processes, from a program on trio.

Rule: a job has exactly one outcome, even if workers fail, and runs at most once unless it is declared repeatable
(`retries`). Items are pulled as results are taken, as in a pool. No wait is endless: if no worker offers pages
within the cluster's `timeout`, or the scheduler is lost, the jobs end with an error.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

import trio

from cdpengine._budget import Budget, check_timeout, within
from cdpengine._checks import check_count, invalid
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine.cluster.asyncio_thread import AsyncioThread, open_asyncio_thread
from cdpengine.cluster.local_cluster import open_local_cluster
from cdpengine.cluster.sending import JobTask, pack, unavailable_error, unpack_result
from cdpengine.errors import (
    EngineError,
    InvalidArgumentError,
    PoolUnavailableError,
)
from cdpengine.errors.misuse import refuse_await
from cdpengine.errors.texts import duration
from cdpengine.pool.jobs import JobFunction, JobOptions, JobPlan, JobResult, JobResults, JobRun, prepare_run
from cdpengine.pool.members import BrowserLimits, LaunchOptions, Members
from cdpengine.pool.one_time_block import BlockEnteredOnce
from cdpengine.pool.pool import BrowserPool
from cdpengine.pool.statistics import PoolStatistics

if TYPE_CHECKING:
    from cdpengine.cluster.dask_client import DaskClient
    from cdpengine.pool.manners.manners import Manners

Item = TypeVar("Item")
Value = TypeVar("Value")

_LOOK = 1.0
"""Seconds between two checks for workers with pages."""

_SOON = 0.2
"""Seconds between two checks while no worker has pages."""


@not_picklable("its statistics")
class BrowserCluster:
    """The browsers of Dask's workers. `async with BrowserCluster("tcp://scheduler:8786", pages=10) as cluster`.

    Without a scheduler, a local one is started for the block, with `workers` processes, by default as many as
    processors. `browsers`, `pages`, `limits`, `launch`, `manners` and `timeout` are passed to the BrowserPool of
    each worker, including later workers. `timeout` (seconds) also limits the time without any pages, at the start
    and later. If you pass a scheduler, the pools of its workers remain when the block ends.

    Entering the block waits for the first pages. Raises PoolUnavailableError, PackageMissingError, the errors
    of a pool's start, and InvalidArgumentError, also if the workers already have pools with other options.
    """

    def __init__(
        self,
        scheduler: str | None = None,
        *,
        workers: int | None = None,
        browsers: int | Members | Sequence[Members] = 1,
        pages: int = 10,
        limits: BrowserLimits | None = None,
        launch: LaunchOptions | None = None,
        manners: Manners | None = None,
        timeout: float = 60,
    ) -> None:
        if scheduler is not None and (not isinstance(scheduler, str) or "://" not in scheduler):
            raise invalid("scheduler", scheduler, 'an address such as "tcp://127.0.0.1:8786"')
        if scheduler is not None and workers is not None:
            raise invalid("workers", workers, "None: the scheduler has its own")
        self._workers = _count_processors() if workers is None else check_count("workers", workers, least=1)
        self._options: dict[str, Any] = {
            "browsers": browsers, "pages": pages, "limits": limits, "launch": launch, "manners": manners,
            "timeout": timeout,
        }  # fmt: skip
        self._pages_each = BrowserPool(**self._options).capacity
        self._scheduler = scheduler
        self._timeout = check_timeout(timeout)
        self._capacity = 0
        self._jobs: dict[trio.CancelScope, PoolUnavailableError | None] = {}
        self._block = BlockEnteredOnce("a cluster", self._running)
        self._nursery: trio.Nursery | None = None
        self._thread: AsyncioThread | None = None
        self._client: DaskClient | None = None

    def __repr__(self) -> str:
        return f"<BrowserCluster {self._capacity} pages>"

    if not TYPE_CHECKING:
        __await__ = refuse_await("async with BrowserCluster(...) as cluster:")

    @property
    def scheduler(self) -> str | None:
        """The address of the scheduler, also of a local one once it is started."""
        return self._scheduler

    @property
    def capacity(self) -> int:
        """Number of pages that all workers offer, at the last check."""
        return self._capacity

    # --- its block -------------------------------------------------------------------------------------------

    async def __aenter__(self) -> Self:
        await self._block.enter()
        return self

    async def __aexit__(self, *ended: object) -> bool | None:
        return await self._block.leave(*ended)

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        budget = Budget.start("start a cluster", self._timeout)
        async with AsyncExitStack() as block:
            if self._scheduler is None:
                self._scheduler = await block.enter_async_context(
                    open_local_cluster(self._workers, self._pages_each, budget.remaining)
                )
            self._thread = await block.enter_async_context(open_asyncio_thread())
            with budget.scope() as starting:
                self._client = await self._thread.call(_make_client, self._scheduler)
                block.push_async_callback(self._leave, self._client)
                await self._thread.call(_connect, self._client, self._options, budget.remaining)
                self._capacity = await self._thread.call(self._client.count_pages)
            if starting.cancelled_caught:
                reason = f"no worker had pages within {duration(self._timeout)}"
                raise unavailable_error(self._scheduler, reason)
            async with open_body_nursery() as nursery:
                self._nursery = nursery
                nursery.start_soon(self._watch)
                try:
                    yield
                finally:
                    self._nursery = None

    async def _leave(self, client: DaskClient) -> None:
        assert self._thread is not None
        self._client = None
        with trio.CancelScope(shield=True):  # `close` has its own deadline
            await self._thread.call(client.close)

    def _check_open(self, action: str) -> tuple[AsyncioThread, DaskClient, trio.Nursery]:
        if self._thread is None or self._client is None or self._nursery is None:
            reason = "has ended" if self._block.was_entered else "has not begun"
            raise PoolUnavailableError(action, f"the cluster {reason}", closed=True)
        return self._thread, self._client, self._nursery

    async def _watch(self) -> None:
        """End all jobs if no worker has had pages for too long."""
        last = trio.current_time()
        while True:
            thread, client, _ = self._check_open("look for workers")
            self._capacity = await thread.call(client.count_pages)
            now = trio.current_time()
            last = now if self._capacity else last
            if now - last > self._timeout:
                reason = f"it has had no worker with pages for {duration(self._timeout)}"
                for scope in self._jobs:
                    self._jobs[scope] = unavailable_error(str(self._scheduler), reason)
                    scope.cancel()
            await trio.sleep(_LOOK if self._capacity else _SOON)

    # --- jobs ------------------------------------------------------------------------------------------------

    async def run(
        self, function: JobFunction[Item, Value], item: Item, **options: Unpack[JobOptions]
    ) -> JobResult[Value]:
        """Run one job, `await function(page, item)`, on a page of a worker, and return its result.

        The result contains the function's exception, or InvalidArgumentError if the item or value cannot be
        pickled, or WorkerLostError. `options` are the fields of JobOptions. Raises InvalidArgumentError, also for
        a function that cannot be pickled, and PoolUnavailableError. A cancellation propagates and frees the page.
        """
        self._check_open("do a job")
        result: JobResult[Value] = await self._do(_pack_task(function, options), options, 0, item)
        if isinstance(result.error, PoolUnavailableError):
            raise result.error
        return result

    def map(
        self,
        function: JobFunction[Item, Value],
        items: Iterable[Item] | AsyncIterable[Item],
        *,
        ordered: bool = False,
        ahead: int | None = None,
        **options: Unpack[JobOptions],
    ) -> JobResults[Value]:
        """Run `await function(page, item)` for each item. Iterate over the results with `async for`.

        Works like `pool.map`, but on the pages of all workers. The default of `ahead` is twice the cluster's
        capacity. The results contain the same errors as the result of `run`. Raises InvalidArgumentError,
        also for a function that cannot be pickled.
        """
        _, _, nursery = self._check_open("begin jobs")
        task = _pack_task(function, options)
        run = prepare_run(
            lambda index, item: self._do(task, options, index, item),
            items,
            ordered=ordered,
            ahead=2 * self._capacity if ahead is None else ahead,
            count=_count_nothing,
        )
        nursery.start_soon(run.run)
        return JobResults(cast("JobRun[Any, Value]", run))

    async def _do(self, task: bytes, options: JobOptions, index: int, item: object) -> JobResult[Any]:
        thread, client, _ = self._check_open("do a job")
        try:
            data = pack(f"item {index}", item)
        except InvalidArgumentError as error:
            await trio.lowlevel.checkpoint()
            return JobResult(index, item, None, error, ())
        scope = trio.CancelScope()
        self._jobs[scope] = None
        try:
            with scope:
                packed = await thread.call(client.run, task, data, index, options.get("priority", 0))
                return unpack_result(packed, index, item)
        except EngineError as error:
            return JobResult(index, item, None, error, ())
        finally:
            unavailable = self._jobs.pop(scope)
        return JobResult(index, item, None, unavailable, ())

    async def statistics(self, *, timeout: float = 30) -> dict[str, PoolStatistics]:
        """Return the statistics of each worker's pool, by the address of the worker.

        Raises DeadlineExceededError, PoolUnavailableError.
        """
        thread, client, _ = self._check_open("read statistics")
        with within("read the statistics of a cluster", timeout):
            return await thread.call(client.statistics)


async def _make_client(scheduler: str) -> DaskClient:
    # Imported here, because Dask's import takes half a second: it happens in the thread and does not block trio.
    from cdpengine.cluster.dask_client import DaskClient

    return DaskClient(scheduler)


async def _connect(client: DaskClient, options: dict[str, Any], seconds: float) -> None:
    from cdpengine.cluster.worker import BrowserWorker

    await client.connect(BrowserWorker(**options), seconds)


def _pack_task(function: JobFunction[Any, Any], options: JobOptions) -> bytes:
    JobPlan.checked(options)
    return pack("the function", JobTask(function, options))


def _count_nothing(_result: JobResult[Any]) -> None:
    """Do nothing: each worker counts its own jobs."""


def _count_processors() -> int:
    return os.cpu_count() or 1
