"""BrowserCluster: jobs on the browsers of many machines, or of many processes, from a program on trio.

Rule: a job has exactly one outcome, whatever becomes of workers, and is done once at most unless it is declared
repeatable (`retries`). Items are pulled as results are taken, as in a pool. Nobody waits without an end: where no
worker has offered pages for the cluster's `timeout`, or the scheduler is gone, the jobs end by name.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Self, TypeVar, Unpack, cast

import trio

from cdpengine._budget import Budget, check_timeout, within
from cdpengine._nursery import open_body_nursery
from cdpengine._pickling import not_picklable
from cdpengine.cluster.asyncio_thread import AsyncioThread, open_asyncio_thread
from cdpengine.cluster.local_cluster import open_local_cluster
from cdpengine.cluster.sending import JobTask, pack, unpack_result
from cdpengine.errors import (
    ClusterUnavailableError,
    EngineError,
    InvalidArgumentError,
    NotSendableError,
    PoolClosedError,
)
from cdpengine.pool.block import BlockEnteredOnce
from cdpengine.pool.jobs import JobFunction, JobOptions, JobPlan, JobResult, JobResults, JobRun, prepare_run
from cdpengine.pool.members import BrowserLimits, LaunchOptions, Members, check_count
from cdpengine.pool.pool import BrowserPool
from cdpengine.pool.statistics import PoolStatistics

if TYPE_CHECKING:
    from cdpengine.cluster.dask_client import DaskClient
    from cdpengine.pool.manners.manners import Manners

Item = TypeVar("Item")
Value = TypeVar("Value")

_LOOK = 1.0
"""Seconds between two looks at whether there are workers with pages."""

_SOON = 0.2
"""Seconds between two looks while there are none."""


@not_picklable("its statistics")
class BrowserCluster:
    """Browsers of the workers of Dask. `async with BrowserCluster("tcp://scheduler:8786", pages=10) as cluster`.

    Without a scheduler, one is started on this machine for the block, with `workers` processes, as many as there
    are processors by default. `browsers`, `pages`, `limits`, `launch`, `manners` and `timeout` are those of
    BrowserPool, for the pool that each worker keeps, also one that comes later. `timeout` (seconds) is also for
    how long there may be no worker with pages, at the start and later. The pools of a scheduler of your own stay
    when the block ends.

    Entering the block waits for the first pages. Raises ClusterUnavailableError, PackageMissingError, what the
    start of a pool raised, and InvalidArgumentError, also where workers keep pools of other options already.
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
            raise InvalidArgumentError(
                what="scheduler",
                given=repr(scheduler)[:80],
                expected='an address such as "tcp://127.0.0.1:8786"',
            )
        if scheduler is not None and workers is not None:
            raise InvalidArgumentError(
                what="workers", given=repr(workers)[:80], expected="None: the scheduler has its own"
            )
        self._workers = _count_processors() if workers is None else check_count("workers", workers)
        self._options: dict[str, Any] = {
            "browsers": browsers, "pages": pages, "limits": limits, "launch": launch, "manners": manners,
            "timeout": timeout,
        }  # fmt: skip
        self._pages_each = BrowserPool(**self._options).capacity
        self._scheduler = scheduler
        self._timeout = check_timeout(timeout)
        self._capacity = 0
        self._jobs: dict[trio.CancelScope, ClusterUnavailableError | None] = {}
        self._block = BlockEnteredOnce("a cluster", self._running)
        self._nursery: trio.Nursery | None = None
        self._thread: AsyncioThread | None = None
        self._client: DaskClient | None = None

    def __repr__(self) -> str:
        return f"<BrowserCluster {self._capacity} pages>"

    @property
    def scheduler(self) -> str | None:
        """The address of the scheduler; of one that the block starts, from then on."""
        return self._scheduler

    @property
    def capacity(self) -> int:
        """How many pages all workers offer, as last seen."""
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
                reason = f"no worker had pages within {self._timeout:g} s"
                raise ClusterUnavailableError(scheduler=self._scheduler, reason=reason)
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
        with trio.CancelScope(shield=True):  # `close` has a deadline of its own
            await self._thread.call(client.close)

    def _check_open(self, action: str) -> tuple[AsyncioThread, DaskClient, trio.Nursery]:
        if self._thread is None or self._client is None or self._nursery is None:
            reason = "has ended" if self._block.was_entered else "has not begun"
            raise PoolClosedError(action=action, reason=reason)
        return self._thread, self._client, self._nursery

    async def _watch(self) -> None:
        """End all jobs where there has been no worker with pages for too long."""
        last = trio.current_time()
        while True:
            thread, client, _ = self._check_open("look for workers")
            self._capacity = await thread.call(client.count_pages)
            now = trio.current_time()
            last = now if self._capacity else last
            if now - last > self._timeout:
                reason = f"it has had no worker with pages for {self._timeout:g} s"
                for scope in self._jobs:
                    self._jobs[scope] = ClusterUnavailableError(scheduler=str(self._scheduler), reason=reason)
                    scope.cancel()
            await trio.sleep(_LOOK if self._capacity else _SOON)

    # --- jobs ------------------------------------------------------------------------------------------------

    async def run(
        self, function: JobFunction[Item, Value], item: Item, **options: Unpack[JobOptions]
    ) -> JobResult[Value]:
        """Do one job, `await function(page, item)`, on a page of some worker, and return its result.

        What the function raises is in the result; so is NotSendableError, where the item or the value cannot be
        pickled, and WorkerLostError. `options` are those of JobOptions. Raises InvalidArgumentError,
        NotSendableError for the function, ClusterUnavailableError; cancellation passes through, and frees the
        page.
        """
        self._check_open("do a job")
        result: JobResult[Value] = await self._do(_pack_task(function, options), options, 0, item)
        if isinstance(result.error, ClusterUnavailableError):
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
        """Do `await function(page, item)` for each item; `async for result in cluster.map(...)` has the results.

        All as with `pool.map`, but on the pages of all workers. `ahead` is twice the cluster's capacity by
        default. What `run` has in its results is in these. Raises InvalidArgumentError, NotSendableError for the
        function.
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
        except NotSendableError as error:
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
        """Return the statistics of the pool of each worker, by the address of the worker.

        Raises DeadlineExceededError, PoolClosedError.
        """
        thread, client, _ = self._check_open("read statistics")
        with within("read the statistics of a cluster", timeout):
            return await thread.call(client.statistics)


async def _make_client(scheduler: str) -> DaskClient:
    # Here, as what Dask is takes half a second to import: in the thread, and not while trio waits.
    from cdpengine.cluster.dask_client import DaskClient

    return DaskClient(scheduler)


async def _connect(client: DaskClient, options: dict[str, Any], seconds: float) -> None:
    from cdpengine.cluster.worker import BrowserWorker

    await client.connect(BrowserWorker(**options), seconds)


def _pack_task(function: JobFunction[Any, Any], options: JobOptions) -> bytes:
    JobPlan.checked(options)
    return pack("the function", JobTask(function, options))


def _count_nothing(_result: JobResult[Any]) -> None:
    """Workers count, each its own."""


def _count_processors() -> int:
    return os.cpu_count() or 1
