"""JobLedger: what the scheduler knows of jobs that began, so that none is done twice that may not be.

Rule: Dask gives the task of a lost worker to another one, whether or not it had begun, and does anew what had
ended where its result was lost. So each worker tells the scheduler before it begins a job, and is told who began
it before: the scheduler is the one place that outlives a worker, and that all of them ask in one order.
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
"""The resource of workers: how many pages one has. A task needs one."""


@attrs.frozen
class Beginning:
    """A job that began at a worker, so many seconds ago."""

    worker: str
    ago: float


class JobLedger(SchedulerPlugin):
    """Keeps, for each task that the scheduler has not forgotten, which workers began it."""

    name = "cdpengine.jobs"
    idempotent = True

    def __init__(self) -> None:
        self._begun: dict[Any, list[tuple[str, float]]] = {}

    async def start(self, scheduler: Scheduler) -> None:
        """Answer workers from now on. Called by the scheduler."""
        self._scheduler = scheduler
        scheduler.handlers[_BEGIN] = self._begin
        scheduler.handlers[_COUNT] = self._count

    def transition(self, key: Any, start: str, finish: str, *_args: Any, **_more: Any) -> None:  # noqa: ARG002
        """Forget what the scheduler forgets. Called by the scheduler."""
        if finish == "forgotten":
            self._begun.pop(key, None)

    async def _begin(self, key: Any, worker: str) -> list[tuple[str, float]] | None:
        if key not in self._scheduler.tasks:
            return None  # cancelled: nobody waits for it
        now = time.monotonic()
        begun = self._begun.setdefault(key, [])
        before = [(address, now - at) for address, at in begun]
        begun.append((worker, now))
        return before

    async def _count(self) -> int:
        return int(sum(each.resources.get(PAGES, 0) for each in self._scheduler.running))


async def count_pages(client: Client) -> int:
    """Ask the scheduler how many pages its workers have."""
    return int(await getattr(client.scheduler, _COUNT)())


async def begin_job(worker: Worker, key: Any) -> list[Beginning] | None:
    """Tell the scheduler that a worker begins a job, and return who began it before, oldest first.

    None where the scheduler does not know the job any more: nobody waits for it.
    """
    before = await getattr(worker.scheduler, _BEGIN)(key=key, worker=worker.address)
    return None if before is None else [Beginning(address, ago) for address, ago in before]
