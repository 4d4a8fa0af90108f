"""The scheduler's list of started jobs, so that unrepeatable jobs run at most once.

Rule: Dask gives the task of a lost worker to another one, whether or not it had started, and repeats a completed
task whose result was lost. So each worker reports a job to the scheduler before starting it, and learns of its
earlier starts. The scheduler outlives workers and handles their reports in one order.
"""

from __future__ import annotations

import time
from typing import Any

import attrs

from cdpengine.errors import packages_named

with packages_named():
    from distributed import Client, Scheduler, SchedulerPlugin, Worker

_BEGIN, _COUNT = "cdpengine_begin_job", "cdpengine_count_pages"

PAGES = "pages"
"""The resource of workers: their number of pages. A task needs one."""


@attrs.frozen
class Beginning:
    """The start of a job on a worker, `ago` seconds in the past."""

    worker: str
    ago: float


class JobLedger(SchedulerPlugin):
    """Remembers, for each task of the scheduler, which workers started it."""

    name = "cdpengine.jobs"
    idempotent = True

    def __init__(self) -> None:
        self._begun: dict[Any, list[tuple[str, float]]] = {}

    async def start(self, scheduler: Scheduler) -> None:
        """Register the handlers for workers. Called by the scheduler."""
        self._scheduler = scheduler
        scheduler.handlers[_BEGIN] = self._begin
        scheduler.handlers[_COUNT] = self._count

    def transition(self, key: Any, start: str, finish: str, *_args: Any, **_more: Any) -> None:  # noqa: ARG002
        """Forget the tasks that the scheduler forgets. Called by the scheduler."""
        if finish == "forgotten":
            self._begun.pop(key, None)

    async def _begin(self, key: Any, worker: str) -> list[tuple[str, float]] | None:
        if key not in self._scheduler.tasks:
            return None  # cancelled: no client waits for it
        now = time.monotonic()
        begun = self._begun.setdefault(key, [])
        before = [(address, now - at) for address, at in begun]
        begun.append((worker, now))
        return before

    async def _count(self) -> int:
        return int(sum(each.resources.get(PAGES, 0) for each in self._scheduler.running))


async def count_pages(client: Client) -> int:
    """Return the number of pages of the scheduler's workers."""
    return int(await getattr(client.scheduler, _COUNT)())


async def begin_job(worker: Worker, key: Any) -> list[Beginning] | None:
    """Report to the scheduler that a worker starts a job, and return its earlier starts, oldest first.

    Return None if the scheduler no longer knows the job, so that no client waits for it.
    """
    before = await getattr(worker.scheduler, _BEGIN)(key=key, worker=worker.address)
    return None if before is None else [Beginning(address, ago) for address, ago in before]
