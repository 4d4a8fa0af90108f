"""BrowserWorker: a pool of browsers on each worker of Dask, started and ended with it.

Rule: the pool runs with trio in a thread of its own, and tasks are coroutines in the worker's event loop, so pages
take no threads of the worker. The resource `pages` of a worker is the capacity of its pool: set when the pool is
ready, taken back when it ends. A task that Dask cancels is cancelled in trio at once, as Dask stops no coroutine
itself. What ends because its worker ends is handed back to Dask, which gives it to another one.
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
from cdpengine.errors import InvalidArgumentError, PoolClosedError, packages_named
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
"""States of a task of Dask that is being done."""


class BrowserWorker(WorkerPlugin):
    """A pool on each worker of Dask: `client.register_plugin(BrowserWorker(browsers=2, pages=10))`.

    `browsers`, `pages`, `limits`, `launch`, `manners` and `timeout` are those of BrowserPool, for each worker.
    Dask knows it by its `name`, and as it is `idempotent`, a second one that is registered changes nothing;
    `client.unregister_worker_plugin("cdpengine.browsers")` takes the first away. Tasks are submitted with
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
        """Start the pool, and have the worker offer its pages.

        Dask does this. Raises what the pool's start does.
        """
        thread = TrioThread(self._make, name="cdpengine pool")
        await thread.start()
        self._worker, self._thread = worker, thread
        await worker.set_resources(**{PAGES: self._capacity})

    async def teardown(self, worker: Worker) -> None:
        """End the pool, and wait until nothing is left of it. Dask does this."""
        if self._thread is None:
            return
        thread, self._thread = self._thread, None
        await thread.stop()
        if worker.status.name == "running":
            await worker.set_resources(**{PAGES: 0})

    def transition(self, key: Any, start: str, finish: str, **_more: object) -> None:
        """Cancel what Dask gives up. Dask does this."""
        if start in _RUNNING and finish == "released" and (call := self._calls.get(key)) is not None:
            call.cancel()

    # --- asked by tasks --------------------------------------------------------------------------------------

    async def run(self, key: Any, function: Callable[[BrowserPool], Awaitable[Value]]) -> Value:
        """Do `await function(pool)` for the task of that key, in which this is called.

        Raises distributed.Reschedule when it was cancelled, or the worker ends.
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
        except (CallCancelled, TrioThreadEnded, PoolClosedError):
            raise Reschedule from None
        finally:
            del self._calls[key]

    async def statistics(self) -> PoolStatistics | None:
        """Return the statistics of the worker's pool; None where it has ended."""
        if self._thread is None:
            return None
        try:
            return await self._thread.call(_read_statistics).outcome()
        except TrioThreadEnded:
            return None


async def _read_statistics(pool: BrowserPool) -> PoolStatistics:
    return pool.statistics()


def browsers_of(worker: Worker) -> BrowserWorker:
    """Return the BrowserWorker of a worker. Raises InvalidArgumentError where there is none."""
    plugin = worker.plugins.get(BrowserWorker.name)
    if not isinstance(plugin, BrowserWorker):
        raise InvalidArgumentError(
            what=f"the worker {worker.address}",
            given="one without browsers",
            expected='client.register_plugin(BrowserWorker(...)) first, and resources={"pages": 1} with each task',
        )
    return plugin


def current_key(worker: Worker) -> Any:
    """Return the key of the task in which this is called, a coroutine of a worker."""
    task = asyncio.current_task()
    assert task is not None
    # Dask says the key to tasks in threads only. A coroutine's asyncio task is named for it.
    name = task.get_name()
    for each in (*worker.state.executing, *worker.state.long_running):
        if name == f"execute({each.key!r})":
            return each.key
    raise Reschedule  # given up already


def on_page(
    function: JobFunction[Item, Value], **options: Unpack[JobOptions]
) -> Callable[[Item], Coroutine[Any, Any, Value]]:
    """Return a function for Dask, of an item: it does `await function(page, item)` on a page of the worker's pool.

    `client.submit(on_page(function), item, resources={"pages": 1})`, on workers with a BrowserWorker. It returns
    what the function returns, and raises what that raises; NotSendableError where the value cannot be pickled.
    `options` are those of JobOptions. Retries, and what happens to the tasks of a lost worker, are Dask's: it does
    them again. Raises InvalidArgumentError.
    """
    JobPlan.checked(options)

    @functools.wraps(function)
    async def run_on_page(item: Item) -> Value:
        worker = get_worker()
        result = await browsers_of(worker).run(
            current_key(worker), lambda pool: pool.run(function, item, **options)
        )
        value = result.unwrap()
        # Dask would take a value that cannot be pickled for a lost one, and do it again without an end.
        pack("the value of a job", value)
        return value

    return run_on_page


def _secede(worker: Worker, key: Any) -> None:
    """Have the task count as one without a thread: what limits pages is the resource alone."""
    now = time.time()
    worker.handle_stimulus(SecedeEvent(key=key, compute_duration=0.0, stimulus_id=f"cdpengine-secede-{now}"))
