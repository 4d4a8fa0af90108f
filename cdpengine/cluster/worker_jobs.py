"""One job of a BrowserCluster on a worker: report its start, run it on a page, and pack its result.

Rule: Dask's task returns a result, never an error of the job, so Dask repeats only the tasks of lost workers.
Unrepeatable jobs are refused here when they arrive a second time.
"""

from __future__ import annotations

from typing import Any

from cdpengine.cluster.job_ledger import Beginning, begin_job
from cdpengine.cluster.sending import lost_attempts, pack_result, unpack, unpack_task
from cdpengine.cluster.worker import browsers_of, current_key
from cdpengine.errors import InvalidArgumentError, WorkerLostError, packages_named
from cdpengine.pool.jobs import Attempt, JobOptions, JobResult
from cdpengine.pool.pool import BrowserPool

with packages_named():
    from distributed import Reschedule, Worker, get_worker

_LOST = "it ended, or was unreachable"


async def run_page_job(task: bytes, item: bytes, index: int) -> bytes:
    """Run a job, given as a packed JobTask and a packed item, and return a packed JobResult."""
    worker = get_worker()
    browsers, key = browsers_of(worker), current_key(worker)
    begun = await begin_job(worker, key)
    if begun is None:
        raise Reschedule
    lost = _lost_attempts(begun)
    result = await browsers.run(key, lambda pool: _run(pool, task, item, index, lost))
    return pack_result(lost_attempts(result, lost, worker.address))


async def _run(
    pool: BrowserPool, task: bytes, item: bytes, index: int, lost: tuple[Attempt, ...]
) -> JobResult[Any]:
    try:
        of_all = unpack_task(task)
        of_one = unpack(f"item {index}", item)
    except InvalidArgumentError as error:
        return JobResult(index, None, None, error, ())
    left = of_all.options.get("retries", 0) - len(lost)
    if left < 0:
        return JobResult(index, None, None, lost[-1].error, ())
    try:
        return await pool.run(of_all.function, of_one, **JobOptions({**of_all.options, "retries": left}))
    except (SystemExit, KeyboardInterrupt) as error:
        # The exception would end the worker's program, which a job must not do.
        return JobResult(index, None, None, RuntimeError(f"the job raised {error!r}"), ())


def _lost_attempts(begun: list[Beginning]) -> tuple[Attempt, ...]:
    """Return the attempts that other workers began; each lasted at most until the next one began."""
    if not begun:
        return ()
    first, ends = begun[0].ago, [each.ago for each in begun[1:]] + [0.0]
    return tuple(
        Attempt(each.worker, first - each.ago, each.ago - end, WorkerLostError(each.worker, _LOST))
        for each, end in zip(begun, ends, strict=True)
    )


async def read_statistics(dask_worker: Worker) -> Any:
    """Return the statistics of a worker's pool. Sent to each worker, which passes itself as `dask_worker`."""
    return await browsers_of(dask_worker).statistics()


def has_equal_browsers(plugin: bytes, dask_worker: Worker) -> bool:
    """Return whether the pool of a worker has the same options as a packed BrowserWorker."""
    return bool(browsers_of(dask_worker) == unpack("the options of browsers", plugin))
