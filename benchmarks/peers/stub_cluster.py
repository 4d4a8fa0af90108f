"""A Dask scheduler, or many workers with stub browsers, in one process.

Rule: only the browsers are missing. Dask, its connections, the ledger of jobs and the engine's plugin of workers are those
of a cluster. A stub's job returns a short text, or first waits for its release. Each process prints a line of JSON when
it is ready, answers each line with a line, and ends with its input.

    python -m benchmarks.peers.stub_cluster scheduler
    python -m benchmarks.peers.stub_cluster workers ADDRESS COUNT
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from typing import Any

import attrs
import dask.config
from distributed import Scheduler, Worker

from benchmarks.peers.memory import resident
from cdpengine.cluster.host import CONFIGURATION
from cdpengine.cluster.job_ledger import PAGES, JobLedger
from cdpengine.cluster.worker import BrowserWorker
from cdpengine.pool.jobs import Attempt, JobResult

HELD = "held"
"""Item of a job that waits for its release."""

PAGES_OF_A_WORKER = 10
"""Number of pages, and of threads of Dask, which coroutines do not use: Dask balances by them."""

TEXT = "x" * 1_000  # the value of a job
_released = asyncio.Event()


class StubPool:
    """A pool whose pages do nothing."""

    async def run(self, _function: object, item: object, **_options: object) -> JobResult[str]:
        if item == HELD:
            await _released.wait()
        return JobResult(0, None, TEXT, None, (Attempt("a stub", 0.0, 0.0, None),))


@attrs.frozen
class StubCall:
    """A call in a StubThread."""

    task: asyncio.Task[Any]

    async def outcome(self) -> Any:
        return await self.task

    def cancel(self) -> None:
        self.task.cancel()


class StubThread:
    """The event loop of Dask, in place of a thread with trio."""

    def call(self, function: Callable[[Any], Awaitable[Any]]) -> StubCall:
        async def run() -> Any:
            return await function(StubPool())

        return StubCall(asyncio.create_task(run()))

    async def stop(self) -> None:
        """Do nothing: there is no thread."""


class StubBrowsers(BrowserWorker):
    """The engine's plugin of workers, with a StubPool."""

    async def setup(self, worker: Worker) -> None:
        self._worker, self._thread = worker, StubThread()  # type: ignore[assignment]
        await worker.set_resources(**{PAGES: self._capacity})


def size_of(value: object) -> int:
    """Return the bytes of a value with its contents, for dicts, lists and tuples."""
    inner: list[Any] = []
    if isinstance(value, dict):
        inner = [each for item in value.items() for each in item]
    elif isinstance(value, list | tuple):
        inner = list(value)
    return sys.getsizeof(value) + sum(map(size_of, inner))


def statistics_of(scheduler: Scheduler) -> dict[str, Any]:
    ledger = scheduler.plugins.get(JobLedger.name)
    begun = ledger._begun if isinstance(ledger, JobLedger) else {}  # noqa: SLF001
    return {
        "cpu": time.process_time(),
        "mb": resident(os.getpid()),
        "workers": len(scheduler.workers),
        "started": len(begun),
        "lost": sum(starts[-1][0] not in scheduler.workers for starts in begun.values()),
        "restarted": sum(len(starts) > 1 for starts in begun.values()),
        "ledger_bytes": size_of(begun),
    }


async def answer_lines(answer: Callable[[], dict[str, Any]]) -> None:
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(answer()), flush=True)


async def run_scheduler() -> None:
    async with Scheduler(host="127.0.0.1", port=0, dashboard=False) as scheduler:
        print(json.dumps({"address": scheduler.address}), flush=True)
        await answer_lines(lambda: statistics_of(scheduler))
        os._exit(0)  # without waiting for its workers


async def run_workers(address: str, count: int) -> None:
    def release() -> dict[str, Any]:
        _released.set()
        return {}

    with tempfile.TemporaryDirectory(prefix="stubs-", ignore_cleanup_errors=True) as folder:
        options: dict[str, Any] = {
            "nthreads": PAGES_OF_A_WORKER,
            "memory_limit": 0,
            "dashboard": False,
            "host": "127.0.0.1",
        }
        for _ in range(count):
            await Worker(address, local_directory=folder, **options)
        print(json.dumps({"workers": count}), flush=True)
        await answer_lines(release)
    os._exit(0)


if __name__ == "__main__":
    # The plugin's module, so that a release reaches the jobs.
    from benchmarks.peers.stub_cluster import run_scheduler, run_workers

    dask.config.set(CONFIGURATION)
    _, kind, *rest = sys.argv
    asyncio.run(run_scheduler() if kind == "scheduler" else run_workers(rest[0], int(rest[1])))
