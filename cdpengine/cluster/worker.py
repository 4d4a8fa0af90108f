"""BrowserWorker: a pool of browsers on each worker of Dask, which starts and ends with the worker.

Rule: the pool runs with trio in a separate thread, and tasks are coroutines in the worker's event loop, so pages
use no threads of the worker. A worker's resource `pages` is the capacity of its pool: it is set when the pool is
ready, and removed when it ends. When Dask cancels a task, it is immediately cancelled in trio, because Dask itself
stops no coroutine. Tasks that end because their worker ends are returned to Dask, which gives them to another
worker.
"""

from __future__ import annotations

import asyncio
import functools
import time
from collections.abc import Awaitable, Callable, Coroutine
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from cdpengine.cluster.job_ledger import PAGES
from cdpengine.cluster.sending import pack
from cdpengine.cluster.trio_thread import CallCancelled, TrioCall, TrioThread, TrioThreadEnded
from cdpengine.errors import InvalidArgumentError, PoolUnavailableError, packages_named
from cdpengine.pool.jobs import JobFunction, JobOptions, JobPlan
from cdpengine.pool.members import BrowserLimits, LaunchOptions, Members
from cdpengine.pool.pool import BrowserPool
from cdpengine.pool.statistics import PoolStatistics

with packages_named():
    from distributed import Reschedule, Worker, WorkerPlugin, get_worker
    from distributed.worker_state_machine import SecedeEvent

if TYPE_CHECKING:
    from cdpengine.pool.manners.manners import Manners

Item = TypeVar("Item")
Value = TypeVar("Value")

_RUNNING = ("executing", "long-running")
"""States of a running task of Dask."""


class BrowserWorker(WorkerPlugin):
    """A Dask plugin that runs a pool on each worker: `client.register_plugin(BrowserWorker(browsers=2))`.

    `browsers`, `pages`, `limits`, `launch`, `manners` and `timeout` are passed to the BrowserPool of each worker.
    The plugin is `idempotent` by its `name`, so registering a second one changes nothing;
    `client.unregister_worker_plugin("cdpengine.browsers")` removes the first. Submit tasks with
    `resources={"pages": 1}`. Raises InvalidArgumentError.
    """

    name = "cdpengine.browsers"
    idempotent = True

    def __init__(
        self,
        browsers: int | Members | list[Members] = 1,
        *,
        pages: int = 10,
        limits: BrowserLimits | None = None,
        launch: LaunchOptions | None = None,
        manners: Manners | None = None,
        timeout: float = 60,
    ) -> None:
        self._options: dict[str, Any] = {
            "browsers": browsers, "pages": pages, "limits": limits, "launch": launch, "manners": manners,
            "timeout": timeout,
        }  # fmt: skip
        self._capacity = self._make().capacity
        self._worker: Worker | None = None
        self._thread: TrioThread[BrowserPool] | None = None
        self._calls: dict[Any, TrioCall[Any]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self._options

    def __setstate__(self, options: dict[str, Any]) -> None:
        self.__init__(**options)  # type: ignore[misc]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BrowserWorker) and repr(other._options) == repr(self._options)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return f"<BrowserWorker {self._capacity} pages>"

    def _make(self) -> BrowserPool:
        return BrowserPool(**self._options)

    # --- called by the worker --------------------------------------------------------------------------------

    async def setup(self, worker: Worker) -> None:
        """Start the pool, and offer its pages as the worker's resource.

        Called by Dask. Raises the errors of the pool's start.
        """
        thread = TrioThread(self._make, name="cdpengine pool")
        await thread.start()
        self._worker, self._thread = worker, thread
        await worker.set_resources(**{PAGES: self._capacity})

    async def teardown(self, worker: Worker) -> None:
        """End the pool, and wait until it has ended. Called by Dask."""
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        await thread.stop()
        if worker.status.name == "running":
            await worker.set_resources(**{PAGES: 0})

    def transition(self, key: Any, start: str, finish: str, **_more: object) -> None:
        """Cancel the tasks that Dask drops. Called by Dask."""
        if start in _RUNNING and finish == "released" and (call := self._calls.get(key)) is not None:
            call.cancel()

    # --- called by tasks -------------------------------------------------------------------------------------

    async def run(self, key: Any, function: Callable[[BrowserPool], Awaitable[Value]]) -> Value:
        """Run `await function(pool)` for the task of that key, which must be the calling task.

        Raises distributed.Reschedule if it is cancelled, or the worker ends.
        """
        worker, thread = self._worker, self._thread
        task = None if worker is None else worker.state.tasks.get(key)
        if worker is None or thread is None or task is None or task.state not in _RUNNING:
            raise Reschedule
        if worker.state.nthreads < self._capacity and task.state == "executing":
            _secede(worker, key)
        call = thread.call(function)
        self._calls[key] = call
        try:
            return await call.outcome()
        except (CallCancelled, TrioThreadEnded):
            raise Reschedule from None
        except PoolUnavailableError as error:
            if not error.closed:
                raise
            raise Reschedule from None
        finally:
            del self._calls[key]

    async def statistics(self) -> PoolStatistics | None:
        """Return the statistics of the worker's pool, or None if it has ended."""
        if self._thread is None:
            return None
        try:
            return await self._thread.call(_read_statistics).outcome()
        except TrioThreadEnded:
            return None


async def _read_statistics(pool: BrowserPool) -> PoolStatistics:
    return pool.statistics()


def browsers_of(worker: Worker) -> BrowserWorker:
    """Return the BrowserWorker of a worker. Raises InvalidArgumentError if it has none."""
    plugin = worker.plugins.get(BrowserWorker.name)
    if not isinstance(plugin, BrowserWorker):
        raise InvalidArgumentError(
            what=f"the worker {worker.address}",
            given="one without browsers",
            expected='client.register_plugin(BrowserWorker(...)) first, and resources={"pages": 1} with each task',
        )
    return plugin


def current_key(worker: Worker) -> Any:
    """Return the key of the calling task, a coroutine of a worker."""
    task = asyncio.current_task()
    assert task is not None
    # Dask gives the key only to tasks in threads, but it names a coroutine's asyncio task after the key.
    name = task.get_name()
    for each in (*worker.state.executing, *worker.state.long_running):
        if name == f"execute({each.key!r})":
            return each.key
    raise Reschedule  # already dropped


def on_page(
    function: JobFunction[Item, Value], **options: Unpack[JobOptions]
) -> Callable[[Item], Coroutine[Any, Any, Value]]:
    """Return a task function for Dask, which runs `await function(page, item)` on a page of the worker's pool.

    Submit it with `client.submit(on_page(function), item, resources={"pages": 1})`, on workers with a
    BrowserWorker. The task returns the function's value and raises its exceptions, and InvalidArgumentError if the
    value cannot be pickled. `options` are the fields of JobOptions. Dask handles retries and the tasks of lost
    workers, which it repeats. Raises InvalidArgumentError.
    """
    JobPlan.checked(options)

    @functools.wraps(function)
    async def run_on_page(item: Item) -> Value:
        worker = get_worker()
        result = await browsers_of(worker).run(
            current_key(worker), lambda pool: pool.run(function, item, **options)
        )
        value = result.unwrap()
        # Dask would treat an unpicklable value as lost, and repeat the job forever.
        pack("the value of a job", value)
        return value

    return run_on_page


def _secede(worker: Worker, key: Any) -> None:
    """Mark the task as one without a thread, so that only the resource limits the pages."""
    now = time.time()
    worker.handle_stimulus(SecedeEvent(key=key, compute_duration=0.0, stimulus_id=f"cdpengine-secede-{now}"))
