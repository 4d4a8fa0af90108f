"""A cluster of 1,000 workers on this machine: the scheduler's throughput, memory, and recovery from lost workers.

Rule: Dask's scheduler, the engine's ledger and client are real, and the browsers are stubs (`stub_cluster.py`). All
processes share this machine, so the rate is a lower limit. The scheduler's processor time of a job shows how many jobs
a second it can assign on a core of its own. One of ten processes with workers is killed while all its workers have jobs.
"""

from __future__ import annotations

import sys
import time
from contextlib import AsyncExitStack
from typing import Any

import attrs
import trio
from distributed import Client

from benchmarks.harness.bench import Bench, Case
from benchmarks.harness.figures import SideFigures, Unit
from benchmarks.harness.programs import Program, open_program
from benchmarks.peers.stub_cluster import HELD, PAGES_OF_A_WORKER, TEXT, StubBrowsers
from cdpengine.cluster import BrowserCluster
from cdpengine.cluster.asyncio_thread import open_asyncio_thread
from cdpengine.cluster.sending import JobTask, pack, pack_result
from cdpengine.errors import WorkerLostError
from cdpengine.pool.jobs import Attempt, JobResult

PROGRAM = (sys.executable, "-m", "benchmarks.peers.stub_cluster")
PROCESSES = 10
WORKERS, QUICK_WORKERS = 1_000, 100
JOBS_OF_A_WORKER = 5  # held at the same time
RATED_JOBS = 4  # of a worker, in a round
PATIENCE = 600.0
OPTIONS: dict[str, Any] = {"pages": PAGES_OF_A_WORKER, "timeout": PATIENCE}


async def job(_page: object, _item: object) -> str:
    """Return "". Stubs do not call it, and return TEXT."""
    return ""


async def ask(program: Program) -> dict[str, Any]:
    await program.send({})
    return await program.receive()


async def register_stubs(address: str) -> None:
    async with Client(address, asynchronous=True, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        await client.register_plugin(StubBrowsers(**OPTIONS))


@attrs.define(eq=False)
class Simulation:
    """A cluster of stubs: its scheduler, its processes of workers, and the engine's client."""

    scheduler: Program
    processes: list[Program]
    cluster: BrowserCluster

    @classmethod
    async def start(cls, stack: AsyncExitStack, workers: int) -> Simulation:
        scheduler = await stack.enter_async_context(open_program([*PROGRAM, "scheduler"]))
        address = str((await scheduler.receive())["address"])
        command = [*PROGRAM, "workers", address, str(workers // PROCESSES)]
        processes = [await stack.enter_async_context(open_program(command)) for _ in range(PROCESSES)]
        for each in processes:
            await each.receive()
        async with open_asyncio_thread() as thread:
            await thread.call(register_stubs, address)
        cluster = await stack.enter_async_context(BrowserCluster(address, **OPTIONS))
        return cls(scheduler, processes, cluster)

    async def rate(self, jobs: int) -> dict[str, float]:
        """Return the jobs a second, and the scheduler's processor time of a job in milliseconds."""
        before, started = await ask(self.scheduler), time.perf_counter()
        async for result in self.cluster.map(job, [""] * jobs):
            result.unwrap()
        seconds, after = time.perf_counter() - started, await ask(self.scheduler)
        return {"values": jobs / seconds, "cpu": (after["cpu"] - before["cpu"]) * 1000 / jobs}

    async def lose_a_tenth(self, jobs: int) -> dict[str, float]:
        """Kill a process of workers while jobs are running, and return the figures of the ledger and the recovery."""
        before, lost = await ask(self.scheduler), 0

        async def finish() -> None:
            nonlocal lost
            async for result in self.cluster.map(job, [HELD] * jobs, ahead=jobs, retries=1):
                assert result.unwrap() == TEXT
                lost += any(isinstance(each.error, WorkerLostError) for each in result.attempts)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(finish)
            held = await self.until(started=jobs)
            killed = time.perf_counter()
            self.processes.pop().process.kill()
            noticed = await self.until(workers=held["workers"] * (PROCESSES - 1) // PROCESSES)
            seconds = time.perf_counter() - killed
            after = await self.until(lost=0)
            recovered = time.perf_counter() - killed
            for each in self.processes:
                await ask(each)
        assert 0 < lost == after["restarted"], (lost, after, noticed)
        return {
            "noticed": seconds * 1000,
            "recovered": recovered * 1000,
            "ledger": held["ledger_bytes"] / jobs,
            "scheduler": (held["mb"] - before["mb"]) * 1e6 / jobs,
            "workers": before["mb"],
        }

    async def until(self, **wanted: int) -> dict[str, Any]:
        """Return the scheduler's statistics as soon as they have these values."""
        while True:
            found = await ask(self.scheduler)
            if all(found[name] == value for name, value in wanted.items()):
                return found
            await trio.sleep(0.02)


FIGURES: dict[str, tuple[str, Unit]] = {
    "noticed": ("a tenth of the workers killed, until the scheduler has noticed", "ms"),
    "recovered": ("a tenth of the workers killed, until their jobs run elsewhere", "ms"),
    "ledger": ("memory of the ledger, each started job", "bytes"),
    "scheduler": ("memory of the scheduler, each started job", "bytes"),
    "workers": ("memory of the scheduler with all workers", "MB"),
}


def message_bytes() -> int:
    """Return the bytes of a job: its function and item on the way to the worker, and its result."""
    result = JobResult(0, None, TEXT, None, (Attempt("a browser", 0.0, 1.0, None),))
    return (
        len(pack("", JobTask(job, {})))
        + len(pack("", "https://site.example/page"))
        + len(pack_result(result))
    )


async def run(bench: Bench) -> None:
    workers = QUICK_WORKERS if bench.quick else WORKERS
    async with AsyncExitStack() as stack:
        simulation = await Simulation.start(stack, workers)
        found = await simulation.lose_a_tenth(JOBS_OF_A_WORKER * workers)
        for name, (variant, unit) in FIGURES.items():
            bench.record(variant, [SideFigures("engine", ((found[name],),))], unit=unit)
        further: dict[str, tuple[str, Unit]] = {"cpu": ("the scheduler's processor time of a job", "ms")}
        rate = {"engine": lambda: simulation.rate(RATED_JOBS * workers)}
        await bench.turns(
            rate, "jobs on the other workers", unit="jobs/s", further=further, turns=3, warm_up=0
        )
        bench.record("bytes of a job", [SideFigures("engine", ((message_bytes(),),))], unit="bytes")


CASE = Case("scale", "A cluster of 1,000 workers with stub browsers", run, seconds=180, quick_seconds=40)
