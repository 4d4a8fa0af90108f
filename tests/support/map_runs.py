"""Runs of `MapRun` without a browser: the pool's code runs the jobs, with None instead of pages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, Unpack, cast

import trio

from cdpengine._nursery import open_body_nursery
from cdpengine.pool import JobOptions, JobResults
from cdpengine.pool.jobs import JobFunction, JobPlan, LeasedForJob, prepare_run, run_job


class PagelessPool:
    """Runs jobs as a pool does, `pages` at a time, with None for a page."""

    def __init__(self, nursery: trio.Nursery, pages: int) -> None:
        self._nursery = nursery
        self._room = trio.CapacityLimiter(pages)
        self._ahead = 2 * pages

    @asynccontextmanager
    async def _lease(self, _plan: JobPlan, _item: object) -> AsyncIterator[LeasedForJob]:
        async with self._room:
            yield LeasedForJob(cast("Any", None), "browser 1.1")

    def map(
        self,
        function: JobFunction[Any, Any],
        items: Any,
        *,
        ahead: int | None = None,
        **options: Unpack[JobOptions],
    ) -> JobResults[Any]:
        """Start the jobs."""
        plan = JobPlan.checked(options)
        run = prepare_run(
            lambda index, item: run_job(self._lease, function, index, item, plan), items, ordered=False,
            ahead=ahead or self._ahead, count=lambda _result: None,
        )  # fmt: skip
        self._nursery.start_soon(run.run)
        return JobResults(run)


@asynccontextmanager
async def pageless_pool(pages: int = 3) -> AsyncIterator[PagelessPool]:
    """Yield such a pool."""
    async with open_body_nursery() as nursery:
        yield PagelessPool(nursery, pages)


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a file, each decoded from JSON. Every line must be complete."""
    text = path.read_text("utf-8") if path.exists() else ""
    assert not text or text.endswith("\n")
    return [json.loads(line) for line in text.splitlines()]


def outcomes_of(output: Path) -> Counter[int]:
    """Return the number of outcomes of each input, by line."""
    failures = output.with_name(f"{output.stem}.failures.jsonl")
    return Counter(each["line"] for path in (output, failures) for each in lines_of(path))


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """Limit files of this process to `size` bytes. Writes are cut there, then fail."""
    import resource

    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
